"""The logged behaviour: how likely each action was, given what was known beforehand."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant import randomness
from accordant.contexts import Contexts, Log
from accordant.learning.causal import CausalDataError, PropensityModel
from accordant.learning.encoding import ContextEncoder
from accordant.problem import DecisionProblem

FOLDS = 5


@dataclass(frozen=True, eq=False)
class LoggedBehaviour:
    """Propensities of the logged actions.

    Attributes
    ----------
    encoder
        Fixed on training rows.
    model
        Fitted on training rows.
    """

    encoder: ContextEncoder
    model: PropensityModel

    @classmethod
    def fit(
        cls, problem: DecisionProblem, log: Log, features: tuple[str, ...], random_state: int
    ) -> LoggedBehaviour | None:
        """Learn propensities; None if there is one action, or one is too rare to hold anything out.

        Where rows come in groups, whole groups are held out, and an action is rare that few groups took.
        """
        n_actions = len(problem.actions)
        each = log.actions if log.groups is None else np.unique(np.stack([log.actions, log.groups]), axis=1)[0]
        if n_actions == 1 or np.bincount(each, minlength=n_actions).min() < FOLDS:
            return None
        encoder = ContextEncoder.fit(log.contexts, features)
        model = PropensityModel(FOLDS, randomness.model_seed(random_state))
        try:
            return cls(encoder, model.fit(encoder(log.contexts), log.actions, log.groups))
        except CausalDataError:  # all that took one action came to one fold
            return None

    @property
    def held_out(self) -> NDArray[np.float64]:
        """Propensities of the training rows from models that did not see them, shape (action, context)."""
        return np.asarray(self.model.held_out_)

    def predict(self, contexts: Contexts) -> NDArray[np.float64]:
        """Return the propensities in other contexts, shape (action, context)."""
        return np.asarray(self.model.predict(self.encoder(contexts)))
