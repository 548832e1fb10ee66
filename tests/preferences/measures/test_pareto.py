"""The Pareto test: three answers, a twin of its intervals, and its error rates where the claim is false or just so."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from accordant.errors import InputError
from accordant.preferences.measures import GroupChange, pareto_test
from accordant.preferences.measures.pareto import judged

GROUPS = np.repeat([0, 1], [60, 30])


def models(seed, changes, noise=0.05):
    """Return values of users under a reference and a candidate whose group means differ by about `changes`."""
    rng = np.random.default_rng(seed)
    reference = rng.uniform(0.5, 0.9, len(GROUPS))
    return reference, reference + np.array(changes)[GROUPS] + noise * rng.standard_normal(len(GROUPS))


def answer(seed, changes, **options):
    reference, candidate = models(seed, changes)
    options = {"names": ["majority", "minority"], "resamples": 500} | options
    return pareto_test(reference, candidate, GROUPS, generator=np.random.default_rng(seed), **options)


def test_three_answers():
    shown = answer(0, (0.05, 0.05))
    assert shown.verdict == "shown"
    assert shown.reason == "better: majority, minority; no group is worse by more than 0"
    contradicted = answer(0, (0.05, -0.05))
    assert (contradicted.verdict, contradicted.reason) == ("contradicted", "worse by more than 0: minority")
    not_shown = answer(0, (0.05, 0.0))
    assert (not_shown.verdict, not_shown.reason) == ("not shown", "may be worse by more than 0: minority")


def test_tolerance_is_what_a_group_may_lose():
    assert answer(0, (0.05, 0.0), tolerance=0.04).verdict == "shown"
    assert answer(0, (0.05, -0.05), tolerance=0.1).verdict == "shown"
    indifferent = answer(0, (0.0, 0.0), tolerance=0.1)
    assert (indifferent.verdict, indifferent.reason) == ("not shown", "no group is shown to be better")
    worse = answer(0, (-0.05, -0.05), tolerance=0.1)
    assert (worse.verdict, worse.reason) == ("contradicted", "every group is worse")


def test_numbers():
    reference, candidate = models(1, (0.02, 0.01))
    found = pareto_test(reference, candidate, GROUPS, generator=np.random.default_rng(0), resamples=500)
    for g, change in enumerate(found.groups):
        members = GROUPS == g
        assert (change.group, change.n_users, change.remark) == (str(g), members.sum(), "")
        assert change.reference == pytest.approx(reference[members].mean())
        assert change.candidate == pytest.approx(candidate[members].mean())
        assert change.difference == pytest.approx((candidate - reference)[members].mean())
        half = change.high - change.difference
        assert change.difference - change.low == pytest.approx(half)
        error = (candidate - reference)[members].std() / math.sqrt(members.sum())
        assert 2.0 < half / error < 2.8  # normal: 2.24 at 97.5 %
    assert (found.tolerance, found.level, found.resamples) == (0.0, 0.95, 500)


def test_interval_against_a_loop():
    rng = np.random.default_rng(2)
    reference = rng.random(9)
    candidate = reference + rng.integers(-2, 3, 9) / 10
    found = pareto_test(
        reference, candidate, np.zeros(9, dtype=int), generator=np.random.default_rng(1), level=0.8, resamples=99
    )
    d = (candidate - reference).tolist()
    mean = sum(d) / 9
    counts = np.random.default_rng(1).multinomial(9, np.full(9, 1 / 9), size=99)
    ratios = []
    for row in counts:
        values = [value for value, count in zip(d, row, strict=True) for _ in range(count)]
        centre = sum(values) / 9
        variance = sum((value - centre) ** 2 for value in values) / 9
        ratios.append(math.inf if variance < 1e-15 else abs(centre - mean) / math.sqrt(variance / 9))
    critical = sorted(ratios)[79]  # the 80th of 99: 0.8 · 100
    error = math.sqrt(sum((value - mean) ** 2 for value in d) / 9 / 9)
    assert found.groups[0].high == pytest.approx(mean + critical * error)


def test_paired_users_beat_unpaired_groups():
    # users differ far more than models do: only the pairing shows the small gain
    found = answer(3, (0.04, 0.04))
    assert found.verdict == "shown"
    reference, candidate = models(3, (0.04, 0.04))
    shuffled = candidate.copy()
    rng = np.random.default_rng(0)
    for g in (0, 1):
        shuffled[GROUPS == g] = rng.permutation(shuffled[GROUPS == g])
    unpaired = pareto_test(reference, shuffled, GROUPS, generator=rng, resamples=500)
    assert unpaired.verdict == "not shown"


def test_any_number_of_groups():
    rng = np.random.default_rng(4)
    groups = np.repeat(np.arange(7), 40)
    reference = rng.random(280)
    candidate = reference + 0.1 + 0.05 * rng.standard_normal(280)
    found = pareto_test(reference, candidate, groups, generator=rng, resamples=1000)
    assert found.verdict == "shown" and len(found.groups) == 7
    one = pareto_test(reference, candidate, np.zeros(280, dtype=int), generator=rng, resamples=1000)
    assert one.verdict == "shown"


@pytest.mark.parametrize(
    ("sizes", "differences", "remark"),
    [
        ((5, 0), 0.1, "no users"),
        ((5, 1), 0.1, "one user"),
        ((5, 5), 0.0, "the same difference for every user"),
        ((5, 2), 0.1, "too few different users"),
    ],
)
def test_groups_that_cannot_be_judged_are_never_shown(sizes, differences, remark):
    groups = np.repeat([0, 1], sizes)
    rng = np.random.default_rng(0)
    reference = np.full(len(groups), 0.5)
    candidate = reference + np.where(groups == 1, differences, 0.1 + 0.01 * rng.standard_normal(len(groups)))
    if remark.startswith("too few"):
        candidate[-1] += 0.2
    found = pareto_test(reference, candidate, groups, generator=rng, names=["a", "b"], resamples=200)
    assert found.verdict == "not shown" and "b" in found.reason
    assert found.groups[1].remark.startswith(remark)
    assert json.loads(json.dumps(found.to_json(), allow_nan=False))["groups"][1]["low"] is None


def test_too_few_resamples_for_the_level():
    found = answer(0, (0.05, 0.05), resamples=10)
    assert found.verdict == "not shown" and "resamples" in found.groups[0].remark


def test_verdicts_exclude_each_other():
    rng = np.random.default_rng(6)
    seen = set()
    for _ in range(500):
        tolerance = rng.choice([0.0, 0.3])
        changes = []
        for g in range(int(rng.integers(1, 4))):
            low, high = np.sort(rng.normal(0.3, 1, 2))
            changes.append(GroupChange(str(g), 5, 0.0, 0.0, 0.0, low, high, ""))
        verdict, _ = judged(changes, tolerance)
        shown = all(c.low >= -tolerance for c in changes) and any(c.low > 0 for c in changes)
        contradicted = any(c.high < -tolerance for c in changes) or all(c.high < 0 for c in changes)
        assert not (shown and contradicted)
        assert verdict == ("shown" if shown else "contradicted" if contradicted else "not shown")
        seen.add(verdict)
    assert seen == {"shown", "not shown", "contradicted"}


def simulate(draw, truth, *, level, repeats=300, resamples=300):
    """Return how often each verdict is given, and how often all intervals cover the truth."""
    rng = np.random.default_rng(10)
    counts = {"shown": 0, "not shown": 0, "contradicted": 0, "covered": 0}
    for _ in range(repeats):
        groups, differences = draw(rng)
        zeros = np.zeros(len(groups))
        found = pareto_test(zeros, differences, groups, generator=rng, level=level, resamples=resamples)
        counts[found.verdict] += 1
        counts["covered"] += all(c.low <= t <= c.high for c, t in zip(found.groups, truth, strict=True))
    return {name: count / repeats for name, count in counts.items()}


def test_all_intervals_cover_together_at_the_level():
    def draw(rng):
        return GROUPS, rng.exponential(size=len(GROUPS)) - 1 + np.where(GROUPS == 1, 0.2, 0)

    rates = simulate(draw, (0.0, 0.2), level=0.8)
    assert rates["covered"] == pytest.approx(0.8, abs=0.07)  # 3 standard errors


def test_error_rate_when_a_group_gains_and_another_stands_at_the_border():
    def draw(rng):
        return GROUPS, rng.standard_normal(len(GROUPS)) + np.where(GROUPS == 0, 3.0, 0.0)

    rates = simulate(draw, (3.0, 0.0), level=0.8)
    # neither answer is wrong more often than 1 − √.8 together; half of that on either side
    expected = (1 - math.sqrt(0.8)) / 2
    error = math.sqrt(expected * (1 - expected) / 300)
    assert rates["shown"] == pytest.approx(expected, abs=3 * error)
    assert rates["contradicted"] == pytest.approx(expected, abs=3 * error)
    assert rates["not shown"] > 0.8


def test_error_rate_with_few_users_and_few_values():
    groups = np.repeat([0, 1], [30, 10])

    def draw(rng):
        return groups, rng.integers(-1, 2, 40) / 5 + np.where(groups == 0, 0.5, 0.0)

    rates = simulate(draw, (0.5, 0.0), level=0.9)
    assert rates["shown"] + rates["contradicted"] <= 0.1 + 3 * math.sqrt(0.1 * 0.9 / 300)
    assert rates["covered"] >= 0.9 - 3 * math.sqrt(0.1 * 0.9 / 300)


def test_no_difference_is_hardly_ever_shown():
    def draw(rng):
        return GROUPS, rng.standard_normal(len(GROUPS))

    rates = simulate(draw, (0.0, 0.0), level=0.8)
    assert rates["shown"] <= 0.02  # both groups would have to err upwards
    assert rates["contradicted"] <= 0.1 + 3 * math.sqrt(0.1 * 0.9 / 300)


def test_same_seed_same_answer():
    assert answer(5, (0.02, 0.01)) == answer(5, (0.02, 0.01))


def test_wrong_input():
    a, rng = np.ones(3), np.random.default_rng(0)
    groups = np.zeros(3, dtype=int)
    for reference, candidate, codes, options, message in (
        (a, np.ones(2), groups, {}, "candidate has shape"),
        (a, a[:, None], groups, {}, "candidate has shape"),
        (a, a, groups[:2], {}, "groups has shape"),
        (a, a, groups + 1, {"names": ["x"]}, "0 to 0"),
        (a[:0], a[:0], groups[:0], {}, "no users"),
        (a, np.full(3, np.nan), groups, {}, "finite"),
        (a, a, groups, {"tolerance": -1.0}, "tolerance is -1"),
        (a, a, groups, {"level": 1.0}, "level is 1"),
        (a, a, groups, {"resamples": 0}, "resamples is 0"),
    ):
        with pytest.raises(InputError, match=message):
            pareto_test(reference, candidate, codes, generator=rng, **options)


def test_equal_models_are_said_to_serve_everybody_alike():
    values = np.array([0.5, 0.75, 1.0, 0.25])
    found = pareto_test(values, values.copy(), np.array([0, 0, 1, 1]), generator=np.random.default_rng(0))
    assert (found.verdict, found.reason) == ("not shown", "no user is served differently")
