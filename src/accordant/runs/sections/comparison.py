"""`compare_runs`: what differs between two finished runs, and whether it is more than noise.

Figures of D* are compared with paired resamples where the untouched rows of both runs are at hand and the same, row by
row; otherwise by bounds that hold whatever the rows have in common, since nobody can check that rows of two files are
of other people.
"""

from __future__ import annotations

from collections.abc import Mapping

from accordant import __version__
from accordant.runs.folder import Run
from accordant.runs.record import Column, Row
from accordant.runs.sections.comparison_record import ComparedRun, OnlyIn, RunComparison, StrategyDifference
from accordant.runs.sections.declaration_changes import CaseDifference, declaration_changes
from accordant.runs.sections.paired_figures import metric_differences, paired_rows, same_metric

DATA = ("source", "simulated", "sha256", "rows", "train", "test", "group", "time", "left_out")


def compare_runs(first: Run, second: Run, data: str | None = None) -> RunComparison:
    """Return what differs between two runs.

    Parameters
    ----------
    first, second
        From `read_run`.
    data
        Data file or folder of both; None looks in the usual places, and does without if they are not there.

    Raises
    ------
    InputError
        If `data` are named and are not those of a run.
    """
    names = (first.path.resolve().name, second.path.resolve().name)
    boards = first.record.test, second.record.test
    lines = tuple({row.strategy: row for row in board.leaderboard} for board in boards)
    columns = tuple({column.label: column for column in board.metrics} for board in boards)
    pair, rows = paired_rows(first, second, data)
    same_scale = _same_scale(first, second)
    return RunComparison(
        accordant=__version__, first=_compared(first), second=_compared(second),
        data=tuple(declaration_changes(_data(first), _data(second))),
        declared=CaseDifference.of(names, first.content["case"], second.content["case"]),
        only_first=_only(lines[0], lines[1], columns[0], columns[1]),
        only_second=_only(lines[1], lines[0], columns[1], columns[0]),
        same_rows=pair is not None, rows=rows, same_scale=same_scale, level=min(board.level for board in boards),
        differences=tuple(metric_differences(first, second, pair, same_scale=same_scale)),
        strategies=tuple(_strategy(lines[0][name], lines[1][name]) for name in lines[0] if name in lines[1]),
        remarks=tuple(_remarks(first, second)),
    )  # fmt: skip


def _compared(run: Run) -> ComparedRun:
    return ComparedRun(
        folder=run.path.resolve().name, case=run.case.name, manifest_sha256=run.manifest.sha256, seed=run.record.seed,
        n=run.record.test.n, selected=run.record.selected,
    )  # fmt: skip


def _data(run: Run) -> dict[str, object]:
    """Return what a run says of its data, seed and split."""
    return {"seed": run.record.seed} | {name: run.content["data"].get(name) for name in DATA}


def _only(
    lines: Mapping[str, Row], others: Mapping[str, Row], columns: Mapping[str, Column], rest: Mapping[str, Column]
) -> OnlyIn:
    return OnlyIn(
        strategies=tuple(name for name in lines if name not in others),
        metrics=tuple(label for label in columns if label not in rest),
    )


def _strategy(before: Row, after: Row) -> StrategyDifference:
    shared = [label for label in before.metrics if label in after.metrics]
    return StrategyDifference(
        strategy=before.strategy,
        score=(before.score.value, after.score.value),
        metrics={label: (before.metrics[label].value, after.metrics[label].value) for label in shared},
    )


def _same_scale(first: Run, second: Run) -> bool:
    """Return whether composite scores are weighted means of the same metrics on the same fixed ranges."""
    boards = [
        (
            board.normalisation,
            [(metric.label, metric.goal, metric.weight, metric.range) for metric in board.metrics if metric.weight],
        )
        for board in (first.record.test, second.record.test)
    ]
    weighted = [column.label for column in first.record.test.metrics if column.weight]
    return boards[0] == boards[1] and boards[0][0] == "natural" and all(same_metric(first, second, m) for m in weighted)


def _remarks(first: Run, second: Run) -> list[str]:
    """Return what could make figures mean something else."""
    one, other = first.content["case"], second.content["case"]
    remarks = [
        f"{key} of the cases differ, so metrics of rewards may measure something else"
        for key in ("problem", "rewards")
        if one.get(key) != other.get(key)
    ]
    versions = first.record.versions, second.record.versions
    changed = sorted(name for name in {*versions[0], *versions[1]} if versions[0].get(name) != versions[1].get(name))
    return [*remarks, *([f"made with other versions of {', '.join(changed)}"] if changed else [])]
