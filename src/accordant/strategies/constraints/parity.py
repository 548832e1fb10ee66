"""Parity: rates of favourable actions in two groups differ by at most ε (demographic parity, Dwork et al. 2012).

If parity is the only constraint over the batch, `within_parity` solves it as a window, exact and fast. The best sum of
scores in a group, as a function of its favourable rate, is concave and piecewise linear: contexts become favourable in
the order of what that gains. All rates lie within ε of each other exactly if they lie in a window [s, s + ε], and in a
given window each group takes the rate nearest to its own best one. The sum over groups is concave in s, so bisection
over its kinks finds the best window. These are the group-specific thresholds of Hardt, Price and Srebro (2016) and
Corbett-Davies et al. (2017), on a batch instead of a population and with any number of actions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from accordant.arrays import Codes, Mask, Values
from accordant.contexts import Contexts
from accordant.errors import InputError
from accordant.evidence import Groups
from accordant.naming import position
from accordant.problem import value_label
from accordant.strategies.constraints.batch import Batch, Exchange, Plan
from accordant.strategies.constraints.declaration import is_share, names_of, only_keys


@dataclass(frozen=True)
class Parity:
    """A bound on the differences of favourable rates between groups.

    Attributes
    ----------
    attribute
        Column whose values make the groups. A missing number is the group ``nan``, a missing text the group ``""``,
        as in the metric ``demographic_parity``.
    within
        ε in [0, 1].
    favourable
        Favourable actions; None if the problem is to name them.
    """

    attribute: str
    within: float
    favourable: tuple[str, ...] | None = None

    @classmethod
    def of(cls, given: Any) -> Self:
        """Read ``{"attribute": column, "within": ε, "favourable": actions or None}``."""
        read = only_keys("parity", given, ("attribute", "within"), ("favourable",))
        within, favourable = read["within"], read.get("favourable")
        if not isinstance(read["attribute"], str):
            raise InputError(f"parity.attribute is {read['attribute']!r}; allowed: the name of a column")
        if not is_share(within):
            raise InputError(f"parity.within is {within!r}; allowed: a number in [0, 1]")
        if favourable is not None:
            favourable = names_of("parity.favourable", favourable)
        return cls(read["attribute"], float(within), favourable)

    @property
    def label(self) -> str:
        """The bound as a leaderboard shows it, such as ``parity of sex within 0.05``."""
        return f"parity of {self.attribute} within {self.within:g}"

    def mask(self, actions: tuple[str, ...]) -> Mask:
        """Return which actions are favourable, shape (action,)."""
        if self.favourable is None:
            raise InputError(
                "parity needs favourable actions: the parameter parity.favourable, or favourable_actions of the problem"
            )
        mask = np.zeros(len(actions), dtype=bool)
        mask[[position("favourable action", name, actions) for name in self.favourable]] = True
        return mask

    def groups(self, contexts: Contexts | None) -> Groups:
        """Return the groups of the batch.

        Raises
        ------
        InputError
            If contexts are missing or have no such column.
        """
        if contexts is None:
            raise InputError(f"parity reads the column {self.attribute!r}; pass contexts=")
        values, codes = np.unique(contexts[self.attribute], return_inverse=True)
        return Groups((self.attribute,), tuple(map(value_label, values)), codes)


def gap_error(gap: float, highest: str, lowest: str, parity: Parity, because: str) -> InputError:
    """Return the error that the favourable rates of two groups cannot come close enough."""
    return InputError(
        f"parity of {parity.attribute} within {parity.within:g} cannot be met: {because} keep the favourable rate of "
        f"group {highest!r} at least {gap:.6g} above that of group {lowest!r}"
    )


ROUNDING = 1e-12  # how far rounding may carry a difference of rates


def within_parity(batch: Batch, groups: Groups, parity: Parity) -> Plan:
    """Return the best policy whose favourable rates differ by at most ε; at most one context per group is random.

    Raises
    ------
    InputError
        If what the contexts admit keeps two groups further apart; names them and the smallest gap.
    """
    exchange = Exchange.of(batch, parity.mask(batch.actions))
    curves = Curves.of(exchange, groups)
    rates = curves.best / curves.sizes
    if not len(rates) or np.ptp(rates) <= parity.within + ROUNDING:
        return Plan(batch.codes, per_tolerance=0.0)
    low = _best_window(curves, groups, parity)
    bottom, top = curves.ends(low, parity.within)
    favourable = np.minimum(np.maximum(curves.best, bottom), top)
    whole = np.rint(favourable)
    favourable = np.where(np.abs(favourable - whole) <= curves.rounding, whole, favourable)
    return _assign(batch, exchange, curves, favourable, _worth(curves, low, parity.within))


@dataclass(frozen=True, eq=False)
class Curves:
    """The value of each group as a function of how many of its contexts are favourable.

    Attributes
    ----------
    sizes
        Contexts of each group, shape (group,).
    lowest, highest
        How many must, and may, be favourable, shape (group,).
    best
        How many are, if each context is decided by itself, shape (group,).
    rows
        Contexts of each group that may be either.
    starts
        Where each group begins in `spared` and `gain`, shape (group,).
    spared, gain
        What one more favourable context adds in its group, in the order in which they come (see `Exchange`).
    """

    sizes: Codes
    lowest: Codes
    highest: Codes
    best: Codes
    rows: list[Codes]
    starts: Codes
    spared: Values
    gain: Values

    @classmethod
    def of(cls, exchange: Exchange, groups: Groups) -> Self:
        """Sort the contexts of each group by what a favourable action gains."""
        n_groups, codes = len(groups.labels), groups.codes
        sizes, lowest, best, n_free = (
            np.bincount(codes[which], minlength=n_groups)
            for which in (slice(None), exchange.forced, exchange.prefers, exchange.free)
        )
        free = np.flatnonzero(exchange.free)
        by_group = free[np.argsort(codes[free].astype(np.min_scalar_type(n_groups)), kind="stable")]
        starts = np.cumsum(n_free) - n_free
        rows = np.split(by_group, starts[1:])
        keys, weight = exchange.keys(by_group)
        for start, size in zip(starts, n_free, strict=True):
            keys[start : start + size] = -np.sort(-keys[start : start + size])
        spared = np.rint(keys / weight) if exchange.spared.any() else np.zeros(len(keys))
        return cls(sizes, lowest, lowest + n_free, best, rows, starts, spared, keys - weight * spared)

    @property
    def rounding(self) -> Values:
        """By how much rounding may change rate × size, shape (group,)."""
        return np.asarray(8 * np.finfo(np.float64).eps * np.maximum(1, self.sizes))

    def ends(self, low: float, within: float) -> tuple[Values, Values]:
        """Return the numbers of favourable contexts at the ends of the window [s, s + ε], each of shape (group,)."""
        return np.asarray(low * self.sizes, dtype=np.float64), np.asarray((low + within) * self.sizes, dtype=np.float64)

    def slopes(self, favourable: Values) -> tuple[Values, Values]:
        """Return what the next favourable context adds in each group, times its size: the slope over its rate."""
        step = np.floor(favourable + self.rounding).astype(np.intp) - self.lowest
        inner = (step >= 0) & (step < self.highest - self.lowest)
        at = np.where(inner, self.starts + step, 0)
        weight = self.sizes * inner
        return self.spared[at] * weight, self.gain[at] * weight


def _best_window(curves: Curves, groups: Groups, parity: Parity) -> float:
    """Return the lower end s of the best window [s, s + ε]."""
    least, most = curves.lowest / curves.sizes, curves.highest / curves.sizes
    high, low = int(least.argmax()), int(most.argmin())
    gap = float(least[high] - most[low])
    if gap > parity.within + ROUNDING:
        raise gap_error(gap, groups.labels[high], groups.labels[low], parity, "floors, vetoes and prohibitions")
    first, last = min(least[high] - parity.within, most[low]), most[low]
    kinks = np.concatenate(
        [np.arange(lowest, highest + 1) / size
         for lowest, highest, size in zip(curves.lowest, curves.highest, curves.sizes, strict=True)]
    )  # fmt: skip
    kinks = np.concatenate([kinks, kinks - parity.within, [first, last]])
    kinks = np.sort(kinks[(kinks >= first) & (kinks <= last)])
    left, right = 0, len(kinks) - 1
    while left < right:
        middle = (left + right) // 2
        down, up = _pulls(curves, kinks[middle], parity.within)
        left, right = (middle + 1, right) if up > down else (left, middle)
    return float(kinks[left])


def _pulls(curves: Curves, low: float, within: float) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return how much moving the window [s, s + ε] up costs at its lower end, and gains at its upper end.

    Each is a pair: scores of −inf, finite score. The cost is infinite if a group cannot follow.
    """
    bottom, top = curves.ends(low, within)
    below, above = curves.best <= bottom + curves.rounding, curves.best > top + curves.rounding
    lost, won = curves.slopes(bottom), curves.slopes(top)
    gain = float(won[0][above].sum()), float(won[1][above].sum())
    if (bottom + curves.rounding >= curves.highest).any():
        return (np.inf, np.inf), gain
    return (-float(lost[0][below].sum()), -float(lost[1][below].sum())), gain


def _worth(curves: Curves, low: float, within: float) -> float:
    """Return what a wider window adds per unit of ε: the better of lowering its bottom and lifting its top."""
    bottom, _ = curves.ends(low, within)
    raised = curves.best < bottom - curves.rounding
    spared, gain = curves.slopes(np.ceil(bottom - curves.rounding) - 1)
    _, up = _pulls(curves, low, within)
    best = max((-float(spared[raised].sum()), -float(gain[raised].sum())), up)
    return np.inf if best[0] > 0 else best[1]


def _assign(batch: Batch, exchange: Exchange, curves: Curves, favourable: Values, worth: float) -> Plan:
    """Make the given number of contexts of each group favourable, those that gain most; a fraction is drawn."""
    inside, drawn = exchange.forced.copy(), {}
    for rows, count in zip(curves.rows, favourable - curves.lowest, strict=True):
        whole, share = int(count), float(count - int(count))
        ranked = exchange.leading(rows, whole + (share > 0))
        inside[ranked[:whole]] = True
        if share > 0:
            drawn[int(ranked[-1])] = share
    at, shares = np.array(list(drawn), dtype=np.intp), np.array(list(drawn.values()))
    inside[at] = (shares > 0.5) | ((shares == 0.5) & exchange.prefers[at])  # the more probable side
    codes = exchange.codes(inside)
    if not drawn:
        return Plan(codes, per_tolerance=worth)
    policy = np.asarray(codes == np.arange(len(batch.actions))[:, None], dtype=np.float64)
    policy[:, at] = 0.0
    policy[exchange.inside.codes[at], at] = shares
    policy[exchange.outside.codes[at], at] = 1.0 - shares
    return Plan(codes, policy, per_tolerance=worth)
