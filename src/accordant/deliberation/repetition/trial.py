"""One repetition: a scenario, a debate on it, and everything that is measured of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from accordant.agents import Agent
from accordant.allocations import Allocation, Scenario
from accordant.allocations.measures.measure import Criterion
from accordant.deliberation.adapters import choices_by_strategy
from accordant.deliberation.assessment.alternatives import alternatives
from accordant.deliberation.assessment.emergence import Emergence, emergence, judged
from accordant.deliberation.assessment.process import Group, access, approach, conversion, restored_access
from accordant.deliberation.assessment.regrets import recorded
from accordant.deliberation.protocols.debate import debate
from accordant.deliberation.protocols.session import Guard
from accordant.deliberation.record import Deliberation
from accordant.deliberation.settlement import Settlement
from accordant.randomness import keyed_seed
from accordant.strategies import Strategy


@dataclass(frozen=True)
class Study:
    """What is repeated.

    Attributes
    ----------
    make_scenario
        From a seed to a scenario.
    agents
        Who debates.
    criteria
        Declared beforehand.
    settle
        The settlement rule.
    group
        Claimants whose access is watched; None for nobody.
    biased
        Agent whose effect on that group is to be undone; None without one.
    rules
        Strategies that choose from the agents' utilities for comparison.
    guard
        What happens to inadmissible reasons, see `debate`.
    allow_adversarial
        Whether adversarial agents are admitted.
    seed
        Of scenarios and debates.
    """

    make_scenario: Callable[[int], Scenario]
    agents: tuple[Agent, ...]
    criteria: tuple[Criterion, ...]
    settle: Settlement
    group: Group | None
    biased: str | None
    rules: tuple[Strategy, ...]
    guard: Guard
    allow_adversarial: bool
    seed: int


@dataclass(frozen=True)
class Row:
    """One allocation by every criterion; values and standings are None where a measure is not defined.

    Attributes
    ----------
    values, met
        In the order of the criteria.
    access
        Mean share of the watched group; None without one.
    """

    values: tuple[float | None, ...]
    met: tuple[bool | None, ...]
    access: float | None


@dataclass(frozen=True)
class Trial:
    """What one repetition showed.

    Attributes
    ----------
    rows
        ``solo NAME``, ``revised NAME``, ``joint``, ``disagreement`` and ``strategy LABEL`` to their measures.
    emergence
        With both null hypotheses.
    restored
        Access restored to the group; None without a biased agent, a group, or members.
    conversion, approach
        Other agent to how far the biased one went, and how much nearer it came; empty without a biased agent.
    agreed, tied
        As settlement says.
    agrees
        Label of each strategy to whether it chose the joint decision.
    fallbacks, turns
        How many moves a rule made in place of a language model, and how many were asked for.
    hash
        Of the deliberation.
    """

    rows: Mapping[str, Row]
    emergence: Emergence
    restored: float | None
    conversion: Mapping[str, float | None]
    approach: Mapping[str, float | None]
    agreed: bool
    tied: bool
    agrees: Mapping[str, bool]
    fallbacks: int
    turns: int
    hash: str


def run_trial(study: Study, number: int) -> Trial:
    """Run and measure one repetition; depends on the study and the number alone."""
    scenario = study.make_scenario(keyed_seed(study.seed, f"scenario {number}"))
    held = debate(
        scenario, study.agents, settle=study.settle, seed=keyed_seed(study.seed, f"debate {number}"),
        criteria=study.criteria, guard=study.guard, allow_adversarial=study.allow_adversarial,
    )  # fmt: skip
    among = alternatives(held)
    chosen = choices_by_strategy(held, study.rules, options=among.options)
    compared = recorded(held) | ({} if held.disagreement is None else {"disagreement": held.disagreement})
    compared |= {f"strategy {label}": allocation for label, allocation in chosen.allocations.items()}
    others = [] if study.biased is None else [name for name in held.solo if name != study.biased]
    return Trial(
        rows=_rows(held, compared, study.criteria, study.group),
        emergence=emergence(held, study.criteria, among=among),
        restored=None
        if study.biased is None or study.group is None
        else restored_access(held, study.group, study.biased),
        conversion={name: conversion(held, name, study.biased) for name in others},
        approach={name: approach(held, name, study.biased) for name in others},
        agreed=held.settled.agreed, tied=held.settled.tied, agrees=chosen.agrees,
        fallbacks=held.fallbacks, turns=len(held.asked), hash=held.hash,
    )  # fmt: skip


def _rows(
    held: Deliberation, compared: Mapping[str, Allocation], criteria: Sequence[Criterion], group: Group | None
) -> dict[str, Row]:
    shares = np.array([allocation.shares for allocation in compared.values()])
    values, met = judged(held, criteria, shares)
    rows = {}
    for place, label in enumerate(compared):
        known = ~np.isnan(values[:, place])
        rows[label] = Row(
            tuple(float(value) if ok else None for value, ok in zip(values[:, place], known, strict=True)),
            tuple(bool(yes) if ok else None for yes, ok in zip(met[:, place], known, strict=True)),
            None if group is None else access(held.scenario, shares[place], group),
        )
    return rows
