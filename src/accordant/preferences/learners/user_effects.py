"""How users differ along a few directions: records by user, and each user's likeliest place under a normal prior.

`likeliest_places`: a user's reward is θ_0 + B z_u with few directions B, shape (feature, direction). Given θ_0 and B,
places z_u are problems of their own, solved for all users at once:

    minimise over z_u   Σ_{r of u} w_r [softplus(D_r) − D_r] + ½ (z_u − m_u)ᵀ P (z_u − m_u)
    D_r = offset_r + (x_r B) · z_u

Memory is linear in records and in users: a product of two directions is never formed for each record.

`user_directions`: directions of reward in which users differ most from the pooled one. [ours] A user's score at the
pooled reward, Σ_r w_r (1 − σ(D_r)) x_r, says where the user's records pull. Differences x are whitened, so that scores
of equal users have the same noise everywhere, and the leading directions of the users' scores are kept (a deterministic
start, as in spectral methods for mixed regressions: Yi, Caramanis and Sanghavi 2014).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Codes, Values
from accordant.errors import InputError
from accordant.preferences.learners.learner import UserRewards, checked_features
from accordant.preferences.learners.logistic import log_loss, sigmoid
from accordant.preferences.learners.shared_items import independent_weights, summed
from accordant.preferences.records import Comparisons

MOST_STEPS, MOST_HALVINGS = 50, 30  # of Newton's method, and of one step's length
SUFFICIENT = 1e-4  # share of the promised decrease that a step must bring (Armijo)
ROUNDING = 1e-14  # relative rise of a value that rounding explains
SAMPLED = 20_000  # records are enough for a second moment


@dataclass(frozen=True, eq=False)
class UserRecords:
    """Records along directions, in the order of users.

    Attributes
    ----------
    columns
        x B, shape (record, direction).
    offsets
        x · θ_0, shape (record,).
    weights
        At least 0, shape (record,).
    users
        Position of the user, never falling, shape (record,).
    n_users
        Number of users, with and without records.
    """

    columns: Values
    offsets: Values
    weights: Values
    users: Codes
    n_users: int

    def __post_init__(self) -> None:
        n_records = len(self.columns)
        if self.columns.ndim != 2:
            raise InputError(f"columns have shape {self.columns.shape}; allowed: (record, direction)")
        for name in ("offsets", "weights", "users"):
            if np.shape(getattr(self, name)) != (n_records,):
                raise InputError(f"{name} have shape {np.shape(getattr(self, name))}; allowed: ({n_records},)")
        if (np.diff(self.users) < 0).any():
            raise InputError("users fall somewhere; allowed: records in the order of users")

    @cached_property
    def _present(self) -> tuple[Codes, Codes]:
        """Users with records, and where their records begin."""
        users, starts = np.unique(self.users, return_index=True)
        return users, starts

    @cached_property
    def has_weight(self) -> NDArray[np.bool_]:
        """Which users have records of positive weight, shape (user,)."""
        return self.sums(self.weights) > 0

    def sums(self, values: Values) -> Values:
        """Return sums over each user's records, shape (user, …), of values of shape (record, …)."""
        users, starts = self._present
        sums = np.zeros((self.n_users, *values.shape[1:]))
        if len(users):
            sums[users] = np.add.reduceat(values, starts, axis=0)
        return sums

    def margins(self, places: Values) -> Values:
        """Return D for places z of shape (user, direction), shape (record,)."""
        return np.asarray(self.offsets + np.einsum("rk,rk->r", self.columns, places[self.users]))

    def curvatures(self, bends: Values) -> Values:
        """Return Σ_r bend_r (x_r B)(x_r B)ᵀ of each user, shape (user, direction, direction)."""
        users, starts = self._present
        size = self.columns.shape[1]
        curvatures = np.zeros((self.n_users, size, size))
        weighted = self.columns * bends[:, None]
        ends = np.append(starts[1:], len(self.users))[: len(users)]
        for user, first, last in zip(users, starts, ends, strict=True):
            curvatures[user] = self.columns[first:last].T @ weighted[first:last]
        return curvatures


@dataclass(frozen=True, eq=False)
class Places:
    """Where users are likeliest, and how sharply.

    Attributes
    ----------
    modes
        z, shape (user, direction).
    curvatures
        Second derivative of the problem there, shape (user, direction, direction).
    log_evidence
        Logarithm of each user's likelihood with z integrated out, by Laplace's approximation, shape (user,).
    """

    modes: Values
    curvatures: Values
    log_evidence: Values


def likeliest_places(
    records: UserRecords, centres: Values, precision: Values, *, start: Values | None = None, tolerance: float = 1e-8
) -> Places:
    """Return each user's likeliest place under a normal prior, by Newton's method for all users at once.

    Parameters
    ----------
    records
        Of the users.
    centres
        m, shape (user, direction).
    precision
        P, symmetric and positive definite, shape (direction, direction).
    start
        Where to begin, shape (user, direction); None for the centres.
    tolerance
        Largest entry of any gradient at the end.

    Raises
    ------
    InputError
        If a shape is wrong.
    """
    size = records.columns.shape[1]
    for name, array, shape in (("centres", centres, (records.n_users, size)), ("precision", precision, (size, size))):
        if array.shape != shape:
            raise InputError(f"{name} have shape {array.shape}; allowed: {shape}")
    places = np.array(centres if start is None else start, dtype=np.float64)
    values, margins = _values(records, centres, precision, places)
    for _ in range(MOST_STEPS):
        likely = sigmoid(margins)
        pulls = (records.weights * (likely - 1.0))[:, None] * records.columns
        gradients = records.sums(pulls) + (places - centres) @ precision
        bent = records.curvatures(records.weights * likely * (1.0 - likely)) + precision
        if np.abs(gradients).max(initial=0.0) <= tolerance:
            break
        steps = np.asarray(-np.linalg.solve(bent, gradients[:, :, None])[:, :, 0], dtype=np.float64)
        slopes = np.einsum("uk,uk->u", gradients, steps)
        places, values, margins, moved = _stepped(records, centres, precision, places, values, steps, slopes)
        if not moved:
            break
    _, log_prior = np.linalg.slogdet(precision)
    _, logs = np.linalg.slogdet(bent)
    return Places(places, bent, -values + 0.5 * (log_prior - logs))


def _values(records: UserRecords, centres: Values, precision: Values, places: Values) -> tuple[Values, Values]:
    """Return each user's value, shape (user,), and the margins."""
    margins, away = records.margins(places), places - centres
    losses = records.sums(records.weights * log_loss(margins))
    return losses + 0.5 * np.einsum("uk,kl,ul->u", away, precision, away), margins


def _stepped(
    records: UserRecords, centres: Values, precision: Values, places: Values, values: Values, steps: Values,
    slopes: Values,
) -> tuple[Values, Values, Values, bool]:  # fmt: skip
    """Return places, values and margins after steps that lower every user's value enough, and whether any moved.

    A user's step is halved until it does, and not made if it never does; slopes are changes of values along steps.
    """
    lengths = np.ones(len(places))
    for halving in range(MOST_HALVINGS + 1):
        tried = places + lengths[:, None] * steps
        there, margins = _values(records, centres, precision, tried)
        bad = there > values + SUFFICIENT * lengths * slopes + ROUNDING * np.abs(values)
        if not bad.any():
            break
        lengths[bad] = lengths[bad] / 2 if halving < MOST_HALVINGS - 1 else 0.0
    return tried, there, margins, bool(lengths.any())


def user_directions(comparisons: Comparisons, differences: Values, pooled: Values, most: int) -> Values:
    """Return directions B of unit variance over records, shape (feature, direction).

    All features are spanned if there are at most `most`; else the leading ones of the users' scores are, in falling
    order of how much users differ along them.

    Parameters
    ----------
    comparisons
        Records with users and weights.
    differences
        Their features, shape (record, feature).
    pooled
        Coefficients of the pooled reward, shape (feature,).
    most
        At least 1.
    """
    weights = comparisons.record_weights
    whiten = _whitening(differences, weights)
    if whiten.shape[1] <= most:
        return whiten
    pulls = weights * (1.0 - sigmoid(differences @ pooled))
    totals = np.bincount(comparisons.users, weights, minlength=comparisons.n_users)
    scores = (
        summed(comparisons.users, pulls, differences, comparisons.n_users)
        @ whiten
        / np.sqrt(np.maximum(totals, 1.0))[:, None]
    )
    _, vectors = np.linalg.eigh(scores.T @ scores)
    leading = vectors[:, ::-1][:, :most]
    signs = np.sign(leading[np.abs(leading).argmax(axis=0), np.arange(most)])
    return np.asarray(whiten @ (leading * signs))


def _whitening(differences: Values, weights: Values) -> Values:
    """Return the inverse of a square root of the second moment, which is drawn towards a multiple of the identity.

    The fewer records there are for a feature, the more it is drawn: by feature / (feature + record). Where no record
    differs in any feature, all directions are alike: the identity is returned.
    """
    has_weight = np.flatnonzero(weights > 0)
    has_weight = has_weight[:: max(1, len(has_weight) // SAMPLED)]
    some, counted = differences[has_weight], weights[has_weight]
    total = max(float(counted.sum()), np.finfo(float).tiny)
    sizes, vectors = np.linalg.eigh((some * counted[:, None]).T @ some / total)
    mean = float(sizes.mean())
    if mean < np.finfo(float).tiny:
        return np.eye(len(sizes))
    drawn = len(sizes) / (len(sizes) + len(some))
    return np.asarray(vectors / np.sqrt((1.0 - drawn) * np.maximum(sizes, 0.0) + drawn * mean))


@dataclass(frozen=True, eq=False)
class PlacedReward(UserRewards):
    """θ_u = θ_0 + B z_u.

    Attributes
    ----------
    common
        θ_0, shape (feature,).
    directions
        B, shape (feature, direction).
    places
        z of users, shape (user, direction).
    unknown
        z of anybody else, shape (direction,).
    """

    common: Values
    directions: Values
    places: Values
    unknown: Values

    def of_user(self, user: int | None) -> Values:
        """Return the coefficients for a user, shape (feature,)."""
        known = user is not None and 0 <= user < len(self.places)
        return np.asarray(self.common + self.directions @ (self.places[user] if known else self.unknown))

    def margins(self, comparisons: Comparisons) -> Values:
        """Return margins for the users of the records, shape (record,)."""
        features = checked_features(comparisons.features, len(self.common))
        common, along = features @ self.common, features @ self.directions
        gaps = along[comparisons.chosen] - along[comparisons.rejected]
        table = np.vstack([self.places, self.unknown])
        places = table[np.minimum(comparisons.users, len(self.places))]
        margins = common[comparisons.chosen] - common[comparisons.rejected]
        return np.asarray(margins + np.einsum("rk,rk->r", gaps, places))


def records_along(comparisons: Comparisons, common: Values, directions: Values) -> UserRecords:
    """Return records along directions in the order of users, with the common reward as offsets.

    Weights are those of independent records, see `independent_weights`.
    """
    order = np.argsort(comparisons.users, kind="stable")
    columns = np.column_stack([directions, common])
    if 2 * len(order) < len(comparisons.features):
        seen = comparisons.differences(order) @ columns
    else:
        of_item = comparisons.features @ columns
        seen = of_item[comparisons.chosen[order]] - of_item[comparisons.rejected[order]]
    return UserRecords(
        seen[:, :-1], seen[:, -1], independent_weights(comparisons)[order], comparisons.users[order],
        comparisons.n_users,
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class AdaptableReward(PlacedReward):
    """θ_0 + B z_u with z_u near 0: adapted to other users by their likeliest z, with θ_0 and B as they are.

    Attributes
    ----------
    prior
        How many records z = 0 is worth, for records of unit variance along directions; above 0.
    """

    prior: float

    def adapted(self, comparisons: Comparisons) -> AdaptableReward:
        """Return the rewards of other users; without records, the common one."""
        return replace(self, places=near_common(records_along(comparisons, self.common, self.directions), self.prior))


def near_common(records: UserRecords, prior: float) -> Values:
    """Return each user's likeliest z under z ~ N(0, I / prior), shape (user, direction)."""
    size = records.columns.shape[1]
    return likeliest_places(records, np.zeros((records.n_users, size)), prior * np.eye(size)).modes
