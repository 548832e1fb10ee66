"""`Threat`: who may misreport, by how much, and what stays as it is."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from accordant.arrays import Mask, Values
from accordant.errors import InputError, UnknownNameError
from accordant.kernels import compiled
from accordant.utilities import ExpectedRewards

UNIT = (0.0, 1.0)


@dataclass(frozen=True)
class Threat:
    """What is assumed about misreports.

    Every member of the coalition may report any expected rewards within δ of the honest ones, entry by entry, that lie
    in the box; the reports of everybody else, and of other contexts, do not move. With ``box=(μ, 1 − μ)`` this is the
    perturbation set of Vineis, Perelli and Tolomei (2025, Definition 15) without its condition on δ, which the box
    makes unnecessary.

    Parameters
    ----------
    delta
        Radius δ, at least 0, in units of expected reward.
    coalition
        Names of stakeholders; None for everybody, empty for nobody.
    box
        (ℓ, r) with 0 ≤ ℓ < r ≤ 1, the smallest and largest report; honest rewards outside a smaller box than [0, 1] are
        clipped into it first.
    frozen
        Whether reference points stay where honest reports put them: a weaker threat than the live one, in which
        misreports also move reference points that come from the context.

    Raises
    ------
    InputError
        If δ is negative or no number, or the box is no interval in [0, 1].
    """

    delta: float
    coalition: tuple[str, ...] | None = None
    box: tuple[float, float] = UNIT
    frozen: bool = False

    def __post_init__(self) -> None:
        delta = _number(self.delta)
        if not 0 <= delta < math.inf:
            raise InputError(f"delta is {self.delta}; allowed: a finite number of at least 0")
        object.__setattr__(self, "delta", delta)
        object.__setattr__(self, "coalition", checked_coalition(self.coalition))
        limits = tuple(map(_number, self.box)) if isinstance(self.box, Sequence | np.ndarray) else ()
        if len(limits) != 2 or not 0 <= limits[0] < limits[1] <= 1:
            raise InputError(f"box is {self.box}; allowed: two numbers with 0 <= low < high <= 1")
        object.__setattr__(self, "box", limits)

    def within(self, delta: float) -> Threat:
        """Return the same threat with another radius."""
        return replace(self, delta=delta)

    def members(self, stakeholders: Sequence[str]) -> Mask:
        """Return who may misreport, shape (stakeholder,).

        Raises
        ------
        UnknownNameError
            If somebody in the coalition is no stakeholder.
        """
        if self.coalition is None:
            return np.ones(len(stakeholders), dtype=bool)
        for name in self.coalition:
            if name not in stakeholders:
                raise UnknownNameError("stakeholder in coalition:", name, stakeholders)
        return np.array([name in self.coalition for name in stakeholders], dtype=bool)

    def honest(self, expected: ExpectedRewards) -> ExpectedRewards:
        """Return E clipped into the box; E itself if it lies in it."""
        if self.box == UNIT:
            return expected
        return ExpectedRewards(
            np.clip(expected.values, *self.box), stakeholders=expected.stakeholders, actions=expected.actions
        )

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        coalition = None if self.coalition is None else list(self.coalition)
        return {"delta": self.delta, "coalition": coalition, "box": list(self.box), "frozen": self.frozen}


def checked_coalition(coalition: str | Iterable[str] | None) -> tuple[str, ...] | None:
    """Return the names of a coalition, each once; a single name is a coalition of one."""
    if coalition is None:
        return None
    if isinstance(coalition, str):
        return (coalition,)
    if not isinstance(coalition, Iterable):
        raise InputError(f"coalition is {coalition!r}; allowed: names of stakeholders, or None for everybody")
    return tuple(dict.fromkeys(map(str, coalition)))


def _number(value: Any) -> float:
    if isinstance(value, str | bool):
        return math.nan
    try:
        return float(value)
    except (TypeError, ValueError):
        return math.nan


@compiled
def reports_within(
    honest: Values, members: Mask, delta: Values, low: float, high: float, lowest: Values, highest: Values
) -> None:
    """Write the smallest and largest report of every entry, shape (stakeholder, action, context).

    In NumPy::

        who = members[:, None, None]
        lowest[:] = np.where(who, np.minimum(honest, np.maximum(honest - delta, low)), honest)
        highest[:] = np.where(who, np.maximum(honest, np.minimum(honest + delta, high)), honest)

    Parameters
    ----------
    honest
        E, shape (stakeholder, action, context).
    members
        Who may misreport, shape (stakeholder,).
    delta
        Radius in every context, shape (context,).
    low, high
        The box; entries beyond it, by rounding, stay where they are.
    lowest, highest
        Where the results go.
    """
    n_stakeholders, n_actions, n_contexts = honest.shape
    for i in range(n_stakeholders):
        for a in range(n_actions):
            row, below, above = honest[i, a], lowest[i, a], highest[i, a]
            if members[i]:
                for t in range(n_contexts):
                    value, least, most = row[t], row[t] - delta[t], row[t] + delta[t]
                    least, most = (least if least > low else low), (most if most < high else high)
                    below[t] = least if least < value else value
                    above[t] = most if most > value else value
            else:
                below[:] = row
                above[:] = row
