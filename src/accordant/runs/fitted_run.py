"""A policy that was fitted in Python as a run: the case that it amounts to, the record, the folder, the page.

What a case declares and a policy has is written as it is: problem, rewards, strategies, metrics, types of columns. What
only a case has is said to be missing: rows stand in no file, and a reward that was a Python function leaves its name.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from accordant import strategies
from accordant.cases.loaders import CaseData
from accordant.cases.spec import CaseSpec
from accordant.contexts import Log
from accordant.errors import InputError, NotFittedError
from accordant.evaluation import Leaderboard
from accordant.evidence import Evidence
from accordant.faces import keepers
from accordant.learning.log_input import read_log
from accordant.learning.reward_models import StatedReward
from accordant.metrics import Metric, metrics, weighted_metrics
from accordant.policy import ParticipatoryPolicy
from accordant.report.render import render
from accordant.rewards import FunctionReward, ObservedReward, RewardSignal, TableReward, rewards
from accordant.runs.execution import CarriedOut
from accordant.runs.folder import free_folder, write_run
from accordant.runs.models.trusted_types import refuse_unsavable
from accordant.runs.pages import write_html
from accordant.runs.record import Record
from accordant.runs.record.parts import groupings, make_record, plain
from accordant.runs.reward_sources import reward_sources
from accordant.runs.row_split import Dealing
from accordant.runs.scrutiny import Scrutiny
from accordant.tables.text import csv_text

Rows = Mapping[str, Any]
"""Untouched rows as `accordant.ParticipatoryPolicy.save` takes them."""

SOURCE = "rows given in Python"
NO_UNTOUCHED = (
    "No untouched rows were given when this policy was saved: all figures are about the rows of its training, each "
    "judged by models that did not see it. The selected strategy was chosen on the same rows, so its score is too good "
    "by what being the best of many adds."
)
FITTED = "The policy was fitted in Python; rows stand in no file beside this folder."
LEARNING = ("shared_rewards", "augmentation", "integration", "nodes", "calibrated", "folds", "stratified")


@keepers.register("save")
def save(policy: ParticipatoryPolicy, folder: str | Path, rows: Rows, title: str) -> Path:
    """Write the run folder of a policy, see `accordant.ParticipatoryPolicy.save`."""
    out = free_folder("policy", Path(folder))  # refuses a place before the work
    return write_run(carried_out(policy, rows, title, out.name), out)


@keepers.register("report")
def report(policy: ParticipatoryPolicy, page: str | Path, rows: Rows, title: str) -> Path:
    """Write the page of a policy, see `accordant.ParticipatoryPolicy.report`."""
    out = Path(page)
    return write_html(lambda: render(carried_out(policy, rows, title, out.stem).record), out)


def carried_out(policy: ParticipatoryPolicy, rows: Rows, title: str, name: str) -> CarriedOut:
    """Return what `accordant.runs.carry_out` would: case, policy, record, and what the policy was judged by.

    Parameters
    ----------
    policy
        Fitted in this process.
    rows
        Untouched rows, or None for each of them.
    title, name
        Of the case.

    Raises
    ------
    NotFittedError
        If `fit` was not called.
    InputError
        If something in the policy cannot be kept, or the rows cannot be used.
    """
    started = time.perf_counter(), time.process_time()
    if not hasattr(policy, "selected_"):
        raise NotFittedError("this policy is not fitted; call fit first")
    if not hasattr(policy, "leaderboard_"):
        raise InputError("this policy was read from a run, which is a folder already: copy that")
    refuse_unsavable("outcome model", policy.outcome_model)
    refuse_unsavable("reward model", policy.reward_model)
    case = case_of(policy, title, name)
    untouched = _untouched(policy, rows)
    evidence = policy.evidence_ if untouched is None else policy.evidence_on(untouched)
    board = policy.leaderboard_ if untouched is None else policy.leaderboard_on(evidence)
    record = _record(case, policy, untouched, evidence, board, started)
    return CarriedOut(case, policy, record, evidence)


def _untouched(policy: ParticipatoryPolicy, rows: Rows) -> Log | None:
    """Return the untouched rows, if they were given."""
    if all(table is None for table in rows.values()):
        return None
    for name in ("X", "actions", "outcomes"):
        if rows[name] is None:
            raise InputError(f"of the untouched rows {name} is missing; allowed: X, actions and outcomes, or none")
    signals = {**policy.signals_, **(rows["rewards"] or {})}
    return read_log(policy.problem, rows["X"], rows["actions"], rows["outcomes"], signals, policy.group, policy.types)[
        0
    ]


def _record(
    case: CaseSpec, policy: ParticipatoryPolicy, untouched: Log | None, evidence: Evidence, board: Leaderboard,
    started: tuple[float, float],
) -> Record:  # fmt: skip
    """Return the record; of the rows a hash says which they were."""
    training = policy.evidence_.log
    n_train, n_test = len(training), 0 if untouched is None else len(untouched)
    digest = hashlib.sha256("".join(_text(log) for log in (training, untouched) if log is not None).encode())
    repairs = (NO_UNTOUCHED,) if untouched is None else ()
    data = CaseData(training, SOURCE, digest.hexdigest(), simulated=False, repairs=repairs)
    dealt = Dealing(None, None, n_train, n_test, None, None, None, None, 0)
    _, scrutiny = Scrutiny(policy, evidence, groupings(case)).findings()
    names = {name: name for name in case.problem.stakeholder_names}
    seconds = time.perf_counter() - started[0], time.process_time() - started[1]
    record = make_record(
        case, policy.random_state, data, n_train, policy, evidence, board, scrutiny, seconds, dealt,
        reward_sources(case, case, policy.signals_, {}, names),
    )  # fmt: skip
    counted = record.data.model_copy(update={"rows": n_train + n_test, "test": n_test})
    return record.model_copy(update={"data": counted})


def _text(log: Log) -> str:
    """Return rows as CSV."""
    columns = {name: log.contexts[name] for name in log.contexts} | {"·action": log.actions, "·outcome": log.outcomes}
    columns |= {f"·reward {name}": values for name, values in log.rewards.items()}
    return csv_text(columns, zip(*(column.tolist() for column in columns.values()), strict=True))


def case_of(policy: ParticipatoryPolicy, title: str, name: str) -> CaseSpec:
    """Return the case that a fitted policy amounts to.

    Raises
    ------
    InputError
        If a reward, a metric or a strategy cannot be written down.
    """
    features = {feature: policy.types_[feature] for feature in policy.features_}
    others = {column: kind for column, kind in policy.types_.items() if column not in features}
    given = policy.strategies or ()
    return CaseSpec(
        name=name,
        title=title,
        problem=policy.problem,
        data={
            "action": _free("action", policy), "outcome": _free("outcome", policy), "features": features,
            "types": others, "confounders": tuple(policy.confounders), "group": policy.group,
            "unusual": dict(policy.unusual or {}),
        },
        rewards={who: _reward(who, signal, policy) for who, signal in policy.signals_.items()},
        learning={
            "outcome_model": _model(policy.outcome_model, policy.outcome_grid),
            "reward_model": _model(policy.reward_model, policy.reward_grid),
            **{key: getattr(policy, key) for key in LEARNING},
        },
        strategies=[_registered("strategy", strategy.name, strategy, strategies.create) for strategy in given],
        metrics={label: _metric(label, *pair, policy) for label, pair in weighted_metrics(policy.metrics).items()},
        evaluation={key: getattr(policy, key) for key in ("resamples", "level", "normalisation")},
        notes=(FITTED,),
    )  # fmt: skip


def _free(name: str, policy: ParticipatoryPolicy) -> str:
    """Return a name that no column has."""
    while name in policy.types_ or name == policy.group:
        name = f"logged {name}"
    return name


def _reward(name: str, signal: RewardSignal, policy: ParticipatoryPolicy) -> dict[str, Any]:
    """Return the entry of a stakeholder under ``rewards``."""
    if isinstance(signal, TableReward):
        attribute = {} if signal.attribute is None else {"attribute": signal.attribute}
        return {"table": plain({key: dict(value) for key, value in signal.table.items()}), **attribute}
    if isinstance(signal, ObservedReward):
        return {"column": signal.column}
    kind = next((kind for kind in rewards if rewards.factory(kind) is type(signal)), None)
    if kind is not None:
        return {"signal": kind, **plain(signal.state())}
    used = any(isinstance(model, StatedReward) and model.stakeholder == name for model in policy.reward_models_)
    if used or not isinstance(signal, FunctionReward):
        what = "a Python function that is used as stated" if used else f"a {type(signal).__name__}, not registered"
        raise InputError(
            f"the reward of {name!r} is {what}, so a run folder cannot keep it; register it "
            "(accordant.rewards.rewards.register), or let a reward model learn it"
        )
    return {"signal": "function", **signal.state()}


def _registered(kind: str, name: str, part: Any, create: Any) -> dict[str, Any]:
    """Return name and parameters of what a registry must be able to make again."""
    parameters = plain(part.parameters)
    try:
        again = create(name, parameters)
    except InputError as error:
        raise InputError(f"the {kind} {type(part).__name__} cannot be kept in a run folder: {error}") from None
    if type(again) is not type(part):
        raise InputError(f"the {kind} {type(part).__name__} cannot be kept in a run folder: register it under a name")
    return {"name": name, "parameters": parameters}


def _metric(label: str, metric: Metric, weight: float, policy: ParticipatoryPolicy) -> dict[str, Any]:
    written = _registered("metric", metric.name, metric, metrics.create)
    return {
        "metric": written["name"], "parameters": written["parameters"], "weight": weight,
        "range": (policy.ranges or {}).get(label),
    }  # fmt: skip


def _model(model: Any, grid: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return what a case says of a model: its name and what was searched; its parameters are in its file."""
    if model is None or isinstance(model, str):
        return {"name": model or "auto"}
    return {"name": type(model).__name__, "grid": plain({key: list(values) for key, values in (grid or {}).items()})}
