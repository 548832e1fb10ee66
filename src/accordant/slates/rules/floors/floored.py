"""Floored: the lists of another rule, repaired where they leave a stakeholder below its floor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from accordant.arrays import Values
from accordant.errors import InputError, UnknownNameError
from accordant.slates.candidates import Candidates
from accordant.slates.rule import SlateRule, register, rules
from accordant.slates.rules.floors.repair import Bench, Mended, mended, shelf_of, together
from accordant.slates.rules.in_order import InOrder, Mend
from accordant.slates.slates import Slates
from accordant.slates.state import State
from accordant.strategies.constraints.declaration import Declared, declared, is_share, only_keys


@register("floored")
@dataclass(frozen=True)
class Floored(SlateRule):
    """Keep the list of a rule where all floors hold, and repair it where they do not.

    A floor holds if the normalised utility (`Gains.attained`) reaches it, or all lists are alike for the stakeholder.
    Repairs exchange items, one after the other, each time those that cost least weighted expected reward per unit by
    which the floors are missed. Where exchanges end below a floor, an exact search takes over: it finds the list with
    the highest weighted sum among those that hold all floors, or proves that there is none. A repaired list is no
    shorter than before. It holds the floors, but need not be the best such list: exchanges are greedy. A search takes
    about 0.01 s for most users, and 0.3 to 1 s for each whose floors are just out of reach, so that many such users
    take minutes [measured on one core, 5 stakeholders, lists of 10].

    Repairs are part of the rule: where a list depends on those before it, as in `Dynamic`, each is repaired before the
    next user is served, and the history is that of the lists that were shown. The rule is of the kind of the rule
    inside. ``tied`` says whether a tie was broken in the list of the rule inside, between exchanges, between lists that
    the search found level, or where a new item was put.

    ``changed`` flags repaired lists, ``floor_unmet`` lists below a floor, and ``floor_impossible`` those of them for
    which it is proved that no list of this length holds all floors; they fall short by less in sum than the list of the
    rule alone, or by as much. The quantity ``shortfall``, shape (stakeholder, user), says by how much.

    Parameters
    ----------
    rule
        Name of a registered rule, ``{"name": …, "parameters": {…}}``, or a rule.
    floors
        The least normalised utility in [0, 1]: stakeholder to number, or one number for everybody who has a say. A
        floor of a stakeholder with weight 0 counts as any other.
    """

    rule: str | Mapping[str, Any] | SlateRule
    floors: float | Mapping[str, float]

    @classmethod
    def line_up(cls, stakeholders: Sequence[str], user: str | None, n_items: int) -> tuple[SlateRule, ...]:
        """Return nothing: floors are put on rules by whoever declares them."""
        del stakeholders, user, n_items
        return ()

    def __post_init__(self) -> None:
        inner = self.inner
        if isinstance(inner, Floored):
            raise InputError(f"the rule to be floored is {inner.label}, itself floored; put all floors side by side")
        for level in self.floors.values() if isinstance(self.floors, Mapping) else (self.floors,):
            if not is_share(level):
                raise InputError(f"floors: {level!r} is no floor; allowed: a number in [0, 1], for everybody or by "
                                 "stakeholder")  # fmt: skip
        object.__setattr__(self, "kind", inner.kind)
        object.__setattr__(self, "floors", declared(self.floors))
        object.__setattr__(self, "rule", Declared(name=inner.name, parameters=declared(inner.parameters)))

    @cached_property
    def inner(self) -> SlateRule:
        """The rule whose lists are repaired."""
        if isinstance(self.rule, SlateRule):
            return self.rule
        if isinstance(self.rule, str):
            return rules.create(self.rule)
        read = only_keys("rule", self.rule, ("name",), ("parameters",))
        return rules.create(read["name"], read.get("parameters"))

    def __call__(
        self, candidates: Candidates, k: int, *, state: State | None = None, threads: int | None = None
    ) -> Slates:
        """Return a list of at most k items for every user; see `SlateRule`."""
        levels = self._levels(candidates)
        if isinstance(self.inner, InOrder):
            return self._in_order(self.inner, candidates, k, state, levels)
        slates = self.inner(candidates, k, state=state, threads=threads)
        parts = [self._of_block(slates.take(part), candidates.take(part), levels) for part in candidates.slices()]
        return self._told(slates, parts or [Bench(candidates, k, levels).done])

    def fill(self, candidates: Candidates, k: int) -> Slates:
        """Return the slates of one block of users."""
        return self(candidates, k)

    def _of_block(self, slates: Slates, candidates: Candidates, levels: Values) -> Mended:
        return mended(shelf_of(slates.items, slates.lengths, levels, candidates), levels)

    def _in_order(self, rule: InOrder, candidates: Candidates, k: int, state: State | None, levels: Values) -> Slates:
        """Return lists that are repaired before the next user is served."""
        benches: list[Bench] = []

        def mending(block: Candidates) -> Mend:
            """Return the repairs of one block."""
            benches.append(Bench(block, k, levels))
            return benches[-1].mend

        slates = rule.serve(candidates, k, state, mending)
        return self._told(slates, [bench.done for bench in benches] or [Bench(candidates, k, levels).done])

    def _told(self, slates: Slates, parts: list[Mended]) -> Slates:
        """Return the slates of the rule with what repairs made of them."""
        done = together(parts)
        flags = {"changed": done.changed, "floor_unmet": done.unmet, "floor_impossible": done.impossible}
        return Slates(
            self.label, slates.item_names, done.items, slates.tied | done.tied,
            {**slates.flags, **flags}, {**slates.quantities, "shortfall": done.shortfall},
        )  # fmt: skip

    @property
    def label(self) -> str:
        """Rule and floors, ``floored[leximin_slate; Locals >= 0.3]``."""
        named = self.floors if isinstance(self.floors, Mapping) else {"everybody": self.floors}
        return f"{self.name}[{self.inner.label}; {', '.join(f'{who} >= {each:g}' for who, each in named.items())}]"

    def _levels(self, candidates: Candidates) -> Values:
        """Return the floor of each stakeholder, NaN for who has none, shape (stakeholder,)."""
        if not isinstance(self.floors, Mapping):
            return np.where(candidates.weights > 0, float(self.floors), np.nan)
        levels = np.full(len(candidates.stakeholders), np.nan)
        for name, level in self.floors.items():
            if name not in candidates.stakeholders:
                raise UnknownNameError("stakeholder in floors:", name, candidates.stakeholders)
            levels[candidates.stakeholders.index(name)] = level
        return levels
