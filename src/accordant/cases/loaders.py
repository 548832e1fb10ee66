"""Loaders and simulators: from a file, or a seed, to a log of decisions.

Repairs are sentences about what a loader changed in a table, carried with the table to the record of a run. They stand
in ``frame.attrs["repairs"]``. Some operations of pandas drop them (`pandas.merge`, `pandas.concat` of tables whose
sentences differ, a new table made of columns), so a loader adds them to the table that it returns.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from accordant import randomness
from accordant.arrays import AnyArray, Mask, Values
from accordant.cases.data_spec import DataSpec
from accordant.cases.spec import CaseSpec
from accordant.contexts import Contexts, Log
from accordant.errors import DataError, InputError, MissingColumnError, RewardError, UnknownNameError
from accordant.problem import DecisionProblem, codes_of, row_place
from accordant.registry import Registry
from accordant.split import group_codes, time_keys
from accordant.tables.arrow import arrow_format, arrow_frames
from accordant.tables.column_types import Place, typed_contexts
from accordant.tables.databases import read_query
from accordant.tables.datasets import Part
from accordant.tables.frames import Lines
from accordant.tables.text import file_hash
from accordant.tables.whole_tables import read_frame
from accordant.tables.workbooks import SUFFIX

KEY = "repairs"
QUERIED = "the rows of a query"


def repaired(frame: pd.DataFrame, *sentences: str) -> pd.DataFrame:
    """Return a table that carries sentences about its repairs, after those that it carries already.

    Parameters
    ----------
    frame
        A tidy table; it stays as it is.
    sentences
        What was changed, in how many rows; the same sentence is kept once.
    """
    table = frame.copy(deep=False)
    table.attrs = {**frame.attrs, KEY: tuple(dict.fromkeys((*repairs_of(frame), *sentences)))}
    return table


def repairs_of(frame: pd.DataFrame) -> tuple[str, ...]:
    """Return the sentences that a table carries; none if nothing was repaired.

    Raises
    ------
    InputError
        If ``frame.attrs["repairs"]`` is something else than sentences.
    """
    sentences = frame.attrs.get(KEY, ())
    if not isinstance(sentences, list | tuple) or not all(isinstance(sentence, str) for sentence in sentences):
        raise InputError(f"attrs[{KEY!r}] is {sentences!r}; allowed: a tuple of sentences")
    return tuple(sentences)


@dataclass(frozen=True, eq=False)
class CaseData:
    """A log with its provenance.

    Attributes
    ----------
    log
        The rows.
    source
        File name, or the simulator's name and seed.
    sha256
        Hash of the file's bytes, or of the simulated columns.
    simulated
        Whether a simulator made the rows.
    true_levels
        True mean outcome of every action, shape (action, context); simulated data only. Never reaches a model.
    times
        When each row was, numbers or ISO dates, shape (context,); None if the case names no column of times.
    repairs
        Sentences about what the loader changed in the whole file, for everybody who reads a result.
    """

    log: Log
    source: str
    sha256: str
    simulated: bool
    true_levels: NDArray[np.float64] | None = None
    repairs: tuple[str, ...] = ()
    times: NDArray[Any] | None = None

    def take(self, rows: NDArray[np.intp]) -> CaseData:
        """Return some of the rows."""
        levels = None if self.true_levels is None else self.true_levels[:, rows]
        times = None if self.times is None else self.times[rows]
        return replace(self, log=self.log.take(rows), true_levels=levels, times=times)


Tidy = Callable[[pd.DataFrame], pd.DataFrame]
tidiers: Registry[Tidy] = Registry("loader", group="accordant.loaders", packages=("accordant.cases",))
"""A loader is a function that brings a raw table into the shape that a case's ``data`` section describes.

What it changes in values goes into the record of a run: see `accordant.cases.loaders.repaired`.
"""


@tidiers.register("table")
def table_loader() -> Tidy:
    """Return the loader of tables that need no tidying."""
    return lambda frame: frame


def load_file(
    path: Path,
    spec: DataSpec,
    problem: DecisionProblem,
    reward_columns: Mapping[str, str],
    also: Sequence[str] = (),
    *,
    sheet: str | None = None,
) -> CaseData:
    """Read a file as the ``data`` section describes it.

    Parameters
    ----------
    path
        The file.
    spec
        Its columns.
    problem
        Declares actions, outcomes and sensitive attributes.
    reward_columns
        Stakeholder to the column with its observed reward.
    also
        Further columns that metrics, strategies and rewards read.
    sheet
        Of a workbook, instead of the one that the case names.

    Raises
    ------
    DataError
        If the file is empty, a column is missing, or a value cannot be used.
    """
    lines = Lines()
    frame = read_frame(
        path, spec.separator, spec.encoding, texts=_categories(spec), missing=spec.missing, lines=lines,
        sheet=(sheet or spec.sheet) if path.suffix.lower() == SUFFIX else sheet,
    )  # fmt: skip
    return _tidied(frame, lines, spec, problem, reward_columns, lines.name, file_hash(path), also)


def load_part(
    part: Part, spec: DataSpec, problem: DecisionProblem, reward_columns: Mapping[str, str], also: Sequence[str] = ()
) -> tuple[CaseData, AnyArray | None]:
    """Read a part of a dataset as the ``data`` section describes it, and whose each row is if it says; see `load_file`.

    The hash is left empty: see `accordant.tables.datasets.Part.fingerprint`.
    """
    lines = Lines()
    if arrow_format(part.file) is None:
        frame = read_frame(
            Path(part.file), spec.separator, spec.encoding, texts=_categories(spec), missing=spec.missing, lines=lines
        )
    else:
        frame = next(
            arrow_frames(part.file, sys.maxsize, texts=_categories(spec), missing=spec.missing, groups=part.wanted)
        )
    frame = part.completed(frame, _categories(spec), spec.missing)
    tidy = tidiers.create(spec.loader)(frame)
    place = tidy_places(tidy, len(frame), lines)
    data = build(tidy, spec, problem, reward_columns, part.name, "", also=also, place=place)
    return data, None if spec.group is None else tidy[spec.group].to_numpy()


def load_query(
    spec: DataSpec, problem: DecisionProblem, reward_columns: Mapping[str, str], also: Sequence[str] = ()
) -> CaseData:
    """Read the rows of the query that the ``data`` section holds; its hash is that of the rows as CSV.

    See `load_file`.

    Raises
    ------
    InputError
        If there is no database, or the query is refused; see `accordant.tables.databases.read_query`.
    """
    lines = Lines()
    frame = _queried(spec, lines)
    return _tidied(frame, lines, spec, problem, reward_columns, QUERIED, frame_hash(frame), also)


def query_hash(spec: DataSpec) -> str:
    """Return the hash of the rows that a query gives; see `load_query`."""
    return frame_hash(_queried(spec, Lines()))


def _queried(spec: DataSpec, lines: Lines) -> pd.DataFrame:
    return read_query(spec.query or "", texts=_categories(spec), missing=spec.missing, lines=lines)


def _categories(spec: DataSpec) -> list[str]:
    return [name for name, declared in spec.declared_types.items() if declared == "category"]


def _tidied(
    frame: pd.DataFrame,
    lines: Lines,
    spec: DataSpec,
    problem: DecisionProblem,
    reward_columns: Mapping[str, str],
    source: str,
    sha256: str,
    also: Sequence[str],
) -> CaseData:
    """Return the log of a table as it was read."""
    tidy = tidiers.create(spec.loader)(frame)
    place = tidy_places(tidy, len(frame), lines)
    return build(tidy, spec, problem, reward_columns, source, sha256, also=also, place=place)


def frame_hash(frame: pd.DataFrame) -> str:
    """Return the hash of a table that is in no file: of its bytes as CSV."""
    return hashlib.sha256(frame.to_csv(index=False).encode()).hexdigest()


def tidy_places(tidy: pd.DataFrame, n_rows: int, lines: Lines, start: int = 0) -> Place:
    """Return where the rows of a tidy table stand in the file that it came from.

    Parameters
    ----------
    tidy
        What a loader made: rows that it left out are missing from the index.
    n_rows
        Number of rows that it was given.
    lines
        Where these stand.
    start
        Label of the first of them.
    """
    labels = tidy.index.to_numpy()
    if len(tidy) < n_rows and np.array_equal(labels, np.arange(start, start + len(tidy))):
        return lambda row: f"row {row} of the rows that the loader kept"  # it counted anew: nobody knows their lines
    return lambda row: lines.place(int(labels[row]))


def build(
    frame: pd.DataFrame,
    spec: DataSpec,
    problem: DecisionProblem,
    reward_columns: Mapping[str, str],
    source: str,
    sha256: str,
    *,
    also: Sequence[str] = (),
    place: Place = row_place,
    simulated: bool = False,
) -> CaseData:
    """Return the log that a tidy table holds, with every column checked.

    Parameters
    ----------
    frame
        A tidy table.
    spec, problem, reward_columns, also
        See `load_file`.
    source, sha256, simulated
        See `CaseData`.
    place
        Where each row stands, for messages.
    """
    sensitive = [attribute.name for attribute in problem.sensitive_attributes]
    needed = [
        spec.action,
        spec.outcome,
        *spec.features,
        *spec.confounders,
        *sensitive,
        *spec.true_levels.values(),
        *reward_columns.values(),
        *(name for name in (spec.group, spec.time) if name is not None),
        *also,
    ]
    for name in spec.types:
        if name not in needed:
            raise UnknownNameError("column in data.types, as nothing reads it:", name, needed)
    for name in needed:
        if name not in frame.columns:
            raise MissingColumnError(name, frame.columns, source)
    numbers = [*spec.true_levels.values(), *reward_columns.values(), *((spec.outcome,) if problem.continuous else ())]
    types = {name: spec.declared_types.get(name) for name in needed if name not in (spec.action, spec.outcome)}
    raw = typed_contexts(
        Contexts({name: frame[name].to_numpy() for name in frame.columns}),
        types | dict.fromkeys(numbers, "number"),
        place,
        quoted=False,
    )
    apart = {spec.action, spec.outcome, *spec.true_levels.values(), *spec.drop, *reward_columns.values()}
    apart |= {name for name in (spec.group, spec.time) if name is not None and name not in sensitive}
    if spec.time is not None:
        time_keys(raw[spec.time], spec.time, place)  # raises where one is missing or cannot be read
    actions, action_values = problem.logged_actions(renamed(frame[spec.action], spec, place), place, spec.action)
    log = Log(
        contexts=raw.only([name for name in raw if name not in apart]),
        actions=actions,
        outcomes=(
            problem.outcome_values(_complete(raw.numeric(spec.outcome), spec.outcome, place), place)
            if problem.continuous
            else codes_of("outcome", renamed(frame[spec.outcome], spec, place), problem.outcome_names, place)
        ),
        rewards={name: _rewards(raw.numeric(column), column, place) for name, column in reward_columns.items()},
        groups=None if spec.group is None else group_codes(raw[spec.group], spec.group, place),
        action_values=action_values,
    )
    levels = None
    if spec.true_levels:
        levels = np.stack([raw.numeric(spec.true_levels[action]) for action in problem.actions])
    times = None if spec.time is None else raw[spec.time]
    return CaseData(log, source, sha256, simulated, levels, repairs_of(frame), times)


def _complete(values: Values, column: str, place: Place) -> Values:
    """Return numbers of which none may be missing."""
    _refuse_missing(np.isnan(values), column, place, "a number")
    return values


def _rewards(values: Values, column: str, place: Place) -> Values:
    """Return numbers of which each is a reward."""
    outside = ~((_complete(values, column, place) >= 0) & (values <= 1))
    if outside.any():
        row = int(outside.argmax())
        raise RewardError(f"{place(row)}: column {column!r}: found {values[row]:g}; allowed: a number in [0, 1]")
    return values


def _refuse_missing(missing: Mask, column: str, place: Place, allowed: str) -> None:
    if missing.any():
        raise DataError(f"{place(int(missing.argmax()))}: column {column!r}: found nothing; allowed: {allowed}")


def renamed(column: pd.Series[Any], spec: DataSpec, place: Place) -> AnyArray:
    """Return the names in a column of actions or outcomes, of which none may be missing, shape (row,)."""
    _refuse_missing(column.isna().to_numpy(), str(column.name), place, "a name")
    codes, texts = column.astype(str).factorize()
    return np.asarray(np.array([spec.rename.get(text, text) for text in texts], dtype=str)[codes])


simulators: Registry[pd.DataFrame] = Registry("simulator", group="accordant.simulators", packages=("accordant.cases",))
"""A simulator is a function (rows, generator) that returns a table as a case's ``data`` section describes it."""


def simulate(
    case: CaseSpec, seed: int, rows: int | None, reward_columns: Mapping[str, str], also: Sequence[str] = ()
) -> CaseData:
    """Return simulated data for a case.

    Raises
    ------
    InputError
        If the case has no simulator.
    """
    frame, name = simulated_table(case, seed, rows), case.simulator.name if case.simulator else ""
    digest = frame_hash(frame)
    source = f"simulator {name!r}, seed {seed}, {len(frame)} rows"
    return build(frame, case.data, case.problem, reward_columns, source, digest, also=also, simulated=True)


def simulated_table(case: CaseSpec, seed: int, rows: int | None) -> Any:
    """Return the simulated table itself, as ``accordant simulate`` writes it."""
    if case.simulator is None:
        raise InputError(f"the case {case.name!r} has no simulator")
    generator = randomness.generator(seed, "simulation")
    return simulators.create(case.simulator.name, {"rows": rows or case.simulator.rows, "generator": generator})
