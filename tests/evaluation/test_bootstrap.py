"""The bootstrap against taking rows, against fairlearn's resamples, and against itself on the other path."""

from __future__ import annotations

from statistics import NormalDist

import fairlearn.metrics as fm
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from accordant import metrics
from accordant.decisions import Decisions
from accordant.errors import InputError
from accordant.evaluation import bootstrap_metrics
from accordant.evaluation.bootstrap import (
    Statistics,
    resampled,
)
from accordant.evidence import Evidence
from accordant.statistics import Units, WeightBlock, percentile_interval, weight_blocks


def plain(weighted):
    return {label: metric for label, (metric, _) in weighted.items()}


def on_weights(statistics, units, weights):
    """Evaluate all metrics under given weights of units."""
    block = WeightBlock(slice(0, len(weights)), slice(None), weights)
    return statistics.resampled(units, [block], len(weights))


def taken(evidence, rows):
    """Return evidence that repeats rows, as a resample does."""
    return Evidence(
        evidence.problem, evidence.log.take(rows), evidence.expected.take(rows), evidence.rewards[:, :, rows]
    )


def decisions_of(decisions, rows):
    policy = None if decisions.policy is None else decisions.policy[:, rows]
    return Decisions(
        decisions.strategy, decisions.action_names, decisions.codes[rows], decisions.tied[rows], policy=policy
    )


def test_a_resample_equals_evaluating_the_repeated_rows(world, strategies, summing):
    """Every metric under weights is the metric of the resampled rows themselves."""
    evidence = world(80)
    lines = strategies(evidence)
    statistics = Statistics.of(lines, evidence, plain(summing))
    generator = np.random.default_rng(3)
    for _ in range(5):
        rows = generator.integers(0, 80, 80)
        weights = np.bincount(rows, minlength=80).astype(float)[None]
        found = on_weights(statistics, Units.single(80), weights).values[0]
        for s, line in enumerate(lines.values()):
            for m, metric in enumerate(plain(summing).values()):
                expected = metric.evaluate(decisions_of(line, rows), taken(evidence, rows)).value
                assert found[s, m] == pytest.approx(np.nan if expected is None else expected, abs=1e-12, nan_ok=True)


def test_pattern_and_row_paths_agree_on_the_same_draws(world, strategies, counting):
    evidence = world(3000)
    statistics = Statistics.of(
        {name: strategies(evidence)[name] for name in ("good", "constant:Deny")}, evidence, plain(counting)
    )
    patterns, single = statistics.units(), Units.single(3000)
    assert patterns.collapsed
    assert patterns.sizes.sum() == 3000
    rows = np.random.default_rng(1).multinomial(3000, np.full(3000, 1 / 3000), size=20).astype(float)
    grouped = np.stack([np.bincount(patterns.patterns, weights=row, minlength=len(patterns.sizes)) for row in rows])
    first, second = on_weights(statistics, patterns, grouped), on_weights(statistics, single, rows)
    np.testing.assert_allclose(first.values, second.values, atol=1e-13)


@pytest.mark.long
def test_pattern_and_row_paths_give_the_same_intervals_within_monte_carlo_error(world, strategies, counting):
    evidence = world(2000)
    statistics = Statistics.of({"good": strategies(evidence)["good"]}, evidence, plain(counting))
    limits = []
    for units in (statistics.units(), Units.single(2000)):
        found = []
        for seed in range(8):
            blocks = weight_blocks(units, 2000, np.random.default_rng(seed))
            interval = percentile_interval(statistics.resampled(units, blocks, 2000).values[:, 0])
            found.append(np.stack([interval.low, interval.high]))
        limits.append(np.array(found))
    error = np.sqrt(limits[0].var(axis=0, ddof=1) / 8 + limits[1].var(axis=0, ddof=1) / 8)
    assert (np.abs(limits[0].mean(axis=0) - limits[1].mean(axis=0)) < 5 * error).all()


def test_equals_fairlearn_on_the_same_resamples(world, strategies):
    evidence = world(400)
    line = strategies(evidence)["fair"]
    asked = {"rate": metrics.create("selection_rate", {"attributes": ["age"]})}
    asked |= {
        aggregate: metrics.create("demographic_parity", {"attributes": ["age"], "aggregate": aggregate})
        for aggregate in ("difference", "ratio")
    }
    statistics = Statistics.of({"fair": line}, evidence, asked)
    rows = np.random.default_rng(2).integers(0, 400, (15, 400))
    weights = np.stack([np.bincount(row, minlength=400) for row in rows]).astype(float)
    found = on_weights(statistics, Units.single(400), weights)
    for b, row in enumerate(rows):
        frame = fm.MetricFrame(
            metrics=fm.selection_rate,
            y_true=evidence.log.outcomes[row] == 0,
            y_pred=np.isin(line.codes[row], [0, 1]),
            sensitive_features=evidence.log.contexts["age"][row],
        )
        np.testing.assert_allclose(found.values[b, 0], [frame.overall, frame.difference(), frame.ratio()], atol=1e-12)


def test_interval_of_a_share_has_the_textbook_width(world, strategies):
    """The bootstrap distribution of a share is binomial: its limits are binomial quantiles."""
    stats = pytest.importorskip("scipy.stats")
    evidence = world(5000)
    lines = {"good": strategies(evidence)["good"]}
    asked = {"share": metrics.create("share_of_action", {"action": "Grant"})}
    drawn = bootstrap_metrics(lines, evidence, asked, resamples=20_000, generator=np.random.default_rng(0))
    interval = percentile_interval(drawn.values[:, 0, 0])
    share = lines["good"].share()[0]
    assert interval.low == pytest.approx(stats.binom.ppf(0.025, 5000, share) / 5000, abs=4e-4)
    assert interval.high == pytest.approx(stats.binom.ppf(0.975, 5000, share) / 5000, abs=4e-4)


@pytest.mark.parametrize("kind", ["counting", "summing"])
def test_same_seed_same_bytes_and_other_seed_other_bytes(world, strategies, request, kind):
    evidence = world(1000)
    asked = plain(request.getfixturevalue(kind))
    runs = [
        bootstrap_metrics(
            strategies(evidence), evidence, asked, resamples=50, generator=np.random.default_rng(seed)
        ).values.tobytes()
        for seed in (4, 4, 5)
    ]
    assert runs[0] == runs[1] != runs[2]


def test_resamples_are_paired(world, strategies, summing):
    """Two names for the same decisions have the same value in every resample."""
    evidence = world(300)
    line = strategies(evidence)["good"]
    twice = {"first": line, "other": strategies(evidence)["poor"], "second": line}
    drawn = bootstrap_metrics(twice, evidence, plain(summing), resamples=30, generator=np.random.default_rng(0))
    np.testing.assert_array_equal(drawn.values[:, 0], drawn.values[:, 2])
    assert (drawn.values[:, 0] != drawn.values[:, 1]).any()


def test_constant_policy_collapses_and_varying_policy_does_not(world, decided, counting):
    evidence = world(3000)
    uniform = {"random": decided(evidence, "random", 0, np.full((3, 3000), 1 / 3))}
    assert Statistics.of(uniform, evidence, plain(counting)).units().collapsed
    drawn = np.random.default_rng(0).dirichlet((1, 1, 1), 3000).T
    varying = {"soft": decided(evidence, "soft", 0, drawn)}
    statistics = Statistics.of(varying, evidence, plain(counting))
    assert not statistics.units().collapsed
    assert np.isfinite(resampled(statistics, resamples=10, generator=np.random.default_rng(0)).values).all()


def test_blocks_patternss_add_up(monkeypatch, world, strategies, decided, summing):
    """Many small blocks give what all contexts at once give under the same weights."""
    monkeypatch.setattr("accordant.statistics.resampling.BLOCK", 500)
    evidence = world(120)
    policy = np.random.default_rng(0).dirichlet((1, 1, 1), 120).T
    lines = strategies(evidence) | {"soft": decided(evidence, "soft", 0, policy)}
    statistics = Statistics.of(lines, evidence, plain(summing))
    blocks = list(weight_blocks(Units.single(120), 25, np.random.default_rng(6)))
    assert len(blocks) == 6
    together = np.concatenate([block.weights for block in blocks], axis=1)
    found = resampled(statistics, resamples=25, generator=np.random.default_rng(6))
    expected = on_weights(statistics, Units.single(120), together)
    np.testing.assert_allclose(found.values, expected.values, atol=1e-12)


@pytest.mark.parametrize("n", [1, 7, 1000])
@pytest.mark.parametrize("resamples", [1, 3, 400])
def test_every_resample_draws_as_many_contexts_as_there_are(monkeypatch, n, resamples):
    monkeypatch.setattr("accordant.statistics.resampling.BLOCK", 900)  # several blocks, the last one narrower
    kinds = [Units.single(n)]
    if n == 1000:
        kinds.append(Units(np.array([0, 300]), np.array([300, 700]), (np.arange(n) >= 300).astype(int)))
    for units in kinds:
        drawn = np.zeros((resamples, len(units.sizes)))
        for block in weight_blocks(units, resamples, np.random.default_rng(0)):
            assert block.weights.size <= 900
            drawn[block.resamples, block.units] += block.weights
        assert (drawn.sum(axis=1) == n).all()


def test_all_contexts_are_drawn_equally_often():
    units = Units.single(1000)
    drawn = np.concatenate([block.weights for block in weight_blocks(units, 3000, np.random.default_rng(1))], axis=1)
    chi = ((drawn.sum(axis=0) - 3000) ** 2 / 3000).sum()
    assert 800 < chi < 1200  # chi-square with 999 degrees of freedom, sd 45
    assert drawn.var(axis=0).mean() == pytest.approx(0.999, abs=0.01)  # multinomial: 1 − 1/n


@settings(max_examples=60, deadline=None)
@given(
    values=arrays(np.float64, st.tuples(st.integers(1, 40), st.just(3)), elements=st.floats(-5, 5) | st.just(np.nan)),
    level=st.floats(0.01, 0.99),
)
def test_percentile_interval_equals_numpy_without_the_undefined(values, level):
    found = percentile_interval(values, level)
    for column in range(3):
        kept = values[~np.isnan(values[:, column]), column]
        assert found.undefined[column] == pytest.approx(1 - len(kept) / len(values))
        if not len(kept):
            assert np.isnan([found.low[column], found.high[column]]).all()
            continue
        expected = np.quantile(kept, [(1 - level) / 2, (1 + level) / 2])
        np.testing.assert_allclose([found.low[column], found.high[column]], expected, atol=1e-12)


@pytest.mark.parametrize("share", [0.2, 0.3, 0.5, 0.7])
def test_limits_around_an_estimate_reach_as_far_as_bias_does(share):
    """Of resamples 0 to 1 the quantile p is p; Efron's limits are Φ(2 z ± 1.96), z that of the share below."""
    normal = NormalDist()
    z = normal.inv_cdf((1000 * share + 0.5) / 1001)
    corrected = [normal.cdf(2 * z + normal.inv_cdf(tail)) for tail in (0.025, 0.975)]
    found = percentile_interval(np.linspace(0, 1, 1001)[:, None], estimates=np.array([share]))
    assert (found.low[0], found.high[0]) == pytest.approx((min(0.025, corrected[0]), max(0.975, corrected[1])))


def test_wrong_requests_are_refused(world, strategies, counting):
    evidence = world(30)
    with pytest.raises(InputError, match="resamples is 0"):
        bootstrap_metrics(
            strategies(evidence), evidence, plain(counting), resamples=0, generator=np.random.default_rng(0)
        )
    with pytest.raises(InputError, match="level is 95"):
        percentile_interval(np.zeros((3, 1)), 95)
    with pytest.raises(InputError, match="the evidence has 30 contexts"):
        bootstrap_metrics(
            strategies(world(31)), evidence, plain(counting), resamples=2, generator=np.random.default_rng(0)
        )
