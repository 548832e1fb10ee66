"""The run folder: written whole or not at all, and checked before anything in it is believed."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from jinja2 import TemplateError

from accordant.cases.spec import CaseSpec
from accordant.errors import InputError, RunFolderError
from accordant.policy import ParticipatoryPolicy
from accordant.report import render
from accordant.runs.execution import CarriedOut
from accordant.runs.models import load_policy, save_policy
from accordant.runs.record import FORMAT, Record, Row
from accordant.tables.text import csv_text, file_hash, read_json

RECORD, MANIFEST, LEADERBOARD, REPORT, MODELS = "run.json", "manifest.json", "leaderboard.csv", "report.html", "models"
FORGED = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)
"""What the page of a record runs into that no run has written."""


@dataclass(frozen=True)
class Run:
    """A finished run.

    Attributes
    ----------
    path
        Its folder.
    record
        What ``run.json`` holds.
    """

    path: Path
    record: Record

    @property
    def content(self) -> dict[str, Any]:
        """The object of ``run.json``."""
        return self.record.content

    @cached_property
    def case(self) -> CaseSpec:
        """The case as it was run."""
        return CaseSpec(**self.content["case"])

    @cached_property
    def policy(self) -> ParticipatoryPolicy:
        """The saved policy, ready to recommend."""
        return load_policy(self.case, self.path / MODELS)

    def page(self) -> str:
        """Return the report as HTML.

        Raises
        ------
        RunFolderError
            If the record is not what a run writes: hashes that were made anew show nothing of that.
        """
        try:
            return render(self.record)
        except (*FORGED, TemplateError) as error:
            words = f"{RECORD} is not what a run writes: {type(error).__name__}: {error}"
            raise RunFolderError(f"{self.path}: {words:.300}") from error


def write_run(outcome: CarriedOut, out: Path | None) -> Path:
    """Write a run and return its folder.

    Everything is written to a hidden folder beside it, the manifest of hashes last; then that folder gets its
    name in one step. A run that is killed leaves no folder that looks finished.

    Parameters
    ----------
    outcome
        From `carry_out`.
    out
        The folder to make; None for the next free ``accordant-runs/CASE-N``.

    Raises
    ------
    InputError
        If the folder exists, or cannot be made.
    """
    target = free_folder(outcome.case.name, out)
    unfinished = target.with_name(f".{target.name}.unfinished-{os.getpid()}")
    try:
        (unfinished / MODELS).mkdir(parents=True)
        save_policy(outcome.policy, unfinished / MODELS)
        record = outcome.record
        (unfinished / RECORD).write_text(_json(record.content), encoding="utf-8")
        (unfinished / LEADERBOARD).write_text(_leaderboard(record.test.leaderboard), encoding="utf-8", newline="")
        (unfinished / REPORT).write_text(render(record), encoding="utf-8")
        hashes = {name: file_hash(unfinished / name) for name in _files(unfinished)}
        (unfinished / MANIFEST).write_text(_json({"format": FORMAT, "sha256": hashes}), encoding="utf-8")
        unfinished.rename(target)
    except OSError as error:
        raise InputError(f"the run cannot be written to {target}: {error.strerror}") from None
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return target


def free_folder(case: str, out: Path | None) -> Path:
    """Return the folder to write; refuse one that exists."""
    if out is not None:
        if out.exists():
            raise InputError(f"{out} exists; a run folder is written once, name another with --out")
        there = next(folder for folder in (out.absolute(), *out.absolute().parents) if folder.exists())
        if not there.is_dir() or not os.access(there, os.W_OK):
            raise InputError(f"a run cannot be written to {out}: {there} is not a folder that can be written")
        return out
    parent = Path("accordant-runs")
    number = 1
    while (parent / f"{case}-{number}").exists():
        number += 1
    return parent / f"{case}-{number}"


def read_run(folder: str | Path) -> Run:
    """Read a run folder after checking that it is complete and unchanged.

    Raises
    ------
    RunFolderError
        If it is no run folder, a file is missing, was added or was changed, or its format is unknown.
    """
    path = Path(folder)
    if not path.is_dir():
        raise RunFolderError(f"{folder} is not a folder")
    if not (path / MANIFEST).is_file():
        raise RunFolderError(f"{folder} is not a finished run: {MANIFEST} is missing")
    try:
        hashes: dict[str, str] = dict(read_json(path / MANIFEST)["sha256"])
    except (ValueError, KeyError, TypeError):
        raise RunFolderError(f"{folder}: {MANIFEST} was changed and cannot be read") from None
    for name in (RECORD, f"{MODELS}/policy.json", *hashes):
        if name not in hashes:
            raise RunFolderError(f"{folder}: {MANIFEST} was changed: it does not list {name}")
        if not (path / name).is_file():
            raise RunFolderError(f"{folder} is incomplete: {name} is missing")
        if file_hash(path / name) != hashes[name]:
            raise RunFolderError(f"{folder}: {name} was changed after the run")
    for name in _files(path):
        if name not in hashes and name != MANIFEST:
            raise RunFolderError(f"{folder}: {name} was added after the run")
    try:
        content = dict(read_json(path / RECORD))
    except (ValueError, TypeError):
        raise RunFolderError(f"{folder}: {RECORD} cannot be read") from None
    if content.get("format") != FORMAT:
        raise RunFolderError(f"{folder} has format {content.get('format')!r}; this version reads format {FORMAT}")
    return Run(path, Record.read(content))


def _leaderboard(rows: Sequence[Row]) -> str:
    """Return one line of CSV per strategy; undefined values are empty."""
    header = ["strategy", "kind", "candidate", "among_best", "alike", "tied", "below_best_constant"]
    labels = ["score", *rows[0].metrics]
    cells = [
        [*(getattr(row, name) for name in header),
         *(end for each in (row.score, *row.metrics.values()) for end in (each.value, each.low, each.high))]
        for row in rows
    ]  # fmt: skip
    return csv_text([*header, *(f"{label} {part}" for label in labels for part in ("value", "low", "high"))], cells)


def _files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder).as_posix()) for path in folder.rglob("*") if path.is_file())


def _json(content: dict[str, Any]) -> str:
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
