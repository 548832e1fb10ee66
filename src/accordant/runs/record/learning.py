"""What ``run.json`` holds of learning, typed: quality of f and q_i, overlap, searches, unusual rows, grids."""

from __future__ import annotations

from typing import Any, Literal

from accordant.sections import Figure, Part

Json = dict[str, Any]


class Measure(Part):
    """How good the outcome model is; see `accordant.evaluation.outcome_quality.Measure`."""

    name: str
    value: Figure | None
    standard_error: Figure | None
    note: str


class ProxyCheck(Part):
    """How well features tell an attribute; see `accordant.learning.diagnostics.ProxyCheck`."""

    attribute: str
    is_feature: bool
    balanced_accuracy: Figure | None
    chance: float


class Overlap(Part):
    """One entry per action; see `accordant.learning.causal.OverlapDiagnostics`."""

    counts: tuple[int, ...]
    lowest: tuple[float, ...]
    highest: tuple[float, ...]
    clipped_shares: tuple[float, ...]
    effective_sample_sizes: tuple[float, ...]
    clip: float


class RewardError(Part):
    """Error of a learned reward; see `accordant.learning.reward_learning.CellError`."""

    stakeholder: str
    action: str
    outcome: str | None
    mean_absolute_error: float
    n: int


class OutcomeModelPart(Part):
    """What f is, and how good it is on test rows."""

    name: str
    quality: tuple[Measure, ...]


class SearchPoint(Part):
    """Parameters that were tried, and their mean loss."""

    parameters: Json
    loss: Figure | None


class SearchPart(Part):
    """A search over a grid."""

    points: tuple[SearchPoint, ...]
    best: Json


class LearningPart(Part):
    """What was learned, and how."""

    action_aware: bool
    action_counts: dict[str, int]
    proxies: tuple[ProxyCheck, ...] = ()
    overlap: Overlap | None = None
    searches: dict[str, SearchPart]
    reward_errors: tuple[RewardError, ...]
    effort: str = "standard"


class UnusualPart(Part):
    """How many untouched rows are unlike the training rows; see `accordant.unusual.UnusualCounts`."""

    rows: int
    unusual: int
    kinds: dict[str, int]
    referred: int
    fall_back: int


class ErrorPart(Part):
    """Mean error of a promise on untouched rows; see `accordant.evaluation.promise_errors.PromiseErrors`.

    Attributes
    ----------
    kind, name, part
        What the error is about.
    attribute, group
        Of whom; empty for all rows.
    least, most
        What no error is below, or above.
    n, mean
        Independent rows, and their mean error.
    limits
        Low and high limit of the mean, for each of the `PromisePart.alphas`.
    """

    kind: Literal["calibration", "reward"]
    name: str
    part: str
    attribute: str
    group: str
    least: float
    most: float
    n: int
    mean: float
    limits: tuple[tuple[float, float], ...]


class PromisePart(Part):
    """What untouched rows promise whoever uses the run; see `accordant.runs.record.promise`.

    Attributes
    ----------
    actions
        Action to how often D* takes it.
    alphas
        With what probabilities limits of errors leave out the mean, falling.
    errors
        How far f and E were off.
    """

    actions: dict[str, int]
    alphas: tuple[float, ...]
    errors: tuple[ErrorPart, ...]


class ResolutionGain(Part):
    """What a stakeholder would gain between points; see `accordant.learning.grid_resolution.ResolutionGain`."""

    stakeholder: str
    mean: Figure | None
    largest: Figure | None


class GridPart(Part):
    """A continuous action by its grid.

    Attributes
    ----------
    unit
        Unit of all values.
    points
        Action to its value.
    moved_share, mean_distance, largest_distance
        Logged actions of the training rows that are no points: `accordant.learning.grid_resolution.MovedValues`.
    n, gains, better_for_all
        What decisions of D* on untouched rows may miss between points:
        `accordant.learning.grid_resolution.GridResolution`.
    sentence
        The same in words.
    """

    unit: str
    points: dict[str, float]
    moved_share: float
    mean_distance: float
    largest_distance: float
    n: int
    gains: tuple[ResolutionGain, ...]
    better_for_all: float
    sentence: str
