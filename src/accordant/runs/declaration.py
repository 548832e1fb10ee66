"""What can be known of a case before anything is learned: names of rules, metrics, models, parameters and columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from accordant import strategies
from accordant.cases.files import CaseFile
from accordant.cases.spec import CaseSpec
from accordant.errors import InputError, MissingColumnError, SpecError
from accordant.learning.estimators import build_estimator, build_learner
from accordant.learning.tuning import grid_points
from accordant.metrics import metrics
from accordant.rewards import RewardSignal

Columns = dict[tuple[str, ...], tuple[str, ...]]
"""From the keys that lead to a part of a case to the columns that it names."""


def check_declared(file: CaseFile, case: CaseSpec) -> None:
    """Refuse before learning what would fail after it, with file and line.

    Raises
    ------
    SpecError
        If a metric, a strategy, a model, or a parameter of one is unknown, or does not suit the problem.
    """
    for label, spec in case.metrics.items():
        with file.at("metrics", label):
            reason = metrics.create(spec.metric, spec.parameters).unsuited(case.problem)
            if reason is not None:
                raise InputError(f"metric {label!r}: {reason}")
    for number, rule in enumerate(case.strategies):
        with file.at("strategies", str(number)):
            strategies.create(rule.name, rule.parameters).for_problem(case.problem)
    for key, build, grid in (
        ("outcome_model", build_outcome_model, case.learning.outcome_model.grid),
        ("reward_model", build_reward_model, case.learning.reward_model.grid),
    ):
        with file.at("learning", key):
            model = build(case, 0)
            if model is not None and not isinstance(model, str):
                grid_points(model, grid)


def build_outcome_model(case: CaseSpec, seed: int) -> Any:
    """Return the unfitted outcome model that a case declares; None for the automatic choice."""
    model = case.learning.outcome_model
    if model.name == "auto":
        return None
    if case.problem.continuous:
        return build_learner(model.name, model.regressor, model.parameters, seed)
    return build_estimator("classifier", model.name, model.parameters, seed)


def build_reward_model(case: CaseSpec, seed: int) -> Any:
    """Return the unfitted reward model that a case declares, ``stated``, or None for the automatic choice."""
    model = case.learning.reward_model
    if model.name in ("auto", "stated"):
        return {"auto": None, "stated": "stated"}[model.name]
    return build_estimator("regressor", model.name, model.parameters, seed)


def read_columns(case: CaseSpec, signals: Mapping[str, RewardSignal]) -> Columns:
    """Return the columns that metrics, strategies and rewards read, as far as the case names them."""
    columns: Columns = {("rewards", name): signal.columns for name, signal in signals.items()}
    for label, spec in case.metrics.items():
        columns["metrics", label] = metrics.create(spec.metric, spec.parameters).columns
    for number, rule in enumerate(case.strategies):
        columns["strategies", str(number)] = strategies.create(rule.name, rule.parameters).columns
    for path, names in columns.items():
        for name in names:
            if not isinstance(name, str):
                raise SpecError(f"{'.'.join(path)}: {name!r:.60} is no column; allowed: names of columns", path=path)
    return columns


@contextmanager
def naming_keys(case: CaseSpec, columns: Columns) -> Iterator[None]:
    """Say of every column that is missing inside which keys of the case name it."""
    data, attributes = case.data, case.problem.sensitive_attributes
    named: Columns = {
        ("data", "features"): tuple(data.features),
        ("data", "confounders"): data.confounders,
        ("data", "true_levels"): tuple(data.true_levels.values()),
        **{("data", key): (name,) for key in ("action", "outcome", "group", "time") if (name := getattr(data, key))},
        ("problem", "sensitive_attributes"): tuple(attribute.name for attribute in attributes),
        **columns,
    }
    try:
        yield
    except MissingColumnError as error:
        path = next((path for path, names in named.items() if error.name in names), ())
        raise SpecError(f"{'.'.join(path)}: {error}" if path else str(error), path=path) from None
