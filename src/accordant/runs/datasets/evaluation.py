"""How good every strategy of a run is on a dataset with logged actions and outcomes that no memory holds."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from accordant import randomness
from accordant.compute.tasks import Told, tasks
from accordant.errors import InputError
from accordant.evaluation.leaderboard import Leaderboard
from accordant.evaluation.part_sums import BUCKETS, PartSums, context_numbers, person_numbers
from accordant.evaluation.summed_leaderboard import SMALLEST, summed_leaderboard
from accordant.metrics.metric import Metric, weighted_metrics
from accordant.naming import listed
from accordant.policy import ParticipatoryPolicy
from accordant.runs.datasets.parts import Job, described, part_work
from accordant.runs.datasets.plan_tasks import PlanTask, plan_tasks, without_strategy
from accordant.runs.execution import part_data
from accordant.runs.folder import Run
from accordant.strategies.strategy import Strategy
from accordant.tables.output import output_file


def evaluate_dataset(job: Job, *, resamples: int | None = None) -> Leaderboard:
    """Return the leaderboard of the run's strategies on rows that took no part in it; ranks nothing anew.

    Strategies that decide about all rows together are left out, and so are metrics that a part lacks something for; the
    remarks name both. One of those that carry weight is an error.

    Parameters
    ----------
    job
        Run, dataset and where. The dataset has the columns that the case names, logged actions and outcomes among them.
    resamples
        As many as in the run if None.

    Raises
    ------
    InputError, AccordantError
        See `Job.carry_out`; and if there are too few rows, or a metric that carries weight is not defined.
    """
    lines = job.carry_out("evaluate", "adding up parts", evaluation_options(job.run))
    return leaderboard_of(job, lines, resamples=resamples)


def evaluation_options(run: Run) -> Told:
    """Return the options of the task."""
    return {"seed": run.policy.random_state}


@plan_tasks.register("evaluate")
def evaluate_plan() -> PlanTask:
    """Return how the task is planned."""

    def options(run: Run, strategy: str | None) -> Told:
        """Return the options of the task, which judges all strategies."""
        without_strategy(strategy, "evaluate", "judges all of them")
        return evaluation_options(run)

    return PlanTask(
        options, "evaluate", "Judge all strategies on", "add up each part",
        read=lambda run, part: part_data(run.case, part, run.policy.types_), reduction=_reduction,
    )  # fmt: skip


def _reduction(job: Job, lines: Sequence[Told]) -> tuple[float, float, float]:
    """Return the seconds of a leaderboard of sums, those more for each part, and 1: this process does it alone.

    Parts are taken again and again.
    """

    def seconds(taken: Sequence[Told]) -> float:
        """Return how long their leaderboard takes."""
        began = time.perf_counter()
        leaderboard_of(job, taken)
        return time.perf_counter() - began

    few = list(lines) * -(-SMALLEST * BUCKETS // sum(line["rows"] for line in lines))
    many = few * 10
    seconds(few)  # what is imported and compiled at first
    first, second = seconds(few), seconds(many)
    per_part = max(0.0, second - first) / (len(many) - len(few))
    return max(0.0, first - per_part * len(few)), per_part, 1.0


def leaderboard_of(job: Job, lines: Sequence[Told], *, resamples: int | None = None) -> Leaderboard:
    """Return the leaderboard of parts that are done; see `evaluate_dataset`."""
    policy = job.run.policy
    asked = weighted_metrics(policy.metrics)
    missing = {label: reason for line in reversed(lines) for label, reason in line["unavailable"].items()}
    for label, reason in missing.items():
        if asked[label][1] > 0:
            raise InputError(f"metric {label!r}: {reason}")
    rules, shown = _judged(policy), {label: pair for label, pair in asked.items() if label not in missing}
    board = summed_leaderboard(
        (_read(job.out / line["output"], line) for line in lines), job.run.case.problem,
        {label: rule.kind for label, rule in rules.items()}, shown,
        candidates=[label for label, rule in rules.items() if rule.candidate],
        selectable=[label for label, rule in rules.items() if rule.may_be_selected],
        generator=randomness.generator(policy.random_state, "resamples"),
        resamples=policy.resamples if resamples is None else resamples,
        level=policy.level, normalisation=policy.normalisation, ranges=policy.declared_ranges(shown),
    )  # fmt: skip
    left = [label for label in policy.strategies_ if label not in rules]
    return replace(board, remarks=(*board.remarks, *_left_out(left, missing)))


@tasks.register("evaluate")
def evaluate_part(options: Told, item: Told) -> Told:
    """Add up one part, and return its line."""
    with part_work(options, item, ".npz") as (part, run, output):
        if output.line is None:
            data, persons = part_data(run.case, part, run.policy.types_)
            evidence = run.policy.evidence_on(data.log, true_levels=data.true_levels)
            decisions = run.policy.decide_on(evidence, _judged(run.policy))
            known, unavailable = dict[str, Metric](), dict[str, str]()
            for label, (metric, _) in weighted_metrics(run.policy.metrics).items():
                reason = metric.unavailable(evidence)
                if reason is None:
                    known[label] = metric
                else:
                    unavailable[label] = reason
            n = evidence.n_contexts
            if persons is None:
                numbers = context_numbers(n, options["seed"], part.file_number, part.start)
            else:
                numbers = person_numbers(persons, options["seed"])
            sums = PartSums.of(decisions, evidence, known, numbers)
            kept = [*sums.arrays.values(), *(() if sums.persons is None else (sums.persons,))]
            with output_file(output.path, [part.file]) as file:
                np.savez(file.buffer, *kept)  # type: ignore[attr-defined]
            output.told = described(part, n) | {
                "names": list(sums.names), "ranges": dict(sums.ranges), "withheld": dict(sums.withheld),
                "values": {name: list(levels) for name, levels in sums.values.items()}, "arrays": list(sums.arrays),
                "unavailable": unavailable,
            }  # fmt: skip
            output.told = json.loads(json.dumps(output.told))
    return output.finished()


def _judged(policy: ParticipatoryPolicy) -> dict[str, Strategy]:
    return {label: rule for label, rule in policy.strategies_.items() if not rule.whole_batch}


def _left_out(strategies: Sequence[str], metrics: Mapping[str, str]) -> list[str]:
    """Say which strategies and metrics are not there, and why."""
    remarks = [f"Left out is {label}: {reason}." for label, reason in metrics.items()]
    if strategies:
        remarks.append(f"Left out, because they decide about all rows together: {listed(strategies)}.")
    return remarks


def _read(path: Path, line: Told) -> PartSums:
    """Return the sums of a part that is done."""
    with np.load(path, allow_pickle=False) as stored:
        kept = [stored[name] for name in stored.files]
    ranges = {label: None if span is None else (span[0], span[1]) for label, span in line["ranges"].items()}
    values = {name: tuple(levels) for name, levels in line["values"].items()}
    arrays = dict(zip(line["arrays"], kept, strict=False))
    persons = kept[-1] if len(kept) > len(arrays) else None
    return PartSums(tuple(line["names"]), ranges, line["withheld"], values, arrays, persons)
