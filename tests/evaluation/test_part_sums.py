"""Leaderboards from sums of parts: the values of all rows in memory, however they are cut, and intervals of buckets."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accordant import metrics
from accordant.contexts import Contexts
from accordant.errors import InputError
from accordant.evaluation import evaluate, summed_leaderboard
from accordant.evaluation.bootstrap import Statistics
from accordant.evaluation.intervals import Summary
from accordant.evaluation.part_sums import BUCKETS, PERSONS, PartSums, context_numbers, person_numbers

LARGE = summed_leaderboard.SMALLEST * BUCKETS


def rows_of(decisions, evidence, rows):
    """Return decisions and evidence of some rows."""
    cut = {
        name: replace(
            each, codes=each.codes[rows], tied=each.tied[rows],
            policy=None if each.policy is None else each.policy[:, rows],
        )
        for name, each in decisions.items()
    }  # fmt: skip
    arrays = ("propensities", "observed_rewards", "robust_levels", "outcome_levels")
    given_arrays = {name: getattr(evidence, name)[:, rows] for name in arrays if getattr(evidence, name) is not None}
    return cut, replace(
        evidence, log=evidence.log.take(rows), expected=evidence.expected.take(rows),
        rewards=evidence.rewards[:, :, rows], **given_arrays,
    )  # fmt: skip


def added_up(decisions, evidence, asked, numbers, cuts):
    """Return the sums of the parts that end at cuts."""
    parts = []
    for rows in np.split(np.arange(evidence.n_contexts), cuts):
        known = {label: metric for label, (metric, _) in asked.items()}
        parts.append(PartSums.of(*rows_of(decisions, evidence, rows), known, numbers[rows]))
    return parts


def of_parts(parts, problem, decisions, asked, kinds, candidates, resamples=0, seed=0):
    """Return the leaderboard of parts, be they small."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(summed_leaderboard, "SMALLEST", 0)
        return summed_leaderboard.summed_leaderboard(
            parts, problem, {name: kinds.get(name, "compromise") for name in decisions}, asked, candidates=candidates,
            generator=np.random.default_rng(seed), resamples=resamples,
        )  # fmt: skip


def in_memory(decisions, evidence, asked, kinds, candidates, resamples=0):
    """Return the leaderboard of the same rows in memory."""
    return evaluate(
        decisions, {name: kinds.get(name, "compromise") for name in decisions}, evidence, asked, candidates=candidates,
        generator=np.random.default_rng(0), resamples=resamples,
    )  # fmt: skip


def assert_same_values(found, expected):
    """Compare everything that is no interval, to a relative 1e-9."""
    near = {"rel": 1e-9, "abs": 1e-12}
    assert [row.strategy for row in found] == [row.strategy for row in expected]
    assert (found.best_constant, found.n) == (expected.best_constant, expected.n)
    assert len(expected.rows) > 1 and len(expected.columns) > 1
    for row, other in zip(found, expected, strict=True):
        assert (row.kind, row.candidate, row.alike, row.below_best_constant) == (
            other.kind, other.candidate, other.alike, other.below_best_constant,
        )  # fmt: skip
        assert row.tied == pytest.approx(other.tied, **near)
        assert row.score.value == (None if other.score.value is None else pytest.approx(other.score.value, **near))
        assert (row.overlap is None) == (other.overlap is None)
        if row.overlap is not None and other.overlap is not None:
            assert row.overlap.unsupported == pytest.approx(other.overlap.unsupported, **near)
            assert row.overlap.effective == pytest.approx(other.overlap.effective, **near)
        for label, cell in row.metrics.items():
            twin = other.metrics[label]
            assert cell.reason == twin.reason
            for mine, theirs in (
                (cell.estimate.value, twin.estimate.value), (cell.n, twin.n), (cell.normalised, twin.normalised),
            ):  # fmt: skip
                assert mine == (None if theirs is None else pytest.approx(theirs, **near))
            assert [(group.rate, group.label) for group in cell.by_group] == [
                (group.rate, group.label) for group in twin.by_group
            ]
            for group, same in zip(cell.by_group, twin.by_group, strict=True):
                value = same.estimate.value
                assert group.estimate.value == (None if value is None else pytest.approx(value, **near))
                assert group.n == pytest.approx(same.n, **near)


@pytest.fixture(scope="session")
def lines(world, strategies, decided):
    """Return a function (n, seed) → decisions, some tied, some randomised, some the log, and their evidence."""

    def make(n=400, seed=0):
        evidence, generator = world(n, seed), np.random.default_rng(seed + 1)
        found = strategies(evidence)
        found["good"] = replace(found["good"], tied=generator.random(n) < 0.3)
        chances, certain = generator.random((3, n)), np.zeros((3, n))
        found["drawn"] = decided(evidence, "drawn", chances.argmax(axis=0), chances / chances.sum(axis=0))
        certain[2] = 1.0
        found["certain"] = decided(evidence, "certain", 2, certain)
        found["logged"] = replace(decided(evidence, "logged", evidence.log.actions), follows_log=True)
        return found, evidence

    return make


@pytest.mark.long
@settings(max_examples=5)
@given(cuts=st.lists(st.integers(1, 399), unique=True, max_size=5).map(sorted), seed=st.integers(0, 3))
def test_values_are_those_in_memory_however_rows_are_cut(lines, summing, kinds, candidates, cuts, seed):
    decisions, evidence = lines(400, seed)
    parts = added_up(decisions, evidence, summing, context_numbers(400, 1, 0, 0), cuts)
    found = of_parts(parts, evidence.problem, decisions, summing, kinds, candidates)
    assert_same_values(found, in_memory(decisions, evidence, summing, kinds, candidates))


@pytest.mark.long
@settings(max_examples=2)
@given(cuts=st.lists(st.integers(1, 399), unique=True, min_size=1, max_size=4).map(sorted))
def test_intervals_do_not_depend_on_the_cuts_but_by_rounding(lines, summing, kinds, candidates, cuts):
    decisions, evidence = lines()
    numbers = context_numbers(400, 1, 0, 0)
    boards = [
        of_parts(added_up(decisions, evidence, summing, numbers, each), evidence.problem, decisions, summing, kinds,
                 candidates, resamples=100)
        for each in ([], cuts)
    ]  # fmt: skip
    for row, other in zip(*boards, strict=True):
        ends = [[(cell.estimate.low, cell.estimate.high) for cell in each.metrics.values()] for each in (row, other)]
        assert (row.strategy, row.among_best) == (other.strategy, other.among_best)
        assert np.array(ends[0], dtype=float) == pytest.approx(np.array(ends[1], dtype=float), rel=1e-9, nan_ok=True)
        assert row.score.low == pytest.approx(other.score.low, rel=1e-9)


def test_the_same_parts_give_the_same_bytes_and_others_nearly(lines, summing, kinds, candidates):
    decisions, evidence = lines()
    texts = []
    for seed in (1, 1, 2):
        parts = added_up(decisions, evidence, summing, context_numbers(400, seed, 0, 0), [150, 300])
        texts.append(
            repr(of_parts(parts, evidence.problem, decisions, summing, kinds, candidates, resamples=100).to_json())
        )
    assert texts[0] == texts[1] != texts[2]


def test_numbers_of_contexts_are_those_of_their_place_in_a_file():
    whole = context_numbers(1000, 3, 2, 0)
    assert np.array_equal(whole[400:], context_numbers(600, 3, 2, 400))
    for other in (context_numbers(1000, 4, 2, 0), context_numbers(1000, 3, 1, 0)):
        assert abs(np.corrcoef(whole, other)[0, 1]) < 0.15
    many = context_numbers(200_000, 0, 0, 0)
    counts = np.bincount((many * BUCKETS).astype(int), minlength=BUCKETS)
    assert 0 <= many.min() and many.max() < 1 and len(counts) == BUCKETS
    assert 300 < np.square(counts - 500).sum() / 500 < 500  # χ² with 399 degrees of freedom


@pytest.mark.parametrize("column", ["age", "sex"])
def test_groups_that_only_some_parts_have(lines, summing, kinds, candidates, column):
    decisions, evidence = lines()
    order = np.argsort(evidence.log.contexts[column], kind="stable")
    decisions, evidence = rows_of(decisions, evidence, order)
    values = evidence.log.contexts[column]
    cuts = np.flatnonzero(values[1:] != values[:-1]) + 1
    parts = added_up(decisions, evidence, summing, context_numbers(400, 1, 0, 0), cuts)
    assert all(len(part.values[column]) == 1 for part in parts) and len(parts) > 1
    for some in (parts, parts[::-1]):
        found = of_parts(some, evidence.problem, decisions, summing, kinds, candidates)
        assert_same_values(found, in_memory(decisions, evidence, summing, kinds, candidates))


def test_metrics_that_are_not_defined_say_why(world, decided, kinds):
    evidence = world(400)
    sex = evidence.log.contexts["sex"]
    decisions = {
        "never to 1": decided(evidence, "never to 1", np.where(sex == 1, 2, evidence.log.outcomes)),
        "blind": decided(evidence, "blind", np.random.default_rng(0).integers(0, 3, 400)),
    }
    asked = {
        "Predictive": (metrics.create("predictive_parity", {"attributes": ["sex"], "protected": "1"}), 0.5),
        "Accuracy": (metrics.create("accuracy"), 0.5),
    }
    parts = added_up(decisions, evidence, asked, context_numbers(400, 1, 0, 0), [100])
    found, expected = (
        of_parts(parts, evidence.problem, decisions, asked, kinds, list(decisions), resamples=100),
        in_memory(decisions, evidence, asked, kinds, list(decisions), resamples=100),
    )
    assert_same_values(found, expected)
    assert found.rows[-1].score.value is None
    assert "group '1' of sex" in found.rows[-1].metrics["Predictive"].reason


@pytest.mark.parametrize("floor", [0.001, 0.03])
def test_support_by_the_log_is_that_in_memory(lines, floor):
    """With few matching cases among rare decisions all below 0.05 count, of all rows together and not part by part."""
    decisions, evidence = lines(300)
    generator = np.random.default_rng(5)
    odds = np.array([1.0, 1.0, 0.0])[:, None] + generator.random((3, 300)) * np.array([1.0, 1.0, 0.04])[:, None]
    chances = odds / odds.sum(axis=0)
    chances[2] = np.maximum(chances[2], floor)
    evidence = replace(
        evidence, estimated=np.array([True, False]), propensities=chances / chances.sum(axis=0),
        observed_rewards=generator.random((2, 300)),
    )  # fmt: skip
    asked = {
        "mean": (metrics.create("mean_reward"), 0.5), "gini": (metrics.create("gini_reward"), 0.5),
        "accuracy": (metrics.create("accuracy"), 0.0),
        "reward": (metrics.create("stakeholder_reward", {"stakeholder": "Bank", "total": True}), 0.0),
    }  # fmt: skip
    known = {label: metric for label, (metric, _) in asked.items()}
    parts = added_up(decisions, evidence, asked, context_numbers(300, 1, 0, 0), [20, 200])
    total = summed_leaderboard._Total.of(parts[0].plus(parts[1]).plus(parts[2]), evidence.problem, known).summary()
    twin = Summary.of(Statistics.of(decisions, evidence, known))
    assert total.support.estimated.tolist() == twin.support.estimated.tolist() == [True, True, False, True]
    assert (twin.support.down > 0).any() and total.support.overlaps[-1] is None is twin.support.overlaps[-1]
    for name in ("down", "up"):
        np.testing.assert_allclose(getattr(total.support, name), getattr(twin.support, name), rtol=1e-9, atol=1e-12)
    assert np.array_equal(total.support.open, twin.support.open)
    np.testing.assert_allclose(
        [[each.unsupported, each.effective] for each in total.support.overlaps if each],
        [[each.unsupported, each.effective] for each in twin.support.overlaps if each], rtol=1e-9,
    )  # fmt: skip
    assert list(total.ranges.values()) == [pytest.approx(span) for span in twin.ranges.values()]
    assert total.withheld == twin.withheld
    pairs = list(np.ndindex(len(decisions), len(decisions)))
    assert [total.agreement(*pair) for pair in pairs] == pytest.approx([twin.agreement(*pair) for pair in pairs])
    assert total.always == twin.always and total.follows_log.tolist() == twin.follows_log.tolist()


def visits(lines, persons=100, times=4):
    """Return rows of persons who come several times, and are decided about alike each time; and whose each row is."""
    decisions, evidence = lines(persons)
    again = np.tile(np.arange(persons), times)
    decisions, evidence = rows_of(decisions, evidence, again)
    return decisions, replace(evidence, log=replace(evidence.log, groups=again)), again


@pytest.mark.long
def test_persons_who_come_again_in_other_parts_are_one(lines, counting, kinds, candidates):
    decisions, evidence, whose = visits(lines)
    numbers = person_numbers(whose, 7)
    monthly = added_up(decisions, evidence, counting, numbers, [100, 200, 300])  # everybody once in each
    assert monthly[0].plus(monthly[1]).independent == 100 == monthly[0].independent
    boards = [
        of_parts(parts, evidence.problem, decisions, counting, kinds, candidates, resamples=400)
        for parts in (monthly, added_up(decisions, evidence, counting, numbers, []))
    ]
    assert boards[0].remarks[-1] == "The 400 rows belong to 100 persons; intervals are for persons."
    assert boards[0].to_json() == boards[1].to_json()
    expected = in_memory(decisions, evidence, counting, kinds, candidates, resamples=400)
    alone = replace(evidence, log=replace(evidence.log, groups=None))
    parts = added_up(decisions, alone, counting, context_numbers(400, 7, 0, 0), [])
    unaware = of_parts(parts, evidence.problem, decisions, counting, kinds, candidates, resamples=400)
    for name in ("good", "fair", "poor"):
        mine, theirs, narrow = (
            board[name].metrics["Share"].estimate for board in (boards[0], expected, unaware)
        )  # fmt: skip
        assert mine.high - mine.low == pytest.approx(theirs.high - theirs.low, rel=0.3)
        assert narrow.high - narrow.low < 0.7 * (mine.high - mine.low)


@pytest.mark.parametrize("kind", [int, float, str, object])
def test_persons_have_the_same_number_however_their_names_are_written(kind):
    names = np.array([12, 3, 12, 7]).astype(kind)
    assert np.array_equal(person_numbers(names, 1), person_numbers(np.array(["12", "3", "12", "7"]), 1))
    assert len(np.unique(person_numbers(names, 1))) == 3
    assert not np.isin(person_numbers(names, 2), person_numbers(names, 1)).any()


def test_many_persons_are_estimated_and_said_to_be(lines, counting, kinds, candidates):
    decisions, evidence, whose = visits(lines)
    part = added_up(decisions, evidence, counting, person_numbers(whose, 7), [])[0]
    everybody = np.random.default_rng(0).random(300_000)
    overlapping = [
        replace(part, persons=np.sort(some)[:PERSONS]) for some in (everybody[:200_000], everybody[100_000:])
    ]
    many = replace(part, arrays=part.arrays | {"sizes": np.full(BUCKETS, 1000.0)})
    total = many.plus(overlapping[0]).plus(overlapping[1])
    assert total.independent == pytest.approx(300_100, rel=0.03)
    assert any("about" in each and "estimated to 1 %" in each for each in summed_leaderboard._of_persons(total))


def test_sorted_rows_have_no_narrower_intervals(world, strategies, kinds, candidates):
    """Buckets of equal size in each part would leave out what differs between parts: of sorted rows, everything."""
    evidence = world(4000)
    decisions, asked = strategies(evidence), {"Accuracy": (metrics.create("accuracy"), 1.0)}
    right = decisions["fair"].codes == evidence.log.outcomes
    spreads = []
    for order in (np.argsort(right, kind="stable"), np.arange(4000)):
        cut, known = rows_of(decisions, evidence, order)
        parts = added_up(cut, known, asked, context_numbers(4000, 3, 0, 0), [1000, 2000, 3000])
        total = summed_leaderboard._Total.of(
            parts[0].plus(parts[1]).plus(parts[2]).plus(parts[3]), evidence.problem, {"Accuracy": asked["Accuracy"][0]}
        )
        spreads.append(total.resampled(1000, np.random.default_rng(0)).values[:, list(decisions).index("fair"), 0])
    expected = np.sqrt(right.mean() * (1 - right.mean()) / 4000)
    assert [each.std() for each in spreads] == pytest.approx([expected] * 2, rel=0.15)


def test_what_varies_by_rounding_does_not_vary(lines, kinds):
    """The recall of drawing among three actions is 1/3, whatever happens: its interval is that of a share."""
    decisions, evidence = lines(2000)
    asked = {"Recall": (metrics.create("recall"), 1.0)}
    some = {name: decisions[name] for name in ("random", "constant:Deny", "good")}
    parts = added_up(some, evidence, asked, context_numbers(2000, 3, 0, 0), [700])
    known = {"Recall": asked["Recall"][0]}
    drawn = summed_leaderboard._Total.of(parts[0].plus(parts[1]), evidence.problem, known).resampled(
        200, np.random.default_rng(0)
    )
    assert np.ptp(drawn.values[:, 0, 0]) < 1e-14  # and not 0 on processors that add and multiply at once
    found, expected = (
        of_parts(parts, evidence.problem, some, asked, kinds, list(some), resamples=200),
        in_memory(some, evidence, asked, kinds, list(some), resamples=200),
    )
    for name in ("random", "constant:Deny"):
        mine, theirs = (board[name].metrics["Recall"].estimate for board in (found, expected))
        assert mine.high - mine.low > 0.01
        assert (mine.low, mine.high) == pytest.approx((theirs.low, theirs.high), rel=1e-9)


def test_intervals_are_about_as_wide_as_in_memory(lines, summing, kinds, candidates):
    """Of one draw of buckets the width is known to 5 %, of 400 resamples to another 5 %."""
    decisions, evidence = lines(4000)
    some = {name: decisions[name] for name in ("good", "fair", "poor", "drawn")}
    chosen = {name: summing[name] for name in ("Accuracy", "Parity", "Nash")}
    expected = in_memory(some, evidence, chosen, kinds, list(some), resamples=400)
    ratios = []
    for seed in range(6):
        parts = added_up(some, evidence, chosen, context_numbers(4000, seed, 0, 0), [1500])
        found = of_parts(parts, evidence.problem, some, chosen, kinds, list(some), resamples=400, seed=seed)
        ratios.append([
            [(cell.estimate.high - cell.estimate.low) / (twin.estimate.high - twin.estimate.low)
             for cell, twin in zip(found[name].metrics.values(), expected[name].metrics.values(), strict=True)]
            for name in some
        ])  # fmt: skip
    assert np.abs(np.mean(ratios, axis=0) - 1).max() < 0.15
    assert np.abs(np.mean(ratios) - 1) < 0.05


def test_what_does_not_fit_is_refused(lines, counting, kinds, candidates):
    decisions, evidence = lines()
    one, other = added_up(decisions, evidence, counting, context_numbers(400, 1, 0, 0), [200])
    with pytest.raises(InputError, match=f"400 contexts; parts are for {LARGE} and more"):
        summed_leaderboard.summed_leaderboard(
            [one, other], evidence.problem, kinds, counting, candidates=candidates, generator=np.random.default_rng(0)
        )
    with pytest.raises(InputError, match="other strategies"):
        one.plus(replace(other, names=other.names[::-1]))
    with pytest.raises(InputError, match="'age' holds numbers in some parts and texts in others"):
        one.plus(replace(other, values={**other.values, "age": (1.0, 2.0, 3.0)}))


def test_too_many_groups_in_all_parts_together_are_refused(world, decided):
    evidence = world(400)
    log = replace(evidence.log, contexts=Contexts({"town": np.arange(400.0)}))
    evidence, metric = replace(evidence, log=log), metrics.create("accuracy", {"attributes": ["town"]})
    decisions = {"blind": decided(evidence, "blind", 0)}
    parts = added_up(decisions, evidence, {"a": (metric, 1.0)}, context_numbers(400, 1, 0, 0), [200])
    with pytest.raises(InputError, match="town makes 400 groups; at most 256"):
        summed_leaderboard._Total.of(parts[0].plus(parts[1]), evidence.problem, {"a": metric})
