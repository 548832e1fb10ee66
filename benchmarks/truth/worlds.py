"""Worlds of known truth: contexts, logged actions and outcomes are drawn from laws that are written down here.

    f(o | x, s, a)   softmax of a linear predictor; of squares and products as well where `curvature` is positive
    π(a | x, s)      softmax of a linear predictor: the logged behaviour
    R_i(a, o)        a table for each stakeholder

x are the features, s is a binary sensitive attribute that is declared and is no feature. All effects are drawn once
from the world's own seed, so that `dataclasses.replace(world, seed=…, actions=…, noise=…)` is another world of the
same kind.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal
from zlib import crc32

import numpy as np
from scipy import stats
from scipy.special import softmax

from accordant.arrays import Codes, Values
from accordant.contexts import Contexts, Log
from accordant.problem import DecisionProblem
from accordant.rewards import TableReward

Noise = Literal["normal", "heavy", "uniform", "skewed", "binary"]

SENSITIVE = "s"
NOISES = {
    "normal": stats.norm(), "heavy": stats.t(4), "uniform": stats.uniform(-0.5, 1.0), "skewed": stats.expon(),
    "binary": stats.bernoulli(0.5),
}  # fmt: skip


@dataclass(frozen=True)
class World:
    """A world; every effect is in units of the linear predictor per standard deviation of a feature.

    Attributes
    ----------
    stakeholders, actions, outcomes, features, train, test
        How many; the last two are rows.
    informative
        How many of the features have any effect.
    noise
        Distribution of the features, standardised.
    share, shift
        Share of contexts with s = 1, and by how much the first two features are larger there.
    signal, effect
        Effect of features on outcomes whatever the action, and effect of the action, alone and with features.
    sensitive
        Effect of s on outcomes.
    logging, logging_sensitive
        Effects of features and of s on the logged action.
    gate
        Effect of the first feature on the logged action that makes it nearly certain at both ends.
    curvature
        Effect of squares and products of features on outcomes.
    rewards
        ``drawn`` tables; ``outcome`` for tables that do not read the action; ``compromise`` for tables with one action
        that is nearly the best for everybody, while all others are bad for somebody.
    conflict, scale
        Of drawn tables: weight of what stakeholders do not share, and distance from .5 relative to [0, 1].
    seed
        Of effects and tables.
    violation
        Whether overlap is violated, so that flags are due.
    """

    name: str
    stakeholders: int = 3
    actions: int = 3
    outcomes: int = 3
    features: int = 5
    informative: int = 4
    train: int = 600
    test: int = 200
    noise: Noise = "normal"
    share: float = 0.4
    shift: float = 0.3
    signal: float = 0.6
    effect: float = 0.8
    sensitive: float = 0.0
    logging: float = 0.0
    logging_sensitive: float = 0.0
    gate: float = 0.0
    curvature: float = 0.0
    rewards: Literal["drawn", "outcome", "compromise"] = "drawn"
    conflict: float = 0.7
    scale: float = 1.0
    seed: int = 0
    violation: bool = field(default=False, compare=False)

    @property
    def null(self) -> bool:
        """Whether all decisions that read features alone are worth the same."""
        return self.rewards == "outcome" and not (self.effect or self.curvature or self.sensitive or self.shift)

    @cached_property
    def problem(self) -> DecisionProblem:
        """The decision problem; its first action and outcome are favourable."""
        return DecisionProblem(
            stakeholders=[f"i{i}" for i in range(self.stakeholders)],
            actions=[f"a{a}" for a in range(self.actions)],
            outcomes=[f"o{o}" for o in range(self.outcomes)],
            favourable_actions=["a0"],
            favourable_outcomes=["o0"],
            sensitive_attributes=[SENSITIVE],
            outcome_depends_on_action=True,
        )

    @cached_property
    def signals(self) -> dict[str, TableReward]:
        """The reward table of each stakeholder."""
        names = self.problem
        return {
            stakeholder: TableReward({
                action: dict(zip(names.outcome_names, self.tables[i, a].tolist(), strict=True))
                for a, action in enumerate(names.actions)
            })
            for i, stakeholder in enumerate(names.stakeholder_names)
        }  # fmt: skip

    @cached_property
    def tables(self) -> Values:
        """R, shape (stakeholder, action, outcome)."""
        shape = (self.stakeholders, self.actions, self.outcomes)
        if self.rewards == "outcome":  # in turn: the first outcomes are better, the last ones, those in the middle
            good = np.linspace(0.9, 0.1, self.outcomes)
            kinds = np.stack([good, good[::-1], 0.3 + 0.4 * np.abs(good - 0.5)])
            return np.broadcast_to(kinds[np.arange(self.stakeholders) % 3][:, None], shape).copy()
        if self.rewards == "compromise":
            best = min(1, self.actions - 1)
            others = np.delete(np.arange(self.actions), best)
            level = np.full(shape[:2], 0.05)
            level[np.arange(self.stakeholders), others[np.arange(self.stakeholders) % len(others)]] = 0.95
            level[:, best] = 0.85
            return np.clip(level[:, :, None] + np.linspace(0.05, -0.05, self.outcomes), 0.0, 1.0)
        draw = np.random.default_rng([self.seed, 1])
        shared, own = draw.random(shape[1:]), draw.random(shape)
        return 0.5 + self.scale * ((1 - self.conflict) * shared + self.conflict * own - 0.5)

    @cached_property
    def _effects(self) -> dict[str, Values]:
        draw = np.random.default_rng([self.seed, 2])

        def normal(*shape: int) -> Values:
            return draw.standard_normal(shape)

        a, o, k = self.actions, self.outcomes, self.features
        active = (np.arange(k) < self.informative)[:, None]
        return {
            "common": normal(k, o) * active,
            "action": normal(a, o),
            "own": normal(a, k, o) * active,
            "curved": normal(a, 4, o),
            "logging": normal(k, a) * active,
        }

    def outcome_probabilities(self, x: Values, s: Values) -> Values:
        """Return the true f, shape (action, outcome, context)."""
        known, ends = self._effects, np.linspace(1.0, -1.0, self.outcomes)
        logits = self.signal * (x @ known["common"]) + self.sensitive * s[:, None] * ends
        by_action = logits + self.effect * (known["action"][:, None] + x @ known["own"])
        if self.curvature:
            first, second, third = (x[:, min(j, self.features - 1)] for j in range(3))
            curved = np.column_stack([first * second, second * third, first**2 - 1, np.abs(third) - 0.8])
            by_action = by_action + self.curvature * (curved @ known["curved"])
        return np.ascontiguousarray(softmax(by_action, axis=2).swapaxes(1, 2))

    def logging_probabilities(self, x: Values, s: Values) -> Values:
        """Return the true π, shape (action, context)."""
        ends = np.linspace(1.0, -1.0, self.actions)
        logits = self.logging * (x @ self._effects["logging"])
        logits = logits + (self.logging_sensitive * s + self.gate * x[:, 0])[:, None] * ends
        return np.ascontiguousarray(softmax(logits, axis=1).T)

    def log(self, uniform: Values, generator: np.random.Generator) -> tuple[Log, Values]:
        """Return a log, and the true expected rewards of every action, shape (stakeholder, action, context).

        Parameters
        ----------
        uniform
            Where features and s are taken from, shape (context, feature + 1), in (0, 1).
        generator
            Source of logged actions and outcomes.
        """
        law = NOISES[self.noise]
        s = (uniform[:, -1] < self.share).astype(np.float64)
        x = (law.ppf(uniform[:, :-1]) - law.mean()) / law.std()
        x[:, :2] += self.shift * s[:, None]
        f = self.outcome_probabilities(x, s)
        actions = drawn(self.logging_probabilities(x, s), generator)
        outcomes = drawn(f[actions, :, np.arange(len(s))].T, generator)
        columns = {f"x{j}": x[:, j] for j in range(self.features)} | {SENSITIVE: s}
        return Log(Contexts(columns), actions, outcomes), np.einsum("iao,aot->iat", self.tables, f)

    def sample(self, run: int) -> tuple[Log, Log]:
        """Return the training and test rows of a run."""
        generator = np.random.default_rng([crc32(self.name.encode()), self.seed, run])
        log, _ = self.log(generator.random((self.train + self.test, self.features + 1)), generator)
        return log.take(slice(self.train)), log.take(slice(self.train, None))

    def population(self, size: int) -> tuple[Log, Values]:
        """Return a large sample and its true expected rewards; contexts fill the space evenly (Sobol points)."""
        sobol = stats.qmc.Sobol(self.features + 1, rng=np.random.default_rng([self.seed, 3]))
        uniform = np.clip(sobol.random_base2(int(np.log2(size - 1)) + 1), 1e-9, 1 - 1e-9)
        return self.log(uniform, np.random.default_rng([self.seed, 4]))


def drawn(probabilities: Values, generator: np.random.Generator) -> Codes:
    """Return one code per context from probabilities of shape (code, context)."""
    steps = np.cumsum(probabilities, axis=0)[:-1]
    return np.asarray((generator.random(probabilities.shape[1]) > steps).sum(axis=0), dtype=np.intp)


WORLDS = {
    each.name: each
    for each in (
        World("randomised"),
        World("confounded", logging=0.7),
        World("confounded_by_sensitive", sensitive=1.0, logging_sensitive=1.5, logging=0.3, shift=0.0),
        World("poor_overlap", gate=3.0, violation=True),
        World("wrong_outcome_model", curvature=0.8, logging=0.5),
        # outcomes do not depend on the action and rewards read the outcome only, so all decisions are worth the same;
        # s is independent of everything, so no rule that reads features can favour a group
        World("null", effect=0.0, shift=0.0, logging=0.4, rewards="outcome"),
        World("clearly_best", logging=0.4, rewards="compromise"),
        World("weak_signal", signal=0.3, effect=0.3, logging=0.3, scale=0.4),
    )
}
