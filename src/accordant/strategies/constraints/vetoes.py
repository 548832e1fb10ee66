"""Vetoes: stakeholders who may rule out an action (Mueller 1978, voting by veto, where each rules out one)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from accordant.arrays import Values
from accordant.errors import InputError
from accordant.strategies.block import Block
from accordant.strategies.constraints.declaration import is_share, position

WORST = "worst"


@dataclass(frozen=True)
class Vetoes:
    """Who may rule out what.

    A veto is a floor that its holder sets in the context: at the level of the second worst action (``"worst"``), or at
    a threshold. So ``"worst"`` rules out the action, or all the equal actions, with the smallest E[i, a, t]; a
    stakeholder to whom all actions are equal rules out nothing.

    Attributes
    ----------
    by_stakeholder
        Stakeholder to ``"worst"``, or to a number in [0, 1]: rules out every action that gives less than this.
    """

    by_stakeholder: Mapping[str, float | str]

    def __post_init__(self) -> None:
        if not isinstance(self.by_stakeholder, Mapping):
            raise InputError(f"vetoes are {self.by_stakeholder!r}; allowed: a mapping from stakeholder to a veto")
        for name, veto in self.by_stakeholder.items():
            if veto != WORST and not is_share(veto):
                raise InputError(f"veto of {name!r} is {veto!r}; allowed: {WORST!r} or a number in [0, 1]")

    @property
    def stated(self) -> bool:
        """Whether every veto is a threshold."""
        return WORST not in self.by_stakeholder.values()

    @property
    def label(self) -> str:
        """The vetoes as a leaderboard shows them, such as ``veto Patient worst``."""
        shown = (f"{name} {veto if isinstance(veto, str) else f'< {veto:g}'}"
                 for name, veto in self.by_stakeholder.items())  # fmt: skip
        return "veto " + ", ".join(shown)

    def lift(self, levels: Values, block: Block) -> None:
        """Raise `levels`, shape (stakeholder, context), in place, to what the vetoes demand."""
        for name, veto in self.by_stakeholder.items():
            i = position("stakeholder in vetoes:", name, block.stakeholders)
            np.maximum(levels[i], second_worst(block, i) if isinstance(veto, str) else veto, out=levels[i])


def second_worst(block: Block, stakeholder: int) -> Values:
    """Return the smallest E[i, a, t] above the worst, −inf where there is none, shape (context,)."""
    rewards = block.values[stakeholder]
    above = np.where(rewards > rewards.min(axis=0) + block.tolerance, rewards, np.inf).min(axis=0)
    return np.asarray(np.where(np.isinf(above), -np.inf, above))
