"""The run folder: written whole or not at all, and checked before anything in it is believed."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import TemplateError

from accordant.cases.spec import CaseSpec
from accordant.errors import DataError, RunFolderError, SpecError
from accordant.faces import Displayed
from accordant.json_values import read_json_value
from accordant.recommendation import Recommendations
from accordant.report.render import render
from accordant.runs.chain import Link, links_of
from accordant.runs.manifest import STATE_FILE, Manifest
from accordant.runs.pages import write_html
from accordant.runs.record import FORMAT, Record, Row
from accordant.runs.sections.adoption import recommended
from accordant.tables.output import MANIFEST, RECORD, Input, check_output_folder, output_folder, write_part
from accordant.tables.text import csv_text, file_hash

if TYPE_CHECKING:  # to read a record, or make its page, takes neither models nor scikit-learn
    from accordant.evaluation import Leaderboard
    from accordant.policy import ParticipatoryPolicy
    from accordant.runs.execution import CarriedOut

LEADERBOARD, REPORT, MODELS = "leaderboard.csv", "report.html", "models"
RUNS = Path("accordant-runs")  # where runs are written that nobody names a folder for
FORGED = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError, StopIteration)
"""What the page of a record runs into that no run has written."""


@dataclass(frozen=True)
class Run(Displayed):
    """A finished run.

    Attributes
    ----------
    path
        Its folder.
    manifest
        What it lists, checked.
    record
        What ``run.json`` holds.
    links
        The sections that were added to it since, in their order.
    """

    path: Path
    manifest: Manifest
    record: Record
    links: tuple[Link, ...] = ()

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
        from accordant.runs.models.policy_state import load_policy

        return load_policy(self.case, lambda name: self.manifest.read(f"{MODELS}/{name}"))

    @cached_property
    def leaderboard(self) -> Leaderboard:
        """Strategies × metrics with intervals, on the untouched rows of the run."""
        from accordant.runs.record.parts import leaderboard_of

        return leaderboard_of(self.record.test)

    def recommend(self, X: Any, *, strategy: str | None = None) -> Recommendations:
        """Decide for new contexts as ``accordant recommend`` does.

        Parameters
        ----------
        X
            Contexts with the features of the run: any data frame narwhals reads, or a mapping of columns.
        strategy
            Label of another strategy than D*.
        """
        return recommended(self, X, strategy)

    def report(self, page: str | Path) -> Path:
        """Write the page of the run, with the sections that were added to it, and return its path.

        Raises
        ------
        InputError
            If the name does not end with ``.html``, or the place is refused.
        """
        return write_html(self.page, Path(page))

    def page(self) -> str:
        """Return the report as HTML.

        Raises
        ------
        RunFolderError
            If the record is not what a run writes: hashes that were made anew show nothing of that.
        """
        try:
            return render(self.record, self.links)
        except RunFolderError:
            raise
        except (*FORGED, TemplateError) as error:
            words = f"{RECORD} is not what a run writes: {type(error).__name__}: {error}"
            raise RunFolderError(f"{self.path}: {words:.300}") from error

    @property
    def head(self) -> str:
        """Hash of the last section that was added, or of the manifest: whoever keeps it can tell what was taken off."""
        return self.links[-1].sha256 if self.links else self.manifest.sha256


def write_run(outcome: CarriedOut, out: Path | None) -> Path:
    """Write a run and return its folder.

    The manifest of hashes is written last, and the folder gets its name in one step when all of it is on the disk.
    A run that is killed leaves no folder that looks finished.

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
    from accordant.compute.fan_out import run_all
    from accordant.runs.models.policy_state import policy_files

    target = free_folder(outcome.case.name, out)
    record = outcome.record
    with output_folder(target) as folder:
        models = policy_files(outcome.policy)
        tasks: list[Callable[[], Any]] = [partial(_shown, record), *models.values()]
        shown, *contents = run_all(tasks, outcome.policy.n_jobs, "writing the run")
        kept = zip((f"{MODELS}/{name}" for name in models), contents, strict=True)
        for name, content in (*kept, *shown.items()):
            write_part(folder / name, content)
        hashes = {name: file_hash(folder / name) for name in _files(folder)}
        write_part(folder / MANIFEST, _json({"format": FORMAT, "sha256": hashes}))
    return target


def free_folder(case: str, out: Path | None, inputs: Iterable[Input] = ()) -> Path:
    """Return the folder to write, ``accordant-runs/CASE-N`` if none is named, if `check_output_folder` allows it."""
    if out is None:
        out = next(path for number in count(1) if not os.path.lexists(path := RUNS / f"{case}-{number}"))
    check_output_folder(out, inputs)
    return out


def read_run(folder: str | Path) -> Run:
    """Read a run folder after checking that it is complete and unchanged.

    Raises
    ------
    RunFolderError
        If it is no run folder, anything in it is missing, was added or was changed, or its format is unknown.
    """
    path = Path(folder)
    manifest = Manifest.of(path)
    manifest.read(f"{MODELS}/{STATE_FILE}")
    record = manifest.read(RECORD)
    manifest.check()
    links = links_of(manifest)
    try:
        content = dict(read_json_value(record.decode("utf-8")))
    except (ValueError, TypeError, DataError) as error:
        raise RunFolderError(f"{folder}: {RECORD} cannot be read: {error}") from None
    if content.get("format") != FORMAT:
        raise RunFolderError(f"{folder} has format {content.get('format')!r}; this version reads format {FORMAT}")
    try:
        return Run(path, manifest, Record.read(content), links)
    except SpecError as error:
        raise RunFolderError(f"{folder}: {RECORD} is not what a run writes: {error}") from None


def _shown(record: Record) -> dict[str, str | bytes]:
    """Return the files of a run that are made from its record."""
    return {
        RECORD: _json(record.content),
        LEADERBOARD: _leaderboard(record.test.leaderboard),
        REPORT: render(record),
    }


def _leaderboard(rows: Sequence[Row]) -> str:
    """Return one line of CSV per strategy; undefined values are empty."""
    header = ["strategy", "kind", "candidate", "among_best", "alike", "tied", "below_best_constant"]
    labels = ["score", *rows[0].metrics]
    cells = [
        [*(getattr(row, name) for name in header),
         *(end for figure in (row.score, *row.metrics.values()) for end in (figure.value, figure.low, figure.high))]
        for row in rows
    ]  # fmt: skip
    return csv_text([*header, *(f"{label} {part}" for label in labels for part in ("value", "low", "high"))], cells)


def _files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder).as_posix()) for path in folder.rglob("*") if path.is_file())


def _json(content: dict[str, Any]) -> str:
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
