"""Who gets how much voting weight for the next user."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from accordant.arrays import Values
from accordant.errors import InputError, UnknownNameError
from accordant.registry import Registry
from accordant.strategies.selection import TIE_TOLERANCE

weight_allocations: Registry[VotingWeightAllocation] = Registry(
    "voting weight allocation",
    group="accordant.weight_allocations",
    packages=("accordant.slates.rules.dynamic.allocation",),
)


@dataclass(frozen=True)
class VotingWeightAllocation(ABC):
    """A mechanism with its parameters, a frozen dataclass.

    Class attributes
    ----------------
    name
        Registered name.
    reads_compatibility
        Whether shares depend on it.
    """

    name: ClassVar[str]
    reads_compatibility: ClassVar[bool] = False

    def check(self, stakeholders: Sequence[str]) -> None:
        """Stop if a parameter names somebody who does not exist; nothing is named here."""
        del stakeholders

    @abstractmethod
    def shares(self, names: Sequence[str], fairness: Values, compatibility: Values, weights: Values) -> Values:
        """Return the share of each stakeholder, at least 0, with sum at most 1; what is missing goes to nobody.

        Parameters
        ----------
        names
            Of the stakeholders who may be given voting weight, at least one.
        fairness, compatibility
            m and c in [0, 1], shape (stakeholder,).
        weights
            Above 0, shape (stakeholder,); mechanisms with scores multiply by them [ours].
        """


register = weight_allocations.named


def normalised(scores: Values) -> Values:
    """Return scores over their sum; 0 for all, so that nobody is served, if all scores are 0."""
    total = scores.sum()
    return np.asarray(scores / total if total > 0 else np.zeros_like(scores))


def only(position: int, size: int) -> Values:
    """Return the shares that give one stakeholder everything."""
    shares = np.zeros(size)
    shares[position] = 1.0
    return shares


def first_largest(scores: Values) -> int:
    """Return the position of the largest score; ties, but for rounding, go to the stakeholder declared first."""
    return int(np.flatnonzero(scores >= scores.max() - TIE_TOLERANCE)[0])


class Standing(NamedTuple):
    """Those who may be given voting weight: m and c in [0, 1] and weights w, each of shape (stakeholder,)."""

    m: Values
    c: Values
    w: Values


@dataclass(frozen=True)
class Formula(VotingWeightAllocation):
    """A mechanism without parameters; `formula` gives its shares, shape (stakeholder,)."""

    formula: ClassVar[staticmethod[[Standing], Values]]

    def shares(self, names: Sequence[str], fairness: Values, compatibility: Values, weights: Values) -> Values:
        """Return shares."""
        del names
        return self.formula(Standing(fairness, compatibility, weights))


# name, whether it reads compatibility, what it is, and the formula
FORMULAS: tuple[tuple[str, bool, str, Callable[[Standing], Values]], ...] = (
    ("random", False,
     "Shares in proportion to weights, whatever happened before; all the same if weights are, as in SCRUF-D.",
     lambda of: normalised(of.w)),
    ("fairness_lottery", False, "Shares ∝ 1 − m_i, as in the official code of SCRUF-D.",
     lambda of: normalised(of.w * (1.0 - of.m))),
    ("least_fair", False, "All to the smallest m_i, as in SCRUF-D; among ties to the first declared [ours].",
     lambda of: only(first_largest(-of.m), len(of.m))),
    ("most_compatible", True, "All to the largest c_i, as in SCRUF-D; among ties to the first declared [ours].",
     lambda of: only(first_largest(of.c), len(of.c))),
    ("product", True, "Shares ∝ (1 − m_i) c_i, as in the official code of SCRUF-D.",
     lambda of: normalised(of.w * (1.0 - of.m) * of.c)),
)  # fmt: skip

for _name, _reads, _about, _formula in FORMULAS:
    weight_allocations.define(
        _name, _name, Formula, __name__, reads_compatibility=_reads, formula=staticmethod(_formula), __doc__=_about
    )


@register("static_lottery")
@dataclass(frozen=True)
class StaticLottery(VotingWeightAllocation):
    """Declared shares; a sum below 1 leaves the rest to nobody, a larger one is scaled to 1, as in SCRUF-D.

    Parameters
    ----------
    chances
        Stakeholder to its share, at least 0; others get none.

    Raises `InputError` if a share is negative or not finite, or there is none.
    """

    chances: Mapping[str, float]

    def __post_init__(self) -> None:
        wrong = [name for name, chance in self.chances.items() if not (np.isfinite(chance) and chance >= 0)]
        if wrong or not self.chances:
            raise InputError(f"chances are {dict(self.chances)!r:.80}; allowed: finite numbers of at least 0 by name")

    def check(self, stakeholders: Sequence[str]) -> None:
        """Raise `UnknownNameError` if a share is for somebody who does not exist."""
        for name in self.chances:
            if name not in stakeholders:
                raise UnknownNameError("stakeholder in chances:", name, stakeholders)

    def shares(self, names: Sequence[str], fairness: Values, compatibility: Values, weights: Values) -> Values:
        """Return shares; whoever has no weight gets none, and leaves it to nobody."""
        del fairness, compatibility, weights
        chances = np.array([self.chances.get(name, 0.0) for name in names], dtype=np.float64)
        return np.asarray(chances / max(1.0, sum(self.chances.values())))


@register("weighted_product")
@dataclass(frozen=True)
class WeightedProduct(VotingWeightAllocation):
    """Shares ∝ (1 − m_i)^e1 c_i^e2, as in the official code of SCRUF-D.

    Parameters
    ----------
    fairness_exponent, compatibility_exponent
        e1 and e2, at least 0; 0 leaves a factor out.

    Raises `InputError` if an exponent is negative or not finite.
    """

    reads_compatibility: ClassVar[bool] = True

    fairness_exponent: float = 2.0
    compatibility_exponent: float = 1.0

    def __post_init__(self) -> None:
        for name in ("fairness_exponent", "compatibility_exponent"):
            exponent = getattr(self, name)
            if not (np.isfinite(exponent) and exponent >= 0):
                raise InputError(f"{name} is {exponent}; allowed: a finite number of at least 0")

    def shares(self, names: Sequence[str], fairness: Values, compatibility: Values, weights: Values) -> Values:
        """Return shares."""
        del names
        behind = (1.0 - fairness) ** self.fairness_exponent
        return normalised(weights * behind * compatibility**self.compatibility_exponent)
