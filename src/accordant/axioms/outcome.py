"""`Outcome`: what a rule makes of E, as axioms look at it: winners, decisions, and the ranking by scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from accordant.arrays import Codes, Mask, Values
from accordant.strategies.selection import TIE_TOLERANCE
from accordant.strategies.strategy import Strategy
from accordant.utilities import ExpectedRewards

NEAR = 1e-9  # an action this close to the best score may win or lose by rounding; neither counts as a violation
RESOLUTION = 1e-5  # rewards that differ by less are not told apart


@dataclass(frozen=True, eq=False)
class Outcome:
    """A rule's winners and decisions in every context.

    Attributes
    ----------
    winners
        Actions at the best score, by the rule's own tolerance, shape (action, context).
    near
        The same with the tolerance `NEAR`, shape (action, context).
    codes
        The decision: the winner that the tie rule took, shape (context,).
    scores
        Φ, shape (action, context); None for a rule that does not score.
    drawn
        Whether the rule draws its decisions; `codes` are then the most probable ones.
    known
        Whether all winners are known, shape (context,): a rule without scores only names one of tied winners.
    """

    winners: Mask
    near: Mask
    codes: Codes
    scores: Values | None
    drawn: bool
    known: Mask

    def order(self, first: int, second: int) -> Values:
        """Return 1 where the score of one action is higher than of another, −1 where lower, 0 where equal.

        NaN where the difference is as small as rounding could make it, shape (context,).
        """
        assert self.scores is not None
        one, other = self.scores[first], self.scores[second]
        level = one == other  # −inf and −inf
        difference = np.where(level, 0.0, np.subtract(one, other, where=~level, out=np.zeros_like(one)))
        magnitude = np.maximum(1.0, np.where(np.isfinite(one), np.abs(one), 1.0))
        clear = np.abs(difference) > NEAR * magnitude
        equal = np.abs(difference) <= TIE_TOLERANCE * magnitude
        return np.where(clear, np.sign(difference), np.where(equal, 0.0, np.nan))


def outcome_of(rule: Strategy, expected: ExpectedRewards) -> Outcome:
    """Apply a rule to all contexts at once."""
    decisions = rule(expected)
    codes, drawn = decisions.codes.astype(np.intp), decisions.policy is not None
    alone = np.asarray(codes == np.arange(len(expected.actions))[:, None])
    if decisions.scores is not None:
        scores = np.asarray(decisions.scores, dtype=np.float64)
        winners = within(scores, TIE_TOLERANCE)
        if (winners | ~alone).all():  # the decision is at the best score
            return Outcome(winners, within(scores, NEAR), codes, scores, drawn, np.ones(len(codes), dtype=bool))
    return Outcome(alone, alone, codes, None, drawn, ~decisions.tied)


def within(scores: Values, tolerance: float) -> Mask:
    """Return the actions whose score is the best up to a tolerance, relative to max(1, |best|)."""
    best = scores.max(axis=0)
    magnitude = np.maximum(1.0, np.where(np.isfinite(best), np.abs(best), 1.0))
    return np.asarray(scores >= best - tolerance * magnitude)


def somewhere(mask: Mask) -> Mask:
    """Return the contexts in which something holds for some stakeholder or action, shape (context,)."""
    return np.asarray(mask.any(axis=tuple(range(mask.ndim - 1))))


def sets_differ(before: Outcome, after: Outcome) -> Mask:
    """Return where an action wins on one side and is not even near to winning on the other, shape (context,)."""
    lost, gained = before.winners & ~after.near, after.winners & ~before.near
    return somewhere(lost | gained)
