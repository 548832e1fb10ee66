"""What the columns of a table of past decisions seem to be: the ground of a first case file.

Names and values are looked at, nothing is learned. Every guess says why, so that a reader can object.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import pandas as pd

from accordant.arrays import AnyArray, Values
from accordant.errors import DataError, InputError, MissingColumnError, UnknownNameError
from accordant.problem import value_label
from accordant.tables.column_types import ColumnType, typed_column

Role = Literal["action", "outcome", "sensitive", "feature", "person", "time", "left out"]

MOST_NAMES = 12  # different values up to which a column can hold actions, outcomes or groups
MOST_CATEGORIES = 50  # of a feature
GIVEN_AWAY = 0.98  # share of rows whose outcome a column names, or a correlation with it, that looks like hindsight
HINDSIGHT_GAIN = 0.05  # by which such a column must name the outcome more often than the commonest outcome does
ACTION_WORDS = frozenset({
    "action", "decision", "treatment", "treated", "treat", "granted", "grant", "approved", "offer", "offered",
    "admitted", "admission", "allocated", "allocation", "intervention", "arm", "assigned", "assignment",
    "scholarship", "support", "given", "accepted",
})  # fmt: skip
OUTCOME_WORDS = frozenset({"outcome", "result", "target", "label", "y"})
LIKELY_OUTCOME_WORDS = frozenset({
    "status", "repaid", "default", "defaulted", "completed", "graduated", "recidivism", "recid", "survived",
    "success", "response", "grade", "score", "dropout", "readmitted",
})  # fmt: skip
SENSITIVE_WORDS = frozenset({
    "sex", "gender", "race", "ethnicity", "ethnic", "nationality", "nacionality", "religion", "disability",
    "disabled", "age", "marital", "married", "foreign", "migrant", "immigrant", "citizenship", "pregnant", "caste",
})  # fmt: skip
PERSON_WORDS = frozenset(
    {"id", "person", "patient", "student", "user", "customer", "client", "applicant", "uid", "subject"}
)
TIME_WORDS = frozenset({"date", "time", "year", "timestamp", "datetime"})


@dataclass(frozen=True)
class ColumnUse:
    """What one column is taken for.

    Attributes
    ----------
    name
        The column.
    role
        What it is taken for.
    why
        The reason, as a phrase.
    type
        How it is read, if it is.
    values
        Different values, the commonest first, with their shares of the rows; empty if there are more than 12.
    """

    name: str
    role: Role
    why: str
    type: ColumnType | None = None
    values: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Told:
    """What somebody said beforehand; None where nothing was said.

    Attributes
    ----------
    action, outcome
        Columns.
    sensitive
        Columns that make groups.
    features
        Columns that models may read.
    """

    action: str | None = None
    outcome: str | None = None
    sensitive: tuple[str, ...] | None = None
    features: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Proposal:
    """What a table seems to hold.

    Attributes
    ----------
    columns
        Every column, in the order of the file.
    rows
        Number of rows.
    bounds
        Smallest and largest outcome if outcomes are numbers; None if they are names.
    """

    columns: tuple[ColumnUse, ...]
    rows: int
    bounds: tuple[float, float] | None

    def of(self, role: Role) -> tuple[ColumnUse, ...]:
        """Return the columns with a role."""
        return tuple(column for column in self.columns if column.role == role)

    @property
    def ends(self) -> tuple[str, ...]:
        """The bounds as YAML reads them exactly; empty if outcomes are names."""
        return tuple(str(int(end)) if end.is_integer() else repr(end) for end in self.bounds or ())

    @property
    def action(self) -> ColumnUse:
        """The column with the action taken."""
        return self.of("action")[0]

    @property
    def outcome(self) -> ColumnUse:
        """The column with what followed."""
        return self.of("outcome")[0]


def propose(frame: pd.DataFrame, told: Told) -> Proposal:
    """Say what each column of a table of past decisions seems to be.

    Parameters
    ----------
    frame
        From `accordant.tables.whole_tables.read_frame`.
    told
        What is known already.

    Raises
    ------
    InputError
        If a named column is missing or cannot be what it was named for, or no column looks like an action or an
        outcome; the message lists those that could.
    """
    columns = {str(name): _Column.of(str(name), frame[name]) for name in frame.columns}
    sensitive = told.sensitive or ()
    for name in (told.action, told.outcome, *sensitive, *(told.features or ())):
        if name is not None and name not in columns:
            raise MissingColumnError(name, list(columns), "the file")
    action = _chosen("action", told.action, (ACTION_WORDS,), columns, {told.outcome, *sensitive})
    outcome = _chosen(
        "outcome", told.outcome, (OUTCOME_WORDS, LIKELY_OUTCOME_WORDS), columns, {action.name, *sensitive}
    )
    chosen = {action.name: action, outcome.name: outcome}
    uses = tuple(chosen.get(name) or _use(column, columns[outcome.name], told) for name, column in columns.items())
    numbers = columns[outcome.name].numbers
    continuous = outcome.type == "number" and numbers is not None
    bounds = (float(np.nanmin(numbers)), float(np.nanmax(numbers))) if continuous and numbers is not None else None
    return Proposal(uses, len(frame), bounds)


def words_of(name: str) -> set[str]:
    """Return the words and numbers of a name, in lower case: ``isGranted`` has ``is`` and ``granted``."""
    return {part.lower() for part in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+", name)}


@dataclass(frozen=True, eq=False)
class _Column:
    """A column as it was read: its type, or why it has none."""

    name: str
    labels: AnyArray  # texts; "" where a value is missing
    numbers: Values | None
    broken: str

    @classmethod
    def of(cls, name: str, series: pd.Series) -> _Column:
        """Return what can be said of a column: its labels, its numbers if it has any, and why it is left out."""
        missing = series.isna().to_numpy()
        labels = np.array(["" if gone else value_label(value) for value, gone in zip(series, missing, strict=True)])
        if missing.all():
            return cls(name, labels, None, "it is empty")
        if pd.api.types.is_numeric_dtype(series.dtype):
            return cls(name, labels, series.to_numpy(dtype=np.float64, na_value=np.nan), "")
        try:
            typed = typed_column(name, labels, None, lambda row: f"row {row + 1}", quoted=False)
        except DataError as error:
            return cls(name, labels, None, str(error))
        return cls(name, labels, typed if typed.dtype == np.float64 else None, "")

    @property
    def words(self) -> set[str]:
        """Words of the name, see `words_of`."""
        return words_of(self.name)

    @property
    def shares(self) -> dict[str, float]:
        """Value to its share of all rows, the commonest first; missing values left out."""
        values, counts = np.unique(self.labels[self.labels != ""], return_counts=True)
        order = np.argsort(-counts, kind="stable")
        return {str(values[place]): float(counts[place] / len(self.labels)) for place in order}

    @property
    def few(self) -> dict[str, float]:
        """The same if there are at most `MOST_NAMES` values, or nothing."""
        shares = self.shares
        return shares if len(shares) <= MOST_NAMES else {}


def _chosen(
    role: Literal["action", "outcome"],
    told: str | None,
    ranked: tuple[frozenset[str], ...],
    columns: Mapping[str, _Column],
    others: set[str | None],
) -> ColumnUse:
    """Return the column of actions, or of outcomes."""
    if told is not None:
        if told in others:
            raise InputError(f"the column {told!r} is named twice; it cannot be the {role} too")
        return _named(role, columns[told], "you said so")
    able = [
        column for name, column in columns.items() if name not in others and (column.few or _continuous(role, column))
    ]
    likely = [column for words in ranked for column in able if column.words & words]
    if not likely:
        names = [column.name for column in able if column.few]
        could = (
            f"columns with few values: {', '.join(names)}" if names else f"no column has {MOST_NAMES} values or fewer"
        )
        raise InputError(f"no column is called like an {role}; say which it is with --{role} COLUMN ({could})")
    also = f"; {', '.join(column.name for column in likely[1:])} could be it too" if likely[1:] else ""
    return _named(role, likely[0], f"its name{also}")


def _continuous(role: str, column: _Column) -> bool:
    return role == "outcome" and column.numbers is not None and len(column.shares) > MOST_NAMES


def _named(role: Literal["action", "outcome"], column: _Column, why: str) -> ColumnUse:
    least = 1 if role == "action" else 2  # a log may hold the only action that was ever taken
    if len(column.few) >= least:
        return ColumnUse(column.name, role, why, "category", column.few)
    if _continuous(role, column):
        return ColumnUse(column.name, role, f"{why}; a number with {len(column.shares)} different values", "number")
    count = len(column.shares)
    raise InputError(
        f"the column {column.name!r} has {count} different value{'s' * (count != 1)}; allowed for an {role}: at most "
        f"{MOST_NAMES}{', or numbers' if role == 'outcome' else ''}"
    )


def _use(column: _Column, outcome: _Column, told: Told) -> ColumnUse:
    """Return what a column other than action and outcome is taken for."""
    kind: ColumnType = "category" if column.numbers is None else "number"
    shares = column.shares
    if told.sensitive is not None and column.name in told.sensitive:
        if len(column.few) < 2:
            raise InputError(
                f"the column {column.name!r} has {len(shares)} values; allowed for a sensitive attribute: 2 to "
                f"{MOST_NAMES}, so make groups of it first"
            )
        return ColumnUse(column.name, "sensitive", "you said so", "category", shares)
    if told.features is not None:
        return _told_feature(column, kind, named=column.name in told.features)
    if column.broken:
        return ColumnUse(column.name, "left out", column.broken)
    if len(shares) < 2:
        return ColumnUse(column.name, "left out", "it is the same in every row")
    if told.sensitive is None and column.words & SENSITIVE_WORDS:
        if column.few:
            return ColumnUse(column.name, "sensitive", "its name", "category", shares)
        why = f"sensitive by its name, with {len(shares)} values: make groups of it to compare them"
        return ColumnUse(column.name, "left out", why)
    if column.words & TIME_WORDS and len(shares) > MOST_NAMES:
        return ColumnUse(column.name, "time", "its name")
    n_rows = len(column.labels)
    if column.words & PERSON_WORDS or (kind == "category" and len(shares) == n_rows):
        if len(shares) == n_rows:
            return ColumnUse(column.name, "left out", "it names the row")
        if len(shares) > MOST_CATEGORIES:
            return ColumnUse(column.name, "person", "its name; values repeat")
    if kind == "category" and len(shares) > MOST_CATEGORIES:
        return ColumnUse(column.name, "left out", f"it has {len(shares)} different texts")
    told_away = _tells_outcome(column, outcome)
    if told_away:
        return ColumnUse(column.name, "left out", f"{told_away}; was it known before the decision?")
    return ColumnUse(column.name, "feature", "nothing speaks against it", kind, column.few)


def _told_feature(column: _Column, kind: ColumnType, *, named: bool) -> ColumnUse:
    """Return what a column is if somebody said which ones models may read."""
    if not named:
        return ColumnUse(column.name, "left out", "it is not among the features that you named")
    if column.broken:
        raise InputError(f"the column {column.name!r} cannot be a feature: {column.broken}")
    return ColumnUse(column.name, "feature", "you said so", kind, column.few)


def _tells_outcome(column: _Column, outcome: _Column) -> str:
    """Return how exactly a column says the outcome; empty if it does not."""
    if column.numbers is not None and outcome.numbers is not None:
        both = np.isfinite(column.numbers) & np.isfinite(outcome.numbers)
        if both.sum() > 2 and column.numbers[both].std() > 0 and outcome.numbers[both].std() > 0:
            correlation = float(np.corrcoef(column.numbers[both], outcome.numbers[both])[0, 1])
            if abs(correlation) >= GIVEN_AWAY:
                return f"its correlation with the outcome is {correlation:.3f}"
    if not (column.few and outcome.few):
        return ""
    counts = pd.crosstab(column.labels, outcome.labels).to_numpy()
    named, commonest = counts.max(axis=1).sum() / counts.sum(), counts.sum(axis=0).max() / counts.sum()
    if named >= GIVEN_AWAY and named >= commonest + HINDSIGHT_GAIN:
        return f"it names the outcome in {named:.1%} of the rows"
    return ""


def check_values(what: str, names: Sequence[str], proposal: Proposal) -> None:
    """Refuse names that are no actions of the table.

    Raises UnknownNameError with the nearest.
    """
    for name in names:
        if name not in proposal.action.values:
            raise UnknownNameError(what, name, proposal.action.values)
