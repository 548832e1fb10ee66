"""Rules for the whole policy: what counts is everybody's mean over all contexts, not each context by itself.

A policy π gives context t an action, or a distribution over actions; stakeholder i gets the mean
u_i(π) = (1/T) Σ_t Σ_a π(a | t) E[i, a, t].

    population_maximin    max_π min_i u_i(π), the objective of MaxMin-RLHF (Chakraborty et al. 2024)
    population_leximin    the same, then the second smallest mean, and so on (Sen 1970, of policies)
    population_nash       max_π Σ_i w_i log(u_i(π) − d_i) (Nash 1950; Kaneko and Nakamura 1979, of policies)

By duality of linear programmes max_π min_i u_i(π) = min_λ (1/T) Σ_t max_a Σ_i λ_i E[i, a, t] over λ ≥ 0 with sum 1. So
the best policy takes the action with the highest weighted sum in every context, and only contexts in which several
actions tie at λ can need a draw between them. The same holds for Nash with λ_i ∝ w_i / (u_i − d_i), and for leximin
with the sum of the λ of its steps. `fit` finds λ on training contexts; new contexts are decided by the weighted sum.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar, Protocol, Self

import numpy as np

from accordant.arrays import Values
from accordant.contexts import Contexts
from accordant.decisions import Decisions
from accordant.errors import InputError, NotFittedError
from accordant.strategies.block import Block
from accordant.strategies.column_generation import (
    Columns,
    Optimum,
    Part,
    best_means,
    maximise,
    mixture,
    raise_in_turn,
    raise_worst_off,
)
from accordant.strategies.compromise import Compromise, Scored
from accordant.strategies.mixtures import maximise_product
from accordant.strategies.reductions import weighted_sum
from accordant.strategies.reference_points import INDIFFERENT
from accordant.strategies.strategy import Structure, register, stakeholder_weights
from accordant.utilities import ExpectedRewards


def multipliers_of(prices: Values, weights: Values) -> tuple[float, ...]:
    """Return how many times the weight of each stakeholder counts at λ ∝ `prices`; 0 where the weight is 0."""
    kept = weights > 0
    shares = np.where(kept, weights / weights.sum(), 1.0)
    return tuple(map(float, np.where(kept, prices / prices.sum() / shares, 0.0)))


class Population(Protocol):
    """All contexts that a policy decides about, wherever E in them stands."""

    @property
    def stakeholders(self) -> tuple[str, ...]:
        """Names of the stakeholders."""

    def best_means(self, weights: Values) -> Values:
        """Return the means of the policy that is best for Σ_i λ_i u_i, shape (stakeholder,): one pass over E.

        Parameters
        ----------
        weights
            λ, shape (stakeholder,).
        """

    def lowest_means(self) -> Values:
        """Return the mean of everybody's worst action in each context, shape (stakeholder,)."""


class PopulationInMemory:
    """The contexts of one E.

    Parameters
    ----------
    expected
        E, with at least one context.
    """

    def __init__(self, expected: ExpectedRewards) -> None:
        self.expected = expected
        self.parts = [Part(expected, np.eye(len(expected.stakeholders)) / expected.n_contexts)]

    @property
    def stakeholders(self) -> tuple[str, ...]:
        """Names of the stakeholders."""
        return self.expected.stakeholders

    def best_means(self, weights: Values) -> Values:
        """Return the means of the policy that is best for Σ_i λ_i u_i; see `Population`."""
        return best_means(self.parts, weights)

    def lowest_means(self) -> Values:
        """Return the mean of everybody's worst action in each context; see `Population`."""
        return np.asarray(self.expected.values.min(axis=1).mean(axis=1), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class OptimalPolicy:
    """The best policy over some contexts, with the proof.

    Attributes
    ----------
    value
        Welfare of the policy: the smallest mean, or for Nash Σ_i w_i log(u_i − d_i), over those who have a say.
    means
        u_i, mean expected reward of every stakeholder, in [0, 1], shape (stakeholder,).
    weights
        λ, summing to 1, shape (stakeholder,); 0 for who has no weight. No policy has a higher Σ_i λ_i u_i.
    gap
        What any other policy could add to the value at most; for leximin, to Σ_i λ_i u_i.
    passes
        Readings of E.
    decisions
        The policy: `Decisions.policy` holds probabilities, shape (action, context), and the flag ``randomised`` the
        contexts in which an action is drawn. They tie at λ, but for the gap.
    """

    value: float
    means: Values
    weights: Values
    gap: float
    passes: int
    decisions: Decisions


@dataclass(frozen=True)
class PopulationRule(Compromise):
    """A weighted sum whose weights make the whole policy best.

    Parameters
    ----------
    weights
        One weight of at least 0 per stakeholder, as for every compromise.
    multipliers
        How many times the weight of each stakeholder counts, shape (stakeholder,): λ_i / p_i with p_i = w_i / Σ w, 0
        where w_i is 0. Set by `fit`; 1 for everybody is the utilitarian rule. They stay where other weights are tried.
    """

    dependence: ClassVar[Structure] = "column_score"

    multipliers: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.multipliers is None:
            return
        try:
            given = np.asarray(self.multipliers, dtype=np.float64)
        except (TypeError, ValueError):
            given = np.array(np.nan)
        if given.ndim != 1 or not np.isfinite(given).all() or (given < 0).any() or not given.sum() > 0:
            raise InputError(f"multipliers are {self.multipliers}; allowed: numbers of at least 0, not all 0")

    @property
    def fitted(self) -> bool:
        """Whether multipliers are known."""
        return self.multipliers is not None

    def score(self, block: Block, weights: Values) -> Scored:
        """Return the weighted sums.

        Raises
        ------
        NotFittedError
            If multipliers are not known.
        """
        scores = block.scores()
        weighted_sum(block.values, self.prices(weights), scores)
        return Scored(scores, quantities={"multipliers": self._multipliers(len(weights))[:, None]})

    def prices(self, weights: Values) -> Values:
        """Return what a unit of each stakeholder's reward adds to the score, shape (stakeholder,): λ if it was fitted.

        Raises
        ------
        NotFittedError
            If multipliers are not known.
        """
        return np.asarray(weights / weights.sum() * self._multipliers(len(weights)))

    def fit(self, expected: ExpectedRewards, contexts: Contexts | None = None) -> Self:
        """Take multipliers from training contexts.

        Raises
        ------
        InputError
            If there is no context, or weights do not fit.
        """
        del contexts
        return self.at(self.solve(self._population(expected)))

    def at(self, optimum: Optimum) -> Self:
        """Return the rule with the multipliers of an optimum from `solve`."""
        weights = stakeholder_weights(self.weights, len(optimum.weights))
        return replace(self, multipliers=multipliers_of(optimum.weights, weights))

    def solve(self, population: Population) -> Optimum:
        """Return the best mixture of policies over a population, and λ.

        Raises
        ------
        InputError
            If weights do not fit.
        """
        weights = stakeholder_weights(self.weights, len(population.stakeholders))
        columns = Columns(population.best_means)
        columns.price(weights / weights.sum())
        return self.search(columns, population, weights)

    def optimal_policy(self, expected: ExpectedRewards) -> OptimalPolicy:
        """Return the best policy over these contexts; whatever was fitted before has no effect.

        Raises
        ------
        InputError
            If there is no context, or weights do not fit.
        """
        population = self._population(expected)
        optimum = self.solve(population)
        probabilities = mixture(population.parts, optimum)[0]
        own = self.at(optimum)(expected)
        drawn = np.asarray(probabilities.max(axis=0) < 1.0)
        decisions = replace(
            own, codes=probabilities.argmax(axis=0).astype(own.codes.dtype), policy=probabilities,
            flags={"randomised": drawn},
        )  # fmt: skip
        return OptimalPolicy(
            self.value(optimum, population), optimum.means, optimum.weights / optimum.weights.sum(), optimum.gap,
            optimum.passes, decisions,
        )  # fmt: skip

    def value(self, optimum: Optimum, population: Population) -> float:
        """Return the welfare of an optimum from `solve`."""
        return self.welfare(optimum.means, population, stakeholder_weights(self.weights, len(optimum.means)))

    @abstractmethod
    def welfare(self, means: Values, population: Population, weights: Values) -> float:
        """Return what is maximised, of means of shape (stakeholder,)."""

    @abstractmethod
    def search(self, columns: Columns, population: Population, weights: Values) -> Optimum:
        """Return the best mixture."""

    def _population(self, expected: ExpectedRewards) -> PopulationInMemory:
        if expected.n_contexts == 0:
            raise InputError(f"{self.name} needs at least one training context")
        return PopulationInMemory(expected)

    def _multipliers(self, n_stakeholders: int) -> Values:
        if self.multipliers is None:
            raise NotFittedError(f"{self.name} takes its weights from training contexts; call fit(E) first")
        if len(self.multipliers) != n_stakeholders:
            raise InputError(f"{len(self.multipliers)} multipliers were given for {n_stakeholders} stakeholders")
        return np.asarray(self.multipliers, dtype=np.float64)


@register("population_maximin")
@dataclass(frozen=True)
class PopulationMaximin(PopulationRule):
    """Maximise the smallest mean over all contexts: the worst-off stakeholder of the whole policy.

    Weights have no effect on the fit, except that weight 0 leaves somebody out.
    """

    def welfare(self, means: Values, population: Population, weights: Values) -> float:
        """Return the smallest mean of those who have a say."""
        del population
        return float(means[weights > 0].min())

    def search(self, columns: Columns, population: Population, weights: Values) -> Optimum:
        """Raise the smallest mean as far as it goes."""
        del population
        return raise_worst_off(columns, weights > 0)


@register("population_leximin")
@dataclass(frozen=True)
class PopulationLeximin(PopulationMaximin):
    """Maximise the smallest mean over all contexts, then the second smallest, and so on.

    Weights have no effect on the fit, except that weight 0 leaves somebody out.
    """

    def search(self, columns: Columns, population: Population, weights: Values) -> Optimum:
        """Raise the smallest mean, then that of those who can still rise."""
        del population
        return raise_in_turn(columns, weights > 0)


@register("population_nash")
@dataclass(frozen=True)
class PopulationNash(PopulationRule):
    """Maximise the product of mean gains over all contexts, ∏_i (u_i − d_i)^w_i.

    Whoever cannot gain in any context is left out.

    Parameters
    ----------
    disagreement
        d: one number in [0, 1] for everybody, or one per stakeholder; ``"context"`` for the mean of the worst action
        of each context.
    """

    disagreement: str | float | tuple[float, ...] = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.disagreement == "context":
            return
        try:
            given = np.asarray(self.disagreement, dtype=np.float64)
        except (TypeError, ValueError):
            given = np.array(np.nan)
        if given.ndim > 1 or not ((given >= 0) & (given <= 1)).all():
            raise InputError(
                f"disagreement is {self.disagreement!r}; allowed: 'context', a number in [0, 1], or one per stakeholder"
            )

    @property
    def label(self) -> str:
        """Name with the disagreement point, unless it is 0."""
        if self.disagreement == 0.0:
            return super().label
        mode = "context" if self.disagreement == "context" else "declared"
        return super().label.replace(self.name, f"{self.name}[{mode}]", 1)

    def welfare(self, means: Values, population: Population, weights: Values) -> float:
        """Return Σ_i w_i log(u_i − d_i) over those who can gain."""
        disagreement = self.disagreement_point(population)
        able = (weights > 0) & (means > disagreement)
        return float(weights[able] @ np.log(means[able] - disagreement[able]))

    def search(self, columns: Columns, population: Population, weights: Values) -> Optimum:
        """Let everybody gain together, and then the product grow.

        Raises
        ------
        InputError
            If no policy lets all gain who can gain alone.
        """
        disagreement = self.disagreement_point(population)
        alone = np.array([columns.price(unit)[i] for i, unit in enumerate(np.eye(len(weights)))])
        able = (weights > 0) & (alone > disagreement + INDIFFERENT)
        names = [name for name, can in zip(population.stakeholders, able, strict=True) if can]
        if not names:
            raise InputError(f"{self.label}: nobody's mean can rise above the disagreement point")
        start = raise_worst_off(columns, able, disagreement)
        if (start.means - disagreement)[able].min() <= INDIFFERENT:
            raise InputError(
                f"{self.label}: no policy leaves {', '.join(names)} above their disagreement points at once"
            )
        counted = np.where(able, weights, 0.0)
        return maximise(columns, lambda means: maximise_product(means, counted, disagreement))

    def disagreement_point(self, population: Population) -> Values:
        """Return d, shape (stakeholder,)."""
        n_stakeholders = len(population.stakeholders)
        if self.disagreement == "context":
            return population.lowest_means()
        given = np.asarray(self.disagreement, dtype=np.float64)
        if given.ndim and len(given) != n_stakeholders:
            raise InputError(f"{len(given)} disagreement points were declared for {n_stakeholders} stakeholders")
        return np.array(np.broadcast_to(given, (n_stakeholders,)))
