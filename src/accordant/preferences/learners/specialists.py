"""Specialists: a reward for each group, near the pooled one, that teaches the reward of everybody.

`training_groups` says which group each training record is taught in: groups that were given, or majority and minority
by support. A specialist is

    θ_g = argmin  Σ_{r of g} w_r [−log σ(D_r)] + ½ prior_g |θ − θ_pooled|²

[ours] The abstract has group-specialised rewards; our notes ask for a warm start at the pooled reward and an early
stop. The convex counterpart is a ridge towards the pooled reward (for least squares both shrink in the same directions:
Ali, Kolter and Tibshirani 2019). Its prior, in units of records, is chosen from a fixed grid by the log-loss of records
of the group that were held out; the pooled reward itself, which is no step at all, stands on the grid. For each fold
the pooled reward is learned anew without the held-out records, so that it is no better informed than a specialist.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from accordant.arrays import Codes, Values
from accordant.preferences.groups import MAJORITY, MINORITY, Way, majority_minority
from accordant.preferences.learners.bradley_terry import Design
from accordant.preferences.learners.logistic import log_loss, right
from accordant.preferences.learners.shared_items import ItemFolds, item_folds
from accordant.preferences.records import Comparisons

Level = Literal["user", "record"]
Weighting = Literal["balanced", "size"]
NO_STEP = np.inf  # the prior under which a specialist is the pooled reward
PRIORS = (NO_STEP, 300.0, 100.0, 30.0, 10.0, 3.0)  # strongest first: of equals the nearest to the pooled
FOLDS = 5
ITEM_SEED = 0  # deals items of linked records, so that the same records are always held out together
MANY = 100_000  # from so many records on, one held-out fold tells the priors apart
COARSE = 1e-4  # tolerance where only a choice depends on the solution


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
    def has_weight(self) -> Codes:
        """Positions of the groups with weight."""
        return np.flatnonzero(self.totals > 0)

    def weights(self, comparisons: Comparisons, weighting: Weighting) -> Values:
        """Return weights of records that sum to 1, shape (record,).

        They are Σ_g w_g times each group's mean: w_g the same for all groups (``"balanced"``), or in proportion to the
        weight of the group's records (``"size"``), which is the mean over all records.
        """
        has_weight = self.totals > 0
        parts = has_weight / has_weight.sum() if weighting == "balanced" else self.totals / self.totals.sum()
        return np.asarray(comparisons.record_weights * (parts / np.where(has_weight, self.totals, 1.0))[self.of_record])

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
        labels = tuple(map(str, names))
        return _counted(comparisons, labels, of_user[comparisons.users], {"by": "given", "level": "user"}, ())
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


@dataclass(frozen=True, eq=False)
class Specialist:
    """The reward of one group.

    Attributes
    ----------
    coefficients
        θ_g, shape (coefficient,).
    prior
        The one chosen, in units of records; infinite if the pooled reward was best.
    held_out, pooled_held_out
        Accuracy on held-out records of the group under the chosen prior, and of the pooled reward; NaN if there were
        too few records to hold any out. The choice was made on the same records.
    """

    coefficients: Values
    prior: float
    held_out: float
    pooled_held_out: float


def specialists(
    design: Design, comparisons: Comparisons, groups: TrainingGroups, pooled: Values, *, ridge: float, tolerance: float
) -> dict[int, Specialist]:
    """Return a specialist for each group with weight, by position of the group; deterministic.

    `pooled` holds the coefficients of the pooled reward of this design, shape (coefficient,), and `ridge` is its ridge.
    """
    weights = comparisons.record_weights
    losses, hits = _held_out(design, comparisons, groups, pooled, ridge)
    by_group = {}
    for group in groups.has_weight.tolist():
        best = int(losses[group].argmin())
        rows = np.flatnonzero((groups.of_record == group) & (weights > 0))
        theta = _near(design, rows, weights, pooled, PRIORS[best], pooled, tolerance)
        by_group[group] = Specialist(theta, PRIORS[best], float(hits[group, best]), float(hits[group, 0]))
    return by_group


def _held_out(
    design: Design, comparisons: Comparisons, groups: TrainingGroups, pooled: Values, ridge: float
) -> tuple[Values, Values]:
    """Return log-loss and accuracy on held-out records, shape (group, prior); 0 and NaN where there are none."""
    weights = comparisons.record_weights
    folds = record_folds(comparisons, groups)
    losses, hits = np.zeros((len(groups.names), len(PRIORS))), np.zeros((len(groups.names), len(PRIORS)))
    judged = np.zeros((len(groups.names), 1))
    for fold in range(FOLDS if len(comparisons) < MANY else 1):
        kept = np.flatnonzero(folds.known(fold) & (weights > 0))
        if not len(kept):
            continue
        problem = part(design, kept).problem(weights=weights[kept], ridge=ridge)
        common = problem.solve(pooled, tolerance=COARSE).coefficients
        for group in groups.has_weight.tolist():
            inside, outside = kept[groups.of_record[kept] == group], folds.held_out(fold) & (groups.of_record == group)
            test, theta = part(design, np.flatnonzero(outside)).problem(), common
            judged[group] += weights[outside].sum()
            for j, prior in enumerate(PRIORS):
                theta = _near(design, inside, weights, common, prior, theta, COARSE)
                margins = test.predictions(theta)
                losses[group, j] += weights[outside] @ log_loss(margins)
                hits[group, j] += weights[outside] @ right(margins)
    return losses, np.divide(hits, judged, out=np.full_like(hits, np.nan), where=judged > 0)


def _near(
    design: Design, rows: Codes, weights: Values, centre: Values, prior: float, start: Values, tolerance: float
) -> Values:
    """Return the coefficients of some records drawn towards a centre, shape (coefficient,)."""
    if prior == NO_STEP or not len(rows):
        return centre
    terms = {"weights": weights[rows], "ridge": prior / weights[rows].sum(), "centre": centre}
    return part(design, rows).problem(**terms).solve(start, tolerance=tolerance).coefficients


def record_folds(comparisons: Comparisons, groups: TrainingGroups) -> ItemFolds:
    """Deal the users of each group into folds; items within its users, where there are fewer users than folds.

    Records without weight are in fold -1. Users are dealt whole because a summary of a user's records knows the others
    of the user: held-out records would be known by those in training. Where that cannot be, at least no item of a
    held-out record is known by the same user's records in training, so that copies, and pairs
    that share an item, do not pass for new records; a record between two folds is held out with neither.
    """
    sides = np.full((2, len(comparisons)), -1, dtype=np.intp)
    for group in groups.has_weight:
        rows = np.flatnonzero((groups.of_record == group) & (comparisons.record_weights > 0))
        users, of_row = np.unique(comparisons.users[rows], return_inverse=True)
        if len(users) >= FOLDS:
            sides[:, rows] = of_row % FOLDS
            continue
        inside = Comparisons(comparisons.features, comparisons.chosen[rows], comparisons.rejected[rows], of_row)
        sides[:, rows] = item_folds(inside, FOLDS, np.random.default_rng(ITEM_SEED)).sides
    return ItemFolds(sides)


def part(design: Design, rows: Codes) -> Design:
    """Return the design of some of the records."""
    return Design(design.differences[rows], design.contexts, None if design.scales is None else design.scales[rows])
