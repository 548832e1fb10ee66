"""Watching a dataset part by part: parts are read anywhere, and evidence is gathered from them in the order of time.

What a part holds becomes values of streams, in a file of its own. Each stream then takes them in, as many at once as of
a log, so that neither parts nor who read them can be told from the result.
"""

from __future__ import annotations

import itertools
import time as clock
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import partial
from pathlib import Path

import numpy as np

from accordant.arrays import AnyArray
from accordant.compute.executor import compute
from accordant.compute.fan_out import run_all
from accordant.compute.local import cpu_seconds
from accordant.compute.tasks import Told, tasks
from accordant.errors import InputError
from accordant.monitoring.monitors import ALPHA, AT_ONCE
from accordant.monitoring.result import Monitored, OutcomesRead
from accordant.monitoring.rows import RowReader
from accordant.monitoring.streams import Streams
from accordant.monitoring.summary import LinesSeen, monitored
from accordant.monitoring.values import (
    DecidedRows,
    DecisionValues,
    Layout,
    OutcomeValues,
    decision_values,
    outcome_values,
    time_texts,
)
from accordant.progress import Advance, steps
from accordant.runs.datasets.parts import Job, described, part_work
from accordant.runs.datasets.plan_tasks import PlanTask, plan_tasks, without_strategy
from accordant.runs.folder import Run
from accordant.tables.output import output_file
from accordant.threads import free_cores

UNTIMED = "No column of times is named: the order of rows counts, and changes are dated by the number of a record."
Arrays = Mapping[str, AnyArray]  # of values, by field; rows are the last axis


def monitor_dataset(job: Job, *, time: str | None = None, alpha: float = ALPHA) -> Monitored:
    """Return what decisions in a dataset show, and what followed them.

    The result is that of `accordant.monitoring.section.monitor` for a log of the same decisions and outcomes, in the
    order of the dataset.

    Parameters
    ----------
    job
        Run, dataset and where. The dataset has the features; the action, in the column that the case names or in
        ``action``, empty where a person decides; where it is known the outcome, in the column that the case names or in
        ``outcome``, and observed rewards, see `accordant.monitoring.section.read_outcomes`; and E where it was logged,
        as `accordant recommend` writes it. Values of streams stand in the folder until somebody takes them away.
    time
        Column with the time of each decision, ISO 8601, UTC where no zone is named; rows are in its order. None if the
        order of rows is all that is known.
    alpha
        Probability with which there is ever a false alarm, at most, however often somebody looks.

    Raises
    ------
    InputError, AccordantError
        See `Job.carry_out`; and if α is no such number, rows cannot be used, or are not in the order of time.
    """
    streams = Streams.of(job.run, alpha)
    with job.executor() as executor:
        told, workers = job.carry_out("monitor", "reading decisions", {"time": time}), executor.workers
    lines = [line for line in told if line["decisions"]]
    if not lines:
        raise InputError(f"{job.dataset} holds no decision")
    _check_order(lines)
    streams = _gathered(streams, job.out, lines, min(workers, free_cores()))
    remarks = dict.fromkeys(remark for line in lines for remark in line["remarks"])
    untimed = () if time is not None else (UNTIMED,)
    return monitored(job.run, streams, _lines_seen(lines), _outcomes_read(lines), (*remarks, *untimed))


def _gathered(streams: Streams, folder: Path, lines: Sequence[Told], workers: int) -> Streams:
    """Return streams after what parts wrote; each of several processes of this machine lets its share take in all."""
    if workers < 2:
        return _follow(streams, folder, lines)
    with compute(f"processes:{workers}"):
        shares = [partial(_follow, share, folder, lines) for share in streams.shares(workers)]
        return streams.joined(run_all(shares, workers, "gathering evidence"))


def _follow(streams: Streams, folder: Path, lines: Sequence[Told]) -> Streams:
    """Let streams take in what parts wrote, in order: all decisions, then all outcomes."""
    with steps("gathering evidence", 2 * len(lines)) as advance:
        for block in _blocks(_stored(folder, lines, "decisions"), advance):
            streams.decide(DecisionValues(**block))
        for block in _blocks(_stored(folder, lines, "outcomes"), advance):
            streams.follow(OutcomeValues(**block))
    return streams


@plan_tasks.register("monitor")
def monitor_plan() -> PlanTask:
    """Return how the task is planned: without a column of times, as the command is by default."""

    def options(run: Run, strategy: str | None) -> Told:
        """Return the options of the task, which watches what was decided."""
        del run
        without_strategy(strategy, "monitor", "watches what was decided")
        return {"time": None}

    return PlanTask(
        options, "watch", "Watch", "read the decisions of each part",
        read=lambda run, part: list(RowReader(run, None)(part)), reduction=_reduction, in_order=True,
        together="gather evidence, part after part",
    )  # fmt: skip


def _reduction(job: Job, lines: Sequence[Told]) -> tuple[float, float, float]:
    """Return 0, the seconds in which evidence is gathered from a part, by its rows, and CPU seconds for each."""
    streams, began, used = Streams.of(job.run, ALPHA), clock.perf_counter(), cpu_seconds()
    with job.executor() as executor:
        _gathered(streams, job.out, lines, executor.workers)
    seconds, cpu = clock.perf_counter() - began, cpu_seconds() - used
    return 0.0, seconds * job.part_rows / sum(line["rows"] for line in lines), cpu / seconds


@tasks.register("monitor")
def monitor_part(options: Told, item: Told) -> Told:
    """Write the values of one part, and return its line."""
    with part_work(options, item, ".npz") as (part, run, output):
        if output.line is None:
            arrays, told = _values(run, RowReader(run, options["time"])(part))
            with output_file(output.path, [part.file]) as file:
                np.savez(file.buffer, **arrays)  # type: ignore[attr-defined, arg-type]
            output.told = described(part, told["decisions"]) | told
    return output.finished()


def _values(run: Run, batches: Iterable[DecidedRows]) -> tuple[dict[str, AnyArray], Told]:
    """Return the values of the rows of a part, and what is told of it."""
    layout, counts, remarks = Layout.of(run), Counter[str](), dict[str, None]()
    decisions, outcomes = list[DecisionValues](), list[OutcomeValues]()
    last_answered, times = -1, list[str]()
    for rows in batches:
        by_person = rows.actions < 0
        decisions.append(decision_values(run, rows.contexts, rows.actions, by_person, rows.times))
        answered = rows.seen[~by_person]
        if answered.any():
            last_answered = counts["by_rule"] + int(np.flatnonzero(answered)[-1])
            values, unread = outcome_values(run, layout, rows.take(np.flatnonzero(rows.seen & ~by_person)))
            outcomes.append(values)
            remarks.update(dict.fromkeys(unread))
        counts.update(decisions=len(by_person), by_rule=len(answered), used=int(answered.sum()),
                      by_person=int(rows.seen[by_person].sum()))  # fmt: skip
        times += time_texts(rows.times[[0, -1]])
    arrays = _arrays("decisions", decisions) | _arrays("outcomes", outcomes)
    names = ("decisions", "by_rule", "used", "by_person")
    return arrays, {name: counts[name] for name in names} | {
        "last_answered": last_answered, "first": next(iter(times), ""), "last": times[-1] if times else "",
        "remarks": list(remarks),
    }  # fmt: skip


def _arrays(name: str, values: Sequence[DecisionValues] | Sequence[OutcomeValues]) -> dict[str, AnyArray]:
    """Return the fields of values as arrays, each of all batches."""
    return {
        f"{name}.{field.name}": np.concatenate([getattr(batch, field.name) for batch in values], axis=-1)
        for field in (fields(values[0]) if values else ())
    }


def _stored(folder: Path, lines: Sequence[Told], name: str) -> Iterator[Arrays]:
    """Yield the arrays of one kind that parts wrote, in order."""
    for line in lines:
        with np.load(folder / line["output"], allow_pickle=False) as stored:
            kept = [key for key in stored.files if key.startswith(f"{name}.")]
            yield {key.removeprefix(f"{name}."): stored[key] for key in kept}


def _blocks(parts: Iterable[Arrays], advance: Advance) -> Iterator[Arrays]:
    """Yield the rows of all parts, as many at once as are taken from a log."""
    rest: Arrays = {}
    for part in parts:
        if part:
            rows = {key: np.concatenate([rest[key], array], axis=-1) if rest else array for key, array in part.items()}
            full = len(rows["times"]) - len(rows["times"]) % AT_ONCE
            for start in range(0, full, AT_ONCE):
                yield {key: array[..., start : start + AT_ONCE] for key, array in rows.items()}
            rest = {key: array[..., full:] for key, array in rows.items()}
        advance()
    if rest and len(rest["times"]):
        yield rest


def _check_order(lines: Sequence[Told]) -> None:
    """Raise InputError if a part begins before the one above it ends."""
    for above, line in itertools.pairwise(lines):
        if line["first"] < above["last"]:
            raise InputError(
                f"{line['file']} begins at {line['first']}, and {above['file']} before it ends at {above['last']}; "
                "allowed: files whose names, and rows, are in the order of time"
            )


def _lines_seen(lines: Sequence[Told]) -> LinesSeen:
    return LinesSeen(sum(line["decisions"] for line in lines), lines[0]["first"], lines[-1]["last"])


def _outcomes_read(lines: Sequence[Told]) -> OutcomesRead | None:
    """Return the counts of outcomes; None if there are none."""
    used, by_person = (sum(line[name] for line in lines) for name in ("used", "by_person"))
    if not used + by_person:
        return None
    before, last = 0, -1
    for line in lines:
        if line["last_answered"] >= 0:
            last = before + line["last_answered"]
        before += line["by_rule"]
    names = ("not_logged", "ambiguous", "repeated", "contradicted", "empty")
    return OutcomesRead(used=used, overdue=last + 1 - used, by_person=by_person, **dict.fromkeys(names, 0))
