"""`VotingRule`: what every voting rule has in common, on E and on ballots; `Counted`: what a count says."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

import numpy as np

from accordant.arrays import Floats, Integers, Mask, Values
from accordant.decisions import Decisions
from accordant.errors import InputError
from accordant.problem import DecisionProblem
from accordant.strategies.block import Block
from accordant.strategies.block_decisions import ContextRule
from accordant.strategies.compromise import Scored
from accordant.strategies.selection import TIE_TOLERANCE, select_best
from accordant.strategies.strategy import Kind, Structure, stakeholder_weights
from accordant.voting import Profile
from accordant.voting.rules.tally import Tally, tally_of_block, tally_of_profile


@dataclass(frozen=True, eq=False)
class Counted:
    """What a rule says about ballots.

    Attributes
    ----------
    alternatives
        Names.
    scores
        Shape (alternative, context): the highest are the winners.
    lottery
        Whether the scores are the probabilities of a draw.
    flags, quantities
        See `Decisions`.
    """

    alternatives: tuple[str, ...]
    scores: Floats
    lottery: bool = False
    flags: Mapping[str, Mask] = field(default_factory=dict)
    quantities: Mapping[str, Floats] = field(default_factory=dict)

    def winners(self, context: int = 0) -> tuple[str, ...]:
        """Return the alternatives with the highest score, in declared order."""
        return self.ranking(context)[0]

    def ranking(self, context: int = 0) -> tuple[tuple[str, ...], ...]:
        """Return all alternatives in tiers of equal score, the best first."""
        scores = self.scores[:, context]
        tolerance = TIE_TOLERANCE * np.abs(scores).max()
        tiers: list[list[int]] = []
        for alternative in np.argsort(-scores, kind="stable").tolist():
            head = scores[tiers[-1][0]] if tiers else scores[alternative]
            if tiers and scores[alternative] >= head - tolerance:
                tiers[-1].append(alternative)
            else:
                tiers.append([alternative])
        return tuple(tuple(self.alternatives[member] for member in sorted(tier)) for tier in tiers)


@dataclass(frozen=True)
class VotingRule(ContextRule):
    """A rule that counts ballots.

    On E, each stakeholder's ballot ranks the actions by expected reward and grades them with it. Ties of scores go to
    the higher utilitarian sum, then to the declared order.

    Parameters
    ----------
    weights
        One weight of at least 0 per stakeholder; None takes them from the problem, or 1 for everybody. A profile
        brings its own weights.
    """

    kind: ClassVar[Kind] = "voting"
    dependence: ClassVar[Structure] = "ballots"
    lottery: ClassVar[bool] = False

    weights: tuple[float, ...] | None = None

    @abstractmethod
    def score(self, tally: Tally) -> Scored:
        """Return scores of shape (alternative, context), the highest of which are exactly the winners."""

    def refusal(self, profile: Profile) -> str | None:
        """Return why the rule cannot count these ballots, or None if it can."""
        del profile
        return None

    def count(self, profile: Profile) -> Counted:
        """Count ballots that came in directly.

        Raises
        ------
        InputError
            If the ballots do not allow the rule.
        """
        reason = self.refusal(profile)
        if reason is not None:
            raise InputError(f"{self.name} cannot count these ballots: {reason}")
        scored = self.score(tally_of_profile(profile))
        return Counted(profile.alternatives, scored.scores, self.lottery, scored.flags, scored.quantities)

    def decide(self, block: Block) -> Decisions:
        """Let each stakeholder vote by expected rewards, in every context."""
        weights = stakeholder_weights(self.weights, len(block.stakeholders))
        scored = self.score(tally_of_block(block, weights))
        chosen = select_best(scored.scores, block.with_weight(weights).totals, block.tolerance)
        policy = scored.scores if self.lottery else None
        return Decisions(
            self.label, block.actions, chosen.codes, chosen.tied, scored.scores, policy, scored.flags, scored.quantities
        )

    def for_problem(self, problem: DecisionProblem) -> Self:
        """Take stakeholder weights from the problem if none were given."""
        return self if self.weights is not None else replace(self, weights=tuple(map(float, problem.weights)))


@dataclass(frozen=True)
class RankRule(VotingRule):
    """A rule that reads nothing but ranks and weights.

    Class attributes
    ----------------
    formula
        From ranks and weights to scores.
    in_weight
        Whether scores are in units of weight, and not places, rounds or probabilities.
    """

    formula: ClassVar[staticmethod[[Integers, Values], Values]]
    in_weight: ClassVar[bool] = False

    def score(self, tally: Tally) -> Scored:
        """Return the scores."""
        scores = self.formula(tally.ranks, tally.weights)
        return Scored(tally.unit * scores if self.in_weight else scores)


@dataclass(frozen=True)
class MarginRule(VotingRule):
    """A rule that reads nothing but pairwise margins, and flags whether some alternative beats every other one.

    Class attributes
    ----------------
    formula
        From margins to scores.
    in_weight
        Whether scores are in units of weight, and not places, numbers of alternatives or probabilities.
    """

    formula: ClassVar[staticmethod[[Values], Values]]
    in_weight: ClassVar[bool] = False

    def score(self, tally: Tally) -> Scored:
        """Return the scores."""
        scores = self.formula(tally.margins)
        return Scored(tally.unit * scores if self.in_weight else scores, tally.condorcet_flag)


@dataclass(frozen=True)
class LotteryRule(VotingRule):
    """A rule that draws an alternative; scores are probabilities.

    Decisions carry them as their policy; their codes are the most probable action until `Decisions.draw` draws one.
    """

    lottery: ClassVar[bool] = True

    @property
    def draws(self) -> bool:
        """Always."""
        return True
