"""Whether a reward model improves on a reference without making any group worse off: a paired bootstrap test.

The utility U_g of a group is the mean over its users of accuracy or of log-likelihood; Δ_g is U_g of the candidate less
U_g of the reference. The claim is Δ_g ≥ −ε for all groups, and Δ_g > 0 for at least one.

Each group gets a symmetric bootstrap-t interval for Δ_g (Hall 1988; Efron and Tibshirani 1993, Section 12.5) from
resamples of its users; a user carries both models' values, so the comparison is paired. The intervals hold together:
groups are disjoint, so each is taken at level^(1 / number of groups) (Šidák 1967). Whatever is true, a wrong "shown"
or "contradicted" then has probability of about 1 − level at most.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from accordant.errors import InputError
from accordant.preferences.measures.arrays import Codes, Values, codes, numbers
from accordant.preferences.measures.intervals import LEVEL, resample_counts

Verdict = Literal["shown", "not shown", "contradicted"]

RESAMPLES = 4000  # ten groups at 95 % then rest on the 20 most extreme resamples each
BLOCK = 1_000_000  # counts held at a time (8 MB)
FLAT = 1e-12  # a spread below this share of the values is rounding


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
        Simultaneous interval of the difference; −∞ and ∞ if the users do not tell.
    remark
        Why the interval is unbounded, else empty.
    """

    group: str
    n_users: int
    reference: float
    candidate: float
    difference: float
    low: float
    high: float
    remark: str

    def to_json(self) -> dict[str, Any]:
        """Return plain values; what is unbounded or unknown is None."""
        return {
            name: None if isinstance(value, float) and not math.isfinite(value) else value
            for name, value in asdict(self).items()
        }


@dataclass(frozen=True)
class ParetoTest:
    """Answer of the test, with its numbers.

    Attributes
    ----------
    verdict
        ``"shown"``: every interval lies at or above −ε, and one above 0. ``"contradicted"``: an interval lies below −ε,
        or all lie below 0. Else ``"not shown"``.
    reason
        Which groups decided, in a sentence.
    groups
        The groups in the given order.
    tolerance
        ε, in units of the utility.
    level
        Probability aimed at that all intervals cover together.
    resamples
        Number of resamples.
    """

    verdict: Verdict
    reason: str
    groups: tuple[GroupChange, ...]
    tolerance: float
    level: float
    resamples: int

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "verdict": self.verdict,
            "reason": self.reason,
            "groups": [group.to_json() for group in self.groups],
            "tolerance": self.tolerance,
            "level": self.level,
            "resamples": self.resamples,
        }


def pareto_test(
    reference: Values,
    candidate: Values,
    groups: Codes,
    *,
    generator: np.random.Generator,
    names: Sequence[str] | None = None,
    tolerance: float = 0.0,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
) -> ParetoTest:
    """Test whether a candidate improves on a reference for some group and worsens it for none.

    Parameters
    ----------
    reference, candidate
        Accuracy or mean log-likelihood of each user under the two models, same users and records, shape (user,).
    groups
        Code of each user's group, shape (user,).
    generator
        Source of randomness; the same state gives the same bytes.
    names
        Names of the groups; None for ``"0"``, ``"1"``, …
    tolerance
        ε ≥ 0: how much a group may lose.
    level
        Probability that all intervals cover together, in (0, 1).
    resamples
        At least 1; with too few for the level the intervals are unbounded.

    Raises
    ------
    InputError
        If shapes differ, numbers are not finite, there are no users, or a parameter is out of range.
    """
    reference = numbers("reference", reference, "user")
    candidate = numbers("candidate", candidate, "user", len(reference))
    groups = codes("groups", groups, len(reference), None if names is None else len(names))
    if not len(reference):
        raise InputError("there are no users")
    if not (tolerance >= 0 and math.isfinite(tolerance)):
        raise InputError(f"tolerance is {tolerance}; allowed: at least 0")
    if not 0 < level < 1:
        raise InputError(f"level is {level}; allowed: between 0 and 1")
    if resamples < 1:
        raise InputError(f"resamples is {resamples}; allowed: 1 or more")
    every = tuple(map(str, range(int(groups.max()) + 1) if names is None else names))
    each_level = level ** (1.0 / len(every))
    changes = []
    for g, name in enumerate(every):
        members = groups == g
        changes.append(_change(name, reference[members], candidate[members], each_level, resamples, generator))
    verdict, reason = judged(changes, tolerance)
    if np.array_equal(reference, candidate):
        reason = "no user is served differently"
    return ParetoTest(verdict, reason, tuple(changes), tolerance, level, resamples)


def judged(changes: Sequence[GroupChange], tolerance: float) -> tuple[Verdict, str]:
    """Return the verdict and its reason from intervals that hold together."""
    worse = [change.group for change in changes if change.high < -tolerance]
    if worse:
        return "contradicted", f"worse by more than {tolerance:g}: {', '.join(worse)}"
    if all(change.high < 0 for change in changes):
        return "contradicted", "every group is worse"
    open_groups = [change.group for change in changes if not change.low >= -tolerance]
    better = [change.group for change in changes if change.low > 0]
    if open_groups:
        return "not shown", f"may be worse by more than {tolerance:g}: {', '.join(open_groups)}"
    if not better:
        return "not shown", "no group is shown to be better"
    return "shown", f"better: {', '.join(better)}; no group is worse by more than {tolerance:g}"


def _change(
    name: str, reference: Values, candidate: Values, level: float, resamples: int, generator: np.random.Generator
) -> GroupChange:
    n = len(reference)
    if not n:
        return GroupChange(name, 0, math.nan, math.nan, math.nan, -math.inf, math.inf, "no users")
    differences = candidate - reference
    mean = float(differences.mean())
    size = max(float(np.abs(reference).max()), float(np.abs(candidate).max()))
    remark = ""
    half = math.inf
    if n == 1:
        remark = "one user"
    elif np.ptp(differences) <= FLAT * size:
        remark = "the same difference for every user: nothing to resample"
    else:
        critical = _critical(differences - mean, level, resamples, generator)
        half = critical * float(differences.std()) / math.sqrt(n)
        remark = "" if math.isfinite(half) else "too few different users or resamples for this level"
    return GroupChange(
        name, n, float(reference.mean()), float(candidate.mean()), mean, mean - half, mean + half, remark
    )


def _critical(centred: Values, level: float, resamples: int, generator: np.random.Generator) -> float:
    """Return the quantile of |mean / standard error| over resamples of centred differences.

    A resample in which all values are equal has no standard error and counts as ∞: groups that give many of those have
    no bounded interval.
    """
    n = len(centred)
    least = FLAT * centred.var()
    step = max(1, BLOCK // n)
    found = np.empty(resamples)
    for start in range(0, resamples, step):
        stop = min(resamples, start + step)
        drawn = resample_counts(n, stop - start, generator)
        means = drawn @ centred / n
        variances = drawn @ centred**2 / n - means**2
        flat = variances <= least
        errors = np.sqrt(np.where(flat, 1.0, variances) / n)
        found[start:stop] = np.where(flat, np.inf, np.abs(means) / errors)
    place = math.ceil(level * (resamples + 1))
    return float(np.sort(found)[place - 1]) if place <= resamples else math.inf
