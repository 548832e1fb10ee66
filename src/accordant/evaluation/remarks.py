"""What a reader of a leaderboard must know, in plain sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from accordant.decisions import Decisions
from accordant.evaluation.leaderboard import LeaderboardRow, MetricColumn

UNDEFINED_SHARE = 0.01  # a metric undefined on more resamples than this is mentioned


def remarks(
    rows: Sequence[LeaderboardRow],
    columns: Sequence[MetricColumn],
    best_constant: str | None,
    decisions: Mapping[str, Decisions],
) -> tuple[str, ...]:
    """Return the sentences for a leaderboard; rows are sorted, best first."""
    found = [
        *_against_constant(rows, best_constant, decisions),
        *_close_calls(rows),
        *_unranked(rows, columns),
        *_unsure(rows),
    ]
    flat = [column.label for column in columns if column.uninformative]
    if flat:
        found.append(f"All candidates are equal on {_listed(flat)}, which therefore separates nothing.")
    return tuple(found)


def _against_constant(
    rows: Sequence[LeaderboardRow], best_constant: str | None, decisions: Mapping[str, Decisions]
) -> list[str]:
    """Say whether deciding case by case beats the same action for everybody."""
    if best_constant is None:
        return []
    constant = next(row for row in rows if row.strategy == best_constant)
    action = decisions[best_constant].actions[0]
    start = f"Always {action} scores {constant.score}"
    rivals = [
        row
        for row in rows
        if row.candidate
        and row.score.value is not None
        and not (row.kind == "baseline" and _constant(decisions[row.strategy]))
    ]
    if not rivals:
        return []
    above = [row.strategy for row in rivals if _value(row) > _value(constant) and not row.below_best_constant]
    below = [row.strategy for row in rivals if row.below_best_constant]
    if len(below) == len(rivals):
        return [f"{start}, above every strategy: on this composite score no strategy earns its cost."]
    if not above:
        return [f"{start}; no strategy scores higher, so on this composite score no strategy earns its cost."]
    return [f"{start}, above {_listed(below)}."] if below else []


def _close_calls(rows: Sequence[LeaderboardRow]) -> list[str]:
    """Say which candidates the data cannot tell from the best."""
    best = next((row for row in rows if row.candidate and row.score.value is not None), None)
    if best is None:
        return ["No candidate is ranked."]
    close = [row.strategy for row in rows if row.candidate and row.among_best and row is not best]
    return [f"Not distinguishable from {best.strategy}, the best candidate: {_listed(close)}."] if close else []


def _unranked(rows: Sequence[LeaderboardRow], columns: Sequence[MetricColumn]) -> list[str]:
    """Say why strategies have no score."""
    counted = [column.label for column in columns if column.weight > 0]
    return [
        f"{row.strategy} is unranked: {label} is not defined ({row.metrics[label].reason})."
        for row in rows
        for label in counted
        if row.metrics[label].estimate.value is None
    ]


def _unsure(rows: Sequence[LeaderboardRow]) -> list[str]:
    """Say which scores were not defined on a notable share of resamples."""
    return [
        f"The score of {row.strategy} is not defined on {row.score.undefined:.0%} of resamples; "
        "its interval leaves them out."
        for row in rows
        if row.score.value is not None and (row.score.undefined or 0) > UNDEFINED_SHARE
    ]


def _constant(decisions: Decisions) -> bool:
    return bool((decisions.codes == decisions.codes[0]).all())


def _value(row: LeaderboardRow) -> float:
    assert row.score.value is not None
    return row.score.value


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]
