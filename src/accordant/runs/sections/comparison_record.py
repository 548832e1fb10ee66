"""The section ``comparison``: what differs between two finished runs."""

from __future__ import annotations

from typing import ClassVar, Literal

from accordant.naming import counted, listed
from accordant.runs.sections.declaration_changes import CaseDifference, Change
from accordant.sections import Figure, Number, Part, Section, sections

Method = Literal["", "paired", "bounds"]
SCORE = "composite score"
METHODS = {
    "paired": "from the same rows in pairs",
    "bounds": "from both intervals, whatever the rows have in common",
}


class ComparedRun(Part):
    """One of the runs: name of its folder, case, hash of its manifest, seed, test rows and D*."""

    folder: str
    case: str
    manifest_sha256: str
    seed: int
    n: int
    selected: str | None


class MetricDifference(Part):
    """A metric of D* in both runs.

    Attributes
    ----------
    metric
        Its label, or ``composite score``.
    before, after
        On the untouched rows of the first and of the second run.
    difference, low, high
        After minus before, with an interval that holds together with those of all metrics here; None where it cannot
        be told.
    method
        How the interval was found; empty without one.
    reason
        Why there is no interval; empty with one.
    """

    metric: str
    before: Number
    after: Number
    difference: Number
    low: Number = None
    high: Number = None
    method: Method = ""
    reason: str = ""

    @property
    def verdict(self) -> str:
        """Whether the difference is more than noise, in words."""
        if self.low is None or self.high is None:
            return "cannot be told"
        return "more than noise" if self.low > 0 or self.high < 0 else "no change shown"


class StrategyDifference(Part):
    """A strategy of both leaderboards: score and metrics before and after, as they stand there."""

    strategy: str
    score: tuple[Number, Number]
    metrics: dict[str, tuple[Number, Number]]


class OnlyIn(Part):
    """What one run has and the other has not."""

    strategies: tuple[str, ...]
    metrics: tuple[str, ...]


@sections.register("comparison")
class RunComparison(Section):
    """What differs between two finished runs; *before* is the first, *after* the second.

    Attributes
    ----------
    accordant
        Version of the program.
    first, second
        The runs.
    data
        What differs in data, seed and split.
    declared
        What the cases declare differently, and their scope cards.
    only_first, only_second
        Strategies and metrics that one of them has.
    same_rows
        Whether the untouched rows are the same ones, compared row by row.
    rows
        How that was found, in words.
    same_scale
        Whether composite scores mean the same: weights, ranges and normalisation.
    level
        Coverage of all intervals together.
    differences
        D* of one run beside D* of the other, metric by metric.
    strategies
        Strategies that are in both.
    remarks
        What a reader must know.
    """

    name: ClassVar[str] = "comparison"
    version: ClassVar[int] = 1

    accordant: str
    first: ComparedRun
    second: ComparedRun
    data: tuple[Change, ...]
    declared: CaseDifference
    only_first: OnlyIn
    only_second: OnlyIn
    same_rows: bool
    rows: str
    same_scale: bool
    level: Figure
    differences: tuple[MetricDifference, ...]
    strategies: tuple[StrategyDifference, ...]
    remarks: tuple[str, ...]

    @property
    def words(self) -> str:
        """What differs, in one sentence, and whether it is more than noise."""
        kinds = {
            "of data and split": self.data,
            "of the case": self.declared.declaration,
            "of the scope card": self.declared.card,
        }
        changed = [f"{len(changes)} {word}" for word, changes in kinds.items() if changes]
        keys = f"keys that differ: {listed(changed)}" if changed else "no key differs"
        chosen = (
            f"D* is {self.first.selected} in both"
            if self.first.selected == self.second.selected
            else f"D* was {self.first.selected} and is {self.second.selected}"
        )
        return f"Beside {self.second.folder}: {keys}; {chosen}. {self.noise}"

    @property
    def noise(self) -> str:
        """Whether figures of D* differ by more than noise, in one sentence."""
        shown = [difference.metric for difference in self.differences if difference.verdict == "more than noise"]
        told = [difference for difference in self.differences if difference.low is not None]
        if not told:
            return "Whether figures of D* differ by more than noise cannot be told."
        if not shown:
            together = "" if len(told) == 1 else ", all together"
            return f"No change of D* is shown in {counted(len(told), 'figure')} ({self.level:.0%}{together})."
        together = "the only figure" if len(told) == 1 else f"all {len(told):,} figures together"
        return f"More than noise in {listed(shown)} of D* ({self.level:.0%}, {together})."
