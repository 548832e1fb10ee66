"""What a comparison says, in plain sentences: which methods change which group by how much, and what controls explain.

A sentence never says more than the intervals behind it. "Shown", "not shown" and "contradicted" are verdicts of the
paired test against the pooled reward (`accordant.preferences.measures.pareto`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from accordant.naming import counted
from accordant.preferences.comparison.measurements import Measured
from accordant.preferences.comparison.methods import LENGTH, POOLED, Fitted
from accordant.preferences.groups import Groups
from accordant.preferences.measures.pareto import LIKELY, Power
from accordant.report.scale import MINUS, number
from accordant.statistics import Estimate

ENOUGH_USERS = 10  # percentile intervals of fewer are too narrow to conclude from
STEP = 0.1  # of support: about what users differ by; a whole unit is beyond any data


@dataclass(frozen=True)
class Answer:
    """What is said first.

    Attributes
    ----------
    looked_at
        Label of the method that pictures show beside the pooled reward; None if there are controls alone.
    picked
        How that method was picked, in words.
    nearest_control
        Label of the control that comes nearest to it in the group it is looked at for; None if there is none.
    sentences
        In the order in which they are read.
    """

    looked_at: str | None
    picked: str
    nearest_control: str | None
    sentences: tuple[str, ...]


def conclude(rows: Sequence[Fitted], measured: Measured, groups: Groups, named: Sequence[str]) -> Answer:
    """Return the answer, from all methods, the pooled reward first, and the labels that were asked for by name."""
    candidates = [row.label for row in rows if not row.control]
    if not candidates:
        candidates = [row.label for row in rows if row.label in named and row.label != POOLED]
    if not candidates:
        return Answer(None, "", None, (_level(measured, POOLED), "Nothing but controls was compared."))
    looked_at, picked = _pick(candidates, measured, groups, named)
    nearest = _nearest(rows, looked_at, measured, groups)
    sentences = [*_verdicts(candidates, measured), _closely(looked_at, picked, measured)]
    if looked_at in measured.pareto:
        sentences.append(power_sentence(measured.pareto[looked_at].power))
    if nearest is not None:
        sentences.append(_controlled(looked_at, nearest, measured, groups))
    if any(row.label == LENGTH for row in rows):
        sentences.append(_length(looked_at, measured))
    sentences += _support(looked_at, measured)
    return Answer(looked_at, picked, nearest, tuple(sentences))


def signed(value: float | None) -> str:
    """Return a change with its sign, zero without one."""
    text = number(value)
    return text if value is None or text.startswith(MINUS) or text == number(0.0) else f"+{text}"


def change(limits: Estimate | None) -> str:
    """Return a change with its interval."""
    if limits is None:
        return "not defined"
    if limits.low is None or limits.high is None:
        return signed(limits.value)
    return f"{signed(limits.value)} [{signed(limits.low)}, {signed(limits.high)}]"


def _pick(candidates: Sequence[str], measured: Measured, groups: Groups, named: Sequence[str]) -> tuple[str, str]:
    """Return the method that is looked at closely, and how it was picked."""
    for label in named:
        if label in candidates:
            return label, "it was named" if len(candidates) > 1 else ""
    worst = {label: _worst(measured, label, groups) for label in candidates}
    return max(candidates, key=lambda label: worst[label]), (
        "of all, it has the highest accuracy in its worst group on the test records; as they picked it, its figures "
        "are a little too good"
    )


def _worst(measured: Measured, label: str, groups: Groups) -> float:
    """Return the accuracy of the group that is served worst."""
    values = [measured.metrics[label][f"accuracy[{name}]"].limits.value for name in groups.names]
    known = [value for value in values if value is not None]
    return min(known) if known else measured.metrics[label]["accuracy"].limits.value or 0.0


def _level(measured: Measured, label: str) -> str:
    metric = measured.metrics[label]["accuracy"]
    return f"{label.capitalize()}: accuracy {metric.limits.value:.3f} over {metric.n} {measured.units}."


def _verdicts(candidates: Sequence[str], measured: Measured) -> list[str]:
    """Return who is shown to do what against the pooled reward."""
    if not measured.pareto:
        return [f"There is one user, so nothing about users can be measured; intervals are over {measured.units}."]
    by_verdict: dict[str, list[str]] = {"shown": [], "not shown": [], "contradicted": []}
    for label in candidates:
        by_verdict[measured.pareto[label].verdict].append(label)
    tolerance = measured.pareto[candidates[0]].tolerance
    words = {
        "shown": f"Shown to improve accuracy over the pooled reward for some group, and to cost no other {tolerance:g} "
                 "or more",
        "contradicted": f"Shown to cost a group more than {tolerance:g}, or to lower accuracy for all",
        "not shown": "Neither is shown",
    }  # fmt: skip
    return [f"{words[verdict]}: {', '.join(labels) or 'no method'}." for verdict, labels in by_verdict.items() if labels
            or verdict == "shown"]  # fmt: skip


def _closely(label: str, picked: str, measured: Measured) -> str:
    """Return what the method changes for every group."""
    why = f" ({picked})" if picked else ""
    if label not in measured.pareto:
        return f"{label}{why} changes accuracy by {change(measured.difference(label, POOLED, 'accuracy'))}."
    test = measured.pareto[label]
    parts = [
        f"{group.group} ({counted(group.n_users, 'user')}) {signed(group.difference)}"
        + (f" [{signed(group.low)}, {signed(group.high)}]" if np.isfinite([group.low, group.high]).all() else "")
        for group in test.groups
    ]
    among = f", one of {test.together} compared together" if test.together > 1 else ""
    return (
        f"{label}{why} changes accuracy against the pooled reward by: {'; '.join(parts)}. These intervals hold "
        f"together at {test.level:.0%}; verdict: {test.verdict} ({test.reason}){among}."
    )


def power_sentence(power: Power) -> str:
    """Return in a sentence how likely the test is to show a gain."""
    users = f"{counted(power.n_users, 'user')} in {power.group}"
    least = (
        f"none, however large, would be shown in {LIKELY:.0%}"
        if power.detectable is None
        else f"to be shown in {LIKELY:.0%} it would have to be {power.detectable:.3f}"
    )
    if power.gain is None or power.probability is None:
        return f"With {users}, no gain was seen; of gains that cost nobody anything {least}."
    kind = "declared" if power.declared else "seen"
    return (
        f"With {users}, a true gain of {power.gain:.3f}, as {kind}, that costs nobody anything would be shown in "
        f"{share(power.probability)} of samples; {least}."
    )


def share(chance: float) -> str:
    """Return a probability that was estimated in whole per cent: never 0 % or 100 %."""
    return "over 99%" if chance >= 0.995 else "under 1%" if chance <= 0.005 else f"{chance:.0%}"


def _nearest(rows: Sequence[Fitted], looked_at: str, measured: Measured, groups: Groups) -> str | None:
    """Return the control with the highest accuracy in the minority, or over all; the pooled reward is no rival here."""
    metric = _metric(groups, measured)
    rivals = [
        row.label for row in rows
        if row.control and row.label not in (POOLED, looked_at) and row.control_of in (None, looked_at)
        and measured.metrics[row.label][metric].limits.value is not None
    ]  # fmt: skip
    return max(rivals, key=lambda rival: measured.metrics[rival][metric].limits.value or 0.0) if rivals else None


def _metric(groups: Groups, measured: Measured) -> str:
    metric = f"accuracy[{groups.minority}]"
    known = measured.metrics[POOLED][metric].limits.value is not None
    return metric if known and len(groups.names) > 1 else "accuracy"


def _controlled(label: str, control: str, measured: Measured, groups: Groups) -> str:
    """Return what the method adds beyond the nearest control."""
    metric = _metric(groups, measured)
    where = "over all" if metric == "accuracy" else f"for {groups.minority}"
    gain = measured.difference(label, control, metric)
    said = f"The control with the highest accuracy {where} is {control}; {label} differs from it by {change(gain)}"
    n = measured.metrics[label][metric].n
    if gain is None or gain.low is None or gain.high is None or gain.low == gain.high:
        return said + "; it is the same for every user, so how sure that is cannot be told."
    if n < ENOUGH_USERS:
        return said + f"; {counted(n, 'user is', 'users are')} too few to tell."
    if gain.low > 0:
        return said + _beyond_pooled(measured.difference(label, POOLED, metric))
    if gain.high < 0:
        return said + ": the control does better."
    return said + ": that it adds anything to this control is not shown."


def _beyond_pooled(gain: Estimate | None) -> str:
    """Return the end of a sentence about a gain over the controls, the pooled reward being one of them."""
    if gain is None or gain.low is None or gain.high is None:
        return ": more than this control."
    if gain.low > 0:
        return ": a gain that no control shows."
    if gain.high < 0:
        return f": more than this control, but the pooled reward does better ({change(gain)})."
    return f": more than this control, but against the pooled reward no gain is shown ({change(gain)})."


def _length(label: str, measured: Measured) -> str:
    """Return how much of the accuracy length reaches by itself."""
    values = [measured.metrics[name]["accuracy"].limits.value for name in (LENGTH, POOLED, label)]
    length, pooled, own = (0.0 if value is None else value for value in values)
    return f"Knowing nothing but the length of answers reaches {length:.3f}; pooled {pooled:.3f}, {label} {own:.3f}."


def _support(label: str, measured: Measured) -> list[str]:
    """Return whether users with rarer preferences are served worse."""
    said = []
    for name in (POOLED, label):
        slope = measured.metrics[name]["support_slope"].limits
        if slope.value is None:
            return []
        low, high = (None if end is None else end * STEP for end in (slope.low, slope.high))
        said.append(change(replace(slope, value=slope.value * STEP, low=low, high=high)))
    return [(
        f"Of users with whom {STEP:.0%} more of the others agree, accuracy differs by {said[0]} with the pooled reward "
        f"and by {said[1]} with {label}, along a straight line; 0 would mean that rare preferences are served alike."
    )]  # fmt: skip
