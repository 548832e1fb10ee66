"""The debate: three rounds, then agreement, a settlement rule, a mediator, or a vote on the proposals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from accordant.agents import Agent, Ballot
from accordant.allocations import Allocation, Scenario
from accordant.allocations.allocation import Options
from accordant.allocations.measures.measure import Criterion
from accordant.deliberation.protocols.session import ROUNDS, Guard, Session, Watch, check_guard
from accordant.deliberation.record import Deliberation, Settled
from accordant.deliberation.settlement import Settlement, settlements
from accordant.deliberation.settlement.bargaining import WIDENING, Mediated
from accordant.errors import InputError, UnknownNameError
from accordant.strategies.strategy import strategies
from accordant.voting import Profile
from accordant.voting.rules.rule import VotingRule


def debate(
    scenario: Scenario,
    agents: Sequence[Agent],
    *,
    settle: str | Settlement = "bargain",
    seed: int = 0,
    criteria: Sequence[Criterion] = (),
    disagreement: Allocation | None = None,
    guard: Guard = "log",
    allow_adversarial: bool = False,
    watch: Watch | None = None,
    options: Options | None = None,
    agreement_ends: bool = True,
) -> Deliberation:
    """Let agents propose blind, contest, and answer; settle by agreement or by a named rule.

    1. Everybody proposes alone. Views have no history and no proposals, and hashes are taken before any proposal is
       opened. A first proposal depends on the scenario, the seed and the agent alone.
    2. Everybody answers on each disputed claimant, and revises. Reasons that do not count are void (`admissibility`).
    3. Everybody accepts a standing proposal or counters. If all then stand by one allocation, that is the agreement: an
       agent stands by the proposal it accepts, or by its own last one. Otherwise the rule settles on the utilities last
       stated.

    Parameters
    ----------
    scenario
        With all facts; each agent is shown its own.
    agents
        At least one, with names of their own; a single agent gets what it proposes last.
    settle
        A settlement rule or its registered name.
    seed
        Of everything random.
    criteria
        Declared beforehand; only some rules read them.
    disagreement
        What happens without an agreement; None for a procedural lottery keyed by the claimants' ids.
    guard
        ``log`` writes void reasons down. ``strike`` also asks an agent that cited a protected fact in rounds 1 or 2 for
        its proposal and utility again without the protected facts, and shows it none in round 3, and nothing of rounds
        1 and 2.
    allow_adversarial
        Whether adversarial agents, which are test fixtures, may take part.
    watch
        Called with each turn as it becomes public.
    options
        All feasible allocations in the order in which ties are decided; None for the canonical order.
    agreement_ends
        Whether one allocation that all stand by is the decision; otherwise the rule decides in any case.

    Raises
    ------
    InputError
        If agents, rule, guard or disagreement do not fit.
    InvalidMoveError
        If an agent makes no valid move; nothing is mended in silence.
    """
    rule = settlements.create(settle) if isinstance(settle, str) else settle
    check_guard(guard)
    session = Session(
        scenario, agents, seed=seed, disagreement=disagreement, allow_adversarial=allow_adversarial, watch=watch,
        options=options,
    )  # fmt: skip
    rule.check([agent.name for agent in session.agents], [agent.concession for agent in session.agents])
    session.propose()
    session.contest()
    if guard == "strike":
        session.strike()
    agreed = agreement(session.answer())
    settled = agreed if agreed is not None and agreement_ends else settle_by(rule, session, criteria)
    procedure = declared(rule, criteria, guard)
    if not agreement_ends:
        procedure["agreement_ends"] = False
    return session.finished("debate", settled, procedure)


def agreement(stands: Mapping[str, Allocation]) -> Settled | None:
    """Return the allocation that everybody stands by, or None."""
    allocations = list(stands.values())
    if any(allocation != allocations[0] for allocation in allocations):
        return None
    return Settled("agreement", allocations[0], agreed=True, gap=0.0)


def settle_by(rule: Settlement, session: Session, criteria: Sequence[Criterion]) -> Settled:
    """Return what a rule decides on the utilities last stated."""
    return rule.settle(session.table(criteria))


def declared(rule: Settlement, criteria: Sequence[Criterion], guard: Guard) -> dict[str, Any]:
    """Return what was fixed before the first move, as JSON values."""
    return {
        "settle": {"rule": rule.name, "parameters": dict(rule.parameters)},
        "criteria": [criterion.label for criterion in criteria],
        "guard": guard,
    }


def mediated(
    scenario: Scenario,
    agents: Sequence[Agent],
    *,
    criteria: Sequence[Criterion],
    widening: float = WIDENING,
    seed: int = 0,
    disagreement: Allocation | None = None,
    guard: Guard = "log",
    allow_adversarial: bool = False,
    watch: Watch | None = None,
) -> Deliberation:
    """Debate, and let a mediator settle: where bargaining ends, up to `widening` further, most criteria met.

    The mediator is a rule without values of its own. It works inside the zone that the agents' concessions open, so it
    cannot undo what one side has captured by conceding less.

    Parameters
    ----------
    scenario, agents, seed, disagreement, guard, allow_adversarial, watch
        As in `debate`.
    criteria
        At least one, declared beforehand.
    widening
        How far below its band each agent is asked to go, in [0, 1] of its range of utility.

    Raises
    ------
    InputError
        If there is no criterion, or as in `debate`.
    """
    if not criteria:
        raise InputError("a mediator needs at least one declared criterion; without any, debate settles by a rule")
    held = debate(
        scenario, agents, settle=Mediated(widening=widening), seed=seed, criteria=criteria, disagreement=disagreement,
        guard=guard, allow_adversarial=allow_adversarial, watch=watch,
    )  # fmt: skip
    return replace(held, protocol="mediated")


def vote_after_debate(
    scenario: Scenario,
    agents: Sequence[Agent],
    *,
    rule: str = "borda",
    seed: int = 0,
    disagreement: Allocation | None = None,
    guard: Guard = "log",
    allow_adversarial: bool = False,
    watch: Watch | None = None,
    options: Options | None = None,
) -> Deliberation:
    """Let agents propose blind and contest, then vote on all different first and revised proposals.

    Candidates stand in the order of the options, which depends on their grants alone unless it is given: those who
    serve earlier ids come first. Ties of the rule go to the first candidate, and the record says so.

    Parameters
    ----------
    scenario, agents, seed, disagreement, guard, allow_adversarial, watch, options
        As in `debate`.
    rule
        Name of a voting rule of `accordant.strategies` that counts rankings.

    Raises
    ------
    UnknownNameError
        If there is no such rule.
    InputError
        As in `debate`.
    InvalidMoveError
        If an agent makes no valid move, such as a ranking that leaves a candidate out.
    """
    counting = voting_rule(rule)
    check_guard(guard)
    session = Session(
        scenario, agents, seed=seed, disagreement=disagreement, allow_adversarial=allow_adversarial, watch=watch,
        options=options,
    )  # fmt: skip
    session.propose()
    session.contest()
    if guard == "strike":
        session.strike()
    candidates = candidates_of(session)
    ballots = [_ballot(session, agent, candidates) for agent in session.agents]
    settled = count_ballots(counting, candidates, ballots)
    declared = {"settle": {"rule": counting.name, "parameters": {}}, "criteria": [], "guard": guard}
    return session.finished("voting", settled, declared)


def candidates_of(session: Session) -> tuple[Allocation, ...]:
    """Return all different proposals, first and revised ones; of a struck agent those without protected facts alone."""
    proposals = (*(session.solo | session.struck).values(), *session.standing.values())
    different = {proposal.allocation for proposal in proposals}
    if session.options is not None:
        return tuple(sorted(different, key=session.options.position))
    return tuple(sorted(different, key=lambda allocation: tuple(allocation.granted.T.ravel().tolist()), reverse=True))


def count_ballots(rule: VotingRule, candidates: Sequence[Allocation], ballots: Sequence[Ballot]) -> Settled:
    """Return the candidate that wins, the first of several.

    `rule`: counts rankings; `candidates`: at least one; `ballots`: complete rankings, at least one.
    """
    ranks = np.argsort([ballot.ranking for ballot in ballots], axis=1)
    names = tuple(str(position) for position in range(len(candidates)))
    tally = rule.count(Profile(ranks, alternatives=names))
    winners = sorted(map(int, tally.winners()))
    details: dict[str, Any] = {
        "candidates": [candidate.to_json() for candidate in candidates],
        "scores": [float(score) for score in tally.scores[:, 0]],
        "winners": winners,
    }
    return Settled(rule.name, candidates[winners[0]], agreed=True, tied=len(winners) > 1, gap=0.0, details=details)


def voting_rule(name: str) -> VotingRule:
    """Return a voting rule that counts rankings and decides without a draw.

    Raises UnknownNameError if there is no such rule.
    """
    rule = strategies.create(name) if name in strategies else None
    if not counts_rankings(rule):
        raise UnknownNameError("voting rule for rankings", name, _rules())
    assert isinstance(rule, VotingRule)
    return rule


def counts_rankings(rule: object) -> bool:
    """Return whether a strategy is a voting rule that counts rankings and decides without a draw."""
    return isinstance(rule, VotingRule) and not rule.lottery and rule.refusal(Profile([[0, 1]])) is None


def _rules() -> tuple[str, ...]:
    names = []
    for name in strategies.names():
        try:
            rule = strategies.create(name)
        except InputError:  # a parameter without default: no voting rule has one
            continue
        if counts_rankings(rule):
            names.append(name)
    return tuple(names)


def _ballot(session: Session, agent: Agent, candidates: Sequence[Allocation]) -> Ballot:
    heard = [turn for turn in session.heard if turn.step < ROUNDS]
    view = session.views.of(
        agent, "vote", step=ROUNDS, time=2 / ROUNDS, proposals=dict(session.standing), disputed=session.disputed,
        candidates=candidates, history=heard,
    )  # fmt: skip
    ballot, acted = session.ask(agent, view, Ballot)
    session.publish(ROUNDS, agent, ballot, ballot, acted)
    return ballot
