"""Saving and restoring a fitted policy: skops for estimators, JSON for everything else; nothing is unpickled.

Trees inside loaded estimators are checked before compiled code follows them (`check_trees`).
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, get_args

import numpy as np
import skops.io as skops
from sklearn.ensemble._hist_gradient_boosting.predictor import TreePredictor
from sklearn.tree._tree import Tree

from accordant import strategies
from accordant.cases.spec import CaseSpec
from accordant.errors import InputError, RunFolderError
from accordant.learning.behaviour import LoggedBehaviour
from accordant.learning.causal.selection import TRUSTED_TYPES
from accordant.learning.encoding import ContextEncoder
from accordant.learning.novelty import TrainingProfile
from accordant.learning.outcome_models import ContinuousOutcomeModel, DiscreteOutcomeModel, OutcomeModel
from accordant.learning.reward_models import LearnedReward, OutcomeRewardModel, StatedReward
from accordant.policy import ParticipatoryPolicy
from accordant.rewards import RewardSignal
from accordant.runs.execution import asked_of_policy
from accordant.tables.column_types import ColumnType

OUTCOME_FILE = "outcome-model.skops"
BEHAVIOUR_FILE = "logged-behaviour.skops"
STATE_FILE = "policy.json"
PROFILE_FILE = "training-profile.json"


def check_trees(estimator: Any, name: str) -> None:
    """Raise `RunFolderError` if a tree inside a loaded estimator points outside itself or back up.

    Parameters
    ----------
    estimator
        What a model file held.
    name
        Name of the file, for the message.
    """
    for part in _parts(estimator, set()):
        if isinstance(part, Tree):
            sound = _sound(part.children_left, part.children_right, part.feature, part.n_features)
        elif isinstance(part, TreePredictor):
            nodes = part.nodes
            inner = nodes["is_leaf"] == 0
            columns = (nodes[name].astype(np.int64) for name in ("left", "right", "feature_idx"))
            left, right, feature = (np.where(inner, column, -1) for column in columns)
            sound = _sound(left, right, feature, None)
        else:
            continue
        if not sound:
            raise RunFolderError(f"{name} holds a tree whose nodes do not hang together; it was damaged or forged")


def _sound(left: Any, right: Any, feature: Any, n_features: int | None) -> bool:
    """Return whether every inner node leads to two later nodes and reads a feature that exists."""
    left, right, feature = (np.asarray(each).astype(np.int64) for each in (left, right, feature))
    own, inner = np.arange(len(left)), left != -1
    below = (left > own) & (left < len(own)) & (right > own) & (right < len(own)) & (feature >= 0)
    if n_features is not None:
        below &= feature < n_features
    return len(own) > 0 and bool(below[inner].all() and (right[~inner] == -1).all())


def _parts(value: Any, seen: set[int]) -> Iterator[Any]:
    """Yield a value and everything that hangs on it."""
    if id(value) in seen or isinstance(value, str | bytes | int | float | bool | type(None)):
        return
    seen.add(id(value))
    yield value
    if isinstance(value, dict):
        inside: Any = value.values()
    elif isinstance(value, list | tuple | set | frozenset):
        inside = value
    elif isinstance(value, np.ndarray):
        inside = value.ravel() if value.dtype == object else ()
    else:
        inside = getattr(value, "__dict__", {}).values()
    for each in inside:
        yield from _parts(each, seen)


_CLASSIFICATION = "accordant.learning.classification"
_BOOSTING = "sklearn.ensemble._hist_gradient_boosting"

TRUSTED = frozenset(
    {
        *TRUSTED_TYPES,
        f"{_CLASSIFICATION}.blend.Blend",
        f"{_CLASSIFICATION}.calibration.CalibratedProbabilities",
        f"{_CLASSIFICATION}.candidates.Candidate",
        f"{_CLASSIFICATION}.candidates.HingeFeatures",
        f"{_CLASSIFICATION}.selection.CandidateScore",
        f"{_CLASSIFICATION}.selection.SelectedClassifier",
        f"{_CLASSIFICATION}.brier.MeanWithError",
        "sklearn._loss._loss.CyHalfMultinomialLoss",
        "sklearn._loss._loss.CyHalfBinomialLoss",
        "sklearn._loss._loss.CyHalfSquaredError",
        "sklearn._loss.link.IdentityLink",
        "sklearn._loss.link.Interval",
        "sklearn._loss.link.LogitLink",
        "sklearn._loss.link.MultinomialLogit",
        "sklearn._loss.loss.HalfBinomialLoss",
        "sklearn._loss.loss.HalfMultinomialLoss",
        "sklearn._loss.loss.HalfSquaredError",
        "sklearn.calibration._CalibratedClassifier",
        "sklearn.calibration._SigmoidCalibration",
        "sklearn.calibration._TemperatureScaling",
        f"{_BOOSTING}.binning._BinMapper",
        f"{_BOOSTING}.predictor.TreePredictor",
        "sklearn.tree._tree.Tree",
    }
)


def save_policy(policy: ParticipatoryPolicy, folder: Path) -> None:
    """Write the fitted policy into an empty folder.

    Raises
    ------
    InputError
        If a model has parts of a type that could not be trusted when it is read back.
    """
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
        "outcome_model": _save_outcome_model(policy.outcome_model_, folder),
        "behaviour": _save_behaviour(policy.behaviour_, folder),
        "reward_models": [
            _save_reward_model(model, number, folder) for number, model in enumerate(policy.reward_models_)
        ],
        "warnings": policy.warnings_,
    }
    (folder / PROFILE_FILE).write_text(json.dumps(policy.profile_.state(), ensure_ascii=False), encoding="utf-8")
    (folder / STATE_FILE).write_text(json.dumps(state, indent=1, ensure_ascii=False), encoding="utf-8")


def load_policy(case: CaseSpec, folder: Path) -> ParticipatoryPolicy:
    """Rebuild a policy that can recommend.

    Raises
    ------
    RunFolderError
        If a model file holds a type that is not on the trust list, or the state does not fit the case.
    """
    try:
        return _rebuilt(case, folder, json.loads((folder / STATE_FILE).read_text(encoding="utf-8")))
    except RunFolderError:
        raise
    except (KeyError, TypeError, ValueError) as error:
        raise RunFolderError(f"{STATE_FILE} or {PROFILE_FILE} does not fit its case: {error!r}") from None


def _rebuilt(case: CaseSpec, folder: Path, state: dict[str, Any]) -> ParticipatoryPolicy:
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
    profile = json.loads((folder / PROFILE_FILE).read_text(encoding="utf-8"))
    policy.profile_ = TrainingProfile.restored(_encoder(profile["encoder"]), profile)
    policy.signals_ = signals
    policy.outcome_model_ = _load_outcome_model(state["outcome_model"], folder)
    policy.behaviour_ = _load_behaviour(state["behaviour"], folder)
    policy.reward_models_ = tuple(_load_reward_model(each, folder, case, signals) for each in state["reward_models"])
    policy.strategies_ = {
        label: strategies.create(each["name"], _tuples(each["parameters"]))
        for label, each in state["strategies"].items()
    }
    policy.warnings_ = tuple(state["warnings"])
    policy.outcome_limits_ = _tuples(state["outcome_limits"])
    policy.selected_ = policy.strategies_[state["selected"]].label
    return policy


def _save_outcome_model(model: OutcomeModel, folder: Path) -> dict[str, Any]:
    common = {
        "encoder": asdict(model.encoder),
        "n_actions": model.n_actions,
        "action_aware": model.action_aware,
        "file": OUTCOME_FILE,
    }  # fmt: skip
    if isinstance(model, DiscreteOutcomeModel):
        _dump(model.classifier, folder / OUTCOME_FILE)
        return {"kind": "discrete", **common}
    assert isinstance(model, ContinuousOutcomeModel)
    _dump(model.learner, folder / OUTCOME_FILE)
    bounds = [None if np.isinf(bound) else bound for bound in model.bounds]
    return {
        "kind": "continuous", **common,
        "offsets": model.offsets.tolist(), "weights": model.weights.tolist(), "bounds": bounds,
    }  # fmt: skip


def _load_outcome_model(state: dict[str, Any], folder: Path) -> OutcomeModel:
    encoder, estimator = _encoder(state["encoder"]), _load(folder / state["file"])
    if state["kind"] == "discrete":
        return DiscreteOutcomeModel(encoder, estimator, state["n_actions"], state["action_aware"])
    low, high = state["bounds"]
    return ContinuousOutcomeModel(
        encoder,
        estimator,
        state["n_actions"],
        state["action_aware"],
        np.array(state["offsets"]),
        np.array(state["weights"]),
        (-np.inf if low is None else low, np.inf if high is None else high),
    )


def _save_behaviour(behaviour: LoggedBehaviour | None, folder: Path) -> dict[str, Any] | None:
    if behaviour is None:
        return None
    _dump(behaviour.model, folder / BEHAVIOUR_FILE)
    return {"encoder": asdict(behaviour.encoder), "file": BEHAVIOUR_FILE}


def _load_behaviour(state: dict[str, Any] | None, folder: Path) -> LoggedBehaviour | None:
    return None if state is None else LoggedBehaviour(_encoder(state["encoder"]), _load(folder / state["file"]))


def _save_reward_model(model: OutcomeRewardModel, number: int, folder: Path) -> dict[str, Any]:
    if isinstance(model, StatedReward):
        return {"kind": "stated", "stakeholder": model.stakeholder}
    assert isinstance(model, LearnedReward)
    file = f"reward-model-{number}.skops"
    _dump(model.regressor, folder / file)
    return {"kind": "learned", "stakeholders": model.stakeholders, "encoder": asdict(model.encoder), "file": file}


def _load_reward_model(
    state: dict[str, Any], folder: Path, case: CaseSpec, signals: dict[str, RewardSignal]
) -> OutcomeRewardModel:
    if state["kind"] == "stated":
        return StatedReward(state["stakeholder"], signals[state["stakeholder"]], case.problem)
    encoder, regressor = _encoder(state["encoder"]), _load(folder / state["file"])
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
        return {key: _tuples(each) for key, each in value.items()}
    return tuple(_tuples(each) for each in value) if isinstance(value, list) else value


def _dump(estimator: Any, path: Path) -> None:
    content = skops.dumps(estimator)
    unknown = sorted(set(skops.get_untrusted_types(data=content)) - TRUSTED)
    if unknown:
        raise InputError(f"a model cannot be saved: its parts of type {', '.join(unknown)} are not on the trust list")
    path.write_bytes(content)


def _load(path: Path) -> Any:
    try:
        unknown = sorted(set(skops.get_untrusted_types(file=path)) - TRUSTED)
    except (zipfile.BadZipFile, KeyError, ValueError) as error:
        raise RunFolderError(f"{path.name} is no model file: {error}") from None
    if unknown:
        raise RunFolderError(f"{path.name} holds types that are not on the trust list: {', '.join(unknown)}")
    estimator = skops.load(path, trusted=sorted(TRUSTED))
    check_trees(estimator, path.name)
    return estimator
