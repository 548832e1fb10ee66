"""When to stop asking: how sure the decision is, and what it would cost to be wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from accordant.arrays import Values
from accordant.errors import InputError
from accordant.preferences.elicitation.decision_value import Verdicts

Reason = Literal["settled", "small regret", "asked enough", "stopped by the person"]


@dataclass(frozen=True, eq=False)
class Standing:
    """What is known of the decision.

    Attributes
    ----------
    chances
        Probability that each action is the one that the true reward leads to, shape (action,).
    regrets
        Expected loss of each action, shape (action,).
    """

    chances: Values
    regrets: Values

    @classmethod
    def of(cls, verdicts: Verdicts) -> Standing:
        """Count the decisions of samples."""
        n_samples, n_actions = verdicts.losses.shape
        return cls(np.bincount(verdicts.decided, minlength=n_actions) / n_samples, verdicts.losses.mean(axis=0))

    @property
    def decided(self) -> int:
        """The action with the least expected loss; among equals the more probable one, then the first."""
        least = np.flatnonzero(self.regrets == self.regrets.min())
        return int(least[self.chances[least].argmax()])

    @property
    def probability(self) -> float:
        """Probability that this action is the one that the true reward leads to."""
        return float(self.chances[self.decided])

    @property
    def regret(self) -> float:
        """Expected loss of this action."""
        return float(self.regrets[self.decided])


@dataclass(frozen=True)
class Stopping:
    """When to stop.

    Parameters
    ----------
    level
        Stop as settled when the decision is right with at least this probability; above 0, at most 1.
    regret
        Stop with small regret when the expected loss is at most this, in units of the decision's losses; at least 0.
        With 0, only a decision that every sample shares has a small enough one.
    questions
        Stop having asked enough after this many, whatever was answered; at least 0.
    least
        Neither settled nor small regret before so many questions; at least 0. A prior from other users can settle a
        decision before this user has had the chance to contradict it.
    """

    level: float = 0.95
    regret: float = 0.05
    questions: int = 30
    least: int = 0

    def __post_init__(self) -> None:
        if not 0 < self.level <= 1:
            raise InputError(f"level is {self.level}; allowed: above 0, at most 1")
        if not 0 <= self.regret < np.inf:
            raise InputError(f"regret is {self.regret}; allowed: at least 0")
        for name in ("questions", "least"):
            given = getattr(self, name)
            if not isinstance(given, int | np.integer) or given < 0:
                raise InputError(f"{name} is {given}; allowed: a whole number, at least 0")

    def reason(self, standing: Standing, asked: int) -> Reason | None:
        """Return why to stop, or None to go on."""
        if asked >= self.least and standing.probability >= self.level:
            return "settled"
        if asked >= self.least and standing.regret <= self.regret:
            return "small regret"
        return "asked enough" if asked >= self.questions else None
