"""Floors: lists that leave no stakeholder below a declared normalised utility.

`Floored` is another rule with its lists repaired where they break a floor, `repair_lists` the repair, and
`BlockRepairs` the same list by list, for rules that decide in the order of time. The exchanges that cost least, the
exact search for one user and the bounds that prove that no list holds all floors are in
`accordant.slates.rules.floor_exchanges`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from accordant.arrays import Codes, Mask, Values
from accordant.errors import InputError, UnknownNameError
from accordant.slates.candidates import Candidates
from accordant.slates.rule import InOrder, Repair, SlateRule, register, rules
from accordant.slates.rules.floor_exchanges import FLOOR_TOLERANCE, RepairState, best_list, provably_infeasible, repair
from accordant.slates.rules.greedy import gains_for_lengths
from accordant.slates.slates import NOTHING, Slates, State
from accordant.strategies.constraints.declaration import FrozenMapping, declared, is_share, only_keys
from accordant.strategies.reductions import weighted_sum


@dataclass(frozen=True, eq=False)
class RepairedLists:
    """Lists of some users after the repair, shape (user, k), and what became of each, shape (user,).

    Whether the repair broke a tie or changed the list, whether a floor is missed, and whether it is proved that no list
    holds all of them. `shortfall` says by how much each floor is missed, shape (stakeholder, user); 0 without one.
    """

    items: Codes
    tied: Mask
    changed: Mask
    unmet: Mask
    impossible: Mask
    shortfall: Values


def repair_state(items: Codes, lengths: Codes, levels: Values, candidates: Candidates) -> RepairState:
    """Return lists as they are before the repair; `levels` are floors, NaN for who has none, shape (stakeholder,).

    Lists of shape (user, k) are copied; `lengths` say how many items each has.
    """
    who = ~np.isnan(levels)
    gains = gains_for_lengths(candidates, who, lengths)
    least = np.where(gains.sided, levels[who][:, None], -np.inf)
    free, worth = candidates.available.copy(), np.empty(candidates.available.shape)
    users, places = np.nonzero(items != NOTHING)
    free[items[users, places], users] = False
    weighted_sum(candidates.values, candidates.weights / candidates.weights.sum(), worth)
    return RepairState(items.copy(), free, gains, least, worth, candidates.totals)


def repair_lists(shelf: RepairState, levels: Values) -> RepairedLists:
    """Return lists that hold the floors where that is possible; order and places of kept items do not change."""
    before = shelf.items.copy()
    tied = repair(shelf)
    open_ = shelf.unmet()
    impossible = np.zeros(len(before), dtype=bool)
    if open_.any():
        impossible[open_] = provably_infeasible(shelf, np.flatnonzero(open_))
    for user in np.flatnonzero(open_ & ~impossible).tolist():
        solution = best_list(shelf, user)
        impossible[user] = solution.impossible
        if solution.items is not None:
            shelf.replace(user, solution.items)
            tied[user] = solution.tied  # whatever exchanges came before, this list is the best one
    shortfall = np.zeros((len(levels), len(before)))
    shortfall[~np.isnan(levels)] = shelf.shortfall()
    items, by_order = shelf.in_place_of(before)
    return RepairedLists(items, tied | by_order, (items != before).any(axis=1), shelf.unmet(), impossible, shortfall)


class BlockRepairs:
    """Repairs of the lists of a block of users, one after the other, each before it is shown.

    Lists are as long as what may be shown allows; `done` is what became of the lists so far.
    """

    def __init__(self, candidates: Candidates, k: int, levels: Values) -> None:
        n_users = candidates.n_users
        lengths = np.minimum(k, candidates.available.sum(axis=0))
        empty = np.full((n_users, k), NOTHING, dtype=np.intp)
        self._levels, self._shelf = levels, repair_state(empty, lengths, levels, candidates)
        tied, changed, unmet, impossible = (np.zeros(n_users, dtype=bool) for _ in range(4))
        self.done = RepairedLists(empty, tied, changed, unmet, impossible, np.zeros((len(levels), n_users)))

    def repaired_list(self, u: int, items: Codes) -> Codes:
        """Return the list that is shown to a user of the block, shape (k,), in place of the one that is given."""
        shelf, done = self._shelf, self.done
        shown = items[items != NOTHING]
        done.items[u] = items
        reached = shelf.gains.values[:, shown, u].sum(axis=1)
        if (reached >= shelf.least[:, u] - FLOOR_TOLERANCE / 2).all():
            return items
        shelf.items[u] = items
        alone = shelf.alone(u)
        alone.free[shown, 0] = False
        lists = repair_lists(alone, self._levels)
        done.items[u], done.tied[u], done.shortfall[:, u] = lists.items[0], lists.tied[0], lists.shortfall[:, 0]
        done.changed[u], done.unmet[u], done.impossible[u] = lists.changed[0], lists.unmet[0], lists.impossible[0]
        return np.asarray(lists.items[0])


def join_repairs(parts: list[RepairedLists]) -> RepairedLists:
    """Return the lists of several blocks of users as one."""
    return RepairedLists(
        np.concatenate([part.items for part in parts]),
        np.concatenate([part.tied for part in parts]),
        np.concatenate([part.changed for part in parts]),
        np.concatenate([part.unmet for part in parts]),
        np.concatenate([part.impossible for part in parts]),
        np.concatenate([part.shortfall for part in parts], axis=1),
    )


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
        object.__setattr__(self, "rule", FrozenMapping(name=inner.name, parameters=declared(inner.parameters)))

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
        return self._told(slates, parts or [BlockRepairs(candidates, k, levels).done])

    def fill(self, candidates: Candidates, k: int) -> Slates:
        """Return the slates of one block of users."""
        return self(candidates, k)

    def _of_block(self, slates: Slates, candidates: Candidates, levels: Values) -> RepairedLists:
        return repair_lists(repair_state(slates.items, slates.lengths, levels, candidates), levels)

    def _in_order(self, rule: InOrder, candidates: Candidates, k: int, state: State | None, levels: Values) -> Slates:
        """Return lists that are repaired before the next user is served."""
        benches: list[BlockRepairs] = []

        def repairs_of(block: Candidates) -> Repair:
            """Return the repairs of one block."""
            benches.append(BlockRepairs(block, k, levels))
            return benches[-1].repaired_list

        slates = rule.serve(candidates, k, state, repairs_of)
        return self._told(slates, [bench.done for bench in benches] or [BlockRepairs(candidates, k, levels).done])

    def _told(self, slates: Slates, parts: list[RepairedLists]) -> Slates:
        """Return the slates of the rule with what repairs made of them."""
        done = join_repairs(parts)
        flags = {"changed": done.changed, "floor_unmet": done.unmet, "floor_impossible": done.impossible}
        return Slates(
            self.label, slates.item_names, done.items, slates.tied | done.tied,
            {**slates.flags, **flags}, {**slates.quantities, "shortfall": done.shortfall},
        )  # fmt: skip

    @property
    def label(self) -> str:
        """Rule and floors, ``floored[leximin_slate; Locals >= 0.3]``."""
        named = self.floors if isinstance(self.floors, Mapping) else {"everybody": self.floors}
        return f"{self.name}[{self.inner.label}; {', '.join(f'{who} >= {floor:g}' for who, floor in named.items())}]"

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
