"""Who is in which group while methods are compared, who is the majority, and how many share a user's preferences.

Groups are those of the file; without them, majority and minority are told apart by support rates of records that are
learned from, never of test records.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from accordant.arrays import Codes, Values
from accordant.preferences.comparison.record_split import branch
from accordant.preferences.groups import MAJORITY, MINORITY, majority_minority
from accordant.preferences.records import Comparisons
from accordant.preferences.support import SupportRates, mean_by_user, support_rates

NO_GROUP = -1
EVERYBODY = "everybody"  # the only group, where no majority and minority were found
THRESHOLD = 0.5  # of the support rate: whoever most others disagree with is in the minority
SOURCES = {
    "counts": "counted among the other users who compared the same two items",
    "pooled": "predicted by one reward of users in other folds, since too few users compare the same items",
    "mixture": "predicted by hidden types of users",
}


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
    comparisons: Comparisons, *, declared: Values | None, declared_from: str, imposed: bool, seed: int
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
    seed
        Of folds, where rates are predicted.
    """
    rates = _rates(comparisons, declared, seed)
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
    of_user = np.array([code.get(each, NO_GROUP if len(code) > 1 else 0) for each in told.of_user], dtype=np.intp)
    found = (
        f"groups: not in the file; in the minority is whoever has a mean support rate below {THRESHOLD:g} over the "
        "training records"
    )
    if names == (EVERYBODY,):
        found = "groups: none in the file, and no minority in the support rates: everybody is in one group"
    return Groups(
        names, of_user, told.for_training, rates.of_user, *_roles(names), found, support, False, told.warnings
    )


def _roles(names: tuple[str, ...]) -> tuple[str, str]:
    """Return majority and minority: by their names, else the largest and the smallest group."""
    return (MAJORITY, MINORITY) if set(names) == {MAJORITY, MINORITY} else (names[0], names[-1])


def _rates(comparisons: Comparisons, declared: Values | None, seed: int) -> SupportRates:
    """Return declared rates, or estimated ones."""
    if declared is None:
        return support_rates(comparisons, estimator="auto", generator=branch(seed, "groups"))
    others = np.zeros(len(comparisons), dtype=np.intp)
    return SupportRates(declared, others, mean_by_user(declared, comparisons), leave_one_out=True)
