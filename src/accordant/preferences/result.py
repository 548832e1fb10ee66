"""What a user may say about a comparison of learners, and its result: typed, and as JSON."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from accordant import __version__
from accordant.json_values import json_value
from accordant.preferences.comparison.conclusions import Answer
from accordant.preferences.comparison.measurements import Measured, Units
from accordant.preferences.comparison.methods import POOLED, Fitted, RidgeChoice, Skipped
from accordant.preferences.comparison.record_split import Split
from accordant.preferences.comparison.sources import Source, SourceOptions
from accordant.preferences.groups import Groups
from accordant.preferences.measures import PerUser
from accordant.preferences.measures.intervals import LEVEL, RESAMPLES
from accordant.preferences.measures.pareto import TOLERANCE, Power, Verdict
from accordant.sections import Number, Section, sections
from accordant.terminal import arguments

FORMAT = 2  # of the JSON that a page is made from


@dataclass(frozen=True)
class PreferenceOptions:
    """What is compared, and how.

    Parameters
    ----------
    methods
        ``name`` or ``name[parameter=value,…]``.
    parameters
        JSON object with the parameters of the one method that is named; None for none.
    compare
        Whether all registered learners take part.
    encoder
        Registered name of the encoder of texts.
    test
        Share of each user's records to judge by.
    new_users, first
        Share of users to hold out whole, and by how many records each of them is known.
    seed
        Of everything random.
    resamples
        Of users, at least 40.
    source
        How the file is read.
    tolerance
        Accuracy that a group may lose where another one gains; at least 0, below 1.
    gain
        Smallest gain of the minority's accuracy that is worth having, for the power of the verdict; None for the gain
        that is seen.
    """

    methods: tuple[str, ...] = ()
    parameters: str | None = None
    compare: bool = False
    encoder: str = "tf-idf"
    test: float = 0.3
    new_users: float = 0.0
    first: int = 8
    seed: int = 42
    resamples: int = RESAMPLES
    source: SourceOptions = field(default_factory=SourceOptions)
    tolerance: float = TOLERANCE
    gain: float | None = None


class Part(BaseModel):
    """A part of the result: immutable, and nothing unknown in it."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class MetricResult(Part):
    """A metric with its interval, and the number of users behind it."""

    value: Number
    low: Number
    high: Number
    n: int


class DifferenceResult(Part):
    """A difference of a metric to another method's, as `Estimate`."""

    value: Number
    low: Number
    high: Number
    level: Number = None
    n: int | float | None = None
    undefined: Number = None
    reason: str = ""


Differences = dict[str, DifferenceResult | None]


class GroupChangeResult(Part):
    """`accordant.preferences.measures.GroupChange`; None where nothing is known, or there is no bound."""

    group: str
    n_users: int
    reference: Number
    candidate: Number
    difference: Number
    low: Number
    high: Number
    p_gain: Number
    p_loss: Number
    remark: str


class ParetoResult(Part):
    """`accordant.preferences.measures.ParetoTest`."""

    verdict: Verdict
    reason: str
    groups: tuple[GroupChangeResult, ...]
    power: Power
    p_shown: float
    p_contradicted: float
    tolerance: float
    level: float
    together: int
    resamples: int


class ControlResult(Part):
    """By how much a method differs from a control, over all and group by group."""

    control: str
    differences: Differences


class NewUsersResult(Part):
    """What a method achieves for users whom it knows by their first records alone, and less the pooled reward."""

    metrics: dict[str, MetricResult]
    differences: Differences | None


class MethodResult(Part):
    """One method, or a control; `differences` and `pareto` are those to the pooled reward."""

    method: str
    learner: str
    parameters: dict[str, Any]
    features: str
    control: bool
    control_of: str | None
    metrics: dict[str, MetricResult]
    differences: Differences | None
    pareto: ParetoResult | None
    against_controls: tuple[ControlResult, ...]
    new_users: NewUsersResult | None
    warnings: tuple[str, ...]


class GroupsResult(Part):
    """How groups and support were found, numbers of users, and who is the majority."""

    found: str
    declared: bool
    sizes: dict[str, int]
    unknown: int
    majority: str
    minority: str
    support: str
    warnings: tuple[str, ...]


class SplitResult(Part):
    """Numbers of records and users by what they are for."""

    by: Literal["time", "random"]
    within_users: bool
    test_share: float
    training_records: int
    test_records: int
    users_in_training_only: int
    test_pairs_seen_in_training: float
    first_records_of_new_users: int
    later_records_of_new_users: int
    unused_records_of_new_users: int
    between: int
    new_users: int
    seed: int


class EncoderResult(Part):
    """What items are described by, and from what that was learned."""

    name: str
    fitted_on: str
    features: int
    scale: str


class RidgeResult(Part):
    """The ridge of all learners, and the held-out loss of each that was tried."""

    value: float
    folds: int
    log_loss: tuple[dict[str, float], ...]


class IntervalsResult(Part):
    """Coverage and resamples of intervals, and what is resampled."""

    level: float
    resamples: int
    over: Units


class ExcludedResult(Part):
    """How many users are not measured, and why."""

    users: int
    reason: str


class UsersResult(Part):
    """Every measured user: name, group and support rate (None where unknown), records, accuracy by method."""

    users: tuple[str, ...]
    group: tuple[str | None, ...]
    support: tuple[Number, ...]
    records: tuple[int, ...]
    accuracy: dict[str, tuple[float, ...]]


@sections.register("preferences")
class LearnerComparison(Section):
    """A comparison of learners: what ``accordant preferences --json`` prints and the page reads."""

    name: ClassVar[str] = "preferences"
    version: ClassVar[int] = FORMAT

    accordant: str
    result: int
    file: str
    file_name: str
    format: str
    seed: int
    records: int
    users: int
    groups: GroupsResult
    split: SplitResult
    encoder: EncoderResult
    ridge: RidgeResult
    intervals: IntervalsResult
    declared: tuple[str, ...]
    terms: str
    answer: Answer
    methods: tuple[MethodResult, ...]
    skipped: tuple[Skipped, ...]
    excluded: tuple[ExcludedResult, ...]
    per_user: UsersResult | None
    options: PreferenceOptions
    warnings: tuple[str, ...]

    def command_line(self) -> str:
        """Return the command that made the result, in shell quoting; what is as usual is left out, but not the seed."""
        options = asdict(self.options)
        source = options["source"]
        styles = ",".join(source["styles"]) if source["styles"] else None
        parts = ["accordant", "preferences", self.file]
        parts += [part for method in options["methods"] for part in ("--method", method)]
        parts += ["--parameters", options["parameters"]] if options["parameters"] else []
        parts += ["--compare"] if options["compare"] else []
        parts += arguments(source, SourceOptions, ("format",))
        parts += [part for column in source["ignore"] for part in ("--ignore", column)]
        parts += arguments(options, PreferenceOptions, ("encoder", "test", "new_users", "first"))
        parts += arguments(source | {"styles": styles}, SourceOptions, ("minority", "users", "records", "styles"))
        parts += arguments(options, PreferenceOptions, ("resamples", "tolerance", "gain"))
        return shlex.join([*parts, "--seed", str(self.seed)])


@dataclass(frozen=True, eq=False)
class Judged:
    """What methods achieve for some users.

    Attributes
    ----------
    users
        Method to what it achieves for each user.
    groups, support
        Position of the group and support rate of each of these users; -1 and NaN where unknown.
    measured
        Metrics and tests.
    """

    users: Mapping[str, PerUser]
    groups: NDArray[np.intp]
    support: NDArray[np.float64]
    measured: Measured


@dataclass(frozen=True, eq=False)
class Preferred:
    """A finished comparison.

    Attributes
    ----------
    path
        File that was read.
    options
        As given.
    source, split, groups
        Its records, which are for what, and who is in which group.
    ridge
        The ridge of all learners, and how it was chosen.
    n_features
        Features of the items as learners saw them.
    rows, skipped
        Methods, the pooled reward first, and those left out.
    judged, fresh
        What the methods achieve for the users of training, and for new users (None without any).
    answer
        What is said first.
    warnings
        Sentences that a reader must see.
    """

    path: str
    options: PreferenceOptions
    source: Source
    split: Split
    groups: Groups
    ridge: RidgeChoice
    n_features: int
    rows: tuple[Fitted, ...]
    skipped: tuple[Skipped, ...]
    judged: Judged
    fresh: Judged | None
    answer: Answer
    warnings: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return plain values; what is not defined is None."""
        return self.section.to_json()

    @cached_property
    def section(self) -> LearnerComparison:
        """The result as the page reads it."""
        options, source = self.options, self.source
        texts = source.texts is not None
        return LearnerComparison.read({
            "accordant": __version__,
            "result": FORMAT,
            "file": self.path,
            "file_name": source.name,
            "format": source.kind,
            "seed": options.seed,
            "records": len(source),
            "users": len(source.user_names),
            "groups": self.groups.to_json(),
            "split": {**self.split.to_json(), "new_users": self._n_new, "seed": options.seed},
            "encoder": {
                "name": options.encoder if texts else "the features of the file",
                "fitted_on": "texts of training records" if texts else "nothing",
                "features": self.n_features,
                "scale": "one for all features" if texts else "one for each feature",
            },
            "ridge": self.ridge.to_json(),
            "intervals": {"level": LEVEL, "resamples": options.resamples, "over": self.judged.measured.units},
            "declared": source.declared,
            "terms": source.terms,
            "answer": self.answer,
            "methods": [self._row(row) for row in self.rows],
            "skipped": self.skipped,
            "excluded": self._excluded(),
            "per_user": _by_user(self.judged, self.groups),
            "options": options,
            "warnings": self.warnings,
        })  # fmt: skip

    @property
    def _n_new(self) -> int:
        """Number of users who took no part in training."""
        return len(np.unique(self.source.users[self.split.later]))

    def _row(self, row: Fitted) -> dict[str, Any]:
        """Return one method."""
        measured, label = self.judged.measured, row.label
        test = measured.pareto.get(label)
        return {
            "method": label,
            "learner": row.method.learner.name,
            "parameters": row.method.learner.parameters,
            "features": "length" if row.method.features == "length" else "encoder",
            "control": row.control,
            "control_of": row.control_of,
            "metrics": _metrics(measured, label),
            "differences": None if label == POOLED else _differences(measured, label, POOLED),
            "pareto": None if test is None else test.to_json(),
            "against_controls": self._against(row),
            "new_users": None if self.fresh is None else {
                "metrics": _metrics(self.fresh.measured, label),
                "differences": None if label == POOLED else _differences(self.fresh.measured, label, POOLED),
            },
            "warnings": list(row.warnings),
        }  # fmt: skip

    def _against(self, row: Fitted) -> list[dict[str, Any]]:
        """Return by how much a method differs from each control, group by group."""
        if row.control:
            return []
        names = ["accuracy", *(f"accuracy[{name}]" for name in self.groups.names)]
        controls = [each.label for each in self.rows if each.control and each.control_of in (None, row.label)]
        measured = self.judged.measured
        return [
            {"control": control, "differences": {
                name: None if (found := measured.difference(row.label, control, name)) is None else found.to_json()
                for name in names
            }}
            for control in controls if control != POOLED
        ]  # fmt: skip

    def _excluded(self) -> list[dict[str, Any]]:
        """Return how many users are not measured, by reason."""
        reasons = list(self.judged.users[POOLED].excluded.values())
        found = [{"users": reasons.count(each), "reason": each} for each in dict.fromkeys(reasons)]
        if self.judged.measured.units == "records":
            return []
        words = {"no records": "no record to judge by: too few different pairs, or held out as new users"}
        return [{**each, "reason": words.get(str(each["reason"]), each["reason"])} for each in found]


def _metrics(measured: Measured, label: str) -> dict[str, Any]:
    return {name: metric.to_json() for name, metric in measured.metrics[label].items()}


def _differences(measured: Measured, label: str, other: str) -> dict[str, Any]:
    """Return the difference of every metric to another method's, on the same resamples."""
    found = {name: measured.difference(label, other, name) for name in measured.metrics[label]}
    return {name: None if each is None else each.to_json() for name, each in found.items()}


def _by_user(judged: Judged, groups: Groups) -> dict[str, Any] | None:
    """Return what pictures show: every user's accuracy, records, group and support."""
    if judged.measured.units == "records":
        return None
    first = judged.users[POOLED]
    return {
        "users": list(first.names),
        "group": [None if code < 0 else groups.names[code] for code in judged.groups],
        "support": json_value(judged.support),
        "records": first.counts.tolist(),
        "accuracy": {label: each.accuracy.tolist() for label, each in judged.users.items()},
    }
