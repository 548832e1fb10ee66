"""The smallest change of E that would have changed a decision, for everybody together and for each stakeholder."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from accordant.certificates import Known, Threat, certify, radius
from accordant.certificates.certificate import Certificate, decisions_on
from accordant.certificates.radius import PRECISION
from accordant.json_values import json_value
from accordant.strategies.strategy import Strategy
from accordant.utilities import ExpectedRewards

STEP = 1e-6  # how far beyond a certified radius a misreport is looked for
WIDER = 10.0  # times as far if E came in single precision, whose ties reach as far as the step
HALVINGS = 21  # from 1 down to less than `STEP`
AT_ONCE = PRECISION  # a radius is known as exactly as this; an exact one that is smaller may be 0
BATCH = "the rule decides a whole batch at once, and is not certified one context at a time"


@dataclass(frozen=True)
class Misreport:
    """How far the expected rewards of some stakeholders may move in one context before the decision changes.

    Attributes
    ----------
    who
        The stakeholder; None for everybody together.
    safe
        Radius up to which no report changes the decision; inf if none does; None if nothing is certified.
    changed_at
        A radius at which a known report changes it; None if none is known.
    action
        What would be decided on that report.
    report
        That report, shape (stakeholder, action), as nested tuples.
    method
        How this was found, in words.
    """

    who: str | None
    safe: float | None
    changed_at: float | None = None
    action: str | None = None
    report: tuple[tuple[float, ...], ...] | None = None
    method: str = ""

    @property
    def never(self) -> bool:
        """Whether no report whatever changes the decision."""
        return self.safe == np.inf

    @property
    def nothing_certified(self) -> bool:
        """Whether no radius above 0 is known to be safe, and not because of a tie."""
        return self.safe == 0 and not self.exact

    @property
    def at_once(self) -> bool:
        """Whether next to no change is enough: the radius is exact, and not above the precision it is known to."""
        return self.exact and self.safe is not None and self.safe <= AT_ONCE

    @property
    def exact(self) -> bool:
        """Whether the largest safe radius is known: no report changes the decision, or one just beyond it does."""
        if self.never:
            return True
        if self.safe is None or self.changed_at is None:
            return False
        return self.changed_at - self.safe <= 3 * STEP

    def to_json(self) -> dict[str, Any]:
        """Return plain values; an infinite radius is null, and ``never`` says so."""
        values: dict[str, Any] = json_value(asdict(self))
        return values | {"never": self.never, "exact": self.exact, "at_once": self.at_once}


def smallest_misreports(
    rule: Strategy, expected: ExpectedRewards, known: Known | None = None
) -> tuple[tuple[Misreport, ...], ...]:
    """Return, for every context, how far everybody together and each stakeholder alone may move.

    Everybody comes first, then stakeholders in their order. The radius is that of `accordant.certificates.radius`; a
    report a little beyond it is looked for and, if the method knows none there, the smallest radius with a known one.
    Every report that is returned was decided on again.

    Parameters
    ----------
    rule
        Any strategy.
    expected
        E in a few contexts.
    known
        What the rule reads beside E in these contexts.
    """
    known = known or Known()
    coalitions = (None, *expected.stakeholders)
    if rule.whole_batch:
        nothing = tuple(Misreport(who, None, method=BATCH) for who in coalitions)
        return (nothing,) * expected.n_contexts
    rows = []
    for who in coalitions:
        safe = radius(rule, expected, coalition=who, known=known)
        rows.append([_beyond(rule, expected, known, who, t, float(safe[t])) for t in range(expected.n_contexts)])
    return tuple(zip(*rows, strict=True))


def _beyond(
    rule: Strategy, expected: ExpectedRewards, known: Known, who: str | None, context: int, safe: float
) -> Misreport:
    """Look for a report that changes the decision just beyond the certified radius, or as little beyond as is known."""
    here = expected.take(slice(context, context + 1))
    beside = Known(**known.arguments(slice(context, context + 1)))
    coalition = None if who is None else (who,)

    def within(delta: float) -> Certificate:
        """Return what can happen within a radius."""
        return certify(rule, here, Threat(delta, coalition), known=beside)

    if safe == np.inf:
        return Misreport(who, safe, method=within(1.0).method)
    coarse = expected.values.dtype == np.float32
    unsafe = min(1.0, safe + (STEP if not coarse else WIDER * STEP))
    certificate = within(unsafe)
    if not certificate.attackable[0]:
        low, unsafe = unsafe, 1.0
        certificate = within(unsafe)
        if not certificate.attackable[0]:
            return Misreport(who, safe, method=certificate.method)
        for _ in range(HALVINGS):
            closer = within((low + unsafe) / 2)
            if closer.attackable[0]:
                certificate, unsafe = closer, closer.threat.delta
            else:
                low = closer.threat.delta
    return _show_report(rule, certificate, beside, who, safe, unsafe)


def _show_report(
    rule: Strategy, certificate: Certificate, known: Known, who: str | None, safe: float, unsafe: float
) -> Misreport:
    """Return a report of a certificate, after deciding on it again."""
    others = np.flatnonzero(certificate.inner[:, 0])
    for action in others[others != certificate.decided[0]]:
        report = certificate.witness(np.array([action]))
        if decisions_on(rule, report, known)[0] == action:
            values = tuple(tuple(map(float, row)) for row in report.values[:, :, 0])
            return Misreport(who, safe, unsafe, certificate.expected.actions[action], values, certificate.method)
    return Misreport(who, safe, method=certificate.method)
