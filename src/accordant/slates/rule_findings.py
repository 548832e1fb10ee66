"""What is said of one slate rule beside its measures: over time, curves, majorities, proportionality, robustness."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from accordant.compute.fan_out import run_all
from accordant.slates.case import SlateSpec
from accordant.slates.evaluation import (
    Dropped,
    OverTime,
    condorcet,
    crowding_curve,
    drop_one,
    drop_one_in_market,
    manipulability,
    manipulability_in_market,
    over_time,
    popularity_curve,
    state_matters,
)
from accordant.slates.market import Served
from accordant.slates.measures import measures
from accordant.slates.objectives.stakeholder import attainments
from accordant.slates.proportionality import AXIOMS, Witness, check, violations
from accordant.slates.result import (
    AttainmentResult,
    ManipulabilityResult,
    OverTimeResult,
    RuleResult,
)
from accordant.slates.rule import SlateRule
from accordant.slates.rules.approval import approvals
from accordant.slates.run import OpenedSlates
from accordant.slates.slates import NOTHING

POINTS = 60  # of lines over time: no screen shows more
RESAMPLES = 200  # of users for gains by misreporting, of which there are dozens
MOST_VOTERS = 12  # beyond them PJR and EJR take too long
PLAIN, STABILITY = "", "stability of its lists"  # tasks beside those of stakeholders


def findings_of_all(
    served: Mapping[str, Served], opened: OpenedSlates, watched: Sequence[str], n_jobs: int
) -> dict[str, RuleResult]:
    """Return what is said of each rule beside its measures.

    Parameters
    ----------
    served
        Rule to what it showed.
    opened
        Case, rules and options.
    watched
        Rules whose stability and manipulability are measured too, which take dozens of runs.
    n_jobs
        Processes over which all of this is dealt, what takes longest first; see `run_all`.
    """
    seed = opened.options.seed
    tasks: dict[tuple[str, str], Callable[[], Any]] = {}
    for label in watched:
        rule, shown = opened.rules[label], served[label]
        tasks |= {(label, name): partial(_manipulability, rule, shown, name, seed) for name in _weighty(shown)}
        tasks[label, STABILITY] = partial(_stability, rule, shown)
    tasks |= {(label, PLAIN): partial(findings, label, shown, opened) for label, shown in served.items()}
    by_task = dict(zip(tasks, run_all(list(tasks.values()), n_jobs, "looking at rules"), strict=True))
    results: dict[str, RuleResult] = {label: by_task[label, PLAIN] for label in served}
    for label in watched:
        results[label] = results[label].model_copy(update={
            "stability": by_task[label, STABILITY],
            "manipulability": tuple(by_task[label, name] for name in _weighty(served[label])),
        })  # fmt: skip
    return results


def findings(label: str, served: Served, opened: OpenedSlates) -> RuleResult:
    """Return what is said of one rule, but for its stability and manipulability.

    Parameters
    ----------
    label
        Of the rule.
    served
        What it showed.
    opened
        Case, rules and options.
    """
    rule, candidates = opened.rules[label], served.candidates
    changed, impossible = (
        float(served.slates.flags[name].mean()) if name in served.slates.flags else 0.0
        for name in ("changed", "floor_impossible")
    )
    below = measures.create("floor_violations").of(served)
    broken, witness = _proportionality(served, opened.k)
    return RuleResult(
        label=label, kind=opened.kinds[label], note=rule.note, changed=changed, floor_impossible=impossible,
        floor_unmet=below, broken=broken, witness=witness, over_time=_thin(over_time(served)),
        popularity=popularity_curve(served),
        crowding=crowding_curve(served), condorcet=condorcet(served.slates, candidates),
        attainments=tuple(_attainments(served, opened.case.slates)),
    )  # fmt: skip


def _weighty(served: Served) -> list[str]:
    """Return stakeholders with weight."""
    return [name for name in served.market.stakeholders if served.market.weights.get(name, 1.0) > 0]


def _stability(rule: SlateRule, served: Served) -> tuple[Dropped, ...]:
    """Return what changes without a stakeholder; the market is served again where lists change what others find."""
    k = served.slates.k
    if state_matters(rule, served):
        return tuple(drop_one_in_market(rule, served.market, k, full=served))
    return tuple(drop_one(rule, served.candidates, k))


def _manipulability(rule: SlateRule, served: Served, name: str, seed: int) -> ManipulabilityResult:
    """Return what a stakeholder could gain by misreporting; the market is served again as for `_stability`."""
    k, common = served.slates.k, dict[str, Any](seed=seed, resamples=RESAMPLES)
    if state_matters(rule, served):
        lied = manipulability_in_market(rule, served.market, k, name, truthful=served, **common)
    else:
        lied = manipulability(rule, served.candidates, k, name, users=served.users, **common)
    return ManipulabilityResult(**lied.to_json())


def _proportionality(served: Served, k: int) -> tuple[dict[str, float], str]:
    """Return the share of lists that break each axiom, and the first such list in words."""
    candidates, items = served.candidates, served.slates.items
    approved = approvals(candidates)
    if (candidates.weights > 0).sum() > MOST_VOTERS:
        return {}, ""
    wrong = {axiom: violations(axiom, approved, items, candidates.weights) for axiom in AXIOMS}
    shares: dict[str, float] = {axiom: float(mask.mean()) for axiom, mask in wrong.items()}
    for axiom, broken in wrong.items():
        for user in np.flatnonzero(broken)[:1].tolist():
            committee = items[user][items[user] != NOTHING]
            witness = check(axiom, approved[:, :, user], candidates.weights, committee, k).witness
            if witness is not None:
                return shares, _broken_words(axiom, witness, served, user)
    return shares, ""


def _broken_words(axiom: str, witness: Witness, served: Served, user: int) -> str:
    """Return a broken axiom as a sentence."""
    voters = ", ".join(served.market.stakeholders[voter] for voter in witness.voters)
    items = ", ".join(served.slates.item_names[item] for item in witness.items)
    approved = f"item{'s' * (len(witness.items) > 1)} {items}"
    return (
        f"the list of {served.market.ids[user]} breaks {axiom.upper().replace('_PLUS', '+')}: {voters} could claim "
        f"{witness.size} of {served.slates.k} places, and all of them approve {approved}"
    )


def _thin(past: OverTime) -> OverTimeResult:
    """Return what happened over time at no more than some requests, the last among them; requests count from 1."""
    n_requests, lines = len(past.days), past.to_json()
    kept = np.unique(np.linspace(0, n_requests - 1, min(POINTS, n_requests)).astype(int)).tolist()
    thin = {name: [lines[name][t] for t in kept] for name in ("days", "gap", "shortfall", "behind", "changes")}
    thin["attained"] = [[row[t] for t in kept] for row in lines["attained"]]
    return OverTimeResult(**(lines | thin), request=[t + 1 for t in kept])


def _attainments(served: Served, declared: SlateSpec) -> list[AttainmentResult]:
    """Return the mean of each objective over all lists beside its floor."""
    lines = []
    for stakeholder in declared.stakeholders:
        means, first = [], 0
        for batch, state in zip(served.market.batches, served.states, strict=True):
            slates = served.slates.take(slice(first, first + batch.n_users))
            means.append(attainments(stakeholder, served.market.catalogue, batch, state, slates).means)
            first += batch.n_users
        every = np.concatenate(means, axis=1)
        stated = [(value, objective) for value in stakeholder.values for objective in value.objectives]
        for (value, objective), row in zip(stated, every, strict=True):
            mean = float(np.nanmean(row)) if not np.isnan(row).all() else None
            met = None if mean is None or objective.floor is None else mean >= objective.floor
            lines.append(
                AttainmentResult(
                    stakeholder=stakeholder.name, value=value.value, metric=objective.metric,
                    direction=objective.direction, mean=mean, floor=objective.floor, met=met,
                )
            )  # fmt: skip
    return lines
