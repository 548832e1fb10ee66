"""Which learners are compared, and with what they are controlled.

Controls come first, the pooled reward at the head: every other row is compared with it. A gain that a control shows too
is not due to what the method adds.

`scale_features`: one scale for features, so that much or little evidence means the same for every file. A ridge or a
prior weighs coefficients against records, and coefficients depend on the unit of the features. [ours] Features are
divided so that differences of training records have the mean square 2 per feature, that of two independent standard
normal items. Directions that an encoder made share one scale: dividing each by its own would blow up those that hardly
vary. Features of a file have units of their own, and each has its own scale.

`choose_ridge`: one ridge for all methods, chosen for the pooled reward, which everything is compared with. Training
records are dealt into folds that share no item of a user, and the pooled reward of the others is judged by its log-loss
on each. [ours] The chosen ridge is every learner's that has one, unless it is named with another: methods then differ
in what they know of users, not in how much they trust features.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from typing import Any, Literal

import numpy as np

from accordant.arrays import Codes
from accordant.compute.fan_out import run_all
from accordant.errors import InputError, UnknownNameError, allowed_names
from accordant.json_values import read_json_value
from accordant.naming import read_named
from accordant.preferences.comparison.record_split import branch
from accordant.preferences.learners.bradley_terry import BradleyTerry
from accordant.preferences.learners.learner import PreferenceLearner, RewardModel, learners
from accordant.preferences.learners.logistic import log_loss
from accordant.preferences.learners.shared_items import item_folds
from accordant.preferences.records import Comparisons

MEAN_SQUARE = 2.0
RIDGES = (1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1, 3e-1, 1.0)
FOLDS = 5
POOLED, POOLED_LEARNER = "pooled", "bradley_terry"
LENGTH = "length only"
CONTROLS = {POOLED: POOLED_LEARNER, "balanced": "balanced", "group_robust": "group_robust"}
Features = Literal["encoder", "length"]


def scale_features(comparisons: Comparisons, training: Codes, *, each: bool) -> Comparisons:
    """Return the same records with scaled features; a feature that never differs in training stays as it is.

    Nothing but the training rows is looked at; `each` says whether every feature has its own scale.
    """
    features = comparisons.features
    sizes = np.abs(features[np.concatenate([comparisons.chosen[training], comparisons.rejected[training]])])
    largest = sizes.max(axis=0, initial=0.0)
    largest = largest if each else np.full_like(largest, largest.max(initial=0.0))
    features = np.ldexp(features, -np.frexp(largest)[1])  # by a power of two, which rounds nothing
    squares = ((features[comparisons.chosen[training]] - features[comparisons.rejected[training]]) ** 2).mean(axis=0)
    if not each:
        squares = np.full_like(squares, squares.mean())
    varies = squares > 0
    factors = np.sqrt(np.divide(MEAN_SQUARE, squares, out=np.ones_like(squares), where=varies))
    return replace(comparisons, features=np.where(varies, features * factors, comparisons.features))


@dataclass(frozen=True)
class RidgeChoice:
    """The chosen ridge, and the mean log-loss of each on records that were not learned from."""

    ridge: float
    losses: dict[float, float]

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "value": self.ridge,
            "folds": FOLDS,
            "log_loss": [{"ridge": ridge, "value": loss} for ridge, loss in self.losses.items()],
        }


def choose_ridge(training: Comparisons, *, seed: int, n_jobs: int = 1) -> RidgeChoice:
    """Return the ridge under which the pooled reward foretells training records best that it did not learn from.

    Of equally good ridges the larger one is taken; if no record can be held out, the smallest one, untried.
    """
    weighing = np.flatnonzero(training.record_weights > 0)
    if len(weighing) < 2:
        return RidgeChoice(RIDGES[0], {})
    records = training.take(weighing)
    folds = item_folds(records, FOLDS, branch(seed, "folds"))
    parted = [(np.flatnonzero(folds.known(k)), np.flatnonzero(folds.held_out(k))) for k in range(FOLDS)]
    parted = [(others, own) for others, own in parted if len(others) and len(own)]
    total = sum(float(records.record_weights[own].sum()) for _, own in parted)
    if not total:
        return RidgeChoice(RIDGES[0], {})
    losses = run_all([partial(_ridge_losses, records, *sides) for sides in parted], n_jobs, "choosing the ridge")
    means = {ridge: sum(loss[ridge] for loss in losses) / total for ridge in RIDGES}
    return RidgeChoice(min(reversed(RIDGES), key=lambda ridge: means[ridge]), means)


def _ridge_losses(records: Comparisons, others: Codes, own: Codes) -> dict[float, float]:
    """Return ridge to the sum of losses on some records of the pooled reward that learned from others."""
    known, judged = records.take(others), records.take(own)
    models = {ridge: BradleyTerry(ridge=ridge).fit(known) for ridge in RIDGES}
    return {ridge: float(judged.record_weights @ log_loss(model.margins(judged))) for ridge, model in models.items()}


log = logging.getLogger("accordant.preferences")


@dataclass(frozen=True, eq=False)
class Method:
    """A learner to compare.

    Attributes
    ----------
    label
        What its row is called; distinct.
    learner
        With its parameters.
    control
        Whether it is there to be compared with.
    features
        Whether it reads what the encoder made, or the length of texts alone.
    """

    label: str
    learner: PreferenceLearner
    control: bool
    features: Features = "encoder"


@dataclass(frozen=True, eq=False)
class Fitted:
    """A fitted method, or a control that came with it.

    Attributes
    ----------
    method
        What was fitted.
    label
        What its row is called.
    model
        The reward model.
    control_of
        Label of the method that brought this control; None for any other row.
    """

    method: Method
    label: str
    model: RewardModel
    control_of: str | None = None

    @property
    def control(self) -> bool:
        """Whether the row is a control."""
        return self.method.control or self.control_of is not None

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences of the model that a reader must see."""
        return tuple(map(str, getattr(self.model, "warnings", ())))


@dataclass(frozen=True)
class Skipped:
    """A method that was left out, and why."""

    method: str
    reason: str


def choose_methods(
    named: Sequence[str], parameters: str | None, *, everything: bool, texts: bool, ridge: float | None = None
) -> list[Method]:
    """Return controls and methods, the pooled reward first.

    Parameters
    ----------
    named
        ``name`` or ``name[parameter=value,…]``.
    parameters
        A JSON object with the parameters of the one method that is named; None for none.
    everything
        Whether all registered learners take part.
    texts
        Whether the records are texts, so that length alone is a control.
    ridge
        Of learners that have one and are not named with another; None for their own.

    Raises
    ------
    InputError
        If a name or a parameter is unknown, or nothing is asked for.
    """
    if not named and not everything:
        known = allowed_names((POOLED, *learners.names()), "")
        raise InputError(f"no method is named; allowed: --method NAME, or --compare; {known}")
    methods = {label: Method(label, _learner(name, {}, ridge), control=True) for label, name in CONTROLS.items()}
    if texts:
        methods[LENGTH] = Method(LENGTH, learners.create(POOLED_LEARNER), control=True, features="length")
    if parameters is not None and len(named) != 1:
        raise InputError("--parameters belong to one --method; allowed for several: --method 'name[parameter=value]'")
    for text in named:
        method = _method(text, parameters, ridge)
        methods.setdefault(method.label, method)
    if everything:
        for name in learners.names():
            if name != POOLED_LEARNER:
                learner = _learner(name, {}, ridge)
                methods.setdefault(name, Method(name, learner, control=learner.control))
    return sorted(methods.values(), key=lambda method: not method.control)


def labels_of(named: Sequence[str], parameters: str | None) -> tuple[str, ...]:
    """Return the labels of methods that are named, in that order; see `choose_methods`."""
    return tuple(_method(text, parameters).label for text in named)


def fit_methods(
    methods: Sequence[Method], training: Mapping[Features, Comparisons], *, seed: int, n_jobs: int = 1
) -> tuple[list[Fitted], list[Skipped]]:
    """Fit methods, and say which cannot be fitted.

    Parameters
    ----------
    methods
        Each starts from the same state of randomness.
    training
        Records with groups, by what they are described with.
    seed
        Of everything random in training.
    n_jobs
        Processes, over which methods are dealt, the longest first (Graham 1969); see `run_all`.

    Returns
    -------
    tuple
        Rows, a method's own controls behind it, and what was left out.

    Raises
    ------
    InputError
        If the pooled reward cannot be learned.
    """
    log.info("learning: %s", ", ".join(method.label for method in methods))
    for extra in {method.learner.extra for method in methods} - {None}:
        with suppress(ImportError):  # learners say what is missing; forked workers have what is loaded
            import_module(str(extra))
    order = sorted(range(len(methods)), key=lambda position: -methods[position].learner.cost)
    tasks = [partial(_learned, methods[position], training, seed) for position in order]
    models = dict(zip(order, run_all(tasks, n_jobs, "learning rewards"), strict=True))
    fitted, skipped = [], []
    for position, method in enumerate(methods):
        model = models[position]
        if isinstance(model, Skipped):
            skipped.append(model)
            continue
        fitted.append(Fitted(method, method.label, model))
        own: Mapping[str, RewardModel] = getattr(model, "controls", {})
        fitted += [Fitted(method, f"{method.label}: {name}", control, method.label) for name, control in own.items()]
    if not fitted or fitted[0].label != POOLED:
        raise InputError(f"the pooled reward cannot be learned: {skipped[0].reason}")
    return fitted, skipped


def _learned(method: Method, training: Mapping[Features, Comparisons], seed: int) -> RewardModel | Skipped:
    """Return the model of a method, or why it has none."""
    records = training[method.features]
    present = {group for group, n in zip(records.groups or (), records.counts, strict=False) if n}
    if method.learner.needs_groups and len(present) < 2:
        return Skipped(method.label, "it learns from groups, and all users in training are in one group")
    try:
        return method.learner.fit(records, generator=branch(seed, "models"))
    except InputError as error:
        return Skipped(method.label, str(error))


def margins_of(fitted: Fitted, records: Comparisons) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return margins, shape (record,).

    Raises
    ------
    InputError
        If the model gives something else than finite numbers of that shape.
    """
    margins = np.asarray(fitted.model.margins(records), dtype=np.float64)
    if margins.shape != (len(records),) or not np.isfinite(margins).all():
        raise InputError(f"margins have shape {margins.shape} or are not finite; allowed: finite, ({len(records)},)")
    return margins


def _learner(name: str, given: Mapping[str, Any], ridge: float | None) -> PreferenceLearner:
    """Return a learner with the common ridge, if it has one and is not given another."""
    learner = learners.create(name, given)
    if ridge is None or "ridge" in given or "ridge" not in learner.parameters:
        return learner
    return learners.create(name, {**given, "ridge": ridge})


def _method(text: str, parameters: str | None, ridge: float | None = None) -> Method:
    """Return a named method."""
    named = read_named(text, "--method")
    name, given = named.name, dict(named.parameters)
    if name not in learners:
        raise UnknownNameError("method", name, (POOLED, *learners.names()))
    if parameters is not None:
        given |= _json_object(parameters)
    learner = _learner(name, given, ridge)
    if not given:
        label = POOLED if learner.name == POOLED_LEARNER else learner.name
        return Method(label, learner, control=learner.control)
    said = ",".join(f"{key}={value}" for key, value in given.items())
    return Method(f"{learner.name}[{said}]", learner, control=False)


def _json_object(text: str) -> dict[str, Any]:
    try:
        parameters = read_json_value(text)
    except ValueError as error:
        raise InputError(f"--parameters is no JSON: {error}; found {text!r:.60}") from None
    if not isinstance(parameters, dict):
        raise InputError(f"--parameters is {text!r:.60}; allowed: a JSON object")
    return parameters
