"""Majority and minority: groups of users, or of single records, for training and for measures.

    threshold    minority iff the support rate is below τ
    quantile     minority iff the support rate is below the q-quantile of the rates at hand
    clustering   users fall into types by their preferences; the largest type is the majority

Minority is always strictly below: a rate at the cut belongs to the majority. Somebody without a rate is in neither
group: "unknown" is left out of measures, and counts as majority in training, since nothing speaks for a minority.

The abstract that the groups come from (PAFO) defines neither rate nor cut: every choice here is ours.

`groups_of` says who is in which group while methods are compared. Groups are those of the file; without them, majority
and minority are told apart by support rates of records that are learned from, never of test records.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np

from accordant.arrays import Codes, Mask, Values
from accordant.errors import InputError, UnknownNameError
from accordant.preferences.checks import check_whole
from accordant.preferences.learners.mixture import UNSURE, Mixture
from accordant.preferences.records import Comparisons, weight_of_users
from accordant.preferences.support import SupportRates, mean_by_user, support_rates

Way = Literal["threshold", "quantile", "clustering"]
Level = Literal["user", "record"]

MAJORITY, MINORITY, UNKNOWN = "majority", "minority", "unknown"
ROUNDING = 1e-12  # relative: a rate nearer to the cut than this is at the cut
MOST_UNSURE = 0.5  # share of users without a clear type from which clusters are said to be doubtful
NO_GROUP = -1
EVERYBODY = "everybody"  # the only group, where no majority and minority were found
THRESHOLD = 0.5  # of the support rate: whoever most others disagree with is in the minority
SOURCES = {
    "counts": "counted among the other users who compared the same two items",
    "pooled": "predicted by one reward of users in other folds, since too few users compare the same items",
    "mixture": "predicted by hidden types of users",
}


@dataclass(frozen=True, eq=False)
class MajorityMinority:
    """Who is in the majority and who is in the minority.

    Attributes
    ----------
    names
        The users, shape (user,).
    of_user
        ``"majority"``, ``"minority"`` or ``"unknown"``, shape (user,).
    of_record
        Whether a record is one of the minority, shape (record,). At the level of users that means: of a user in the
        minority.
    known_record
        Whether the group of a record is known, shape (record,).
    made
        How the groups were made: plain values under the names of the parameters, and the cut.
    warnings
        Sentences that a reader of the result must see.
    """

    names: tuple[str, ...]
    of_user: tuple[str, ...]
    of_record: Mask
    known_record: Mask
    made: dict[str, Any]
    warnings: tuple[str, ...]

    @property
    def sizes(self) -> dict[str, int]:
        """Number of users of each group."""
        return {group: self.of_user.count(group) for group in (MAJORITY, MINORITY, UNKNOWN)}

    @property
    def records(self) -> dict[str, int]:
        """Number of records of each group."""
        minority, known = int(self.of_record.sum()), int(self.known_record.sum())
        return {MAJORITY: known - minority, MINORITY: minority, UNKNOWN: len(self.of_record) - known}

    @property
    def for_training(self) -> tuple[str, ...]:
        """Group of each user with the unknown in the majority, shape (user,): for `Comparisons.with_groups`."""
        return tuple(MAJORITY if group == UNKNOWN else group for group in self.of_user)

    @property
    def measured(self) -> Mask:
        """Which users take part in measures of groups: those whose group is known, shape (user,)."""
        return np.array([group != UNKNOWN for group in self.of_user], dtype=bool)

    def to_json(self) -> dict[str, Any]:
        """Return plain values; records are counted, not listed."""
        return {
            "users": dict(zip(self.names, self.of_user, strict=True)),
            "sizes": self.sizes,
            "records": self.records,
            "made": dict(self.made),
            "warnings": list(self.warnings),
        }


def majority_minority(
    comparisons: Comparisons,
    rates: SupportRates | None = None,
    *,
    by: Way = "threshold",
    level: Level = "user",
    threshold: float = 0.5,
    quantile: float = 0.2,
    types: int = 2,
    generator: np.random.Generator | None = None,
) -> MajorityMinority:
    """Tell majority from minority.

    Parameters
    ----------
    comparisons
        The records.
    rates
        Their support rates; None for ``support_rates(comparisons, estimator="auto", generator=generator)``. Clustering
        reads none.
    by
        ``"threshold"``, ``"quantile"`` or ``"clustering"``, see `accordant.preferences.groups`.
    level
        ``"user"``: by the mean rate of a user; all records of a user are in the user's group. ``"record"``: by the rate
        of a record; a user is in the minority if more than half of the records with a rate are, by weight.
    threshold
        τ in (0, 1]; for ``by="threshold"``.
    quantile
        q in (0, 1), for ``by="quantile"``: this share of the rates falls below the cut, rounded down, and fewer where
        rates repeat.
    types
        Hidden types at least 2, for ``by="clustering"``: the type with the most users is the majority, all others the
        minority; of equally large types, the one with the larger share. There are as many clusters as types even where
        users are all alike: ask `choose_types` first.
    generator
        Source of randomness for clusters and for rates that were not given; None seeds one with 0.

    Raises
    ------
    InputError, UnknownNameError
        If a parameter is out of range, rates belong to other records, or clusters are asked for records or with rates.
    DataError
        If there are no records to cluster.
    """
    for kind, given, allowed in (("way", by, Way), ("level", level, Level)):
        if given not in get_args(allowed):
            raise UnknownNameError(kind, given, get_args(allowed))
    if by == "clustering":
        if level == "record" or rates is not None:
            raise InputError("clustering is of users, by all their records; allowed: level 'user', and no rates")
        return _clustered(comparisons, types, generator)
    if rates is None:
        rates = support_rates(comparisons, estimator="auto", generator=generator)
    _check_rates(comparisons, rates)
    values = rates.of_user if level == "user" else rates.of_record
    cut = _cut(values, by, threshold, quantile)
    with np.errstate(invalid="ignore"):
        minority, known = values < cut * (1.0 - ROUNDING), np.isfinite(values)
    made = {
        "by": by, "level": level, by: threshold if by == "threshold" else quantile, "cut": cut if known.any() else None,
        "rates": rates.source, "leave_one_out": rates.leave_one_out,
        "records_with_rate": int(np.isfinite(rates.of_record).sum()),
    }  # fmt: skip
    grouped = _by_user if level == "user" else _by_record
    return grouped(comparisons, minority, known, made, rates.warnings)


def _check_rates(comparisons: Comparisons, rates: SupportRates) -> None:
    """Raise if rates belong to other records."""
    if rates.of_record.shape != (len(comparisons),) or rates.of_user.shape != (comparisons.n_users,):
        raise InputError(
            f"rates are of {rates.of_record.shape} records and {rates.of_user.shape} users; "
            f"allowed: ({len(comparisons)},) and ({comparisons.n_users},)"
        )


def _cut(values: Values, by: Way, threshold: float, quantile: float) -> float:
    """Return what a rate of the minority is below."""
    if not 0 < threshold <= 1:
        raise InputError(f"threshold is {threshold}; allowed: above 0, at most 1")
    if not 0 < quantile < 1:
        raise InputError(f"quantile is {quantile}; allowed: above 0, below 1")
    if by == "threshold":
        return float(threshold)
    known = np.sort(values[np.isfinite(values)])
    below = min(int(quantile * len(known) * (1.0 + ROUNDING)), len(known) - 1)
    return float(known[below]) if len(known) else float("nan")  # a rate that occurs: equal rates stay together


def _by_user(
    comparisons: Comparisons, minority: Mask, known: Mask, made: dict[str, Any], warnings: tuple[str, ...]
) -> MajorityMinority:
    """Return the groups from masks of users."""
    of_user = tuple(np.where(known, np.where(minority, MINORITY, MAJORITY), UNKNOWN).tolist())
    groups = MajorityMinority(
        comparisons.names, of_user, (minority & known)[comparisons.users], known[comparisons.users], made, warnings
    )
    return _with_warnings(groups)


def _by_record(
    comparisons: Comparisons, minority: Mask, known: Mask, made: dict[str, Any], warnings: tuple[str, ...]
) -> MajorityMinority:
    """Return the groups from masks of records."""
    weights = np.where(known, comparisons.record_weights, 0.0)
    total = np.bincount(comparisons.users, weights, minlength=comparisons.n_users)
    below = np.bincount(comparisons.users, weights * minority, minlength=comparisons.n_users)
    of_user = tuple(
        np.where(total > 0, np.where(2 * below > total * (1.0 + ROUNDING), MINORITY, MAJORITY), UNKNOWN).tolist()
    )
    return _with_warnings(MajorityMinority(comparisons.names, of_user, minority & known, known, made, warnings))


def _clustered(comparisons: Comparisons, types: int, generator: np.random.Generator | None) -> MajorityMinority:
    """Return the groups from hidden types."""
    check_whole(2, types=types)
    model = Mixture(types).fit(comparisons, generator=generator)
    known = weight_of_users(comparisons) > 0
    own = model.memberships.argmax(axis=1)
    sizes = np.bincount(own[known], minlength=types)
    largest = max(range(types), key=lambda k: (sizes[k], model.shares[k]))
    unsure = float((model.memberships[known].max(axis=1) < UNSURE).mean())
    made = {
        "by": "clustering", "level": "user", "types": types, "users_of_types": sizes.tolist(),
        "largest": largest, "unsure": unsure,
    }  # fmt: skip
    warnings = model.warnings
    if unsure > MOST_UNSURE:
        warnings += (f"{unsure:.0%} of the users are clearly of no type: the groups may be chance",)
    return _by_user(comparisons, own != largest, known, made, warnings)


def _with_warnings(groups: MajorityMinority) -> MajorityMinority:
    """Return the groups with what a reader must know of their sizes."""
    kind, sizes = ("users", groups.sizes) if groups.made["level"] == "user" else ("records", groups.records)
    warnings, known = list(groups.warnings), sizes[MAJORITY] + sizes[MINORITY]
    if known == 0:
        warnings.append(f"no group is known of any of the {kind}")
    elif 0 in (sizes[MAJORITY], sizes[MINORITY]):
        name = MAJORITY if sizes[MINORITY] == 0 else MINORITY
        warnings.append(f"all {kind} whose group is known ({known}) are in the {name}: there is nothing to compare")
    elif sizes[MINORITY] > sizes[MAJORITY]:
        said = f"the minority has {sizes[MINORITY]} {kind} and the majority {sizes[MAJORITY]}"
        warnings.append(f"{said}: it is not the smaller group")
    if sizes[UNKNOWN] and known:
        warnings.append(f"{sizes[UNKNOWN]} of {known + sizes[UNKNOWN]} {kind} are in no known group")
    return replace(groups, warnings=tuple(warnings))


@dataclass(frozen=True, eq=False)
class Groups:
    """Groups of users, and support.

    Attributes
    ----------
    names
        The groups, the largest first.
    of_user
        Position of each user's group, shape (user,); -1 where it is unknown.
    training
        Group of each user for learners, shape (user,): the unknown count as the majority.
    support
        Support rate of each user, shape (user,); NaN where unknown.
    majority, minority
        Names; the same name if there is one group.
    found
        How groups were found, in a sentence.
    support_found
        How support rates were found, in a sentence.
    declared
        Whether the file says the groups.
    warnings
        Sentences that a reader must see.
    """

    names: tuple[str, ...]
    of_user: Codes
    training: tuple[str, ...]
    support: Values
    majority: str
    minority: str
    found: str
    support_found: str
    declared: bool
    warnings: tuple[str, ...]

    @property
    def sizes(self) -> dict[str, int]:
        """Number of users of each group."""
        return {name: int((self.of_user == code).sum()) for code, name in enumerate(self.names)}

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "found": self.found,
            "declared": self.declared,
            "sizes": self.sizes,
            "unknown": int((self.of_user == NO_GROUP).sum()),
            "majority": self.majority,
            "minority": self.minority,
            "support": self.support_found,
            "warnings": list(self.warnings),
        }


def groups_of(
    comparisons: Comparisons,
    *,
    declared: Values | None,
    declared_from: str,
    imposed: bool,
    generator: np.random.Generator,
) -> Groups:
    """Return groups and support of the users.

    Parameters
    ----------
    comparisons
        Records that are learned from, with the groups of the file if there are any.
    declared
        Support rates that the file says, shape (record,); None where it says none.
    declared_from
        Where those come from, in words.
    imposed
        Whether groups were made up while reading.
    generator
        Deals folds, where rates are predicted.
    """
    rates = _rates(comparisons, declared, generator)
    support = declared_from or SOURCES[rates.source]
    if declared is None:
        support += f"; {rates.known:.0%} of the training records have a rate"
    if comparisons.groups is not None:
        by = "imposed with the made-up users" if imposed else "the file says them"
        present = [group for group, count in zip(comparisons.groups, comparisons.counts, strict=True) if count]
        names = tuple(sorted(dict.fromkeys(comparisons.groups), key=lambda name: (-present.count(name), name)))
        code = {name: position for position, name in enumerate(names)}
        of_user = np.array([code[group] for group in comparisons.groups], dtype=np.intp)
        return Groups(
            names, of_user, comparisons.groups, rates.of_user, *_roles(names), f"groups: {by}", support, True,
            rates.warnings,
        )  # fmt: skip
    told = majority_minority(comparisons, rates, threshold=THRESHOLD)
    names = (MAJORITY, MINORITY) if told.sizes[MINORITY] and told.sizes[MAJORITY] else (EVERYBODY,)
    code = dict(zip(names, range(len(names)), strict=True))
    of_user = np.array([code.get(group, NO_GROUP if len(code) > 1 else 0) for group in told.of_user], dtype=np.intp)
    origin = (
        f"groups: not in the file; in the minority is whoever has a mean support rate below {THRESHOLD:g} over the "
        "training records"
    )
    if names == (EVERYBODY,):
        origin = "groups: none in the file, and no minority in the support rates: everybody is in one group"
    return Groups(
        names, of_user, told.for_training, rates.of_user, *_roles(names), origin, support, False, told.warnings
    )


def _roles(names: tuple[str, ...]) -> tuple[str, str]:
    """Return majority and minority: by their names, else the largest and the smallest group."""
    return (MAJORITY, MINORITY) if set(names) == {MAJORITY, MINORITY} else (names[0], names[-1])


def _rates(comparisons: Comparisons, declared: Values | None, generator: np.random.Generator) -> SupportRates:
    """Return declared rates, or estimated ones."""
    if declared is None:
        return support_rates(comparisons, estimator="auto", generator=generator)
    others = np.zeros(len(comparisons), dtype=np.intp)
    return SupportRates(declared, others, mean_by_user(declared, comparisons), leave_one_out=True)
