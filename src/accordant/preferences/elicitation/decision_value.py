"""The decision that questions are asked for, and what the answer to a question is worth to it.

`DecisionAtStake` leads from rewards to decisions: one's own choice, or that of a strategy with other stakeholders.
`worth` scores questions from samples of the reward and the decision that each leads to. All scores are exact for the
samples as they are: `likely[s, q]` is the probability that sample s answers "the first" to question q, and every sample
weighs the same. Entropies H are in nats.

    decision information     I(answer; decision) = H(mean_s p) − Σ_d P(d) H(mean_{s: d_s = d} p)
    parameter information    I(answer; θ) = H(mean_s p) − mean_s H(p)        (Houlsby et al. 2011, called BALD)
    regret reduction         min_a mean loss − Σ_answers P(answer) min_a E[loss | answer]
                             (value of information, Raiffa and Schlaifer 1961; knowledge gradient, Frazier et al. 2008)
    random                   the same for every question

The decision follows from θ, so decision information is at most parameter information: it leaves out what would be good
to know but changes no decision.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from accordant.arrays import Codes, Values
from accordant.errors import InputError, UnknownNameError
from accordant.strategies.strategy import Strategy
from accordant.utilities import ExpectedRewards

SUM_TOLERANCE = 1e-6  # probabilities from a text file rarely sum to 1 more exactly than this
Criterion = Literal["decision_information", "parameter_information", "expected_regret_reduction", "random"]
CRITERIA: tuple[Criterion, ...] = get_args(Criterion)
LEVEL = 1e-12  # questions whose worth differs by less, in units of the largest, are worth the same


@dataclass(frozen=True, eq=False)
class Verdicts:
    """What sampled rewards lead to.

    Attributes
    ----------
    decided
        Action that each sample leads to, shape (sample,).
    losses
        What it would cost to take an action instead, at least 0, and 0 for the decided one, shape (sample, action).
    """

    decided: Codes
    losses: Values


class DecisionAtStake(ABC):
    """A rule from the coefficients of one user's reward to an action."""

    @property
    @abstractmethod
    def n_actions(self) -> int:
        """Number of actions."""

    @property
    def n_features(self) -> int | None:
        """Number of features whose coefficients it reads; None for any."""
        return None

    @abstractmethod
    def verdicts(self, coefficients: Values) -> Verdicts:
        """Return what sampled coefficients, shape (sample, feature), lead to."""


@dataclass(frozen=True, eq=False)
class OwnChoice(DecisionAtStake):
    """The action with the user's own highest reward; losses are in units of the reward.

    Parameters
    ----------
    actions
        Features of each action, shape (action, feature); of an action with several outcomes, their expectation. Equal
        rewards go to the first action.
    """

    actions: Values

    def __post_init__(self) -> None:
        object.__setattr__(self, "actions", _table("actions", self.actions))

    @property
    def n_actions(self) -> int:
        """Number of actions."""
        return len(self.actions)

    @property
    def n_features(self) -> int:
        """Number of features of an action."""
        return int(self.actions.shape[1])

    def verdicts(self, coefficients: Values) -> Verdicts:
        """Return the best action of each sample, and how far others are below it."""
        rewards = coefficients @ self.actions.T
        return Verdicts(rewards.argmax(axis=1), rewards.max(axis=1, keepdims=True) - rewards)


@dataclass(frozen=True, eq=False)
class ChosenBy(DecisionAtStake):
    """Any function from coefficients (sample, feature) to the code of an action (sample,); a wrong action costs 1."""

    function: Callable[[Values], Codes]
    n_choices: int

    @property
    def n_actions(self) -> int:
        """Number of actions."""
        return self.n_choices

    def verdicts(self, coefficients: Values) -> Verdicts:
        """Return what the function says."""
        decided = np.asarray(self.function(coefficients))
        if decided.shape != (len(coefficients),) or not np.issubdtype(decided.dtype, np.integer):
            raise InputError(
                f"the decision function returned shape {decided.shape} of {decided.dtype}; allowed: whole numbers of "
                f"shape ({len(coefficients)},)"
            )
        if decided.min() < 0 or decided.max() >= self.n_actions:
            raise InputError(
                f"the decision function returned {decided.min()} to {decided.max()}; allowed: 0 to {self.n_actions - 1}"
            )
        return _wrong_or_right(decided, self.n_actions)


@dataclass(frozen=True, eq=False)
class CollectiveChoice(DecisionAtStake):
    """What a strategy decides when the rewards of one stakeholder are uncertain and everybody else's E is known.

    Comparisons tell rewards up to origin and unit, so each sample is scaled to 0 for the worst item and 1 for the best
    [ours]. Losses are in units of the strategy's score; for a strategy without finite scores a wrong action costs 1.

    Parameters
    ----------
    expected
        E in one context; the row of `stakeholder` is replaced by each sample in turn.
    stakeholder
        Whose rewards are uncertain.
    items
        Features of the items that the stakeholder compares, shape (item, feature).
    outcomes
        Probability of each item if an action is taken, shape (action, item); rows sum to 1.
    strategy
        A rule that decides in each context by itself: samples are its contexts.
    """

    expected: ExpectedRewards
    stakeholder: str
    items: Values
    outcomes: Values
    strategy: Strategy

    def __post_init__(self) -> None:
        if self.stakeholder not in self.expected.stakeholders:
            raise UnknownNameError("stakeholder", self.stakeholder, self.expected.stakeholders)
        if self.expected.n_contexts != 1:
            raise InputError(f"expected rewards hold {self.expected.n_contexts} contexts; allowed: 1")
        if self.strategy.whole_batch:
            raise InputError(
                f"{self.strategy.label} decides on all contexts together; allowed: rules that decide in each by itself"
            )
        items, outcomes = _table("items", self.items), _table("outcomes", self.outcomes)
        if outcomes.shape != (self.n_actions, len(items)):
            raise InputError(
                f"outcomes have shape {outcomes.shape}; allowed: (action, item), here {(self.n_actions, len(items))}"
            )
        if (outcomes < 0).any() or (np.abs(outcomes.sum(axis=1) - 1) > SUM_TOLERANCE).any():
            raise InputError("outcomes must be probabilities of at least 0 that sum to 1 for every action")
        object.__setattr__(self, "items", items)
        object.__setattr__(self, "outcomes", outcomes / outcomes.sum(axis=1, keepdims=True))

    @property
    def n_actions(self) -> int:
        """Number of actions."""
        return len(self.expected.actions)

    @property
    def n_features(self) -> int:
        """Number of features of an item."""
        return int(self.items.shape[1])

    def verdicts(self, coefficients: Values) -> Verdicts:
        """Return what the strategy decides for each sample."""
        decisions = self.strategy(self.expected_rewards(coefficients))
        decided = decisions.codes.astype(np.intp)
        if decisions.scores is None or not np.isfinite(decisions.scores).all():
            return _wrong_or_right(decided, self.n_actions)
        scores = np.asarray(decisions.scores, dtype=np.float64).T
        best = np.take_along_axis(scores, decided[:, None], axis=1)
        return Verdicts(decided, np.maximum(best - scores, 0.0))

    def expected_rewards(self, coefficients: Values) -> ExpectedRewards:
        """Return E with one context for each sample."""
        rewards = coefficients @ self.items.T
        low = rewards.min(axis=1, keepdims=True)
        width = rewards.max(axis=1, keepdims=True) - low
        scaled = np.where(width > 0, (rewards - low) / np.where(width > 0, width, 1.0), 0.5)
        values = np.repeat(self.expected.values.astype(np.float64), len(coefficients), axis=2)
        values[self.expected.stakeholders.index(self.stakeholder)] = np.clip(self.outcomes @ scaled.T, 0.0, 1.0)
        return ExpectedRewards(values, stakeholders=self.expected.stakeholders, actions=self.expected.actions)


def _wrong_or_right(decided: Codes, n_actions: int) -> Verdicts:
    return Verdicts(decided, np.asarray(decided[:, None] != np.arange(n_actions), dtype=np.float64))


def _table(name: str, given: Values) -> Values:
    array = np.asarray(given, dtype=np.float64)
    if array.ndim != 2 or 0 in array.shape or not np.isfinite(array).all():
        raise InputError(f"{name} have shape {array.shape}; allowed: finite numbers on two axes, none of them empty")
    return array


def worth(criterion: Criterion, likely: Values, verdicts: Verdicts) -> Values:
    """Return what the answer to each question is worth, shape (question,).

    Parameters
    ----------
    criterion
        One of `CRITERIA`.
    likely
        Probability that a sample answers "the first", shape (sample, question).
    verdicts
        What the same samples lead to.

    Raises
    ------
    UnknownNameError
        If there is no such criterion.
    InputError
        If shapes do not match.
    """
    if criterion not in _WORTH:
        raise UnknownNameError("criterion", criterion, CRITERIA)
    if likely.ndim != 2 or len(likely) != len(verdicts.decided) or len(likely) == 0:
        raise InputError(
            f"likely has shape {likely.shape}; allowed: (sample, question), here ({len(verdicts.decided)}, …)"
        )
    return _WORTH[criterion](likely, verdicts)


def best_question(
    criterion: Criterion, likely: Values, verdicts: Verdicts, generator: np.random.Generator
) -> tuple[int, float]:
    """Return the position of the question that is worth most, and what it is worth.

    Among equals the one with more parameter information wins, then the first; ``random`` draws.
    """
    worths = worth(criterion, likely, verdicts)
    if criterion == "random":
        return int(generator.integers(len(worths))), 0.0
    top = np.flatnonzero(worths >= worths.max() - LEVEL * max(1.0, float(np.abs(worths).max())))
    at = top[0] if len(top) == 1 else top[parameter_information(likely[:, top], verdicts).argmax()]
    return int(at), float(worths[at])


def entropy(likely: Values) -> Values:
    """Return H(p) = −p log p − (1 − p) log(1 − p) in nats, shape as given."""
    other = 1.0 - likely
    with np.errstate(divide="ignore", invalid="ignore"):
        nats = -(likely * np.log(likely) + other * np.log(other))
    return np.asarray(np.where((likely <= 0) | (likely >= 1), 0.0, nats))


def parameter_information(likely: Values, verdicts: Verdicts) -> Values:
    """Return the mutual information of answer and coefficients, shape (question,)."""
    del verdicts
    return np.asarray(np.maximum(entropy(likely.mean(axis=0)) - entropy(likely).mean(axis=0), 0.0))


def decision_information(likely: Values, verdicts: Verdicts, *, corrected: bool = True) -> Values:
    """Return the mutual information of answer and decision, shape (question,).

    A mean p̄ of n samples has E H(p̄) ≈ H(p) − Var(p) / (2 n p (1 − p)), which makes the plug-in value too high, the more
    so the fewer samples lead to a decision. The correction [ours] adds this term of second order back for the whole and
    for every decision (as Miller 1955 does for counts); a decision with one sample gets its largest value.

    Parameters
    ----------
    likely, verdicts
        As for `worth`.
    corrected
        False for the plug-in value. The corrected one may be slightly below 0.
    """
    information = entropy(likely.mean(axis=0)) + (_missing(likely) if corrected else 0.0)
    for decision in np.unique(verdicts.decided):
        members = likely[verdicts.decided == decision]
        missing = _missing(members) if corrected else 0.0
        information = information - len(members) / len(likely) * (entropy(members.mean(axis=0)) + missing)
    return np.asarray(information)


def _missing(likely: Values) -> Values:
    """Return by how much the entropy of the mean over samples is too low, on average, shape (question,)."""
    n, mean = len(likely), likely.mean(axis=0)
    bound = mean * (1.0 - mean)
    if n == 1:
        return np.where(bound > 0, 0.5, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.minimum(likely.var(axis=0, ddof=1) / bound, 1.0)
    return np.asarray(np.where(bound > 0, share, 0.0) / (2 * n))


def expected_regret_reduction(likely: Values, verdicts: Verdicts) -> Values:
    """Return by how much an answer lowers the loss of the best action on average, at least 0, shape (question,)."""
    losses, n = verdicts.losses, len(likely)
    first = (likely.T @ losses).min(axis=1)
    second = ((1.0 - likely).T @ losses).min(axis=1)
    return np.asarray(np.maximum(losses.mean(axis=0).min() - (first + second) / n, 0.0))


def _nothing(likely: Values, verdicts: Verdicts) -> Values:
    del verdicts
    return np.zeros(likely.shape[1])


_WORTH: dict[str, Callable[[Values, Verdicts], Values]] = {
    "decision_information": decision_information,
    "parameter_information": parameter_information,
    "expected_regret_reduction": expected_regret_reduction,
    "random": _nothing,
}
