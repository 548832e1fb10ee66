"""What ``run.json`` holds of the scrutiny of a run, typed: each part as the room that found it writes it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from accordant.runs.record.board import Board
from accordant.runs.record.choice import ByName, ConflictPart, WeighingPart
from accordant.sections import Figure, Part
from accordant.statistics import Estimate

Status = Literal["exact", "sound"]


class CoalitionPart(Part):
    """What a coalition leaves certified at every radius, and quantiles of the radius of a decision, by their level.

    `never`: the share of decisions that it cannot change, however it misreports.
    """

    members: tuple[str, ...]
    certified: tuple[Figure | None, ...]
    never: Figure | None
    quantiles: dict[str, Figure | Literal["inf"] | None]


class SurveyPart(Part):
    """`accordant.certificates.Survey`.

    `smallest_coalition`: for every radius how many members it takes to change a decision, to the number of decisions.
    """

    rule: str
    exact: bool
    method: str
    box: tuple[Figure, Figure]
    frozen: bool
    contexts: int
    deltas: tuple[Figure, ...]
    coalitions: tuple[CoalitionPart, ...]
    smallest_coalition: tuple[dict[str, int], ...]


class Ends(Part):
    """A quantity that is only known to lie between two values."""

    low: Figure | None
    high: Figure | None


class ManipulabilityPart(Part):
    """What one stakeholder alone could gain: share of contexts, mean gain, and the share in which both are exact."""

    stakeholder: str
    manipulable: Ends
    mean_gain: Ends
    exact: Figure | None


class CandidatePart(Part):
    """What a strategy withstands: shares of decisions certified against everybody, and the worst single stakeholder."""

    strategy: str
    method: str
    exact: bool
    deltas: tuple[Figure, ...]
    everybody: tuple[Figure | None, ...]
    worst_single: tuple[Figure | None, ...]
    manipulable: tuple[ManipulabilityPart, ...]


class ThreatPart(Part):
    """`accordant.certificates.Threat`."""

    delta: Figure
    coalition: tuple[str, ...] | None
    box: tuple[Figure, Figure]
    frozen: bool


class BoundPart(Part):
    """`accordant.certificates.Bounds` of a metric, and what searches for misreports reached; None if they cannot."""

    metric: str
    coalition: tuple[str, ...] | None
    delta: Figure
    searched: dict[str, tuple[Figure | None, Figure | None] | None]
    rule: str
    threat: ThreatPart
    at_most: int | None
    low: Figure | None
    high: Figure | None
    nominal: Figure | None
    status: Status
    low_status: Status
    high_status: Status
    attained_low: Figure | None
    attained_high: Figure | None
    may_be_undefined: bool
    method: str
    tolerance: Figure


class RankingPart(Part):
    """`accordant.certificates.Ranking`: whether `best` stays the best under misreports of a coalition."""

    coalition: tuple[str, ...]
    delta: Figure
    best: str
    strategies: tuple[str, ...]
    threat: ThreatPart
    ranges: Literal["frozen", "live"]
    status: Status
    nominal: tuple[Figure | None, ...]
    low: tuple[Figure | None, ...]
    high: tuple[Figure | None, ...]
    order: tuple[str, ...]
    best_holds: bool
    order_holds: bool


class IndexPart(Part):
    """Stakeholder to its value of an index, and to its share; None where nothing is to be shared."""

    raw: ByName
    share: ByName | None


class EstimatedIndex(IndexPart):
    """An index with its standard errors; None where it is exact."""

    standard_error: ByName | None


class GroupPower(Part):
    """Indices in one group."""

    contexts: int
    shapley: IndexPart
    banzhaf: IndexPart


class PowerPart(Part):
    """`accordant.explanation.influence.Influence`."""

    rule: str
    absence: str
    ties: str
    contexts: int
    moved: Figure
    exact: bool
    samples: int
    players: tuple[str, ...]
    shapley: EstimatedIndex
    banzhaf: EstimatedIndex
    groups: dict[str, GroupPower]


class GroupPivotal(Part):
    """Variation to stakeholder to the share of the contexts of a group in which that one is pivotal."""

    contexts: int
    pivotal: dict[str, dict[str, Figure | None]]


class PivotalPart(Part):
    """`accordant.explanation.influence.Pivotal`; `reasons` say what a variation cannot mean for whom."""

    rule: str
    contexts: int
    pivotal: dict[str, dict[str, Figure | None]]
    reasons: dict[str, dict[str, str]]
    groups: dict[str, GroupPivotal]


class InfluencePart(Part):
    """Who decides, in all contexts and by the groups of some columns."""

    attributes: tuple[str, ...]
    power: PowerPart
    pivotal: PivotalPart


class ConfoundedPart(Part):
    """`accordant.evaluation.sensitivity.ConfoundedInterval`."""

    odds_ratio: Figure
    low: Figure | None
    high: Figure | None
    lowest: Figure | None
    highest: Figure | None


class RuleSensitivityPart(Part):
    """`accordant.evaluation.sensitivity.RuleSensitivity`."""

    strategy: str
    welfare: Figure | None
    intervals: tuple[ConfoundedPart, ...]


class ComparisonSensitivityPart(Part):
    """`accordant.evaluation.sensitivity.ComparisonSensitivity`."""

    strategy: str
    other: str
    against: str
    different: Figure | None
    difference: Figure | None
    intervals: tuple[ConfoundedPart, ...]
    turning_point: Figure | None
    turning_point_with_error: Figure | None


class FeaturePart(Part):
    """The odds ratio that leaving out a column would amount to."""

    column: str
    odds_ratio: Figure | None


class SensitivityPart(Part):
    """`accordant.evaluation.sensitivity.Sensitivity`, with its sentences."""

    n: int
    resamples: int
    level: Figure
    rules: tuple[RuleSensitivityPart, ...]
    comparisons: tuple[ComparisonSensitivityPart, ...]
    features: tuple[FeaturePart, ...]
    observed: tuple[str, ...]
    sentences: tuple[str, ...]


class GainsPart(Part):
    """`accordant.evaluation.stakeholder_gains.StakeholderGains`, with its sentence."""

    strategy: str
    other: str
    different: Figure
    worst_off: str
    gains: dict[str, Estimate]
    n: int
    gainers: tuple[str, ...]
    payers: tuple[str, ...]
    sentence: str


class BudgetPart(Part):
    """An action that goes to more people than a limit allows, or to everybody, and candidates under a budget for it.

    See `accordant.evaluation.logged_budget`.
    """

    winner: str
    action: str
    share: Figure
    declared: bool
    sentence: str
    words: str
    board: Board


class ScrutinyPart(Part):
    """How far decisions and choice can be trusted; each result as the room that found it writes it.

    Attributes
    ----------
    strategy
        The selected one.
    certificates, by_strategy
        Radii of its decisions against every coalition; shares of certified decisions of every candidate,
        or of the selected one alone at a quick look.
    bounds, unbounded
        Of metrics under misreports, and why some have none; None in records that were written without.
    ranking
        Whether the best candidate stays the best under misreports.
    influence
        Who decides, once for every grouping.
    weights, unweighed
        What stands behind the winner, or why there is none.
    conflict
        Pairs of metrics, and prices of parity.
    sensitivity
        What unmeasured confounding could change; None where the rewards of all actions are known.
    gains
        Who gains and who pays against the utilitarian rule; None where that is not listed or was selected, and in
        records that were written without.
    budget
        The same candidates where a favourable action that leads is limited, to a declared share or that of the log;
        None where another line leads, and in records that were written without.
    """

    strategy: str
    certificates: SurveyPart
    by_strategy: tuple[CandidatePart, ...]
    bounds: tuple[BoundPart, ...] | None = None
    unbounded: dict[str, str] = Field(default_factory=dict)
    ranking: tuple[RankingPart, ...] = ()
    influence: tuple[InfluencePart, ...]
    weights: WeighingPart | None
    unweighed: str = ""
    conflict: ConflictPart
    sensitivity: SensitivityPart | None = None
    gains: GainsPart | None = None
    budget: BudgetPart | None = None
