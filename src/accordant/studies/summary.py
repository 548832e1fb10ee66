"""From finished runs to the typed result of a study, and to its table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from accordant import __version__
from accordant.runs.record import Column, Record, Row
from accordant.studies.cells import Cell, Condition
from accordant.studies.comparison import (
    LEVEL,
    Runs,
    against_baseline,
    against_strategies,
    effect_shares,
    group_shares,
    leaderboard,
    mean_score,
    selections,
)
from accordant.studies.declaration import SCORE, SELECTED, StudySpec, size_name
from accordant.studies.effects import Effects
from accordant.studies.execution import Failure
from accordant.studies.result import CellPart, ConditionPart, EffectShare, FailurePart, StudyResult
from accordant.studies.statements import statements
from accordant.tables.text import csv_text


def summarise(
    study: StudySpec,
    cells: Sequence[Cell],
    records: Mapping[str, Record],
    failures: Sequence[Failure] = (),
    effects: Mapping[str, Effects] | None = None,
) -> StudyResult:
    """Return what a study came to.

    Parameters
    ----------
    study
        Its declaration.
    cells
        The runs that were asked for, in order.
    records
        Name of a cell to its record, for those that are finished.
    failures
        Runs that could not be carried out.
    effects
        Name of a cell to its treatment effects, for those that have any.
    """
    runs = Runs.of(cells, records)
    place = study.place("baseline", study.baseline)
    baseline = next(condition.label for condition in runs.conditions if condition.place == place)
    return StudyResult(
        accordant=__version__,
        study=study.model_dump(mode="json"),
        title=study.title or cells[0].file.case.title,
        simulated=any(record.data.simulated for record in records.values()),
        sources=tuple(dict.fromkeys(record.data.source for record in records.values())),
        level=LEVEL,
        metrics=runs.columns,
        conditions=tuple(_condition(runs, condition, baseline) for condition in runs.conditions),
        against_baseline=tuple(against_baseline(runs, baseline, study.compare.strategies, study.compare.metrics)),
        against_strategies=tuple(against_strategies(runs)),
        statements=statements(study, runs),
        groups=tuple(share for condition in runs.conditions for share in group_shares(runs, condition.label)),
        effects=_effects(runs, cells, effects or {}),
        cells=tuple(_cell(cell, records.get(cell.name)) for cell in cells),
        failures=tuple(FailurePart.model_validate(failure) for failure in failures),
    )


def table_text(result: StudyResult) -> str:
    """Return conditions × strategies × metrics as CSV, one line each: mean over runs, its interval, and D*."""
    axes = list(result.conditions[0].variants)
    header = [
        "condition", "rows", *axes, "strategy", "kind", "candidate", "metric", "goal", "weight", "runs", "mean", "low",
        "high", "selected_runs",
    ]  # fmt: skip
    return csv_text(header, list(_lines(result)))


def differences_text(result: StudyResult) -> str:
    """Return all differences as CSV, one line each; those of one list hold together."""
    header = ["list", "condition", "strategy", "metric", "other", "runs", "difference", "low", "high", "in_words"]
    lists = {"baseline condition": result.against_baseline, "baseline strategies": result.against_strategies}
    cells = [
        [name, row.condition, row.strategy, row.metric, row.other, row.difference.n,
         row.difference.value, row.difference.low, row.difference.high, row.verdict]
        for name, differences in lists.items() for row in differences
    ]  # fmt: skip
    return csv_text(header, cells)


def _lines(result: StudyResult) -> Iterator[list[object]]:
    for condition in result.conditions:
        for row in condition.leaderboard:
            times = condition.selected.get(row.strategy, 0)
            start = [
                condition.label, size_name(condition.rows), *condition.variants.values(), row.strategy, row.kind,
                row.candidate,
            ]  # fmt: skip
            score = row.score
            yield [*start, SCORE, "max", "", condition.runs, score.value, score.low, score.high, times]
            for column in result.metrics:
                yield [*start, *_metric_cells(row, column), times]


def _metric_cells(row: Row, column: Column) -> list[object]:
    cell = row.metrics.get(column.label)
    figures = [0, None, None, None] if cell is None else [cell.n, cell.value, cell.low, cell.high]
    return [column.label, column.goal, column.weight, *figures]


def _condition(runs: Runs, condition: Condition, baseline: str) -> ConditionPart:
    records = list(runs.records[condition.label].values())
    return ConditionPart(
        label=condition.label,
        rows=condition.rows,
        variants=dict(condition.variants),
        baseline=condition.label == baseline,
        runs=len(records),
        train=sum(record.data.train for record in records) / len(records) if records else None,
        selected=selections(records),
        score=mean_score(runs, condition.label, SELECTED),
        leaderboard=leaderboard(runs, condition.label),
    )


def _effects(runs: Runs, cells: Sequence[Cell], effects: Mapping[str, Effects]) -> tuple[EffectShare, ...]:
    """Return treatment effects of every condition."""
    by_condition: dict[str, list[Effects]] = {condition.label: [] for condition in runs.conditions}
    for cell in cells:
        if cell.name in effects:
            by_condition[cell.condition.label].append(effects[cell.name])
    return tuple(share for label, of_runs in by_condition.items() for share in effect_shares(label, of_runs))


def _cell(cell: Cell, record: Record | None) -> CellPart:
    return CellPart(
        name=cell.name, condition=cell.condition.label, seed=cell.seed,
        selected=None if record is None else record.selected,
        cpu_seconds=None if record is None else record.cost.cpu_seconds, finished=record is not None,
    )  # fmt: skip
