"""scikit-learn estimators by class name, as case files name them."""

from __future__ import annotations

import importlib
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal

from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils import all_estimators

from accordant.errors import InputError, UnknownNameError, allowed_names
from accordant.learning.causal import DRLearner, LevelLearner, SelectedCausalLearner, SLearner, TLearner, XLearner

LEARNERS: Mapping[str, type[LevelLearner]] = {
    "s_learner": SLearner,
    "t_learner": TLearner,
    "x_learner": XLearner,
    "dr_learner": DRLearner,
    "selected": SelectedCausalLearner,
}
"""Learners of outcome levels per action, for continuous outcomes."""

PACKAGES = ("linear_model", "tree", "ensemble")
"""Of scikit-learn, in which an estimator is looked for first."""

UNNEEDED = tuple(f"sklearn.externals.array_api_compat.{library}" for library in ("torch", "cupy", "dask"))
"""What scikit-learn imports of these libraries if they are installed and something walks through all its modules."""
_walking = threading.Lock()


@contextmanager
def one_walk() -> Iterator[None]:
    """Let no other thread walk through all of scikit-learn meanwhile, and leave out what adapts array libraries.

    It holds no estimator, and may import torch, a CPU second. Two walks at once fail where one finds a module that the
    other could not import and takes back.
    """
    with _walking:
        hidden = [name for name in UNNEEDED if name not in sys.modules]
        sys.modules |= dict.fromkeys(hidden)  # type: ignore[arg-type]  # None: cannot be imported
        try:
            yield
        finally:
            for name in hidden:
                del sys.modules[name]


def build_estimator(
    kind: Literal["classifier", "regressor"], name: str, parameters: Mapping[str, Any], random_state: int
) -> Any:
    """Return an unfitted estimator, seeded if it takes a seed.

    Raises
    ------
    UnknownNameError, InputError
        If there is no such estimator, or a parameter is unknown to it.
    """
    estimator = _class(kind, name)
    valid = estimator._get_param_names()  # noqa: SLF001 - the public way needs an instance
    for key in parameters:
        if key not in valid:
            raise InputError(f"{name}: unknown parameter {key!r}; {allowed_names(valid, key)}")
    seeded = {"random_state": random_state} if "random_state" in valid else {}
    try:
        return estimator(**(seeded | dict(parameters)))
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} cannot be built: {error}") from None


def _class(kind: Literal["classifier", "regressor"], name: str) -> Any:
    """Return a class of scikit-learn; most are found without the walk through all its modules, which takes 2 s."""
    mixin = {"classifier": ClassifierMixin, "regressor": RegressorMixin}[kind]
    for package in PACKAGES:
        estimator = getattr(importlib.import_module(f"sklearn.{package}"), name, None)
        if isinstance(estimator, type) and issubclass(estimator, mixin):
            return estimator
    with one_walk():
        classes = dict(all_estimators(type_filter=kind))
    if name not in classes:
        raise UnknownNameError(kind, name, classes)
    return classes[name]


def build_learner(name: str, regressor: str | None, parameters: Mapping[str, Any], random_state: int) -> LevelLearner:
    """Return an unfitted learner of outcome levels.

    Parameters
    ----------
    name
        A key of `LEARNERS`.
    regressor
        Class name of a scikit-learn regressor for all its regressions; None for the learner's own default.
    parameters
        Parameters, nested ones with double underscores.
    random_state
        Seed.

    Raises
    ------
    UnknownNameError, InputError
        If a name or parameter is unknown.
    """
    if name not in LEARNERS:
        raise UnknownNameError("learner of continuous outcomes", name, ("auto", *LEARNERS))
    learner = LEARNERS[name](random_state=random_state)
    if regressor is not None:
        built = {part: build_estimator("regressor", regressor, {}, random_state) for part in ("base", "effect")}
        learner.set_params(**{part: model for part, model in built.items() if part in learner.get_params(deep=False)})
    valid = learner.get_params()
    for key in parameters:
        if key not in valid:
            raise InputError(f"{name}: unknown parameter {key!r}; {allowed_names(valid, key)}")
    learner.set_params(**parameters)
    return learner
