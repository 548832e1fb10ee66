"""Carrying out deliberations of a case: patients, agents, protocol, and everything that is measured about it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from accordant import limits
from accordant.agents import Agent, Turn
from accordant.allocations import Scenario
from accordant.allocations.measures import measures
from accordant.cases.files import VARIABLE
from accordant.compute import chosen
from accordant.deliberation.adapters import choices_by_strategy
from accordant.deliberation.assessment import (
    PERMUTATIONS,
    Group,
    access,
    alternatives,
    approach,
    conversion,
    emergence,
    flip_test,
    ledger,
    order_effects,
    process,
    recorded,
    regrets,
    restored_access,
    satisfaction,
    side_by_side,
    verdict,
)
from accordant.deliberation.case import DeliberationCase, ResourceSpec, read_deliberation
from accordant.deliberation.options import DeliberationOptions
from accordant.deliberation.participants import Cast, cast_of, spoken_by
from accordant.deliberation.protocols import alternating_offers, debate, vote_after_debate
from accordant.deliberation.protocols.debate import voting_rule
from accordant.deliberation.record import Deliberation
from accordant.deliberation.repetition import repeat
from accordant.deliberation.result import FoundIn
from accordant.deliberation.run import Deliberated, DeliberatedOften, Opened
from accordant.deliberation.settlement import Settlement, settlements
from accordant.deliberation.sources import deliberation_source
from accordant.deliberation.usage import stood_in
from accordant.errors import InputError, UnknownNameError
from accordant.naming import Named, read_named
from accordant.scope import lint

BORDA = "borda"  # the voting rule where none is named
PERSON = "person"
RERUN = ("rule", "fixture")  # kinds of agents that may be asked for the same deliberation again and again
FEW = 5  # permutations of the flip test where allocations are searched: each is a debate of a second


def check_deliberation(opened: Opened, agents: Sequence[Agent]) -> None:
    """Refuse a deliberation that could not be carried out to its end.

    Raises UnknownNameError if a settlement or voting rule does not exist, or a fact that an agent reads; InputError if
    options do not go together, a parameter is wrong, or a rule cannot read a concession strategy.
    """
    options = opened.options
    limits.AGENTS.check(len(agents), opened.case.name)
    check_ending(options.protocol, options.settle, lambda: settlement_of(opened), agents)
    scenario = opened.source(options.seed)
    limits.CLAIMANTS.check(len(scenario.ids), opened.source.label)
    check_facts(scenario, agents)
    if options.repeat > 1:
        check_repeatable(opened, agents)


def check_ending(protocol: str, settle: str | None, rule: Callable[[], Settlement], agents: Sequence[Agent]) -> None:
    """Refuse a rule that a protocol does not read, or that cannot read the agents.

    `protocol`, `settle`: as named; `rule`: makes what settles a debate.
    """
    if protocol == "offers" and settle is not None:
        raise InputError(
            f"--settle {settle} has no effect on --protocol offers: bargaining ends when all accept one offer"
        )
    if protocol == "vote":
        voting_rule(ballot_rule(settle))
    elif protocol == "debate":
        rule().check([agent.name for agent in agents], [agent.concession for agent in agents])


def check_facts(scenario: Scenario, agents: Sequence[Agent]) -> None:
    """Refuse agents that read facts which the patients do not have."""
    for agent in agents:
        for fact in agent.facts or ():
            if fact not in scenario.facts:
                raise UnknownNameError(f"fact that the agent {agent.name!r} reads:", fact, scenario.facts)


def check_repeatable(opened: Opened, agents: Sequence[Agent]) -> None:
    """Refuse to repeat what has no criteria, is no debate, or would wear a person out."""
    options = opened.options
    if options.protocol != "debate":
        raise InputError(f"--repeat compares debates; found the protocol {options.protocol!r}")
    if not opened.criteria:
        raise InputError(f"the case {opened.case.name!r} declares no criteria: --repeat has nothing to count")
    if options.model is not None and (options.jobs != 1 or chosen() is not None):
        how = "--on" if options.jobs == 1 else "--jobs"
        raise InputError(f"a language model and {how} do not go together: requests are sent one after the other")
    for agent in agents:
        if agent.kind == PERSON:
            raise InputError(
                f"--repeat {options.repeat}: {agent.name!r} is a person, who would be asked for every move of "
                f"{options.repeat} debates; allowed: one deliberation with people, many without"
            )


def settlement_of(opened: Opened) -> Settlement:
    """Return the settlement rule of a debate with its parameters: the one that is named, or the case's.

    Raises UnknownNameError if there is no such rule; InputError if a parameter is wrong.
    """
    declared = opened.case.deliberation.settle
    return named_settlement(opened.options.settle, Named(declared.name, dict(declared.parameters)))


def named_settlement(given: str | None, usual: Named) -> Settlement:
    """Return the settlement rule that ``--settle`` names, or the usual one; raises as `settlement_of`."""
    named = usual if given is None else read_named(given, "--settle")
    return settlements.create(named.name, named.parameters)


def ballot_rule(settle: str | None) -> str:
    """Return the name of the voting rule.

    Raises InputError if it is given parameters: none is taken.
    """
    named = read_named(settle or BORDA, "--settle")
    if named.parameters:
        raise InputError(f"--settle is {settle!r}; a voting rule is a name without parameters")
    return named.name


def may_rerun(agents: Sequence[Agent]) -> bool:
    """Return whether a deliberation may be taken again to measure it: no person and no model is asked twice."""
    return all(agent.kind in RERUN for agent in agents)


Watch = Callable[[Turn], None]


def open_deliberation(name_or_path: str | Path, options: DeliberationOptions) -> Opened:
    """Read the case and find its patients.

    Raises InputError if the case, the data or an option cannot be used.
    """
    case, beside = read_deliberation(name_or_path)
    case = _with_overrides(case, options)
    limits.CLAIMANTS.check(case.deliberation.patients or 0, case.name)
    source = deliberation_source(case.deliberation, options.data, beside)
    return Opened(case, options, source, None if source.simulated else found_in(case, options, beside))


def found_in(case: DeliberationCase, options: DeliberationOptions, beside: Path | None) -> FoundIn:
    """Return where the file with the patients was found, in the order of `find_file`."""
    if options.data is not None:
        return "--data"
    if beside is not None and (beside / (case.deliberation.file or "")).is_file():
        return "beside the case"
    return "$ACCORDANT_DATA" if os.environ.get(VARIABLE) else "cache"


def cast_for(opened: Opened) -> Cast:
    """Return the agents of a deliberation: those that are named, or the case's.

    Whoever names an adversary admits it; the agents of a case may not hold one. What cannot be carried out with these
    agents is refused here, before a recording is begun.

    Raises UnknownNameError if an agent, a rule, or a fact that an agent reads does not exist; InputError if an
    adversary is not allowed, a parameter is wrong, or options do not go together.
    """
    options, declared = opened.options, opened.case.deliberation.agents
    named = options.agents or tuple(Named(agent.name, dict(agent.parameters)) for agent in declared)
    named = tuple(_against_the_watched(opened, given) for given in named)
    rules = cast_of(named, corpus=options.corpus, allow_adversarial=bool(options.agents))
    check_deliberation(opened, rules.agents)
    return rules if options.model is None else spoken_by(options.model, named, rules)


def deliberate(opened: Opened, cast: Cast, watch: Watch | None = None) -> Deliberated:
    """Deliberate on one scenario and measure everything about it.

    `opened`, `cast`: what, and who; `watch`: called with every turn as it happens.
    """
    scenario, criteria = opened.source(opened.options.seed), opened.criteria
    held = _held(opened, cast.agents)(scenario, watch)
    rerun = _held(opened, cast.agents) if may_rerun(cast.agents) else None
    others = [name for name in held.solo if name not in held.adversaries]
    among = alternatives(held)
    card, group = opened.case.deliberation.scope, _group(opened)
    undone = group is not None and len(held.adversaries) == 1
    flips = order = accessed = None
    if rerun is not None:
        seed, permutations = opened.options.seed, PERMUTATIONS if held.options is not None else FEW
        order = order_effects(lambda agents: _held(opened, agents)(scenario), cast.agents, seed=seed)
        flips = flip_test(scenario, rerun, permutations=permutations, seed=seed) if scenario.protected else None
    if group is not None:
        accessed = {name: access(scenario, allocation.shares, group) for name, allocation in recorded(held).items()}
    return Deliberated(
        opened, held,
        verdict=None if card is None else verdict(held, card),
        emergence=emergence(held, criteria, among=among) if criteria else None,
        ledger=ledger(held), process=process(held), satisfaction=satisfaction(held, among=among),
        sides=side_by_side(held, criteria), regrets=regrets(held, among=among), flips=flips, order=order,
        choices=choices_by_strategy(held, options=among.options), access=accessed,
        restored=restored_access(held, group) if undone and group is not None else None,
        conversion={name: conversion(held, name) for name in others if undone},
        approach={name: approach(held, name) for name in others if undone},
        usage=cast.usage(), warnings=_warnings(opened, cast),
    )  # fmt: skip


def deliberate_often(opened: Opened, cast: Cast) -> DeliberatedOften:
    """Deliberate on many scenarios; nulls are always beside the results.

    Raises InputError if the case declares no criteria, the protocol is another than the debate, or a person takes part.
    """
    check_repeatable(opened, cast.agents)
    options = opened.options
    repeated = repeat(
        opened.source, cast.agents, options.repeat, criteria=opened.criteria, settle=settlement_of(opened),
        group=_group(opened), guard=options.guard, allow_adversarial=True, seed=options.seed, jobs=options.jobs,
    )  # fmt: skip
    return DeliberatedOften(opened, repeated, cast.usage(), _warnings(opened, cast))


def _held(opened: Opened, agents: Sequence[Agent]) -> Callable[..., Deliberation]:
    """Return what carries out the protocol on a scenario."""
    options = opened.options

    def held(scenario: Scenario, watch: Watch | None = None) -> Deliberation:
        """Carry out the protocol."""
        common: dict[str, Any] = {"seed": options.seed, "allow_adversarial": True, "watch": watch}
        if options.protocol == "offers":
            return alternating_offers(scenario, agents, **common)
        common["guard"] = options.guard
        if options.protocol == "vote":
            return vote_after_debate(scenario, agents, rule=ballot_rule(options.settle), **common)
        return debate(scenario, agents, settle=settlement_of(opened), criteria=opened.criteria, **common)

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


def _group(opened: Opened) -> Group | None:
    marginal = opened.case.deliberation.marginal
    return None if marginal is None else Group(marginal.fact, marginal.value)


def _with_overrides(case: DeliberationCase, options: DeliberationOptions) -> DeliberationCase:
    declared = case.deliberation
    if options.patients is not None:
        declared = declared.replace(patients=options.patients)
    for name in options.capacity:
        if name not in {resource.name for resource in declared.resources}:
            raise InputError(
                f"--capacity names {name!r}; the case has {', '.join(resource.name for resource in declared.resources)}"
            )
    if options.capacity:
        declared = declared.replace(
            resources=tuple(_resized(resource, options.capacity) for resource in declared.resources)
        )
    return case.replace(deliberation=declared)


def _resized(resource: ResourceSpec, capacity: Mapping[str, float]) -> ResourceSpec:
    """Return a resource with its capacity on the command line, if it has one there."""
    if resource.name not in capacity:
        return resource
    units = capacity[resource.name]
    try:
        return resource.replace(capacity=units)
    except InputError as error:
        raise InputError(f"--capacity {resource.name}={units:g}: {error}") from None


def _warnings(opened: Opened, cast: Cast) -> tuple[str, ...]:
    """Return what a reader must see, the worst first."""
    warnings = stood_in(cast.usage())
    warnings += [f"the patients are made up: {opened.source.label}"] if opened.source.simulated else []
    warnings += [
        f"{agent.name} is an adversarial fixture: it tests the procedure and speaks for no stakeholder"
        for agent in cast.agents
        if agent.adversarial
    ]
    card = opened.case.deliberation.scope
    if card is not None:
        warnings += [f"scope card: {finding.words}" for finding in lint(card, date.today(), measures.names())]  # noqa: DTZ011 - a day has no zone
    return tuple(warnings)
