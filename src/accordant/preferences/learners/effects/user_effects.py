"""How users differ along a few directions: records by user, and each user's likeliest place under a normal prior.

A user's reward is θ_0 + B z_u with few directions B, shape (feature, direction). Given θ_0 and B, places z_u are
problems of their own, solved for all users at once:

    minimise over z_u   Σ_{r of u} w_r [softplus(D_r) − D_r] + ½ (z_u − m_u)ᵀ P (z_u − m_u)
    D_r = offset_r + (x_r B) · z_u

Memory is linear in records and in users: a product of two directions is never formed for each record.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Codes, Values
from accordant.errors import InputError
from accordant.preferences.learners.solving.logistic import log_loss, sigmoid

MOST_STEPS, MOST_HALVINGS = 50, 30  # of Newton's method, and of one step's length
SUFFICIENT = 1e-4  # share of the promised decrease that a step must bring (Armijo)
ROUNDING = 1e-14  # relative rise of a value that rounding explains


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
    def heard(self) -> NDArray[np.bool_]:
        """Which users have records of positive weight, shape (user,)."""
        return self.sums(self.weights) > 0

    def sums(self, values: Values) -> Values:
        """Return sums over each user's records, shape (user, …), of values of shape (record, …)."""
        users, starts = self._present
        found = np.zeros((self.n_users, *values.shape[1:]))
        if len(users):
            found[users] = np.add.reduceat(values, starts, axis=0)
        return found

    def margins(self, places: Values) -> Values:
        """Return D for places z of shape (user, direction), shape (record,)."""
        return np.asarray(self.offsets + np.einsum("rk,rk->r", self.columns, places[self.users]))

    def curvatures(self, bends: Values) -> Values:
        """Return Σ_r bend_r (x_r B)(x_r B)ᵀ of each user, shape (user, direction, direction)."""
        users, starts = self._present
        size = self.columns.shape[1]
        found = np.zeros((self.n_users, size, size))
        weighted = self.columns * bends[:, None]
        ends = np.append(starts[1:], len(self.users))[: len(users)]
        for user, first, last in zip(users, starts, ends, strict=True):
            found[user] = self.columns[first:last].T @ weighted[first:last]
        return found


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
    """
    size = records.columns.shape[1]
    for name, found, shape in (("centres", centres, (records.n_users, size)), ("precision", precision, (size, size))):
        if found.shape != shape:
            raise InputError(f"{name} have shape {found.shape}; allowed: {shape}")
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
        found, margins = _values(records, centres, precision, tried)
        bad = found > values + SUFFICIENT * lengths * slopes + ROUNDING * np.abs(values)
        if not bad.any():
            break
        lengths[bad] = lengths[bad] / 2 if halving < MOST_HALVINGS - 1 else 0.0
    return tried, found, margins, bool(lengths.any())
