"""How good every strategy of a run is on a dataset with logged actions and outcomes that no memory holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from accordant import randomness
from accordant.compute.ledger import part_output
from accordant.compute.tasks import Told, tasks
from accordant.errors import InputError
from accordant.evaluation.leaderboard import Leaderboard
from accordant.evaluation.part_sums import PartSums, buckets_of, random_buckets, summed_leaderboard
from accordant.metrics.metric import Metric, weighted_metrics
from accordant.policy import ParticipatoryPolicy
from accordant.runs.datasets.parts import Job, described, opened, part_of
from accordant.runs.execution import part_data
from accordant.strategies.strategy import Strategy
from accordant.tables.output import output_file


def evaluate_dataset(job: Job, *, resamples: int | None = None) -> Leaderboard:
    """Return the leaderboard of the run's strategies on rows that took no part in it; ranks nothing anew.

    Strategies that decide about all rows together are left out. So are metrics that one of the parts lacks something
    for; one of those that carry weight is an error.

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
    policy = job.run.policy
    lines = job.carry_out("evaluate", "adding up parts", {"seed": policy.random_state})
    parts = [_read(job.out / line["output"], line) for line in lines]
    asked = weighted_metrics(policy.metrics)
    shown = {label: each for label, each in asked.items() if all(label in line["ranges"] for line in lines)}
    for label, (_, weight) in asked.items():
        if weight > 0 and label not in shown:
            reason = next(line["unavailable"][label] for line in lines if label in line["unavailable"])
            raise InputError(f"metric {label!r}: {reason}")
    rules = _judged(policy)
    return summed_leaderboard(
        parts, job.run.case.problem, {label: rule.kind for label, rule in rules.items()}, shown,
        candidates=[label for label, rule in rules.items() if rule.candidate],
        selectable=[label for label, rule in rules.items() if rule.may_be_selected],
        generator=randomness.generator(policy.random_state, "resamples"),
        resamples=policy.resamples if resamples is None else resamples,
        level=policy.level, normalisation=policy.normalisation, ranges=policy.declared_ranges(shown),
    )  # fmt: skip


@tasks.register("evaluate")
def evaluate_part(options: Told, item: Told) -> Told:
    """Add up one part, and return its line."""
    part, run = part_of(item), opened(options)
    with part_output(options, item, f"part-{part.number:05d}.npz", part.fingerprint()) as output:
        if output.line is None:
            data, persons = part_data(run.case, part)
            evidence = run.policy.evidence_on(data.log, true_levels=data.true_levels)
            rules = _judged(run.policy)
            decisions = {label: each for label, each in run.policy.decide_on(evidence).items() if label in rules}
            known, unavailable = dict[str, Metric](), dict[str, str]()
            for label, (metric, _) in weighted_metrics(run.policy.metrics).items():
                reason = metric.unavailable(evidence)
                if reason is None:
                    known[label] = metric
                else:
                    unavailable[label] = reason
            n = evidence.n_contexts
            buckets = random_buckets(n, options["seed"], part.number) if persons is None else buckets_of(persons)
            found = PartSums.of(decisions, evidence, known, buckets)
            with output_file(output.path, [part.file]) as file:
                np.savez(file.buffer, allow_pickle=False, **found.arrays)  # type: ignore[attr-defined]
            output.told = described(part, n) | {
                "names": list(found.names), "ranges": dict(found.ranges), "withheld": dict(found.withheld),
                "values": {name: list(each) for name, each in found.values.items()}, "persons": found.persons,
                "unavailable": unavailable,
            }  # fmt: skip
            output.told = json.loads(json.dumps(output.told))
    return output.finished()


def _judged(policy: ParticipatoryPolicy) -> dict[str, Strategy]:
    return {label: rule for label, rule in policy.strategies_.items() if not rule.whole_batch}


def _read(path: Path, line: Told) -> PartSums:
    """Return the sums of a part that is done."""
    with np.load(path, allow_pickle=False) as stored:
        arrays: dict[str, Any] = {name: stored[name] for name in stored.files}
    ranges = {label: None if span is None else (span[0], span[1]) for label, span in line["ranges"].items()}
    values = {name: tuple(each) for name, each in line["values"].items()}
    return PartSums(tuple(line["names"]), ranges, line["withheld"], values, arrays, line["persons"])
