"""Reward signals: how desirable (context, action, outcome) is for one stakeholder, in [0, 1]."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Values
from accordant.contexts import Contexts, Log
from accordant.errors import InputError, NotFittedError, RewardError, UnknownNameError
from accordant.problem import DecisionProblem, value_label
from accordant.registry import Registry
from accordant.reward_groups import RewardGroups

Outcome = str | float | NDArray[np.float64]
Cell = tuple[str, Outcome]


class RewardSignal(ABC):
    """The stated reward of one stakeholder.

    Subclasses implement `reward`; calling the signal checks what it returned.
    """

    def __call__(self, contexts: Contexts, action: str, outcome: Outcome) -> Values:
        """Return the reward of `action` followed by `outcome` in each context, shape (context,).

        Parameters
        ----------
        contexts
            Raw, unscaled columns.
        action
            Name of the action.
        outcome
            Name of a discrete outcome, or a number, or one number per context.

        Raises
        ------
        RewardError
            If a reward is NaN or outside [0, 1].
        """
        return checked_rewards(self.reward(contexts, action, outcome), contexts.n_contexts, _cell(action, outcome))

    @abstractmethod
    def reward(self, contexts: Contexts, action: str, outcome: Outcome) -> Any:
        """Return rewards in [0, 1], one per context or one for all."""

    def rewards(self, contexts: Contexts, cells: Sequence[Cell]) -> list[Values]:
        """Return what calls return for several pairs of action and outcome; signals may share work between them."""
        return [self(contexts, action, outcome) for action, outcome in cells]

    def elicit(self, contexts: Contexts, action: str, outcome: Outcome, generator: np.random.Generator) -> Values:
        """Return the stakeholder's answers when asked once; signals without noise answer their reward."""
        del generator
        return self(contexts, action, outcome)

    def fit(self, log: Log, problem: DecisionProblem) -> RewardSignal:
        """Return the signal with whatever it must learn from training rows; most signals learn nothing."""
        del log, problem
        return self

    def located(self, find: Callable[[str], Path]) -> RewardSignal:
        """Return the signal with every file that it names replaced by where it is; most signals name none.

        Parameters
        ----------
        find
            From a file as it was named to its path; raises if there is none.
        """
        del find
        return self

    def of_stakeholder(self, name: str, problem: DecisionProblem) -> RewardSignal:
        """Return the signal as that of one stakeholder, after a look at the files that it names.

        Most signals are whatever stakeholder's they are, and name no files.

        Raises
        ------
        InputError
            If a file cannot be used: nothing was learned yet.
        """
        del name, problem
        return self

    def groups_of_people(self, problem: DecisionProblem, *, by: str, most: int, least: int) -> RewardGroups:
        """Return the groups that the people behind the reward form.

        Parameters
        ----------
        problem
            Declares actions and outcomes.
        by
            ``types``: found in what they answered; or the column of answers that names each person's group.
        most, least
            The most groups, and the fewest people of one.

        Raises
        ------
        InputError
            If nobody's answers stand behind the reward, or they cannot be divided so.
        """
        del problem, by, most, least
        raise InputError("only rewards that are learned from comparisons of several people have groups")

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns of contexts that the case itself says the reward reads; a formula may read others."""
        return ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """What readers of a result must know about this reward, in sentences."""
        return ()

    def provenance(self) -> dict[str, Any]:
        """Return where a learned reward comes from, as JSON values; empty for a stated one.

        Keys: ``file``, ``sha256``, ``records``, ``users``, ``learner``, ``aggregation`` (how users become one),
        ``agreement`` (share of records) and ``log_loss``; of a group also ``records_sha256``, of its own records alone.
        """
        return {}

    def state(self) -> dict[str, Any]:
        """Return what `fit` may have changed, as values that JSON can hold: the fields of a dataclass."""
        fields = dataclasses.fields(self)  # type: ignore[arg-type]
        return {field.name: getattr(self, field.name) for field in fields if field.init}

    def restored(self, state: Mapping[str, Any]) -> RewardSignal:
        """Return the fitted signal, from the declared one and the `state` of the fitted one, lists as tuples."""
        return dataclasses.replace(self, **state)  # type: ignore[type-var]


rewards: Registry[RewardSignal] = Registry(
    "reward signal", group="accordant.rewards", packages=("accordant.cases", "accordant.preferences.learned_rewards")
)


@dataclass(frozen=True)
class TableReward(RewardSignal):
    """A reward for every action and outcome, optionally another table per group.

    Parameters
    ----------
    table
        ``{action: {outcome: reward}}``, or ``{group: {action: {outcome: reward}}}`` with `attribute`. If outcomes are
        numbers, ``{action: {0: 0.0, 20: 1.0}}`` holds points: between two of them the reward is on a straight line,
        beyond the outer ones it stays.
    attribute
        Column whose values choose the table; None for one table.

    Raises
    ------
    RewardError
        If an entry is NaN or outside [0, 1].
    InputError
        If the table is not nested as `attribute` demands, or an entry is not a number.
    """

    table: Mapping[str, Any]
    attribute: str | None = None

    def __post_init__(self) -> None:
        shape = "{action: {outcome: reward}}" if self.attribute is None else "{group: {action: {outcome: reward}}}"
        _require_mapping(self.table, shape)
        for group, actions in self.tables().items():
            _require_mapping(actions, shape)
            for action, outcomes in actions.items():
                _require_mapping(outcomes, shape)
                for outcome, value in outcomes.items():
                    where = f"{action!r}, {outcome!r}" + (f", group {group!r}" if self.attribute else "")
                    if value is None:
                        raise RewardError(f"reward of ({where}) is not filled in; allowed: a number in [0, 1]")
                    checked_rewards(value, 1, where)

    def reward(self, contexts: Contexts, action: str, outcome: Outcome) -> Values:
        """Look the reward up; a group, action or outcome without an entry is an error."""
        tables, n_contexts = self.tables(), contexts.n_contexts
        if self.attribute is None:
            return np.array(np.broadcast_to(_entries(tables[""], action, outcome), (n_contexts,)))
        values, inverse = np.unique(contexts[self.attribute], return_inverse=True)
        rewards = np.empty(n_contexts)
        for place, value in enumerate(values):
            label = value_label(value)
            if label not in tables:
                raise UnknownNameError(f"group of {self.attribute}", label, tables)
            own = inverse == place
            rewards[own] = np.broadcast_to(_entries(tables[label], action, outcome), (n_contexts,))[own]
        return rewards

    @property
    def columns(self) -> tuple[str, ...]:
        """The attribute, if there is one."""
        return () if self.attribute is None else (self.attribute,)

    def tables(self) -> dict[str, Mapping[str, Mapping[str, float]]]:
        """Return the table of each group; without groups the only key is empty."""
        if self.attribute is None:
            return {"": self.table}
        return {value_label(group): table for group, table in self.table.items()}

    def check_points(self) -> None:
        """Raise InputError unless each row holds two outcomes or more that are different numbers."""
        for table in self.tables().values():
            for action, row in table.items():
                _points(row, action)


@dataclass(frozen=True)
class FunctionReward(RewardSignal):
    """A vectorised Python function ``(contexts, action, outcome) -> rewards`` in [0, 1]."""

    function: Callable[[Contexts, str, Outcome], Any]

    def reward(self, contexts: Contexts, action: str, outcome: Outcome) -> Any:
        """Call the function."""
        return self.function(contexts, action, outcome)

    def state(self) -> dict[str, Any]:
        """Return the name of the function, which is all that JSON can hold of it; see `UnkeptFunction`."""
        return {"function": getattr(self.function, "__qualname__", repr(self.function))}


@rewards.register("function")
@dataclass(frozen=True)
class UnkeptFunction(RewardSignal):
    """Stands in a run folder for a Python function, which no folder keeps; what a model learned of it is there.

    Parameters
    ----------
    function
        Name of the function.
    """

    function: str

    def reward(self, contexts: Contexts, action: str, outcome: Outcome) -> Any:
        """Raise: the function is not there."""
        del contexts, action, outcome
        raise InputError(
            f"this reward was the Python function {self.function!r}, which a run folder does not keep; what a model "
            "learned of it is kept, so that the run can recommend. Register the reward to have it everywhere"
        )


@dataclass(frozen=True)
class ClippedReward(RewardSignal):
    """A formula whose value is clipped to [0, 1], and answers with uniform noise when asked.

    Subclasses implement `desirability`.

    Parameters
    ----------
    noise
        Half-width of the noise in an elicited answer, added before clipping; at least 0.

    Raises
    ------
    InputError
        If the noise is negative or not finite.
    """

    noise: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.noise < np.inf:
            raise InputError(f"noise is {self.noise}; allowed: at least 0")

    @abstractmethod
    def desirability(self, contexts: Contexts, action: str, outcome: Outcome) -> Values:
        """Return the value of the formula before clipping, shape (context,)."""

    def reward(self, contexts: Contexts, action: str, outcome: Outcome) -> Values:
        """Return the formula, clipped."""
        return np.clip(self.desirability(contexts, action, outcome), 0.0, 1.0)

    def elicit(self, contexts: Contexts, action: str, outcome: Outcome, generator: np.random.Generator) -> Values:
        """Return the formula plus one independent draw of the noise per context, clipped."""
        noise = generator.uniform(-self.noise, self.noise, size=contexts.n_contexts)
        answers = np.clip(self.desirability(contexts, action, outcome) + noise, 0.0, 1.0)
        return checked_rewards(answers, contexts.n_contexts, _cell(action, outcome))


@dataclass(frozen=True)
class ObservedReward(RewardSignal):
    """A reward that was recorded for the logged action and outcome only.

    It has no value for other actions or outcomes: a reward model must learn those.

    Parameters
    ----------
    column
        Column of the log that holds it.
    """

    column: str

    def reward(self, contexts: Contexts, action: str, outcome: Outcome) -> Any:
        """Raise: an observed reward says nothing about what was not done."""
        del contexts, action, outcome
        raise NotFittedError(
            f"the observed reward {self.column!r} is known for logged rows only; learn it with a reward model"
        )


def checked_rewards(values: Any, n_contexts: int, where: str) -> Values:
    """Return rewards as float64 of shape (context,), or raise with the row and value that is wrong."""
    try:
        array = np.asarray(values, dtype=np.float64)
        array = array if array.shape == (n_contexts,) else np.broadcast_to(array, (n_contexts,))
    except (TypeError, ValueError):
        raise InputError(
            f"reward of ({where}) has shape {np.shape(values)}; allowed: ({n_contexts},) numbers"
        ) from None
    wrong = np.flatnonzero(~((array >= 0) & (array <= 1)))
    if wrong.size:
        raise RewardError(f"reward of ({where}) in row {wrong[0]} is {array[wrong[0]]}; allowed: [0, 1]")
    return array


def _require_mapping(table: object, shape: str) -> None:
    if not isinstance(table, Mapping):
        raise InputError(f"a reward table has {table!r} where a mapping belongs; expected {shape}")


def _cell(action: str, outcome: Outcome) -> str:
    return f"{action!r}, {outcome!r}" if np.ndim(outcome) == 0 else f"{action!r}, one outcome per context"


def _entries(table: Mapping[str, Mapping[Any, float]], action: str, outcome: Outcome) -> Values:
    """Return the reward of one outcome, shape (), or of one outcome per context, shape (context,)."""
    if action not in table:
        raise UnknownNameError("action in reward table:", action, table)
    row = table[action]
    if isinstance(outcome, str):
        if outcome not in row:
            raise UnknownNameError(f"outcome in reward table of {action}:", outcome, row)
        return np.array(row[outcome], dtype=np.float64)
    levels, values = _points(row, action)
    return np.asarray(np.interp(np.asarray(outcome, dtype=np.float64), levels, values))


def _points(row: Mapping[Any, float], action: str) -> tuple[Values, Values]:
    """Return the outcomes of a row of a table as rising numbers, and their rewards."""
    points = np.array(sorted((_point(name, action), float(value)) for name, value in row.items())).reshape(-1, 2)
    if len(np.unique(points[:, 0])) < max(len(points), 2):
        raise InputError(
            f"outcomes are numbers, so the reward table of {action!r} needs two different ones or more; found "
            f"{', '.join(map(str, row)) or 'none'}"
        )
    return points[:, 0], points[:, 1]


def _point(name: Any, action: str) -> float:
    """Return an outcome of a table as a number."""
    try:
        value = float(name)
    except (TypeError, ValueError):
        value = np.nan
    if not np.isfinite(value):
        raise InputError(f"outcomes are numbers; the reward table of {action!r} has {name!r}; allowed: numbers")
    return value
