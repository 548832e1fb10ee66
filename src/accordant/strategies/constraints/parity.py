"""Parity: rates of favourable actions in two groups differ by at most ε (demographic parity, Dwork et al. 2012)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from accordant.arrays import Mask
from accordant.contexts import Contexts
from accordant.errors import InputError
from accordant.evidence import Groups
from accordant.problem import value_label
from accordant.strategies.constraints.declaration import is_share, names_of, only_keys, position


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
        found = np.zeros(len(actions), dtype=bool)
        found[[position("favourable action", name, actions) for name in self.favourable]] = True
        return found

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
