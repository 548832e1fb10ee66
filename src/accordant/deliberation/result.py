"""The results of deliberations of a case, typed: what ``accordant deliberate --json`` prints and the page reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, ConfigDict, Field

from accordant.agents.moves import Reason, Reply, Why
from accordant.allocations.scenario import Fact
from accordant.deliberation.assessment import Emergence, FlipTest, Movement, Process, Satisfaction, Verdict
from accordant.deliberation.options import DeliberationOptions, command_line
from accordant.deliberation.repetition import Repeated
from accordant.deliberation.usage import Usage
from accordant.errors import InputError
from accordant.json_values import json_value
from accordant.sections import Figure, Part, Section, sections

FORMAT = 1  # of the JSON that a page is made from

FoundIn = Literal["--data", "beside the case", "$ACCORDANT_DATA", "cache"]

Granted = Annotated[dict[str, dict[str, float]], BeforeValidator(json_value)]
"""Patient to resource to units; those who get nothing are left out."""


class CaseHeader(Part):
    """What a case says of itself."""

    name: str
    title: str
    description: str


class SourceHeader(Part):
    """Where patients come from, and where the file with them was found; None if they are simulated."""

    label: str
    sha256: str | None
    simulated: bool
    found_in: FoundIn | None


class WatchedGroup(Part):
    """The group whose access is watched: those patients for whom a fact has this value."""

    fact: str
    value: str | bool | int | float


class ResourceResult(Part):
    """`accordant.allocations.Resource`."""

    name: str
    capacity: Figure
    portion: Figure


class PatientResult(Part):
    """A patient; without a demand it is one unit of every resource."""

    id: str
    facts: dict[str, Fact]
    demand: dict[str, Figure] | None


class ScenarioResult(Part):
    """Patients and resources."""

    name: str
    protected: tuple[str, ...]
    resources: tuple[ResourceResult, ...]
    patients: tuple[PatientResult, ...]


class AgentResult(Part):
    """What a transcript says of an agent; an agent may say more of itself, such as its parameters."""

    model_config = ConfigDict(extra="allow")
    name: str
    kind: str
    about: str
    adversarial: bool
    facts: tuple[str, ...] | None
    concession: str
    generated_by: str

    def follows(self, framework: str) -> bool:
        """Return whether it is an agent of this framework."""
        return (self.model_extra or {}).get("framework") == framework


class ProposalResult(Part):
    """`accordant.agents.Proposal`; the utility is what its class says of itself."""

    move: Literal["propose"]
    allocation: Granted
    utility: Any
    reasons: tuple[Reason, ...]
    retrieved: tuple[str, ...]


class FaultResult(Part):
    """`accordant.agents.moves.Fault`, without its text, which stands under ``void``."""

    why: Why
    part: Literal["reason", "reply"] | None
    place: int | None
    names: tuple[str, ...]


class TurnResult(Part):
    """`accordant.agents.Turn`, without its move."""

    step: int
    agent: str
    generated_by: str
    faults: tuple[FaultResult, ...]
    fallback: bool
    void: tuple[str, ...]


class ProposalTurn(ProposalResult, TurnResult):
    """A turn with a proposal."""

    @property
    def proposal(self) -> ProposalResult:
        """What is proposed."""
        return self


class ContestationTurn(TurnResult):
    """A turn with replies on disputed patients and a revised proposal."""

    move: Literal["contest"]
    replies: tuple[Reply, ...]
    revised: ProposalResult

    @property
    def proposal(self) -> ProposalResult:
        """What is proposed."""
        return self.revised


class AnswerTurn(TurnResult):
    """A turn that accepts another's proposal, or counters it."""

    move: Literal["answer"]
    accepts: str | None
    counter: ProposalResult

    @property
    def proposal(self) -> ProposalResult:
        """What is proposed."""
        return self.counter


class BallotTurn(TurnResult):
    """A turn with a ranking of the candidates by their places, from 0."""

    move: Literal["vote"]
    ranking: tuple[int, ...]


AnyTurn = Annotated[ProposalTurn | ContestationTurn | AnswerTurn | BallotTurn, Field(discriminator="move")]


class SettledResult(Part):
    """`accordant.deliberation.Settled`."""

    rule: str
    allocation: Granted
    agreed: bool
    time: Figure | None
    tied: bool
    gap: Figure | None
    details: dict[str, Any]


class RecordResult(Part):
    """`accordant.deliberation.Deliberation`: what the hash is taken of."""

    protocol: str
    disclaimer: str
    seed: int
    scenario: ScenarioResult
    agents: tuple[AgentResult, ...]
    adversarial: tuple[str, ...]
    procedure: dict[str, Any]
    commitments: dict[str, str]
    turns: tuple[AnyTurn, ...]
    solo: dict[str, Granted]
    revised: dict[str, Granted]
    struck: dict[str, ProposalResult]
    asides: tuple[ProposalTurn, ...]
    disagreement: Granted | None
    settled: SettledResult
    fallbacks: int
    repairs: int


class MeasuredCriterion(Part):
    """A criterion of one allocation; None where its measure is not defined."""

    value: float | None
    met: bool | None


class RegretsResult(Part):
    """`accordant.deliberation.assessment.RegretMatrix`."""

    allocations: tuple[str, ...]
    frameworks: tuple[str, ...]
    regrets: Annotated[tuple[tuple[float, ...], ...], BeforeValidator(json_value)]
    followed: tuple[tuple[str, ...], ...]
    exact: bool
    missing: dict[str, tuple[str, ...]]


class OrderResult(Part):
    """`accordant.deliberation.OrderEffects`."""

    orders: tuple[tuple[str, ...], ...]
    joints: tuple[Granted, ...]
    changed: tuple[int, ...]
    utilities: dict[str, tuple[float, ...]]
    spread: dict[str, float]


class ChoiceResult(Part):
    """What one strategy chooses: a label of `accordant.deliberation.adapters.Choices`."""

    allocation: Granted
    tied: bool
    agrees: bool
    shared: float
    exact: bool
    among: int
    words: str


class Header(Section):
    """What every result of a case begins with.

    Attributes
    ----------
    accordant, result
        Version of the program, and number of this format.
    case, notes, source, seed, options
        What was deliberated, and how.
    """

    accordant: str
    result: int
    case: CaseHeader
    notes: tuple[str, ...]
    source: SourceHeader
    seed: int
    options: DeliberationOptions

    def command_line(self) -> str:
        """Return the command that made the result, in shell quoting."""
        return command_line(self.case.name, self.options)


@sections.register("deliberation")
class DeliberationResult(Header):
    """One deliberation with everything that is measured about it.

    Attributes
    ----------
    accordant, result
        Version of the program, and number of this format.
    case, notes, source, seed, options
        What was deliberated, and how.
    marginal
        The watched group; None without one.
    hash, deliberation
        Hash of the record, and the record.
    verdict
        Against the case's scope card; None without one.
    emergence
        With both null hypotheses; None without criteria.
    ledger, process, satisfaction, regrets
        See `accordant.deliberation.assessment`.
    sides
        Allocation to criterion to what is measured.
    flips, order
        What other protected facts and another order of the agents would change: both take the deliberation again and
        again, and are None where anybody but rules and fixtures takes part; `flips` is None without protected facts.
    choices
        Strategy to what it would have chosen.
    access
        Allocation to the access of the watched group; None without one.
    restored
        See `accordant.deliberation.assessment`; None without a watched group or exactly one adversarial agent.
    conversion, approach
        Other agent to how far the adversarial one went, in any direction, and to how much nearer it came; empty where
        `restored` is None.
    usage
        Agent to the moves, fallbacks, calls, tokens and repairs of its language model.
    warnings
        Sentences that a reader must see.
    """

    name: ClassVar[str] = "deliberation"
    version: ClassVar[int] = FORMAT

    kind: Literal["one"]
    hash: str
    marginal: WatchedGroup | None
    deliberation: RecordResult
    verdict: Verdict | None
    emergence: Emergence | None
    ledger: tuple[Movement, ...]
    process: Process
    satisfaction: Satisfaction
    sides: dict[str, dict[str, MeasuredCriterion]]
    regrets: RegretsResult
    flips: FlipTest | None
    order: OrderResult | None
    choices: dict[str, ChoiceResult]
    access: dict[str, float | None] | None
    restored: float | None
    conversion: dict[str, float | None]
    approach: dict[str, float | None]
    usage: Usage
    warnings: tuple[str, ...]


@sections.register("repeated_deliberation")
class RepeatedDeliberation(Header):
    """Many deliberations of one case.

    Attributes
    ----------
    accordant, result
        Version of the program, and number of this format.
    case, notes, source, seed, options
        What was deliberated, and how.
    marginal
        The watched group; None without one.
    fallbacks
        How many moves a rule made in place of a language model, over all scenarios.
    repeated
        The table with intervals and null hypotheses.
    usage
        Agent to the moves, fallbacks, calls, tokens and repairs of its language model, over all scenarios.
    warnings
        Sentences that a reader must see.
    """

    name: ClassVar[str] = "repeated_deliberation"
    version: ClassVar[int] = FORMAT

    kind: Literal["many"]
    marginal: WatchedGroup | None
    fallbacks: int
    repeated: Repeated
    usage: Usage
    warnings: tuple[str, ...]


KINDS: dict[str, type[DeliberationResult | RepeatedDeliberation]] = {
    "one": DeliberationResult, "many": RepeatedDeliberation,
}  # fmt: skip


def read_result(content: Mapping[str, Any]) -> DeliberationResult | RepeatedDeliberation:
    """Return the result that JSON values hold.

    Raises InputError if they have another format or kind, a key is unknown or missing, or a null hypothesis is missing
    beside a statement on emergence.
    """
    if content.get("result") != FORMAT:
        raise InputError(f"the deliberation has format {content.get('result')!r}; allowed: {FORMAT}")
    kind = content.get("kind")
    if kind not in KINDS:
        raise InputError(f"the deliberation is of the kind {kind!r}; allowed: {', '.join(KINDS)}")
    return KINDS[kind].read(content)
