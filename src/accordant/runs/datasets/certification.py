"""Certificates for a dataset: a Parquet file for each part, and how many decisions each coalition could change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from accordant.certificates import Survey, Threat
from accordant.compute.tasks import Told, tasks
from accordant.errors import InputError
from accordant.runs.datasets.parts import Job, described, part_work
from accordant.runs.datasets.plan_tasks import PlanTask, plan_tasks
from accordant.runs.folder import Run
from accordant.runs.row_batches import row_contexts
from accordant.runs.sections.certification import DELTA, DELTAS, Certified, certified
from accordant.tables.arrow import arrow_output
from accordant.unusual import UnusualCounts


@dataclass(frozen=True)
class CertifiedDataset:
    """What is certified about the decisions on a dataset.

    Attributes
    ----------
    rule, delta, coalition
        Which rule, against whom: everybody if the coalition is None.
    rows, certified
        How many decisions there are, and how many cannot change.
    deltas
        Radii at which `shares` are counted.
    shares
        Members of each coalition to the share of decisions that no misreport of theirs changes, at every radius.
    unusual
        How many rows are unlike the training rows.
    """

    rule: str
    delta: float
    coalition: tuple[str, ...] | None
    rows: int
    certified: int
    deltas: tuple[float, ...]
    shares: dict[tuple[str, ...], tuple[float, ...]]
    unusual: UnusualCounts

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "rule": self.rule, "delta": self.delta, "coalition": self.coalition and list(self.coalition),
            "rows": self.rows, "certified": self.certified, "deltas": list(self.deltas),
            "coalitions": [{"members": list(who), "certified": list(counts)} for who, counts in self.shares.items()],
            "unusual": self.unusual.to_json(),
        }  # fmt: skip


def certify_dataset(
    job: Job, *, delta: float = DELTA, coalition: Sequence[str] | None = None, strategy: str | None = None,
    frozen: bool = False,
) -> CertifiedDataset:  # fmt: skip
    """Certify the decisions on every part, and write radii row by row.

    Parameters
    ----------
    job
        Run, dataset and where.
    delta, coalition, strategy, frozen
        See `accordant.runs.sections.certification.certify_rows`.

    Raises
    ------
    InputError, AccordantError
        See `Job.carry_out`.
    """
    asked = certification_options(job.run, strategy, delta=delta, coalition=coalition, frozen=frozen)
    who, radius = asked["coalition"], asked["delta"]
    lines = job.carry_out("certify", "certifying parts", asked)
    rows = sum(line["rows"] for line in lines)
    beyond = {
        tuple(members): sum(np.array(line["beyond"][k]) for line in lines) / rows
        for k, members in enumerate(lines[0]["coalitions"])
    }
    return CertifiedDataset(
        asked["strategy"], radius, None if who is None else tuple(who), rows, sum(line["certified"] for line in lines),
        _deltas(radius), {members: tuple(map(float, shares)) for members, shares in beyond.items()},
        reduce(add, (UnusualCounts(**line["unusual"]) for line in lines), UnusualCounts()),
    )  # fmt: skip


def certification_options(
    run: Run, strategy: str | None = None, *, delta: float = DELTA, coalition: Sequence[str] | None = None,
    frozen: bool = False,
) -> Told:  # fmt: skip
    """Return the options of the task.

    Raises
    ------
    InputError
        If the strategy decides about all rows together, or no such threat can be.
    """
    threat = Threat(delta, None if coalition is None else tuple(coalition), frozen=frozen)
    threat.members(run.policy.problem.stakeholder_names)  # refuses whoever is none, before a folder is made
    label = strategy or run.policy.selected_
    if run.policy.strategy(label).whole_batch:
        raise InputError(f"{label} decides about all rows together, and parts are certified one by one")
    who = None if threat.coalition is None else list(threat.coalition)
    return {"strategy": label, "delta": threat.delta, "coalition": who, "frozen": frozen}


@plan_tasks.register("certify")
def certify_plan() -> PlanTask:
    """Return how the task is planned."""
    return PlanTask(certification_options, "certify", "Certify decisions on", "certify each part")


@tasks.register("certify")
def certify_part(options: Told, item: Told) -> Told:
    """Write the certificates of one part, and return its line."""
    with part_work(options, item, ".parquet") as (part, run, output):
        if output.line is None:
            certificates = certified(
                run, row_contexts(run, part), "", delta=options["delta"], coalition=options["coalition"],
                strategy=options["strategy"], frozen=options["frozen"],
            )  # fmt: skip
            with arrow_output(output.path, [part.file]) as write:
                write(_columns(certificates, part.start))
            output.told = described(part, certificates.certificate.expected.n_contexts) | {
                "certified": int(certificates.certificate.certified.sum()),
                "coalitions": [list(members) for members in certificates.survey.coalitions],
                "beyond": _beyond(certificates.survey, _deltas(options["delta"])),
                "unusual": certificates.counts.to_json(),
            }
    return output.finished()


def _deltas(delta: float) -> tuple[float, ...]:
    return tuple(sorted({*DELTAS, delta}))


def _beyond(survey: Survey, deltas: Sequence[float]) -> list[list[int]]:
    """Return how many decisions no misreport within each radius changes, by coalition."""
    n = survey.radii.shape[1]
    return np.rint(np.array([survey.certified(delta) * n for delta in deltas]).T).astype(int).tolist()  # type: ignore[no-any-return]


def _columns(certificates: Certified, start: int) -> dict[str, Any]:
    """Return the rows of `Certified.rows` by columns, with radii as numbers."""
    columns = dict(zip(certificates.header, map(list, zip(*certificates.rows(), strict=True)), strict=True))
    columns["row"] = [start + row for row in columns["row"]]
    radii = {name: np.array(values, dtype=np.float64) for name, values in columns.items() if name.startswith("radius[")}
    return {name: radii.get(name, np.asarray(values)) for name, values in columns.items()}
