"""`conflicts`: for each pair of metrics, whether their conflict is in the data, and what bounds on group gaps cost."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from accordant.arrays import Codes
from accordant.decisions import Decisions
from accordant.errors import InputError, UnknownNameError
from accordant.evaluation.composite import WeightedMetrics
from accordant.evaluation.conflict.attainable import linear, pool_of, probes, reweighed
from accordant.evaluation.conflict.exploratory_estimates import ExploratoryEstimate, Material, exploratory_estimate
from accordant.evaluation.conflict.fronts import Hindsight, concession_interval
from accordant.evaluation.conflict.hypotheses import HeldOutTotals, claimed
from accordant.evaluation.conflict.pairs import VERDICTS, Kind, PairConflict
from accordant.evaluation.conflict.parity_price import Bounded, ParityPrice, bounded, price_curve
from accordant.evaluation.conflict.tests import judged, settled
from accordant.evaluation.conflict.totals import Additive, Totals, additive, signed
from accordant.evidence import Evidence
from accordant.json_values import fields_json
from accordant.metrics.metric import Metric, SumMetric
from accordant.statistics import cluster_codes
from accordant.strategies import Strategy, create

LEAST_CONTEXTS = 20  # fewer are not split into halves


@dataclass(frozen=True, eq=False)
class Conflicts:
    """Pairs of metrics and prices of parity.

    Attributes
    ----------
    pairs
        One result per pair.
    prices
        One per metric with goal ``zero``, the reason included where it cannot be bounded.
    n, resamples, level
        Contexts, resamples, coverage.
    tried
        How many policies were looked at by kind; ``probe`` counts those that only test whether metrics can come apart.
    """

    pairs: tuple[PairConflict, ...]
    prices: tuple[ParityPrice, ...]
    n: int
    resamples: int
    level: float
    tried: Mapping[str, int]

    def between(self, first: str, second: str) -> PairConflict:
        """Return the result on two metrics, in either order."""
        for pair in self.pairs:
            if {first, second} == set(pair.metrics):
                return pair
        raise UnknownNameError(
            "pair of metrics", f"{first}, {second}", [", ".join(pair.metrics) for pair in self.pairs]
        )

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return fields_json(self) | {"verdicts": list(VERDICTS)}


def conflicts(
    decisions: Mapping[str, Decisions],
    evidence: Evidence,
    metrics: WeightedMetrics,
    *,
    candidates: Sequence[str],
    generator: np.random.Generator,
    resamples: int = 1000,
    level: float = 0.95,
    rule: Strategy | None = None,
    among: Sequence[str] | None = None,
) -> Conflicts:
    """Judge every pair of metrics, and price the bounds on group gaps.

    Parameters
    ----------
    decisions
        Strategy name to its decisions on the contexts of `evidence`.
    evidence
        What is known about the contexts.
    metrics
        Label to metric and weight.
    candidates
        Names of the strategies that are compared; others only show whether metrics can come apart.
    generator
        Source of halves, probes and resamples; the same state gives the same result.
    resamples
        Number of bootstrap resamples; 0 for none, and then nothing is confirmed.
    level
        Coverage of the intervals.
    rule
        The rule that is bounded, fitted; None for the utilitarian one.
    among
        Labels of the metrics to pair; None for those with positive weight.

    Raises
    ------
    InputError
        If names, decisions or metrics do not fit.
    """
    chosen = [label for label, (_, weight) in metrics.items() if weight > 0] if among is None else list(among)
    for kind, names, known in (("metric", chosen, metrics), ("candidate strategy", candidates, decisions)):
        for name in names:
            if name not in known:
                raise UnknownNameError(kind, name, known)
    if not candidates:
        raise InputError("no candidate strategies; a conflict needs at least one")
    plain = {label: metric for label, (metric, _) in metrics.items()}
    base = create("utilitarian").for_problem(evidence.problem) if rule is None else rule
    bounds = [bounded(label, metric, base, evidence) for label, metric in plain.items() if metric.goal == "zero"]
    policies = _policies(decisions, candidates, evidence, bounds)
    study = _Study(evidence, {label: signed(plain[label], evidence) for label in chosen}, policies, resamples, level)
    tried = policies.everything | probes(evidence.expected, generator)
    pairs = study.pairs(tried, generator) if len(chosen) > 1 else ()
    prices = _prices(bounds, evidence, plain, resamples, generator, level)
    counts = {
        kind: sum(own == kind for own in policies.kinds.values()) for kind in ("strategy", "reweighed", "bounded")
    }
    return Conflicts(
        pairs, prices, evidence.n_contexts, resamples, level, {**counts, "probe": len(tried) - len(policies.everything)}
    )


@dataclass(frozen=True, eq=False)
class _Policies:
    """Decisions by name: those attainable with their kinds, and all that were given or made."""

    kinds: Mapping[str, Kind]
    everything: dict[str, Decisions]

    def named(self, names: Sequence[str]) -> dict[str, Decisions]:
        """Return the decisions of some policies, by name."""
        return {name: self.everything[name] for name in names}


def _policies(
    decisions: Mapping[str, Decisions], candidates: Sequence[str], evidence: Evidence, bounds: Sequence[Bounded]
) -> _Policies:
    """Collect the candidates, the reweighed utilitarian rule, and bounded rules."""
    kinds: dict[str, Kind] = dict.fromkeys(candidates, "strategy")
    everything = dict(decisions)
    made: list[tuple[Kind, Mapping[str, Decisions]]] = [("reweighed", reweighed(evidence.expected))]
    made += [("bounded", bound.decisions) for bound in bounds]
    for kind, more in made:
        for name, decided in more.items():
            if name not in everything:
                everything[name], kinds[name] = decided, kind
    return _Policies(kinds, everything)


@dataclass(frozen=True, eq=False)
class _Study:
    """The pairs of some metrics over some policies."""

    evidence: Evidence
    metrics: Mapping[str, Metric]
    policies: _Policies
    resamples: int
    level: float

    def pairs(self, tried: Mapping[str, Decisions], generator: np.random.Generator) -> tuple[PairConflict, ...]:
        """Return the result on each pair."""
        choosing, other = self._halves(generator)
        material = self._material(tried, choosing, generator)
        estimates = [
            claimed(material, exploratory_estimate(material, pair))
            for pair in combinations(range(len(self.metrics)), 2)
        ]
        held_out = self._held_out(estimates, other, generator)
        # every pair on the same resamples, and prices on those that follow as if none had been drawn
        return tuple(
            judged(material, estimate, held_out, self._interval(material, estimate, copy.deepcopy(generator)))
            for estimate in estimates
        )

    def _interval(
        self, material: Material, estimate: ExploratoryEstimate, generator: np.random.Generator
    ) -> tuple[float, float] | None:
        """Return the interval of the concession with hindsight if it is known, and the best two candidates are."""
        reach = material.hindsight.get(estimate.columns)
        if reach is None or not estimate.conflict or not settled(material, estimate).apart:
            return None
        pool, labels = material.pool.only("strategy"), [material.metrics[m] for m in estimate.columns]
        return concession_interval(
            reach.concession(estimate.better.max(axis=0), estimate.span), reach,
            (material.parts[estimate.columns[0]], material.parts[estimate.columns[1]]),
            self.policies.named([pool.policies[row].name for row in estimate.candidates]), self.evidence,
            {label: self.metrics[label] for label in labels},
            resamples=self.resamples, level=self.level, generator=generator,
        )  # fmt: skip

    def _halves(self, generator: np.random.Generator) -> tuple[Codes, Codes]:
        """Return the contexts on which policies are chosen, and those on which they are judged; none if too few."""
        n = self.evidence.n_contexts
        if not self.resamples or self.evidence.n_independent < LEAST_CONTEXTS:
            return np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.intp)
        order = generator.permutation(n)
        half = n // 2
        if (clusters := self.evidence.clusters) is not None:  # one cluster after another, and none in both halves
            places = cluster_codes(clusters[order])
            order, places = order[np.argsort(places, kind="stable")], np.sort(places)
            half = int(np.searchsorted(places, places[half])) or int(np.searchsorted(places, 1))
        return np.sort(order[:half]), np.sort(order[half:])

    def _material(self, tried: Mapping[str, Decisions], choosing: Codes, generator: np.random.Generator) -> Material:
        """Return everything that is computed once for all pairs."""
        evidence, metrics, kinds = self.evidence, self.metrics, self.policies.kinds
        goals = tuple(metric.goal for metric in metrics.values())
        attainable = self.policies.named(list(kinds))
        everything = Totals.on(tried, evidence, metrics)
        halved = pool_of(Totals.among(attainable, evidence, metrics, choosing), kinds, goals) if len(choosing) else None
        drawn = None
        if self.resamples:
            named = self.policies.named([name for name, kind in kinds.items() if kind == "strategy"])
            every = np.arange(evidence.n_contexts)
            drawn = Totals.resampled(named, evidence, metrics, every, self.resamples, generator).values()
        parts, reasons = self._parts()
        hindsight = {(a, b): Hindsight.of(parts[a], parts[b], (goals[a], goals[b])) for a, b in combinations(parts, 2)}
        pool = pool_of(everything, kinds, goals)
        return Material(
            tuple(metrics), goals, everything, everything.values()[:, 0], pool,
            linear(pool.only("strategy", "mixture")), halved, drawn, hindsight, parts, reasons, self.level,
        )  # fmt: skip

    def _parts(self) -> tuple[dict[int, Additive], dict[int, str]]:
        """Return the metrics as sums over contexts, and why some are none or may not be maximised with hindsight."""
        parts, reasons = {}, {}
        for m, (label, metric) in enumerate(self.metrics.items()):
            if isinstance(metric, SumMetric) and not self.evidence.hindsight:
                reasons[m] = f"{label}: values of actions not taken are estimates, and the best of several is too good"
                continue
            part = additive(metric, self.evidence)
            if part is None:
                reasons[m] = f"{label} does not add over contexts, so no front with hindsight was computed"
            else:
                parts[m] = part
        return parts, reasons

    def _held_out(
        self, estimates: Sequence[ExploratoryEstimate], contexts: Codes, generator: np.random.Generator
    ) -> HeldOutTotals | None:
        """Return sums on the judging half, of all policies that were chosen and those they challenge; None if none."""
        names = dict.fromkeys(
            name
            for estimate in estimates
            for claim in estimate.claims
            for name in (*claim.over.parts, *claim.by.parts, *estimate.rivals)
        )
        if not names:
            return None
        named = self.policies.named(list(names))
        drawn = Totals.resampled(named, self.evidence, self.metrics, contexts, self.resamples, generator)
        return HeldOutTotals(Totals.among(named, self.evidence, self.metrics, contexts), drawn)


def _prices(
    bounds: Sequence[Bounded],
    evidence: Evidence,
    metrics: Mapping[str, Metric],
    resamples: int,
    generator: np.random.Generator,
    level: float,
) -> tuple[ParityPrice, ...]:
    """Return a price curve for each gap, with resamples shared by all of them."""
    named = {name: decided for bound in bounds for name, decided in bound.decisions.items()}
    if not named:
        return tuple(
            ParityPrice(bound.metric, bound.rule, bound.attribute, bound.same, bound.reason, ()) for bound in bounds
        )
    point = Totals.on(named, evidence, metrics)
    drawn = None
    if resamples:
        every = np.arange(evidence.n_contexts)
        drawn = Totals.resampled(named, evidence, metrics, every, resamples, generator)
    return tuple(price_curve(bound, evidence, point, drawn, level) for bound in bounds)
