"""Whether published statements come out: each is a relation between means over seeds, all read together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from accordant.report.scale import number
from accordant.statistics import Estimate, share_estimate, student_mean
from accordant.studies.comparison import LEVEL, Runs, differences, mean_difference
from accordant.studies.declaration import SELECTED, StatementSpec, StudySpec
from accordant.studies.result import CAME_OUT, DID_NOT, UNTOLD, StatementPart

CANDIDATES = "candidates"
Values = Mapping[str, Estimate]


def statements(study: StudySpec, runs: Runs) -> tuple[StatementPart, ...]:
    """Return every statement with what the runs say to it.

    The intervals of all statements hold together with the probability `LEVEL` (Bonferroni over their comparisons).
    """
    labels = {tuple(sorted(condition.place.items())): condition.label for condition in runs.conditions}
    places = [
        labels[tuple(sorted(study.place(f"statements.{number}.where", statement.where).items()))]
        for number, statement in enumerate(study.statements)
    ]
    pairs = list(zip(study.statements, places, strict=True))
    n = max(1, sum(len(others(statement, runs, place)) or 1 for statement, place in pairs))
    return tuple(_part(statement, runs, place, n) for statement, place in pairs)


def others(statement: StatementSpec, runs: Runs, condition: str) -> list[str]:
    """Return the strategies that are said to have a smaller value; none for a threshold.

    Of all candidates those that have a value in no run, because a metric is not defined, are left out.
    """
    if statement.higher is None:
        return []
    if statement.lower != (CANDIDATES,):
        return list(statement.lower)
    ranked = [name for name in runs.candidates(condition) if runs.values(condition, name, statement.metric)]
    return [name for name in ranked if name != statement.higher]


def verdict_on_order(values: Sequence[Estimate]) -> str:
    """Return whether all differences are above zero: came out, did not, or cannot be told."""
    lows, highs = [estimate.low for estimate in values], [estimate.high for estimate in values]
    if any(high is not None and high < 0 for high in highs):
        return DID_NOT
    return CAME_OUT if lows and all(low is not None and low > 0 for low in lows) else UNTOLD


def verdict_on_threshold(value: Estimate, at_least: float | None, at_most: float | None) -> str:
    """Return on which side of a threshold an interval lies: came out, did not, or cannot be told."""
    if value.low is None or value.high is None:
        return UNTOLD
    if at_least is not None:
        return CAME_OUT if value.low >= at_least else DID_NOT if value.high < at_least else UNTOLD
    assert at_most is not None
    return CAME_OUT if value.high <= at_most else DID_NOT if value.low > at_most else UNTOLD


def _part(statement: StatementSpec, runs: Runs, condition: str, n: int) -> StatementPart:
    if statement.higher is not None:
        values, computed = _order(statement, runs, condition, n)
        verdict = verdict_on_order(list(values.values()))
    else:
        assert statement.strategy is not None
        value = _threshold(statement.strategy, statement.metric, runs, condition, n)
        values, computed = {statement.strategy: value}, _words(value)
        verdict = verdict_on_threshold(value, statement.at_least, statement.at_most)
    return StatementPart(
        says=statement.says, source=statement.source, published=statement.published, condition=condition,
        computed=computed, values=dict(values), verdict=verdict,
    )  # fmt: skip


def _order(statement: StatementSpec, runs: Runs, condition: str, n: int) -> tuple[Values, str]:
    """Return the differences behind an order, and both sides in words."""
    assert statement.higher is not None
    first = runs.values(condition, statement.higher, statement.metric)
    rest = {name: runs.values(condition, name, statement.metric) for name in others(statement, runs, condition)}
    values = {
        name: mean_difference(differences(first, by_seed, "max"), statement.metric, n) for name, by_seed in rest.items()
    }
    means = {name: sum(by_seed.values()) / len(by_seed) for name, by_seed in rest.items() if by_seed}
    if not first or not means:
        return values, "not defined"
    top = max(means, key=lambda name: means[name])
    against = f"{number(means[top])} ({top})"
    return values, f"{number(sum(first.values()) / len(first))} against {'at most ' * (len(means) > 1)}{against}"


def _threshold(strategy: str, metric: str, runs: Runs, condition: str, n: int) -> Estimate:
    """Return the mean of a strategy, or the share of runs in which it is D*."""
    level = 1 - (1 - LEVEL) / n
    if metric == SELECTED:
        return share_estimate([record.selected == strategy for record in runs.records[condition].values()], level)
    return student_mean(list(runs.values(condition, strategy, metric).values()), LEVEL, comparisons=n)


def _words(value: Estimate) -> str:
    return "not defined" if value.value is None else number(value.value)
