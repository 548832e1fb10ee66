"""Rewards by small neural networks, for users known by their context or by a few of their answers.

They need the extra ``torch``; the networks are in `accordant.preferences.networks`. Training is stochastic and
deterministic given the generator: one thread, one seed.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Literal, get_args

import numpy as np

from accordant.arrays import Codes
from accordant.errors import InputError, UnknownNameError
from accordant.preferences.checks import check_positive, check_whole
from accordant.preferences.learners.bradley_terry import balanced_weights
from accordant.preferences.learners.learner import PreferenceLearner, checked_records, register
from accordant.preferences.learners.logistic import LogisticProblem
from accordant.preferences.learners.pareto_distillation import ParetoDistillation
from accordant.preferences.learners.supervision import Supervision
from accordant.preferences.learners.user_contexts import Source, user_contexts
from accordant.preferences.records import Comparisons

if TYPE_CHECKING:
    from accordant.preferences.network_training import Terms
    from accordant.preferences.networks import Latents, NeuralReward


CONSTANT = 1e-12  # a spread below this share of the mean is rounding

Objective = Literal["pooled", "balanced", "group_robust", "mse", "soft", "offset"]


@dataclass(frozen=True)
class NeuralLearner(PreferenceLearner):
    """What all of them share.

    Parameters
    ----------
    objective
        Which loss is minimised: the mean over records, the mean with groups weighing alike, that of the worst group, or
        one of the losses of `ParetoDistillation`, taught by linear rewards of groups.
    hidden
        Width of the layers, at least 1.
    steps, batch
        Gradient steps, and about as many records in each; both at least 1.
    rate, decay
        Step size of Adam (Kingma and Ba 2015), above 0, and weight decay, at least 0.
    held_out
        Share of the records, in [0, 0.5], by which a first network decides after how many steps to stop; the second one
        is trained on all. No item of a user stands on both sides. With 0 there is one network and all steps.
    """

    extra: ClassVar[str | None] = "torch"
    cost: ClassVar[int] = 30

    objective: Objective = "pooled"
    hidden: int = 32
    steps: int = 1500
    batch: int = 512
    rate: float = 3e-3
    decay: float = 1e-4
    held_out: float = 0.1

    def __post_init__(self) -> None:
        if self.objective not in get_args(Objective):
            raise UnknownNameError("objective", self.objective, get_args(Objective))
        check_whole(hidden=self.hidden, steps=self.steps, batch=self.batch)
        if not (self.rate > 0 and self.decay >= 0 and 0 <= self.held_out <= 0.5):
            raise InputError("rate must be above 0, decay at least 0, and held_out from 0 to 0.5")

    @abstractmethod
    def latents(self, comparisons: Comparisons, rows: Codes) -> Latents:
        """Return the source of users' latent vectors, which may read some rows."""

    @property
    def divergence(self) -> float:
        """Weight of the KL divergence of latent vectors."""
        return 0.0

    def fit(self, comparisons: Comparisons, *, generator: np.random.Generator | None = None) -> NeuralReward:
        """Train a network; the same state of the generator gives the same result.

        Raises
        ------
        DataError
            If there is no record, or groups are needed and missing.
        InputError
            If PyTorch is not installed.
        """
        checked_records(comparisons, groups=self.objective in ("balanced", "group_robust"))
        _require_torch()
        from accordant.preferences.network_training import Stop, Training, one_thread, trained
        from accordant.preferences.networks import NeuralReward, RewardNetwork, standardise

        generator = np.random.default_rng(0) if generator is None else generator
        shown = comparisons.features[np.concatenate([comparisons.chosen, comparisons.rejected])]
        mean, spread = shown.mean(axis=0), shown.std(axis=0)
        spread = np.where(spread > CONSTANT * np.abs(mean), spread, 1.0)
        ready = standardise(comparisons, mean, spread)
        settings = Training(self.steps, self.batch, self.rate, self.decay, self.divergence)
        seed, terms = int(generator.integers(2**31)), self._terms(ready, generator)
        counted = np.flatnonzero(ready.record_weights > 0)

        def network_of(rows: Codes, held_out: Codes, settings: Training) -> tuple[RewardNetwork, Latents, Stop]:
            """Return a network trained on some rows, and when to stop by others."""
            with one_thread(seed):
                latents = self.latents(ready, rows)
                network = RewardNetwork(ready.features.shape[1], latents.size, self.hidden)
                return network, latents, trained(network, latents, ready, terms, held_out, settings, generator)

        rows, held_out = self._parted(ready, generator)
        stop = Stop(self.steps, float("nan"))
        if len(rows) and len(held_out):
            _, _, stop = network_of(rows, held_out, settings)
        network, latents, _ = network_of(counted, counted[:0], replace(settings, steps=stop.steps))
        return NeuralReward(network, latents, ready, mean, spread, stop.loss)

    def _parted(self, comparisons: Comparisons, generator: np.random.Generator) -> tuple[Codes, Codes]:
        """Return rows to train on first, and held-out rows; rows with one item on either side are in neither."""
        n_items = len(comparisons.features)
        sides = comparisons.users * n_items + np.stack([comparisons.chosen, comparisons.rejected])
        _, item, counts = np.unique(sides, return_inverse=True, return_counts=True)
        item = item.reshape(sides.shape)
        drawn = generator.random(len(counts))[item]
        alone = (counts[item] == 1).all(axis=0)
        drawn[1] = np.where(alone, drawn[0], drawn[1])
        share = np.where(alone, self.held_out, np.sqrt(self.held_out))
        counted = comparisons.record_weights > 0
        held_out, trained = ((drawn < share).all(axis=0), (drawn >= share).all(axis=0))
        return np.flatnonzero(counted & trained), np.flatnonzero(counted & held_out)

    def _terms(self, comparisons: Comparisons, generator: np.random.Generator) -> Terms:
        """Return what the loss of each record is made of."""
        from accordant.preferences.network_training import Terms

        problem, groups = LogisticProblem(comparisons.differences(), weights=comparisons.weights), None
        if self.objective == "balanced":
            problem = replace(problem, weights=balanced_weights(comparisons))
        elif self.objective == "group_robust":
            _, of_user = np.unique(np.array(comparisons.groups), return_inverse=True)
            groups = of_user[comparisons.users]
        elif self.objective != "pooled":
            problem = teaching_problem(comparisons, self.objective, generator)
        return Terms.of(problem, groups)


def teaching_problem(
    comparisons: Comparisons, loss: Literal["mse", "soft", "offset"], generator: np.random.Generator
) -> LogisticProblem:
    """Return what a linear reward would minimise that is taught by rewards of groups, without context."""
    learner = ParetoDistillation(context="none", loss=loss)
    lesson = learner.lesson(comparisons, generator=generator)
    alike = lesson.groups.weights(comparisons, "balanced")
    return lesson.problem(Supervision(loss), lesson.specialist_margins, alike)


@register("mlp")
@dataclass(frozen=True)
class MultilayerPerceptron(NeuralLearner):
    """A network of two hidden layers from item features and the user's context to a reward.

    Parameters
    ----------
    context, directions
        See `SharedLearner`.
    objective, hidden, steps, batch, rate, decay, held_out
        See `NeuralLearner`.
    """

    context: Source = "history"
    directions: int = 8

    def latents(self, comparisons: Comparisons, rows: Codes) -> Latents:
        """Return contexts from the rows that are trained on."""
        from accordant.preferences.networks import KnownLatents

        weights = np.zeros(len(comparisons))
        weights[rows] = comparisons.record_weights[rows]
        seen = replace(comparisons, weights=weights)
        return KnownLatents(comparisons, user_contexts(self.context, seen, directions=self.directions), rows)


@register("user_encoder")
@dataclass(frozen=True)
class UserEncoder(NeuralLearner):
    """A reward network and an encoder that reads a few of a user's answers; both are trained to predict other answers.

    Parameters
    ----------
    latent
        k, the size of what is known of a user, at least 1.
    shown
        Most answers read in a training step, at least 1.
    objective, hidden, steps, batch, rate, decay, held_out
        See `NeuralLearner`.
    """

    latent: int = 4
    shown: int = 16

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole(latent=self.latent, shown=self.shown)

    def latents(self, comparisons: Comparisons, rows: Codes) -> Latents:
        """Return vectors that a new network reads off answers."""
        from accordant.preferences.networks import EncodedLatents, PairEncoder

        encoder = PairEncoder(comparisons.features.shape[1], self.latent, self.hidden)
        return EncodedLatents(comparisons, rows, encoder, shown=self.shown, variational=self.divergence > 0)


@register("variational")
@dataclass(frozen=True)
class Variational(UserEncoder):
    """Variational preference learning (Poddar et al. 2024), re-implemented from the formulas.

    The user's latent vector is drawn from a normal distribution in training, with a KL divergence to the standard
    normal one as its cost, whose weight rises in cycles; afterwards the mean is used. Vectors are scaled to one length
    in training and afterwards alike.

    Parameters
    ----------
    kl_weight
        Of the KL divergence, above 0.
    latent, shown, objective, hidden, steps, batch, rate, decay, held_out
        See `UserEncoder`.
    """

    cost: ClassVar[int] = 40

    kl_weight: float = 1e-3

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive(kl_weight=self.kl_weight)

    @property
    def divergence(self) -> float:
        """Weight of the KL divergence of latent vectors."""
        return self.kl_weight


def _require_torch() -> None:
    """Raise an error that names the extra if PyTorch is missing."""
    import importlib.util

    if importlib.util.find_spec("torch") is None:
        raise InputError("this learner needs PyTorch, which is not installed: pip install 'accordant[torch]'")
