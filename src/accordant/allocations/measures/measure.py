"""`Measure`: one number about an allocation; `Criterion`: a measure with the threshold of a scope card."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from accordant.allocations.scenario import Scenario
from accordant.arrays import Values
from accordant.errors import InputError
from accordant.registry import Registry
from accordant.scope import ScopeCard

Goal = Literal["max", "min"]
Function = TypeVar("Function", bound=Callable[..., Values])

measures: Registry[Measure] = Registry(
    "allocation measure", group="accordant.allocation_measures", packages=("accordant.allocations.measures",)
)


@dataclass(frozen=True)
class Measure:
    """A function of shares with its parameters.

    Parameters
    ----------
    name
        Registered name.
    goal
        Whether more is better, ``max``, or less, ``min``.
    function
        (scenario, shares, parameters…) to the measure of each allocation.
    parameters
        By name.
    """

    name: str
    goal: Goal
    function: Callable[..., Values] = field(repr=False)
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def of(self, scenario: Scenario, shares: Values) -> Values:
        """Return the measure of each allocation, shape (option,); NaN where it is not defined.

        Parameters
        ----------
        scenario
            With all facts: measures are taken by the environment, not by an agent.
        shares
            Share of each claimant's demand that is met, shape (option, claimant).
        """
        return np.asarray(self.function(scenario, shares, **self.parameters))

    def meets(self, values: Values, threshold: float) -> NDArray[np.bool_]:
        """Return whether values meet a threshold, with rounding forgiven; what is not defined does not."""
        slack = 1e-9
        with np.errstate(invalid="ignore"):
            met = values <= threshold + slack if self.goal == "min" else values >= threshold - slack
        return np.asarray(met & ~np.isnan(values))


def register(goal: Goal, check: Callable[..., None] | None = None) -> Callable[[Function], Function]:
    """Return a decorator that registers a function as the measure of its name.

    `goal`: whether more is better; `check`: takes the name of the measure and its parameters, and raises InputError
    where one is wrong.
    """

    def decorate(function: Function) -> Function:
        """Register one function."""
        name, signature = function.__name__, inspect.signature(function)

        def make(**parameters: Any) -> Measure:
            """Return the measure with its parameters, checked."""
            if check is not None:
                check(name, **parameters)
            return Measure(name, goal, function, parameters)

        own = list(signature.parameters.values())[2:]
        make.__signature__ = signature.replace(parameters=own, return_annotation=Measure)  # type: ignore[attr-defined]
        measures.register(name)(make)
        return function

    return decorate


SIGNS = {"min": "≤", "max": "≥"}


@dataclass(frozen=True)
class Criterion:
    """A measure and how far it may go.

    Parameters
    ----------
    label
        What reports call it, such as ``access_gap(group=sex) ≤ 0.25``.
    measure
        With its parameters.
    threshold
        Met by values up to it where less is better, from it on where more is.

    Raises
    ------
    InputError
        If the threshold is no finite number.
    """

    label: str
    measure: Measure
    threshold: float

    def __post_init__(self) -> None:
        if isinstance(self.threshold, bool) or not isinstance(self.threshold, int | float):
            raise InputError(f"criterion {self.label!r}: threshold is {self.threshold!r}; allowed: a number")
        if not np.isfinite(self.threshold):
            raise InputError(f"criterion {self.label!r}: threshold is {self.threshold}; allowed: a finite number")


def criteria_of(card: ScopeCard) -> tuple[Criterion, ...]:
    """Return the criteria of a scope card, in its order.

    Raises
    ------
    InputError
        If a criterion names no registered allocation measure, has wrong parameters or no threshold, or stands there
        twice.
    """
    criteria: dict[str, Criterion] = {}
    for declared in card.criteria:
        measure = measures.create(declared.metric, declared.params)
        if declared.threshold is None:
            raise InputError(f"criterion {declared.metric!r} of card {card.id!r} has no threshold; allowed: a number")
        params = ", ".join(f"{name}={value}" for name, value in sorted(declared.params.items()))
        called = f"{declared.metric}({params})" if params else declared.metric
        label = f"{called} {SIGNS[measure.goal]} {declared.threshold:g}"
        if label in criteria:
            raise InputError(f"card {card.id!r} names the criterion {label!r} twice")
        criteria[label] = Criterion(label, measure, declared.threshold)
    return tuple(criteria.values())


def values_of(criteria: Sequence[Criterion], scenario: Scenario, shares: Values) -> Values:
    """Return what each criterion measures, shape (criterion, option); NaN where it is not defined.

    Parameters
    ----------
    criteria
        Any number.
    scenario
        With all facts that the measures read.
    shares
        Share of each claimant's demand that is met, shape (option, claimant).

    Raises
    ------
    InputError
        If shapes do not fit, or a fact is missing.
    """
    if shares.ndim != 2 or shares.shape[1] != len(scenario.ids):
        raise InputError(
            f"shares have shape {shares.shape}; allowed: (option, patient) for {len(scenario.ids)} patients"
        )
    values = np.empty((len(criteria), len(shares)))
    for row, criterion in zip(values, criteria, strict=True):
        row[:] = criterion.measure.of(scenario, shares)
    return values


def met(criteria: Sequence[Criterion], scenario: Scenario, shares: Values) -> NDArray[np.bool_]:
    """Return whether each allocation meets each criterion, shape (criterion, option); what is not defined is not met.

    Parameters and errors as in `values_of`.
    """
    values = values_of(criteria, scenario, shares)
    held = np.zeros(values.shape, dtype=np.bool_)
    for row, criterion, measured in zip(held, criteria, values, strict=True):
        row[:] = criterion.measure.meets(measured, criterion.threshold)
    return held
