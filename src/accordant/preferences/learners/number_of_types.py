"""How many hidden types of users: the number that predicts new users best.

Users are dealt into folds. A mixture of K types is fit to the users of all folds but one, and each user of that fold is
taken as new:

    ℓ_u(K) = log Σ_k ρ_k Π_r P_k(r)^{w_r},   P_k(r) = σ(D_r^k), or that of Plackett and Luce for a ranking

This is the logarithmic score of all the user's records together (Good 1952): strictly proper, what soft assignments
maximise, and by the chain rule the sum of predictions of each record from those before it. So no record has to be set
aside to find the user's type. Scores are compared in pairs, user by user (cross-validated likelihood: Smyth 2000; the
rule of one standard error: Breiman, Friedman, Olshen and Stone 1984, section 3.4.3).

ℓ takes a user's records for independent. Records that share items are not: those of one user turn the same way by
chance, and a type that turns so too foretells them all at once, so that more types seem to predict better than do. The
likelihood stays as it is, and users whose records weigh more than they are worth (`SharedItems`) are warned about.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Codes, Values
from accordant.errors import UnknownNameError
from accordant.json_values import json_value
from accordant.naming import counted
from accordant.preferences.checks import check_whole
from accordant.preferences.learners.mixture import Mixture, evidence, few_records
from accordant.preferences.learners.shared_items import SharedItems
from accordant.preferences.records import Comparisons, Rankings, user_folds

Rule = Literal["one standard error", "best"]

QUICK = Mixture(restarts=3, change=1e-5, tolerance=1e-5)  # scores of new users do not need a fit's last digits
FEW_USERS = 10  # fewer say little about how far scores would move with other users
OVERWEIGHT = 1.1  # of what records are worth: more is warned about, a few items that happen to meet again are not


@dataclass(frozen=True)
class TypeScore:
    """How well a number of types predicts new users.

    Attributes
    ----------
    types
        K.
    log_likelihood
        Σ_u ℓ_u(K) / Σ_u Σ_r w_r: per record of a new user, in nats; at most 0.
    shortfall
        The best number's score less this one, at least 0.
    standard_error
        Of the shortfall, from the users' own differences; 0 for the best number.
    """

    types: int
    log_likelihood: float
    shortfall: float
    standard_error: float


@dataclass(frozen=True)
class TypeChoice:
    """The number of types, and what speaks for it.

    Attributes
    ----------
    chosen
        By the rule.
    best
        With the highest score; the smaller one of equals.
    scores
        Of 1, 2, …, shape (number of types,).
    rule
        ``"one standard error"`` or ``"best"``.
    folds, n_users
        Folds used, and users scored.
    warnings
        Sentences that a reader of the result must see.
    """

    chosen: int
    best: int
    scores: tuple[TypeScore, ...]
    rule: Rule
    folds: int
    n_users: int
    warnings: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        content: dict[str, Any] = json_value(asdict(self))
        return content


def choose_types(
    records: Comparisons | Rankings,
    *,
    most: int = 5,
    folds: int = 5,
    rule: Rule = "one standard error",
    learner: Mixture | None = None,
    generator: np.random.Generator | None = None,
) -> TypeChoice:
    """Choose the number of hidden types by the likelihood of users who took no part in training.

    Parameters
    ----------
    records
        Of at least two users.
    most
        Largest number of types tried, at least 1.
    folds
        Folds of users, at least 2; with fewer users every user is a fold.
    rule
        ``"one standard error"``: the fewest types whose shortfall is at most its standard error; ``"best"``: the
        highest score.
    learner
        The mixture to fit, whatever its own number of types; None for `QUICK`, three starts that end
        early.
    generator
        Source of folds and starts; None seeds one with 0. The same state gives the same result.

    Raises
    ------
    InputError, UnknownNameError
        If a parameter is out of range.
    DataError
        If fewer than two users have records.
    """
    check_whole(most=most)
    if rule not in get_args(Rule):
        raise UnknownNameError("rule", rule, get_args(Rule))
    read = evidence(records)
    weights = read.by_user(read.weights)
    generator = np.random.default_rng(0) if generator is None else generator
    fold = user_folds(weights, folds, generator)
    mixture = QUICK if learner is None else learner
    likelihoods = np.stack([_held_out(records, fold, replace(mixture, types=k), generator) for k in range(1, most + 1)])
    scored = fold >= 0
    scores = _scores(likelihoods[:, scored], weights[scored])
    best, chosen = choice_by("best", scores), choice_by(rule, scores)
    n_folds, n_users = int(fold.max()) + 1, int(scored.sum())
    return TypeChoice(chosen, best, scores, rule, n_folds, n_users, _warnings(records, chosen, most, n_users))


def choice_by(rule: Rule, scores: Sequence[TypeScore]) -> int:
    """Return the number of types that a rule chooses from a table."""
    return min(score.types for score in scores if score.shortfall <= (0.0 if rule == "best" else score.standard_error))


def _held_out(
    records: Comparisons | Rankings, fold: NDArray[np.intp], mixture: Mixture, generator: np.random.Generator
) -> Values:
    """Return ℓ of each user under the mixture of the other folds, shape (user,)."""
    if mixture.types == 1:
        mixture = replace(mixture, restarts=1)  # every start ends at the same reward
    likelihoods = np.zeros(len(fold))
    for k in range(int(fold.max()) + 1):
        model = mixture.fit(of_users(records, np.flatnonzero((fold != k) & (fold >= 0))), generator=generator)
        likelihoods[fold == k] = model.log_likelihoods(records)[fold == k]
    return likelihoods


def of_users(records: Comparisons | Rankings, users: Codes) -> Comparisons | Rankings:
    """Return the records of some users; items, users and groups stay."""
    if isinstance(records, Comparisons):
        return records.of_users(users)
    rows = np.flatnonzero(np.isin(records.users, users))
    return replace(records, order=records.order[rows], users=records.users[rows])


def _scores(likelihoods: Values, weights: Values) -> tuple[TypeScore, ...]:
    """Return the table, from ℓ of shape (number of types, user) and the users' weights."""
    total, n_users = weights.sum(), len(weights)
    means = likelihoods.sum(axis=1) / total
    best = int(means.argmax())
    scores = []
    for row, mean in enumerate(means):
        shortfall = float(means[best] - mean)
        apart = likelihoods[best] - likelihoods[row] - shortfall * weights
        # users differ in their weight, so this is the error of a ratio (Cochran 1977, section 6.4)
        error = float(np.sqrt(n_users / (n_users - 1) * (apart @ apart)) / total)
        scores.append(TypeScore(row + 1, float(mean), shortfall, error))
    return tuple(scores)


def _warnings(records: Comparisons | Rankings, chosen: int, most: int, n_users: int) -> tuple[str, ...]:
    """Return what a reader must know."""
    warnings = [*few_records(records), *_dependent_records(records)]
    if chosen == most > 1:
        warnings.append(f"{chosen} types were chosen, the largest number tried: more may predict better")
    if n_users < FEW_USERS:
        warnings.append(f"only {counted(n_users, 'user was', 'users were')} scored: standard errors say little")
    return tuple(warnings)


def _dependent_records(records: Comparisons | Rankings) -> tuple[str, ...]:
    """Return the warning that users' records share items and weigh more than they are worth; else nothing."""
    if isinstance(records, Rankings):
        return ()
    shared = SharedItems(records)
    sharing = shared.sharing
    worth = float(shared.of_users(np.empty((len(records), 0))).counted[sharing].sum())
    totals, squares = (
        np.bincount(records.users, records.record_weights**power, records.n_users)[sharing] for power in (1, 2)
    )
    weight, separate = float(totals.sum()), float((totals**2 / squares).sum())  # what they weigh; worth without sharing
    if not min(weight, separate) > OVERWEIGHT * worth:
        return ()
    said = f"records of {counted(int(sharing.sum()), 'user')} share items: they weigh {weight:.0f} and are worth about "
    return (f"{said}{worth:.0f} independent ones, so that too many types may be chosen; weigh them less",)
