"""What a user may say about a comparison of learners, and its result: typed, and as JSON."""

from __future__ import annotations

import shlex
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, Literal

from accordant.preferences.comparison.conclusions import Answer
from accordant.preferences.comparison.measurements import Units
from accordant.preferences.comparison.methods import Skipped
from accordant.preferences.comparison.sources import SourceOptions
from accordant.preferences.measures.intervals import RESAMPLES
from accordant.preferences.measures.pareto import TOLERANCE, Power, Verdict
from accordant.sections import Number, Part, Section, sections
from accordant.terminal import arguments

TIME = "time"  # the column of times, unless another is named
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
    agreement
        Whether to measure what methods do with responses that agree with false stances, and how much of the loss no
        single reward can remove.
    over_time, time
        Whether to watch for changes of preferences, and the column of the times.
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
    agreement: bool = False
    over_time: bool = False
    time: str = TIME


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


class MethodAgreementResult(Part):
    """`accordant.preferences.comparison.agreement.MethodAgreement`."""

    method: str
    tilt: DifferenceResult
    drift: DifferenceResult
    positive: float
    against_pooled: DifferenceResult | None


class EchoResult(Part):
    """`accordant.preferences.comparison.agreement.Echo`."""

    by: str
    opposing: DifferenceResult
    separation: Number


class DisagreementResult(Part):
    """`accordant.preferences.measures.Disagreement`, and the method whose loss is `own`."""

    method: str | None
    n_pairs: int
    n_labels: int
    excluded: int
    floor: DifferenceResult
    plug_in: float
    two_differ: DifferenceResult
    single: DifferenceResult | None
    own: DifferenceResult | None
    above_floor: DifferenceResult | None
    below_floor: DifferenceResult | None
    level: float


class AgreementResult(Part):
    """What methods do with responses that agree with false stances of users, on records that nobody learned from.

    `disagreement` is None where no two users compared the same pair; `echo` is empty where there are no two groups.
    """

    records: int
    users: int
    pairs: int
    undecided: int
    chosen: DifferenceResult
    strength: float
    methods: tuple[MethodAgreementResult, ...]
    echo: tuple[EchoResult, ...]
    disagreement: DisagreementResult | None
    sentences: tuple[str, ...]


class StreamWatchResult(Part):
    """`accordant.preferences.comparison.over_time.StreamWatch`; `when` is the time as the file writes it."""

    name: str
    records: int
    evidence: float
    alarm: int | None
    time: Number
    when: str


class OverTimeResult(Part):
    """`accordant.preferences.comparison.over_time.OverTime`, and what it says in sentences."""

    kind: Literal["records", "ratings"]
    null: str
    alpha: float
    start: float
    since: str
    before: int
    watched: int
    groups: tuple[StreamWatchResult, ...]
    users: tuple[StreamWatchResult, ...]
    able: int
    learning: dict[str, DifferenceResult]
    sentences: tuple[str, ...]


PARTS = ("agreement", "over_time")  # of the result, where they were asked for


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
    agreement: AgreementResult | None = None
    over_time: OverTimeResult | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the section as JSON values, without parts that nobody asked for."""
        content = super().to_json()
        asked = {name for name in PARTS if content[name] is not None}
        idle = {name for name in PARTS if name not in asked} | ({"time"} if "over_time" not in asked else set())
        options = {name: value for name, value in content["options"].items() if name not in idle}
        return {name: value for name, value in content.items() if name not in idle} | {"options": options}

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
        parts += arguments(options, PreferenceOptions, ("resamples", "tolerance", "gain", "time"))
        parts += [f"--{name.replace('_', '-')}" for name in PARTS if options[name]]
        return shlex.join([*parts, "--seed", str(self.seed)])
