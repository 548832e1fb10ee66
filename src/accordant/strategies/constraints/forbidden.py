"""Forbidden actions: what must not be done in contexts of a declared kind, whatever the rewards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from accordant.contexts import Contexts
from accordant.errors import InputError
from accordant.problem import value_label
from accordant.strategies.constraints.declaration import names_of, only_keys, position


@dataclass(frozen=True)
class Prohibition:
    """Some actions are forbidden where each named column has one of the named values.

    Attributes
    ----------
    actions
        What is forbidden.
    where
        Column to values, written as texts: 1, 1.0 and True are all ``"1"``; a missing number is ``"nan"``, a missing
        text ``""``. No columns at all means everywhere.
    """

    actions: tuple[str, ...]
    where: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(cls, given: Any) -> Self:
        """Read ``{"actions": …, "where": {column: value or values}}``."""
        read = only_keys("a prohibition in forbidden", given, ("actions",), ("where",))
        where = read.get("where", {})
        if not isinstance(where, Mapping):
            raise InputError(f"forbidden.where is {where!r}; allowed: a mapping from column to a value or values")
        values = {name: each if isinstance(each, list | tuple) else (each,) for name, each in where.items()}
        for name, each in values.items():
            if not each or None in each:
                raise InputError(
                    f"forbidden.where.{name} is {where[name]!r}, which no context has; allowed: a value or several, "
                    "'nan' for a missing number, '' for a missing text"
                )
        return cls(
            names_of("forbidden.actions", read["actions"]),
            {name: tuple(map(value_label, each)) for name, each in values.items()},
        )

    @property
    def label(self) -> str:
        """The prohibition as a leaderboard shows it, such as ``no Grant if region = south``."""
        where = " and ".join(f"{name} = {' or '.join(values)}" for name, values in self.where.items())
        return f"no {', '.join(self.actions)}" + f" if {where}" * bool(where)

    def applies(self, contexts: Contexts | None, n_contexts: int) -> NDArray[np.bool_]:
        """Return where the actions are forbidden, shape (context,)."""
        found = np.ones(n_contexts, dtype=bool)
        for name, values in self.where.items():
            if contexts is None:
                raise InputError(f"forbidden actions read the column {name!r}; pass contexts=")
            kinds, inverse = np.unique(contexts[name], return_inverse=True)
            found &= np.isin([value_label(kind) for kind in kinds], values)[inverse]
        return found


def forbidden_actions(
    prohibitions: tuple[Prohibition, ...], actions: tuple[str, ...], contexts: Contexts | None, n_contexts: int
) -> NDArray[np.bool_]:
    """Return which actions are forbidden, shape (action, context).

    Raises
    ------
    InputError
        If contexts are needed and missing, or all actions are forbidden in one of them.
    """
    found = np.zeros((len(actions), n_contexts), dtype=bool)
    for each in prohibitions:
        rows = [position("forbidden action", name, actions) for name in each.actions]
        found[rows] |= each.applies(contexts, n_contexts)
    nothing_left = np.flatnonzero(found.all(axis=0))
    if nothing_left.size:
        raise InputError(
            f"every action is forbidden in {nothing_left.size} contexts, the first of them context {nothing_left[0]}; "
            "at least one must be left"
        )
    return found
