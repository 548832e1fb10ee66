"""`Strategy`: any rule from E to decisions, and the registry that knows every rule by name."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np

from accordant.arrays import Values
from accordant.contexts import Contexts, Log
from accordant.decisions import Decisions
from accordant.errors import InputError
from accordant.predictions import OutcomePrediction
from accordant.problem import DecisionProblem
from accordant.registry import Registry
from accordant.utilities import ExpectedRewards

Kind = Literal["compromise", "voting", "stakeholder", "baseline", "reference"]
Structure = Literal["fixed", "column_score", "column_peaked", "column_order", "ballots", "other"]

strategies: Registry[Strategy] = Registry(
    "strategy",
    group="accordant.strategies",
    packages=("accordant.strategies", "accordant.voting.rules", "accordant.deliberation.adapters"),
)


@dataclass(frozen=True)
class Strategy(ABC):
    """A rule with its parameters; call it with E.

    Class attributes
    ----------------
    name
        Registered name.
    kind
        ``compromise``, ``voting`` and ``stakeholder`` rules read E; a ``baseline`` is what anything must beat;
        a ``reference`` sees what no decision maker can.
    selectable
        Whether it may be chosen as D*: it must decide for new people and must not be a constant or a draw.
    candidate
        Whether it belongs to the set over which metrics are normalised (Definition 11 of the framework).
    follows_log
        Whether decisions are the log itself, so that what followed them was observed and needs no estimate.
    note
        One sentence that a leaderboard shows with it, or nothing.
    dependence
        How decisions depend on E, whatever the parameters (see `structure`):

        ``fixed``
            Not at all.
        ``column_score``
            The highest score wins; an action's score depends on its own column E[:, a, t] only, and never falls when an
            entry of it rises. Ties go to the sum over those with positive weight, then to declared order.
        ``column_peaked``
            The same, but in each entry a score rises up to a peak and falls behind it; the rule has ``peaks(block)``.
        ``column_order``
            The best column wins, by an order in which a column never falls when an entry of it rises.
        ``ballots``
            Only through who ranks what above what, except for ties.
        ``other``
            In another way, for example through reference points that come from the context.
    """

    name: ClassVar[str]
    kind: ClassVar[Kind] = "compromise"
    selectable: ClassVar[bool] = True
    candidate: ClassVar[bool] = True
    follows_log: ClassVar[bool] = False
    note: ClassVar[str] = ""
    dependence: ClassVar[Structure] = "other"

    def __post_init__(self) -> None:
        """Keep sequences as tuples: parameters read back from JSON equal those that were written."""
        for field in dataclasses.fields(self):
            object.__setattr__(self, field.name, _as_tuple(getattr(self, field.name)))

    @abstractmethod
    def __call__(
        self, expected: ExpectedRewards, *, prediction: OutcomePrediction | None = None, log: Log | None = None,
        contexts: Contexts | None = None,
    ) -> Decisions:  # fmt: skip
        """Decide in every context.

        Parameters
        ----------
        expected
            Expected rewards E.
        prediction
            f(o | x, a); only the outcome-only baseline reads it.
        log
            The logged actions and outcomes; only the logged behaviour and the oracle read it.
        contexts
            What is known about each context; only constraints on groups read it.
        """

    @property
    def consults(self) -> str:
        """What a reader must know of a rule that does not weigh all stakeholders, in one sentence; empty if it does."""
        return ""

    @property
    def label(self) -> str:
        """Name with whatever tells it apart from the same rule with other parameters."""
        return self.name

    @property
    def fitted(self) -> bool:
        """Whether it can decide: nothing is missing that `fit` takes from training contexts."""
        return True

    @property
    def may_be_selected(self) -> bool:
        """Whether these parameters may be chosen as D*."""
        return self.selectable

    @property
    def draws(self) -> bool:
        """Whether actions are drawn from probabilities: metrics are expectations, and who decides must draw."""
        return False

    @property
    def whole_batch(self) -> bool:
        """Whether the decision in one context depends on the others in the same call."""
        return False

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns of contexts that the rule reads."""
        return ()

    @property
    def parameters(self) -> dict[str, Any]:
        """Parameters that rebuild the strategy: ``strategies.create(name, parameters)``."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    def structure(self, *, frozen: bool = False) -> Structure:
        """Return how decisions depend on E, which says how they can be certified.

        Parameters
        ----------
        frozen
            Whether reference points stay where honest reports put them (see `Block.reference`).
        """
        del frozen
        return self.dependence

    def for_problem(self, problem: DecisionProblem) -> Self:
        """Return the strategy with its open parameters filled from the problem."""
        del problem
        return self

    def fit(self, expected: ExpectedRewards, contexts: Contexts | None = None) -> Self:
        """Return the strategy with what it takes from training contexts: reference points, multipliers.

        Parameters
        ----------
        expected
            E in training contexts.
        contexts
            What is known about them; only rules that fit groups by themselves read it.
        """
        del expected, contexts
        return self


register = strategies.named


def stakeholder_weights(weights: tuple[float, ...] | None, n_stakeholders: int) -> Values:
    """Return checked weights, shape (stakeholder,); None means 1 for everybody.

    Raises
    ------
    InputError
        If there is not one finite weight of at least 0 per stakeholder, or all are 0.
    """
    if weights is None:
        return np.ones(n_stakeholders)
    try:
        array = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.array(np.nan)
    with np.errstate(over="ignore"):
        total = array.sum()
    if array.shape != (n_stakeholders,) or not np.isfinite(array).all() or (array < 0).any() or not 0 < total < np.inf:
        raise InputError(
            f"stakeholder weights {weights} are wrong; allowed: {n_stakeholders} numbers of at least 0, not all 0"
        )
    return array


def _as_tuple(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    return tuple(map(_as_tuple, value)) if isinstance(value, list | tuple) else value
