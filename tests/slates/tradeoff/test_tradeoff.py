"""Worlds in which it is known whether diversity costs accuracy, and what the check says of them."""

import itertools
import math
from types import SimpleNamespace

import numpy as np
import pytest

from accordant.errors import InputError
from accordant.slates.consumption import fitted_gamma
from accordant.slates.tradeoff.verdicts import Change, LoggedOutcomes, ModelledOutcomes
from accordant.slates.tradeoff.verdicts import pooled_gamma
from accordant.slates.tradeoff.check import check_served, check_tradeoff
from accordant.slates.tradeoff.verdicts import too_few
from accordant.slates.slates import Slates

CATEGORIES = np.repeat(np.arange(4), 6)
N = 400
USERS = [f"u{i // 2}" for i in range(N)]


def one_type():
    """A user wants one type, and an item of it pleases with chance .5: several of one type help little."""
    rng = np.random.default_rng(0)
    wanted = rng.dirichlet([4, 3, 2, 1], N).T
    chances = 0.5 * rng.uniform(0.9, 1.0, (24, N))
    types = np.array([rng.choice(4, p=wanted[:, i]) for i in range(N)])
    targets = (CATEGORIES[:, None] == types) & (rng.random((24, N)) < chances)
    return wanted, chances, wanted[CATEGORIES] * chances, targets


def independent():
    """Items of one category please with chance .8, others hardly: another category costs whoever consumes several."""
    rng = np.random.default_rng(1)
    relevance = np.where(CATEGORIES[:, None] == rng.integers(0, 4, N), 0.8, 0.05) * rng.uniform(0.9, 1.0, (24, N))
    return relevance, rng.random((24, N)) < relevance


def all_alike(n):
    """Every item of every category pleases with chance .4."""
    rng = np.random.default_rng(2)
    noise = 0.01 * np.eye(4)[:, rng.integers(0, 4, n)][CATEGORIES]  # the greedy list is of one category
    return 0.4 + noise, rng.random((24, n)) < 0.4


def check(relevance, targets, consumed, **settings):
    outcomes = LoggedOutcomes(targets)
    users = [f"u{i // 2}" for i in range(relevance.shape[1])]
    return check_tradeoff(relevance, CATEGORIES, outcomes, users, length=6, consumed=consumed, **settings)


def test_artefact():
    _, _, relevance, targets = one_type()
    found = check(relevance, targets, 1)
    assert found.verdict == "artefact"
    assert found.real_from is None
    first, last = found.points[0], found.points[-1]
    assert (first.all_change, first.best_change) == (None, None)
    assert last.categories == 4.0
    assert last.all_consumed < first.all_consumed
    assert last.best_consumed > first.best_consumed + 0.1
    assert (last.all_change.effect, last.best_change.effect) == ("costs", "holds")
    assert found.reason.startswith("with ")
    assert "if all is consumed, but by +" in found.reason
    assert (found.n_users, found.n_requests) == (
        len({USERS[i] for i in np.flatnonzero(targets.any(axis=0))}),
        targets.any(axis=0).sum(),
    )
    categories = [point.categories for point in found.points]
    assert categories == sorted(categories)


def test_the_same_world_is_a_real_trade_off_for_who_consumes_everything():
    _, _, relevance, targets = one_type()
    found = check(relevance, targets, 6)
    assert found.verdict == "real"
    for point in found.points:  # both readings are then one
        assert point.best_consumed == pytest.approx(point.all_consumed)
    assert found.real_from > found.points[0].categories


def test_real():
    relevance, targets = independent()
    for consumed in (2, 3, 6):
        found = check(relevance, targets, consumed)
        assert found.verdict == "real"
        assert f"if the best {consumed} are consumed" in found.reason
        assert found.real_from == 4.0


@pytest.mark.long
def test_none_and_undecided():
    found = check(*all_alike(6000), 2, margin=0.05)
    assert found.verdict == "none"
    assert found.points[0].categories == 1.0
    assert "up to 4.00 categories neither reading loses more than 0.05" in found.reason
    few = check(*all_alike(40), 2)
    assert few.verdict == "undecided"
    assert "neither show a loss nor rule one out" in few.reason


def of_users(users, world, **settings):
    """The check for some users with two requests each."""
    relevance, targets = world
    part = slice(0, 2 * users)
    return check_tradeoff(
        relevance[:, part], CATEGORIES, LoggedOutcomes(targets[:, part]), USERS[part], length=6, consumed=6, **settings
    )  # fmt: skip


@pytest.mark.parametrize("users", [1, 2, 5, 10, 19])
def test_few_users_decide_nothing(users):
    found = of_users(users, independent())
    assert found.verdict == "undecided"
    assert found.reason == f"the users with an outcome are {users}; a verdict needs at least 20"
    assert found.real_from is None
    assert {change.effect for point in found.points[1:] for change in (point.all_change, point.best_change)} == {
        "unclear"
    }
    assert found.points[-1].best_change.value < -0.1
    assert found.points[-1].best_change.high < 0  # the interval alone would show a loss


def test_twenty_users_may_decide():
    found = of_users(20, independent())
    assert (found.verdict, found.n_users) == ("real", 20)


@pytest.mark.long
def test_few_resamples_decide_nothing():
    """Sixteen intervals at 95 %: each end has .0015625 beyond it, one resample of 640."""
    found = of_users(50, independent(), resamples=639)
    assert (found.verdict, found.real_from) == ("undecided", None)
    assert found.reason == "the resamples are 639; intervals of this level need at least 640"
    assert of_users(50, independent(), resamples=640).verdict == "real"
    assert of_users(50, independent(), level=0.99).reason.endswith("need at least 3200")


@pytest.mark.parametrize(("resamples", "balances", "verdict"), [
    (39, (1.0, 0.5), "undecided"), (40, (1.0, 0.5), "real"),
    (79, (1.0, 0.5, 0.4), "undecided"), (80, (1.0, 0.5, 0.4), "real"),
])  # fmt: skip
def test_two_intervals_of_each_point_share_the_error(resamples, balances, verdict):
    """At 90 %, each end of both has .025 beyond it, and of four .0125."""
    found = of_users(50, independent(), resamples=resamples, balances=balances, level=0.9)
    assert found.verdict == verdict


@pytest.mark.parametrize(("margin", "effect"), [(0.125, "costs"), (0.25, "holds"), (0.5, "holds")])
def test_a_loss_that_is_the_same_for_all_is_known_exactly_and_may_be_as_large_as_the_margin(margin, effect):
    """Users of one to three requests, each with another scale of relevance, who consume items of one category only."""
    users = [f"u{i}" for i in range(30) for _ in range(1 + i % 3)]
    relevance = np.array([1.0, 0.98, 0.96, 0.94, 0.9, 0.88, 0.86, 0.84])[:, None] * np.resize(
        [1.0, 0.25, 0.5, 0.125], 60
    )
    targets = np.repeat(np.arange(8)[:, None] < 4, 60, axis=1)
    found = check_tradeoff(
        relevance, np.arange(8) // 4, LoggedOutcomes(targets), users, length=4, consumed=2, balances=(1.0, 0.5),
        margin=margin, resamples=200, level=0.9,
    )  # fmt: skip
    first, last = found.points
    assert (first.categories, first.entropy, first.all_consumed, first.best_consumed) == (1.0, 0.0, 1.0, 1.0)
    assert (last.categories, last.all_consumed, last.best_consumed) == (2.0, 0.75, 1.0)
    assert last.entropy == pytest.approx(0.75 * math.log(4 / 3) + 0.25 * math.log(4))
    assert last.all_change == Change(-0.25, -0.25, -0.25, effect)
    assert last.best_change == Change(0.0, 0.0, 0.0, "holds")
    assert (found.n_users, found.n_requests, found.verdict) == (30, 60, "artefact" if effect == "costs" else "none")


def test_categories_and_entropy_are_means_over_lists():
    """Two of each of two categories; one item alone, of no category, which is a category of its own; nothing at all."""
    relevance = np.repeat([[0.9], [0.8], [0.7], [0.6], [0.0]], 3, axis=1)
    available = np.array([[1, 1, 1, 1, 0], [0, 0, 0, 0, 1], [0, 0, 0, 0, 0]], dtype=bool).T
    found = check_tradeoff(
        relevance, np.array([0, 1, 0, 1, -1]), LoggedOutcomes(np.ones((5, 3), dtype=bool)), ["a", "b", "c"], length=4,
        consumed=1, available=available, balances=(1.0, 0.5), resamples=10,
    )  # fmt: skip
    for point in found.points:
        assert point.categories == pytest.approx((2 + 1 + 0) / 3)
        assert point.entropy == pytest.approx(math.log(2) / 3)
        assert point.all_consumed == pytest.approx((1 + 1 + 0) / 3)


def test_requests_to_which_nothing_is_relevant_are_judged_too():
    found = check_tradeoff(
        np.zeros((24, 4)), CATEGORIES, LoggedOutcomes(np.ones((24, 4), dtype=bool)), USERS[:4], length=6, consumed=2,
        margin=0.0, resamples=1,
    )  # fmt: skip
    assert all(point.all_consumed == point.best_consumed == 1.0 for point in found.points)


@pytest.mark.parametrize(("users", "resamples", "tail", "reason"), [
    (20, 640, 0.05 / 32, None),
    (19, 640, 0.05 / 32, "the users with an outcome are 19; a verdict needs at least 20"),
    (20, 10**9, 2.0**-20, None),
    (20, 10**9, 2.0**-21, "the users with an outcome are 20; a verdict needs at least 21"),  # 2^-20 is above the tail
    (20, 9, 0.1, "the resamples are 9; intervals of this level need at least 10"),
])  # fmt: skip
def test_least_numbers(users, resamples, tail, reason):
    assert too_few(users, resamples, tail) == reason


@pytest.mark.long
@pytest.mark.parametrize("users", [20, 40])
def test_a_loss_that_is_not_there_is_seldom_found(users):
    """Items please alike: a loss, real or seeming, in at most 2 of 30 samples; the level grants 1.5."""
    found = []
    for sample in range(30):
        generator = np.random.default_rng([sample, users])
        relevance, targets = generator.random((24, users)), generator.random((24, users)) < 0.4
        found.append(
            check_tradeoff(
                relevance, CATEGORIES, LoggedOutcomes(targets), USERS[::2][:users], length=6, consumed=2, seed=sample
            ).verdict
        )
    assert sum(verdict in ("real", "artefact") for verdict in found) <= 2


def test_no_diversity_to_be_had():
    relevance, targets = all_alike(40)
    found = check_tradeoff(
        relevance, np.zeros(24, dtype=int), LoggedOutcomes(targets), USERS[:40], length=6, consumed=2
    )
    assert found.verdict == "undecided"
    assert found.reason == "no list of the path has more than 1.00 categories on average"


@pytest.mark.long
def test_modelled_outcomes_agree_with_logged_ones():
    wanted, chances, relevance, targets = one_type()
    logged = check(relevance, targets, 1)
    modelled = check_tradeoff(
        relevance, CATEGORIES, ModelledOutcomes(wanted, chances, CATEGORIES), USERS, length=6, consumed=1
    )
    assert modelled.verdict == "artefact"
    share = targets.any(axis=0).mean()  # requests without a target are not judged
    for one, other in zip(logged.points, modelled.points, strict=True):
        assert one.all_consumed * share == pytest.approx(other.all_consumed, abs=0.03)
        assert one.best_consumed * share == pytest.approx(other.best_consumed, abs=0.06)


def slates(items):
    items = np.array(items)
    return Slates("any", tuple("abcdef"), items, np.zeros(len(items), dtype=bool))


def test_logged_by_hand():
    targets = np.array([[1, 0, 1, 1, 0, 0], [1, 0, 0, 0, 0, 0], [0] * 6, [0, 0, 1, 0, 0, 0]], dtype=bool).T
    outcomes = LoggedOutcomes(targets)
    assert outcomes.judged.tolist() == [True, True, False, True]
    every, best = outcomes.accuracies(slates([[0, 1, 2, 3], [0, 1, -1, -1], [-1] * 4, [2, -1, -1, -1]]), 2)
    assert every.tolist() == [0.75, 0.5, 0.0, 1.0]
    assert best.tolist() == [1.0, 0.5, 0.0, 0.5]


@pytest.mark.parametrize("consumed", [1, 2, 3])
def test_modelled_against_all_outcomes(consumed):
    rng = np.random.default_rng(0)
    types = np.array([0, 0, 0, 1, 1, 2])
    wanted, chances = rng.dirichlet(np.ones(3), 5).T, rng.random((6, 5))
    shown = [[0, 3, 1, 5], [0, 1, 2, -1], [5, 4, -1, -1], [3, -1, -1, -1], [-1] * 4]
    every, best = ModelledOutcomes(wanted, chances, types).accuracies(slates(shown), consumed)
    for u, items in enumerate(shown):
        items = [c for c in items if c >= 0]
        total = kept = 0.0
        for t in range(3):
            own = [chances[c, u] for c in items if types[c] == t]
            for outcome in itertools.product((0, 1), repeat=len(own)):
                odds = wanted[t, u] * math.prod(q if hit else 1 - q for q, hit in zip(own, outcome))
                total += odds * sum(outcome)
                kept += odds * min(consumed, sum(outcome))
        assert every[u] == pytest.approx(total / max(1, len(items)))
        assert best[u] == pytest.approx(kept / consumed)


@pytest.mark.long
def test_intervals_against_a_slow_bootstrap():
    """The interval of a change is the quantile of means over resampled users, requests staying with their user."""
    _, _, relevance, targets = one_type()
    found = check(relevance, targets, 1, balances=(1.0, 0.45), resamples=4000)
    change = found.points[1].best_change
    judged = targets.any(axis=0)
    from accordant.slates.tradeoff.check import _candidates
    from accordant.slates.rules.diversity import MaximalMarginalRelevance

    made = [MaximalMarginalRelevance(b)(_candidates(relevance, CATEGORIES, None), 6) for b in (1.0, 0.45)]
    best = [LoggedOutcomes(targets).accuracies(each, 1)[1] for each in made]
    differences = (best[1] - best[0])[judged]
    who = np.array(USERS)[judged]
    assert change.value == pytest.approx(differences.mean())
    groups = [differences[who == name] for name in np.unique(who)]
    rng = np.random.default_rng(9)
    means = []
    for _ in range(4000):
        drawn = [groups[g] for g in rng.integers(0, len(groups), len(groups))]
        means.append(np.concatenate(drawn).mean())
    # two readings at one point: each interval has 97.5 %
    assert (change.low, change.high) == pytest.approx(np.quantile(means, [0.0125, 0.9875]), abs=0.006)


@pytest.mark.long
def test_the_same_seed_gives_the_same_bytes():
    relevance, targets = independent()
    first, again, other = (check(relevance, targets, 2, seed=seed, resamples=50) for seed in (1, 1, 2))
    assert repr(first) == repr(again)  # what is not defined is NaN, which equals nothing
    assert first.points[-1].best_change.low != other.points[-1].best_change.low


def test_served_requests():
    """Only relevance, targets and candidates are read of what was served."""
    _, _, relevance, targets = one_type()
    batches = [
        SimpleNamespace(relevance=relevance[:, part], targets=targets[:, part])
        for part in (slice(0, 150), slice(150, N))
    ]
    available = np.ones((24, N), dtype=bool)
    served = SimpleNamespace(
        market=SimpleNamespace(batches=batches), targets=targets, users=tuple(USERS), slates=SimpleNamespace(k=6),
        candidates=SimpleNamespace(categories=CATEGORIES, available=available),
    )  # fmt: skip
    found = check_served(served, consumed=1, seed=3)
    assert repr(found) == repr(check(relevance, targets, 1, seed=3, available=available))
    served.targets = None
    with pytest.raises(InputError, match="nobody knows what was consumed"):
        check_served(served, consumed=1)


class TestPooledGamma:
    def test_one_list_is_the_fit_of_the_room(self):
        p, counts = np.array([0.5, 0.3, 0.15, 0.05]), np.array([9, 4, 2, 0])
        found = pooled_gamma(p[:, None], counts[:, None])
        assert found.gamma == pytest.approx(fitted_gamma(p, counts).gamma)
        assert found.left_out == 0.25

    def test_homogeneous_lists_of_different_users(self):
        p = np.array([[0.64, 0.16], [0.16, 0.04], [0.2, 0.8]])
        counts = np.array([[8, 4], [4, 2], [0, 0]])  # a ∝ p^½ among those shown
        assert pooled_gamma(p, counts).gamma == pytest.approx(0.5)
        assert pooled_gamma(p, counts).left_out == pytest.approx(2 / 6)

    def test_no_line(self):
        assert math.isnan(pooled_gamma(np.full((2, 3), 0.5), np.ones((2, 3), dtype=int)).gamma)
        assert math.isnan(pooled_gamma(np.array([[0.9], [0.1]]), np.array([[5], [0]])).gamma)
        assert math.isnan(pooled_gamma(np.zeros((2, 1)), np.zeros((2, 1), dtype=int)).left_out)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"consumed": 0}, "consumed is 0; allowed: from 1 to 6"),
        ({"consumed": 7}, "consumed is 7"),
        ({"length": 0}, "a slate has 0 places"),
        ({"balances": (1.0,)}, "balances are"),
        ({"balances": (0.5, 1.0)}, "allowed: at least two, falling"),
        ({"balances": (0.5, 0.5)}, "allowed: at least two, falling"),
        ({"balances": (1.5, 1.0)}, "balance is 1.5"),
        ({"margin": -1.0}, "margin -1.0"),
        ({"resamples": 0}, "resamples 0"),
        ({"level": 1.0}, "level 1.0"),
    ],
)
def test_wrong_settings(changes, message):
    relevance, targets = all_alike(4)
    settings = {"length": 6, "consumed": 2} | changes
    with pytest.raises(InputError, match=message):
        check_tradeoff(relevance, CATEGORIES, LoggedOutcomes(targets), USERS[:4], **settings)


def test_wrong_data():
    relevance, targets = all_alike(4)
    with pytest.raises(InputError, match="relevance has shape"):
        check_tradeoff(relevance, CATEGORIES, LoggedOutcomes(targets), USERS[:3], length=6, consumed=2)
    with pytest.raises(InputError, match="no request has an outcome"):
        check_tradeoff(relevance, CATEGORIES, LoggedOutcomes(targets & False), USERS[:4], length=6, consumed=2)
    with pytest.raises(InputError, match="chances have shape"):
        ModelledOutcomes(np.ones((1, 2)), np.ones((3, 3)), np.zeros(3, dtype=int))
    with pytest.raises(InputError, match="do not sum to 1"):
        ModelledOutcomes(np.full((1, 2), 0.5), np.ones((3, 2)), np.zeros(3, dtype=int))
