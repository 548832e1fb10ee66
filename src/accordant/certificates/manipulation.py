"""`manipulability`: what each stakeholder alone could gain by misreporting, measured by their honest rewards.

Whoever misreports wants an action that is truly worth more to them than the decision on honest reports. Their gain is
the difference of their own expected rewards; a misreport that changes the decision for the worse, by their own honest
rewards, is none (Gibbard 1973, Satterthwaite 1975: a rule without such gains is strategy-proof).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Integers, Mask, Values
from accordant.certificates.certificate import Certificate, certify_each
from accordant.certificates.reports import Known
from accordant.certificates.threat import Threat
from accordant.errors import UnknownNameError
from accordant.json_values import finite
from accordant.strategies.strategy import Strategy
from accordant.utilities import ExpectedRewards

NEGLIGIBLE = 1e-9  # a gain this small is rounding


@dataclass(frozen=True, eq=False)
class Manipulation:
    """What every stakeholder alone could gain in every context.

    Attributes
    ----------
    rule
        Label of the rule.
    stakeholders, actions
        Names.
    delta
        Largest misreport of an entry; 1 allows any report.
    gain_low
        Gain of the best misreport that is known, shape (stakeholder, context), in units of expected reward; 0 if none.
    gain_high
        No misreport gains more, same shape.
    action
        The action that the best known misreport brings about, same shape; the decision where there is none.
    certificates
        What each stakeholder alone can bring about.
    """

    rule: str
    stakeholders: tuple[str, ...]
    actions: tuple[str, ...]
    delta: float
    gain_low: Values
    gain_high: Values
    action: Integers
    certificates: tuple[Certificate, ...]

    @property
    def exact(self) -> Mask:
        """Where the largest gain is known, shape (stakeholder, context)."""
        return np.asarray(self.gain_low == self.gain_high)

    @property
    def manipulable(self) -> Mask:
        """Where a stakeholder is known to gain, shape (stakeholder, context)."""
        return np.asarray(self.gain_low > NEGLIGIBLE)

    @property
    def proof(self) -> Mask:
        """Where a stakeholder certainly cannot gain, shape (stakeholder, context)."""
        return np.asarray(self.gain_high <= NEGLIGIBLE)

    @property
    def shares(self) -> tuple[Values, Values]:
        """At least and at most in which share of contexts each stakeholder could gain, both (stakeholder,)."""
        return _means(self.manipulable), _means(~self.proof)

    @property
    def mean_gains(self) -> tuple[Values, Values]:
        """Lower and upper bound of each stakeholder's largest gain, averaged over contexts, both (stakeholder,)."""
        return _means(self.gain_low), _means(self.gain_high)

    def witness(self, stakeholder: str) -> ExpectedRewards:
        """Return reports in which one stakeholder misreports for the largest known gain in every context.

        Raises
        ------
        UnknownNameError
            If there is no such stakeholder.
        """
        if stakeholder not in self.stakeholders:
            raise UnknownNameError("stakeholder", stakeholder, self.stakeholders)
        i = self.stakeholders.index(stakeholder)
        return self.certificates[i].witness(self.action[i])

    def to_json(self) -> dict[str, Any]:
        """Return plain values: per stakeholder shares of contexts and mean gains; None without contexts."""
        rows = zip(self.stakeholders, *self.shares, *self.mean_gains, _means(self.exact), strict=True)
        return {
            "rule": self.rule,
            "delta": self.delta,
            "contexts": self.gain_low.shape[1],
            "stakeholders": [
                {
                    "stakeholder": name,
                    "manipulable": {"low": finite(low), "high": finite(high)},
                    "mean_gain": {"low": finite(least), "high": finite(most)},
                    "exact": finite(exact),
                }
                for name, low, high, least, most, exact in rows
            ],
        }


def manipulability(
    rule: Strategy, expected: ExpectedRewards, *, delta: float = 1.0, known: Known | None = None
) -> Manipulation:
    """Return what every stakeholder alone could gain by misreporting, in every context.

    Exact for rules that judge each action by its own column of E, and wherever reachable sets are exact; elsewhere
    between what a known misreport gains and what none exceeds. Randomised rules are judged by the decisions in `codes`.

    Parameters
    ----------
    rule
        Any strategy.
    expected
        E as it is: honest rewards.
    delta
        Largest misreport of an entry; 1, the default, allows any report.
    known
        What the rule reads beside E.

    Raises
    ------
    InputError
        If `delta` is negative or no number.
    """
    names = expected.stakeholders
    certificates = certify_each(rule, expected, [Threat(delta, (name,)) for name in names], known=known)
    shape = len(names), expected.n_contexts
    low, high, action = np.zeros(shape), np.zeros(shape), np.zeros(shape, dtype=np.intp)
    columns = np.arange(expected.n_contexts)
    for i, certificate in enumerate(certificates):
        own = np.asarray(expected.values[i], dtype=np.float64)
        honest = own[certificate.decided, columns]
        gains = np.where(certificate.inner, own - honest, -np.inf)
        gains[certificate.decided, columns] = 0.0
        best = gains.argmax(axis=0)
        low[i] = gains[best, columns]
        action[i] = np.where(low[i] > 0, best, certificate.decided)
        high[i] = np.where(certificate.outer, own - honest, 0.0).max(axis=0)
    return Manipulation(rule.label, names, expected.actions, delta, low, high, action, certificates)


def _means(marks: NDArray[Any]) -> Values:
    """Return means over contexts, shape (stakeholder,); NaN if there are none."""
    return np.asarray(marks.mean(axis=1)) if marks.shape[1] else np.full(len(marks), np.nan)
