"""The runs that a study asks for: the product of seeds, sizes and variants, each with a name that tells it apart."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from accordant import __version__
from accordant.cases.files import CaseFile, read_case_file, text_of
from accordant.cases.files import built_in_files as built_in_cases
from accordant.cases.loaders import query_hash
from accordant.cases.spec import CaseSpec
from accordant.errors import InputError, SpecError
from accordant.runs.execution import data_file
from accordant.runs.record import FORMAT
from accordant.studies.declaration import ROWS, Changes, StudyFile, size_name
from accordant.tables.databases import database_named
from accordant.tables.text import file_hash
from accordant.tables.yaml import read_yaml

NAMING = ("name", "set", "metric", "signal", "loader")  # keys that say what the keys beside them belong to
DIGITS = 12  # of a hash in the name of a folder


@dataclass(frozen=True)
class Condition:
    """What the seeds of some runs have in common.

    Attributes
    ----------
    rows
        Training rows; None for all.
    variants
        Axis to variant.
    label
        Unique in the study; what does not differ in it is left out.
    """

    rows: int | None
    variants: Mapping[str, str]
    label: str

    @property
    def place(self) -> dict[str, str]:
        """Axis to variant, and ``rows`` to the size, as `StudySpec.place` returns it."""
        return {ROWS: size_name(self.rows), **self.variants}


@dataclass(frozen=True)
class Cell:
    """One run.

    Attributes
    ----------
    condition, seed
        Which one.
    keys
        The changed case, as in a case file.
    file
        The same, checked.
    hash
        Of all that decides what comes out: case, data, seed, size and version, in hexadecimal digits.
    """

    condition: Condition
    seed: int
    keys: Mapping[str, Any]
    file: CaseFile
    hash: str

    @property
    def name(self) -> str:
        """The name of its folder."""
        parts = (*self.condition.variants.values(), size_name(self.condition.rows), str(self.seed), self.hash[:DIGITS])
        return "-".join(parts)

    def to_json(self) -> dict[str, Any]:
        """Return plain values, from which `of` makes the same run elsewhere."""
        beside = None if self.file.beside is None else str(self.file.beside.absolute())
        condition = {
            "rows": self.condition.rows,
            "variants": dict(self.condition.variants),
            "label": self.condition.label,
        }
        return {
            "condition": condition, "seed": self.seed, "keys": dict(self.keys), "where": self.file.where,
            "beside": beside, "hash": self.hash,
        }  # fmt: skip

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> Self:
        """Return the run that `to_json` told."""
        beside = None if told["beside"] is None else Path(told["beside"])
        file = CaseFile(CaseSpec(**told["keys"]), "", told["where"], beside)
        return cls(Condition(**told["condition"]), told["seed"], told["keys"], file, told["hash"])


def merge(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return a mapping with changes: inside mappings key by key, everything else replaced.

    A mapping whose change names another thing (a model, a reward set, a metric) is replaced as a whole: parameters of
    one model mean nothing for another.
    """
    merged = dict(base)
    for key, value in changes.items():
        before = merged.get(key)
        if isinstance(before, Mapping) and isinstance(value, Mapping) and not _names_another(before, value):
            merged[key] = merge(before, value)
        else:
            merged[key] = value
    return merged


def _names_another(before: Mapping[str, Any], change: Mapping[str, Any]) -> bool:
    return any(name in change and change[name] != before.get(name) for name in NAMING)


def cells_of(study: StudyFile, data: str | None = None, extra: Changes | None = None) -> list[Cell]:
    """Return the runs of a study: all conditions of the first seed, then of the second, and so on.

    Parameters
    ----------
    study
        The declaration.
    data
        File or folder of the data, as ``--data`` names it.
    extra
        Changes of every run, after those of the study and its variants.

    Raises
    ------
    InputError
        If the case or a variant of it is wrong, or two runs are the same or have one name; the message names them.
    """
    spec, base = study.study, _case_keys(study)
    read_case_file(study.case)  # what is wrong without any change is told with its line
    files: list[tuple[Condition, dict[str, Any], CaseFile]] = []
    for condition, changes in _conditions(study):
        keys = base
        for layer in (spec.changes, *changes, extra or {}):
            keys = merge(keys, layer)
        files.append((condition, keys, case_of(keys, f"variant {condition.label}", study)))
    labels = [condition.label for condition, _, _ in files]
    for label in labels:
        if labels.count(label) > 1:
            raise InputError(f"{study.where}: two conditions are called {label!r}; give their variants other names")
    hashes = {id(file): _data_hash(file, data) for _, _, file in files}
    cells = [
        Cell(condition, seed, keys, file, _hash(file.case, hashes[id(file)], seed, condition.rows))
        for seed in spec.seeds
        for condition, keys, file in files
    ]
    first: dict[str, Cell] = {}
    for cell in cells:
        same = first.setdefault(cell.hash, cell)
        if same is not cell:
            raise InputError(
                f"{study.where}: {same.condition.label!r} and {cell.condition.label!r} are the same run; each variant "
                "must change something"
            )
    return cells


def case_of(keys: Mapping[str, Any], words: str, study: StudyFile) -> CaseFile:
    """Return the case that keys declare; messages name the study and the variant.

    Raises
    ------
    SpecError
        If they make no valid case.
    """
    where = f"{study.where}, {words}"
    try:
        case = CaseSpec(**keys)
    except SpecError as error:
        raise SpecError(error.detail, where, error.path) from None
    beside = text_of(study.case, built_in_cases())[2]
    return CaseFile(case, "", where, beside)


def _case_keys(study: StudyFile) -> dict[str, Any]:
    text, where, _ = text_of(study.case, built_in_cases())
    return read_yaml(text, where)


def _conditions(study: StudyFile) -> list[tuple[Condition, list[Changes]]]:
    """Return every condition with the changes of its variants, sizes first."""
    spec = study.study
    axes = spec.all_axes
    told = [axis for axis, variants in axes.items() if len(variants) > 1] or list(axes)
    conditions = []
    for rows in spec.rows:
        for names in itertools.product(*axes.values()):
            variants = dict(zip(axes, names, strict=True))
            words = [variants[axis] for axis in told]
            words += [_size_words(rows)] if len(spec.rows) > 1 or not words else []
            changes = [axes[axis][name] for axis, name in variants.items()]
            conditions.append((Condition(rows, variants, ", ".join(words)), changes))
    return conditions


def _size_words(rows: int | None) -> str:
    return "all rows" if rows is None else f"{rows} rows"


def _data_hash(file: CaseFile, data: str | None) -> str | None:
    """Return the hash of the data of a case; None where they are simulated or missing."""
    path = data_file(file.case, file.beside, data)
    if path is None and file.case.data.query is not None and database_named():
        return query_hash(file.case.data)
    return None if path is None else file_hash(path)


def _hash(case: CaseSpec, data: str | None, seed: int, rows: int | None) -> str:
    content = {
        "case": case.model_dump(mode="json"), "data": data, "seed": seed, "rows": rows,
        "version": __version__, "format": FORMAT,
    }  # fmt: skip
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
