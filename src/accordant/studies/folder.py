"""A study from its name to its folder: runs in ``cells/``, and the result as JSON, CSV and one page."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from accordant.studies.cells import cells_of
from accordant.studies.checks import check_cells, check_names
from accordant.studies.declaration import ROWS, Changes, StudyFile, StudySpec, read_study, size_name
from accordant.studies.execution import StudyOptions, carry_out_cells, open_folder
from accordant.studies.page import render_study
from accordant.studies.result import StudyResult
from accordant.studies.summary import differences_text, summarise, table_text
from accordant.tables.output import write_output

RESULT, TABLE, DIFFERENCES, PAGE = "study.json", "study.csv", "differences.csv", "study.html"
DEFAULT = Path("accordant-studies")


@dataclass(frozen=True)
class Overrides:
    """What is said in place of the study's own: sizes, folds and resamples; None leaves them.

    A statement is about one size: where that one is not carried out, the statement goes.
    """

    rows: tuple[int, ...] | None = None
    folds: int | None = None
    resamples: int | None = None

    def study(self, study: StudySpec) -> StudySpec:
        """Return the study with other sizes."""
        if self.rows is None:
            return study
        names = {size_name(size) for size in self.rows}
        baseline = {axis: name for axis, name in study.baseline.items() if axis != ROWS or str(name) in names}
        usual = study.place("baseline", study.baseline)[ROWS]
        kept = tuple(statement for statement in study.statements if str(statement.where.get(ROWS, usual)) in names)
        return study.replace(rows=self.rows, baseline=baseline, statements=kept)

    def changes(self) -> Changes:
        """Return the changes of every run."""
        changes: Changes = {}
        if self.folds is not None:
            changes["learning"] = {"folds": self.folds}
        if self.resamples is not None:
            changes["evaluation"] = {"resamples": self.resamples}
        return changes


def carry_out_study(
    name_or_path: str | Path,
    out: Path | None,
    options: StudyOptions,
    overrides: Overrides | None = None,
) -> tuple[StudyResult, Path]:
    """Carry out what is missing of a study, and write what all of it comes to; return the result and its folder.

    Parameters
    ----------
    name_or_path
        A built-in study, or a YAML file.
    out
        The folder, new or of the same study; None for ``accordant-studies/NAME``.
    options, overrides
        What a user says beside the file.

    Raises
    ------
    InputError
        If the study, its case or a variant is wrong, or the folder is refused; nothing was learned yet.
    """
    overrides = overrides or Overrides()
    read = read_study(name_or_path)
    study = StudyFile(overrides.study(read.study), read.where, read.beside)
    cells = cells_of(study, options.data, overrides.changes())
    folder = out or DEFAULT / study.study.name
    check_names(study, cells)
    check_cells(cells, options)
    open_folder(study.study, folder)
    finished = carry_out_cells(cells, folder, options)
    result = summarise(study.study, cells, finished.records, finished.failures, finished.effects)
    content = json.dumps(result.to_json(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    texts = {
        RESULT: content, TABLE: table_text(result), DIFFERENCES: differences_text(result), PAGE: render_study(result)
    }  # fmt: skip
    for name, text in texts.items():
        write_output(folder / name, text)
    return result, folder
