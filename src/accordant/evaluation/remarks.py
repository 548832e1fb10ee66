"""What a reader of a leaderboard must know, in plain sentences; each is said once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from accordant.evaluation.leaderboard import LeaderboardRow, MetricColumn
from accordant.naming import listed

Key = TypeVar("Key")
UNDEFINED_SHARE = 0.01  # a metric undefined on more resamples than this is mentioned
FEW_CONTEXTS = 50  # with fewer, a share of 1/2 is known to no better than ± 0.14
DECIDING = 0.1  # a metric that makes less than this share of the differences between scores decides nothing


def remarks(
    rows: Sequence[LeaderboardRow],
    columns: Sequence[MetricColumn],
    best_constant: str | None,
    always: Mapping[str, str | None],
    n: int,
    *,
    resampled: bool = True,
) -> tuple[str, ...]:
    """Return the sentences for a leaderboard on `n` contexts.

    Rows are sorted, best first; `always` names the action of strategies that take the same in every context.
    """
    return (
        *_too_few(n),
        *_against_constant(rows, best_constant, always),
        *_among_best(rows),
        *_alike(rows),
        *_deciding(columns),
        *_unsupported(rows, resampled=resampled),
        *_unranked(rows, columns),
        *_withheld(rows),
        *_unsure(rows),
    )


def _too_few(n: int) -> list[str]:
    if n >= FEW_CONTEXTS:
        return []
    return [f"There are only {n} contexts: whatever follows illustrates the method and supports no decision."]


def _against_constant(
    rows: Sequence[LeaderboardRow], best_constant: str | None, always: Mapping[str, str | None]
) -> list[str]:
    """Say whether deciding case by case scores higher than the same action for everybody."""
    if best_constant is None:
        return []
    constant = next(row for row in rows if row.strategy == best_constant)
    start = f"Always {always[best_constant]} scores {constant.score}"
    rivals = [
        row
        for row in rows
        if row.candidate
        and row.score.value is not None
        and not (row.kind == "baseline" and always[row.strategy] is not None)
    ]
    if not rivals or constant.score.reason:
        return []
    above = [row for row in rivals if _value(row) > _value(constant) and not row.below_best_constant]
    below = [row.strategy for row in rivals if row.below_best_constant]
    if not above:
        return [f"{start}, and no strategy scores higher: on this composite score deciding case by case shows no gain."]
    if constant.among_best and below:
        return [f"{start}, which cannot be told from the best; scored lower: {listed(below)}."]
    return [f"{start}; scored lower: {listed(below)}."] if below else []


def _among_best(rows: Sequence[LeaderboardRow]) -> list[str]:
    """Say which candidates cannot be told from the best, all of them compared together."""
    best = next((row for row in rows if row.candidate and row.score.value is not None), None)
    if best is None:
        return ["No candidate is ranked."]
    inside = [row.strategy for row in rows if row.among_best and row.alike is None]
    outside = [row.strategy for row in rows if row.among_best is False and row.alike is None]
    if not inside:
        return []
    level = next((row.score.level for row in rows if row.score.level is not None), None)
    everybody = not any(
        row.candidate and row.score.value is not None and row.among_best is None and row.alike is None for row in rows
    )
    whom = "all candidates" if everybody else "all of them"
    sure = "" if level is None else f" (with {level:.0%} confidence, {whom} compared together)"
    if len(inside) == 1 and outside:
        first = inside[0]
        return [
            f"{first} is the best candidate{sure}." if everybody else f"Of those compared {first} is the best{sure}."
        ]
    worse = f"; shown to be worse: {listed(outside)}" if outside else "; nobody is shown to be worse"
    start = "The best candidate is" if everybody else "Of those compared the best is"
    return [f"{start} among {listed(inside)}{sure}{worse}."] if len(inside) > 1 else []


def _alike(rows: Sequence[LeaderboardRow]) -> list[str]:
    """Say which lines were compared as one."""
    groups: dict[str, list[str]] = {}
    for row in rows:
        if row.alike is not None:
            groups.setdefault(row.alike, []).append(row.strategy)
    if not groups:
        return []
    parts = "; ".join(f"{listed(members)} as {leader}" for leader, members in groups.items())
    return [f"Decide alike in at least 99% of contexts, and are compared as one: {parts}."]


def _deciding(columns: Sequence[MetricColumn]) -> list[str]:
    """Say which metrics separate nothing, and which weights decide the score."""
    counted = [column for column in columns if column.weight > 0]
    silent = [f"{column.label} (weight {column.weight:.2g})" for column in counted if column.uninformative]
    sentences = []
    if silent:
        sentences.append(f"The candidates differ by no more than noise on {listed(silent)}.")
    order = sorted(counted, key=lambda column: -column.influence)
    deciding = [f"{column.label} ({column.influence:.0%})" for column in order if column.influence >= DECIDING]
    if deciding and len(counted) > 1:
        sentences.append(f"Differences between scores come from {listed(deciding)}.")
    return sentences


def _unsupported(rows: Sequence[LeaderboardRow], *, resampled: bool) -> list[str]:
    """Say which strategies decide what the log hardly shows, and what follows for their intervals."""
    poor: dict[bool, list[str]] = {}
    for row in rows:
        if (
            row.overlap is not None
            and row.overlap.poor
            and not (resampled and row.overlap.scarce)
            and row.alike is None
        ):
            share = f"{row.strategy} ({row.overlap.unsupported:.0%} of its decisions)"
            poor.setdefault(row.score.reason == row.overlap.reason, []).append(share)
    room = "Their intervals leave room for whatever could have followed there"
    return [
        f"The log hardly holds what these decide: {listed(names)}."
        + (f" {'Their scores have no interval' if withheld else room}, and they are not compared." if resampled else "")
        for withheld, names in poor.items()
    ]


def _unranked(rows: Sequence[LeaderboardRow], columns: Sequence[MetricColumn]) -> list[str]:
    """Say why strategies have no score."""
    counted = [column.label for column in columns if column.weight > 0]
    return [
        f"{listed(names)} {_is(names)} unranked: {label} is not defined ({reason})."
        for (label, reason), names in _grouped(
            ((label, row.metrics[label].reason), row.strategy)
            for row in rows
            for label in counted
            if row.metrics[label].estimate.value is None
        )
    ]


def _withheld(rows: Sequence[LeaderboardRow]) -> list[str]:
    """Say why scores have no interval, where that has not been said yet."""
    return [
        f"The scores of {listed(names)} have no interval and are not compared: {reason}."
        for reason, names in _grouped(
            (row.score.reason, row.strategy)
            for row in rows
            if row.score.value is not None and row.score.reason and not _said(row)
        )
    ]


def _said(row: LeaderboardRow) -> bool:
    """Whether the lack of an interval follows from overlap, or is that of the line that decides alike."""
    return row.alike is not None or (row.overlap is not None and row.score.reason == row.overlap.reason)


def _unsure(rows: Sequence[LeaderboardRow]) -> list[str]:
    """Say which scores were not defined on a notable share of resamples."""
    unsure = [
        f"{row.strategy} ({row.score.undefined:.0%})"
        for row in rows
        if row.score.value is not None and (row.score.undefined or 0) > UNDEFINED_SHARE
    ]
    if not unsure:
        return []
    return [f"Not defined on some resamples, which their intervals leave out: the scores of {listed(unsure)}."]


def _grouped(pairs: Iterable[tuple[Key, str]]) -> list[tuple[Key, list[str]]]:
    """Return each key with its names, in order of first appearance."""
    groups: dict[Key, list[str]] = {}
    for key, name in pairs:
        groups.setdefault(key, []).append(name)
    return list(groups.items())


def _is(names: Sequence[str]) -> str:
    return "is" if len(names) == 1 else "are"


def _value(row: LeaderboardRow) -> float:
    assert row.score.value is not None
    return row.score.value
