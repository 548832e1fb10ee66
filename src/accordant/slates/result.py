"""The result of serving a market by many rules, typed: what ``accordant slate --json`` prints and the page reads."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field

from accordant.sections import Number, Part, Section, sections
from accordant.slates.evaluation.curves import CrowdingCurve, PopularityCurve
from accordant.slates.evaluation.front import Front
from accordant.slates.evaluation.justification import Statement
from accordant.slates.evaluation.stability import Condorcet, Dropped

FORMAT = 2  # of the JSON that a page is made from


class CaseHeader(Part):
    """What a case says of itself."""

    name: str
    title: str
    description: str = ""
    notes: tuple[str, ...] = ()


class SourceHeader(Part):
    """Where items and requests come from; facts are numbers about the data, by name."""

    label: str
    simulated: bool
    sha256: str | None
    notes: tuple[str, ...]
    facts: dict[str, Any]


class ItemResult(Part):
    """What is known of an item; None where nothing is, or a capacity has no limit."""

    name: str
    category: str | None = None
    provider: str | None = None
    popularity: Number = None
    capacity: Number = None
    latitude: Number = None
    longitude: Number = None
    price: Number = None
    safety: Number = None


class RequestCounts(Part):
    """Numbers of requests, of users who ask, of requests by users without a past, of days, and of batches."""

    n: int
    users: int
    cold: int
    days: int
    batches: int


class OverTimeResult(Part):
    """`accordant.slates.evaluation.OverTime` at some requests, counted from 1; names of those who are behind."""

    stakeholders: tuple[str, ...]
    request: tuple[int, ...]
    days: tuple[int, ...]
    attained: tuple[tuple[Number, ...], ...]
    gap: tuple[Number, ...]
    shortfall: tuple[Number, ...]
    behind: tuple[str | None, ...]
    changes: tuple[int, ...]
    churn: Number
    window: int


class AttainmentResult(Part):
    """The mean of an objective over all lists, its floor, and whether the mean reaches it."""

    stakeholder: str
    value: str
    metric: str
    direction: Literal["max", "min"]
    mean: Number
    floor: Number
    met: bool | None


class Limits(Part):
    """A value with its interval, and the share of resamples without a value."""

    value: Number
    low: Number
    high: Number
    undefined: Number


class Change(Limits):
    """A difference to the reference, and whether it is for the better; None if the interval holds 0."""

    better: bool | None


class ManipulabilityResult(Part):
    """`accordant.slates.evaluation.Manipulability`."""

    rule: str
    stakeholder: str
    gain: Limits
    share: Number
    largest: float
    best: dict[str, int]
    tried: int
    every_order: bool
    one_report: bool
    in_market: bool


class RuleResult(Part):
    """What is said of one rule beside its measures.

    Attributes
    ----------
    changed, floor_impossible
        Shares of lists that floors changed, and for which it is proved that no list holds all floors.
    floor_unmet
        Share of lists below a floor, of baselines too; None without floors.
    broken
        Axiom of proportionality to the share of lists that break it, with everybody approving what is at least as good
        as the mean.
    witness
        The first list that breaks one, in words; empty if there is none.
    stability, manipulability
        Empty where they were not measured.
    """

    label: str
    kind: str
    note: str
    changed: float
    floor_unmet: Number
    floor_impossible: float
    broken: dict[str, float]
    witness: str
    over_time: OverTimeResult
    popularity: PopularityCurve
    crowding: CrowdingCurve
    condorcet: Condorcet
    attainments: tuple[AttainmentResult, ...]
    stability: tuple[Dropped, ...] = ()
    manipulability: tuple[ManipulabilityResult, ...] = ()


class PriceTable(Part):
    """Differences of rules to the reference: rule to measure to change."""

    reference: str
    rules: dict[str, dict[str, Change]]


class StalenessResult(Part):
    """`accordant.slates.evaluation.StalenessPrice`: rule to measure to its price, and what it brings in a sentence."""

    staleness: int
    batches: int
    at_once: int
    rounds: int
    level: float
    words: str
    rules: dict[str, dict[str, Change]]


class TrialResult(Part):
    """`accordant.slates.evaluation.held_out_selection.HeldOutComparison`, and its sentences."""

    chosen: str
    reference: str
    gain_of: str
    price_of: str
    earlier: int
    later: int
    cut: str
    gain: Change
    price: Change
    differences: dict[str, Change]
    dominated_by: tuple[str, ...]
    dominators: dict[str, float]
    on_front: Number
    words: str


class Example(Part):
    """The justified list of one request."""

    rule: str
    request: int
    id: str
    items: tuple[str, ...]
    text: str
    statements: tuple[Statement, ...]
    reasons: tuple[str, ...]


class ProxyResult(Part):
    """`accordant.slates.proxies.ProxySummary`, with the threshold of the gate and what counts in place of a ranking."""

    stakeholder: str
    ranker: dict[str, Any]
    asked: int
    empty: int
    passed: int
    silenced: int
    fallbacks: int
    mean_tau: Number
    mean_share: Number
    usage: dict[str, Any]
    threshold: float
    instead: str


@sections.register("slates")
class SlateResult(Section):
    """What all rules showed, and everything that is measured about it.

    Attributes
    ----------
    result, program
        Number of this format, and the version of the program.
    case, source, seed, options, k, user, close_when_full, stakeholders, items, requests
        What was served, how, and for whom.
    rules, columns, leaderboard, remarks, resamples, level, normalisation
        Each rule, each measure, and the same table as for strategies.
    front
        Rules that no other dominates, in what the user and what the worst-off attain.
    prices
        Differences of all rules to the list of the user alone; None if nobody is the user.
    trial
        A rule chosen on the earlier requests and tried on the later ones; None where there are too few.
    staleness
        What it costs that rules see an old state; None, and not in JSON, where they do not.
    consumption
        Whether diversity costs accuracy here, or only seems to; None where no targets are known, and nobody said how
        many items a user takes.
    examples
        Justified lists of some requests.
    verdicts, scope
        Rule to the verdict on each criterion of the scope card, and the card; empty and None without one.
    voices
        What rankers said for stakeholders.
    warnings
        Sentences that a reader must see.
    """

    name: ClassVar[str] = "slates"

    result: int
    program: str = Field(alias="version")
    case: CaseHeader
    source: SourceHeader
    seed: int
    options: dict[str, Any]
    k: int
    user: str | None
    close_when_full: bool = False
    stakeholders: tuple[dict[str, Any], ...]
    items: tuple[ItemResult, ...]
    requests: RequestCounts
    rules: tuple[RuleResult, ...]
    columns: tuple[dict[str, Any], ...]
    leaderboard: tuple[dict[str, Any], ...]
    remarks: tuple[str, ...]
    resamples: int
    level: float
    normalisation: str
    front: Front
    prices: PriceTable | None
    trial: TrialResult | None
    staleness: StalenessResult | None = None
    consumption: dict[str, Any] | None
    examples: tuple[Example, ...]
    verdicts: dict[str, tuple[dict[str, Any], ...]]
    scope: dict[str, Any] | None
    voices: tuple[ProxyResult, ...] = ()
    warnings: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the section as JSON values."""
        values = super().to_json()
        return {name: value for name, value in values.items() if name != "staleness" or value is not None}

    @property
    def words(self) -> str:
        """What a rule chosen on earlier requests brought on later ones; without a trial, how many were served."""
        return self.trial.words if self.trial else f"{self.requests.n} requests were served by {len(self.rules)} rules."
