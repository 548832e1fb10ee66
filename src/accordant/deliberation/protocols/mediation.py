"""A debate whose settlement is left to a mediator, who is bound to criteria declared beforehand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from accordant.agents import Agent
from accordant.allocations import Allocation, Scenario
from accordant.allocations.criteria import Criterion
from accordant.deliberation.protocols.debate import debate
from accordant.deliberation.protocols.session import Guard, Watch
from accordant.deliberation.record import Deliberation
from accordant.deliberation.settlement.mediated import WIDENING, Mediated
from accordant.errors import InputError


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
        scenario,
        agents,
        settle=Mediated(widening=widening),
        seed=seed,
        criteria=criteria,
        disagreement=disagreement,
        guard=guard,
        allow_adversarial=allow_adversarial,
        watch=watch,
    )
    return replace(held, protocol="mediated")
