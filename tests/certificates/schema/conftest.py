"""Random problems for the certificate schema, and the exact worst case by enumeration."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

import numpy as np
import pytest

from accordant import strategies
from accordant.certificates.schema import family_of, perturbation_set
from accordant.utilities import ExpectedRewards

NAMES = tuple("abcdefgh")

# strategy, parameters, options of family_of; three stakeholders
FAMILIES = {
    "utilitarian": ("utilitarian", {"weights": (0.5, 0.2, 0.3)}, {}),
    "log product": ("nash_social_welfare", {}, {}),
    "weighted log product": ("nash_social_welfare", {"weights": (2.0, 0.5, 1.0)}, {}),
    "product": ("nash_social_welfare", {}, {"product": True}),
    "log bargaining": ("nash_bargaining", {"disagreement": (0.02, 0.0, -0.1)}, {}),
    "distance": ("compromise_programming", {"ideal": (0.9, 0.7, 1.0), "weights": (1.0, 2.0, 0.5)}, {}),
    "distance beyond": ("compromise_programming", {"ideal": 0.4, "two_sided": True}, {}),
    "soft maximin": ("maximin", {}, {"sigma": 0.05}),
    "soft relative": (
        "kalai_smorodinsky",
        {"disagreement": (0.0, 0.1, -0.2), "ideal": (1.0, 0.9, 0.5)},
        {"sigma": 0.1},
    ),
    "somebody unheard": ("nash_social_welfare", {"weights": (1.0, 0.0, 1.0)}, {"product": True}),
}
SOFT = ("soft maximin", "soft relative")  # other rules than the strategies they come from


@dataclass
class Family:
    """A strategy with its scoring form."""

    key: str

    @property
    def rule(self):
        name, parameters, _ = FAMILIES[self.key]
        return strategies.create(name, parameters)

    def form(self, expected):
        return family_of(self.rule, expected, **FAMILIES[self.key][2])


@dataclass
class Problem:
    """E of three stakeholders, three actions, and what the metric says."""

    expected: ExpectedRewards
    theta: np.ndarray
    coalition: tuple[str, ...]
    delta: float
    mu: float = 0.05
    members: np.ndarray = field(init=False)

    def __post_init__(self):
        self.members = np.array([self.expected.stakeholders.index(name) for name in self.coalition], dtype=int)

    @property
    def perturbations(self):
        return perturbation_set(self.expected, delta=self.delta, coalition=self.coalition, mu=self.mu)

    @property
    def settings(self):
        return {"delta": self.delta, "coalition": self.coalition, "mu": self.mu}


def rewards(values):
    return ExpectedRewards(values, stakeholders=NAMES[: values.shape[0]], actions=NAMES[: values.shape[1]])


def random_problem(generator, n_contexts, *, size=1, delta=None, coarse=False, n_actions=3, mu=0.05):
    values = generator.uniform(0.0, 1.0, (3, n_actions, n_contexts))
    if coarse:
        values = values.round(1)
    theta = generator.uniform(-1.0, 1.0, (n_actions, n_contexts)).round(1 if coarse else 9)
    coalition = tuple(generator.choice(NAMES[:3], size, replace=False))
    return Problem(rewards(values), theta, coalition, generator.uniform(0.0, 0.15) if delta is None else delta, mu)


def worst_scores(problem, form, metric="decision"):
    """Return the smallest score of each context over corners and peaks of the box: tied actions all count."""
    at = problem.perturbations
    n_actions, n_contexts = at.centre.shape[1:]
    peak = np.clip(form.ideal[:, None, None], at.low, at.high) if hasattr(form, "ideal") else at.low
    levels = (at.low, at.high) + ((peak,) if hasattr(form, "ideal") else ())
    worst = np.full(n_contexts, np.inf)
    entries = list(itertools.product(problem.members, range(n_actions)))
    for choice in itertools.product(range(len(levels)), repeat=len(entries)):
        values = at.centre.copy()
        for (i, a), level in zip(entries, choice, strict=True):
            values[i, a] = levels[level][i, a]
        scores = form.scores(values)
        best = scores.max(axis=0)
        if metric == "value":
            worst = np.minimum(worst, best)
        else:
            tied = scores >= best - 1e-12
            worst = np.minimum(worst, np.where(tied, problem.theta, np.inf).min(axis=0))
    return worst


@pytest.fixture(params=FAMILIES)
def family(request):
    return Family(request.param)


@pytest.fixture(params=[key for key in FAMILIES if key not in SOFT])
def faithful(request):
    """A family whose form decides as the strategy does."""
    return Family(request.param)


@pytest.fixture
def problem_of():
    return random_problem


@pytest.fixture
def worst():
    return worst_scores


@pytest.fixture
def as_rewards():
    return rewards


@pytest.fixture
def worked():
    """The worked example: certificate against the exact value."""
    values = np.array([[0.80, 0.50, 0.30], [0.70, 0.60, 0.50], [0.75, 0.40, 0.35]])
    return rewards(values)
