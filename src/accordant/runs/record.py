"""`Record`: what ``run.json`` holds, typed; nothing that is not in it appears in a report."""

from __future__ import annotations

import resource
import sys
from functools import cached_property
from typing import Any

from pydantic import ConfigDict, Field

from accordant.cases.spec import MetricSpec
from accordant.problem import DecisionProblem
from accordant.runs.scrutiny_record import ScrutinyPart
from accordant.scope import Criterion, Finding
from accordant.sections import Figure, Part, Section, sections
from accordant.statistics import Estimate

FORMAT = 3
MEBIBYTE = 1024**2

Json = dict[str, Any]


class Limits(Part):
    """A value with its interval, and the share of resamples that the interval leaves out."""

    value: Figure | None
    low: Figure | None
    high: Figure | None
    undefined: Figure | None


class GroupRate(Limits):
    """A rate in one group, and how many rows count towards it."""

    rate: str
    group: str
    n: Figure | None


class MetricFigures(Limits):
    """One metric of one strategy; see `accordant.evaluation.MetricCell`."""

    n: Figure | None
    reason: str
    normalised: Figure | None
    by_group: tuple[GroupRate, ...]


class Row(Part):
    """One strategy; see `accordant.evaluation.LeaderboardRow`."""

    strategy: str
    kind: str
    candidate: bool
    score: Limits
    among_best: bool | None
    alike: str | None
    tied: Figure | None
    below_best_constant: bool
    overlap: Json | None = None
    metrics: dict[str, MetricFigures]


class Column(Part):
    """How a metric enters the composite score; see `accordant.evaluation.MetricColumn`."""

    label: str
    goal: str
    weight: float
    uninformative: bool
    description: str
    influence: float = 0.0
    range: tuple[float, float] | None = None


class Board(Part):
    """A leaderboard with how it was computed; see `accordant.evaluation.Leaderboard`."""

    n: int
    resamples: int
    level: float
    normalisation: str
    best_constant: str | None
    remarks: tuple[str, ...]
    metrics: tuple[Column, ...]
    leaderboard: tuple[Row, ...]


class GroupRow(Part):
    """What a group received; see `accordant.evaluation.GroupRow`."""

    strategy: str
    group: str
    n: int
    favourable_share: Figure | None
    mean_rewards: dict[str, Figure | None]


class GroupTable(Part):
    """Groups × strategies for one attribute, or a combination of attributes."""

    attributes: tuple[str, ...]
    rows: tuple[GroupRow, ...]


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


class Declaration(Part):
    """The case as it was run; what no report reads is kept as it was declared."""

    model_config = ConfigDict(extra="allow", frozen=True)
    name: str
    title: str
    description: str = ""
    problem: DecisionProblem
    metrics: dict[str, MetricSpec]


class DataPart(Part):
    """Where the rows came from, and how they were divided: `accordant.runs.row_split.Dealing`."""

    source: str
    simulated: bool
    sha256: str | None
    rows: int
    train: int
    test: int
    group: Json | None = None
    time: Json | None = None
    left_out: int = 0


class UnusualPart(Part):
    """How many untouched rows are unlike the training rows; see `accordant.unusual.UnusualCounts`."""

    rows: int
    unusual: int
    kinds: dict[str, int]
    referred: int
    fall_back: int


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


class Selection(Part):
    """Whom D* consults, and its score corrected for having been chosen."""

    consults: str
    score: Estimate | None


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


class RewardSource(Part):
    """Where a stakeholder's reward comes from; for a learned one also its `RewardSignal.provenance`.

    Attributes
    ----------
    kind
        ``table``, ``column``, ``set``, or the name of the registered reward.
    words
        The same as the end of a sentence about the reward: ``stated in the case's table``.
    replaces
        What it stands instead of, as a noun; empty if it replaces nothing.
    given
        Whether a file given beside the case replaced what the case declares.
    """

    model_config = ConfigDict(extra="allow", frozen=True)
    kind: str = "comparisons"
    words: str = ""
    replaces: str = ""
    given: bool = False

    @property
    def learned_from(self) -> str:
        """Name of the file from whose records it was learned; empty if it was not learned."""
        return str((self.model_extra or {}).get("file", ""))

    @property
    def sentence_end(self) -> str:
        """The words, with what it stands instead of."""
        return self.words + (f", instead of {self.replaces}" if self.replaces else "")


class GroupTried(Part):
    """How well a number of types predicts other people; see `accordant.reward_groups.TypesTried`."""

    types: int
    log_likelihood: float
    shortfall: float
    standard_error: float


class StakeholderGroup(Part):
    """A group as a stakeholder: its people, their share, and its weight in weighted rules."""

    name: str
    people: int
    share: float
    weight: float


class StakeholderGroups(Part):
    """What became of a stakeholder that a case wants split; see `accordant.runs.stakeholder_groups`.

    Attributes
    ----------
    stakeholder
        As the case declared it.
    by, weight
        ``types`` or ``group_id``; whether weight follows ``size`` or is ``equal``.
    people
        Who answered, records of weight 0 apart.
    groups
        Largest first; the stakeholder itself if it stays whole.
    tried
        Numbers of types that were compared; empty for declared groups, and where too few people answered.
    unsure
        Share of people whose most likely type has a probability below 0.8; None where no types were told apart.
    warnings
        What a reader must know of the groups.
    """

    stakeholder: str
    by: str
    weight: str
    people: int
    groups: tuple[StakeholderGroup, ...]
    tried: tuple[GroupTried, ...] = ()
    unsure: float | None = None
    warnings: tuple[str, ...] = ()

    @property
    def split(self) -> bool:
        """Whether it does not stay whole."""
        return len(self.groups) > 1

    @property
    def names(self) -> tuple[str, ...]:
        """The groups as stakeholders."""
        return tuple(group.name for group in self.groups)

    @property
    def sentences(self) -> tuple[str, ...]:
        """What was found, in sentences for terminal and report."""
        kind = "type" if self.by == "types" else "group"
        shares = ", ".join(f"{group.people} people or {group.share:.0%}" for group in self.groups)
        weights = "by size" if self.weight == "size" else "in equal parts"
        looked = f"1 {kind} among {self.people} people"
        if self.by == "types" and not self.tried:
            looked = f"nobody looked for types among its {self.people} people"
        whole = f"{self.stakeholder} stays whole: {looked}."
        parts = f"{self.stakeholder} is split into {len(self.groups)} {kind}s among {self.people} people"
        found = [f"{parts} ({shares}), its weight {weights}." if self.split else whole]
        if self.tried:
            found.append(f"Held-out log-likelihood per comparison: {'; '.join(map(_tried, self.tried))}.")
        if self.unsure:
            found.append(f"{self.unsure:.0%} of the people are not clearly of one type.")
        return tuple(found)


def _tried(found: GroupTried) -> str:
    """Return how well a number of types predicts, in words."""
    types = f"{found.types} type{'s' * (found.types > 1)} {found.log_likelihood:.4f}"
    if not found.shortfall:
        return f"{types} (the best)"
    return f"{types} (short by {found.shortfall:.4f}, standard error {found.standard_error:.4f})"


class StrategyPart(Part):
    """A strategy by its registered name and parameters, and what it says about itself."""

    name: str
    kind: str
    candidate: bool
    note: str
    selectable: bool
    parameters: Json


class CardPart(Part):
    """The scope card with its hash, and what it leaves open; see `accordant.scope.ScopeCard` for all other keys."""

    model_config = ConfigDict(extra="allow", frozen=True)
    hash: str
    findings: tuple[Finding, ...] = ()
    criteria: tuple[Criterion, ...] = ()


class Cost(Part):
    """Times: all that differs between two runs of the same command."""

    seconds: float
    cpu_seconds: float


@sections.register("run")
class Record(Section):
    """Everything that a run found.

    Attributes
    ----------
    selected, selection
        D*, whom it consults, and its corrected score.
    test, validation
        Leaderboards on untouched rows, and on held-out folds of the training rows.
    groups
        What groups received, per attribute and for all attributes together.
    scrutiny
        How far decisions and choice can be trusted, see `accordant.runs.scrutiny.Scrutiny`; None without it.
    unusual
        Untouched rows that are unlike the training rows; None if nobody looked. All figures are about what strategies
        choose, in these rows too.
    grid
        The grid of a continuous action; None if actions have no values.
    reward_sources
        Stakeholder to where the reward comes from.
    stakeholder_groups
        What became of the stakeholders that the case wants split; empty if it wants none.
    strategies
        By label.
    """

    format: int
    versions: dict[str, str]
    case: Declaration
    seed: int
    data: DataPart
    selected: str | None
    selection: Selection
    notes: tuple[str, ...]
    warnings: tuple[str, ...]
    test: Board
    validation: Board
    groups: tuple[GroupTable, ...]
    scrutiny: ScrutinyPart | None = None
    unusual: UnusualPart | None = None
    outcome_model: OutcomeModelPart
    learning: LearningPart
    grid: GridPart | None = None
    reward_sources: dict[str, RewardSource] = Field(default_factory=dict)
    stakeholder_groups: tuple[StakeholderGroups, ...] = ()
    strategies: dict[str, StrategyPart]
    scope: CardPart | None
    cost: Cost

    @property
    def learned_sources(self) -> dict[str, RewardSource]:
        """Those rewards that were learned from records of a file."""
        return {name: source for name, source in self.reward_sources.items() if source.learned_from}

    def declared_name(self, stakeholder: str) -> str:
        """Return what the case as it was declared calls a stakeholder, or the one of which it is a group."""
        parts = {name: part.stakeholder for part in self.stakeholder_groups for name in part.names}
        return parts.get(stakeholder, stakeholder)

    @cached_property
    def content(self) -> Json:
        """The object of ``run.json``."""
        return self.to_json()

    def summary(self, path: str) -> Json:
        """Return the object that ``accordant run --json`` prints."""
        content = self.content
        return {
            "case": self.case.name,
            **{key: content[key] for key in ("data", "seed", "selected")},
            "run": path,
            **content["cost"],
            "peak_rss_mb": peak_memory(),
            "unusual": content["unusual"],
            "warnings": content["warnings"],
            "remarks": content["test"]["remarks"],
            "outcome_model": content["outcome_model"],
            "leaderboard": content["test"]["leaderboard"],
        }


def peak_memory() -> float:
    """Return the largest resident size of this process so far, in MiB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (MEBIBYTE if sys.platform == "darwin" else 1024)
