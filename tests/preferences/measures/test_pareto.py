"""The Pareto test: three answers, a twin of its intervals, and its error rates where the claim is false or just so."""

from __future__ import annotations

import json
import math
from statistics import NormalDist

import numpy as np
import pytest

from accordant.errors import InputError
from accordant.preferences.measures import pareto_test, pareto_tests
from accordant.preferences.measures.pareto import holm

GROUPS = np.repeat([0, 1], [60, 30])


def models(seed, changes, noise=0.05):
    """Return values of users under a reference and a candidate whose group means differ by about `changes`."""
    rng = np.random.default_rng(seed)
    reference = rng.uniform(0.5, 0.9, len(GROUPS))
    return reference, reference + np.array(changes)[GROUPS] + noise * rng.standard_normal(len(GROUPS))


def answer(seed, changes, **options):
    reference, candidate = models(seed, changes)
    options = {"names": ["majority", "minority"], "resamples": 999, "tolerance": 0.0} | options
    return pareto_test(reference, candidate, GROUPS, generator=np.random.default_rng(seed), **options)


def test_three_answers():
    shown = answer(0, (0.05, 0.05))
    assert shown.verdict == "shown"
    assert shown.reason == "better: majority, minority; no group is worse by 0 or more"
    contradicted = answer(0, (0.05, -0.05))
    assert (contradicted.verdict, contradicted.reason) == ("contradicted", "worse by more than 0: minority")
    not_shown = answer(0, (0.05, 0.0))
    assert (not_shown.verdict, not_shown.reason) == ("not shown", "may be worse by 0 or more: minority")


def test_worse_is_who_would_be_among_three_ways_to_be_contradicted():
    """Either of two groups loses, or both do: one p-value of .05 / 3."""
    for change, named in ((-0.012, ["minority"]), (-0.014, ["majority", "minority"])):
        found = answer(0, (change, -0.05))
        assert 0.95 < found.groups[0].p_gain and (found.groups[0].p_gain > 1 - 0.05 / 3) == ("majority" in named)
        assert found.reason == f"worse by more than 0: {', '.join(named)}"


def test_tolerance_is_what_a_group_may_lose():
    assert answer(0, (0.05, 0.0), tolerance=0.04).verdict == "shown"
    assert answer(0, (0.05, -0.05), tolerance=0.1).verdict == "shown"
    indifferent = answer(0, (0.0, 0.0), tolerance=0.1)
    assert (indifferent.verdict, indifferent.reason) == ("not shown", "no group is shown to be better")
    worse = answer(0, (-0.05, -0.05), tolerance=0.1)
    assert (worse.verdict, worse.reason) == ("contradicted", "every group is worse")


def test_numbers():
    reference, candidate = models(1, (0.02, 0.01))
    found = pareto_test(reference, candidate, GROUPS, generator=np.random.default_rng(0), resamples=999)
    for g, change in enumerate(found.groups):
        members = GROUPS == g
        assert (change.group, change.n_users, change.remark) == (str(g), members.sum(), "")
        assert change.reference == pytest.approx(reference[members].mean())
        assert change.candidate == pytest.approx(candidate[members].mean())
        assert change.difference == pytest.approx((candidate - reference)[members].mean())
        error = (candidate - reference)[members].std() / math.sqrt(members.sum())
        assert 2.0 < (change.high - change.difference) / error < 2.8  # normal: 2.24 at 97.5 %
        assert 2.0 < (change.difference - change.low) / error < 2.8
        normal = NormalDist().cdf(-change.difference / error)
        assert change.p_gain == pytest.approx(normal, abs=4 * math.sqrt(normal / 999) + 0.01)
        assert change.p_loss < change.p_gain
    assert (found.tolerance, found.level, found.resamples, found.together) == (0.02, 0.95, 999, 1)


def test_p_values_and_limits_against_a_loop():
    rng = np.random.default_rng(2)
    reference = rng.random(9)
    candidate = reference + rng.integers(-2, 4, 9) / 10
    found = pareto_test(
        reference, candidate, np.zeros(9, dtype=int), generator=np.random.default_rng(1), level=0.8, resamples=999
    )
    d = (candidate - reference).tolist()
    mean = sum(d) / 9
    error = math.sqrt(sum((value - mean) ** 2 for value in d) / 9 / 9)
    counts = np.random.default_rng(1).multinomial(9, np.full(9, 1 / 9), size=999)
    ratios = []
    for row in counts:
        values = [value for value, count in zip(d, row, strict=True) for _ in range(count)]
        centre = sum(values) / 9
        variance = sum((value - centre) ** 2 for value in values) / 9
        assert variance > 1e-15
        ratios.append((centre - mean) / math.sqrt(variance / 9))
    change = found.groups[0]
    assert change.p_gain == (1 + sum(ratio >= mean / error for ratio in ratios)) / 1000
    assert change.p_loss == (1 + sum(ratio >= (mean + 0.02) / error for ratio in ratios)) / 1000
    ordered = sorted(ratios)
    assert change.low == pytest.approx(mean - ordered[-100] * error)  # 100 of 1000 lie at it or beyond
    assert change.high == pytest.approx(mean - ordered[99] * error)


def test_paired_users_beat_unpaired_groups():
    # users differ far more than models do: only the pairing shows the small gain
    found = answer(3, (0.025, 0.025))
    assert found.verdict == "shown"
    reference, candidate = models(3, (0.025, 0.025))
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
@pytest.mark.parametrize("largest", [None, 1.0])
def test_groups_of_a_handful_are_never_shown(sizes, differences, remark, largest):
    groups = np.repeat([0, 1], sizes)
    rng = np.random.default_rng(0)
    reference = np.full(len(groups), 0.5)
    candidate = reference + np.where(groups == 1, differences, 0.1 + 0.01 * rng.standard_normal(len(groups)))
    if remark.startswith("too few"):
        candidate[-1] += 0.2
    found = pareto_test(
        reference, candidate, groups, generator=rng, names=["a", "b"], resamples=999, largest=largest
    )  # fmt: skip
    assert found.verdict == "not shown" and "b" in found.reason
    assert found.groups[1].remark.startswith(remark)
    low = json.loads(json.dumps(found.to_json(), allow_nan=False))["groups"][1]["low"]
    assert low is None if largest is None or remark == "no users" else low < -0.3


def test_that_nobody_of_many_loses_is_shown_by_their_number():
    """Where nearly all users are served alike there is nothing to resample, but 0 losers of 200 say something."""
    rng = np.random.default_rng(0)
    for n, changed, verdict in ((200, 0, "shown"), (100, 0, "not shown"), (100, 2, "shown")):
        groups = np.repeat([0, 1], [n, 40])
        differences = np.where(groups == 1, 0.5 + 0.1 * rng.standard_normal(n + 40), 0.0)
        differences[:changed] = 0.05
        options = {"generator": rng, "names": ["majority", "minority"], "resamples": 999}
        found = pareto_test(np.full(n + 40, 0.4), 0.4 + differences, groups, largest=1.0, **options)
        assert found.verdict == verdict, (n, changed)
        unlimited = pareto_test(np.full(n + 40, 0.4), 0.4 + differences, groups, **options)
        assert unlimited.verdict == "not shown"
    losing = np.where(groups == 0, 0.0, differences)
    losing[:40] = -0.3
    lost = pareto_test(np.full(140, 0.4), 0.4 + losing, groups, largest=1.0, **options)
    assert lost.verdict == "contradicted" and "majority" in lost.reason


def test_too_few_resamples_for_the_level():
    found = answer(0, (0.05, 0.05), resamples=10)
    assert found.verdict == "not shown" and found.reason == "10 resamples are too few for 2 groups and 1 candidate"
    reference, candidate = models(0, (0.05, 0.05))
    together = {"one": candidate, "other": candidate + 0.01}
    one = pareto_tests(reference, together, 0 * GROUPS, generator=np.random.default_rng(0), resamples=1)["one"]
    assert one.reason == "1 resample is too few for 1 group and 2 candidates"


def test_holm_by_hand():
    assert holm(np.array([0.01, 0.04, 0.03])).tolist() == pytest.approx([0.03, 0.06, 0.06])
    assert holm(np.array([0.9, 0.5])).tolist() == [1.0, 1.0]


def test_many_candidates_are_compared_together():
    reference, candidate = models(0, (0.03, 0.03))
    rng = np.random.default_rng(1)
    others = {f"other {k}": reference + 0.05 * rng.standard_normal(len(reference)) for k in range(9)}
    alone = pareto_test(reference, candidate, GROUPS, generator=np.random.default_rng(0))
    among = pareto_tests(reference, {"it": candidate} | others, GROUPS, generator=np.random.default_rng(0))
    assert among["it"].together == 10 and alone.together == 1
    assert among["it"].p_shown > alone.p_shown
    here, there = (np.array([(g.low, g.high, g.p_gain) for g in test.groups]) for test in (among["it"], alone))
    assert here == pytest.approx(there)  # the same resamples
    assert among["it"].power.probability <= alone.power.probability


@pytest.mark.long
def test_among_many_candidates_without_any_gain_hardly_one_is_shown():
    rng = np.random.default_rng(3)
    any_shown = any_contradicted = 0
    for _ in range(150):
        noise = 0.1 * rng.standard_normal((8, len(GROUPS)))
        noise[:, GROUPS == 0] *= 0.3  # the majority is surely no worse: all rests on the minority's gain
        found = pareto_tests(
            np.zeros(len(GROUPS)), {str(k): row for k, row in enumerate(noise)}, GROUPS, generator=rng, resamples=999
        )
        verdicts = {each.verdict for each in found.values()}
        any_shown += "shown" in verdicts
        any_contradicted += "contradicted" in verdicts
    most = 0.05 + 3 * math.sqrt(0.05 * 0.95 / 150)
    assert any_shown / 150 <= most and any_contradicted / 150 <= most


def worlds_of(draw, groups, repeats, seed=11, **options):
    """Return how often each verdict is given, and the mean power, in a world of accuracy."""
    rng = np.random.default_rng(seed)
    counts, powers = {"shown": 0, "not shown": 0, "contradicted": 0}, []
    for _ in range(repeats):
        found = pareto_test(
            np.zeros(len(groups)), draw(rng), groups, generator=rng, resamples=799, largest=1.0, gaining="1", **options
        )  # fmt: skip
        counts[found.verdict] += 1
        powers.append(found.power.probability)
    return {name: count / repeats for name, count in counts.items()}, powers


USERS = np.repeat([0, 1], [160, 40])


def people(majority, minority, spread=0.09):
    """Return a draw of 200 users with a mean change of each group."""
    return lambda rng: np.where(
        USERS == 1, minority + 0.2 * rng.standard_normal(200), majority + spread * rng.standard_normal(200)
    )


@pytest.mark.long
def test_true_gains_that_cost_the_majority_nothing_are_shown():
    """With 200 users, +.565 for the minority and +.001 for the majority: never shown when nobody may lose anything."""
    rates, powers = worlds_of(people(0.001, 0.565), USERS, 60)
    assert rates["shown"] >= 0.8  # .91 in 1,000 repeats
    assert np.mean(powers) == pytest.approx(rates["shown"], abs=0.15)
    assert worlds_of(people(0.001, 0.565), USERS, 30, tolerance=0.0)[0]["shown"] <= 0.3
    assert worlds_of(people(0.001, 0.565, 0.06), USERS, 30)[0]["shown"] == 1.0


@pytest.mark.long
def test_a_loss_of_the_tolerance_is_rarely_shown_as_none():
    rates, _ = worlds_of(people(-0.02, 0.565), USERS, 200)
    most = 0.05 + 3 * math.sqrt(0.05 * 0.95 / 200)
    assert rates["shown"] <= most and rates["contradicted"] <= most


@pytest.mark.long
def test_power_is_the_share_of_samples_that_show_a_declared_gain():
    for n, gain in ((8, 0.3), (20, 0.15)):
        groups = np.repeat([0, 1], [100, n])

        def draw(rng, groups=groups, gain=gain):
            return np.where(groups == 1, gain, 0.0) + np.where(groups == 1, 0.25, 0.04) * rng.standard_normal(
                len(groups)
            )

        rates, powers = worlds_of(draw, groups, 120, gain=gain)
        assert np.mean(powers) == pytest.approx(rates["shown"], abs=3 * math.sqrt(0.25 / 120))


@pytest.mark.parametrize(("gain", "together"), [(0.03, 1), (0.012, 1), (0.012, 4)])
def test_power_by_hand(gain, together):
    """Of several candidates compared together, at the level at which the first of Holm's tests is made."""
    reference, candidate = models(1, (0.02, 0.05))
    found = pareto_tests(
        reference, {str(k): candidate for k in range(together)}, GROUPS, generator=np.random.default_rng(0),
        names=["a", "b"], gaining="a", gain=gain,
    )["0"].power  # fmt: skip
    assert (found.group, found.n_users, found.gain, found.declared) == ("a", 60, gain, True)
    normal = NormalDist()
    errors = [(candidate - reference)[GROUPS == g].std() / math.sqrt((GROUPS == g).sum()) for g in (0, 1)]
    level = 1 - 0.05 / together
    gains = normal.cdf(gain / errors[0] - normal.inv_cdf(math.sqrt(level)))
    losses = normal.cdf(0.02 / errors[1] - normal.inv_cdf(level))
    assert found.probability == pytest.approx(gains * losses, abs=0.06)  # normal in place of resampled quantiles
    at_least = pareto_test(
        reference, candidate, GROUPS, generator=np.random.default_rng(0), names=["a", "b"], gaining="a",
        gain=found.detectable or 1.0,
    ).power  # fmt: skip
    assert found.detectable is None or at_least.probability == pytest.approx(0.8)
    seen = pareto_test(reference, candidate, GROUPS, generator=np.random.default_rng(0)).power
    assert seen.group == "1" and not seen.declared  # the group that gains most
    assert seen.gain == pytest.approx((candidate - reference)[GROUPS == 1].mean())
    worse = pareto_test(candidate, reference, GROUPS, generator=np.random.default_rng(0)).power
    assert worse.gain is None and worse.probability is None


def simulate(draw, truth, *, level, repeats=300, resamples=300):
    """Return how often each verdict is given, and how often all intervals cover the truth."""
    rng = np.random.default_rng(10)
    counts = {"shown": 0, "not shown": 0, "contradicted": 0, "covered": 0}
    for _ in range(repeats):
        groups, differences = draw(rng)
        zeros = np.zeros(len(groups))
        found = pareto_test(zeros, differences, groups, generator=rng, level=level, resamples=resamples, tolerance=0.0)
        counts[found.verdict] += 1
        counts["covered"] += all(c.low <= t <= c.high for c, t in zip(found.groups, truth, strict=True))
    return {name: count / repeats for name, count in counts.items()}


@pytest.mark.long
def test_all_intervals_cover_together_at_the_level():
    def draw(rng):
        return GROUPS, rng.exponential(size=len(GROUPS)) - 1 + np.where(GROUPS == 1, 0.2, 0)

    rates = simulate(draw, (0.0, 0.2), level=0.8)
    assert rates["covered"] == pytest.approx(0.8, abs=0.07)  # 3 standard errors


@pytest.mark.long
def test_error_rate_when_a_group_gains_and_another_stands_at_the_border():
    def draw(rng):
        return GROUPS, rng.standard_normal(len(GROUPS)) + np.where(GROUPS == 0, 3.0, 0.0)

    rates = simulate(draw, (3.0, 0.0), level=0.8)
    # the border is crossed downwards by a p-value of .2; upwards by one of .2 / 3, for three ways to be contradicted
    for verdict, expected in (("shown", 0.2), ("contradicted", 0.2 / 3)):
        assert rates[verdict] == pytest.approx(expected, abs=3 * math.sqrt(expected * (1 - expected) / 300))


def test_error_rate_with_few_users_and_few_values():
    groups = np.repeat([0, 1], [30, 10])

    def draw(rng):
        return groups, rng.integers(-1, 2, 40) / 5 + np.where(groups == 0, 0.5, 0.0)

    rates = simulate(draw, (0.5, 0.0), level=0.9)
    assert max(rates["shown"], rates["contradicted"]) <= 0.1 + 3 * math.sqrt(0.1 * 0.9 / 300)
    assert rates["covered"] >= 0.9 - 3 * math.sqrt(0.1 * 0.9 / 300)


@pytest.mark.long
def test_no_difference_is_hardly_ever_shown():
    def draw(rng):
        return GROUPS, rng.standard_normal(len(GROUPS))

    rates = simulate(draw, (0.0, 0.0), level=0.8)
    assert rates["shown"] <= 0.06  # both groups would have to err upwards, one of them by far
    assert rates["contradicted"] <= 0.2 + 3 * math.sqrt(0.2 * 0.8 / 300)


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
        (a, a, groups, {"largest": 0.0}, "largest is 0"),
        (a, a, groups, {"gain": -0.1}, "gain is -0.1"),
        (a, a, groups, {"gaining": "1"}, "unknown group '1'"),
    ):
        with pytest.raises(InputError, match=message):
            pareto_test(reference, candidate, codes, generator=rng, **options)


def test_equal_models_are_said_to_serve_everybody_alike():
    values = np.array([0.5, 0.75, 1.0, 0.25])
    found = pareto_test(values, values.copy(), np.array([0, 0, 1, 1]), generator=np.random.default_rng(0))
    assert (found.verdict, found.reason) == ("not shown", "no user is served differently")


def test_the_least_gain_that_is_likely_shown_is_shown_with_that_chance():
    """The chance that the other group is shown to lose nothing is below 1, and counts."""
    reference, candidate = models(1, (0.0, 0.05), noise=0.045)

    def power(gain):
        more = {"names": ["a", "b"], "gaining": "b", "gain": gain, "tolerance": 0.02}
        return pareto_test(reference, candidate, GROUPS, generator=np.random.default_rng(0), **more).power

    least = power(0.03).detectable
    assert power(least).probability == pytest.approx(0.8, abs=0.02)
    assert power(least / 2).probability < 0.6
