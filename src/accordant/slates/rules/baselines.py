"""Baselines: lists at random, and lists that only one stakeholder chose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from accordant.errors import UnknownNameError
from accordant.randomness import keyed_seed
from accordant.slates.candidates import Candidates, best_items
from accordant.slates.rule import Kind, SlateRule, check_places, empty, register
from accordant.slates.slates import Slates, State, join_slates


@register("random_slate")
@dataclass(frozen=True)
class RandomSlate(SlateRule):
    """Draw k of the items that may be shown, every list with the same probability.

    The draw depends on the seed, on the position of the user in the call and on how many slates were shown before,
    so that successive batches get different lists. It does not depend on blocks, threads, or E.
    """

    kind: ClassVar[Kind] = "baseline"

    seed: int = 0

    def __call__(
        self, candidates: Candidates, k: int, *, state: State | None = None, threads: int | None = None
    ) -> Slates:
        """Return a drawn list for every user; see `SlateRule`."""
        del threads
        check_places(k)
        past = 0 if state is None else state.served
        draws = np.random.default_rng(keyed_seed(self.seed, f"random_slate:{past}"))
        parts = [self._drawn(candidates.take(part), k, draws) for part in candidates.slices()]
        return join_slates(parts) if parts else empty(self.label, candidates, k)

    def fill(self, candidates: Candidates, k: int) -> Slates:
        """Return drawn lists of the first users."""
        return self(candidates, k)

    def _drawn(self, candidates: Candidates, k: int, draws: np.random.Generator) -> Slates:
        """Draw a number for each item, user after user, and take the highest; nothing counts as a tie."""
        scores = draws.random((candidates.n_users, len(candidates.items))).T
        items = best_items(scores, candidates.totals, candidates.available, k, candidates.tolerance).items
        return Slates(self.label, candidates.items, items, np.zeros(candidates.n_users, dtype=bool))


@register("stakeholder_slate")
@dataclass(frozen=True)
class StakeholderSlate(SlateRule):
    """The best k items of one stakeholder, who may have weight 0."""

    kind: ClassVar[Kind] = "baseline"

    stakeholder: str

    @classmethod
    def line_up(cls, stakeholders: Sequence[str], user: str | None, n_items: int) -> tuple[SlateRule, ...]:
        """Return the list of each stakeholder."""
        del user, n_items
        return tuple(cls(name) for name in stakeholders)

    def fill(self, candidates: Candidates, k: int) -> Slates:
        """Return the best items of the stakeholder."""
        if self.stakeholder not in candidates.stakeholders:
            raise UnknownNameError("stakeholder", self.stakeholder, candidates.stakeholders)
        scores = candidates.values[candidates.stakeholders.index(self.stakeholder)]
        best = best_items(scores, candidates.totals, candidates.available, k, candidates.tolerance)
        return Slates(self.label, candidates.items, best.items, best.tied)

    @property
    def label(self) -> str:
        """``stakeholder:`` and the name, as among strategies."""
        return f"stakeholder:{self.stakeholder}"
