"""What ``accordant slate`` takes and does."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

from accordant.agents.language.options import model_options
from accordant.cases.files import declares_part
from accordant.compute import chosen
from accordant.errors import InputError, UnknownNameError
from accordant.naming import read_names
from accordant.report.labels import SPECIAL, readable, renamed, text_with_names
from accordant.runs.chain import add_section, check_addable
from accordant.runs.datasets.parts import job_of
from accordant.runs.folder import free_folder
from accordant.runs.opened_run import open_run
from accordant.slates.dataset import slate_dataset
from accordant.slates.fidelity import THRESHOLD, Instead
from accordant.slates.options import SlateOptions
from accordant.slates.page import render_slates
from accordant.slates.page.summary import signed, span
from accordant.slates.proxies.sources import names_with_commas, with_proxies
from accordant.slates.result import SlateResult
from accordant.slates.run import SLATES, write_result
from accordant.slates.section import open_slates, show_slates
from accordant.tables.output import is_run
from accordant.terminal import PlainConsole, capacities, print_json, refuse_idle, say
from accordant.terminal_table import FittedTable
from accordant.threads import free_cores
from accordant.unusual import UnusualCounts

Json = Mapping[str, Any]

CAPACITY = "ITEM=VISITS with 0 or more visits a day, such as 7=40"
WIDTH = 170  # columns of what is piped somewhere
FIRST = 15  # rules that the terminal shows beside the baselines; all are on the page
COLUMNS = 6  # measures that the terminal shows beside the score


def slate_options(
    *,
    strategies: str | None,
    capacity: Sequence[str],
    rankings: Path | None,
    model: Mapping[str, Any],
    **others: Any,
) -> SlateOptions:
    """Return what the options of the command say.

    Raises `InputError` if a name or a capacity has another form, or options do not go together.
    """
    if others["instead"] not in get_args(Instead):
        raise UnknownNameError("instead", others["instead"], get_args(Instead))
    speaks = rankings is not None or model["base_url"] is not None or model["replay"] is not None
    if not speaks and (others["threshold"] != THRESHOLD or others["instead"] != "declared"):
        raise InputError("--threshold, --instead: no effect without --rankings, --llm or --replay")
    named = () if strategies is None else read_names(strategies, "--strategies")
    spoken_for = model["agents"]
    agents = None if spoken_for is None else names_with_commas(spoken_for, "--speaks-for")
    return SlateOptions(
        strategies=named,
        capacity=capacities(capacity, CAPACITY),
        rankings=None if rankings is None else str(rankings),
        model=model_options({**model, "agents": agents}),
        **others,
    )


def conduct_slates(
    case: str, options: SlateOptions, out: Path | None, *, run_seed: int | None, add: bool, json: bool
) -> None:
    """Serve the case or the run, print the leaderboard, write the folder, and add the result to the run.

    A case without slates is made a run first, with `run_seed`.
    """
    if options.model is not None and chosen() is not None:
        raise InputError("a language model and --on do not go together: requests are sent one after the other")
    free_folder("slates", out, () if options.model is None else (options.model.record,))
    of_run = is_run(case) or not declares_part(case, "slates")
    if not (add or of_run):
        raise InputError(f"--no-add has no effect on {case}, which is no finished run")
    if add and is_run(case):
        check_addable(Path(case))
    if of_run:
        opened_run = open_run(case, seed=run_seed, data=options.data)
        case, options = str(opened_run.run.path), replace(options, data=opened_run.data)
    opened = open_slates(case, options)
    run = opened.run
    if opened.source.simulated:
        say(f"accordant: {opened.source.label}", err=True)
    ready = with_proxies(opened, options.model, options.rankings, threshold=options.threshold, instead=options.instead)
    served = show_slates(ready.opened, ready.proxies, 1 if options.model else free_cores())
    content = served.to_json()
    html = text_with_names(render_slates(content), _names(served.result))
    folder = write_result(served, html, free_folder(f"{opened.case.name}-slates", out))
    link = add_section(run.manifest, served.result) if run is not None and add else None
    if json:
        print_json(content | {"run": str(folder)})
        return
    print_slates(served.result, folder)
    if link is not None:
        say(link.receipt)


def conduct_dataset(
    run: str, dataset: str, options: SlateOptions, out: Path | None, *, on: str | None, part_rows: int | None,
    row_id: str | None, json: bool,
) -> None:  # fmt: skip
    """Make a list for every row of a dataset, and print what everybody gets of them."""
    kept = replace(SlateOptions(), k=options.k, strategies=options.strategies, floors=options.floors)
    idle = [name for name, value in dataclasses.asdict(options).items() if value != dataclasses.asdict(kept)[name]]
    refuse_idle({f"--{name}": name for name in idle}, "lists of a dataset, each of which is made by itself")
    if not is_run(run):
        raise InputError(f"{run} is no finished run, and rows of a dataset are known to models of a run only")
    job = job_of(Path(run), dataset, out, on, part_rows)
    lists = slate_dataset(job, options.strategies, k=options.k, floors=options.floors, row_id=row_id)
    if lists.unusual.unusual:
        say(_unusual(lists.unusual), err=True)
    if json:
        print_json({"out": str(job.out)} | lists.to_json())
        return
    table = FittedTable()
    table.add("stakeholder", name=True)
    for name in ("mean utility", "between worst and best list"):
        table.add(name, number=True)
    for row in lists.stakeholders:
        table.add_row(row.stakeholder, *(f"{value:.4f}" for value in (row.utility, row.attained)))
    console = PlainConsole(width=WIDTH)
    console.print(f"rule: {lists.rule}, lists of {lists.k}")
    console.print(table)
    console.print(f"{lists.rows:,} lists: {job.out}")
    if lists.flags["floor_unmet"]:
        console.print(f"{lists.flags['floor_unmet']:,} of them are below a floor")


def _unusual(counts: UnusualCounts) -> str:
    """Return how many rows are unusual, and that lists are made all the same."""
    words = f"{counts.words}; their lists are made as those of others."
    if not (counts.referred or counts.fall_back):
        return words
    declared = f"leaves {counts.referred:,} of them to a person, and declares an action for {counts.fall_back:,}"
    return f"{words} The case {declared}."


def _names(result: SlateResult) -> dict[str, str]:
    """Return label to name in words of rules and stakeholders, where they differ."""
    labels = [row["strategy"] for row in result.leaderboard]
    stakeholders = [stakeholder["name"] for stakeholder in result.stakeholders]
    words = {name: name.replace("_", " ").strip() for name in stakeholders if "_" in name.strip("_ ")}
    names = words | {label: renamed(readable(label), words) for label in labels if SPECIAL.search(label)}
    known = {*labels, *stakeholders}
    return {label: name for label, name in names.items() if name not in known and list(names.values()).count(name) == 1}


def print_slates(result: SlateResult, folder: Path) -> None:
    """Print the leaderboard, what is given up for the worst-off, and where everything was written."""
    console = PlainConsole(width=WIDTH)
    requests = result.requests
    console.print(f"{result.case.title}: {result.source.label}")
    asked = f"{_many(requests.n, 'request')} of {_many(requests.users, 'user')}"
    console.print(
        f"{asked} on {_many(requests.days, 'day')}, {requests.cold} of them by users without a past; "
        f"lists of {result.k} out of {len(result.items)} items; seed {result.seed}"
    )
    console.print()
    console.print(_table(result))
    left = len(result.leaderboard) - len(_shown(result))
    if left > 0:
        console.print(f"… and {left} more, all of them on the page")
    tried, old = ([part.words] if part else [] for part in (result.trial, result.staleness))
    sentences = [*tried, _front(result), *(words + _of_chosen(result) for words in old), *result.remarks]
    for title, lines in (("found", sentences), ("mind", [*result.warnings, *result.source.notes])):
        if lines:
            console.print()
            for line in [f"{title}:", *(f"- {sentence}" for sentence in lines)]:
                console.print(line)
    console.print()
    console.print(f"page: {folder / 'report.html'}")
    console.print(f"lists: {folder / SLATES}")


def _table(result: SlateResult) -> FittedTable:
    """Return the first rules with their score and the measures that count, then the others."""
    table = FittedTable()
    columns = sorted(result.columns, key=lambda column: -column["weight"])[:COLUMNS]
    table.add("rule", name=True)
    table.add("kind", name=True, optional=2)
    for name in ("score (95%)", "among the best"):
        table.add(name, number=True)
    for column in columns:
        table.add(column["label"].replace("_", " "), number=True, optional=1)
    for row in _shown(result):
        table.add_row(
            row["strategy"], row["kind"], _interval(row["score"]), _standing(row),
            *(_number(row["metrics"][column["label"]]["value"], 3) for column in columns),
        )  # fmt: skip
    return table


def _standing(row: Json) -> str:
    """Return whether a rule may be the best, or whose lists it shows."""
    if row["alike"]:
        return f"as {row['alike']}"
    return {True: "yes", False: "no", None: "-"}[row["among_best"]]


def _many(number: int, word: str) -> str:
    return f"{number} {word}{'s' * (number != 1)}"


def _shown(result: SlateResult) -> list[Json]:
    """Return the first rules, and the baselines wherever they stand: everything must beat them."""
    return [row for place, row in enumerate(result.leaderboard) if place < FIRST or row["kind"] == "baseline"]


def _front(result: SlateResult) -> str:
    front = result.front
    free = [row for row in front.rows if row.on_front]
    rules = [row.rule + _share(row.probability) for row in free]
    shares = " (in brackets: in how many resamples)" if any(row.probability is not None for row in free) else ""
    return f"not dominated in {' and '.join(front.axes)}{shares}: {', '.join(rules) if rules else 'nobody'}"


def _of_chosen(result: SlateResult) -> str:
    """Return what staleness costs the rule that was chosen, or else the first one, by the measures that count."""
    first = next((row["strategy"] for row in result.leaderboard if row["candidate"]), None)
    name = result.trial.chosen if result.trial else first
    if result.staleness is None or name is None:
        return ""
    row = result.staleness.rules[name]
    counted = [column["label"] for column in result.columns if column["weight"] > 0]
    told = [f"{label} {signed(row[label].value)} {span(row[label].low, row[label].high)}".strip() for label in counted]
    return f" {name}: {'; '.join(told)}."


def _share(value: float | None) -> str:
    return "" if value is None else f" ({value:.0%})"


def _interval(estimate: Json) -> str:
    if estimate["value"] is None:
        return "not defined"
    limits = "" if estimate["low"] is None else f" [{estimate['low']:.3f}, {estimate['high']:.3f}]"
    return f"{estimate['value']:.3f}{limits}"


def _number(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"
