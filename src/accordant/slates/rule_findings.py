"""What is said of one slate rule beside its measures: over time, curves, majorities, proportionality, robustness."""

from __future__ import annotations

from typing import Any

import numpy as np

from accordant.slates.case import SlateSpec
from accordant.slates.evaluation import (
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
from accordant.slates.serving import Served
from accordant.slates.slates import NOTHING

POINTS = 60  # of lines over time: no screen shows more
RESAMPLES = 200  # of users for gains by misreporting, of which there are dozens
MOST_VOTERS = 12  # beyond them PJR and EJR take too long


def findings(label: str, served: Served, opened: OpenedSlates, *, watched: bool) -> RuleResult:
    """Return what is said of one rule beside its measures.

    Parameters
    ----------
    label
        Of the rule.
    served
        What it showed.
    opened
        Case, rules and options.
    watched
        Whether stability and manipulability are measured too, which take dozens of runs.
    """
    rule, candidates, k = opened.rules[label], served.candidates, opened.k
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
        **(_robustness(rule, served, k, opened.options.seed) if watched else {}),
    )  # fmt: skip


def _robustness(rule: SlateRule, served: Served, k: int, seed: int) -> dict[str, Any]:
    """Return what changes without a stakeholder, and what each could gain by misreporting.

    Where lists change what later requests find, both are measured by serving the whole market again.
    """
    market, candidates = served.market, served.candidates
    with_weight = [name for name in market.stakeholders if market.weights.get(name, 1.0) > 0]
    common: dict[str, Any] = {"seed": seed, "resamples": RESAMPLES}
    if state_matters(rule, served):
        dropped = drop_one_in_market(rule, market, k, full=served)
        lied = [manipulability_in_market(rule, market, k, name, truthful=served, **common) for name in with_weight]
    else:
        dropped = drop_one(rule, candidates, k)
        lied = [manipulability(rule, candidates, k, name, users=served.users, **common) for name in with_weight]
    return {
        "stability": dropped,
        "manipulability": tuple(ManipulabilityResult(**each.to_json()) for each in lied),
    }


def _proportionality(served: Served, k: int) -> tuple[dict[str, float], str]:
    """Return the share of lists that break each axiom, and the first such list in words."""
    candidates, items = served.candidates, served.slates.items
    approved = approvals(candidates)
    if (candidates.weights > 0).sum() > MOST_VOTERS:
        return {}, ""
    wrong = {axiom: violations(axiom, approved, items, candidates.weights) for axiom in AXIOMS}
    shares: dict[str, float] = {axiom: float(found.mean()) for axiom, found in wrong.items()}
    for axiom, found in wrong.items():
        for user in np.flatnonzero(found)[:1].tolist():
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
        stated = [(value, each) for value in stakeholder.values for each in value.objectives]
        for (value, each), row in zip(stated, every, strict=True):
            mean = float(np.nanmean(row)) if not np.isnan(row).all() else None
            met = None if mean is None or each.floor is None else mean >= each.floor
            lines.append(
                AttainmentResult(
                    stakeholder=stakeholder.name, value=value.value, metric=each.metric, direction=each.direction,
                    mean=mean, floor=each.floor, met=met,
                )
            )  # fmt: skip
    return lines
