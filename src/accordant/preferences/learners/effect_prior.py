"""A prior for how users differ, learned from all of them: one normal, or a few with a common spread.

    z_u | type k ~ N(m_k, S),   P(type k) = ρ_k, or softmax_k(g_k · (1, c_u)) where users' contexts c are read

Expectation maximisation (Dempster, Laird and Rubin 1977): each user's z is integrated out by Laplace's approximation
around its mode (Tierney and Kadane 1986), as in mixed logit models. S is drawn towards a multiple of the identity, by
as much as k + 2 more users would. Types are found one after the other: the type that is widest along one direction is
split along it, so that nothing is random. Contexts decide between types only; they are never evidence of the types
themselves. [ours]

`stacking_weights` make a sum of several rewards whose weights predict held-out records best (Wolpert 1992; Breiman
1996).

    minimise over a ≥ 0   Σ_r w_r [softplus(D_r) − D_r],   D_r = Σ_j a_j D_rj

D_rj comes from a fit that never saw record r. For logarithmic scores see Yao et al. (2018); margins are added here
instead of probabilities, so that the sum of linear rewards is one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Values
from accordant.errors import InputError
from accordant.preferences.learners.learner import RewardModel
from accordant.preferences.learners.logistic import log_loss, log_softmax, sigmoid
from accordant.preferences.learners.user_effects import Places, UserRecords, likeliest_places
from accordant.preferences.records import Comparisons

NEAR = 1e-3  # largest gradient of a mode while the prior is still being learned
SETTLED = 1e-3  # rounds end when the log-likelihood per user rises by less
FIRST_VARIANCE = 0.5  # of z before anything is learned, with records of unit variance along directions
HALF_USER = 0.5  # added to every type's number of users
NEGLIGIBLE = 1e-3  # a weight below this is 0
CLEAR = 1.645  # standard errors: a normal error exceeds them on one side in 5 % of draws


@dataclass(frozen=True, eq=False)
class UserEffects:
    """What is known of the users under a prior.

    Attributes
    ----------
    of_types
        Each user's likeliest z if of a type, and how sharply, one for each type.
    memberships
        Probability of each type given the user's records, shape (user, type).
    log_likelihoods
        Of each user's records, with z and type integrated out, shape (user,).
    """

    of_types: tuple[Places, ...]
    memberships: Values
    log_likelihoods: Values

    @property
    def places(self) -> Values:
        """Each user's z: the mean of the types' modes by membership, shape (user, direction)."""
        modes = np.stack([places.modes for places in self.of_types])
        return np.asarray(np.einsum("ut,tuk->uk", self.memberships, modes))


@dataclass(frozen=True, eq=False)
class EffectPrior:
    """The prior above.

    Attributes
    ----------
    centres
        m, shape (type, direction).
    spread
        S, shape (direction, direction).
    shares
        ρ, shape (type,).
    gate
        g, shape (type, 1 + context); None if types do not depend on contexts.
    """

    centres: Values
    spread: Values
    shares: Values
    gate: Values | None = None

    def log_shares(self, n_users: int, contexts: Values | None) -> Values:
        """Return log P(type) of each user, from contexts (1, c) of shape (user, 1 + context), shape (user, type)."""
        if self.gate is None or contexts is None:
            return np.tile(np.log(self.shares), (n_users, 1))
        return log_softmax(contexts @ self.gate.T)

    def effects(
        self, records: UserRecords, contexts: Values | None, *, start: UserEffects | None = None,
        tolerance: float = 1e-8,
    ) -> UserEffects:  # fmt: skip
        """Return what users' records say of them; users without records have the prior's mean."""
        precision, of_types = np.asarray(np.linalg.inv(self.spread), dtype=np.float64), []
        for k, centre in enumerate(self.centres):
            centres = np.tile(centre, (records.n_users, 1))
            begun = None if start is None else start.of_types[k].modes
            of_types.append(likeliest_places(records, centres, precision, start=begun, tolerance=tolerance))
        joint = self.log_shares(records.n_users, contexts) + np.stack(
            [places.log_evidence for places in of_types], axis=1
        )
        logs = np.logaddexp.reduce(joint, axis=1)
        return UserEffects(tuple(of_types), np.exp(joint - logs[:, None]), logs)


def prior_path(records: UserRecords, *, types: int, rounds: int) -> tuple[EffectPrior, ...]:
    """Return priors with 1, 2, … types, each found from the one before; fewer than `types` if users are too few."""
    size, has_weight = records.columns.shape[1], records.has_weight
    prior = EffectPrior(np.zeros((1, size)), FIRST_VARIANCE * np.eye(size), np.ones(1))
    prior, effects = maximise_likelihood(prior, records, None, rounds)
    priors = [prior]
    while len(priors) < min(types, int(has_weight.sum()) - 1):
        prior, effects = maximise_likelihood(_split(prior, effects, has_weight), records, None, rounds)
        priors.append(prior)
    return tuple(priors)


def maximise_likelihood(
    prior: EffectPrior, records: UserRecords, contexts: Values | None, rounds: int
) -> tuple[EffectPrior, UserEffects]:
    """Return the prior after at most some rounds of expectation maximisation, and what it says of the users.

    Types depend on `contexts`, (1, c) of users, shape (user, 1 + context); None for nothing.
    """
    has_weight = records.has_weight
    effects, reached = prior.effects(records, contexts, tolerance=NEAR), -np.inf
    for _ in range(rounds):
        likelihood = float(effects.log_likelihoods[has_weight].sum())
        if likelihood - reached < SETTLED * has_weight.sum():
            break
        reached = likelihood
        prior = _maximised(prior, effects, has_weight, contexts)
        effects = prior.effects(records, contexts, start=effects, tolerance=NEAR)
    return prior, effects


def _maximised(
    prior: EffectPrior, effects: UserEffects, has_weight: NDArray[np.bool_], contexts: Values | None
) -> EffectPrior:
    """Return the likeliest prior given what is known of users with records."""
    members = effects.memberships[has_weight]
    centres, size = prior.centres.copy(), prior.centres.shape[1]
    scatter = np.zeros((size, size))
    for k, place in enumerate(effects.of_types):
        modes, shares = place.modes[has_weight], members[:, k]
        if shares.sum() > 0:
            centres[k] = shares @ modes / shares.sum()
        away = modes - centres[k]
        scatter += (away * shares[:, None]).T @ away
        scatter += np.tensordot(shares, np.linalg.inv(place.curvatures[has_weight]), axes=1)
    extra, n_users = size + 2, len(members)
    even = np.trace(scatter) / size / n_users * np.eye(size)
    spread = (scatter + extra * even) / (n_users + extra)
    shares = members.sum(axis=0) + HALF_USER
    gate = None if contexts is None else fit_gate(contexts[has_weight], members, prior.gate)
    return EffectPrior(centres, spread, shares / shares.sum(), gate)


def _split(prior: EffectPrior, effects: UserEffects, has_weight: NDArray[np.bool_]) -> EffectPrior:
    """Return a prior with one more type: the widest one becomes two, a standard deviation from it on either side."""
    widest, share, towards = 0.0, 0, np.zeros(prior.centres.shape[1])
    for k, place in enumerate(effects.of_types):
        members = effects.memberships[has_weight, k]
        away = place.modes[has_weight] - prior.centres[k]
        sizes, vectors = np.linalg.eigh((away * members[:, None]).T @ away)
        if sizes[-1] > widest:
            widest, share = float(sizes[-1]), k
            towards = vectors[:, -1] * np.sqrt(sizes[-1] / members.sum())
    towards = towards * (np.sign(towards[np.abs(towards).argmax()]) or 1.0)
    centres = np.vstack([prior.centres, prior.centres[share] - towards])
    centres[share] += towards
    shares = np.append(prior.shares, prior.shares[share] / 2)
    shares[share] /= 2
    return replace(prior, centres=centres, shares=shares)


def fit_gate(contexts: Values, members: Values, start: Values | None, ridge: float = 1.0) -> Values:
    """Return g of the softmax regression of memberships on contexts, shape (type, 1 + context).

    Minimises −Σ_u Σ_k q_uk log softmax_k(g · (1, c_u)) + ½ ridge Σ g²; the constant is drawn a thousandth as much.

    Parameters
    ----------
    contexts
        (1, c), with c of unit variance, shape (user, 1 + context).
    members
        q, shape (user, type).
    start
        Where to begin, shape (type, 1 + context); None for 0.
    ridge
        In units of users, above 0.
    """
    from scipy.optimize import minimize

    shape = members.shape[1], contexts.shape[1]
    ridges = np.full(shape, ridge)
    ridges[:, 0] *= 1e-3

    def loss(flat: Values) -> tuple[float, Values]:
        """Return the value and its gradient."""
        gate = flat.reshape(shape)
        logs = log_softmax(contexts @ gate.T)
        slope = (members.sum(axis=1, keepdims=True) * np.exp(logs) - members).T @ contexts + ridges * gate
        return float(-(members * logs).sum() + 0.5 * (ridges * gate**2).sum()), slope.ravel()

    begun = np.zeros(shape) if start is None else start
    return np.asarray(minimize(loss, begun.ravel(), jac=True, method="L-BFGS-B").x.reshape(shape))


@dataclass(frozen=True, eq=False)
class StackedReward(RewardModel):
    """A sum of rewards.

    Attributes
    ----------
    models
        The rewards.
    weights
        Of each, at least 0, shape (model,).
    """

    models: tuple[RewardModel, ...]
    weights: Values

    def rewards(self, features: Values, user: int | None = None) -> Values:
        """Return the reward of each item for a user, shape (item,)."""
        rewards = np.zeros(len(features))
        for weight, model in zip(self.weights, self.models, strict=True):
            rewards += weight * model.rewards(features, user)
        return rewards

    def margins(self, comparisons: Comparisons) -> Values:
        """Return margins for the users of the records, shape (record,)."""
        margins = np.zeros(len(comparisons))
        for weight, model in zip(self.weights, self.models, strict=True):
            margins += weight * model.margins(comparisons)
        return margins

    def adapted(self, comparisons: Comparisons) -> StackedReward:
        """Return the same sum of rewards that are each adapted to other users."""
        return StackedReward(tuple(model.adapted(comparisons) for model in self.models), self.weights)


def stacking_weights(margins: Values, weights: Values) -> Values:
    """Return a, shape (model,).

    Parameters
    ----------
    margins
        Held-out margins of each model, shape (record, model).
    weights
        Of records, at least 0 and not all 0, shape (record,).

    Raises
    ------
    InputError
        If the shapes do not fit together.
    """
    from scipy.optimize import minimize

    if margins.ndim != 2 or weights.shape != (len(margins),):
        raise InputError(
            f"margins have shape {margins.shape} and weights {weights.shape}; allowed: (record, model) and (record,)"
        )
    shares = weights / weights.max()  # no sum of weights overflows
    shares = shares / shares.sum()

    def loss(coefficients: Values) -> tuple[float, Values]:
        """Return the value and its gradient."""
        total = margins @ coefficients
        return float(shares @ log_loss(total)), (shares * (sigmoid(total) - 1.0)) @ margins

    n_models = margins.shape[1]
    start = np.full(n_models, 1.0 / n_models)
    coefficients = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=[(0.0, None)] * n_models).x
    return np.where(coefficients < NEGLIGIBLE, 0.0, coefficients)


@dataclass(frozen=True)
class Gain:
    """How much better one prediction is than another on held-out records, per record, in nats.

    Attributes
    ----------
    mean
        Positive if the first is better.
    standard_error
        From the users' own differences; infinite with fewer than two users.
    """

    mean: float
    standard_error: float

    @property
    def clear(self) -> bool:
        """Whether the gain exceeds `CLEAR` standard errors."""
        return self.exceeds(CLEAR)

    def exceeds(self, errors: float) -> bool:
        """Return whether the gain is larger than so many standard errors."""
        return bool(np.isfinite(self.standard_error)) and self.mean > errors * self.standard_error


def gain(better: Values, worse: Values, comparisons: Comparisons) -> Gain:
    """Return by how much held-out margins, shape (record,), predict better than others."""
    weights, n_users = comparisons.record_weights, comparisons.n_users
    apart = weights * (log_loss(worse) - log_loss(better))
    by_user, totals = (np.bincount(comparisons.users, of_record, minlength=n_users) for of_record in (apart, weights))
    return user_gain(by_user.astype(np.float64), totals.astype(np.float64))


def user_gain(differences: Values, weights: Values) -> Gain:
    """Return the gain from each user's difference in log-likelihood and weight of records, both of shape (user,)."""
    has_weight = weights > 0
    largest, heaviest = float(np.abs(differences[has_weight]).max()) or 1.0, float(weights.max())
    apart, totals, unit = differences[has_weight] / largest, weights[has_weight] / heaviest, largest / heaviest
    mean, n_users = float(apart.sum() / totals.sum()), len(totals)
    if n_users < 2:
        return Gain(unit * mean, np.inf)
    residuals = apart - mean * totals
    # users differ in their weight, so this is the error of a ratio (Cochran 1977, section 6.4)
    error = float(np.sqrt(n_users / (n_users - 1) * (residuals @ residuals)) / totals.sum())
    return Gain(unit * mean, unit * error)
