"""Emergence: whether the joint decision meets criteria that no agent alone meets, and whether that beats chance.

All criteria are declared before anybody deliberates. Both null hypotheses are part of every result: a procedure that
is no better than a random decision at the same concession, or than one agent that searches, has nothing to show. What
was lost stands beside what was gained.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant.allocations.measures.measure import Criterion, values_of
from accordant.deliberation.assessment.alternatives import Alternatives, alternatives, level
from accordant.deliberation.record import Deliberation
from accordant.errors import InputError


@dataclass(frozen=True)
class RandomNull:
    """A random allocation that leaves one agent at least as well off as the joint decision does.

    Attributes
    ----------
    agent
        Whose concession level is kept.
    eligible
        How many allocations leave the agent its utility of the joint decision or more; or how many draws of such were
        used, where allocations are too many to list. At least 1.
    all_met
        Probability that all criteria are met by one of these, each as likely.
    mean_met
        How many criteria one of these meets on average.
    exact
        Whether all feasible allocations were counted; otherwise both are approximate, from draws of random walks.
    """

    agent: str
    eligible: int
    all_met: float
    mean_met: float
    exact: bool


@dataclass(frozen=True)
class SearchNull:
    """One agent that searches alone: of all allocations that leave it as well off as the joint decision, the best.

    Best is what meets most criteria. Never below the joint decision, which is one of these allocations: emergence is
    about the procedure and what was known to it, not about what is possible.

    Attributes
    ----------
    agent
        Who searches, at the concession level that it has in the joint decision.
    most_met
        Most criteria that any of these allocations meets.
    all_met
        Whether one meets all.
    exact
        Whether all feasible allocations were searched.
    """

    agent: str
    most_met: int
    all_met: bool
    exact: bool


@dataclass(frozen=True)
class Emergence:
    """Criteria met by the joint decision and by each agent alone, with both null hypotheses.

    Attributes
    ----------
    criteria
        Labels, in declared order.
    joint
        Criteria met by the joint decision.
    solo
        Agent to the criteria met by what it wants alone.
    undefined
        ``joint`` or agent to the criteria that are not defined for its allocation, and so count as not met.
    better_solo
        The agent whose own wish meets most criteria; of several, the first.
    difference
        Criteria met by the joint decision minus those met by `better_solo`; below 0 is a loss.
    lost
        Criteria that `better_solo` meets and the joint decision does not.
    strict
        Whether the joint decision meets all criteria and no agent alone does.
    novel_set
        Whether the criteria that the joint decision meets are contained in no agent's.
    random, search
        The null hypotheses, for each agent in turn as the one whose concession level is kept.
    possible
        Whether any alternative at all meets all criteria.
    gain, loss
        How many more, and how many fewer criteria the joint decision meets than `better_solo`; at least 0.

    Raises
    ------
    InputError
        If a null hypothesis is missing.
    """

    criteria: tuple[str, ...]
    joint: tuple[str, ...]
    solo: Mapping[str, tuple[str, ...]]
    undefined: Mapping[str, tuple[str, ...]]
    better_solo: str
    difference: int
    lost: tuple[str, ...]
    strict: bool
    novel_set: bool
    random: tuple[RandomNull, ...]
    search: tuple[SearchNull, ...]
    possible: bool
    gain: int
    loss: int

    def __post_init__(self) -> None:
        for nulls in (self.random, self.search):
            if not nulls or tuple(null.agent for null in nulls) != tuple(self.solo):
                raise InputError(f"{len(nulls)} null hypotheses for {len(self.solo)} agents; allowed: one for each")


def emergence(
    deliberation: Deliberation, criteria: Sequence[Criterion], *, among: Alternatives | None = None
) -> Emergence:
    """Return what the joint decision meets beside each agent alone, and both null hypotheses.

    Parameters
    ----------
    deliberation
        A finished deliberation.
    criteria
        At least one, declared beforehand.
    among
        What the null hypotheses choose among, if that was already made; the joint decision must be one of them.

    Raises
    ------
    InputError
        If there is no criterion, two have one label, or the joint decision is not among the alternatives.
    """
    labels = tuple(criterion.label for criterion in criteria)
    if not labels or len(set(labels)) < len(labels):
        raise InputError(f"criteria are {labels}; allowed: at least one, each with its own label")
    among = alternatives(deliberation) if among is None else among
    chosen = {name: proposal.allocation.shares for name, proposal in deliberation.solo.items()}
    values, met = judged(deliberation, criteria, np.array([*chosen.values(), deliberation.joint.shares]))
    solo = {name: kept_labels(labels, met[:, row]) for row, name in enumerate(chosen)}
    joint = kept_labels(labels, met[:, -1])
    better = max(solo, key=lambda name: len(solo[name]))  # of several, max keeps the first
    undefined = {
        name: kept_labels(labels, np.isnan(values[:, row])) for row, name in enumerate((*chosen, "joint"))
    }  # fmt: skip
    among.options.position(deliberation.joint)
    counts = judged(deliberation, criteria, among.options.shares)[1].sum(axis=0)
    random, search = {}, {}
    for name, utility in deliberation.utilities.items():
        drawn = judged(deliberation, criteria, among.random[name])[1].sum(axis=0)
        at_level = counts[level(utility, among.options, deliberation.joint)]
        random[name] = random_null(name, drawn, len(labels), among.options.complete)
        search[name] = search_null(name, np.concatenate([at_level, drawn]), len(labels), among.options.complete)
    difference = len(joint) - len(solo[better])
    return Emergence(
        labels, joint, solo, undefined, better, difference,
        tuple(label for label in solo[better] if label not in joint),
        strict=len(joint) == len(labels) and all(len(subset) < len(labels) for subset in solo.values()),
        novel_set=all(not set(joint) <= set(subset) for subset in solo.values()),
        random=tuple(random[name] for name in solo),
        search=tuple(search[name] for name in solo),
        possible=bool((counts == len(labels)).any()) or any(null.all_met for null in search.values()),
        gain=max(0, difference), loss=max(0, -difference),
    )  # fmt: skip


def judged(
    deliberation: Deliberation, criteria: Sequence[Criterion], shares: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return values and whether each criterion is met, each of shape (criterion, option); NaN if not defined."""
    values = values_of(criteria, deliberation.scenario, shares)
    met = [criterion.measure.meets(row, criterion.threshold) for criterion, row in zip(criteria, values, strict=True)]
    return values, np.array(met, dtype=np.bool_).reshape(values.shape)


def kept_labels(labels: Sequence[str], kept: NDArray[np.bool_]) -> tuple[str, ...]:
    """Return the labels that are kept."""
    return tuple(label for label, keep in zip(labels, kept, strict=True) if keep)


def random_null(agent: str, drawn: NDArray[np.intp], n_criteria: int, exact: bool) -> RandomNull:
    """Return how a random allocation at the agent's concession level would do.

    `agent`: whose level it is; `drawn`: how many criteria each of them meets, shape (draw,), at least one;
    `n_criteria`: how many there are; `exact`: whether these are all allocations at that level.
    """
    return RandomNull(agent, len(drawn), float((drawn == n_criteria).mean()), float(drawn.mean()), exact)


def search_null(agent: str, known: NDArray[np.intp], n_criteria: int, exact: bool) -> SearchNull:
    """Return how the agent would do if it searched at its concession level.

    `agent`, `n_criteria`, `exact`: as in `random_null`; `known`: how many criteria each allocation meets that is known
    at that level, shape (allocation,), at least one.
    """
    most = int(known.max())
    return SearchNull(agent, most, most == n_criteria, exact)
