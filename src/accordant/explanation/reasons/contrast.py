"""`Contrast`: the decision of one context against its runner-up, as the rule saw both, with what comparisons need."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from accordant.arrays import Mask, Values
from accordant.certificates import Known
from accordant.decisions import Decisions
from accordant.explanation.reasons.sentences import Reason
from accordant.strategies.block import Block, block_of
from accordant.strategies.block_decisions import tie_totals
from accordant.strategies.strategy import Strategy, stakeholder_weights
from accordant.utilities import ExpectedRewards

SAME = 1e-12  # gains this small are rounding


@dataclass(frozen=True, eq=False)
class Contrast:
    """What was decided in one context, and against which action.

    Attributes
    ----------
    rule
        The rule that decided.
    block
        E in this context alone.
    decisions
        Of the rule, in the whole call.
    at
        Position of the context among the decisions.
    known
        What the rule read beside E, in this context alone.
    action, other
        Codes of the decision and of the runner-up; `other` is the decision itself where there is none.
    """

    rule: Strategy
    block: Block
    decisions: Decisions
    at: int
    known: Known
    action: int
    other: int

    @classmethod
    def of(
        cls, rule: Strategy, expected: ExpectedRewards, decisions: Decisions, at: int, runner_up: str, known: Known
    ) -> Contrast:
        """Take one context of a call; `expected` and `known` are those of this context alone."""
        action = int(decisions.codes[at])
        other = expected.actions.index(runner_up) if runner_up else action
        return cls(rule, block_of(expected, slice(0, 1)), decisions, at, known, action, other)

    @cached_property
    def rewards(self) -> Values:
        """E in this context, shape (stakeholder, action)."""
        return np.asarray(self.block.values[:, :, 0])

    @cached_property
    def weights(self) -> Values:
        """Weights that sum to 1, shape (stakeholder,); alike for rules without weights."""
        weights = stakeholder_weights(getattr(self.rule, "weights", None), len(self.block.stakeholders))
        return np.asarray(weights / weights.sum())

    @property
    def say(self) -> Mask:
        """Who has a say, shape (stakeholder,)."""
        return np.asarray(self.weights > 0)

    @cached_property
    def scores(self) -> Values | None:
        """Scores of the actions, shape (action,); None for a rule without them."""
        scores = self.decisions.scores
        return None if scores is None else np.asarray(scores[:, self.at], dtype=np.float64)

    @property
    def totals(self) -> Values:
        """What breaks ties: Σ E over those with a say, shape (action,)."""
        return np.asarray(tie_totals(self.rule, self.block)[:, 0])

    def level(self) -> tuple[int, ...]:
        """Return the actions whose score ties with that of the decision, without it."""
        assert self.scores is not None
        return tuple(a for a in self.level_with(int(self.scores.argmax())) if a != self.action)

    def level_with(self, action: int) -> tuple[int, ...]:
        """Return the actions whose score is as high as that of an action, or higher, within rounding."""
        assert self.scores is not None
        own = float(self.scores[action])
        slack = self.block.tolerance * max(1.0, 0.0 if np.isneginf(own) else abs(own))
        return tuple(a for a, score in enumerate(self.scores) if score >= own - slack)

    def flagged(self, name: str) -> bool:
        """Whether the decision carries a flag."""
        return name in self.decisions.flags and bool(self.decisions.flags[name][self.at])

    def names(self, mask: Mask) -> tuple[str, ...]:
        """Return the stakeholders of a mask."""
        return tuple(name for name, chosen in zip(self.block.stakeholders, mask, strict=True) if chosen)

    def against(
        self, kind: str, better: float, worse: float, how: tuple[str, ...] = (), **who: tuple[str, ...]
    ) -> Reason:
        """Return the reason that one number of the decision is larger than that of the runner-up."""
        actions = self.block.actions
        return Reason(kind, actions[self.action], actions[self.other], who, {}, how, float(better), float(worse))

    def weighted(self, involved: Mask) -> tuple[str, ...]:
        """Return that weights count, if those of some stakeholders differ."""
        shares = self.weights[involved]
        return ("weighted",) if len(shares) > 1 and np.ptp(shares) > SAME else ()
