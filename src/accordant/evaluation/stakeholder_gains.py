"""Who gains and who pays if one strategy decides instead of another: differences of mean rewards, all shown together.

For stakeholder i the gain is r̄_i(π) − r̄_i(π'), the difference of mean realised rewards on the same contexts. Intervals
are percentile intervals of paired resamples of contexts, at the level at which those of all stakeholders hold together
(`accordant.statistics.joint_level`), after the stretch of `accordant.statistics.widened` for few contexts, and wider by
whatever decisions that the log hardly holds leave open. The combination is ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from accordant.arrays import Values
from accordant.decisions import Decisions
from accordant.evaluation.bootstrap import Statistics, resampled
from accordant.evaluation.intervals import Support
from accordant.evidence import Evidence
from accordant.faces import Displayed, drawn
from accordant.metrics import Metric
from accordant.metrics.welfare import StakeholderReward
from accordant.naming import listed
from accordant.statistics import Estimate, joint_level, percentile_estimate, widened

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ALIKE = 0.01  # share of contexts: strategies that decide fewer of them differently decide alike, as in the leaderboard
FEW = 20  # contexts decided differently from which on resamples know how much these change


@dataclass(frozen=True)
class StakeholderGains(Displayed):
    """What every stakeholder gets under one strategy beyond what it gets under another.

    Attributes
    ----------
    strategy, other
        Names of the two.
    different
        Share of the contexts in which they decide differently, in [0, 1].
    worst_off
        Stakeholder with the lowest mean reward under the other strategy.
    gains
        Stakeholder to difference of mean rewards, in [−1, 1]; negative for who pays.
    n
        Contexts.
    """

    strategy: str
    other: str
    different: float
    worst_off: str
    gains: Mapping[str, Estimate]
    n: int

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw who gains and who pays, with intervals that hold together; needs the extra ``plot``.

        Parameters
        ----------
        ax
            Where to draw; None for a figure of its own.

        Raises
        ------
        InputError
            If matplotlib is not installed.
        """
        return drawn("gains", self, ax)

    @property
    def gainers(self) -> tuple[str, ...]:
        """Stakeholders of whom a gain is shown: the whole interval is above 0."""
        return tuple(name for name, gain in self.gains.items() if gain.low is not None and gain.low > 0)

    @property
    def payers(self) -> tuple[str, ...]:
        """Stakeholders of whom a loss is shown: the whole interval is below 0."""
        return tuple(name for name, gain in self.gains.items() if gain.high is not None and gain.high < 0)

    @property
    def sentence(self) -> str:
        """What is shown, in one sentence; what is not shown is said too."""
        if self.different < ALIKE:
            return (
                f"{self.strategy} decides as {self.other} does in at least {1 - ALIKE:.0%} of the rows: against it no "
                "stakeholder is shown to gain, and none to pay."
            )
        if reason := next((gain.reason for gain in self.gains.values() if gain.reason), ""):
            return f"Who gains and who pays under {self.strategy} against {self.other} is not shown: {reason}."
        more, less = (
            [_named(name, self.gains[name], word) for name in names]
            for names, word in ((self.gainers, "more"), (self.payers, "less"))
        )
        rest = [name for name in self.gains if name not in (*self.gainers, *self.payers)]
        unshown = f"no difference is shown for {listed(rest)}" if rest else ""
        parts = [f"gives {listed([*more, *less])}" if more or less else "", unshown]
        if not more:
            parts.append("so no gain is shown")
        level = next((gain.level for gain in self.gains.values() if gain.level is not None), None)
        sure = "" if level is None else f" (mean rewards on {self.n} rows; {level:.0%} confidence, all together)"
        return (
            f"Under {self.other} {self.worst_off} is worst off. Against it {self.strategy} "
            f"{'; '.join(part for part in parts if part)}{sure}."
        )

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON values, with the sentence."""
        return {
            "strategy": self.strategy,
            "other": self.other,
            "different": self.different,
            "worst_off": self.worst_off,
            "gains": {name: gain.to_json() for name, gain in self.gains.items()},
            "n": self.n,
            "gainers": list(self.gainers),
            "payers": list(self.payers),
            "sentence": self.sentence,
        }


def stakeholder_gains(
    decisions: Mapping[str, Decisions],
    strategy: str,
    other: str,
    evidence: Evidence,
    *,
    generator: np.random.Generator,
    resamples: int = 1000,
    level: float = 0.95,
) -> StakeholderGains:
    """Compare two strategies for every stakeholder with a weight above 0.

    Parameters
    ----------
    decisions
        Strategy name to its decisions on the contexts of `evidence`.
    strategy, other
        Who decides instead of whom.
    evidence
        What is known about the contexts.
    generator
        Source of the resamples.
    resamples
        Number of bootstrap resamples of contexts, at least 1.
    level
        Coverage of all intervals together, in (0, 1).

    Raises
    ------
    InputError
        If decisions do not fit the evidence.
    """
    names = [stakeholder.name for stakeholder in evidence.problem.stakeholders if stakeholder.weight > 0]
    metrics: dict[str, Metric] = {name: StakeholderReward(stakeholder=name) for name in names}
    two = Statistics.of({name: decisions[name] for name in (strategy, other)}, evidence, metrics)
    results = [two.results(s) for s in range(2)]
    means = np.array([[float(result[name].value or 0.0) for name in names] for result in results])
    different = _different(decisions[strategy], decisions[other])
    reason = _withheld(different, evidence, metrics)
    support = Support.of(two, results)
    if not reason:
        reason = next((overlap.reason for overlap in support.overlaps if overlap is not None and overlap.poor), "")
    differences = dict(zip(names, (means[0] - means[1]).tolist(), strict=True))
    if reason:
        gains = {name: Estimate(gain, reason=reason) for name, gain in differences.items()}
    else:
        sampled = resampled(two, resamples=resamples, generator=generator).values
        drawn = widened(sampled[:, 0] - sampled[:, 1], evidence.n_independent, level)
        joint = joint_level(drawn, level)
        down, up = support.down[0] + support.up[1], support.up[0] + support.down[1]
        gains = {
            name: _wider(percentile_estimate(gain, drawn[:, i], joint), float(down[i]), float(up[i]), level)
            for i, (name, gain) in enumerate(differences.items())
        }
    worst = names[int(means[1].argmin())]
    return StakeholderGains(strategy, other, float(different.mean()), worst, gains, evidence.n_contexts)


def _different(one: Decisions, other: Decisions) -> Values:
    """Return the probability that both decide differently in each context, shape (context,)."""
    if one.policy is None and other.policy is None:
        return np.asarray(one.codes != other.codes, dtype=np.float64)
    first, second = (_policy(decided) for decided in (one, other))
    return np.asarray(np.abs(first - second).sum(axis=0) / 2, dtype=np.float64)


def _policy(decisions: Decisions) -> Values:
    """Return the probability of each action, shape (action, context)."""
    if decisions.policy is not None:
        return np.asarray(decisions.policy, dtype=np.float64)
    return np.asarray(np.arange(len(decisions.action_names))[:, None] == decisions.codes, dtype=np.float64)


def _withheld(different: Values, evidence: Evidence, metrics: Mapping[str, Metric]) -> str:
    """Return why there are no intervals; empty if nothing speaks against them."""
    reasons = [metric.unavailable(evidence) or metric.withheld(evidence) for metric in metrics.values()]
    if reason := next((why for why in reasons if why), ""):
        return reason
    if different.sum() < FEW:
        return f"they decide differently in {different.sum():.0f} of {len(different)} rows, which is too few to tell"
    return ""


def _wider(estimate: Estimate, down: float, up: float, level: float) -> Estimate:
    """Return an estimate whose interval leaves room for what the log hardly holds, within [−1, 1]."""
    if estimate.low is None or estimate.high is None:
        return estimate
    low, high = max(-1.0, estimate.low - down), min(1.0, estimate.high + up)
    return Estimate(estimate.value, low, high, level, estimate.n, estimate.undefined)


def _named(name: str, gain: Estimate, word: str) -> str:
    """Return a gain or a loss in words, with limits that are both positive."""
    assert gain.value is not None
    assert gain.low is not None
    assert gain.high is not None
    limits = sorted((abs(gain.low), abs(gain.high)))
    return f"{name} {abs(gain.value):.3f} [{limits[0]:.3f}, {limits[1]:.3f}] {word}"
