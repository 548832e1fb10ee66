"""The section ``explanations``: why decisions of a run were taken, as it is added to the run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from accordant.explanation.contexts import ContextChanges
from accordant.explanation.person import Person
from accordant.explanation.reasons import Measure, Reason
from accordant.explanation.recourse import Recourse
from accordant.explanation.result import Comparison, Favourite, PivotalHere
from accordant.explanation.weights import WeightChanges
from accordant.naming import listed
from accordant.runs.record.scrutiny import PivotalPart, PowerPart
from accordant.runs.sections.rows import RowsPart
from accordant.sections import Number, Part, Section, sections

Numbers = tuple[Number, ...]


class ChoicePart(Part):
    """`accordant.explanation.Choice`; a score of −inf is None."""

    action: str
    tied: bool
    scores: Numbers | None
    runner_up: str | None
    margin: Number
    probabilities: Numbers | None
    flags: tuple[str, ...]


class MisreportPart(Part):
    """`accordant.explanation.Misreport`; an infinite radius is None, and `never` says so."""

    who: str | None
    safe: Number
    changed_at: Number
    action: str | None
    report: tuple[Numbers, ...] | None
    method: str
    never: bool
    exact: bool
    at_once: bool


class ExplainedPart(Part):
    """`accordant.explanation.Explanation` of one row, with its sentences by topic."""

    row: int
    rule: str
    stakeholders: tuple[str, ...]
    actions: tuple[str, ...]
    expected: tuple[Numbers, ...]
    choice: ChoicePart
    reason: Reason
    measure: Measure | None
    points: dict[str, Numbers]
    favourites: tuple[Favourite, ...]
    comparisons: tuple[Comparison, ...]
    pivotal: tuple[PivotalHere, ...]
    misreports: tuple[MisreportPart, ...]
    weights: WeightChanges
    context: ContextChanges | None
    person: Person | None
    recourse: Recourse | None
    sentences: dict[str, tuple[str, ...]]


@sections.register("explanations")
class ExplanationsResult(Section):
    """Why decisions of a run were taken, and what would have changed them.

    Attributes
    ----------
    accordant
        Version of the program.
    title
        Of the case.
    rows
        Among which rows.
    rests_on
        What each stakeholder's expected rewards rest on, in sentences.
    explanations
        One per row that was asked about.
    influence, pivotal
        Who moved the decisions of all of these rows.
    """

    name: ClassVar[str] = "explanations"
    version: ClassVar[int] = 2

    accordant: str
    title: str
    rows: RowsPart
    rests_on: tuple[str, ...]
    explanations: tuple[ExplainedPart, ...]
    influence: PowerPart
    pivotal: PivotalPart

    @property
    def words(self) -> str:
        """What was explained, in one sentence."""
        numbers = listed([str(explanation.row) for explanation in self.explanations])
        rule = self.explanations[0].rule
        chosen = listed([explanation.choice.action for explanation in self.explanations])
        plural = "" if len(self.explanations) == 1 else "s"
        return f"Row{plural} {numbers} of {self.rows.words}, decided by {rule}: {chosen}."


def explanations_section(document: Mapping[str, Any], rows: RowsPart) -> ExplanationsResult:
    """Return as a section what `accordant.runs.sections.explanation.document_of` made.

    `rows`: among which rows.
    """
    kept = ("title", "rests_on", "explanations", "influence", "pivotal")
    return ExplanationsResult.read(
        {"accordant": document["version"], "rows": rows, **{name: document[name] for name in kept}}
    )
