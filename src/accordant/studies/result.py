"""`StudyResult`: what a study came to, typed; its page, its JSON and its table are made from nothing else."""

from __future__ import annotations

from typing import Any

from accordant.naming import counted
from accordant.runs.record import Column, Row
from accordant.sections import Part, Section, sections
from accordant.statistics import Estimate

Json = dict[str, Any]

BETTER, WORSE, ALIKE, UNTOLD = "better", "worse", "no difference shown", "cannot be told"
CAME_OUT, DID_NOT = "came out", "did not come out"


class ConditionPart(Part):
    """What the seeds of one condition came to.

    Attributes
    ----------
    label, rows, variants
        Which condition; `rows` None for all training rows.
    baseline
        Whether others are compared with it.
    runs
        Finished runs, one for each seed.
    train
        Mean number of training rows; None without a run.
    selected
        Strategy to the number of runs in which it is D*, the most frequent first.
    score
        Mean composite score of D* of each run.
    leaderboard
        Means over runs, candidates first, in order of the score; an interval is that of one mean alone.
    """

    label: str
    rows: int | None
    variants: dict[str, str]
    baseline: bool
    runs: int
    train: float | None
    selected: dict[str, int]
    score: Estimate
    leaderboard: tuple[Row, ...]


class Difference(Part):
    """A mean difference over seeds, each with itself; its interval holds together with all of the same list.

    Attributes
    ----------
    condition, strategy, metric
        What is compared.
    other
        The condition, or the strategy, that it is compared with.
    difference
        The first minus the other, of distances from zero for a metric that is best at zero.
    verdict
        ``better``, ``worse``, ``no difference shown``, or ``cannot be told`` without an interval.
    """

    condition: str
    strategy: str
    metric: str
    other: str
    difference: Estimate
    verdict: str


class StatementPart(Part):
    """A published statement and what the runs say to it.

    Attributes
    ----------
    says, source, published
        As declared.
    condition
        Where it is looked at.
    computed
        What came out here, in words.
    values
        What the verdict rests on: differences, or a mean or share; intervals hold together over all statements.
    verdict
        ``came out``, ``did not come out`` or ``cannot be told``.
    """

    says: str
    source: str
    published: str
    condition: str
    computed: str
    values: dict[str, Estimate]
    verdict: str


class GroupShare(Part):
    """What a group gets under D* of each run: means over runs."""

    condition: str
    attributes: tuple[str, ...]
    group: str
    favourable: Estimate
    rewards: dict[str, Estimate]


class EffectShare(Part):
    """Predicted treatment effects of a group: means over runs of what `accordant.studies.effects` holds of each."""

    condition: str
    action: str
    against: str
    attributes: tuple[str, ...]
    group: str
    mean: Estimate
    quantiles: dict[str, Estimate]
    true_mean: Estimate


class CellPart(Part):
    """One run: its folder, and what it selected; None if it is not finished."""

    name: str
    condition: str
    seed: int
    selected: str | None
    cpu_seconds: float | None
    finished: bool


class FailurePart(Part):
    """A run that could not be carried out; see `accordant.studies.execution.Failure`."""

    cell: str
    message: str
    wrong_input: bool


@sections.register("study")
class StudyResult(Section):
    """A study: its declaration, means and differences over seeds, statements, and every run.

    Attributes
    ----------
    accordant
        Version of the program.
    study
        The declaration.
    title
        Of the study, or else of the case.
    simulated
        Whether any run is on simulated data.
    sources
        Where the data came from.
    level
        Coverage of every interval, of differences and statements of all in their list together.
    metrics
        Metrics of the case, as in the first run.
    conditions
        In declared order; those without a finished run have no leaderboard.
    against_baseline
        Each condition against the baseline condition.
    against_strategies
        D* of each run against the baselines of the same run, in every condition.
    statements
        Published statements.
    groups
        Who gets what under D*.
    effects
        Treatment effects by group; none unless outcomes are continuous.
    cells, failures
        Every run that was asked for, and those that failed.
    """

    accordant: str
    study: Json
    title: str
    simulated: bool
    sources: tuple[str, ...]
    level: float
    metrics: tuple[Column, ...]
    conditions: tuple[ConditionPart, ...]
    against_baseline: tuple[Difference, ...]
    against_strategies: tuple[Difference, ...]
    statements: tuple[StatementPart, ...]
    groups: tuple[GroupShare, ...]
    effects: tuple[EffectShare, ...]
    cells: tuple[CellPart, ...]
    failures: tuple[FailurePart, ...]

    @property
    def words(self) -> str:
        """What it came to, in one sentence."""
        done = sum(cell.finished for cell in self.cells)
        runs, conditions = counted(len(self.cells), "run"), counted(len(self.conditions), "condition")
        return f"{done:,} of {runs} in {conditions}."

    @property
    def baseline(self) -> ConditionPart:
        """The condition that others are compared with."""
        return next(condition for condition in self.conditions if condition.baseline)
