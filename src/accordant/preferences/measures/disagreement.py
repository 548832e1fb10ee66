"""How much of the loss no single reward can remove, and how often people see what other groups prefer.

`disagreement`: users disagree on the same pairs. A single reward gives each pair of items one probability that the
first is preferred. If labellers prefer the first with probability p, its expected loss per label is at least the
entropy H(p) = −p log p − (1 − p) log(1 − p): the floor. Only a reward that knows the user can go below it. A user who
would answer otherwise on another day adds to the floor too, and no reward removes that part; repeated labels of one
user would be needed to tell the two apart.

With few labels the entropy of the observed share is too low: one label always has the entropy 0. Reported is Σ_s
(x_s / n) (h(n − 1) − h(x_s − 1)), where x_s of n labels prefer side s and h is the harmonic number (Zhang 2012;
Schürmann 2015). Its mean is exactly Σ_{k<n} [p (1 − p)^k + (1 − p) p^k] / k, the series of H(p) cut off at n: it is
never above the floor on average, and the gap goes to 0 as labels are added. With two labels it is 2 p (1 − p).

`exposure`, against echo chambers: how often people are shown what other groups prefer.

    other        a response that another group prefers, whether or not the viewer's group does too
    opposing     a response that another group prefers and the viewer's group does not
    exposure     each shown response counts 1, split evenly among the groups that prefer it

A choice is a slate with one place: pass ``choices[:, None]``.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from accordant.arrays import Codes, Mask, Values
from accordant.errors import InputError
from accordant.json_values import finite, json_value
from accordant.preferences.checks import codes, numbers
from accordant.preferences.measures.intervals import LEVEL, RESAMPLES, interval_estimate
from accordant.statistics import Estimate, resample_counts

BLOCK = 1_000_000  # counts held at a time (8 MB)
EMPTY = -1  # fills the places of a slate that is shorter than others


@dataclass(frozen=True, eq=False)
class LabelCounts:
    """How many users prefer either side of each pair.

    Attributes
    ----------
    items
        The two items, the lower position first, shape (pair, 2).
    counts
        Users who prefer the first and the second, shape (pair, 2).
    of_record
        Pair of each record, shape (record,).
    undecided
        Times that a user preferred either side of a pair equally often; these are counted for neither.
    """

    items: Codes
    counts: Codes
    of_record: Codes
    undecided: int


@dataclass(frozen=True)
class Disagreement:
    """Loss that is due to disagreement, per label, in nats.

    Attributes
    ----------
    n_pairs, n_labels
        Pairs with at least two labels, and the labels on them.
    excluded
        Pairs with fewer than two labels: they say nothing about disagreement.
    floor
        Estimated loss of the best single probability of each pair.
    plug_in
        Entropy of the observed shares, for comparison: too low.
    two_differ
        Probability that two labellers of a pair differ, estimated without bias.
    single, own
        Losses that were given, of a single reward and of rewards that know the user; None if not given.
    above_floor
        Single loss less floor: at most this could another single reward remove.
    below_floor
        Floor less own loss: at least this much is gained by knowing the user that no single reward can gain.
    level
        Coverage aimed at, by each interval alone, over pairs.
    """

    n_pairs: int
    n_labels: int
    excluded: int
    floor: Estimate
    plug_in: float
    two_differ: Estimate
    single: Estimate | None
    own: Estimate | None
    above_floor: Estimate | None
    below_floor: Estimate | None
    level: float

    def to_json(self) -> dict[str, Any]:
        """Return plain values; what was not given is None."""
        content: dict[str, Any] = json_value(asdict(self))
        return content


def label_counts(chosen: Codes, rejected: Codes, users: Codes) -> LabelCounts:
    """Count the users on either side of each pair of items; a user counts once per pair.

    Parameters
    ----------
    chosen, rejected
        Positions of the items, shape (record,).
    users
        Codes, shape (record,).

    Raises
    ------
    InputError
        If a record compares an item with itself.
    """
    chosen = codes("chosen", chosen, len(np.atleast_1d(chosen)))
    rejected, users = codes("rejected", rejected, len(chosen)), codes("users", users, len(chosen))
    if (chosen == rejected).any():
        raise InputError(f"record {np.flatnonzero(chosen == rejected)[0]} compares an item with itself")
    sides = np.stack([np.minimum(chosen, rejected), np.maximum(chosen, rejected)], axis=1)
    items, pair = np.unique(sides, axis=0, return_inverse=True)
    pair = pair.reshape(len(chosen)).astype(np.intp)
    judges, judge = np.unique(np.stack([pair, users]), axis=1, return_inverse=True)
    balance = np.bincount(judge.reshape(len(chosen)), np.where(chosen < rejected, 1.0, -1.0), judges.shape[1])
    first, second = (np.bincount(judges[0][side], minlength=len(items)) for side in (balance > 0, balance < 0))
    return LabelCounts(
        items.astype(np.intp), np.stack([first, second], axis=1), pair, int((balance == 0).sum())
    )  # fmt: skip


def entropy_floor(counts: Codes) -> Values:
    """Return the estimated entropy of each pair's labels in nats, shape (pair,); NaN for pairs with fewer than two.

    Parameters
    ----------
    counts
        Labels that prefer the first and the second side, shape (pair, 2).
    """
    counts = _counted(counts)
    totals = counts.sum(axis=1)
    harmonic = np.concatenate([[0.0, 0.0], np.cumsum(1.0 / np.arange(1, max(2, totals.max(initial=0))))])
    # harmonic[x] is h(x − 1); a side without labels has the share 0
    share = counts / np.maximum(totals, 1)[:, None]
    floor = (share * (harmonic[totals][:, None] - harmonic[counts])).sum(axis=1)
    return np.where(totals > 1, floor, np.nan)


def disagreement(
    counts: Codes,
    *,
    generator: np.random.Generator,
    single_loss: Values | None = None,
    own_loss: Values | None = None,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> Disagreement:
    """Estimate how much of the loss per label no single reward can remove, with intervals over pairs.

    Parameters
    ----------
    counts
        Different users who prefer the first and the second side, shape (pair, 2).
    generator
        Source of randomness; the same state gives the same bytes.
    single_loss, own_loss
        Mean −log-likelihood over the labels of each pair under one reward for all, and under rewards that know the
        user, at least 0, shape (pair,). They should come from labels that the models did not see.
    resamples
        At least 1.
    level
        Coverage, in (0, 1).

    Raises
    ------
    InputError
        If shapes differ, a number is negative, or no pair has two labels.
    """
    counts = _counted(counts)
    if resamples < 1:
        raise InputError(f"resamples is {resamples}; allowed: 1 or more")
    totals = counts.sum(axis=1)
    several = totals > 1
    if not several.any():
        raise InputError("no pair has two labels; allowed: at least one pair labelled by two users")
    columns = [entropy_floor(counts), _two_differ(counts)]
    for name, loss in (("single_loss", single_loss), ("own_loss", own_loss)):
        columns.append(np.full(len(counts), np.nan) if loss is None else numbers(name, loss, "pair", len(counts)))
        if (columns[-1] < 0).any():
            raise InputError(f"{name} goes down to {columns[-1].min()}; allowed: at least 0")
    values = np.stack(columns, axis=1)[several]
    weights = totals[several].astype(np.float64)
    whole = weights @ values / weights.sum()
    drawn = _resampled(values, weights, resamples, generator)
    n_pairs = int(several.sum())

    def given(value: float, column: Values) -> Estimate | None:
        """Return limits, or None for a loss that was not given."""
        return None if np.isnan(value) else interval_estimate(value, column, n_pairs, level)

    return Disagreement(
        n_pairs=n_pairs,
        n_labels=int(totals[several].sum()),
        excluded=int((~several).sum()),
        floor=interval_estimate(whole[0], drawn[:, 0], n_pairs, level),
        plug_in=float(weights @ _entropy(counts[several] / weights[:, None]) / weights.sum()),
        two_differ=interval_estimate(whole[1], drawn[:, 1], n_pairs, level, within=(0.0, 1.0)),
        single=given(whole[2], drawn[:, 2]),
        own=given(whole[3], drawn[:, 3]),
        above_floor=given(whole[2] - whole[0], drawn[:, 2] - drawn[:, 0]),
        below_floor=given(whole[0] - whole[3], drawn[:, 0] - drawn[:, 3]),
        level=level,
    )


def _two_differ(counts: Codes) -> Values:
    """Return 2 x (n − x) / (n (n − 1)), shape (pair,); NaN for pairs with fewer than two labels."""
    totals = counts.sum(axis=1)
    pairs = (totals * (totals - 1)).astype(np.float64)
    differing = 2.0 * counts[:, 0] * counts[:, 1]
    return np.asarray(np.divide(differing, pairs, out=np.full(len(counts), np.nan), where=pairs > 0))


def _entropy(shares: Values) -> Values:
    """Return the entropy of each row, shape (pair,), with 0 log 0 = 0."""
    return np.asarray(-(shares * np.log(np.where(shares > 0, shares, 1.0))).sum(axis=1))


def _resampled(values: Values, weights: Values, resamples: int, generator: np.random.Generator) -> Values:
    """Return means per label on resamples of pairs, shape (resample, column)."""
    step = max(1, BLOCK // len(values))
    blocks = []
    for start in range(0, resamples, step):
        drawn = resample_counts(len(values), min(resamples, start + step) - start, generator) * weights
        blocks.append(drawn @ values / drawn.sum(axis=1, keepdims=True))
    return np.concatenate(blocks)


def _counted(counts: Codes) -> Codes:
    array = np.asarray(counts)
    if array.ndim != 2 or array.shape[1] != 2 or not np.issubdtype(array.dtype, np.integer):
        raise InputError(f"counts have shape {array.shape} of {array.dtype}; allowed: whole numbers of shape (pair, 2)")
    if (array < 0).any():
        raise InputError(f"counts go down to {array.min()}; allowed: at least 0")
    return array.astype(np.intp)


@dataclass(frozen=True, eq=False)
class Exposure:
    """What slates show to members of each group.

    Attributes
    ----------
    other, opposing
        Whether each slate holds such a response, shape (slate,); bootstrap over these for intervals.
    by_viewer
        Share of slates with an opposing response by group of the viewer, shape (group,); NaN without slates.
    shares
        How the exposure of each group of viewers is split among groups, rows sum to 1, shape (viewer, group); NaN if
        nothing was shown that anybody prefers.
    entropy
        Entropy of each row divided by log(number of groups), in [0, 1]: 0 if one group's taste is shown only, 1 if all
        groups' tastes are shown equally, shape (group,).
    overall_entropy
        The same for all viewers together; NaN if nothing was shown that anybody prefers.
    separation
        Share of the overall entropy that knowing the viewer's group removes, in [0, 1]: 0 if all groups are shown the
        same mixture, 1 if each is shown one group's taste only (information index of Theil 1972). NaN if the overall
        entropy is 0: everybody is shown the same group's taste.
    """

    other: Mask
    opposing: Mask
    by_viewer: Values
    shares: Values
    entropy: Values
    overall_entropy: float
    separation: float

    @property
    def share_other(self) -> float:
        """Share of slates with a response that another group prefers."""
        return float(self.other.mean())

    @property
    def share_opposing(self) -> float:
        """Share of slates with a response that another group prefers and the viewer's does not."""
        return float(self.opposing.mean())

    def to_json(self) -> dict[str, Any]:
        """Return plain values; what is not defined is None."""
        return {
            "slates": len(self.other),
            "share_other": self.share_other,
            "share_opposing": self.share_opposing,
            "by_viewer": json_value(self.by_viewer),
            "shares": json_value(self.shares),
            "entropy": json_value(self.entropy),
            "overall_entropy": finite(self.overall_entropy),
            "separation": finite(self.separation),
        }


def exposure(slates: Codes, preferred: Mask, viewers: Codes) -> Exposure:
    """Measure which groups' preferred responses are shown to whom.

    Parameters
    ----------
    slates
        Positions of the responses shown, −1 for an empty place, shape (slate, place).
    preferred
        Whether a group prefers a response, by whatever rule the caller states, shape (response, group); at least two
        groups.
    viewers
        Group of the person to whom each slate is shown, shape (slate,).

    Raises
    ------
    InputError
        If shapes do not match, a position is out of range, or there are no slates.
    """
    slates, preferred = np.asarray(slates), np.asarray(preferred)
    if preferred.ndim != 2 or preferred.shape[1] < 2 or preferred.dtype != np.bool_:
        raise InputError(
            f"preferred has shape {preferred.shape} of {preferred.dtype}; allowed: true or false, (response, group), "
            "two groups or more"
        )
    n_responses, n_groups = preferred.shape
    if slates.ndim != 2 or not len(slates) or not np.issubdtype(slates.dtype, np.integer):
        raise InputError(f"slates have shape {slates.shape}; allowed: whole numbers of shape (slate, place)")
    if ((slates < EMPTY) | (slates >= n_responses)).any():
        raise InputError(f"slates go from {slates.min()} to {slates.max()}; allowed: -1 to {n_responses - 1}")
    viewers = codes("viewers", viewers, len(slates), n_groups)
    shown = preferred[slates] & (slates != EMPTY)[..., None]  # (slate, place, group)
    own = np.take_along_axis(shown, viewers[:, None, None], axis=2)[..., 0]
    others = shown.sum(axis=2) > own
    opposing = (others & ~own).any(axis=1)
    sizes = np.bincount(viewers, minlength=n_groups)
    by_viewer = np.divide(
        np.bincount(viewers, opposing, minlength=n_groups), sizes, out=np.full(n_groups, np.nan), where=sizes > 0
    )
    credit = (shown / np.maximum(shown.sum(axis=2, keepdims=True), 1)).sum(axis=1)  # (slate, group)
    table = np.zeros((n_groups, n_groups))
    np.add.at(table, viewers, credit)
    return _exposure(others.any(axis=1), opposing, by_viewer, table)


def _exposure(other: Mask, opposing: Mask, by_viewer: Values, table: Values) -> Exposure:
    """Derive shares and entropies from exposure by viewer and group, shape (viewer, group)."""
    rows = table.sum(axis=1)
    shares = np.divide(table, rows[:, None], out=np.full_like(table, np.nan), where=rows[:, None] > 0)
    entropy = _group_entropy(shares)
    total = float(rows.sum())
    overall = separation = math.nan
    if total > 0:
        overall = float(_group_entropy(table.sum(axis=0, keepdims=True) / total)[0])
        within = float(rows[rows > 0] @ entropy[rows > 0]) / total
        separation = min(1.0, max(0.0, 1.0 - within / overall)) if overall > 0 else math.nan
    return Exposure(other, opposing, by_viewer, shares, entropy, overall, separation)


def _group_entropy(shares: Values) -> Values:
    """Return entropy of each row divided by its largest value; a row of NaN stays NaN."""
    logs = np.log(np.where(shares > 0, shares, 1.0))
    return np.asarray(-(shares * logs).sum(axis=1) / math.log(shares.shape[1]) + 0.0)
