"""Boards: intervals equal a naive loop over resamples of users, and rules are paired."""

import json
import math
import sys
from dataclasses import replace

import numpy as np
import pytest

from accordant.errors import InputError, UnknownNameError
from accordant.statistics import percentile_interval, wilson
from accordant.slates.evaluation import default_measures, price, scores
from accordant.slates.evaluation.scores import Users, recentre, resample_measures
from accordant.randomness import generator
from accordant.slates import measures
from accordant.slates.measures import DailyMeasure, MeanMeasure, measures as registry

NEEDED = {"stakeholder": "guest", "line": 0.4}


@pytest.fixture(scope="module")
def every():
    """Every registered measure, with what it needs."""
    found = {}
    for name in measures.names():
        fields = registry.factory(name).__dataclass_fields__
        found[name] = measures.create(name, {key: NEEDED[key] for key in NEEDED if key in fields})
    return found


@pytest.fixture(scope="module")
def board(served, every):
    return scores(served, every, resamples=60, seed=5, level=0.9)


def counts_of_users(served, resamples, seed):
    """How often each request occurs in each resample, drawn user by user."""
    users = list(dict.fromkeys(served.users))
    drawn = generator(seed, "resamples").integers(0, len(users), size=(resamples, len(users)))
    return [[sum(users[d] == user for d in row) for user in served.users] for row in drawn.tolist()]


def test_resamples_equal_a_naive_loop(served, every, board, repeat):
    """Requests of drawn users are really repeated, and measures computed on the longer data."""
    users = Users.of(served["total"].users)
    of_users = [m for m, each in enumerate(every.values()) if not isinstance(each, DailyMeasure)]
    for rule in ("total", "town"):
        draws = resample_measures(served[rule], every, users, 60, generator(5, "resamples"))
        for r, times in enumerate(counts_of_users(served[rule], 60, 5)[:12]):
            copy = repeat(served[rule], times)
            right = [each.of(copy) for each in every.values()]
            np.testing.assert_allclose(draws[r, of_users], np.take(right, of_users), rtol=1e-9, atol=1e-12)


def test_intervals_hold_their_value_also_for_inequalities(served, board):
    """Without recentring, resampled users make attention more unequal than it is."""
    for rule in board.rules:
        for label in ("exposure_gini", "coverage", "gini_of_means", "provider_exposure_gap"):
            found = board[rule].cells[label].estimate
            if found.value is not None:
                assert found.low <= found.value <= found.high, (rule, label)
    m = board.measure("exposure_gini")
    np.testing.assert_allclose(board.draws[:, :, m].mean(axis=0), board.points[:, m], atol=0.02)


@pytest.mark.parametrize(("draws", "point", "moved"), [
    ([1.0, 2.0, 6.0], 3.0, [1.0, 2.0, 6.0]),  # their mean is the value
    ([1.0, 2.0, 6.0], 2.0, [1.0, 1.0, 5.0]),  # no lower than anything that was drawn
    ([1.0, 2.0, 6.0], 4.0, [2.0, 3.0, 6.0]),
    ([2.0, 4.0], 1.0, [1.0, 2.0]),  # the value is part of the range
    ([1.0, np.nan, 3.0], 2.5, [1.5, np.nan, 3.0]),
    ([np.nan, np.nan], 0.5, [np.nan, np.nan]),
    ([1.0, 2.0], np.nan, [1.0, 2.0]),
])  # fmt: skip
def test_draws_are_moved_to_the_value_within_their_range(draws, point, moved):
    np.testing.assert_allclose(recentre(np.array([draws]).T, np.array([point])), np.array([moved]).T)


def test_measures_of_days_resample_whole_days(served, board):
    """Drawing users would make days fuller than any that was, and crowds with them."""
    overload, days = measures.create("overload"), np.unique(served["total"].days)
    drawn = generator(5, "resamples").spawn(1)[0].multinomial(len(days), np.full(len(days), 1 / len(days)), size=60)
    for rule in board.rules:
        visits = [served[rule].visits[:, served[rule].days == day].sum(axis=1) for day in days]
        room = served[rule].market.catalogue.capacity
        beyond = np.array([np.maximum(each - room, 0).sum() for each in visits])
        draws = drawn @ beyond / (drawn @ np.array([each.sum() for each in visits]))
        users = Users.of(served[rule].users)
        every = {"overload": overload}
        found = resample_measures(served[rule], every, users, 60, generator(5, "resamples"))[:, 0]
        np.testing.assert_allclose(found, draws)
        assert found.min() <= overload.of(served[rule]) <= found.max()


def test_one_day_says_nothing_of_how_days_differ(lists_of):
    served = lists_of([[0], [1]], np.array([[[1.0, 1.0], [0.0, 0.0]]]))
    cell = scores({"rule": served}, {"overload": measures.create("overload")}, resamples=50)["rule"].cells["overload"]
    assert cell.estimate.value is not None and cell.estimate.low is None


def test_points_and_intervals(served, every, board):
    assert board.rules == tuple(served)
    assert (board.n_requests, board.n_users) == (48, len(set(served["total"].users)))
    for row in board:
        for m, (label, cell) in enumerate(row.cells.items()):
            right = every[label].of(served[row.rule])
            if math.isnan(right):
                assert cell.estimate.value is None and cell.estimate.low is None
                continue
            assert cell.estimate.value == right
            limits = percentile_interval(board.draws[:, board.place(row.rule), m], 0.9)
            if limits.high - limits.low > 1e-12 or board.columns[m].range is None:
                assert (cell.estimate.low, cell.estimate.high) == (float(limits.low), float(limits.high))
            else:  # never of width zero
                assert cell.estimate.low < cell.estimate.high
            if isinstance(every[label], MeanMeasure):
                assert cell.estimate.low <= right <= cell.estimate.high
            assert cell.n == every[label].requests(served[row.rule])
    assert board["guest"].cells["attained"].estimate.value == pytest.approx(1.0)


def test_not_defined_is_none_and_never_zero(board):
    assert all(row.cells["distance"].estimate.value is None for row in board)
    assert all(row.cells["distance"].n == 0 for row in board)


def test_all_requests_of_a_user_are_drawn_together(lists_of):
    """Users with two opposite lists each: every resample holds both, so there is no spread."""
    values = np.array([[[1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 0.0, 0.0]]])
    attained = {"attained": measures.create("attained", {"stakeholder": "guest"})}
    lists = [[0], [1], [0], [1]]
    same = scores({"rule": lists_of(lists, values, users=("u", "u", "v", "v"))}, attained, resamples=50)
    assert (same.draws[:, 0, 0] == 0.5).all()
    apart = scores({"rule": lists_of([[0], [1]], values[:, :, :2])}, attained, resamples=50)
    assert (apart["rule"].cells["attained"].estimate.low, apart["rule"].cells["attained"].estimate.high) == (0.0, 1.0)
    assert (same.n_users, apart.n_users) == (2, 2)


def test_one_user_says_nothing_of_how_users_differ(lists_of):
    values = np.array([[[1.0, 1.0], [0.0, 0.0]]])
    attained = {"attained": measures.create("attained", {"stakeholder": "guest"})}
    board = scores({"rule": lists_of([[0], [1]], values, users=("u", "u"))}, attained, resamples=50)
    assert board["rule"].cells["attained"].estimate.value == 0.5
    assert board["rule"].cells["attained"].estimate.low is None


def test_same_seed_same_board(served, every, board, monkeypatch):
    """Neither other rules nor the size of blocks of resamples change what is drawn."""
    alone = scores({"town": served["town"]}, every, resamples=60, seed=5, level=0.9)
    np.testing.assert_array_equal(alone.draws[:, 0], board.draws[:, board.place("town")])
    monkeypatch.setattr(sys.modules[resample_measures.__module__], "BLOCK", 100)
    blocks = scores(served, every, resamples=60, seed=5, level=0.9)
    np.testing.assert_allclose(blocks.draws, board.draws, rtol=1e-12)
    other = scores(served, every, resamples=60, seed=6, level=0.9)
    assert not np.array_equal(other.draws, board.draws, equal_nan=True)


def test_no_resamples(served, every):
    board = scores(served, every, resamples=0)
    assert board.draws.shape == (0, 4, len(every))
    assert board["total"].cells["worst_off"].estimate.low is None
    assert board["total"].cells["worst_off"].estimate.value is not None


def test_price_is_paired(served, every, board):
    prices = price(board, "guest")
    assert prices.reference == "guest"
    assert set(prices.rules) == {"total", "town", "inn"}
    m, base, town = board.measure("attained"), board.place("guest"), board.place("town")
    found = prices.rules["town"]["attained"]
    assert found.estimate.value == pytest.approx(board.points[town, m] - 1.0)
    paired = percentile_interval(board.draws[:, town, m] - board.draws[:, base, m], 0.9)
    assert (found.estimate.low, found.estimate.high) == (float(paired.low), float(paired.high))
    assert found.better is False  # the user alone cannot be served better
    assert prices.rules["town"]["regret"].better is False  # more regret is worse
    assert prices.rules["town"]["distance"].better is None
    assert prices.rules["town"]["distance"].estimate.value is None
    json.dumps(prices.to_json(), allow_nan=False)


def test_equal_rules_cost_nothing(served, every):
    board = scores({"one": served["total"], "other": served["total"]}, every, resamples=40)
    for found in price(board, "one").rules["other"].values():
        assert found.better is None
        assert found.estimate.value in (0.0, None)
        assert found.estimate.high is None or found.estimate.high >= 0


def test_wrong_input(served, every, lists_of):
    with pytest.raises(InputError, match="at least one rule"):
        scores({}, every)
    with pytest.raises(InputError, match="at least one rule and one measure"):
        scores(served, {})
    with pytest.raises(InputError, match="level"):
        scores(served, every, level=1.0)
    with pytest.raises(InputError, match="resamples -1"):
        scores(served, every, resamples=-1)
    other = lists_of([[0]], np.ones((1, 1, 1)))
    with pytest.raises(InputError, match="other served other requests than total"):
        scores({"total": served["total"], "other": other}, {"worst": measures.create("worst_off")})
    nobody = lists_of(np.empty((0, 1), dtype=int), np.ones((1, 2, 0)))
    with pytest.raises(InputError, match="nobody asked"):
        scores({"nobody": nobody}, {"worst": measures.create("worst_off")})
    board = scores({"total": served["total"]}, {"worst": measures.create("worst_off")}, resamples=0)
    with pytest.raises(UnknownNameError, match="did you mean 'total'"):
        price(board, "totals")
    with pytest.raises(UnknownNameError, match="did you mean 'worst'"):
        board.measure("worse")


def test_sums_over_users():
    """Users are numbered as they come; a user's requests are added up wherever they are."""
    users = Users.of(["b", "a", "b", "c", "a"])
    assert users.codes.tolist() == [0, 1, 0, 2, 1]
    columns = np.array([[1.0, 2.0, 4.0, 8.0, 16.0], [1.0] * 5])
    assert users.sums(columns).tolist() == [[5.0, 2.0], [18.0, 2.0], [8.0, 1.0]]
    assert Users.of([]).sums(np.zeros((2, 0))).shape == (0, 2)
    with pytest.raises(InputError, match="nobody asked"):
        next(Users.of([]).weights(3, np.random.default_rng(0)))


def test_default_measures(served, lists_of):
    found = default_measures(served["total"].market)
    assert list(found) == [
        "worst off", "user attained", "nash", "floor violations", "ndcg", "overload", "exposure gini",
        "provider exposure gap", "long tail", "diversity",
    ]  # fmt: skip
    board = scores(served, found, resamples=20)
    assert not np.isnan(board.points).any()
    bare = lists_of([[0]], np.ones((1, 1, 1)))
    assert list(default_measures(bare.market)) == ["worst off", "nash", "exposure gini", "long tail"]
    points = scores({"bare": bare}, default_measures(bare.market), resamples=3).points
    assert np.isnan(points[0, :2]).all()  # one item is the best and the worst list


def test_default_gap_is_between_what_is_known(served):
    """Categories stand in where there is one provider only, and nothing where there is neither."""
    market = served["total"].market
    for providers, categories, label in (
        (1, 3, "category exposure gap"),
        (2, 1, "provider exposure gap"),
        (1, 1, None),
    ):
        names = {
            "provider": tuple(f"p{c % providers}" for c in range(8)),
            "category": tuple(f"a{c % categories}" for c in range(8)),
        }
        found = default_measures(replace(market, catalogue=replace(market.catalogue, **names)))
        assert [each for each in found if "gap" in each] == ([label] if label else [])


def test_what_is_the_same_for_everybody_has_no_interval_of_no_width(served):
    """Nothing that was seen in no request may be said never to happen."""
    made = {"misery": measures.create("misery", {"line": 0.0}), "worst": measures.create("worst_off")}
    board = scores(served, made, resamples=40)
    assert board.n_users >= 2
    for row in board:
        cell = row.cells["misery"].estimate
        assert (cell.value, cell.low) == (0.0, 0.0)
        assert cell.high == pytest.approx(wilson(0.0, board.n_users, 0.95)[1])
    for found in price(board, board.rules[0]).rules.values():
        none = found["misery"]
        assert none.estimate.value == 0 and none.estimate.low < 0 < none.estimate.high and none.better is None
