"""Contexts and logs as named numpy columns, whatever kind of frame they came in."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import AnyArray
from accordant.errors import DataError, MissingColumnError, RewardError
from accordant.frame_schema import FrameSchema


class Contexts(Mapping[str, AnyArray]):
    """What is known beforehand about each decision: named columns of equal length.

    Numeric and boolean columns are float64, everything else is text; both read-only.

    Parameters
    ----------
    columns
        Name to values, each of shape (context,).
    schema
        What kind of frame they came in; None if they came in none.

    Raises
    ------
    DataError
        If columns differ in length.
    """

    def __init__(self, columns: Mapping[str, Any], schema: FrameSchema | None = None) -> None:
        self.schema = schema
        self._columns = {str(name): _column(str(name), values) for name, values in columns.items()}
        lengths = {name: len(values) for name, values in self._columns.items()}
        if len(set(lengths.values())) > 1:
            raise DataError(f"columns differ in length: {lengths}")
        self._length = next(iter(lengths.values()), 0)

    @classmethod
    def of(cls, frame: Any) -> Contexts:
        """Return contexts from `Contexts`, a mapping of columns, any frame that narwhals reads, or a table of numbers.

        Columns of an array of two dimensions, or of a list of rows, are called x0, x1, … as scikit-learn calls them.
        """
        if isinstance(frame, Contexts):
            return frame
        if hasattr(frame, "toarray"):  # some sparse arrays are mappings
            raise DataError(f"sparse data are not supported; found {type(frame).__name__}; give toarray()")
        if isinstance(frame, Mapping):
            return cls(frame)
        if isinstance(frame, np.ndarray | list | tuple) or (hasattr(frame, "__array__") and not _is_frame(frame)):
            return cls(_columns_of_array(frame), FrameSchema("numpy"))
        import narwhals as nw

        try:
            native = nw.from_native(frame, eager_only=True)
            names = list(native.columns)
        except nw.exceptions.NarwhalsError as error:
            raise DataError(f"the data frame cannot be used: {error}") from None
        except TypeError:
            raise DataError(f"expected a data frame (pandas, polars, …); found {type(frame).__name__}") from None
        columns = {name: native.get_column(name).to_numpy() for name in names}
        return cls(columns, FrameSchema.of(native))

    def __getitem__(self, name: str) -> AnyArray:
        try:
            return self._columns[name]
        except KeyError:
            raise MissingColumnError(name, self._columns) from None

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        """Number of columns, as for every mapping; see `n_contexts` for the number of rows."""
        return len(self._columns)

    @property
    def n_contexts(self) -> int:
        """Number of rows."""
        return self._length

    def take(self, rows: NDArray[np.intp] | slice) -> Contexts:
        """Return the contexts of some rows."""
        columns = {name: values[rows] for name, values in self._columns.items()}
        for values in columns.values():
            values.flags.writeable = False
        taken = copy.copy(self)  # columns are what they have to be already
        vars(taken).update(_columns=columns, _length=len(next(iter(columns.values()), ())))
        return taken

    def only(self, names: Iterator[str] | tuple[str, ...] | list[str]) -> Contexts:
        """Return some of the columns, in the given order."""
        return Contexts({name: self[name] for name in names}, self.schema)

    def frame(self, names: Iterator[str] | tuple[str, ...] | list[str]) -> Any:
        """Return some of the columns as the kind of data frame they came in, see `FrameSchema.frame`."""
        return (self.schema or FrameSchema()).frame({name: self[name] for name in names})

    def row_keys(self) -> Iterator[str]:
        """Yield a text for each row: its values, and how many rows above have the same ones."""
        above: Counter[str] = Counter()
        for row in zip(*(values.tolist() for values in self._columns.values()), strict=True):
            text = repr(row)
            yield f"{above[text]} {text}"
            above[text] += 1

    def numeric(self, name: str) -> NDArray[np.float64]:
        """Return a column as float64; a text column is an error."""
        values = self[name]
        if values.dtype != np.float64:
            raise DataError(f"column {name!r} must be numeric; found text such as {values[:1]!s}")
        return values

    def missing(self, name: str) -> NDArray[np.bool_]:
        """Return where a column holds nothing: NaN, or a text of blanks, shape (context,)."""
        values = self[name]
        return np.isnan(values) if values.dtype == np.float64 else np.strings.strip(values) == ""


@dataclass(frozen=True, eq=False)
class Log:
    """What was done and what followed.

    Attributes
    ----------
    contexts
        What was known beforehand.
    actions
        Codes of the actions taken, shape (context,).
    outcomes
        Codes of discrete outcomes, or continuous outcomes, shape (context,).
    rewards
        Rewards that stakeholders reported on these rows, name to values in [0, 1], shape (context,).
    groups
        Whose each row is, as a number, shape (context,): rows of one person resemble each other, so they stay together
        wherever rows are divided or drawn. None if rows are independent.
    action_values
        Values of the actions taken, shape (context,), where actions are points of a grid: `actions` are then the
        nearest points. None for actions without values.
    """

    contexts: Contexts
    actions: NDArray[np.intp]
    outcomes: NDArray[np.intp] | NDArray[np.float64]
    rewards: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    groups: NDArray[np.intp] | None = None
    action_values: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        sizes = {"contexts": self.contexts.n_contexts, "actions": len(self.actions), "outcomes": len(self.outcomes)}
        sizes |= {f"rewards of {name}": len(values) for name, values in self.rewards.items()}
        sizes |= {} if self.groups is None else {"groups": len(self.groups)}
        sizes |= {} if self.action_values is None else {"values of actions": len(self.action_values)}
        if len(set(sizes.values())) > 1:
            raise DataError("numbers of rows differ: " + ", ".join(f"{name} {size}" for name, size in sizes.items()))
        if sizes["actions"] == 0:
            raise DataError("no rows")
        for name, values in self.rewards.items():
            wrong = np.flatnonzero(~((values >= 0) & (values <= 1)))
            if wrong.size:
                raise RewardError(f"reward of {name!r} in row {wrong[0]} is {values[wrong[0]]}; allowed: [0, 1]")

    def __len__(self) -> int:
        return len(self.actions)

    def take(self, rows: NDArray[np.intp] | slice) -> Self:
        """Return the log of some rows."""
        rewards = {name: values[rows] for name, values in self.rewards.items()}
        groups = None if self.groups is None else self.groups[rows]
        action_values = None if self.action_values is None else self.action_values[rows]
        return type(self)(
            self.contexts.take(rows), self.actions[rows], self.outcomes[rows], rewards, groups, action_values
        )


def _is_frame(given: Any) -> bool:
    """Return whether something with an array in it is a frame or a column of one, which narwhals knows or refuses."""
    return hasattr(given, "columns") or hasattr(given, "to_frame")


def _columns_of_array(table: Any) -> dict[str, Any]:
    """Return the columns of an array of two dimensions by generated names."""
    try:
        array = np.asarray(table)
    except ValueError:
        raise DataError("expected a data frame or an array of two dimensions; found rows of different length") from None
    if array.dtype.kind == "c":
        raise DataError("Complex data not supported: the array holds complex numbers; allowed: real numbers or text")
    if array.ndim != 2:
        raise DataError(
            f"expected a data frame or an array of two dimensions; found shape {array.shape}. "
            "Reshape your data: one row a context, one column a feature"
        )
    if 0 in array.shape:
        raise DataError(
            f"found array with {array.shape[0]} sample(s) and {array.shape[1]} feature(s) (shape={array.shape}) "
            "while a minimum of 1 is required."
        )
    return {f"x{place}": array[:, place] for place in range(array.shape[1])}


def _column(name: str, values: Any) -> AnyArray:
    """Return a read-only float64 or text column; None and NaN stay NaN in numbers and become ``""`` in text."""
    try:
        array = np.asarray(values)
    except ValueError:
        raise DataError(f"column {name!r} must have one dimension; found rows of different length") from None
    if array.ndim != 1:
        raise DataError(f"column {name!r} must have one dimension; found shape {array.shape}")
    if array.dtype.kind == "c":
        raise DataError(f"column {name!r} holds complex numbers; allowed: real numbers or text")
    if array.dtype.kind in "biuf":
        column = array.astype(np.float64)
    elif array.dtype.kind == "U" and isinstance(values, np.ndarray):
        column = array.copy()
    else:
        column = _column_of_objects(values if array.dtype.kind in "SU" else array)
    column.flags.writeable = False
    return column


def _column_of_objects(values: Any) -> AnyArray:
    """Return numbers if every value is a number or missing, text otherwise; digits in quotes stay text."""
    present = [None if _is_missing(value) else value for value in values]
    if all(value is None or isinstance(value, Real | Decimal | np.bool_) for value in present):
        return np.array([np.nan if value is None else value for value in present], dtype=np.float64)
    return np.array(["" if value is None else str(value) for value in present], dtype=str)


def _is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, NaT or pandas' NA: these alone differ from themselves, or will not say."""
    try:
        return value is None or not value == value  # noqa: PLR0124, SIM201 - NaN and NaT differ from themselves
    except (TypeError, ValueError):  # pandas' NA has no truth value
        return True
