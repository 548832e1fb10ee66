"""What ``run.json`` holds of the choice of a strategy, typed: conflicts of metrics, and weights behind the winner."""

from __future__ import annotations

from typing import Literal

from accordant.sections import Figure, Part

ByName = dict[str, Figure]


class ChangePart(Part):
    """A difference with its interval."""

    value: Figure | None
    low: Figure | None
    high: Figure | None


Pair = tuple[Figure | None, Figure | None]


class PointPart(Part):
    """`accordant.evaluation.conflict.Point`."""

    name: str
    kind: str
    values: Pair
    parts: ByName


class GroundsPart(Part):
    """`accordant.evaluation.conflict.Grounds`, but for what stands beside them."""

    differs: bool
    relation: str
    single: bool
    single_share: Figure | None
    apart: bool | None
    improved: bool
    lottery: bool


class ImprovementPart(Part):
    """`accordant.evaluation.conflict.Improvement`."""

    over: str
    by: PointPart
    gains: tuple[ChangePart, ChangePart]
    confirmed: bool
    beyond: ChangePart | None
    missing: bool
    compromise: bool


class ConcessionsPart(Part):
    """`accordant.evaluation.conflict.Concessions`."""

    strategies: Figure | None
    mixtures: Figure | None
    rules: Figure | None
    hindsight: Pair | None
    hindsight_interval: Pair | None


class CorrelationPart(Part):
    """Rank correlation of two metrics over the candidates, and over everything tried."""

    candidates: Figure | None
    everything: Figure | None


class PairPart(Part):
    """`accordant.evaluation.conflict.PairConflict`."""

    metrics: tuple[str, str]
    goals: tuple[str, str]
    verdict: str
    grounds: GroundsPart
    best: tuple[str, str] | None
    costs: tuple[ChangePart, ChangePart] | None
    kendall: CorrelationPart
    front: tuple[PointPart, ...]
    mixture_front: tuple[PointPart, ...]
    rule_front: tuple[PointPart, ...]
    hindsight_front: tuple[Pair, ...] | None
    linear: tuple[bool, bool]
    concessions: ConcessionsPart | None
    improvements: tuple[ImprovementPart, ...]
    reasons: tuple[str, ...]


class PricePointPart(Part):
    """`accordant.evaluation.conflict.PricePoint`."""

    within: Figure | None
    values: dict[str, Figure | None]
    change: dict[str, ChangePart]
    rewards: ByName
    score_lost: Figure | None
    hopeless: Figure | None
    changed: Figure | None
    reason: str


class PricePart(Part):
    """`accordant.evaluation.conflict.ParityPrice`."""

    metric: str
    rule: str
    attribute: str
    same: bool
    reason: str
    points: tuple[PricePointPart, ...]


class ConflictPart(Part):
    """`accordant.evaluation.conflict.Conflicts`, with all verdicts that there are."""

    pairs: tuple[PairPart, ...]
    prices: tuple[PricePart, ...]
    n: int
    resamples: int
    level: Figure
    tried: dict[str, int]
    verdicts: tuple[str, ...]


class ShiftPart(Part):
    """`accordant.evaluation.weighting.weight_sensitivity.Shift`, weights and their changes by metric."""

    rival: str
    tied_with: tuple[str, ...]
    share_moved: Figure
    weights: ByName
    change: ByName
    distance: Figure
    wins_from: Figure | None


class WeightSensitivityPart(Part):
    """`accordant.evaluation.weighting.WeightSensitivity`, with the nearest of its shifts; None if there is none."""

    winner: str
    tied_with: tuple[str, ...]
    level_with: tuple[str, ...]
    nearest: ShiftPart | None
    shifts: tuple[ShiftPart, ...]
    cannot: tuple[str, ...]


class InequalityPart(Part):
    """`accordant.evaluation.weighting.Inequality`."""

    rival: str
    coefficients: tuple[Figure, ...]


class RegionPart(Part):
    """`accordant.evaluation.weighting.Region`."""

    strategy: str
    tied_with: tuple[str, ...]
    status: Literal["wins", "border", "never"]
    share: Figure
    low: Figure
    high: Figure
    dominated_by: str | None
    inequalities: tuple[InequalityPart, ...]
    neighbours: tuple[str, ...] | None
    corners: tuple[tuple[Figure, ...], ...] | None


class RegionsPart(Part):
    """`accordant.evaluation.weighting.WeightRegions`."""

    metrics: tuple[str, ...]
    weights: tuple[Figure, ...]
    winners: tuple[str, ...]
    method: Literal["exact", "sampled"]
    draws: int
    level: Figure
    regions: tuple[RegionPart, ...]
    left_out: dict[str, str]


class SurvivalPart(Part):
    """`accordant.evaluation.weighting.weight_sensitivity.Survival`."""

    strategy: str
    share: Figure
    low: Figure
    high: Figure
    unranked: Figure


class SamplingErrorPart(Part):
    """`accordant.evaluation.weighting.weight_sensitivity.SamplingError`."""

    strategies: tuple[SurvivalPart, ...]
    resamples: int
    draws: int
    level: Figure


class NormalisationPart(Part):
    """`accordant.evaluation.weighting.choices.UnderNormalisation`."""

    normalisation: str
    winners: tuple[str, ...]
    order: tuple[str, ...]
    lead: Figure | None


class WithoutPart(Part):
    """`accordant.evaluation.weighting.choices.Without`."""

    removed: tuple[str, ...]
    winners: tuple[str, ...]
    changed: bool


class ReversalPart(Part):
    """`accordant.evaluation.weighting.choices.OrderReversal`."""

    ahead: str
    behind: str
    removed: str
    lead_before: Figure
    lead_after: Figure


class ChoicesPart(Part):
    """`accordant.evaluation.weighting.OtherChoices`."""

    normalisation: str
    normalisations: tuple[NormalisationPart, ...]
    without: tuple[WithoutPart, ...]
    reversals: tuple[ReversalPart, ...]
    pairs: int
    baseline_subsets: int
    baseline_changes: int
    smallest_change: WithoutPart | None
    without_baselines: WithoutPart | None


class WeighingPart(Part):
    """`accordant.evaluation.weighting.Weighing`."""

    regions: RegionsPart
    borders: WeightSensitivityPart
    sampling_error: SamplingErrorPart | None
    choices: ChoicesPart | None
