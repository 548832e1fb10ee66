"""What couples the contexts of a batch: places for capped actions, and favourable counts of groups."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from accordant.arrays import Codes, Integers, Mask, Values
from accordant.evidence import Groups
from accordant.strategies.constraints.batch import Batch
from accordant.strategies.constraints.budgets import Capacities
from accordant.strategies.constraints.parity import Parity


@dataclass(frozen=True, eq=False)
class Coupling:
    """The rows of the linear programme that several contexts share, see `programme`.

    Attributes
    ----------
    capped
        Codes of the capped actions, shape (budget,).
    places
        How many contexts may get each of them, shape (budget,).
    favourable
        Which actions are favourable, shape (action,).
    within
        ε.
    group
        Group of each context, shape (context,).
    sizes
        Contexts of each group, those outside the programme included, shape (group,). Without parity there is no group.
    fixed
        Favourable contexts of each group that are outside the programme, shape (group,).
    """

    capped: Codes
    places: Values
    favourable: Mask
    within: float
    group: Codes
    sizes: Values
    fixed: Values

    @classmethod
    def of(cls, batch: Batch, capacities: Capacities, groups: Groups | None, parity: Parity | None) -> Self:
        """Collect what budgets and parity demand of a batch."""
        capped = np.array(list(capacities), dtype=np.intp)
        places = np.array(list(capacities.values()), dtype=np.float64)
        if groups is None or parity is None:
            none, nobody = np.zeros(len(batch.actions), dtype=bool), np.zeros(0)
            return cls(capped, places, none, 0.0, np.zeros(batch.n_contexts, dtype=np.intp), nobody, nobody)
        sizes = np.bincount(groups.codes, minlength=len(groups.labels)).astype(np.float64)
        mask = parity.mask(batch.actions)
        return cls(capped, places, mask, parity.within, groups.codes, sizes, np.zeros(len(sizes)))

    @property
    def n_rows(self) -> int:
        """Number of shared rows: budgets, lower and upper ends of the window for each group."""
        return len(self.capped) + 2 * len(self.sizes)

    def sample(self, rows: Codes) -> Coupling:
        """Return what some contexts would owe if they were the whole batch, in proportion."""
        group, share = self.group[rows], len(rows) / max(1, len(self.group))
        sizes = np.bincount(group, minlength=len(self.sizes)).astype(np.float64)[: len(self.sizes)]
        return replace(self, places=self.places * share, group=group, sizes=sizes, fixed=np.zeros(len(sizes)))

    def left(self, codes: Integers, core: Mask) -> Coupling:
        """Return what is left for the contexts in `core` if all others get the action in `codes`."""
        used = np.bincount(codes[~core], minlength=len(self.favourable))
        taken = self.favourable[codes] & ~core
        fixed = np.bincount(self.group[taken], minlength=len(self.sizes))[: len(self.sizes)]
        return replace(self, places=self.places - used[self.capped], group=self.group[core], fixed=self.fixed + fixed)

    def charges(self, prices: Values) -> Values:
        """Return what each action pays in each group for the shared rows it uses, shape (action, group or 1)."""
        n_budgets, n_groups = len(self.capped), len(self.sizes)
        found = np.zeros((len(self.favourable), max(1, n_groups)))
        found[self.capped] += prices[:n_budgets, None]
        if n_groups:
            found[self.favourable] += prices[n_budgets + n_groups :] - prices[n_budgets : n_budgets + n_groups]
        return found
