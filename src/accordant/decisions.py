"""Decisions: what a strategy chose in each context, and whether it was a close call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from accordant.errors import InputError
from accordant.faces import Displayed


@dataclass(frozen=True, eq=False)
class Decisions(Displayed):
    """The actions that one strategy chose.

    Attributes
    ----------
    strategy
        Name of the strategy with its reference points, as every table shows it.
    action_names
        The declared actions.
    codes
        Position of the chosen action in `action_names`, shape (context,).
    tied
        Whether another action had the same primary score, shape (context,).
    scores
        The score Φ of every action, shape (action, context); None for strategies without scores.
    policy
        Probability of each action, shape (action, context), for randomised strategies; None if the
        chosen action has probability 1.
    flags
        What else a reader must know about a context, name to booleans of shape (context,):
        ``no_agreement`` (nobody can gain together), ``irrational`` (every alternative leaves somebody
        below the status quo), ``floored`` (an expected reward below the floor decided), ``floor_unmet`` (no action
        satisfies the constraints), ``changed`` (constraints changed the decision), ``randomised``,
        ``condorcet_winner_exists``, ``group_unseen`` (no training context belongs to its group).
    quantities
        Intermediate quantities by name, such as ``disagreement`` and ``ideal`` of shape (stakeholder, context), and
        ``draw`` of shape (context,), see `draw`.
    follows_log
        Whether the decisions are the logged actions because they were taken from the log, so that what followed them
        was observed. Not set where a rule happens to choose what was logged.
    referred
        Contexts that are left to a person, shape (context,): they have no action, and their code is what the strategy
        would have chosen. None if there are none.
    """

    strategy: str
    action_names: tuple[str, ...]
    codes: NDArray[np.signedinteger[Any]]
    tied: NDArray[np.bool_]
    scores: NDArray[np.floating[Any]] | None = None
    policy: NDArray[np.floating[Any]] | None = None
    flags: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)
    quantities: Mapping[str, NDArray[np.floating[Any]]] = field(default_factory=dict)
    follows_log: bool = False
    referred: NDArray[np.bool_] | None = None

    def __post_init__(self) -> None:
        n_actions, n_contexts = len(self.action_names), len(self.codes)
        if n_contexts and not (self.codes.min() >= 0 and self.codes.max() < n_actions):
            raise InputError(
                f"{self.strategy} chose an action that is not declared; valid: {', '.join(self.action_names)}"
            )
        for name, array in (("scores", self.scores), ("policy", self.policy)):
            if array is not None and array.shape != (n_actions, n_contexts):
                raise InputError(
                    f"{name} of {self.strategy} have shape {array.shape}; allowed: {(n_actions, n_contexts)}"
                )

    @property
    def actions(self) -> NDArray[np.str_]:
        """Names of the chosen actions, empty where a person decides, shape (context,)."""
        names = np.array(self.action_names, dtype=str)[self.codes]
        return names if self.referred is None else np.where(self.referred, "", names)

    @property
    def constant(self) -> bool:
        """Whether the same action is taken in every context, without a draw."""
        return self.policy is None and bool((self.codes == self.codes[:1]).all())

    @property
    def n_contexts(self) -> int:
        """Number of contexts decided."""
        return len(self.codes)

    def probabilities(self) -> NDArray[np.float64]:
        """Return the probability of each action, shape (action, context): 1 for the chosen one without a policy."""
        if self.policy is not None:
            return np.asarray(self.policy, dtype=np.float64)
        return np.asarray(self.codes == np.arange(len(self.action_names))[:, None], dtype=np.float64)

    def draw(self, numbers: NDArray[np.float64]) -> Self:
        """Return the actions that numbers draw from the probabilities; without probabilities nothing is drawn.

        In each context the first action in declared order is taken at which the sum of probabilities is above the
        number: with uniform numbers each action is taken with its probability. The numbers are kept as the quantity
        ``draw``, so that everybody can repeat it.

        Parameters
        ----------
        numbers
            In [0, 1), shape (context,).
        """
        if self.policy is None:
            return self
        last = len(self.policy) - 1 - (self.policy[::-1] > 0).argmax(axis=0)  # where sums end just below 1
        reached = np.cumsum(self.policy, axis=0) > numbers
        codes = np.where(reached.any(axis=0), reached.argmax(axis=0), last).astype(self.codes.dtype)
        return replace(self, codes=codes, quantities={**self.quantities, "draw": numbers})

    def share(self) -> NDArray[np.float64]:
        """Return the share of contexts in which each action is taken, shape (action,)."""
        if self.policy is not None:
            return np.asarray(self.policy.sum(axis=1) / max(1, len(self.codes)), dtype=np.float64)
        return np.bincount(self.codes, minlength=len(self.action_names)) / max(1, len(self.codes))
