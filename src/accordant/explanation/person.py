"""The person whom a decision is about: how usual each value is, and what is likely to follow from each action."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from accordant.arrays import Values
from accordant.contexts import Contexts
from accordant.explanation.contexts import Value, plain
from accordant.learning.novelty import TrainingProfile
from accordant.predictions import OutcomePrediction
from accordant.problem import ContinuousOutcome, DecisionProblem
from accordant.recommendation import Recommendations

Basis = Literal["calibrated", "checked", "uncalibrated"]
Settled = Literal["rule", "drawn", "referred", "fall_back", "adopted"]
FEWEST_NODES = 5  # with which a predictive distribution is fine enough for an interval
ALIKE = 1e-9  # weights of nodes this close are equal


@dataclass(frozen=True)
class Trait:
    """One value of the person, and how usual it is among training rows.

    Attributes
    ----------
    feature
        Column.
    value
        What it is; None for a missing number.
    below
        Share of the rows with a number whose number is smaller; None for texts and missing values.
    same
        Share of the rows with the same value; of all rows for texts and missing values.
    rows
        Rows that were compared: all training rows for texts, the ones kept with the policy for numbers.
    """

    feature: str
    value: Value | None
    below: float | None
    same: float
    rows: int


@dataclass(frozen=True)
class Forecast:
    """What is likely to follow from each action, from the outcome model f.

    Attributes
    ----------
    outcomes
        Names of discrete outcomes; empty for a number.
    probabilities
        f(o | x, a), shape (action, outcome); None for a number, or if these are no calibrated probabilities.
    means
        Predicted mean under each action, shape (action,); None for discrete outcomes.
    low, high
        Interval that is to contain the outcome itself (not only its mean) with probability `level`, shape (action,);
        None where the model gives none.
    level
        Of the interval.
    name, unit
        Of a number.
    depends_on_action
        Whether f was allowed to depend on the action.
    basis
        ``calibrated``: the model was calibrated, or chosen among calibrated ones, on rows that it had not seen, and
        nothing on the untouched rows speaks against it; ``checked``: it was not, and on the untouched rows the mean
        probability of every outcome agrees with its share; ``uncalibrated``: neither, so no probabilities are given.
    """

    outcomes: tuple[str, ...]
    probabilities: tuple[tuple[float, ...], ...] | None
    means: tuple[float, ...] | None
    low: tuple[float, ...] | None
    high: tuple[float, ...] | None
    level: float | None
    name: str
    unit: str
    depends_on_action: bool
    basis: Basis


@dataclass(frozen=True)
class Person:
    """The person whom a decision is about.

    Attributes
    ----------
    traits
        Values of the features that models read.
    forecast
        What is likely to follow.
    unusual
        In what the person is unlike the training rows, in words; empty if in nothing.
    settled
        How it was settled: by the ``rule``, ``drawn`` from its probabilities, ``referred`` to somebody, by the
        declared ``fall_back`` action, or by a debate that was ``adopted``.
    action
        What is done; empty if somebody is still to decide.
    chance
        Probability of the action that was drawn; None otherwise.
    why
        What somebody who adopted another decision gave as reason; empty otherwise.
    """

    traits: tuple[Trait, ...]
    forecast: Forecast
    unusual: str
    settled: Settled
    action: str
    chance: float | None = None
    why: str = ""


def traits(profile: TrainingProfile, contexts: Contexts, row: int) -> tuple[Trait, ...]:
    """Return the values of one row and how usual each is.

    Parameters
    ----------
    profile
        Of the training rows.
    contexts
        With the types of the training rows.
    row
        Position.
    """
    return tuple(_trait(profile, name, contexts[name][row]) for name in contexts if name in profile.encoder.columns)


def _trait(profile: TrainingProfile, name: str, value: Value) -> Trait:
    below, same, rows = profile.usualness(name, value)
    return Trait(name, plain(value), below, same, rows)


def person(
    profile: TrainingProfile, problem: DecisionProblem, contexts: Contexts, prediction: OutcomePrediction,
    recommended: Recommendations, row: int, basis: Basis,
) -> Person:  # fmt: skip
    """Return the person of one row, and how the decision about this person was settled.

    Parameters
    ----------
    profile
        Of the training rows.
    problem
        Its outcomes.
    contexts, prediction, recommended
        Features, f, and what is recommended, in some rows.
    row
        Position among them.
    basis
        What probabilities of f are; see `Forecast`.
    """
    decisions = recommended.decisions
    unusual = "" if recommended.unusual is None else str(recommended.unusual.remarks[row])
    fall_back = recommended.fall_back is not None and bool(recommended.fall_back[row])
    how: Settled = "referred" if recommended.referred[row] else "fall_back" if fall_back else "rule"
    chance = None
    if decisions.policy is not None and how == "rule":
        how, chance = "drawn", float(decisions.policy[decisions.codes[row], row])
    facts = traits(profile, contexts, row), forecast(problem, prediction, row, basis)
    return Person(*facts, unusual, how, str(decisions.actions[row]), chance)


def forecast(problem: DecisionProblem, prediction: OutcomePrediction, row: int, basis: Basis) -> Forecast:
    """Return what is likely to follow in one row.

    Parameters
    ----------
    problem
        Its outcomes.
    prediction
        f.
    row
        Position.
    basis
        What the probabilities are; see `Forecast`.
    """
    if isinstance(problem.outcomes, ContinuousOutcome):
        return _level(problem.outcomes, prediction, row)
    weights = prediction.weights[:, :, row]
    shares = None if basis == "uncalibrated" else _rows(weights)
    return Forecast(
        problem.outcome_names, shares, None, None, None, None, "", "", prediction.depends_on_action, basis
    )  # fmt: skip


def _level(outcome: ContinuousOutcome, prediction: OutcomePrediction, row: int) -> Forecast:
    assert prediction.nodes is not None
    assert prediction.means is not None
    nodes, weights = prediction.nodes[:, :, row], prediction.weights[:, :, row]
    n_nodes = nodes.shape[1]
    # nodes of equal weight are quantiles at (k + ½)/K of held-out residuals: the outer ones enclose all but 1/K
    quantiles = n_nodes >= FEWEST_NODES and float(np.ptp(weights)) <= ALIKE
    low, high = (_one(nodes.min(axis=1)), _one(nodes.max(axis=1))) if quantiles else (None, None)
    means = _one(prediction.means[:, row])
    level = 1.0 - 1.0 / n_nodes if quantiles else None
    return Forecast(
        (), None, means, low, high, level, outcome.name, outcome.unit, prediction.depends_on_action, "calibrated"
    )  # fmt: skip


def _one(values: Values) -> tuple[float, ...]:
    return tuple(map(float, values))


def _rows(values: Values) -> tuple[tuple[float, ...], ...]:
    return tuple(_one(row) for row in values)
