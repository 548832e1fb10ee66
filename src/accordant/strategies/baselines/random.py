"""A uniform draw: what no information at all achieves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from accordant.contexts import Contexts, Log
from accordant.decisions import Decisions
from accordant.predictions import OutcomePrediction
from accordant.strategies.strategy import Kind, Strategy, Structure, register
from accordant.utilities import ExpectedRewards


@register("random")
@dataclass(frozen=True)
class Random(Strategy):
    """Draw every action with the same probability. Metrics are those of the draw's expectation.

    Parameters
    ----------
    seed
        Seed of the drawn actions.
    """

    kind: ClassVar[Kind] = "baseline"
    dependence: ClassVar[Structure] = "fixed"
    selectable: ClassVar[bool] = False
    candidate: ClassVar[bool] = False

    seed: int = 0

    def __call__(
        self,
        expected: ExpectedRewards,
        *,
        prediction: OutcomePrediction | None = None,
        log: Log | None = None,
        contexts: Contexts | None = None,
    ) -> Decisions:
        """Draw an action for every context."""
        del prediction, log, contexts
        n_actions, n_contexts = len(expected.actions), expected.n_contexts
        codes = np.random.default_rng(self.seed).integers(n_actions, size=n_contexts).astype(np.intp)
        policy = np.full((n_actions, n_contexts), 1.0 / n_actions)
        return Decisions(self.label, expected.actions, codes, np.zeros(n_contexts, dtype=bool), policy=policy)
