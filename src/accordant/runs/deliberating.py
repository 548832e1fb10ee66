"""Carrying out deliberations of a case: patients, agents, protocol, and everything that is measured about it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from accordant.agents import Agent, Turn
from accordant.allocations import Scenario
from accordant.allocations.criteria import Criterion, criteria_of
from accordant.cases.deliberations import DeliberationCase
from accordant.cases.patients import deliberation_source
from accordant.cases.spec import read_deliberation
from accordant.deliberation.assessment import (
    PERMUTATIONS,
    Group,
    access,
    alternatives,
    conversion,
    emergence,
    flip_test,
    ledger,
    process,
    recorded,
    regrets,
    restored_access,
    satisfaction,
    side_by_side,
    verdict,
)
from accordant.deliberation.joining.choices import choices_by_strategy
from accordant.deliberation.protocols import alternating_offers, debate, order_effects, vote_after_debate
from accordant.deliberation.record import Deliberation
from accordant.deliberation.repetition import repeat
from accordant.errors import InputError
from accordant.naming import Named
from accordant.runs.deliberated import Deliberated, DeliberatedOften, DeliberationOptions, Opened
from accordant.runs.speaking import Cast, cast_of
from accordant.scope import lint

FEW = 5  # permutations of the flip test where allocations are searched: each is a debate of a second

logger = logging.getLogger(__name__)

Watch = Callable[[Turn], None]


def open_deliberation(name_or_path: str | Path, options: DeliberationOptions) -> Opened:
    """Read the case and find its patients.

    Raises
    ------
    InputError
        If the case, the data or an option cannot be used.
    """
    case, beside = read_deliberation(name_or_path)
    case = _with_overrides(case, options)
    source = deliberation_source(case.deliberation, options.data, beside)
    return Opened(case, options, source)


def cast_for(opened: Opened) -> Cast:
    """Return the agents of a deliberation: those that are named, or the case's.

    Whoever names an adversary admits it; the agents of a case may not hold one.
    """
    options, declared = opened.options, opened.case.deliberation.agents
    named = options.agents or tuple(Named(each.name, dict(each.parameters)) for each in declared)
    named = tuple(_against_the_watched(opened, each) for each in named)
    return cast_of(
        named, model=options.model, corpus=options.corpus, allow_adversarial=bool(options.agents),
    )  # fmt: skip


def deliberate(opened: Opened, cast: Cast, watch: Watch | None = None) -> Deliberated:
    """Deliberate on one scenario and measure everything about it.

    Parameters
    ----------
    opened, cast
        What, and who.
    watch
        Called with every turn as it happens.
    """
    scenario = opened.source(opened.options.seed)
    criteria = _criteria(opened)
    held = _held(opened, cast.agents, criteria)(scenario, watch)
    warnings = _warnings(opened, cast.agents, held)
    spoken = cast.usage()
    rerun = None if spoken else _held(opened, cast.agents, criteria)
    among = alternatives(held)
    card, group = opened.case.deliberation.scope, _group(opened)
    undone = group is not None and len(held.adversaries) == 1
    return Deliberated(
        opened=opened,
        deliberation=held,
        verdict=None if card is None else verdict(held, card),
        emergence=emergence(held, criteria, among=among) if criteria else None,
        ledger=ledger(held),
        process=process(held),
        satisfaction=satisfaction(held, among=among),
        sides=side_by_side(held, criteria),
        regrets=regrets(held, among=among),
        flips=flip_test(
            scenario, rerun, permutations=PERMUTATIONS if held.options is not None else FEW, seed=opened.options.seed
        )
        if rerun and scenario.protected
        else None,
        order=None
        if rerun is None
        else order_effects(
            lambda agents: _held(opened, agents, criteria)(scenario), cast.agents, seed=opened.options.seed
        ),
        choices=choices_by_strategy(held, options=among.options),
        access=None
        if group is None
        else {name: access(scenario, each.shares, group) for name, each in recorded(held).items()},
        restored=restored_access(held, group) if undone and group is not None else None,
        conversion={name: conversion(held, name) for name in held.solo if undone and name not in held.adversaries},
        usage=spoken,
        warnings=warnings,
    )


def deliberate_often(opened: Opened, cast: Cast) -> DeliberatedOften:
    """Deliberate on many scenarios; nulls are always beside the results.

    Raises
    ------
    InputError
        If the case declares no criteria, or the protocol is another than the debate.
    """
    options, criteria = opened.options, _criteria(opened)
    if options.protocol != "debate":
        raise InputError(f"--repeat compares debates; found the protocol {options.protocol!r}")
    if not criteria:
        raise InputError(f"the case {opened.case.name!r} declares no criteria: --repeat has nothing to count")
    if options.model is not None and options.jobs != 1:
        raise InputError("a language model and --jobs do not go together: requests are sent one after the other")
    found = repeat(
        opened.source, cast.agents, options.repeat, criteria=criteria, settle=_settle(opened), group=_group(opened),
        guard=options.guard, allow_adversarial=True, seed=options.seed, jobs=options.jobs,
    )  # fmt: skip
    return DeliberatedOften(opened, found, _warnings(opened, cast.agents, None))


def _held(opened: Opened, agents: Sequence[Agent], criteria: Sequence[Criterion]) -> Callable[..., Deliberation]:
    """Return what carries out the protocol on a scenario."""
    options = opened.options

    def held(scenario: Scenario, watch: Watch | None = None) -> Deliberation:
        """Carry out the protocol."""
        common: dict[str, Any] = {"seed": options.seed, "allow_adversarial": True, "watch": watch}
        if options.protocol == "offers":
            return alternating_offers(scenario, agents, **common)
        common["guard"] = options.guard
        if options.protocol == "vote":
            return vote_after_debate(scenario, agents, rule=options.settle or "borda", **common)
        return debate(scenario, agents, settle=_settle(opened), criteria=criteria, **common)

    return held


def _against_the_watched(opened: Opened, named: Named) -> Named:
    """Return the biased fixture with the group it favours: the first that is not the watched one, unless it says so."""
    marginal = opened.case.deliberation.marginal
    if named.name != "biased" or marginal is None or {"favoured_fact", "favoured_value"} & named.parameters.keys():
        return named
    values = {value for value in opened.source(opened.options.seed).column(marginal.fact) if value != marginal.value}
    if not values:
        raise InputError(f"all patients have {marginal.fact} {marginal.value!r}: there is no group to favour")
    favoured = {"favoured_fact": marginal.fact, "favoured_value": min(values, key=str)}
    return Named(named.name, {**favoured, **named.parameters})


def _settle(opened: Opened) -> str:
    return opened.options.settle or opened.case.deliberation.settle.name


def _criteria(opened: Opened) -> tuple[Criterion, ...]:
    card = opened.case.deliberation.scope
    return () if card is None else criteria_of(card)


def _group(opened: Opened) -> Group | None:
    marginal = opened.case.deliberation.marginal
    return None if marginal is None else Group(marginal.fact, marginal.value)


def _with_overrides(case: DeliberationCase, options: DeliberationOptions) -> DeliberationCase:
    declared = case.deliberation
    if options.patients is not None:
        declared = declared.replace(patients=options.patients)
    for name in options.capacity:
        if name not in {each.name for each in declared.resources}:
            raise InputError(
                f"--capacity names {name!r}; the case has {', '.join(each.name for each in declared.resources)}"
            )
    if options.capacity:
        resources = tuple(
            each.replace(capacity=options.capacity.get(each.name, each.capacity)) for each in declared.resources
        )
        declared = declared.replace(resources=resources)
    return case.replace(deliberation=declared)


def _warnings(opened: Opened, agents: Sequence[Agent], held: Deliberation | None) -> tuple[str, ...]:
    found = [f"the patients are made up: {opened.source.label}"] if opened.source.simulated else []
    found += [
        f"{agent.name} is an adversarial fixture: it tests the procedure and speaks for no stakeholder"
        for agent in agents
        if agent.adversarial
    ]
    card = opened.case.deliberation.scope
    if card is not None:
        found += [f"scope card: {each.words}" for each in lint(card, date.today())]  # noqa: DTZ011 - a day has no zone
    if held is not None and held.fallbacks:
        found.append(f"in {held.fallbacks} of {len(held.turns)} turns a rule stood in for a language model")
    return tuple(found)
