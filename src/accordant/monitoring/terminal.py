"""What ``accordant monitor`` does and prints: whether anything is wrong, since when, and what to do."""

from __future__ import annotations

import sys
from pathlib import Path

from accordant.errors import InputError
from accordant.monitoring.families import ADVICE, TITLES, evidence_words, families, strongest
from accordant.monitoring.page import render_monitored
from accordant.monitoring.parts import monitor_dataset
from accordant.monitoring.result import Monitored, RealisedReward
from accordant.monitoring.section import monitor, read_outcomes
from accordant.report.labels import readable_names, text_with_names
from accordant.runs import Run, read_run
from accordant.runs.datasets.parts import job_of
from accordant.runs.decision_log import read_decisions
from accordant.runs.pages import add_page, check_page, write_page
from accordant.tables.datasets import SUFFIXES, is_dataset
from accordant.tables.output import is_standard_output
from accordant.terminal import PlainConsole, check_out, print_json, refuse_idle, say
from accordant.terminal_table import FittedTable

RECORD = "monitored.json"  # in a folder, beside the page
WIDTH = 100  # columns of what is piped somewhere
MOST_ALARMS, MOST_REMARKS = 6, 5  # that the terminal tells; all are on the page and in the JSON


def conduct(
    run: Path, log: str, outcomes: str | None, *, alpha: float, time: str | None, on: str | None,
    part_rows: int | None, out: Path | None, json: bool,
) -> None:  # fmt: skip
    """Watch a log or a dataset, write the page, and print the answer."""
    if is_dataset(log) or Path(log).suffix.lower() in SUFFIXES:
        refuse_idle({"OUTCOMES": outcomes}, f"the dataset {log}: its columns tell what followed")
        if out is not None and out.suffix.lower() == ".html":
            raise InputError(f"--out is {out}; allowed for a dataset: a folder for its parts, the page and the JSON")
        job = job_of(run, log, out, on, part_rows)
        monitored = monitor_dataset(job, time=time, alpha=alpha)
        page: Path | None = add_page(_page(monitored, job.run), monitored.to_json(), RECORD, job.out)
    else:
        refuse_idle(
            {"--time": time, "--on": on, "--part-rows": part_rows}, f"the log {log}: a dataset is worked on in parts"
        )
        check_out(out, [log, outcomes], json=json, check=check_page)
        finished = read_run(run)
        seen = None if outcomes is None else read_outcomes(finished, sys.stdin if outcomes == "-" else outcomes)
        monitored = monitor(finished, read_decisions(log), seen, alpha=alpha)
        page = None if out is None else write_page(_page(monitored, finished), monitored.to_json(), RECORD, out)
    if json:
        print_json(monitored.to_json())
    elif not is_standard_output(out):
        print_monitored(monitored)
        if page is not None:
            say(f"\npage: {page}")


def _page(monitored: Monitored, run: Run) -> str:
    return text_with_names(render_monitored(monitored), readable_names(run.record))


def print_monitored(monitored: Monitored) -> None:
    """Print the answer, the evidence of each family, what stakeholders got, and what to mind."""
    console = PlainConsole(width=WIDTH)
    days = f" of {monitored.lines.days}" if monitored.lines.days else ""
    console.print(f"{monitored.title}: decisions{days}, run {monitored.run[:12]}")
    console.print(f"{'ALARM. ' if monitored.alarm else ''}{monitored.sentence}")
    console.print()
    console.print(_measures(monitored))
    console.print(
        f"An alarm is at {1 / monitored.alpha:g}; there is ever a false one with a probability of at most "
        f"{monitored.alpha:g}."
    )
    if monitored.rewards:
        console.print()
        console.print(_rewards(monitored))
    lines = [
        f"- {measure.label}: {measure.alarm.words} since about {measure.alarm.since_day}, alarm on {measure.alarm.day}"
        for measure in monitored.alarms
        if measure.alarm is not None
    ]
    _list(console, "alarms:", lines, MOST_ALARMS)
    advice = dict.fromkeys(f"- {TITLES[measure.family]}: {ADVICE[measure.family]}" for measure in monitored.alarms)
    _list(console, "what to do:", list(advice), len(advice))
    _list(console, "mind:", [f"- {remark}" for remark in monitored.remarks], MOST_REMARKS)


def _list(console: PlainConsole, title: str, lines: list[str], most: int) -> None:
    """Print some lines below a title, and how many more there are."""
    if not lines:
        return
    console.print()
    for line in (title, *lines[:most]):
        console.print(line)
    if len(lines) > most:
        console.print(f"… and {len(lines) - most} more, all of them on the page and in the JSON")


def _measures(monitored: Monitored) -> FittedTable:
    """Return one line per family."""
    table = FittedTable()
    table.add("watched", name=True)
    for name in ("measures", "alarms", "evidence", "now"):
        table.add(name, number=True)
    table.add("most on")
    for family, measures in families(monitored.measures).items():
        top = strongest(measures)
        table.add_row(
            TITLES[family], str(len(measures)), str(sum(measure.alarm is not None for measure in measures)),
            evidence_words(top.highest), evidence_words(top.latest), top.label,
        )  # fmt: skip
    return table


def _rewards(monitored: Monitored) -> FittedTable:
    """Return what each stakeholder got and was promised; groups are on the page."""
    title = f"rewards per outcome; limits of all hold together, at all times, with probability {1 - monitored.alpha:g}"
    table = FittedTable(title)
    table.add("stakeholder", name=True)
    for name in ("outcomes", "promised", "realised", "difference", "limits"):
        table.add(name, number=True)
    for reward in monitored.rewards:
        if not reward.group:
            table.add_row(reward.stakeholder, str(reward.n), *_cells(reward))
    return table


def _cells(reward: RealisedReward) -> tuple[str, str, str, str]:
    if reward.difference is None or reward.promised is None or reward.realised is None:
        return "-", "-", "-", ""
    return (
        f"{reward.promised:.3f}", f"{reward.realised:.3f}", f"{reward.difference:+.3f}",
        f"{reward.low:+.3f} to {reward.high:+.3f}",
    )  # fmt: skip
