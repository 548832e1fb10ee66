"""Saving and restoring a fitted policy: skops for estimators, JSON for everything else; nothing is unpickled."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from accordant import strategies
from accordant.cases.spec import CaseSpec
from accordant.contexts import Contexts
from accordant.errors import RunFolderError
from accordant.learning.behaviour import LoggedBehaviour
from accordant.learning.encoding import ContextEncoder
from accordant.learning.novelty import TrainingProfile
from accordant.learning.outcome_models import ContinuousOutcomeModel, DiscreteOutcomeModel, OutcomeModel
from accordant.learning.reward_models import LearnedReward, OutcomeRewardModel, StatedReward
from accordant.policy import ParticipatoryPolicy
from accordant.problem import DecisionProblem
from accordant.rewards import RewardSignal
from accordant.runs.execution import asked_of_policy
from accordant.runs.manifest import STATE_FILE
from accordant.runs.models.files import dump_model, load_model
from accordant.tables.column_types import ColumnType

OUTCOME_FILE = "outcome-model.skops"
BEHAVIOUR_FILE = "logged-behaviour.skops"
PROFILE_FILE = "training-profile.json"


Files = dict[str, Callable[[], str | bytes]]
"""Name of a file to what makes its content, a task of its own."""


def policy_files(policy: ParticipatoryPolicy) -> Files:
    """Return what keeps a fitted policy, name of a file to what makes its content.

    That raises `InputError` if a model has parts of a type that could not be trusted when it is read back.
    """
    files: Files = {}
    state = {
        "features": policy.features_,
        "types": policy.types_,
        "selected": policy.selected_,
        "random_state": policy.random_state,
        "outcome_limits": policy.outcome_limits_,
        "strategies": {
            label: {"name": rule.name, "parameters": rule.parameters} for label, rule in policy.strategies_.items()
        },
        "signals": {name: signal.state() for name, signal in policy.signals_.items()},
        "outcome_model": _save_outcome_model(policy.outcome_model_, files),
        "behaviour": _save_behaviour(policy.behaviour_, files),
        "reward_models": [
            _save_reward_model(model, number, files) for number, model in enumerate(policy.reward_models_)
        ],
        "warnings": policy.warnings_,
    }
    files[PROFILE_FILE] = partial(json.dumps, policy.profile_.state(), ensure_ascii=False)
    files[STATE_FILE] = partial(json.dumps, state, indent=1, ensure_ascii=False)
    return files


def load_policy(case: CaseSpec, read: Callable[[str], bytes]) -> ParticipatoryPolicy:
    """Rebuild a policy that can recommend.

    Parameters
    ----------
    case
        The case as it was run.
    read
        Returns the bytes of one of the saved files, by name, after checking them.

    Raises
    ------
    RunFolderError
        If a model file holds a type that is not on the trust list or an index outside its arrays, or the state does
        not fit the case.
    """
    try:
        policy = _rebuilt(case, read, json.loads(read(STATE_FILE)))
        _ask_about_one_context(policy)
    except RunFolderError:
        raise
    except Exception as error:  # noqa: BLE001 - a forged state can make any part of a policy fail
        raise RunFolderError(f"{STATE_FILE}, {PROFILE_FILE} and models do not fit their case: {error!r:.300}") from None
    return policy


def _rebuilt(case: CaseSpec, read: Callable[[str], bytes], state: dict[str, Any]) -> ParticipatoryPolicy:
    problem = case.problem
    signals = {name: signal.restored(_tuples(state["signals"][name])) for name, signal in case.signals().items()}
    policy = ParticipatoryPolicy(
        problem,
        features=state["features"],
        **asked_of_policy(case),
        random_state=state["random_state"],
    )
    policy.features_ = tuple(state["features"])
    policy.types_ = _types(state["types"], policy.features_)
    profile = json.loads(read(PROFILE_FILE))
    policy.profile_ = TrainingProfile.restored(_encoder(profile["encoder"]), profile)
    policy.signals_ = signals
    policy.outcome_model_ = _load_outcome_model(state["outcome_model"], read, problem)
    policy.behaviour_ = _load_behaviour(state["behaviour"], read)
    policy.reward_models_ = tuple(_load_reward_model(model, read, case, signals) for model in state["reward_models"])
    policy.strategies_ = {
        label: strategies.create(strategy["name"], _tuples(strategy["parameters"]))
        for label, strategy in state["strategies"].items()
    }
    policy.warnings_ = tuple(state["warnings"])
    policy.outcome_limits_ = _tuples(state["outcome_limits"])
    policy.selected_ = policy.strategies_[state["selected"]].label
    return policy


def _ask_about_one_context(policy: ParticipatoryPolicy) -> None:
    """Let every model answer once: one whose arrays do not fit its case is noticed here, not in the middle of a file.

    Raises
    ------
    ValueError
        If an answer has another shape than the case declares, or is not finite; models themselves may raise anything.
    """
    spoken_for = sorted(name for reward in policy.reward_models_ for name in reward.stakeholders)
    if spoken_for != sorted(policy.problem.stakeholder_names):
        raise ValueError(f"reward models speak for {spoken_for}, not for every stakeholder once")
    model, n_actions = policy.outcome_model_, len(policy.problem.actions)
    prediction = model.predict(_middle_context(model.encoder))
    n_nodes = prediction.weights.shape[1] if policy.problem.continuous else len(policy.problem.outcome_names)
    answers: list[tuple[str, NDArray[np.float64], tuple[int, ...]]] = [
        ("outcome model", prediction.weights, (n_actions, n_nodes, 1))
    ]
    for reward in policy.reward_models_:
        if isinstance(reward, LearnedReward):
            values = reward.predict(_middle_context(reward.encoder), prediction.nodes)
            answers.append(("reward model", values, (len(reward.stakeholders), n_actions, n_nodes, 1)))
    if policy.behaviour_ is not None:
        propensities = policy.behaviour_.predict(_middle_context(policy.behaviour_.encoder))
        answers.append(("logged behaviour", propensities, (n_actions, 1)))
    for name, values, shape in answers:
        if values.shape != shape or not np.isfinite(values).all():
            raise ValueError(f"the {name} answers with shape {values.shape}, or not with numbers; expected {shape}")


def _middle_context(encoder: ContextEncoder) -> Contexts:
    """Return one row of training medians and first categories."""
    categories = {name: [values[0] if values else ""] for name, values in encoder.categories.items()}
    return Contexts({name: [median] for name, median in encoder.medians.items()} | categories)


def _save_outcome_model(model: OutcomeModel, files: Files) -> dict[str, Any]:
    common = {
        "encoder": asdict(model.encoder),
        "n_actions": model.n_actions,
        "action_aware": model.action_aware,
        "file": OUTCOME_FILE,
    }  # fmt: skip
    if isinstance(model, DiscreteOutcomeModel):
        files[OUTCOME_FILE] = partial(dump_model, model.classifier)
        return {"kind": "discrete", **common}
    assert isinstance(model, ContinuousOutcomeModel)
    files[OUTCOME_FILE] = partial(dump_model, model.learner)
    bounds = [None if np.isinf(bound) else bound for bound in model.bounds]
    return {
        "kind": "continuous", **common,
        "offsets": model.offsets.tolist(), "weights": model.weights.tolist(), "bounds": bounds,
    }  # fmt: skip


def _load_outcome_model(state: dict[str, Any], read: Callable[[str], bytes], problem: DecisionProblem) -> OutcomeModel:
    grid = problem.grid if state["action_aware"] else None
    encoder, estimator = _encoder(state["encoder"]), load_model(read(state["file"]), state["file"])
    if state["kind"] == "discrete":
        return DiscreteOutcomeModel(encoder, estimator, state["n_actions"], state["action_aware"], grid)
    low, high = state["bounds"]
    return ContinuousOutcomeModel(
        encoder,
        estimator,
        state["n_actions"],
        state["action_aware"],
        np.array(state["offsets"]),
        np.array(state["weights"]),
        (-np.inf if low is None else low, np.inf if high is None else high),
        grid,
    )


def _save_behaviour(behaviour: LoggedBehaviour | None, files: Files) -> dict[str, Any] | None:
    if behaviour is None:
        return None
    files[BEHAVIOUR_FILE] = partial(dump_model, behaviour.model)
    return {"encoder": asdict(behaviour.encoder), "file": BEHAVIOUR_FILE}


def _load_behaviour(state: dict[str, Any] | None, read: Callable[[str], bytes]) -> LoggedBehaviour | None:
    if state is None:
        return None
    return LoggedBehaviour(_encoder(state["encoder"]), load_model(read(state["file"]), state["file"]))


def _save_reward_model(model: OutcomeRewardModel, number: int, files: Files) -> dict[str, Any]:
    if isinstance(model, StatedReward):
        return {"kind": "stated", "stakeholder": model.stakeholder}
    assert isinstance(model, LearnedReward)
    file = f"reward-model-{number}.skops"
    files[file] = partial(dump_model, model.regressor)
    return {"kind": "learned", "stakeholders": model.stakeholders, "encoder": asdict(model.encoder), "file": file}


def _load_reward_model(
    state: dict[str, Any], read: Callable[[str], bytes], case: CaseSpec, signals: dict[str, RewardSignal]
) -> OutcomeRewardModel:
    if state["kind"] == "stated":
        return StatedReward(state["stakeholder"], signals[state["stakeholder"]], case.problem)
    encoder, regressor = _encoder(state["encoder"]), load_model(read(state["file"]), state["file"])
    return LearnedReward(tuple(state["stakeholders"]), encoder, regressor, case.problem)


def _encoder(state: dict[str, Any]) -> ContextEncoder:
    categories = {name: tuple(values) for name, values in state["categories"].items()}
    return ContextEncoder(state["medians"], tuple(state["indicated"]), categories)


def _types(state: dict[str, Any], features: tuple[str, ...]) -> dict[str, ColumnType]:
    """Return the types of columns; every feature must have one."""
    for name in (*features, *state):
        if state[name] not in get_args(ColumnType):
            raise ValueError(f"{name} has the type {state[name]!r}")
    return dict(state)


def _tuples(value: Any) -> Any:
    """Turn JSON lists back into tuples, as frozen parameters hold them."""
    if isinstance(value, dict):
        return {key: _tuples(member) for key, member in value.items()}
    return tuple(_tuples(member) for member in value) if isinstance(value, list) else value
