"""The debate of a run's decision, typed: the section that is added to the run."""

from __future__ import annotations

from typing import ClassVar, Literal

from accordant.allocations.scenario import Fact
from accordant.deliberation.decision.options import DecisionOptions, command_line
from accordant.deliberation.result import RecordResult
from accordant.deliberation.usage import Usage
from accordant.naming import listed
from accordant.sections import Part, Section, sections

DISCLAIMER = "A debate on expected rewards that models predict; it binds nobody."
Handling = Literal["", "referred", "fall_back"]


class DebatedRun(Part):
    """Which run a decision was debated of.

    Attributes
    ----------
    case, title
        Of the run.
    folder
        Name of its folder.
    manifest_sha256
        Hash of its manifest.
    selected
        Label of the strategy that it selected, D*.
    simulated
        Whether the rows come from a simulator.
    """

    case: str
    title: str
    folder: str
    manifest_sha256: str
    selected: str
    simulated: bool


class StrategyDecision(Part):
    """What one strategy of the run decides for a row.

    Attributes
    ----------
    action
        What it takes or, of several by chance, takes most; for D* before unusual rows are handled.
    tied
        Whether another action had the same score.
    chances
        Action to probability, for decisions by chance; None otherwise.
    flags
        What else a reader must know; see `accordant.decisions.Decisions`.
    inadmissible
        Actions that constraints of the strategy do not admit.
    """

    action: str
    tied: bool
    chances: dict[str, float] | None
    flags: tuple[str, ...]
    inadmissible: tuple[str, ...]


class DebatedRow(Part):
    """One row of which a decision was debated.

    Attributes
    ----------
    row
        Its position.
    context
        Its features as the run reads them.
    expected
        E: stakeholder to action to expected reward.
    settled
        The action that was settled on.
    recommended
        What ``accordant recommend`` says: the action of D*, another where that is declared for unusual rows, or None
        where a person decides.
    unusual, handling
        In what it is unlike the training rows, or nothing; and what follows from it.
    decisions
        Strategy to what it decides, D* first.
    """

    row: int
    context: dict[str, Fact]
    expected: dict[str, dict[str, float]]
    settled: str
    recommended: str | None
    unusual: str
    handling: Handling
    decisions: dict[str, StrategyDecision]


class Standing(Part):
    """What a stakeholder gets, as a mean over the rows: as settled, under D*, and from its best and worst actions.

    Best and worst look at each row alone: capacities are left out.
    """

    settled: float
    selected: float
    best: float
    worst: float


class Scarce(Part):
    """What several rows compete for: an action, the other one, and how many rows get the first."""

    grant: str
    otherwise: str
    capacity: int


class TalkOnDecision(Section):
    """What is said first in every section on talking about a run's decision.

    Attributes
    ----------
    accordant
        Version of the program.
    run, source, file
        Of which run, where the rows come from in words, and their file; None for untouched rows of the run.
    seed, options
        How it was debated, or asked about.
    stakeholders, actions
        Of the run, as declared.
    with_weight
        Stakeholders with positive weight in the run.
    """

    accordant: str
    run: DebatedRun
    source: str
    file: str | None
    seed: int
    options: DecisionOptions
    stakeholders: tuple[str, ...]
    actions: tuple[str, ...]
    with_weight: tuple[str, ...]

    @property
    def command_line(self) -> str:
        """The command that made the section, in shell quoting."""
        return command_line(self.run.folder, self.file, self.options)


@sections.register("decision_debate")
class DecisionDebate(TalkOnDecision):
    """The debate of a run's decision: of one row, or of who among several rows gets an action that is scarce.

    Attributes
    ----------
    scarce
        What several rows compete for; None for a single row.
    rows
        What was debated.
    hash, deliberation
        Hash of the record, and the record; its claimants are actions or rows.
    standings
        Stakeholder to what it gets.
    usage
        Agent to what its language model spent.
    warnings
        Sentences that a reader must see.
    """

    name: ClassVar[str] = "decision_debate"
    version: ClassVar[int] = 1

    scarce: Scarce | None
    rows: tuple[DebatedRow, ...]
    hash: str
    deliberation: RecordResult
    standings: dict[str, Standing]
    usage: Usage
    warnings: tuple[str, ...]

    @property
    def subject(self) -> str:
        """What was debated, such as ``Row 3 of the untouched rows of the run``."""
        numbers = listed([str(row.row) for row in self.rows])
        return f"Row{'' if len(self.rows) == 1 else 's'} {numbers} of {self.source}"

    @property
    def outcome(self) -> str:
        """What was settled on, such as ``Admit`` or ``Admit for row 3 and row 9, Wait for the others``."""
        if self.scarce is None:
            return self.rows[0].settled
        granted = [f"row {row.row}" for row in self.rows if row.settled == self.scarce.grant]
        return f"{self.scarce.grant} for {listed(granted)}, {self.scarce.otherwise} for the others"

    @property
    def manner(self) -> str:
        """How it was fixed, such as ``by bargain at t = 0.25``."""
        settled = self.deliberation.settled
        moment = "" if settled.time is None else f" at t = {settled.time:.2f}"
        tied = ", tied: the higher sum of expected rewards, then the declared order decided" if settled.tied else ""
        if not settled.agreed:
            return f"by nobody's agreement ({settled.rule}): what has the highest sum of expected rewards was taken"
        return f"by {settled.rule.replace('_', ' ')}{moment}{tied}"

    @property
    def words(self) -> str:
        """What was settled, in one sentence, and what D* decides."""
        agents = listed([agent.name for agent in self.deliberation.agents])
        decided = listed([str(row.recommended or "left to a person") for row in self.rows])
        settled = f"{self.subject}: {agents} settle on {self.outcome}, {self.manner}"
        return f"{settled}. D* of the run ({self.run.selected}): {decided}."
