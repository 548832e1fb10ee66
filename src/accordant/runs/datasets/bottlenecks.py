"""What limits a planned job, where its growth is not linear, and what was assumed, in words."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from itertools import groupby, pairwise

import numpy as np

from accordant.runs.datasets.plan_record import Growth, Plan
from accordant.runs.datasets.plan_tasks import plan_tasks
from accordant.runs.datasets.schedule import FAN_IN, Costs
from accordant.runs.datasets.trials import Trial

BUSY = 0.7  # share of the time from which a driver is what limits a job
WAITING = 0.3  # share of the workers' time from which waiting is
BENT = 1.25  # a part that costs so many times what smaller ones let expect does not grow with its rows alone
SERIOUS = 0.01  # probability of a part that is never done from which it is told
STRAIGHT = 0.1  # time that grows as a power of the rows within so much of 1 grows in proportion to them
IN_PROPORTION = "in proportion to rows"


def bottleneck(shares: Mapping[str, float], driver: float, parts: int, workers: int, most: int) -> str:
    """Return what limits a job; see the attributes of `Plan`."""
    if driver > BUSY or workers > most < parts:
        return "the driver, which takes in one result after another"
    if shares["waiting"] > WAITING:
        return "too few parts for so many workers" if parts < workers else "the last parts, for which workers wait"
    return max((name for name in shares if name != "waiting"), key=shares.__getitem__)


def notes_of(plan: Plan, trials: Sequence[Trial]) -> list[str]:
    """Return where twice as much of one thing is not twice as much of another, and what was assumed.

    Parameters
    ----------
    plan
        The plan.
    trials
        Parts that its costs were fitted to.
    """
    return [*_of_workers(plan), *_of_the_driver(plan), *_of_parts(trials), *_of_passes(plan), *_of_hazards(plan)]


def growth_notes(growth: Sequence[Growth]) -> list[str]:
    """Return between which numbers of rows time grows in proportion to them, and between which it does not."""
    steps = [(_kind(less, more), less, more) for less, more in pairwise(growth)]
    told = []
    for kind, stretch in groupby(steps, key=lambda step: step[0]):
        spans = list(stretch)
        first, last = spans[0][1], spans[-1][2]
        why = "" if kind == IN_PROPORTION else f": {first.bottleneck if kind.startswith('less') else last.bottleneck}"
        told.append(f"from {first.rows:,} to {last.rows:,} rows time grows {kind}{why}")
    return told


def _kind(less: Growth, more: Growth) -> str:
    power = math.log((more.seconds.value or 1.0) / (less.seconds.value or 1.0)) / math.log(more.rows / less.rows)
    if abs(power - 1) <= STRAIGHT:
        return IN_PROPORTION
    return f"{'less' if power < 1 else 'more'} than {IN_PROPORTION}"


def _of_workers(plan: Plan) -> list[str]:
    notes, waves, first = list[str](), plan.parts / plan.workers, plan.model.first
    if plan.workers > plan.most_workers:
        why = f"there are {plan.parts:,} parts" if plan.most_workers == plan.parts else "the driver is busy with them"
        notes.append(f"more than {plan.most_workers:,} workers hardly end it sooner: {why}")
    if 1 < waves < 10 and math.ceil(waves) / waves > 1.05:
        notes.append(f"parts come in {waves:.1f} waves: the last one leaves workers idle; smaller parts would not")
    if plan.model.crowd > 1:
        notes.append(
            f"{plan.workers} workers share fewer cores: each part takes {plan.model.crowd:.3g} times as long as alone"
        )
    begun = (first.start + first.ready * plan.model.crowd) / (plan.seconds.value or math.inf)
    if begun > 0.2:
        notes.append(f"{begun:.0%} of the time goes before the first part: it does not shrink with more workers")
    return notes


def _of_the_driver(plan: Plan) -> list[str]:
    notes, model, here = list[str](), plan.model, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**20
    part = (model.first.fixed + model.first.per_row * plan.part_rows) * model.crowd
    adding = model.reduction[1] * plan.parts
    if adding + model.listing * plan.parts > part:
        tree = f"; a tree of {FAN_IN} each on all workers would add up in {_rounded(model.tree)} s, and is not there"
        if plan_tasks.create(plan.kind).in_order:
            tree = ", one after the other as they follow in time"
        notes.append(
            "before and after, parts are listed and added up by the driver alone: that grows with their number"
            + (f" ({_rounded(adding)} s to add them{tree})" if adding > part else "")
        )
    if plan.driver_memory > here:
        notes.append(f"the driver needs {plan.driver_memory:,.0f} MiB, and this machine has {here:,.0f}: larger parts")
    return notes


def _rounded(seconds: float) -> str:
    return f"{seconds:,.0f}" if seconds >= 10 else f"{seconds:.2g}"


def _of_parts(trials: Sequence[Trial]) -> list[str]:
    sizes, seconds = np.array([(float(trial.rows), trial.seconds) for trial in trials]).T
    largest = sizes == sizes.max()
    if len(set(sizes)) < 3:
        return []
    smaller = Costs.of(sizes[~largest], seconds[~largest])
    ratio = float(np.median(seconds[largest])) / smaller.at(sizes.max())
    if ratio <= max(BENT, 1 + 3 * Costs.of(sizes, seconds).spread):
        return []
    return [f"the largest part took {ratio:.2f} times what smaller ones let expect: take smaller parts"]


def _of_passes(plan: Plan) -> list[str]:
    if plan.model.again is None:
        return []
    told = ", ".join(f"{passes} of {rows:,} rows" for rows, passes in plan.model.counts)
    return [f"about {plan.model.passes:.0f} passes over E, one after another: fits to the sample took {told}"]


def _of_hazards(plan: Plan) -> list[str]:
    hazards, first = plan.model.hazards, plan.model.first
    if not hazards.losses:
        return []
    assumed = (
        f"assumed: {hazards.slow:.0%} of the parts take {hazards.times:g} times as long, and of 1,000 workers "
        f"{1000 * hazards.losses:g} an hour is lost, noticed after {hazards.unnoticed:g} s"
    )
    part = (first.fixed + first.per_row * plan.part_rows) * plan.model.crowd
    if plan.parts * (hazards.losses * part / 3600) ** 3 > SERIOUS:
        return [assumed, "some part may lose its worker three times: the same command again carries on"]
    return [assumed]
