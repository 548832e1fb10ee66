"""The decision problem as it is declared: who is affected, what can be done, what may follow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Annotated, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator, Field, model_validator

from accordant import limits
from accordant.action_grid import ActionGrid
from accordant.declaration import Declared
from accordant.errors import DataError, InputError, UnknownNameError

Role = Literal["affected", "deciding", "providing"]


class Stakeholder(Declared):
    """Whoever is affected by, takes, or provides for the decision.

    Attributes
    ----------
    name
        Name used in every table.
    role
        How the stakeholder is involved.
    weight
        Weight in weighted rules, at least 0; only ratios between stakeholders matter.
    description
        What this stakeholder cares about, in words, for reports.
    """

    name: str = Field(min_length=1)
    role: Role = "affected"
    weight: float = Field(default=1.0, ge=0, allow_inf_nan=False)
    description: str = ""


class ContinuousOutcome(Declared):
    """An outcome that is a number.

    Attributes
    ----------
    name
        What is measured.
    unit
        Its unit, for reports.
    low, high
        Bounds that no outcome can pass, or None; predictive distributions are clipped to them.
    """

    name: str = "outcome"
    unit: str = ""
    low: float | None = Field(default=None, allow_inf_nan=False)
    high: float | None = Field(default=None, allow_inf_nan=False)

    @model_validator(mode="after")
    def _check_bounds(self) -> Self:
        if self.low is not None and self.high is not None and self.low >= self.high:
            raise InputError(f"low {self.low} is not below high {self.high}")
        return self


def _by_label(labels: Any) -> Any:
    """Let a file write the values 1 or 1.0 as keys; see `value_label`."""
    return {value_label(value): label for value, label in labels.items()} if isinstance(labels, Mapping) else labels


class SensitiveAttribute(Declared):
    """A column whose values make the groups of group metrics.

    Attributes
    ----------
    name
        Column of the contexts.
    labels
        Readable names for values, for reports: ``{"1": "vulnerable", "0": "other"}``.
    """

    name: str
    labels: Annotated[dict[str, str], BeforeValidator(_by_label)] = Field(default_factory=dict)


def _named(kind: type[Declared]) -> BeforeValidator:
    """Let a bare name stand for the declaration that has only this name."""

    def read(values: Any) -> Any:
        """Return declarations, those made of bare names among them."""
        return tuple(kind(name=value) if isinstance(value, str) else value for value in _listed(values))

    return BeforeValidator(read)


def _listed(values: Any) -> tuple[Any, ...]:
    """Return the items of a list; a set has no order and a mapping's values would be lost, so neither is one."""
    if isinstance(values, str | AbstractSet | Mapping) or not isinstance(values, Iterable):
        raise InputError(f"expected a list, found {values!r}")
    return tuple(values)


def _outcomes(values: Any) -> Any:
    if isinstance(values, Mapping):
        return ContinuousOutcome(**values)
    return values if isinstance(values, ContinuousOutcome) else _listed(values)


def row_place(row: int) -> str:
    """Return the words for a row of a table that came from no file."""
    return f"row {row}"


class DecisionProblem(Declared):
    """A multi-stakeholder decision problem.

    Attributes
    ----------
    stakeholders
        Stakeholders or their names; at least one.
    actions
        Action names in declared order, which is also the last tie-breaker; at least one. A mapping of names to numbers
        declares points of a continuous action, such as a dose or an amount, and fills `action_values`.
    action_values
        Value of each action, rising, if actions are points of a continuous one: see `accordant.action_grid.ActionGrid`.
        None for actions without values.
    action_unit
        Unit of these values, for reports.
    outcomes
        Outcome names, or a `ContinuousOutcome`.
    favourable_actions
        The actions that benefit the person decided about: the set that group metrics count.
    favourable_outcomes
        The outcomes that are good for the person decided about (discrete outcomes).
    outcome_to_action
        For each outcome, the action one would take if it were known beforehand. Accuracy,
        the outcome-only baseline and the oracle need it; None if there is no such mapping.
    status_quo
        The action that happens without agreement; the default disagreement point.
    sensitive_attributes
        Columns whose values make groups.
    outcome_depends_on_action
        ``True``: f(o | x, a). ``False``: f(o | x), an assumption that every report prints.
        ``"auto"``: as far as the log identifies it (see `accordant.learning`).

    Raises
    ------
    SpecError
        If names repeat, or a name is used that is not declared.
    """

    stakeholders: Annotated[tuple[Stakeholder, ...], _named(Stakeholder)] = Field(min_length=1)
    actions: Annotated[tuple[str, ...], BeforeValidator(_listed)] = Field(min_length=1)
    action_values: tuple[float, ...] | None = None
    action_unit: str = ""
    outcomes: Annotated[tuple[str, ...] | ContinuousOutcome, BeforeValidator(_outcomes)]
    favourable_actions: tuple[str, ...] = ()
    favourable_outcomes: tuple[str, ...] = ()
    outcome_to_action: dict[str, str] | None = None
    status_quo: str | None = None
    sensitive_attributes: Annotated[tuple[SensitiveAttribute, ...], _named(SensitiveAttribute)] = ()
    outcome_depends_on_action: bool | Literal["auto"] = "auto"

    @model_validator(mode="before")
    @classmethod
    def _read_grid(cls, given: Any) -> Any:
        """Let a mapping of names to numbers declare actions and their values at once."""
        if not isinstance(given, Mapping) or not isinstance(given.get("actions"), Mapping):
            return given
        if given.get("action_values") is not None:
            raise InputError("actions declares names with values; leave action_values out")
        named = given["actions"]
        for name, value in named.items():
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise InputError(f"the action {name!r} has the value {value!r}; allowed: a number")
        names = tuple(name if isinstance(name, str) else value_label(name) for name in named)
        return {**given, "actions": names, "action_values": tuple(named.values())}

    @model_validator(mode="after")
    def _check_names(self) -> Self:
        _distinct("stakeholder", self.stakeholder_names)
        _distinct("action", self.actions)
        _distinct("outcome", self.outcome_names)
        _distinct("sensitive attribute", [attribute.name for attribute in self.sensitive_attributes])
        known = {"action": self.actions, "outcome": self.outcome_names}
        uses = [("action", name) for name in (*self.favourable_actions, *filter(None, [self.status_quo]))]
        uses += [("outcome", name) for name in self.favourable_outcomes]
        for outcome, action in (self.outcome_to_action or {}).items():
            uses += [("outcome", outcome), ("action", action)]
        for kind, name in uses:
            if name not in known[kind]:
                raise UnknownNameError(kind, name, known[kind])
        if self.outcome_to_action is not None:
            for outcome in self.outcome_names:
                if outcome not in self.outcome_to_action:
                    raise InputError(f"outcome_to_action has no action for outcome {outcome!r}")
        if self.action_unit and self.action_values is None:
            raise InputError("action_unit needs values of the actions: actions: {NAME: NUMBER, …}")
        self.grid  # noqa: B018 - raises for values that are no grid
        if sum(stakeholder.weight for stakeholder in self.stakeholders) <= 0:
            raise InputError("stakeholder weights sum to 0; at least one must be positive")
        return self

    @property
    def stakeholder_names(self) -> tuple[str, ...]:
        """Names of the stakeholders in declared order."""
        return tuple(stakeholder.name for stakeholder in self.stakeholders)

    @property
    def outcome_names(self) -> tuple[str, ...]:
        """Names of the discrete outcomes; empty if the outcome is continuous."""
        return () if isinstance(self.outcomes, ContinuousOutcome) else self.outcomes

    @property
    def continuous(self) -> bool:
        """Whether the outcome is a number."""
        return isinstance(self.outcomes, ContinuousOutcome)

    @property
    def grid(self) -> ActionGrid | None:
        """The points of a continuous action; None if actions have no values."""
        return None if self.action_values is None else ActionGrid(self.actions, self.action_values, self.action_unit)

    def refined(self) -> DecisionProblem:
        """Return the problem with the middle of every two neighbours of the grid among its actions."""
        assert self.grid is not None, "only a grid has middles"
        finer = self.grid.refined()
        return self.replace(actions=finer.names, action_values=finer.values)

    @property
    def weights(self) -> NDArray[np.float64]:
        """Stakeholder weights as declared, shape (stakeholder,)."""
        return np.array([stakeholder.weight for stakeholder in self.stakeholders])

    def sensitive_attribute(self, name: str) -> SensitiveAttribute:
        """Return the declared sensitive attribute called `name`."""
        for attribute in self.sensitive_attributes:
            if attribute.name == name:
                return attribute
        raise UnknownNameError("sensitive attribute", name, [declared.name for declared in self.sensitive_attributes])

    def action_codes(self, names: Sequence[Any] | NDArray[Any]) -> NDArray[np.intp]:
        """Return the position of each action name in the declared order, shape (context,)."""
        return codes_of("action", names, self.actions)

    def logged_actions(
        self, cells: Sequence[Any] | NDArray[Any], place: Callable[[int], str] = row_place, column: str = ""
    ) -> tuple[NDArray[np.intp], NDArray[np.float64] | None]:
        """Return the code of each logged action, and its value if actions are points of a grid, shape (context,).

        On a grid a cell may hold any number within it; its code is that of the nearest point.

        Parameters
        ----------
        cells
            Names, or on a grid names and numbers.
        place
            Where a row stands, for messages.
        column
            Name of the column, for messages.
        """
        if self.grid is None:
            return codes_of("action", cells, self.actions, place), None
        values = self.grid.read(list(cells), place, column)
        return self.grid.nearest(values), values

    def outcome_codes(self, names: Sequence[Any] | NDArray[Any]) -> NDArray[np.intp]:
        """Return the position of each outcome name in the declared order, shape (context,)."""
        return codes_of("outcome", names, self.outcome_names)

    def outcome_values(self, values: Any, place: Callable[[int], str] = row_place) -> NDArray[np.float64]:
        """Return continuous outcomes as checked numbers, shape (context,); `place` says where a row stands."""
        if not isinstance(self.outcomes, ContinuousOutcome):
            raise InputError("the problem declares discrete outcomes; use outcome_codes")
        try:
            numbers = np.asarray(values, dtype=np.float64)
        except (TypeError, ValueError):
            raise DataError(f"outcomes must be numbers; found {np.asarray(values).ravel()[:1]}") from None
        if numbers.ndim != 1:
            raise DataError(f"outcomes must have one dimension; found shape {numbers.shape}")
        most = float(limits.MAGNITUDE.most)
        low = -most if self.outcomes.low is None else self.outcomes.low
        high = most if self.outcomes.high is None else self.outcomes.high
        wrong = np.flatnonzero(~np.isfinite(numbers) | (numbers < low) | (numbers > high))
        if wrong.size:
            raise DataError(
                f"outcome in {place(int(wrong[0]))} is {numbers[wrong[0]]}; allowed: finite, within [{low}, {high}]"
            )
        return numbers

    def action_of_outcome(self) -> NDArray[np.intp] | None:
        """Return the action code mapped from each outcome code, shape (outcome,), or None."""
        if self.outcome_to_action is None:
            return None
        mapped = (self.outcome_to_action[outcome] for outcome in self.outcome_names)
        return np.array([self.actions.index(action) for action in mapped], dtype=np.intp)


def value_label(value: object) -> str:
    """Return the text of a group value; 1, 1.0 and True are all ``"1"``, so files may write any of them."""
    if isinstance(value, bool | np.bool_):
        return str(int(value))
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)


def codes_of(
    kind: str,
    names: Sequence[Any] | NDArray[Any],
    declared: Sequence[str],
    place: Callable[[int], str] = row_place,
) -> NDArray[np.intp]:
    """Return the position in `declared` of each name; raise `UnknownNameError` with its place otherwise."""
    position = {name: code for code, name in enumerate(declared)}
    given = np.asarray(names)
    if given.dtype.kind in "fiub":  # numbers and booleans name what their text names: 1.0 is "1"
        values, where = np.unique(given, return_inverse=True)
        given = np.array([value_label(value) for value in values.tolist()], dtype=object)[where.ravel()]
    texts, inverse = np.unique(given.astype(object).astype(str), return_inverse=True)
    for name in texts:
        if name not in position:
            row = int(np.flatnonzero(texts[inverse] == name)[0])
            raise UnknownNameError(f"{kind} in {place(row)}:", str(name), declared)
    return np.array([position[name] for name in texts], dtype=np.intp)[inverse.ravel()]


def _distinct(kind: str, names: Sequence[str]) -> None:
    for name, count in Counter(names).items():
        if count > 1:
            raise InputError(f"{kind} {name!r} is declared {count} times")
