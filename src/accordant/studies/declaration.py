"""What a study file says: one case, seeds, sizes, named changes, and what is compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import AfterValidator, Field, model_validator

from accordant.cases.files import built_in_files, place_of, text_of
from accordant.declaration import Declared, PathName
from accordant.errors import InputError, SpecError, UnknownNameError
from accordant.tables.yaml import read_yaml

ROWS, ALL = "rows", "all"
SELECTED = "selected"
"""Stands for D* of each run, whichever strategy that is."""
SCORE = "score"
TIED = "tied"
LONGEST_VARIANT = 40  # bytes: names of all axes become part of one name of a folder
MOST_CELLS = 10_000  # folders; a study of more would take weeks


def _short(name: str) -> str:
    if len(name.encode()) > LONGEST_VARIANT:
        raise InputError(f"{name!r:.60} has {len(name.encode())} bytes; allowed: at most {LONGEST_VARIANT}")
    return name


VariantName = Annotated[PathName, AfterValidator(_short)]
Changes = dict[str, Any]


class StatementSpec(Declared):
    """A published statement, as a relation that cells can show or refute.

    Attributes
    ----------
    says
        The statement in words.
    source
        Who says so, and how it was found.
    published
        The published figures, as text.
    metric
        A metric of the case, ``score``, ``tied`` (share of rows with a tie), or ``selected`` (share of runs in which
        the strategy is D*).
    higher, lower
        The strategy that is said to have the larger value, and those with a smaller one; ``candidates`` for all others
        that may win.
    strategy, at_least, at_most
        The strategy whose mean is said to lie on one side of a threshold.
    where
        Axis to variant, and ``rows`` to a number or ``all``; what is not named is as in the baseline.
    """

    says: str = Field(min_length=1)
    source: str = Field(min_length=1)
    published: str = ""
    metric: str = SCORE
    higher: str | None = None
    lower: tuple[str, ...] = ()
    strategy: str | None = None
    at_least: float | None = None
    at_most: float | None = None
    where: dict[str, str | int] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _check_form(self) -> Self:
        order = self.higher is not None and bool(self.lower)
        limits = (self.at_least is not None) + (self.at_most is not None)
        threshold = self.strategy is not None and limits == 1
        if order == threshold or (order and (limits or self.strategy)) or (threshold and (self.higher or self.lower)):
            raise InputError(
                f"the statement {self.says!r:.60} needs either higher and lower, or strategy with one of at_least and "
                "at_most"
            )
        if order and self.metric == SELECTED:
            raise InputError("the metric 'selected' is a share of runs; allowed: strategy with at_least or at_most")
        return self


class ComparisonSpec(Declared):
    """What of every condition is compared with the baseline; fewer comparisons give narrower intervals.

    Attributes
    ----------
    strategies
        Labels of strategies, or ``selected`` for D* of each run.
    metrics
        Metrics of the case, or ``score``.
    """

    strategies: tuple[str, ...] = Field(default=(SELECTED,), min_length=1)
    metrics: tuple[str, ...] = Field(default=(SCORE,), min_length=1)


class StudySpec(Declared):
    """Everything a study needs, as declared in one YAML file.

    Attributes
    ----------
    case
        Name of a built-in case, or path of one beside the study.
    seeds
        One run for each; means are over them.
    rows
        Numbers of training rows; None for all.
    changes
        What every run changes of the case, before variants.
    variants
        Name to changes of the case: the only axis, called ``variant``.
    axes
        Axis to variants; runs are the product of all axes.
    baseline
        Axis to the variant that others are compared with, ``rows`` to a size; the first variant and the largest size
        where nothing is said.
    compare
        See `ComparisonSpec`.
    statements
        Published statements to compute again.

    Raises
    ------
    SpecError
        If a key is unknown, missing or wrong, or nothing is to be done.
    """

    name: PathName
    title: str = ""
    description: str = ""
    case: str = Field(min_length=1)
    seeds: tuple[Annotated[int, Field(ge=0)], ...] = Field(min_length=1)
    rows: tuple[Annotated[int, Field(ge=1)] | None, ...] = Field(default=(None,), min_length=1)
    changes: Changes = Field(default_factory=dict)
    variants: dict[VariantName, Changes] | None = Field(default=None, min_length=1)
    axes: dict[VariantName, Annotated[dict[VariantName, Changes], Field(min_length=1)]] = Field(default_factory=dict)
    baseline: dict[str, str | int] = Field(default_factory=dict)
    compare: ComparisonSpec = Field(default_factory=ComparisonSpec)
    statements: tuple[StatementSpec, ...] = ()

    @model_validator(mode="after")
    def _check_conditions(self) -> Self:
        if self.variants is not None and self.axes:
            raise SpecError("both 'variants' and 'axes' are given; allowed: one of them", path=("axes",))
        if ROWS in self.axes:
            raise SpecError("an axis is called 'rows'; sizes are declared with the key 'rows'", path=("axes", ROWS))
        for key, values in (("seeds", self.seeds), (ROWS, self.rows)):
            twice = [value for position, value in enumerate(values) if value in values[:position]]
            if twice:
                raise SpecError(f"{key}: {size_name(twice[0])} is there twice", path=(key,))
        size = len(self.seeds) * len(self.rows)
        for variants in self.all_axes.values():
            size *= len(variants)
        if size > MOST_CELLS:
            raise InputError(f"the study has {size:,} runs; allowed: at most {MOST_CELLS:,}")
        self.place("baseline", self.baseline)
        for number, statement in enumerate(self.statements):
            self.place(f"statements.{number}.where", statement.where)
        return self

    @property
    def all_axes(self) -> dict[str, dict[str, Changes]]:
        """Axis to variants; none if only seeds and sizes differ."""
        return {"variant": self.variants} if self.variants is not None else self.axes

    def place(self, key: str, named: Mapping[str, str | int]) -> dict[str, str]:
        """Return axis to variant, and ``rows`` to a size, of one condition: the first, or the largest, if not named.

        Raises
        ------
        SpecError
            If an axis, a variant or a size is not declared; `key` says where it is named.
        """
        sizes = {size_name(size): size for size in self.rows}
        largest = ALL if None in self.rows else size_name(max(size for size in self.rows if size is not None))
        allowed = {ROWS: tuple(sizes), **{axis: tuple(variants) for axis, variants in self.all_axes.items()}}
        chosen = {axis: largest if axis == ROWS else names[0] for axis, names in allowed.items()}
        if key != "baseline":
            chosen |= {axis: str(name) for axis, name in self.baseline.items()}
        for axis, name in named.items():
            path = tuple(key.split("."))
            if axis not in allowed:
                raise SpecError(f"{key}: {UnknownNameError('axis', axis, allowed)}", path=path)
            if str(name) not in allowed[axis]:
                error = UnknownNameError(f"variant of {axis}", str(name), allowed[axis])
                raise SpecError(f"{key}: {error}", path=path)
            chosen[axis] = str(name)
        return chosen


@dataclass(frozen=True)
class StudyFile:
    """A study with the place of its file: beside it (None for built-in ones) the case is looked for."""

    study: StudySpec
    where: str
    beside: Path | None

    @property
    def case(self) -> str:
        """The case as `accordant.cases.files.read_case_file` takes it."""
        if self.beside is not None and Path(self.study.case).suffix in {".yaml", ".yml"}:
            return str(self.beside / self.study.case)
        return self.study.case


def size_name(rows: int | None) -> str:
    """Return a number of rows as a name, ``all`` for None."""
    return ALL if rows is None else str(rows)


def read_study(name_or_path: str | Path) -> StudyFile:
    """Read a built-in study or a YAML file.

    Raises
    ------
    SpecError
        If there is no such study or the file is wrong; the message names the nearest valid key, and the line.
    """
    built_in = built_in_files("accordant.studies")
    if not Path(name_or_path).is_file() and str(name_or_path) not in built_in:
        if Path(name_or_path).suffix in {".yaml", ".yml"}:
            raise SpecError(f"study file {name_or_path} does not exist")
        raise UnknownNameError("study", str(name_or_path), (*sorted(built_in), "or a path to a .yaml file"))
    text, where, beside = text_of(name_or_path, built_in)
    where = where.replace("case", "study", 1)
    try:
        return StudyFile(StudySpec(**read_yaml(text, where)), where, beside)
    except SpecError as error:
        raise SpecError(error.detail, place_of(text, where, error.path) if error.path else where, error.path) from None
