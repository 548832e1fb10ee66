"""Whether a reward model improves on a reference for some group without costing another more than a tolerance.

The utility U_g of a group is the mean over its users of accuracy or of log-likelihood; Δ_g is U_g of the candidate less
U_g of the reference. Two claims, each tested against what it would deny
(`accordant.preferences.measures.paired_differences`):

    shown           Δ_g > 0 for some group and Δ_h > −ε for all: an intersection of claims, so each of them is tested at
                    the full level (Berger 1982); which group gains is not named beforehand, so that part is corrected
                    over groups (Šidák 1967; groups are disjoint)
    contradicted    Δ_g < −ε for some group, or Δ_g < 0 for all: the least of G + 1 p-values times G + 1 (Bonferroni)

Candidates that are compared with one reference are compared together: p-values of either claim are adjusted over them
(Holm 1979). Whatever is true, any wrong "shown" among them has a probability of 1 − level at most, and so has any wrong
"contradicted".

[ours] The claim, the tolerance of non-inferiority and the way the tests are joined.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from accordant.arrays import Codes, Values
from accordant.errors import InputError, UnknownNameError
from accordant.json_values import json_value
from accordant.naming import counted
from accordant.preferences.checks import codes, numbers
from accordant.preferences.measures.intervals import LEVEL
from accordant.preferences.measures.paired_differences import PairedDifference, paired_differences

Verdict = Literal["shown", "not shown", "contradicted"]

RESAMPLES = 4000  # the smallest p-value is then 0.00025: enough for a dozen candidates and ten groups
TOLERANCE = 0.02  # of accuracy: one comparison in fifty
LIKELY = 0.8  # power for which the smallest gain is said


@dataclass(frozen=True)
class GroupChange:
    """What changes for one group.

    Attributes
    ----------
    group
        Its name.
    n_users
        Its users.
    reference, candidate, difference
        Utilities, and candidate less reference; NaN without users.
    low, high
        Interval of the difference, two-sided; those of all groups hold together. −∞ and ∞ if the users do not tell.
    p_gain
        One-sided p-value of "no gain", Δ ≤ 0.
    p_loss
        One-sided p-value of "a loss of the tolerance or more", Δ ≤ −ε.
    remark
        Why no resampling was possible, else empty.
    """

    group: str
    n_users: int
    reference: float
    candidate: float
    difference: float
    low: float
    high: float
    p_gain: float
    p_loss: float
    remark: str


@dataclass(frozen=True)
class Power:
    """What the verdict could show with these users.

    Attributes
    ----------
    group
        The group whose gain is meant.
    n_users
        Its users.
    gain
        A true gain of this group that changes nothing for others; None if none was declared and none was seen.
    declared
        Whether it was declared beforehand, or is the gain seen.
    probability
        Probability that it would be shown, from the paired standard errors; None without a gain.
    detectable
        The smallest gain that would be shown with a probability of 0.8; None if no gain would.
    """

    group: str
    n_users: int
    gain: float | None
    declared: bool
    probability: float | None
    detectable: float | None


@dataclass(frozen=True)
class ParetoTest:
    """Answer of the test, with its numbers.

    Attributes
    ----------
    verdict
        ``"shown"``: better for some group, and worse for none by the tolerance or more. ``"contradicted"``: worse for
        some group by more than the tolerance, or worse for all. Else ``"not shown"``.
    reason
        Which groups decided, in a sentence.
    groups
        The groups in the given order.
    power
        How likely a gain would have been shown.
    p_shown, p_contradicted
        p-values of the two claims, adjusted over the candidates compared together; a verdict needs 1 − level or less.
    tolerance
        ε, in units of the utility.
    level
        1 less the probability of any wrong verdict of a kind.
    together
        Number of candidates that were compared together.
    resamples
        Number of resamples.
    """

    verdict: Verdict
    reason: str
    groups: tuple[GroupChange, ...]
    power: Power
    p_shown: float
    p_contradicted: float
    tolerance: float
    level: float
    together: int
    resamples: int

    def to_json(self) -> dict[str, Any]:
        """Return plain values; what is unbounded or unknown is None."""
        content: dict[str, Any] = json_value(asdict(self))
        return content


@dataclass(frozen=True)
class _Rule:
    """What all tests of one comparison share."""

    names: tuple[str, ...]
    gaining: str | None
    gain: float | None
    tolerance: float
    level: float
    together: int
    resamples: int

    @property
    def size(self) -> float:
        """Largest p-value of a verdict."""
        return 1.0 - self.level


def pareto_test(
    reference: Values, candidate: Values, groups: Codes, *, generator: np.random.Generator,
    names: Sequence[str] | None = None, tolerance: float = TOLERANCE, level: float = LEVEL,
    resamples: int = RESAMPLES, largest: float | None = None, gaining: str | None = None, gain: float | None = None,
) -> ParetoTest:  # fmt: skip
    """Test whether a candidate improves on a reference for some group and costs none the tolerance or more.

    Parameters
    ----------
    reference, candidate
        Accuracy or mean log-likelihood of each user under the two models, same users and records, shape (user,).
    groups, generator, names, tolerance, level, resamples, largest, gaining, gain
        As for `pareto_tests`.
    """
    return pareto_tests(
        reference, {"candidate": candidate}, groups, generator=generator, names=names, tolerance=tolerance, level=level,
        resamples=resamples, largest=largest, gaining=gaining, gain=gain,
    )["candidate"]  # fmt: skip


def pareto_tests(
    reference: Values, candidates: Mapping[str, Values], groups: Codes, *, generator: np.random.Generator,
    names: Sequence[str] | None = None, tolerance: float = TOLERANCE, level: float = LEVEL,
    resamples: int = RESAMPLES, largest: float | None = None, gaining: str | None = None, gain: float | None = None,
) -> dict[str, ParetoTest]:  # fmt: skip
    """Test several candidates against one reference, together.

    Parameters
    ----------
    reference
        Accuracy or mean log-likelihood of each user, shape (user,).
    candidates
        The same under each candidate.
    groups
        Code of each user's group, shape (user,).
    generator
        Source of randomness; the same state gives the same bytes.
    names
        Names of the groups; None for ``"0"``, ``"1"``, …
    tolerance
        ε ≥ 0: how much a group may lose, in units of the utility.
    level
        1 less the probability of any wrong verdict of a kind, in (0, 1).
    resamples
        At least 1; with too few for the level nothing is shown.
    largest
        What a user can gain or lose at most, above 0: 1 for accuracy. Then groups whose users change alike are judged
        by how many lose; None if there is no limit, then they are not judged.
    gaining
        Name of the group whose gain the power is about; None for the group that gains most.
    gain
        Smallest gain worth having, above 0, which the power is about; None for the gain seen.

    Raises
    ------
    InputError
        If shapes differ, numbers are not finite, there are no users, or a parameter is out of range.
    """
    reference = numbers("reference", reference, "user")
    columns = {name: numbers("candidate", column, "user", len(reference)) for name, column in candidates.items()}
    groups = codes("groups", groups, len(reference), None if names is None else len(names))
    if not len(reference):
        raise InputError("there are no users")
    every = tuple(map(str, range(int(groups.max()) + 1) if names is None else names))
    _check(tolerance, level, resamples, largest, gain)
    if gaining is not None and gaining not in every:
        raise UnknownNameError("group", gaining, every)
    if not columns:
        return {}
    rule = _Rule(every, gaining, gain, tolerance, level, len(columns), resamples)
    table = np.column_stack(list(columns.values()))
    parts = []
    for g in range(len(every)):
        members = groups == g
        own = reference[members]
        sizes = [max(np.abs(own).max(initial=0.0), np.abs(column).max(initial=0.0)) for column in table[members].T]
        differences = table[members] - own[:, None]
        parts.append(paired_differences(differences, sizes, largest or math.inf, resamples, generator))
    levels = [float(reference[groups == g].mean()) if (groups == g).any() else math.nan for g in range(len(every))]
    by_candidate = [[part[k] for part in parts] for k in range(len(columns))]
    shown = holm(np.array([_p_shown(row, rule) for row in by_candidate]))
    contradicted = holm(np.array([_p_contradicted(row, rule) for row in by_candidate]))
    return {
        name: _answer(by_candidate[k], levels, float(shown[k]), float(contradicted[k]), rule,
                      same=bool(np.array_equal(reference, columns[name])))
        for k, name in enumerate(columns)
    }  # fmt: skip


def holm(p_values: Values) -> Values:
    """Return p-values adjusted over tests that are read together (Holm 1979), shape as given."""
    order = np.argsort(p_values, kind="stable")
    factors = len(p_values) - np.arange(len(p_values))
    adjusted = np.minimum(1.0, np.maximum.accumulate(factors * p_values[order]))
    as_given = np.empty(len(p_values))
    as_given[order] = adjusted
    return as_given


def _p_shown(parts: Sequence[PairedDifference], rule: _Rule) -> float:
    """Return the p-value of "no group gains, or another loses the tolerance", for the group that speaks most for it."""
    losses = [part.p_above(-rule.tolerance) for part in parts]
    return min(
        max([_over_groups(part.p_above(0.0), len(parts)), *losses[:g], *losses[g + 1 :]])
        for g, part in enumerate(parts)
    )


def _over_groups(p_value: float, n_groups: int) -> float:
    """Return a p-value corrected for having the choice of the group (Šidák 1967)."""
    return 1.0 - (1.0 - p_value) ** n_groups


def _p_contradicted(parts: Sequence[PairedDifference], rule: _Rule) -> float:
    """Return the p-value of "no group loses more than the tolerance, and not all lose"."""
    one = min(part.p_below(-rule.tolerance) for part in parts)
    every = max(part.p_below(0.0) for part in parts)
    return min(1.0, (len(parts) + 1) * min(one, every))


def _answer(
    parts: Sequence[PairedDifference], levels: Sequence[float], shown: float, contradicted: float, rule: _Rule, *,
    same: bool,
) -> ParetoTest:  # fmt: skip
    """Return the test of one candidate."""
    each_level = rule.level ** (1.0 / len(parts))
    changes = tuple(
        GroupChange(
            name, part.n_users, level, level + part.mean, part.mean, *part.limits(each_level), part.p_above(0.0),
            part.p_above(-rule.tolerance), part.remark,
        )
        for name, part, level in zip(rule.names, parts, levels, strict=True)
    )  # fmt: skip
    verdict: Verdict = "not shown"
    if contradicted <= rule.size:
        verdict = "contradicted"
    elif shown <= rule.size:
        verdict = "shown"
    reason = "no user is served differently" if same else _reason(verdict, changes, parts, rule)
    return ParetoTest(
        verdict, reason, changes, _power(parts, rule), shown, contradicted, rule.tolerance, rule.level, rule.together,
        rule.resamples,
    )  # fmt: skip


def _reason(verdict: Verdict, changes: Sequence[GroupChange], parts: Sequence[PairedDifference], rule: _Rule) -> str:
    """Return which groups decided."""
    better = [change.group for change in changes if _over_groups(change.p_gain, len(parts)) <= rule.size]
    if verdict == "shown":
        return f"better: {', '.join(better)}; no group is worse by {rule.tolerance:g} or more"
    if verdict == "contradicted":
        p_values = [(part.p_below(-rule.tolerance), change.group) for part, change in zip(parts, changes, strict=True)]
        worse = [group for p, group in p_values if (len(parts) + 1) * p <= rule.size]
        return f"worse by more than {rule.tolerance:g}: {', '.join(worse)}" if worse else "every group is worse"
    if rule.together * _over_groups(1.0 / (rule.resamples + 1), len(parts)) > rule.size:
        asked = f"{counted(len(parts), 'group')} and {counted(rule.together, 'candidate')}"
        return f"{counted(rule.resamples, 'resample is', 'resamples are')} too few for {asked}"
    open_groups = [change.group for change in changes if change.p_loss > rule.size and change.group not in better]
    if open_groups:
        return f"may be worse by {rule.tolerance:g} or more: {', '.join(open_groups)}"
    if not better:
        return "no group is shown to be better"
    return f"shown if it were alone, not among {rule.together} candidates compared together"


def _power(parts: Sequence[PairedDifference], rule: _Rule) -> Power:
    """Return what would be shown, at the level of the candidate that Holm's procedure tests most strictly."""
    means = [-math.inf if math.isnan(part.mean) else part.mean for part in parts]
    place = int(np.argmax(means)) if rule.gaining is None else rule.names.index(rule.gaining)
    size = rule.size / rule.together
    own = 1.0 - (1.0 - size) ** (1.0 / len(parts))  # over groups
    part = parts[place]
    others = math.prod(other.chance_above(0.0, -rule.tolerance, size) for k, other in enumerate(parts) if k != place)
    gain = rule.gain if rule.gain is not None else part.mean if part.mean > 0 else None
    probability = None if gain is None else others * part.chance_above(gain, 0.0, own)
    least = part.least_true(0.0, own, LIKELY / others) if others > LIKELY else math.inf
    return Power(
        rule.names[place], part.n_users, gain, rule.gain is not None, probability,
        least if math.isfinite(least) else None,
    )  # fmt: skip


def _check(tolerance: float, level: float, resamples: int, largest: float | None, gain: float | None) -> None:
    """Refuse parameters out of range."""
    if not (tolerance >= 0 and math.isfinite(tolerance)):
        raise InputError(f"tolerance is {tolerance}; allowed: at least 0")
    if not 0 < level < 1:
        raise InputError(f"level is {level}; allowed: between 0 and 1")
    if resamples < 1:
        raise InputError(f"resamples is {resamples}; allowed: 1 or more")
    for name, value in (("largest", largest), ("gain", gain)):
        if value is not None and not (value > 0 and math.isfinite(value)):
            raise InputError(f"{name} is {value}; allowed: above 0")
