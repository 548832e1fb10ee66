"""What is refused before anything is learned: names, columns, sizes and models that some condition would run into."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext

from accordant import strategies
from accordant.cases.spec import CaseSpec
from accordant.errors import InputError, UnknownNameError
from accordant.runs.declaration import check_declared
from accordant.runs.execution import build_policy, case_data, split, subset
from accordant.runs.models.trusted_types import refuse_unsavable
from accordant.runs.reward_sources import located_signals
from accordant.studies.cells import Cell
from accordant.studies.declaration import SCORE, SELECTED, TIED, StudyFile
from accordant.studies.execution import StudyOptions, quiet, run_options
from accordant.studies.statements import CANDIDATES


def check_names(study: StudyFile, cells: Sequence[Cell]) -> None:
    """Refuse metrics and strategies that are to be compared, or stated about, and that no condition has.

    Raises
    ------
    UnknownNameError
        With the nearest name.
    """
    cases = [cell.file.case for cell in _firsts(cells).values()]
    metrics = dict.fromkeys(label for case in cases for label in case.metrics)
    labels = dict.fromkeys(label for case in cases for label in labels_of(case))
    spec = study.study
    named = [
        ("compare.metrics", "metric", spec.compare.metrics, (*metrics, SCORE, TIED)),
        ("compare.strategies", "strategy", spec.compare.strategies, (*labels, SELECTED)),
    ]
    for number, statement in enumerate(spec.statements):
        about = tuple(name for name in (statement.higher, statement.strategy, *statement.lower) if name is not None)
        named.append((f"statements.{number}", "metric", (statement.metric,), (*metrics, SCORE, TIED, SELECTED)))
        named.append((f"statements.{number}", "strategy", about, (*labels, SELECTED, CANDIDATES)))
    for key, kind, names, allowed in named:
        for name in names:
            if name not in allowed:
                raise InputError(f"{study.where}: {key}: {UnknownNameError(kind, name, allowed)}")


def labels_of(case: CaseSpec) -> list[str]:
    """Return the labels of all strategies that a run of a case may list."""
    problem = case.problem
    given = [strategies.create(spec.name, spec.parameters).for_problem(problem) for spec in case.strategies]
    always = [baseline for aware in (True, False) for baseline in strategies.baselines_for(problem, action_aware=aware)]
    return [strategy.label for strategy in (*(given or strategies.defaults_for(problem)), *always)]


def check_cells(cells: Sequence[Cell], options: StudyOptions) -> None:
    """Refuse, before anything is learned, what any condition would run into: names, columns, sizes, models.

    Raises
    ------
    InputError
        The message names the study and the variant.
    """
    for number, cell in enumerate(_firsts(cells).values()):
        with quiet() if number else nullcontext():  # that data are simulated is said once
            _check_cell(cell, options)


def _check_cell(cell: Cell, options: StudyOptions) -> None:
    file, run = cell.file, run_options(cell, options)
    try:
        check_declared(file, file.case)
        signals = located_signals(file.case, file.beside, options.data)
        data = case_data(file.case, file.beside, run, signals)
        train, _ = split(data, file.case.evaluation.test_size, run.seed)
        subset(train, run)
        policy = build_policy(file.case, run)
        refuse_unsavable("outcome model", policy.outcome_model)
        refuse_unsavable("reward model", policy.reward_model)
    except InputError as error:
        words = str(error)
        raise InputError(words if words.startswith(file.where) else f"{file.where}: {words}") from None


def _firsts(cells: Sequence[Cell]) -> Mapping[str, Cell]:
    """Return the first run of each condition by its label."""
    firsts: dict[str, Cell] = {}
    for cell in cells:
        firsts.setdefault(cell.condition.label, cell)
    return firsts
