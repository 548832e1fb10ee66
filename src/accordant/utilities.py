"""Expected rewards: the one object in the middle, made by learning and read by everything else."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import real_array
from accordant.errors import InputError, RewardError, UnknownNameError
from accordant.faces import Displayed
from accordant.frame_schema import FrameSchema

TOLERANCE = 1e-9  # how far rounding may carry an expectation of rewards outside [0, 1]
SINGLE_PRECISION_TOLERANCE = 1e-6  # the same for float32, which carries seven digits


@dataclass(frozen=True, eq=False)
class ExpectedRewards(Displayed):
    """``E[i, a, t]``: the expected reward of stakeholder i if action a is taken in context t.

    Parameters
    ----------
    values
        Array-like of shape (stakeholder, action, context), or (stakeholder, action) for one context;
        in [0, 1]. Kept as one C-contiguous array, float32 if given so, float64 otherwise; copied and read-only, so
        that nobody changes it afterwards. Two kinds of arrays are not copied, and must not be changed while E is in
        use: a mapped file, and an array that is read-only already (``array.flags.writeable = False``).
    stakeholders, actions
        Names of the first two axes.
    schema
        What kind of frame the contexts came in, for `to_frame`.

    Raises
    ------
    RewardError
        If a value is NaN or outside [0, 1] by more than 1e-9 (float32: 1e-6); names context, stakeholder and action.
    InputError
        If shapes and names do not match, or it is a sparse or masked array, or one of complex numbers or text.
    """

    values: NDArray[np.floating[Any]]
    stakeholders: tuple[str, ...]
    actions: tuple[str, ...]
    schema: FrameSchema

    def __init__(
        self, values: Any, *, stakeholders: Sequence[str], actions: Sequence[str], schema: FrameSchema | None = None
    ) -> None:
        given = real_array("expected rewards", values)
        try:
            array = np.ascontiguousarray(given, dtype=np.float32 if given.dtype == np.float32 else np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(f"expected rewards must be an array of numbers: {error}") from None
        if array.ndim == 2:
            array = array[:, :, None]
        names = tuple(stakeholders), tuple(actions)
        if array.ndim != 3 or array.shape[:2] != (len(names[0]), len(names[1])):
            raise InputError(
                f"expected rewards of shape {np.shape(values)} do not fit {len(names[0])} stakeholders "
                f"× {len(names[1])} actions × contexts"
            )
        if 0 in array.shape[:2]:
            raise InputError("expected rewards need at least one stakeholder and one action")
        for axis in names:
            if len(set(axis)) < len(axis):
                raise InputError(f"names of expected rewards repeat: {', '.join(axis)}")
        if not isinstance(values, np.memmap) and given.flags.writeable and np.may_share_memory(array, given):
            array = array.copy()
        array = array.view()  # its own flag, not that of the array that came
        array.flags.writeable = False
        _check_range(array, *names)
        object.__setattr__(self, "values", array)
        object.__setattr__(self, "stakeholders", names[0])
        object.__setattr__(self, "actions", names[1])
        object.__setattr__(self, "schema", FrameSchema() if schema is None else schema)

    @property
    def n_contexts(self) -> int:
        """Number of contexts."""
        return int(self.values.shape[2])

    def of(self, stakeholder: str) -> NDArray[np.floating[Any]]:
        """Return the expected rewards of one stakeholder, shape (action, context)."""
        if stakeholder not in self.stakeholders:
            raise UnknownNameError("stakeholder", stakeholder, self.stakeholders)
        return np.asarray(self.values[self.stakeholders.index(stakeholder)])

    def columns(self) -> dict[str, NDArray[np.floating[Any]]]:
        """Return ``E[stakeholder, action]`` for every pair, each of shape (context,)."""
        return {
            f"E[{stakeholder}, {action}]": self.values[i, a]
            for i, stakeholder in enumerate(self.stakeholders)
            for a, action in enumerate(self.actions)
        }

    def to_frame(self) -> Any:
        """Return `columns` as a data frame of the library in which the contexts came; pandas if they came in none."""
        return self.schema.table(self.columns())

    def like(self, frame: Any) -> ExpectedRewards:
        """Return the same E, whose table goes out as the library and with the index of a frame of its contexts."""
        twin = copy.copy(self)
        object.__setattr__(twin, "schema", FrameSchema.of_rows(frame))
        return twin

    def take(self, contexts: NDArray[np.intp] | slice) -> ExpectedRewards:
        """Return the expected rewards in some contexts."""
        taken = self.values[:, :, contexts]
        taken.flags.writeable = False
        return ExpectedRewards(taken, stakeholders=self.stakeholders, actions=self.actions)


def _check_range(array: NDArray[Any], stakeholders: tuple[str, ...], actions: tuple[str, ...]) -> None:
    # min and max are NaN if any entry is, so two reductions decide all three checks
    tolerance = SINGLE_PRECISION_TOLERANCE if array.dtype == np.float32 else TOLERANCE
    if array.size == 0 or (array.min() >= -tolerance and array.max() <= 1 + tolerance):
        return
    wrong = ~((array >= -tolerance) & (array <= 1 + tolerance))
    i, a, t = (int(axis[0]) for axis in np.nonzero(wrong))
    raise RewardError(
        f"expected reward of stakeholder {stakeholders[i]!r} for action {actions[a]!r} in context {t} "
        f"is {array[i, a, t]}; allowed: [0, 1]"
    )
