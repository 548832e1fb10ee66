"""`Record`: what ``run.json`` holds, typed; nothing that is not in it appears in a report."""

from __future__ import annotations

import resource
import sys
from functools import cached_property
from typing import Any

from pydantic import ConfigDict, Field

from accordant.cases.spec import MetricSpec
from accordant.problem import DecisionProblem
from accordant.runs.record.board import Board, GroupTable, PeoplePart
from accordant.runs.record.learning import GridPart, LearningPart, OutcomeModelPart, PromisePart, UnusualPart
from accordant.runs.record.rewards import RewardSource, StakeholderGroups
from accordant.runs.record.scrutiny import ScrutinyPart
from accordant.scope import Criterion, Finding
from accordant.sections import Part, Section, sections
from accordant.statistics import Estimate

FORMAT = 4
MEBIBYTE = 1024**2

Json = dict[str, Any]


class Declaration(Part):
    """The case as it was run; what no report reads is kept as it was declared."""

    model_config = ConfigDict(extra="allow", frozen=True)
    name: str
    title: str
    description: str = ""
    problem: DecisionProblem
    metrics: dict[str, MetricSpec]

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the columns that models read."""
        return tuple((self.model_extra or {}).get("data", {}).get("features", ()))


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


class Selection(Part):
    """Whom D* consults, and its score corrected for having been chosen."""

    consults: str
    score: Estimate | None


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
    promise
        What decisions in use are compared with; None if nobody looked.
    grid
        The grid of a continuous action; None if actions have no values.
    reward_sources
        Stakeholder to where the reward comes from.
    stakeholder_groups
        What became of the stakeholders that the case wants split; empty if it wants none.
    strategies
        By label.
    people
        Expected rewards and decisions of single untouched rows; None in records made without them.
    inputs
        Hash of all that determines the run, see `accordant.runs.inputs.input_hash`; empty if it is not known.
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
    promise: PromisePart | None = None
    outcome_model: OutcomeModelPart
    learning: LearningPart
    grid: GridPart | None = None
    reward_sources: dict[str, RewardSource] = Field(default_factory=dict)
    stakeholder_groups: tuple[StakeholderGroups, ...] = ()
    strategies: dict[str, StrategyPart]
    scope: CardPart | None
    people: PeoplePart | None = None
    inputs: str = ""
    cost: Cost

    @property
    def learned_sources(self) -> dict[str, RewardSource]:
        """Those rewards that were learned from records of a file."""
        return {name: source for name, source in self.reward_sources.items() if source.learned_from}

    def declared_order(self, board: Board) -> tuple[int, ...]:
        """Return positions of the rows of a board as strategies were declared, baselines first: equals come in it."""
        rows, declared = board.leaderboard, list(self.strategies)
        return tuple(
            sorted(range(len(rows)), key=lambda s: (rows[s].kind != "baseline", declared.index(rows[s].strategy)))
        )

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


def peak_memory(*, children: bool = True) -> float:
    """Return the largest resident size so far, in MiB, of this process or of a worker, which shares most of it.

    Parameters
    ----------
    children
        Whether workers count.
    """
    whose = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)[: 1 + children]
    peak = max(resource.getrusage(who).ru_maxrss for who in whose)
    return peak / (MEBIBYTE if sys.platform == "darwin" else 1024)
