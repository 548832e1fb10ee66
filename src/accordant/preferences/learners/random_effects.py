"""Random effects: users' rewards come from a distribution that is learned from all of them.

[ours] A hierarchical (mixed) logit by empirical Bayes: θ_u = θ_0 + B z_u, z_u from one normal or a few with a common
spread (`effect_prior`), with and without the users' given features deciding between them. Candidates of different
boldness, the pooled reward among them, predict records that they were not trained on, of users who are known by records
of other items (`item_folds`); the sum of them that predicts best is the reward (`stacking_weights`). If it does not
beat the pooled reward there, and the best multiple of it, by more than `CLEAR` standard errors, it *is* the pooled
reward: better sizes of margins alone say nothing of how users differ. Records that share items count as what
independent ones would (`independent_weights`). Groups are never read.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Codes, Values
from accordant.preferences.checks import check_positive, check_whole
from accordant.preferences.learners.bradley_terry import ContextualReward, pooled_coefficients
from accordant.preferences.learners.effect_prior import (
    EffectPrior,
    Gain,
    StackedReward,
    UserEffects,
    gain,
    maximise_likelihood,
    prior_path,
    stacking_weights,
    user_gain,
)
from accordant.preferences.learners.learner import (
    LinearReward,
    PreferenceLearner,
    RewardModel,
    checked_records,
    register,
)
from accordant.preferences.learners.logistic import LogisticProblem, log_loss
from accordant.preferences.learners.low_rank import LowRank
from accordant.preferences.learners.shared_items import independent_weights, item_folds
from accordant.preferences.learners.user_contexts import GivenContexts
from accordant.preferences.learners.user_effects import PlacedReward, records_along, user_directions
from accordant.preferences.records import Comparisons, user_folds, weight_of_users

LOW_RANK = 4  # directions that are looked for where features are too many to span them all
LOW_RANK_TOLERANCE = 1e-4  # is enough for directions that a prior is learned along
NO_SIZE = 1e-6  # a direction shorter than this, beside the longest one, says nothing
FEATURES_CLEAR = 1.0  # standard errors: picks between two candidates only, what is picked must pass the guard
GATE_ROUNDS = 10  # of expectation and maximisation once types may depend on given features


@dataclass(frozen=True, eq=False)
class EffectsReward(PlacedReward):
    """Each user's reward given a prior and the user's records.

    Attributes
    ----------
    prior
        How users differ.
    contexts
        The users' given features, if the prior reads them; else None.
    """

    prior: EffectPrior
    contexts: GivenContexts | None

    def adapted(self, comparisons: Comparisons) -> EffectsReward:
        """Return the rewards of other users under the same prior; without records or features, the prior's mean."""
        return replace(self, places=self.effects(comparisons).places)

    def effects(self, comparisons: Comparisons) -> UserEffects:
        """Return what records, and features if the prior reads them, say of users who are taken as new."""
        known = None
        if self.contexts is not None and comparisons.user_features is not None:
            known = self.contexts.of_users(comparisons)
        return self.prior.effects(records_along(comparisons, self.common, self.directions), known)


@dataclass(frozen=True, eq=False)
class RandomEffectsReward(StackedReward):
    """The chosen sum of candidates.

    Attributes
    ----------
    names
        Of the models in the sum: ``"pooled"``, ``"given"`` (linear in given features), ``"types K"``, and
        ``"types K given"`` where given features decide between types.
    gain
        Of the sum on held-out records, over the pooled reward or its best multiple, whichever predicts them better; 0
        if the sum is a multiple of the pooled reward. Its error is infinite where too few can be held out.
    usual
        Mean of the users' given features in training, shape (feature,); None if there were none.
    """

    names: tuple[str, ...]
    gain: Gain
    usual: Values | None

    def adapted(self, comparisons: Comparisons) -> RandomEffectsReward:
        """Return the same sum of rewards that are each adapted to other users; those without features are usual."""
        if comparisons.user_features is None and self.usual is not None:
            comparisons = replace(comparisons, user_features=np.tile(self.usual, (comparisons.n_users, 1)))
        return replace(self, models=super().adapted(comparisons).models)


@dataclass(frozen=True, eq=False)
class HeldOut:
    """What candidates predict of users who took no part in their training.

    Attributes
    ----------
    names
        Of the candidates.
    margins
        Of each record, when the user is known by records of other items, shape (record, candidate); NaN for records
        that share items with too many others to be held out.
    log_likelihoods
        Of all records of each user, with `independent_weights`, shape (user, candidate): by the chain rule the sum of
        predictions of each record from those before it, so that it counts how soon a user is known.
    """

    names: tuple[str, ...]
    margins: Values
    log_likelihoods: Values

    def allowed(self, comparisons: Comparisons) -> NDArray[np.bool_]:
        """Return which candidates may take part: with as many types, the one that reads given features or the other.

        The one that reads them needs a gain in log-likelihood above `FEATURES_CLEAR` standard errors.
        """
        allowed = np.ones(len(self.names), dtype=bool)
        for column, name in enumerate(self.names):
            if name.startswith("types") and name.endswith("given"):
                plain = self.names.index(name.removesuffix(" given"))
                of_user = self.log_likelihoods[:, column] - self.log_likelihoods[:, plain]
                needed = user_gain(of_user, weight_of_users(comparisons)).exceeds(FEATURES_CLEAR)
                allowed[plain if needed else column] = False
        return allowed


@register("random_effects")
@dataclass(frozen=True)
class RandomEffects(PreferenceLearner):
    """Learn how users differ, and each user's reward from it; the pooled one unless held-out records gain clearly.

    Parameters
    ----------
    types
        Most types of users, at least 1.
    directions
        Most features that are all spanned; with more of them, most directions in which users may differ, at least 1.
    folds
        Folds of users, and of each user's records, at least 2.
    rounds
        Most rounds of expectation and maximisation for each number of types, at least 1.
    ridge, tolerance
        Of the pooled reward, see `BradleyTerry`.
    context_ridge
        Multiplies half the squared length of what given features add to the pooled reward, beside the mean loss.
    """

    types: int = 3
    directions: int = 16
    folds: int = 5
    rounds: int = 60
    ridge: float = 1e-4
    tolerance: float = 1e-7
    context_ridge: float = 1e-2

    def __post_init__(self) -> None:
        check_whole(types=self.types, directions=self.directions, rounds=self.rounds)
        check_whole(2, folds=self.folds)
        check_positive(ridge=self.ridge, tolerance=self.tolerance, context_ridge=self.context_ridge)

    def fit(self, comparisons: Comparisons, *, generator: np.random.Generator | None = None) -> RandomEffectsReward:
        """Learn candidates and their sum; the generator deals users and items into folds.

        With records of a single user there is nothing to learn of how users differ: the reward is the pooled one.
        """
        checked_records(comparisons)
        generator = np.random.default_rng(0) if generator is None else generator
        counted = comparisons.take(np.flatnonzero(comparisons.record_weights > 0))
        candidates = self._candidates(counted)
        weights, held_out_gain = np.eye(len(candidates))[0], Gain(0.0, np.inf)
        of_users = weight_of_users(comparisons)
        if (of_users > 0).sum() > 1:
            fold = user_folds(of_users, self.folds, generator)
            held_out = self._held_out(counted, fold, tuple(candidates), generator)
            weights, held_out_gain = _chosen(counted, fold, held_out)
        kept = [(name, candidates[name], a) for name, a in zip(candidates, weights, strict=True) if a > 0]
        names, models, sizes = zip(*kept, strict=True)
        known = comparisons.user_features
        usual = None if known is None else known[counted.counts > 0].mean(axis=0)
        return RandomEffectsReward(models, np.array(sizes), names, held_out_gain, usual)

    def _candidates(self, comparisons: Comparisons) -> dict[str, RewardModel]:
        """Return every candidate by name, the pooled reward first."""
        pooled = pooled_coefficients(comparisons, ridge=self.ridge, tolerance=self.tolerance)
        differences = comparisons.differences()
        common, directions = self._plane(comparisons, differences, pooled)
        candidates: dict[str, RewardModel] = {"pooled": LinearReward(pooled)}
        contexts = None if comparisons.user_features is None else GivenContexts.learned(comparisons)
        if contexts is not None:
            candidates["given"] = self._given(comparisons, differences, pooled, contexts)
        del differences
        records = records_along(comparisons, common, directions)

        def reward(prior: EffectPrior, known: GivenContexts | None) -> EffectsReward:
            """Return every user's reward under a prior."""
            of_users = None if known is None else known.known
            places = prior.effects(records, of_users).places
            unknown = prior.shares @ prior.centres
            return EffectsReward(common, directions, places, unknown, prior, known)

        for prior in prior_path(records, types=self.types, rounds=self.rounds):
            n_types = len(prior.shares)
            candidates[f"types {n_types}"] = reward(prior, None)
            if contexts is not None and n_types > 1:
                gated, _ = maximise_likelihood(prior, records, contexts.known, GATE_ROUNDS)
                candidates[f"types {n_types} given"] = reward(gated, contexts)
        return candidates

    def _plane(self, comparisons: Comparisons, differences: Values, pooled: Values) -> tuple[Values, Values]:
        """Return θ_0, shape (feature,), and B, shape (feature, direction).

        All features are spanned from the pooled reward if they are few enough; else both are those of `LowRank`, whose
        few directions are much surer than as many as possible would be.
        """
        if len(pooled) <= self.directions:
            return pooled, user_directions(comparisons, differences, pooled, self.directions)
        rank = min(self.directions, LOW_RANK)
        model = LowRank(rank=rank, ridge=self.ridge, tolerance=LOW_RANK_TOLERANCE).fit(comparisons)
        vectors, sizes, _ = np.linalg.svd(model.directions, full_matrices=False)
        kept = vectors[:, sizes > NO_SIZE * max(sizes[0], 1.0)]
        if not kept.shape[1]:
            return pooled, user_directions(comparisons, differences, pooled, rank)
        spread = np.sqrt(np.mean((differences @ kept) ** 2, axis=0))
        return model.common, np.asarray(kept / np.where(spread > 0, spread, 1.0))

    def _given(
        self, comparisons: Comparisons, differences: Values, pooled: Values, contexts: GivenContexts
    ) -> ContextualReward:
        """Return the pooled reward plus what is linear in given features."""
        scales = contexts.of_training_records(comparisons)[:, 1:]
        problem = LogisticProblem(
            differences, weights=comparisons.weights, offsets=differences @ pooled, ridge=self.context_ridge,
            scales=scales,
        )  # fmt: skip
        added = problem.solve(tolerance=self.tolerance).coefficients.reshape(-1, len(pooled))
        return ContextualReward(np.vstack([pooled, added]), contexts)

    def _held_out(
        self, comparisons: Comparisons, fold: Codes, names: tuple[str, ...], generator: np.random.Generator
    ) -> HeldOut:
        """Return what candidates predict of users who were not trained on, known by their other records."""
        of_record, parts = fold[comparisons.users], item_folds(comparisons, self.folds, generator)
        margins = np.full((len(comparisons), len(names)), np.nan)
        likelihoods = np.zeros((comparisons.n_users, len(names)))
        for k in range(int(fold.max()) + 1):
            models = self._candidates(comparisons.take(np.flatnonzero(of_record != k)))
            models |= {name: models["pooled"] for name in names if name not in models}
            new = comparisons.take(np.flatnonzero(of_record == k))
            for column, name in enumerate(names):
                likelihoods[fold == k, column] = _log_likelihoods(models[name], new)[fold == k]
            for j in range(self.folds):
                rows = np.flatnonzero((of_record == k) & parts.held_out(j))
                known = comparisons.take(np.flatnonzero((of_record == k) & parts.known(j)))
                asked = comparisons.take(rows)
                for column, name in enumerate(names):
                    margins[rows, column] = models[name].adapted(known).margins(asked)
        return HeldOut(names, margins, likelihoods)


def _log_likelihoods(model: RewardModel, comparisons: Comparisons) -> Values:
    """Return the log-likelihood of all records of each user, taken as new, shape (user,)."""
    if isinstance(model, EffectsReward):
        return model.effects(comparisons).log_likelihoods
    losses = independent_weights(comparisons) * log_loss(model.margins(comparisons))
    return np.asarray(-np.bincount(comparisons.users, losses, minlength=comparisons.n_users), dtype=np.float64)


def _chosen(comparisons: Comparisons, fold: Codes, held_out: HeldOut) -> tuple[Values, Gain]:
    """Return candidates' weights and the gain; weights are judged by users for whom they were not chosen."""
    judged = np.flatnonzero(np.isfinite(held_out.margins[:, 0]))
    pooled = np.eye(len(held_out.names))[0]
    if len(np.unique(comparisons.users[judged])) < 2:
        return pooled, Gain(0.0, np.inf)
    asked, allowed = comparisons.take(judged), held_out.allowed(comparisons)
    counts, margins, of_record = asked.record_weights, held_out.margins[judged], fold[asked.users]

    def weights(rows: NDArray[np.bool_], columns: NDArray[np.bool_]) -> Values:
        """Return the weights of some candidates that predict some records best; 0 for the others."""
        sizes = np.zeros(len(columns))
        if rows.any():
            sizes[columns] = stacking_weights(margins[np.ix_(rows, columns)], counts[rows])
        return sizes

    every = weights(np.ones(len(of_record), dtype=bool), allowed)
    if not every[1:].any():
        return pooled, Gain(0.0, 0.0)
    predicted, multiple = np.empty(len(of_record)), np.empty(len(of_record))
    for k in np.unique(of_record):
        inside, others = of_record == k, of_record != k
        sizes = weights(others, allowed)
        predicted[inside] = margins[inside] @ (sizes if sizes.any() else pooled)
        multiple[inside] = margins[inside] @ weights(others, pooled > 0)
    gains = [gain(predicted, worse, asked) for worse in (margins[:, 0], multiple)]
    least = min(gains, key=lambda advantage: advantage.mean)
    return every if least.clear else pooled, least
