"""The smallest change of the stakeholder weights that would have changed a decision.

Only shares of the weight matter. Two kinds of change are looked for:

* *shift*: any new shares; the smallest amount of share that must pass from some stakeholders to others. Exact, and
  known only for rules whose scores are linear in the shares.
* *more* and *less*: the share of one stakeholder rises or falls, the others keep their proportions. Exact for the same
  rules; for all others the first change on a grid of shares, made precise by bisection.

Everything that is found is decided again at the new weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from accordant.arrays import Values
from accordant.certificates import Known
from accordant.certificates.certificate import decisions_on
from accordant.explanation.influence.absence import weighing, weights_of, with_weights
from accordant.strategies.block_decisions import ContextRule, decide
from accordant.strategies.selection import SINGLE_PRECISION_TOLERANCE, TIE_TOLERANCE
from accordant.strategies.strategy import Strategy
from accordant.utilities import ExpectedRewards

Direction = Literal["shift", "more", "less"]
Found = Literal["exact", "numeric", "none"]


@dataclass(frozen=True)
class NewWeights:
    """Weights that would have led to another decision.

    Attributes
    ----------
    direction
        ``shift``, or ``more`` or ``less`` share for `who`.
    who
        The stakeholder whose share changes; None for a shift.
    moved
        Share of all weight that passes from some to others: half the sum of absolute differences.
    shares
        The new shares of weight, shape (stakeholder,).
    action
        What is decided at these shares.
    """

    direction: Direction
    who: str | None
    moved: float
    shares: tuple[float, ...]
    action: str


@dataclass(frozen=True)
class WeightChanges:
    """What other weights would have done.

    Attributes
    ----------
    shares
        The shares of weight as they are, shape (stakeholder,); None if the rule has no weights.
    method
        ``exact`` for scores linear in the shares, ``numeric`` for others, ``none`` if nothing was looked for.
    reason
        Why nothing was looked for; empty otherwise.
    found
        Changes that lead to another decision, smallest first. A direction that is missing leads to none while the same
        stakeholders have weight: to none that is ahead by more than a tie if the method is exact, on the grid if it is
        numeric.
    proven
        Whether no weights above 0 whatever lead to another decision: everybody's scores put the decision at least level
        with every other action. False also if that is not known.
    """

    shares: tuple[float, ...] | None
    method: Found
    reason: str = ""
    found: tuple[NewWeights, ...] = ()
    proven: bool = False


Side = Literal["more", "less"]

END: dict[Side, float] = {"more": 1.0, "less": 0.0}  # where the share of one stakeholder may go
STEP = 1e-6  # how far beyond a threshold the weights are decided on again


@dataclass(frozen=True, eq=False)
class Trial:
    """A rule in one context, to be asked with other weights.

    Attributes
    ----------
    rule
        A rule with weights.
    here, known
        E in one context, and what the rule reads beside it.
    weights
        The weights as they are, shape (stakeholder,).
    """

    rule: Strategy
    here: ExpectedRewards
    known: Known
    weights: Values

    @cached_property
    def shares(self) -> Values:
        """The shares of all weight as they are, shape (stakeholder,)."""
        return np.asarray(self.weights / self.weights.sum(), dtype=np.float64)

    @cached_property
    def chosen(self) -> int:
        """The decision with the weights as they are."""
        return self.decided(self.shares)

    def decided(self, shares: Values) -> int:
        """Return the decision with other shares of the same total weight."""
        weights = shares * self.weights.sum()
        return int(decisions_on(with_weights(self.rule, weights), self.here, self.known)[0])

    def changed(self, direction: Direction, who: int | None, shares: Values) -> NewWeights | None:
        """Decide at new shares; return None if nothing changes."""
        shares = np.maximum(shares, 0.0)
        action = self.decided(shares)
        if action == self.chosen:
            return None
        name = None if who is None else self.here.stakeholders[who]
        return NewWeights(direction, name, self.moved(shares), tuple(map(float, shares)), self.here.actions[action])

    def moved(self, shares: Values) -> float:
        """Return the share of all weight that passes from some to others."""
        return float(np.abs(shares - self.shares).sum() / 2)

    def with_share(self, who: int, share: float) -> Values:
        """Return shares in which one stakeholder has a new share and the others keep their proportions."""
        new = np.asarray(self.shares * ((1.0 - share) / (1.0 - self.shares[who])), dtype=np.float64)
        new[who] = share
        return new


def onwards(share: float, end: float) -> float:
    """Return a share a little further towards an end."""
    return share + (end - share) * STEP


GRID = 64  # shares tried in each direction
PRECISION = 1e-9  # of a share, at which bisection stops


def changes_found(trial: Trial) -> list[NewWeights]:
    """Return the first change on a grid for each stakeholder in each direction, made precise by bisection.

    Shares of 0 and 1 are left out: they leave somebody out altogether, which is another question (see `pivotal`).
    """
    inside = [i for i, share in enumerate(trial.shares) if 0 < share < 1]
    changes = [_first_on_grid(trial, i, direction) for i in inside for direction in END]
    return [change for change in changes if change is not None]


def _first_on_grid(trial: Trial, who: int, direction: Side) -> NewWeights | None:
    """Return the first change in one direction; a change that is undone again between grid points is not seen."""
    own, end = float(trial.shares[who]), END[direction]

    def changes(share: float) -> bool:
        """Return whether another decision is taken with a share of one stakeholder."""
        return trial.decided(trial.with_share(who, share)) != trial.chosen

    grid = own + (end - own) * np.append(np.arange(GRID) / GRID, 1.0 - STEP)
    first = next((k for k in range(1, len(grid)) if changes(float(grid[k]))), None)
    if first is None:
        return None
    before, after = float(grid[first - 1]), float(grid[first])
    while abs(after - before) > PRECISION:
        middle = (before + after) / 2
        before, after = (before, middle) if changes(middle) else (middle, after)
    beyond = trial.changed(direction, who, trial.with_share(who, onwards(after, end)))
    return beyond or trial.changed(direction, who, trial.with_share(who, after))


CLEAR = 4.0  # times the tie tolerance: enough for rounding to leave a rival ahead, not level

# scores are Σ_i share_i Φ_i, where Φ_i are the scores with i alone heard
LINEAR = frozenset({
    "anti_plurality", "approval", "borda", "plurality", "population_leximin", "population_maximin", "population_nash",
    "range", "relative_utilitarian", "sufficientarian", "utilitarian",
})  # fmt: skip


def exact_changes(trial: Trial, scores: Values) -> tuple[list[NewWeights], bool]:
    """Return the smallest shift and the smallest change for each stakeholder in each direction.

    Beside them: whether it is proven that no weights above 0 lead to another decision, because every stakeholder's
    scores put the decision at least level with every rival.

    Parameters
    ----------
    trial
        The rule in one context.
    scores
        Φ_i, shape (stakeholder, action), see `components`.
    """
    rivals = [a for a in range(len(trial.here.actions)) if a != trial.chosen]
    leads = [scores[:, trial.chosen] - scores[:, a] for a in rivals]  # by how much each prefers the decision
    ahead = least_lead(trial, scores)
    shifts = [shift for lead in leads if (shift := smallest_shift(lead, trial.shares, ahead)) is not None]
    tried = (trial.changed("shift", None, shares) for shares in sorted(shifts, key=trial.moved))
    changes = [next((change for change in tried if change is not None), None)]
    changes += [_first(trial, leads, i, direction, ahead) for i in range(len(trial.shares)) for direction in END]
    return [change for change in changes if change is not None], all(lead.min() >= 0 for lead in leads)


def _first(trial: Trial, leads: list[Values], who: int, direction: Side, ahead: float) -> NewWeights | None:
    """Return the nearest share of one stakeholder at which some rival is ahead."""
    end = END[direction]
    reached = [share for lead in leads if (share := crossing(lead, trial.shares, who, end, ahead)) is not None]
    for share in sorted(reached, key=lambda new: abs(new - trial.shares[who])):
        change = trial.changed(direction, who, trial.with_share(who, share))
        if change is not None:
            return change
    return None


def least_lead(trial: Trial, scores: Values) -> float:
    """Return the lead that a rival needs to be ahead for certain: `CLEAR` times what still counts as a tie."""
    single = trial.here.values.dtype == np.float32
    tolerance = SINGLE_PRECISION_TOLERANCE if single else TIE_TOLERANCE
    return CLEAR * tolerance * max(1.0, float(np.abs(scores).max()))


def components(rule: ContextRule, here: ExpectedRewards) -> Values:
    """Return the scores of a rule in one context with each stakeholder alone heard, shape (stakeholder, action)."""
    n_stakeholders = len(here.stakeholders)
    alone = [with_weights(rule, row) for row in np.eye(n_stakeholders)]
    decisions = decide([strategy for strategy in alone if isinstance(strategy, ContextRule)], here)
    return np.array([own.scores[:, 0] for own in decisions if own.scores is not None], dtype=np.float64)


def smallest_shift(lead: Values, shares: Values, ahead: float = 0.0) -> Values | None:
    """Return the shares nearest to the present ones at which a rival is ahead; None if it never is.

    A share that passes from i to k lowers the lead Σ_j share_j lead_j by lead_i − lead_k per unit. So everything goes
    to whoever likes the rival best, from those who like it least, as much of each as is needed (Dantzig 1957). What is
    left to pass after that is rounding, and so are differences within the tie tolerance: nothing is taken for them.

    Parameters
    ----------
    lead
        By how much each stakeholder's scores prefer the decision, shape (stakeholder,).
    shares
        Shares of weight, summing to 1.
    ahead
        The lead that the rival needs at least, or a `STEP` of the most that it can get if that is more; 0 if level is
        enough.
    """
    taker = int(lead.argmin())
    if lead[taker] >= -ahead:
        return None
    goal = float(shares @ lead) + _beyond(float(lead[taker]), ahead)  # how far the lead must fall
    new = shares.copy()
    for giver in np.argsort(-lead, kind="stable"):
        per_unit = float(lead[giver] - lead[taker])
        if goal <= TIE_TOLERANCE or per_unit <= TIE_TOLERANCE:
            break
        passed = min(float(shares[giver]), goal / per_unit)
        new[giver] -= passed
        new[taker] += passed
        goal -= passed * per_unit
    return new


def crossing(lead: Values, shares: Values, who: int, end: float, ahead: float = 0.0) -> float | None:
    """Return the share of one stakeholder, between its present one and `end`, at which a rival is ahead; or None.

    The others keep their proportions, so the lead is s lead_i + (1 − s) L, where L is their weighted mean lead: a line
    between the present lead and that at the end. The end itself is left out: there somebody has no weight, which is
    another question. So a rival that is only level there never is ahead.

    Parameters
    ----------
    lead, shares, ahead
        See `smallest_shift`.
    who
        Position of the stakeholder.
    end
        0 or 1.
    """
    own = float(shares[who])
    if own >= 1:
        return None  # nobody else has a proportion to keep
    now = float(shares @ lead)
    at_end = float(lead[who]) if end == 1 else (now - own * float(lead[who])) / (1.0 - own)
    if own == end or at_end >= -ahead:
        return None
    return own + (end - own) * (now + _beyond(at_end, ahead)) / (now - at_end)


def _beyond(most: float, ahead: float) -> float:
    """Return how far below 0 the lead must fall, which is at most `most` < 0."""
    return max(ahead, STEP * -most) if ahead > 0 else 0.0


# weights above 0 are all alike to them; see the class of each rule
INDIFFERENT_TO_WEIGHTS = frozenset({"debate", "hurwicz", "kalai_smorodinsky", "leximin", "maximin"})


def smallest_weight_changes(
    rule: Strategy, expected: ExpectedRewards, known: Known | None = None
) -> tuple[WeightChanges, ...]:
    """Return, for every context, what other weights would have led to another decision.

    Parameters
    ----------
    rule
        Any strategy.
    expected
        E in a few contexts.
    known
        What the rule reads beside E in these contexts.
    """
    known = known or Known()
    weights = None if rule.structure() == "fixed" else weights_of(rule, len(expected.stakeholders))
    shares = None if weights is None else tuple(map(float, weights / weights.sum()))
    reason = ""
    if shares is None:
        reason = "the rule has no weights"
    elif rule.whole_batch:
        reason = "the rule decides a whole batch at once"
    elif weighing(rule).name in INDIFFERENT_TO_WEIGHTS:
        reason = "the rule does not ask how large a weight is, only whether it is above 0"
    if shares is None or weights is None or reason:
        return (WeightChanges(shares, "none", reason),) * expected.n_contexts
    parts = [slice(t, t + 1) for t in range(expected.n_contexts)]
    return tuple(_in_context(rule, expected.take(part), Known(**known.arguments(part)), weights) for part in parts)


def _in_context(rule: Strategy, here: ExpectedRewards, known: Known, weights: Values) -> WeightChanges:
    trial = Trial(rule, here, known, weights)
    method: Found
    proven = False
    if rule.name in LINEAR and isinstance(rule, ContextRule):
        method, (changes, proven) = "exact", exact_changes(trial, components(rule, here))
    else:
        method, changes = "numeric", changes_found(trial)
    nearest_first = tuple(sorted(changes, key=lambda change: change.moved))
    return WeightChanges(tuple(map(float, trial.shares)), method, "", nearest_first, proven)
