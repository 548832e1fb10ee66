"""Floors: never an action that leaves a stakeholder with less than a declared expected reward."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from accordant.arrays import Values
from accordant.errors import InputError
from accordant.strategies.block import Block
from accordant.strategies.constraints.declaration import is_share, position

STATUS_QUO = "status_quo"


@dataclass(frozen=True)
class Floors:
    """The least expected reward r_i that an action must leave each stakeholder: E[i, a, t] ≥ r_i.

    Attributes
    ----------
    levels
        A number in [0, 1] or ``"status_quo"`` (what the status quo gives in the context) for everybody, or a mapping
        from stakeholder to one of these; who is not named has no floor.
    status_quo
        The action of ``"status_quo"``.
    """

    levels: float | str | Mapping[str, float | str]
    status_quo: str | None = None

    def __post_init__(self) -> None:
        for level in self.levels.values() if isinstance(self.levels, Mapping) else (self.levels,):
            if level != STATUS_QUO and not is_share(level):
                raise InputError(
                    f"floors: {level!r} is no floor; allowed: a number in [0, 1] or {STATUS_QUO!r}, for everybody or "
                    "by stakeholder"
                )

    @property
    def need_status_quo(self) -> bool:
        """Whether a floor is what the status quo gives."""
        return STATUS_QUO in (self.levels.values() if isinstance(self.levels, Mapping) else (self.levels,))

    @property
    def stated(self) -> bool:
        """Whether every floor is a number."""
        return not self.need_status_quo

    @property
    def label(self) -> str:
        """The floors as a leaderboard shows them, such as ``Applicant >= 0.3``."""
        if isinstance(self.levels, Mapping):
            return ", ".join(f"{name} >= {_shown(level)}" for name, level in self.levels.items())
        return f"everybody >= {_shown(self.levels)}"

    def lift(self, levels: Values, block: Block) -> None:
        """Raise `levels`, shape (stakeholder, context), in place, to the floors."""
        named: Any = self.levels
        if not isinstance(named, Mapping):
            named = dict.fromkeys(block.stakeholders, named)
        for name, level in named.items():
            i = position("stakeholder in floors:", name, block.stakeholders)
            np.maximum(levels[i], self._status_quo(block, i) if level == STATUS_QUO else level, out=levels[i])

    def _status_quo(self, block: Block, i: int) -> Values:
        if self.status_quo is None:
            raise InputError("floors 'status_quo' need the parameter status_quo, an action")
        return np.asarray(block.values[i, position("action", self.status_quo, block.actions)])


def _shown(level: Any) -> str:
    return str(level) if isinstance(level, str) else f"{level:g}"
