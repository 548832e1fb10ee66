"""What is refused before a deliberation begins: options that do not go together, rules and facts that are not there."""

from __future__ import annotations

from collections.abc import Sequence

from accordant.agents import Agent
from accordant.allocations import Scenario
from accordant.deliberation.options import DeliberationOptions
from accordant.deliberation.protocols.voting import voting_rule
from accordant.deliberation.result import Opened
from accordant.deliberation.settlement import Settlement, settlements
from accordant.errors import InputError, UnknownNameError
from accordant.naming import Named, read_named

BORDA = "borda"  # the voting rule where none is named
PERSON = "person"
RERUN = ("rule", "fixture")  # kinds of agents that may be asked for the same deliberation again and again


def check_deliberation(opened: Opened, agents: Sequence[Agent]) -> None:
    """Refuse a deliberation that could not be carried out to its end.

    Raises
    ------
    UnknownNameError
        If a settlement or voting rule does not exist, or a fact that an agent reads.
    InputError
        If options do not go together, a parameter is wrong, or a rule cannot read a concession strategy.
    """
    options = opened.options
    if options.protocol == "offers" and options.settle is not None:
        raise InputError(
            f"--settle {options.settle} has no effect on --protocol offers: bargaining ends when all accept one offer"
        )
    if options.protocol == "vote":
        voting_rule(ballot_rule(options))
    elif options.protocol == "debate":
        rule = settlement_of(opened)
        rule.check([agent.name for agent in agents], [agent.concession for agent in agents])
    check_facts(opened.source(options.seed), agents)
    if options.repeat > 1:
        check_repeatable(opened, agents)


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
    if options.model is not None and options.jobs != 1:
        raise InputError("a language model and --jobs do not go together: requests are sent one after the other")
    for agent in agents:
        if agent.kind == PERSON:
            raise InputError(
                f"--repeat {options.repeat}: {agent.name!r} is a person, who would be asked for every move of "
                f"{options.repeat} debates; allowed: one deliberation with people, many without"
            )


def settlement_of(opened: Opened) -> Settlement:
    """Return the settlement rule of a debate with its parameters: the one that is named, or the case's.

    Raises
    ------
    UnknownNameError
        If there is no such rule.
    InputError
        If a parameter is wrong.
    """
    declared = opened.case.deliberation.settle
    given = opened.options.settle
    named = Named(declared.name, dict(declared.parameters)) if given is None else read_named(given, "--settle")
    return settlements.create(named.name, named.parameters)


def ballot_rule(options: DeliberationOptions) -> str:
    """Return the name of the voting rule.

    Raises
    ------
    InputError
        If it is given parameters: none is taken.
    """
    named = read_named(options.settle or BORDA, "--settle")
    if named.parameters:
        raise InputError(f"--settle is {options.settle!r}; a voting rule is a name without parameters")
    return named.name


def may_rerun(agents: Sequence[Agent]) -> bool:
    """Return whether a deliberation may be taken again to measure it: no person and no model is asked twice."""
    return all(agent.kind in RERUN for agent in agents)
