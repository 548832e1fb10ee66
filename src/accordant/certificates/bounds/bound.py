"""`bounds`: the smallest and largest value that misreports within a threat can give a metric."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from accordant.certificates.bounds.atomic_bounds import NEVER, Enclosure
from accordant.certificates.bounds.attack_values import Attained, Goal, attain
from accordant.certificates.bounds.choices import Move
from accordant.certificates.bounds.composition import enclose
from accordant.certificates.bounds.rule_choices import Attackable, attackable, known_from
from accordant.certificates.bounds.target import Measure, Subject, subject_of
from accordant.certificates.reports import Known
from accordant.certificates.threat import UNIT, Threat, checked_coalition
from accordant.evidence import Evidence
from accordant.json_values import json_value
from accordant.strategies.strategy import Strategy
from accordant.utilities import ExpectedRewards

Status = Literal["exact", "sound"]


WRITTEN = (
    "rule", "metric", "threat", "at_most", "low", "high", "nominal", "status", "low_status", "high_status",
    "attained_low", "attained_high", "may_be_undefined", "method", "tolerance",
)  # fmt: skip  # in this order into JSON


@dataclass(frozen=True, eq=False)
class Bounds:
    """What misreports can make of a metric; unpacks as ``low, high, status``.

    Attributes
    ----------
    low, high
        No misreport within the threat that leaves the metric defined gets past these; None if none leaves it defined.
    nominal
        The value of the honest decisions; None if it is not defined.
    low_status, high_status
        ``exact`` if a known misreport attains the end, ``sound`` if the true end may be nearer.
    attained_low, attained_high
        The lowest and highest value that known misreports attain; None if they all leave the metric undefined.
    may_be_undefined
        Whether it could not be ruled out that misreports leave the metric undefined.
    rule, metric
        Their names.
    threat
        Who may misreport, by how much.
    at_most
        In how many contexts at most; None for all of them, and for rules that decide a whole batch at once.
    method
        How reachable decisions were found, in words.
    tolerance
        How close, relative to max(1, |end|), an attained value comes to an end that is called exact.
    """

    low: float | None
    high: float | None
    nominal: float | None
    low_status: Status
    high_status: Status
    attained_low: float | None
    attained_high: float | None
    may_be_undefined: bool
    rule: str
    metric: str
    threat: Threat
    at_most: int | None
    method: str
    tolerance: float
    _attackable: Attackable = field(repr=False)
    _moves: tuple[Move | None, Move | None] = field(repr=False)

    @property
    def status(self) -> Status:
        """``exact`` if both ends are."""
        return "exact" if self.low_status == self.high_status == "exact" else "sound"

    @property
    def exact(self) -> bool:
        """Whether known misreports attain both ends."""
        return self.status == "exact"

    def __iter__(self) -> Iterator[Any]:
        return iter((self.low, self.high, self.status))

    def witness_low(self) -> ExpectedRewards:
        """Return reports within the threat on which the rule's decisions give `attained_low`.

        If the threat leaves reference points where they are, so must whoever decides on these reports.
        """
        return self._attackable.witness(self._moves[0])

    def witness_high(self) -> ExpectedRewards:
        """Return reports within the threat on which the rule's decisions give `attained_high`."""
        return self._attackable.witness(self._moves[1])

    def to_json(self) -> dict[str, Any]:
        """Return plain values; an end that is not finite is None."""
        values: dict[str, Any] = json_value({name: getattr(self, name) for name in WRITTEN})
        return values | {"threat": self.threat.to_json()}


def bounds(
    rule: Strategy, expected: ExpectedRewards, metric: Measure, *, delta: float, coalition: Sequence[str] | None = None,
    box: tuple[float, float] = UNIT, frozen: bool = False, evidence: Evidence | None = None, at_most: int | None = None,
    known: Known | None = None,
) -> Bounds:  # fmt: skip
    """Return the smallest and largest value that misreports within a threat can give a metric.

    The metric itself is computed from what really followed, which misreports do not change: they change decisions.

    Parameters
    ----------
    rule
        Any strategy.
    expected
        E, honestly reported.
    metric
        A metric, or its registered name if it needs no parameters; or contributions θ of actions, shape (action,) or
        (action, context), which are averaged over contexts.
    delta
        Radius δ, at least 0.
    coalition
        Names of those who may misreport; None for everybody.
    box, frozen
        See `Threat`.
    evidence
        What really followed on the same contexts. None takes the honest expected rewards for the realised ones, which
        serves metrics of rewards and actions.
    at_most
        In how many contexts the coalition may misreport; None for all of them.
    known
        What the rule reads beside E; by default what the evidence holds.

    Raises
    ------
    InputError
        If the metric needs evidence that is not there, or does not say how it is made of sums.
    UnknownNameError
        If somebody in the coalition is no stakeholder, or there is no such metric.

    Examples
    --------
    >>> import accordant as ac
    >>> E = ac.ExpectedRewards([[0.8, 0.5], [0.6, 0.7]], stakeholders=["Bank", "Applicant"], actions=["Grant", "Deny"])
    >>> low, high, status = bounds(ac.strategies.create("utilitarian"), E, [1.0, 0.0], delta=0.05, coalition=["Bank"])
    >>> low, high, status
    (1.0, 1.0, 'exact')
    """
    threat = Threat(delta, checked_coalition(coalition), box, frozen)
    subject = subject_of(metric, expected, evidence)
    known = known_from(known, evidence)
    return bound_of(subject, attackable(rule, expected, threat, at_most=at_most, known=known))


@dataclass(frozen=True, eq=False)
class Ends:
    """How far misreports can move something at most, without a search for misreports that move it so far.

    Attributes
    ----------
    nominal, low, high, may_be_undefined
        See `Bounds`.
    enclosure
        Where a search for attacks would start; None if decisions cannot be moved, or the metric is never defined.
    """

    nominal: float | None
    low: float | None
    high: float | None
    may_be_undefined: bool
    enclosure: Enclosure | None = None


def ends_of(subject: Subject, attacked: Attackable) -> Ends:
    """Return between which ends an attack on a rule keeps what a subject is about."""
    subject = subject.about(attacked.outer.base)
    nominal = subject.nominal(attacked.outer.base)
    if attacked.outer.settled:
        return Ends(nominal, nominal, nominal, nominal is None)
    enclosure = enclose(subject.expression, attacked.outer)
    if enclosure.never_defined:
        return Ends(nominal, None, None, NEVER.may_be_undefined)
    # bounds hold the honest value, whatever order rounding added it in
    low, high = enclosure.low, enclosure.high
    if nominal is not None:
        low, high = min(low, nominal), max(high, nominal)
    return Ends(nominal, low, high, enclosure.may_be_undefined, enclosure)


def bound_of(subject: Subject, attacked: Attackable) -> Bounds:
    """Return what an attack on a rule can make of what a subject is about."""
    ends, subject = ends_of(subject, attacked), subject.about(attacked.outer.base)
    low, high, enclosure = ends.low, ends.high, ends.enclosure
    if enclosure is None or low is None or high is None:
        return _bounds(subject, attacked, (low, high, ends.nominal), (Attained(low, None),) * 2, ends.may_be_undefined)
    attacks = tuple(
        attain(
            subject.expression,
            attacked.inner,
            (toward, enclosure.toward_undefined.scaled(sign)),
            Goal(sign, bound, attacked.tolerance),
        )
        for sign, bound, toward in ((-1.0, low, enclosure.toward_low), (1.0, high, enclosure.toward_high))
    )
    lowest, highest = (one if one.value is not None else other for one, other in (attacks, attacks[::-1]))
    if lowest.value is not None and highest.value is not None:
        low, high = min(low, lowest.value), max(high, highest.value)
    return _bounds(subject, attacked, (low, high, ends.nominal), (lowest, highest), ends.may_be_undefined)


def _bounds(
    subject: Subject, attacked: Attackable, values: tuple[float | None, float | None, float | None],
    attacks: tuple[Attained, Attained], undefined: bool,
) -> Bounds:  # fmt: skip
    ends = zip((-1.0, 1.0), values[:2], attacks, strict=True)
    statuses: list[Status] = [
        "exact" if end is None or Goal(sign, end, attacked.tolerance).met(attack.value) else "sound"
        for sign, end, attack in ends
    ]
    return Bounds(
        *values, statuses[0], statuses[1], attacks[0].value, attacks[1].value, undefined,
        attacked.rule.label, subject.label, attacked.threat, attacked.outer.at_most, attacked.method,
        attacked.tolerance, attacked, (attacks[0].move, attacks[1].move),
    )  # fmt: skip
