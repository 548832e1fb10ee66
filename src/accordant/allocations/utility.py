"""How much somebody likes an allocation, and the band of utility that is still asked for as time passes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from accordant.arrays import Values
from accordant.errors import InputError


@runtime_checkable
class Utility(Protocol):
    """A number per allocation; only differences and order within one scenario mean anything."""

    def of(self, shares: Values) -> Values:
        """Return the utility of allocations, shape (option,), from shares of shape (option, patient)."""
        ...

    def to_json(self) -> Any:
        """Return what a transcript says of it."""
        ...


@dataclass(frozen=True, eq=False)
class AdditiveUtility:
    """A value for meeting the whole demand of each patient; parts of the demand count in proportion.

    Parameters
    ----------
    values
        Finite numbers, shape (patient,), in the order of the scenario's ids.
    """

    values: Values

    def __post_init__(self) -> None:
        array = np.array(self.values, dtype=np.float64)
        if array.ndim != 1 or not np.isfinite(array).all():
            raise InputError(f"values of patients have shape {array.shape}; allowed: one finite number per patient")
        array.setflags(write=False)
        object.__setattr__(self, "values", array)

    def of(self, shares: Values) -> Values:
        """Return Σ_i v_i x_i."""
        return np.asarray(shares @ self.values)

    def to_json(self) -> list[float]:
        """Return the values."""
        return [float(value) for value in self.values]


def band(exponent: float, time: float) -> float:
    """Return 1 − t^e, in [0, 1]; 1 at every time, the last included, for an infinite exponent.

    Linear form of the time-dependent tactics of Faratin, Sierra and Jennings (1998), with their 1/β written as e.

    `exponent`: e above 0; `time`: in [0, 1].
    """
    return 1.0 if math.isinf(exponent) else 1.0 - float(time**exponent)
