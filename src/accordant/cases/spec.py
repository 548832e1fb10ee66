"""A case: one YAML file that declares a decision problem, its data, rewards, learning, metrics and scope."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, Self

from pydantic import (
    Field,
    SerializationInfo,
    SerializeAsAny,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

from accordant.cases.data_spec import DataSpec, SimulatorSpec
from accordant.cases.parts import CasePart, case_parts
from accordant.cases.preference_sources import PreferenceSource, at_key, preference_sources
from accordant.declaration import WEIGHT_TOLERANCE, Declared, PathName
from accordant.errors import InputError, SpecError, UnknownNameError, allowed_names
from accordant.explanation.labels import Labels
from accordant.explanation.recourse import Changeable
from accordant.languages import language
from accordant.problem import DecisionProblem
from accordant.rewards import ObservedReward, RewardSignal
from accordant.scope import ScopeCard

LATER = ("person_concerned", "changeable", "labels")
"""Keys that a case leaves out where it declares none: a run of an earlier version reads the others."""


class ModelSpec(Declared):
    """A model by name, with parameters and a grid to search.

    Attributes
    ----------
    name
        ``auto``, or the class name of a scikit-learn estimator, or (continuous outcomes) a registered learner.
    regressor
        Base regressor of a learner for continuous outcomes.
    parameters
        Parameters of the estimator.
    grid
        Parameter to the values to search.
    """

    name: str = "auto"
    regressor: str | None = None
    parameters: dict[str, Any] = Field(default_factory=dict)
    grid: dict[str, list[Any]] = Field(default_factory=dict)


class LearningSpec(Declared):
    """How f and the reward models are learned.

    Attributes
    ----------
    outcome_model, reward_model
        See `ModelSpec`. A reward model called ``stated`` uses stated rewards as they are.
    shared_rewards
        One multi-output regressor for all stakeholders instead of one each.
    augmentation
        Ask stakeholders about every action under the observed outcome (``actions``), or about every
        action and outcome (``actions_and_outcomes``).
    integration, nodes
        How continuous outcomes are integrated over, and with how many nodes.
    calibrated
        Whether a named classifier is calibrated; the automatic choice decides by itself.
    folds, stratified
        Cross-validation on the training part.
    """

    outcome_model: ModelSpec = Field(default_factory=ModelSpec)
    reward_model: ModelSpec = Field(default_factory=ModelSpec)
    shared_rewards: bool = False
    augmentation: Literal["actions", "actions_and_outcomes"] = "actions_and_outcomes"
    integration: Literal["empirical", "gauss_hermite", "plug_in"] = "empirical"
    nodes: int = Field(default=20, ge=1, le=200)
    calibrated: bool = True
    folds: int = Field(default=5, ge=3)
    stratified: bool = True


class StrategySpec(Declared):
    """A registered strategy and its parameters."""

    name: str
    parameters: dict[str, Any] = Field(default_factory=dict)


class MetricSpec(Declared):
    """A registered metric, its parameters, and its weight in the composite score.

    Attributes
    ----------
    metric, parameters
        Which one.
    weight
        At least 0; weights sum to 1.
    range
        Smallest and largest value that the ``natural`` scale reckons with, for a total per context; None takes the
        metric's own.
    """

    metric: str
    weight: float = Field(default=0.0, ge=0, le=1)
    parameters: dict[str, Any] = Field(default_factory=dict)
    range: tuple[float, float] | None = None

    @model_validator(mode="after")
    def _check_range(self) -> Self:
        if self.range is not None and not self.range[0] < self.range[1]:
            raise InputError(f"range of {self.metric!r} is {list(self.range)}; allowed: low below high")
        return self


class EvaluationSpec(Declared):
    """How strategies are scored and reported.

    Attributes
    ----------
    test_size
        Share of rows kept untouched for the report, divided by `accordant.split.split_rows`: drawn at random (of
        groups, if ``data.group`` is there), or the latest, if ``data.time`` is.
    resamples, level
        Bootstrap resamples and confidence level of every interval.
    normalisation
        ``natural``: every metric on its own or its declared range; ``relative``: between the worst and the best
        candidate, as in Definition 11 of the paper; ``reference``: as the published code does it.
    """

    test_size: float = Field(default=0.2, gt=0, lt=1)
    resamples: int = Field(default=1000, ge=100, le=100_000)
    level: float = Field(default=0.95, gt=0.5, lt=1)
    normalisation: Literal["natural", "relative", "reference"] = "natural"


class GroupSpec(Declared):
    """How a stakeholder whose reward is learned from people's comparisons is split into the groups that they form.

    Attributes
    ----------
    by
        ``types``: the types that people's answers fall into, as many as predict other people best; ``group_id``: the
        groups that the file of answers names.
    most
        The most groups, 2 to 8.
    least
        The fewest people of a group, at least 2.
    weight
        Whether groups divide the stakeholder's weight by their ``size``, or into ``equal`` parts.
    """

    by: Literal["types", "group_id"] = "types"
    most: int = Field(default=4, ge=2, le=8)
    least: int = Field(default=5, ge=2)
    weight: Literal["size", "equal"] = "size"


class CaseSpec(Declared):
    """Everything a run needs, as declared in one YAML file.

    Attributes
    ----------
    person_concerned
        The stakeholder who is the person that a decision is about: letters say "you" to it.
    changeable
        Feature to how the person could change it: ``up``, ``down``, ``either``, or the keys of
        `accordant.explanation.Changeable`. Explanations look for changes of these features only.
    labels
        Language to what things are called in letters, see `accordant.explanation.Labels`.

    Raises
    ------
    SpecError
        If a key is unknown (the nearest valid one is named), missing or wrong.
    """

    name: PathName
    title: str
    description: str = ""
    problem: DecisionProblem
    data: DataSpec
    simulator: SimulatorSpec | None = None
    rewards: dict[str, Any]
    groups: dict[str, GroupSpec] = Field(default_factory=dict)
    learning: LearningSpec = Field(default_factory=LearningSpec)
    strategies: tuple[StrategySpec, ...] = ()
    metrics: dict[str, MetricSpec]
    evaluation: EvaluationSpec = Field(default_factory=EvaluationSpec)
    scope: ScopeCard | None = None
    notes: tuple[str, ...] = ()
    person_concerned: str | None = None
    changeable: dict[str, Changeable] = Field(default_factory=dict)
    labels: dict[str, Labels] = Field(default_factory=dict)
    parts: dict[str, SerializeAsAny[Declared]] = Field(default_factory=dict)

    @classmethod
    def valid_keys(cls) -> Iterable[str]:
        """Return the valid keys: parts of wings have keys of their own."""
        return [*(name for name in cls.model_fields if name != "parts"), *case_parts]

    @model_validator(mode="before")
    @classmethod
    def _read_parts(cls, values: dict[str, Any]) -> dict[str, Any]:
        if "parts" in values:
            raise InputError(f"unknown key 'parts'; {allowed_names(cls.valid_keys(), 'parts')}")
        declared = {key: value for key, value in values.items() if key not in cls.model_fields and key in case_parts}
        given = {key: value for key, value in sorted(declared.items()) if value is not None}
        parts = {key: _part(key, case_parts.create(key), value) for key, value in given.items()}
        return {name: value for name, value in values.items() if name not in declared} | {"parts": parts}

    @model_serializer(mode="wrap")
    def _with_keys_of_parts(self, serialise: SerializerFunctionWrapHandler, info: SerializationInfo) -> dict[str, Any]:
        """Write each declared part under its own key; those of others would make the case unreadable elsewhere."""
        content: dict[str, Any] = serialise(self)
        content = {key: value for key, value in content.items() if value or key not in LATER}
        left_out = info.exclude or ()
        return content | {key: part for key, part in content.pop("parts", {}).items() if key not in left_out}

    def replace(self, **changes: Any) -> Self:
        """Return a validated copy with some fields or parts changed; None takes a part away."""
        kept = {name: getattr(self, name) for name in type(self).model_fields if name != "parts"} | self.parts
        return type(self)(**(kept | changes))

    @model_validator(mode="after")
    def _check_metrics_and_rewards(self) -> Self:
        total = sum(metric.weight for metric in self.metrics.values())
        if abs(total - 1) > WEIGHT_TOLERANCE:
            raise SpecError(
                f"metric weights sum to {total:g}; they divide one whole and must sum to 1", path=("metrics",)
            )
        if self.data.true_levels and set(self.data.true_levels) != set(self.problem.actions):
            raise SpecError(
                f"data.true_levels names {', '.join(self.data.true_levels)}; it needs a column for each of the actions "
                f"{', '.join(self.problem.actions)}",
                path=("data", "true_levels"),
            )
        for name, signal in self.signals().items():
            if isinstance(signal, ObservedReward) and signal.column in self.data.confounders:
                raise SpecError(
                    f"the column {signal.column!r} cannot be a confounder: it is the reward of {name!r}",
                    path=("data", "confounders"),
                )
        for name in self.groups:
            with at_key("groups", name):
                if name not in self.problem.stakeholder_names:
                    raise UnknownNameError("stakeholder in groups:", name, self.problem.stakeholder_names)
        with at_key("data", "unusual"):
            self.data.unusual.check(self.problem.actions)
        self._check_explained()
        return self

    def _check_explained(self) -> None:
        """Check what explanations read: names must be declared, but a stakeholder may be split into groups."""
        names = self.problem.stakeholder_names

        def check(kind: str, given: Iterable[str], known: Sequence[str]) -> None:
            """Refuse names that are not declared; a stakeholder may be one of those that its groups become."""
            for name in given:
                if name not in known and not (
                    kind == "stakeholder" and any(stakeholder.startswith(f"{name} (") for stakeholder in names)
                ):
                    raise UnknownNameError(f"{kind} in labels:", name, known)

        if self.person_concerned is not None:
            with at_key("person_concerned"):
                check("stakeholder", [self.person_concerned], names)
        for name in self.changeable:
            with at_key("changeable", name):
                if name not in self.data.features:
                    raise UnknownNameError("feature in changeable:", name, tuple(self.data.features))
        for code, labels in self.labels.items():
            with at_key("labels", code):
                language(code)
                check("action", labels.actions, self.problem.actions)
                check("stakeholder", labels.stakeholders, names)
                if not self.problem.continuous:
                    check("outcome", labels.outcomes, self.problem.outcome_names)
                check("column", (*labels.columns, *labels.values), tuple(self.data.features))

    def sources(self) -> dict[str, PreferenceSource]:
        """Build the preference source of every stakeholder, see `accordant.cases.preference_sources`."""
        return preference_sources(self.rewards, self.problem)

    def signals(self) -> dict[str, RewardSignal]:
        """Build the reward signal of every stakeholder."""
        return {name: source.signal for name, source in self.sources().items()}


def _part(key: str, part: CasePart, declared: Any) -> Declared:
    """Return what stands under the key of a part."""
    if isinstance(declared, part.declared):
        return declared
    if not isinstance(declared, Mapping):
        raise InputError(f"{key}: must hold keys and values; found {type(declared).__name__}")
    try:
        return part.declared(**declared)
    except SpecError as error:
        raise SpecError(f"{key}: {error.detail}", path=(key, *error.path)) from None
