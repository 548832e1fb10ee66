"""Alarms when somebody's preferences change, with a bound on how often there is a false one.

Two detectors, each with its own null hypothesis:

    agreement          the agreement with a reference reward is constant (`log_agreement_process`); needs logistic
                       answers and a reference fixed beforehand; holds whatever items are shown: the one to begin with
    exchangeability    early and late scores are exchangeable (`log_jumper`); needs no model of the answers, but
                       the kind of items shown must not change either

Both multiply up a wealth W that under the null rarely gets high: P(W ever reaches 1/α) ≤ α, however long one watches
(Ville 1939). With m streams the alarm is at W ≥ m/α: the probability of any false alarm among all streams, at any time,
is then at most α, however the streams depend on each other (Bonferroni).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from accordant.arrays import Codes, Values
from accordant.errors import InputError
from accordant.preferences.checks import codes, numbers
from accordant.preferences.drift.e_processes import conformal_p_values, log_agreement_process, log_jumper

ALPHA = 0.05
CONSTANT_AGREEMENT = "the agreement with the reference reward is the same at all times, whatever it is"
EXCHANGEABLE = "the scores are exchangeable over time: every order of them is as likely"


@dataclass(frozen=True, eq=False)
class DriftTrace:
    """The wealth of one stream.

    Attributes
    ----------
    name
        Of the user or group.
    records
        Positions of its records, in order of time, shape (step,).
    times
        Their times, shape (step,); their place in the given order if there are no times.
    log_wealth
        log W after each record, shape (step,).
    log_threshold
        log(m/α).
    alarm
        First step at which the wealth reaches the threshold; None if it never does.
    """

    name: str
    records: Codes
    times: Values
    log_wealth: Values
    log_threshold: float
    alarm: int | None

    @property
    def alarm_time(self) -> float | None:
        """Time of the alarm; None without one."""
        return None if self.alarm is None else float(self.times[self.alarm])

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "name": self.name,
            "records": len(self.records),
            "largest_log_wealth": float(self.log_wealth.max(initial=0.0)),
            "log_threshold": self.log_threshold,
            "alarm": self.alarm,
            "alarm_time": self.alarm_time,
        }


@dataclass(frozen=True, eq=False)
class DriftAlarms:
    """Traces of all streams that were watched together.

    Attributes
    ----------
    detector
        ``"agreement"`` or ``"exchangeability"``.
    null
        What an alarm speaks against, in a sentence.
    alpha
        Largest probability of any false alarm, over all streams and all time.
    traces
        One for each stream, also for those without records.
    """

    detector: str
    null: str
    alpha: float
    traces: tuple[DriftTrace, ...]

    @property
    def alarmed(self) -> tuple[str, ...]:
        """Names of the streams with an alarm."""
        return tuple(trace.name for trace in self.traces if trace.alarm is not None)

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "detector": self.detector,
            "null": self.null,
            "alpha": self.alpha,
            "alarmed": list(self.alarmed),
            "traces": [trace.to_json() for trace in self.traces],
        }


def watch_agreement(
    margins: Values,
    *,
    alpha: float = ALPHA,
    streams: Codes | None = None,
    names: Sequence[str] | None = None,
    times: Values | None = None,
) -> DriftAlarms:
    """Watch whether the agreement of observed answers with a reference reward changes.

    Parameters
    ----------
    margins
        Reward of the chosen item less that of the rejected one under the reference, shape (record,). The reference must
        not have learned from these records. In units of the Bradley–Terry model the bets are sharpest.
    alpha
        Largest probability of any false alarm, over all streams and all time, in (0, 1).
    streams
        Code of the user or group of each record, shape (record,); None for one stream. The answers of a group are to be
        those of one population: if somebody with another agreement begins to answer more, that is a change too.
    names
        Names of the streams, also of those without records; None for ``"0"``, ``"1"``, …
    times
        Order of the records, shape (record,), ties in the given order; None for the given order.

    Raises
    ------
    InputError
        If shapes differ, a number is not finite, a code has no name, or alpha is out of range.
    """
    return _watched("agreement", CONSTANT_AGREEMENT, log_agreement_process, margins, alpha, streams, names, times)


def watch_exchangeability(
    scores: Values,
    *,
    generator: np.random.Generator,
    alpha: float = ALPHA,
    streams: Codes | None = None,
    names: Sequence[str] | None = None,
    times: Values | None = None,
) -> DriftAlarms:
    """Watch whether early and late records differ in a score.

    Parameters
    ----------
    scores
        One number per record, shape (record,), by a rule that has not learned from the order of these records; for
        example margins of a reference reward.
    generator
        Breaks ties; the same state gives the same bytes.
    alpha, streams, names, times
        As for `watch_agreement`.

    Raises
    ------
    InputError
        As for `watch_agreement`.
    """

    def wealth(stream: Values) -> Values:
        """Return the log wealth of one stream."""
        return log_jumper(conformal_p_values(stream, generator))

    return _watched("exchangeability", EXCHANGEABLE, wealth, scores, alpha, streams, names, times)


def _watched(
    detector: str,
    null: str,
    log_wealth: Callable[[Values], Values],
    scores: Values,
    alpha: float,
    streams: Codes | None,
    names: Sequence[str] | None,
    times: Values | None,
) -> DriftAlarms:
    """Run a detector over each stream by itself."""
    scores = numbers("scores" if detector == "exchangeability" else "margins", scores, "record")
    n = len(scores)
    if not isinstance(alpha, Real) or not 0 < alpha < 1:
        raise InputError(f"alpha is {alpha!r}; allowed: a number between 0 and 1")
    stream = (
        np.zeros(n, dtype=np.intp)
        if streams is None
        else codes("streams", streams, n, None if names is None else len(names))
    )
    when = np.arange(n, dtype=np.float64) if times is None else numbers("times", times, "record", n)
    every = tuple(map(str, range(int(stream.max(initial=0)) + 1) if names is None else names))
    if not every:
        raise InputError("names hold no name; allowed: at least one stream")
    threshold = math.log(len(every) / alpha)
    order = np.lexsort((np.arange(n), when, stream))
    edges = np.searchsorted(stream[order], np.arange(len(every) + 1))
    traces = []
    for name, start, stop in zip(every, edges[:-1], edges[1:], strict=True):
        rows = order[start:stop]
        wealth = log_wealth(scores[rows])
        reached = np.flatnonzero(wealth >= threshold)
        alarm = int(reached[0]) if len(reached) else None
        traces.append(DriftTrace(name, rows, when[rows], wealth, threshold, alarm))
    return DriftAlarms(detector, null, alpha, tuple(traces))
