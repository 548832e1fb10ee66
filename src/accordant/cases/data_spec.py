"""Where the logged data of a case are, and which simulator stands in for them."""

from __future__ import annotations

from typing import Any, Self

from pydantic import Field, model_validator

from accordant.declaration import Declared
from accordant.errors import InputError
from accordant.tables.column_types import Columns, ColumnType, ColumnTypes
from accordant.tables.databases import check_query
from accordant.tables.workbooks import parted
from accordant.unusual import UnusualSpec


class DataSpec(Declared):
    """Where the logged data are and what their columns mean.

    Attributes
    ----------
    loader
        Registered loader; ``table`` reads any table with the columns named here.
    file
        Path of the file: beside the case file, or below a data folder. Its suffix says how it is read: Parquet
        (``.parquet``), Arrow (``.arrow``, ``.feather``), Excel (``.xlsx``), or CSV.
    sheet
        Of a workbook; ``file: grants.xlsx#2024`` says the same. Without it, the only one.
    query
        One ``SELECT`` instead of a file. The database stands in ``$ACCORDANT_DATABASE``, never in a case.
    action, outcome
        Columns with the action taken and what followed.
    features
        Columns that models may read: a list, or column to its type, ``number`` or ``category``. A type that is not
        declared is inferred, see `accordant.tables.column_types.typed_column`.
    types
        Types of other columns that are read: sensitive attributes, confounders, group, time.
    missing
        What stands for a missing value in the file, beside `accordant.tables.frames.MISSING`.
    confounders
        Further columns known before the decision that past decisions may have followed: only evaluation reads them.
    group
        Column that says whose each row is, such as the number of a student: rows of one person stay together in split,
        folds, calibration and bootstrap. Never a feature.
    time
        Column with numbers or ISO dates: the latest rows are for the test, earlier ones are learned from. Never a
        feature.
    true_levels
        Simulated data only: action to the column with its true mean outcome. Never reaches a model.
    drop
        Columns to leave out: placeholders, or what was known only afterwards and no metric needs.
    rename
        Old to new values of the outcome and action columns.
    unusual
        What happens to new rows that are unlike the training rows, see `accordant.unusual.UnusualSpec`.
    separator
        What stands between columns. A file whose header does not contain it is read with commas.
    encoding
        Of the file.
    """

    loader: str = "table"
    file: str | None = None
    sheet: str | None = None
    query: str | None = None
    action: str = "Action"
    outcome: str = "Outcome"
    features: Columns = Field(min_length=1)
    types: ColumnTypes = Field(default_factory=dict)
    missing: tuple[str, ...] = ()
    confounders: tuple[str, ...] = ()
    group: str | None = None
    time: str | None = None
    true_levels: dict[str, str] = Field(default_factory=dict)
    drop: tuple[str, ...] = ()
    rename: dict[str, str] = Field(default_factory=dict)
    unusual: UnusualSpec = Field(default_factory=UnusualSpec)
    separator: str = Field(default=",", min_length=1, max_length=1)
    encoding: str = "utf-8"

    @model_validator(mode="before")
    @classmethod
    def _part_sheet(cls, values: dict[str, Any]) -> dict[str, Any]:
        """Take the sheet from ``file.xlsx#Sheet``."""
        file = values.get("file")
        name, sheet = parted(file) if isinstance(file, str) else (file, None)
        if sheet is None:
            return values
        if values.get("sheet", sheet) != sheet:
            raise InputError(f"file names the sheet {sheet!r}, and sheet names {values['sheet']!r}; allowed: one")
        return values | {"file": name, "sheet": sheet}

    @model_validator(mode="after")
    def _check_source(self) -> Self:
        if self.query is not None:
            if self.file is not None:
                raise InputError("file and query are both there; allowed: one of them")
            check_query(self.query)
        return self

    @model_validator(mode="after")
    def _check_leaks(self) -> Self:
        for name in (self.action, self.outcome, *self.true_levels.values(), *self.drop, self.group, self.time):
            if name in self.features:
                raise InputError(
                    f"the column {name!r} cannot be a feature: it is an action, an outcome, a truth, a group, a time, "
                    "or dropped"
                )
            if name in self.confounders:
                raise InputError(
                    f"the column {name!r} cannot be a confounder: it is an action, an outcome, a truth, or dropped"
                )
        for name in self.confounders:
            if name in self.features:
                raise InputError(
                    f"the column {name!r} cannot be a confounder that only evaluation reads: it is a feature"
                )
        for name in self.types:
            if name in self.features:
                raise InputError(f"types: {name!r} is a feature; declare its type in features, as {name}: TYPE")
        return self

    @property
    def declared_types(self) -> dict[str, ColumnType]:
        """Column to its type, where one is declared."""
        return {**(self.features if isinstance(self.features, dict) else {}), **self.types}


class SimulatorSpec(Declared):
    """Which registered simulator stands in for missing data, and how many rows it makes."""

    name: str
    rows: int = Field(default=2000, ge=50)
