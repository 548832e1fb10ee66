"""Cells for what compares strategies: estimates, leaderboards, groups, gains, weights, and whole runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from accordant.evaluation import GroupTable, Leaderboard
from accordant.evaluation.stakeholder_gains import StakeholderGains
from accordant.evaluation.weighting import Weighing
from accordant.faces import representations
from accordant.naming import counted, listed
from accordant.report.charts.panels import score_scale
from accordant.report.labels import readable, renamed, shortened
from accordant.report.notebook.snippet import (
    MOST_COLUMNS,
    MOST_ROWS,
    Mark,
    Rows,
    Shown,
    Table,
    block,
    figure,
    left_out,
    snippet,
)
from accordant.report.reading import BoardListing
from accordant.report.scale import Cell, count, decimals, interval, number, percent
from accordant.report.tables import metric_table
from accordant.runs.folder import Run
from accordant.runs.record.parts import board
from accordant.statistics import Estimate

MOST_METRICS = 5


@representations.register("Estimate")
def estimate(estimate: Estimate) -> str:
    """Return a value with its interval, or the reason why there is none."""
    digits = decimals([estimate.value, estimate.low, estimate.high])
    limits = interval(estimate.low, estimate.high, digits)
    lead = []
    if limits and estimate.level is not None:
        lead.append(
            f"{percent(estimate.level)} interval" + ("" if estimate.n is None else f", from n = {count(estimate.n)}")
        )
    elif estimate.n is not None:
        lead.append(f"from n = {count(estimate.n)}")
    return snippet(
        Shown(f"{number(estimate.value, digits)} {limits}".strip(), (*lead, *filter(None, (estimate.reason,))))
    )


def cell_of(estimate: Estimate, digits: int = 3) -> Cell:
    """Return an estimate as a cell of a table."""
    return Cell(
        number(estimate.value, digits),
        interval(estimate.low, estimate.high, digits),
        tuple(filter(None, (estimate.reason,))),
    )


@representations.register("Leaderboard")
def leaderboard(leaderboard: Leaderboard) -> str:
    """Return strategies with marks, scores and intervals, and the metrics that weigh most."""
    return _leaderboard(BoardListing(board(leaderboard)), "Leaderboard", ())


def _leaderboard(listing: BoardListing, title: str, lead: Sequence[str]) -> str:
    columns, lines = listing.columns, listing.lines
    table = metric_table(listing, columns[:MOST_METRICS])
    # footnotes need identifiers, which two cells of a notebook would share: reasons stand in the cell
    rows = tuple(
        (line, tuple(_without_note(cell, table.notes) for cell in cells)) for line, cells in table.rows[:MOST_ROWS]
    )
    more = left_out(("strategies", len(rows), len(lines)), ("metrics", MOST_METRICS, len(columns)))
    shown = listing.board
    names = {row.strategy: readable(row.strategy) for row in shown.leaderboard}
    how = f"{count(shown.n)} rows; {percent(shown.level)} intervals from {count(shown.resamples)} resamples."
    return block(
        "notebook/leaderboard.html",
        title=title,
        lead=(*lead, how),
        table=replace(table, rows=rows),
        more=f"{more} `to_frame()` has all." if more else "",
        remarks=[renamed(remark, names) for remark in shown.remarks],
        scale=score_scale(line.row.score for line in listing.candidates or lines),
    )


def _without_note(cell: Cell, notes: Sequence[str]) -> Cell:
    return cell if cell.note is None else replace(cell, note=None, details=(notes[cell.note - 1],))


@representations.register("GroupTable")
def group_table(table: GroupTable) -> str:
    """Return what each group received, by strategy."""
    names = list(table.rows[0].mean_rewards)[:MOST_COLUMNS] if table.rows else []
    rows: Rows = tuple(
        (
            readable(shortened(row.strategy)), Mark(shortened(row.group)), figure(row.n, 0),
            Mark(percent(row.favourable_share), number=True),
            *(figure(row.mean_rewards[name]) for name in names),
        )
        for row in table.rows[: 2 * MOST_ROWS]
    )  # fmt: skip
    head = ("Strategy", "Group", "n", "Favourable actions", *(f"Mean reward of {name}" for name in names))
    more = left_out(("rows", len(rows), len(table.rows)))
    return snippet(
        Shown(f"What groups received, by {' × '.join(table.attributes)}", (), (Table(head, rows, "", more),))
    )


@representations.register("StakeholderGains")
def stakeholder_gains(gains: StakeholderGains) -> str:
    """Return who gains and who pays, with intervals that hold together."""
    rows = tuple((shortened(name), cell_of(gain)) for name, gain in list(gains.gains.items())[:MOST_ROWS])
    table = Table(
        ("Stakeholder", f"Mean reward beyond {readable(gains.other)}"), rows, "",
        left_out(("stakeholders", len(rows), len(gains.gains))),
    )  # fmt: skip
    return snippet(Shown(f"{readable(gains.strategy)} against {readable(gains.other)}", (gains.sentence,), (table,)))


@representations.register("Weighing")
def weighing(weighing: Weighing) -> str:
    """Return at which share of all weights each strategy wins."""
    regions = [region for region in weighing.regions.regions if region.status == "wins"]
    sampled = weighing.regions.method == "sampled"
    rows: Rows = tuple(
        (
            readable(shortened(region.strategy)),
            Cell(percent(region.share), f"[{percent(region.low)}, {percent(region.high)}]" if sampled else ""),
            Mark("wins" if {region.strategy, *region.tied_with} & set(weighing.regions.winners) else ""),
        )
        for region in regions[:MOST_ROWS]
    )
    more = left_out(("strategies", len(rows), len(regions)))
    table = Table(("Strategy", "Share of all weights", "At the chosen weights"), rows, "", more)
    chosen = listed(
        [f"{name} {percent(w)}" for name, w in zip(weighing.regions.metrics, weighing.regions.weights, strict=True)]
    )
    return snippet(Shown("Who wins at which weights", (f"Chosen weights: {chosen}.",), (table,)))


@representations.register("Run")
def run(run: Run) -> str:
    """Return what a run is about, what it chose, and its leaderboard on untouched rows."""
    record = run.record
    selected = "nothing" if record.selected is None else readable(record.selected)
    lead = [
        f"Selected: {shortened(selected)}. Folder: {run.path}",
        f"{counted(record.data.rows, 'row')}, {count(record.data.test)} untouched: {shortened(record.data.source)}",
        *record.warnings[:3],
    ]
    if len(record.warnings) > 3:
        lead.append(f"… and {counted(len(record.warnings) - 3, 'more warning', 'more warnings')}.")
    title = f"{shortened(record.case.title)} (seed {record.seed})"
    return _leaderboard(BoardListing(record.test, record.selected), title, lead)
