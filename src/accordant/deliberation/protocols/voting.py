"""Voting after a debate: the third round is a vote on every different proposal that was made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from accordant.agents import Agent, Ballot
from accordant.allocations import Allocation, Scenario
from accordant.deliberation.protocols.session import ROUNDS, Guard, Session, Watch, check_guard
from accordant.deliberation.record import Deliberation, Settled
from accordant.errors import InputError, UnknownNameError
from accordant.strategies.strategy import strategies
from accordant.voting import Profile
from accordant.voting.rules.rule import VotingRule


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
) -> Deliberation:
    """Let agents propose blind and contest, then vote on all different first and revised proposals.

    Candidates stand in an order that depends on their grants alone: those who serve earlier ids come first. Ties of
    the rule go to the first candidate, and the record says so.

    Parameters
    ----------
    scenario, agents, seed, disagreement, guard, allow_adversarial, watch
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
        scenario, agents, seed=seed, disagreement=disagreement, allow_adversarial=allow_adversarial, watch=watch
    )
    session.propose()
    session.contest()
    if guard == "strike":
        session.strike()
    candidates = candidates_of(session)
    ballots = [_ballot(session, agent, candidates) for agent in session.agents]
    settled = counted(counting, candidates, ballots)
    declared = {"settle": {"rule": counting.name, "parameters": {}}, "criteria": [], "guard": guard}
    return session.finished("voting", settled, declared)


def candidates_of(session: Session) -> tuple[Allocation, ...]:
    """Return all different proposals, first and revised ones; of a struck agent those without protected facts alone."""
    proposals = (*(session.solo | session.struck).values(), *session.standing.values())
    different = {each.allocation for each in proposals}
    return tuple(sorted(different, key=lambda each: tuple(each.granted.T.ravel().tolist()), reverse=True))


def counted(rule: VotingRule, candidates: Sequence[Allocation], ballots: Sequence[Ballot]) -> Settled:
    """Return the candidate that wins, the first of several.

    Parameters
    ----------
    rule
        Counts rankings.
    candidates
        At least one.
    ballots
        Complete rankings, at least one.
    """
    ranks = np.argsort([ballot.ranking for ballot in ballots], axis=1)
    names = tuple(str(position) for position in range(len(candidates)))
    found = rule.count(Profile(ranks, alternatives=names))
    winners = sorted(map(int, found.winners()))
    details: dict[str, Any] = {
        "candidates": [each.to_json() for each in candidates],
        "scores": [float(score) for score in found.scores[:, 0]],
        "winners": winners,
    }
    return Settled(rule.name, candidates[winners[0]], agreed=True, tied=len(winners) > 1, gap=0.0, details=details)


def voting_rule(name: str) -> VotingRule:
    """Return a voting rule that counts rankings and decides without a draw.

    Raises
    ------
    UnknownNameError
        If there is no such rule.
    """
    found = strategies.create(name) if name in strategies else None
    if not counts_rankings(found):
        raise UnknownNameError("voting rule for rankings", name, _rules())
    assert isinstance(found, VotingRule)
    return found


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
    view = session.views.of(
        agent,
        "vote",
        step=ROUNDS,
        time=2 / ROUNDS,
        proposals=dict(session.standing),
        disputed=session.disputed,
        candidates=candidates,
        history=[turn for turn in session.heard if turn.step < ROUNDS],
    )
    ballot, acted = session.ask(agent, view, Ballot)
    session.publish(ROUNDS, agent, ballot, ballot, acted)
    return ballot
