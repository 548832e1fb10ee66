"""The debate: three rounds, then a joint decision by agreement or by a named settlement rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from accordant.agents import Agent
from accordant.allocations import Allocation, Scenario
from accordant.allocations.criteria import Criterion
from accordant.deliberation.protocols.session import Guard, Session, Watch, check_guard
from accordant.deliberation.record import Deliberation, Settled
from accordant.deliberation.settlement import Settlement, settlements
from accordant.deliberation.settlement.bargaining_table import laid_table
from accordant.randomness import keyed_seed


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
) -> Deliberation:
    """Let agents propose blind, contest, and answer; settle by agreement or by a named rule.

    1. Everybody proposes alone. Views have no history and no proposals, and hashes are taken before any proposal is
       opened. A first proposal depends on the scenario, the seed and the agent alone.
    2. Everybody answers on each disputed patient, and revises. Reasons that do not count are void (`admissibility`).
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
        What happens without an agreement; None for a procedural lottery keyed by the patients' ids.
    guard
        ``log`` writes void reasons down. ``strike`` also asks an agent that cited a protected fact in rounds 1 or 2 for
        its proposal and utility again without the protected facts, and shows it none in round 3, and nothing of rounds
        1 and 2.
    allow_adversarial
        Whether adversarial agents, which are test fixtures, may take part.
    watch
        Called with each turn as it becomes public.

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
        scenario, agents, seed=seed, disagreement=disagreement, allow_adversarial=allow_adversarial, watch=watch
    )
    rule.check([agent.name for agent in session.agents], [agent.concession for agent in session.agents])
    session.propose()
    session.contest()
    if guard == "strike":
        session.strike()
    settled = agreement(session.answer()) or settled_by(rule, session, criteria)
    return session.finished("debate", settled, declared(rule, criteria, guard))


def agreement(stands: Mapping[str, Allocation]) -> Settled | None:
    """Return the allocation that everybody stands by, or None."""
    allocations = list(stands.values())
    if any(each != allocations[0] for each in allocations):
        return None
    return Settled("agreement", allocations[0], agreed=True, gap=0.0)


def settled_by(rule: Settlement, session: Session, criteria: Sequence[Criterion]) -> Settled:
    """Return what a rule decides on the utilities last stated."""
    table = laid_table(
        session.scenario,
        session.agents,
        session.standing,
        session.disagreement,
        options=session.options,
        criteria=criteria,
        seed=keyed_seed(session.seed, "settlement"),
    )
    return rule.settle(table)


def declared(rule: Settlement, criteria: Sequence[Criterion], guard: Guard) -> dict[str, Any]:
    """Return what was fixed before the first move, as JSON values."""
    return {
        "settle": {"rule": rule.name, "parameters": dict(rule.parameters)},
        "criteria": [each.label for each in criteria],
        "guard": guard,
    }
