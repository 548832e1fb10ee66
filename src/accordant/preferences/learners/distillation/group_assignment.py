"""Which group each training record is taught in: groups that were given, or majority and minority by support."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from accordant.arrays import Codes, Values
from accordant.preferences.groups import MAJORITY, MINORITY, Way, majority_minority
from accordant.preferences.records import Comparisons

Level = Literal["user", "record"]
Weighting = Literal["balanced", "size"]


@dataclass(frozen=True, eq=False)
class TrainingGroups:
    """Groups of records.

    Attributes
    ----------
    names
        Of the groups, shape (group,).
    of_record
        Position of each record's group, shape (record,).
    totals
        Weight of each group's records, 0 for a group without any, shape (group,).
    made
        How the groups were found: plain values.
    warnings
        Sentences that a reader of the result must see.
    """

    names: tuple[str, ...]
    of_record: Codes
    totals: Values
    made: dict[str, Any]
    warnings: tuple[str, ...]

    @property
    def heard(self) -> Codes:
        """Positions of the groups with weight."""
        return np.flatnonzero(self.totals > 0)

    def weights(self, comparisons: Comparisons, weighting: Weighting) -> Values:
        """Return weights of records that sum to 1, shape (record,).

        They are Σ_g w_g times each group's mean: w_g the same for all groups (``"balanced"``), or in proportion to the
        weight of the group's records (``"size"``), which is the mean over all records.
        """
        heard = self.totals > 0
        parts = heard / heard.sum() if weighting == "balanced" else self.totals / self.totals.sum()
        return np.asarray(comparisons.record_weights * (parts / np.where(heard, self.totals, 1.0))[self.of_record])

    def as_users(self, comparisons: Comparisons) -> Comparisons:
        """Return the records as if every group were one user: for learners that read groups of users."""
        names = self.names
        return replace(comparisons, users=self.of_record, user_names=names, groups=names, user_features=None)


def training_groups(
    comparisons: Comparisons,
    *,
    grouping: Level,
    by: Way,
    threshold: float,
    quantile: float,
    generator: np.random.Generator,
) -> TrainingGroups:
    """Return the groups to teach in.

    Parameters
    ----------
    comparisons
        With groups of users, which are then used for ``grouping="user"``; else groups are found by support.
    grouping
        ``"user"``: all records of a user are in one group. ``"record"``: each record is in the group of its own support
        rate, whatever groups were given.
    by, threshold, quantile, generator
        See `majority_minority`.
    """
    if grouping == "user" and comparisons.groups is not None:
        names, of_user = np.unique(np.array(comparisons.groups), return_inverse=True)
        found = tuple(map(str, names))
        return _counted(comparisons, found, of_user[comparisons.users], {"by": "given", "level": "user"}, ())
    groups = majority_minority(
        comparisons, by=by, level=grouping, threshold=threshold, quantile=quantile, generator=generator
    )
    of_record = groups.of_record.astype(np.intp)
    return _counted(comparisons, (MAJORITY, MINORITY), of_record, groups.made, groups.warnings)


def _counted(
    comparisons: Comparisons, names: tuple[str, ...], of_record: Codes, made: dict[str, Any], warnings: tuple[str, ...]
) -> TrainingGroups:
    """Return groups with their weights, and a warning if there is only one."""
    totals = np.bincount(of_record, comparisons.record_weights, minlength=len(names))
    if (totals > 0).sum() == 1:
        only = names[int(totals.argmax())]
        warnings += (f"all records are in the group {only!r}: the unified reward is taught by a single specialist",)
    return TrainingGroups(names, of_record.astype(np.intp), np.asarray(totals, dtype=np.float64), made, warnings)
