"""Pictures of strategies: the leaderboard with its intervals, two metrics against each other, who gets what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from accordant.errors import InputError, UnknownNameError
from accordant.evaluation import GroupTable, Leaderboard
from accordant.evaluation.stakeholder_gains import StakeholderGains
from accordant.faces import pictures
from accordant.report.charts.panels import CAPTIONS, GROUP_SHAPES
from accordant.report.labels import readable
from accordant.report.plots.style import axes, colours, face, key, limits, mark, missing, rows, titled, told
from accordant.report.reading import MARKS, BoardListing, Line, oriented
from accordant.report.scale import NOT_DEFINED, percent
from accordant.report.standings import standings
from accordant.runs.record import Column, Limits
from accordant.runs.record.parts import board

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SCORE = "Composite score"
RIGHT = 0.7  # of an axis: from there on labels stand left of their marks
NEAR = 0.05  # of an axis: marks closer than this share one label


@pictures.register("leaderboard")
def leaderboard(leaderboard: Leaderboard, *, ax: Axes | None = None, metric: str | None = None) -> Axes:
    """Draw every strategy with its interval, the best on top, on the composite score or one metric."""
    listing = BoardListing(board(leaderboard))
    column = None if metric is None else _column(listing, metric)
    lines = listing.candidates if column is None else listing.lines
    ax, places = rows(ax, [line.name for line in lines], [line.row.among_best is True for line in lines])
    for line, y in zip(lines, places, strict=True):
        cell = line.row.score if column is None else line.row.metrics[column.label]
        if cell.value is None:
            missing(ax, y, "unranked" if column is None else NOT_DEFINED)
            continue
        limits(ax, cell.low, cell.high, y, gid=f"interval of {line.name}")
        mark(ax, line.mark, cell.value, y, colour_of(line), gid=line.name)
    if column is not None and column.goal == "zero":
        ax.axvline(0.0, color=colours()["quiet"], linewidth=0.8)
    _apart(ax, lines, places)
    _families(ax, lines)
    words = "more is better →" if column is None else CAPTIONS[column.goal]
    how = f"{percent(leaderboard.level)} intervals, {leaderboard.n} rows; bold: among the best"
    return titled(ax, SCORE if column is None else column.label, f"{words}\n{how}")


@pictures.register("trade_off")
def trade_off(leaderboard: Leaderboard, *, across: str, up: str, ax: Axes | None = None) -> Axes:
    """Draw the candidates on two metrics, better to the right and up; stars are not dominated on these two."""
    listing = BoardListing(board(leaderboard))
    pair = (_column(listing, across), _column(listing, up))
    ax = axes(ax, 4.6)
    ax.grid(visible=True, axis="y", color=colours()["faint"], linewidth=0.8)
    shades, numbered = colours(), dict[tuple[float, float], list[int]]()
    for standing in standings(listing, pair):
        cells = [standing.line.row.metrics[column.label] for column in pair]
        if not standing.compared:
            continue
        x, y = (_shown(column, cell) for column, cell in zip(pair, cells, strict=True))
        for column, cell, place, upright in ((pair[0], cells[0], y, False), (pair[1], cells[1], x, True)):
            limits(
                ax, *_ends(column, cell), place, upright=upright, faint=True, gid=f"interval of {standing.line.name}"
            )
        free = not standing.dominated_by
        mark(
            ax, "star" if free else "open-circle", x, y, shades["accent"] if free else shades["ink"],
            label=f"{standing.line.position} {told(standing.line.name)}", gid=standing.line.name,
        )  # fmt: skip
        numbered.setdefault((x, y), []).append(standing.line.position)
    for column, turn in zip(pair, (ax.invert_xaxis, ax.invert_yaxis), strict=True):
        if oriented(column.goal, 2.0) < oriented(column.goal, 1.0):
            turn()
    start, end = ax.get_xlim()
    for (x, y), numbers in _clusters(ax, numbered).items():
        left = (x - start) / (end - start) > RIGHT  # a label right of it would leave the axes
        ax.annotate(
            ", ".join(map(str, numbers)), (x, y), xytext=(-6 if left else 6, 5), textcoords="offset points", fontsize=9,
            ha="right" if left else "left", fontweight="bold", color=shades["ink"], zorder=4, **face(),
        )  # fmt: skip
    key(ax)
    title = f"{pair[1].label} against {pair[0].label}"
    level = f"{percent(leaderboard.level)} intervals; star: not dominated on these two"
    return titled(ax, title, f"{_caption(pair[0])}, better →\n{level}", f"{_caption(pair[1])}, better →")


@pictures.register("groups")
def groups(table: GroupTable, *, ax: Axes | None = None, stakeholder: str | None = None) -> Axes:
    """Draw what each group received under every strategy: a stakeholder's mean reward, or favourable actions."""
    names = list(dict.fromkeys(row.group for row in table.rows))
    if len(names) > len(GROUP_SHAPES):
        raise InputError(f"the table has {len(names)} groups; allowed in a picture: at most {len(GROUP_SHAPES)}")
    known = list(table.rows[0].mean_rewards) if table.rows else []
    if stakeholder is not None and stakeholder not in known:
        raise UnknownNameError("stakeholder", stakeholder, known)
    values = {
        (row.strategy, row.group): row.favourable_share if stakeholder is None else row.mean_rewards[stakeholder]
        for row in table.rows
    }
    if stakeholder is None and all(value is None for value in values.values()):
        raise InputError(f"no action is declared favourable; name a stakeholder: {', '.join(known)}")
    strategies = list(dict.fromkeys(row.strategy for row in table.rows))
    ax, places = rows(ax, [readable(name) for name in strategies])
    for strategy, y in zip(strategies, places, strict=True):
        there = [value for name in names if (value := values.get((strategy, name))) is not None]
        if not there:
            missing(ax, y, NOT_DEFINED)
            continue
        ax.plot([min(there), max(there)], [y, y], color=colours()["rule"], linewidth=2, zorder=1, label="_")
        for k, name in enumerate(names):
            value = values.get((strategy, name))
            if value is not None:
                mark(ax, GROUP_SHAPES[k], value, y, of_group(k), gid=f"{readable(strategy)}: {name}",
                     label=told(name) if y == places[0] else "")  # fmt: skip
    key(ax, title=" × ".join(table.attributes))
    what = "Share of favourable actions" if stakeholder is None else f"Mean reward of {stakeholder}"
    return titled(
        ax, f"{what} in each group", f"{what.lower() if stakeholder is None else what} (of these rows, no interval)"
    )


@pictures.register("gains")
def gains(gains: StakeholderGains, *, ax: Axes | None = None) -> Axes:
    """Draw what every stakeholder gains or pays, with intervals that hold together."""
    ax, places = rows(ax, list(gains.gains))
    ax.axvline(0.0, color=colours()["quiet"], linewidth=0.8)
    for (name, gain), y in zip(gains.gains.items(), places, strict=True):
        if gain.value is None:
            missing(ax, y, NOT_DEFINED)
            continue
        limits(ax, gain.low, gain.high, y, gid=f"interval of {name}")
        shown = gain.low is not None and gain.high is not None and not gain.low <= 0 <= gain.high
        mark(ax, "circle" if shown else "open-circle", gain.value, y, colours()["accent"], gid=name)
    level = next((gain.level for gain in gains.gains.values() if gain.level is not None), None)
    reason = next((gain.reason for gain in gains.gains.values() if gain.reason), "nothing was resampled")
    how = (
        f"{percent(level)} intervals, all together; full: a difference is shown" if level else f"no intervals: {reason}"
    )
    return titled(
        ax, f"{readable(gains.strategy)} against {readable(gains.other)}", f"difference of mean rewards\n{how}"
    )


def colour_of(line: Line) -> str:
    """Return the colour of a line's mark."""
    return colours().get(f"of-{line.family}", colours()["ink"])


def of_group(position: int) -> str:
    """Return the colour of a group, as in the panels of reports."""
    shades = colours()
    return shades["ink"] if position == 0 else shades["warn"] if position % 2 else shades["of-stakeholder"]


def _column(listing: BoardListing, label: str) -> Column:
    columns = {column.label: column for column in listing.columns}
    if label not in columns:
        raise UnknownNameError("metric", label, columns)
    return columns[label]


def _shown(column: Column, cell: Limits) -> float:
    """Return a value on its axis: metrics whose goal is zero by their size."""
    assert cell.value is not None
    return abs(cell.value) if column.goal == "zero" else cell.value


def _ends(column: Column, cell: Limits) -> tuple[float | None, float | None]:
    """Return an interval on its axis; one that holds zero begins there if the size is shown."""
    if column.goal != "zero" or cell.low is None or cell.high is None:
        return cell.low, cell.high
    ends = sorted((abs(cell.low), abs(cell.high)))
    return (0.0 if cell.low <= 0 <= cell.high else ends[0]), ends[1]


def _caption(column: Column) -> str:
    return f"|{column.label}|" if column.goal == "zero" else column.label


def _clusters(ax: Axes, numbered: Mapping[tuple[float, float], Sequence[int]]) -> dict[tuple[float, float], list[int]]:
    """Return one place for marks so close that their numbers would cover each other, with all of the numbers."""
    wide, high = (abs(end - start) * NEAR for start, end in (ax.get_xlim(), ax.get_ylim()))
    clusters: dict[tuple[float, float], list[int]] = {}
    for (x, y), numbers in numbered.items():
        home = next((place for place in clusters if abs(place[0] - x) < wide and abs(place[1] - y) < high), (x, y))
        clusters.setdefault(home, []).extend(numbers)
    return {place: sorted(numbers) for place, numbers in clusters.items()}


def _apart(ax: Axes, lines: Sequence[Line], places: Sequence[float]) -> None:
    """Draw a rule above the lines that are no candidates."""
    for before, after, y in zip(lines[:-1], lines[1:], places[1:], strict=True):
        if before.candidate and not after.candidate:
            ax.axhline(y + 0.5, color=colours()["quiet"], linewidth=0.8, linestyle=(0, (4, 4)))


def _families(ax: Axes, lines: Sequence[Line]) -> None:
    """Put the key of marks right of the axes, in the order of reports."""
    for family, (shape, words) in MARKS.items():
        line = next((line for line in lines if line.family == family), None)
        if line is not None:
            mark(ax, shape, float("nan"), float("nan"), colour_of(line), label=words)
    key(ax)
