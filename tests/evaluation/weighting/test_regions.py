"""Regions of weights: closed forms, cover without overlap, agreement with drawn weights, and degenerate contests."""

from __future__ import annotations

import json

import numpy as np
import pytest

from accordant.errors import InputError, UnknownNameError
from accordant.evaluation.weighting import weight_regions
from accordant.statistics import wilson

TWO, THREE = ("m1", "m2"), ("m1", "m2", "m3")


def shares(found):
    return {region.strategy: region.share for region in found.regions}


def rows(n_strategies, n_metrics, seed=0):
    """Return strategies near a sphere, so that several win somewhere."""
    points = np.abs(np.random.default_rng(seed).normal(size=(n_strategies, n_metrics)))
    return points / np.linalg.norm(points, axis=1, keepdims=True)


def names(n, letter="s"):
    return [f"{letter}{k}" for k in range(n)]


def test_two_metrics_closed_form():
    """a and b cross where 3 w1 = w2 (w1 = 1/4); b and c where w1 = 4/5."""
    normalised = np.array([[0.0, 1.0], [0.75, 0.75], [0.9, 0.15]])
    found = weight_regions(normalised, "abc", TWO, (0.5, 0.5))
    assert shares(found) == pytest.approx({"a": 0.25, "b": 0.55, "c": 0.2}, abs=1e-12)
    assert found.winners == ("b",)
    assert found["b"].neighbours == ("a", "c")
    assert np.allclose(found["b"].corners, [(0.8, 0.2), (0.25, 0.75)])
    assert {(each.rival, each.coefficients) for each in found["a"].inequalities} == {
        ("b", (-0.75, 0.25)),
        ("c", (-0.9, 0.85)),
    }
    assert found.method == "exact"


def test_three_opposed_strategies_share_evenly():
    found = weight_regions(np.eye(3), "abc", THREE, (0.6, 0.3, 0.1))
    assert shares(found) == pytest.approx(dict.fromkeys("abc", 1 / 3), abs=1e-15)
    assert found.at((0.6, 0.3, 0.1)) == ("a",)
    assert set(found.at((1, 1, 1))) == set("abc")
    corners = np.array(found["a"].corners)
    assert len(corners) == 4  # a corner, two middles of sides, the middle
    sides = np.linalg.norm(corners - np.roll(corners, 1, axis=0), axis=1)
    assert sides.sum() == pytest.approx(2 * np.sqrt(0.5) + 2 * np.sqrt(1 / 6))  # in order round the region


@pytest.mark.few(5)
@pytest.mark.parametrize("n_metrics", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("n_strategies", [1, 2, 9])
def test_regions_cover_the_simplex_without_overlap(n_metrics, n_strategies):
    normalised = rows(n_strategies, n_metrics, seed=n_metrics)
    found = weight_regions(normalised, names(n_strategies), names(n_metrics, "m"), np.ones(n_metrics))
    assert sum(shares(found).values()) == pytest.approx(1, abs=1e-9)
    weights = np.random.default_rng(1).dirichlet(np.ones(n_metrics), 500)
    for point in weights:
        holders = found.at(point)
        assert holders == (names(n_strategies)[int((normalised @ point).argmax())],)  # drawn points lie on no border


@pytest.mark.parametrize("n_metrics", [2, 3, 4, 5])
def test_shares_agree_with_many_drawn_weights(n_metrics):
    normalised = rows(10, n_metrics, seed=20 + n_metrics)
    found = weight_regions(normalised, names(10), names(n_metrics, "m"), np.ones(n_metrics))
    weights = np.random.default_rng(2).dirichlet(np.ones(n_metrics), 100_000)
    counts = np.bincount((weights @ normalised.T).argmax(axis=1), minlength=10) / len(weights)
    for name, count in zip(names(10), counts, strict=True):
        assert found[name].share == pytest.approx(count, abs=4 * np.sqrt(0.25 / len(weights)))
        assert (found[name].status == "wins") or count == 0


def test_a_grid_finds_the_same_winners():
    """Brute-force twin: every weight vector of a grid, each strategy compared with each other in plain Python."""
    normalised = rows(6, 3, seed=3)
    found = weight_regions(normalised, names(6), THREE, (1, 1, 1))
    for i in range(13):
        for j in range(13 - i):
            point = (i / 12, j / 12, (12 - i - j) / 12)
            scores = [sum(w * v for w, v in zip(point, row, strict=True)) for row in normalised]
            best = {names(6)[s] for s in range(6) if all(scores[s] >= other - 1e-12 for other in scores)}
            assert set(found.at(point)) == best


@pytest.mark.long
def test_six_metrics_are_drawn_and_close_to_exact(monkeypatch):
    normalised = rows(6, 6, seed=4)
    given = (normalised, names(6), names(6, "m"), np.ones(6))
    found = weight_regions(*given, generator=np.random.default_rng(0), draws=20_000)
    monkeypatch.setattr("accordant.evaluation.weighting.regions.EXACT_METRICS", 6)
    exact = weight_regions(*given)
    assert (found.method, exact.method) == ("sampled", "exact")
    for region in exact.regions:
        estimate = found[region.strategy]
        assert estimate.status == region.status
        assert estimate.low - 0.01 <= region.share <= estimate.high + 0.01
        assert estimate.low <= estimate.share <= estimate.high
        assert estimate.corners is None
    monkeypatch.undo()
    again = weight_regions(*given, generator=np.random.default_rng(0), draws=20_000)
    assert again == found
    with pytest.raises(InputError, match="need a generator"):
        weight_regions(*given)
    with pytest.raises(InputError, match="draws is 0"):
        weight_regions(*given, generator=np.random.default_rng(0), draws=0)


def test_drawn_shares_do_not_decide_who_wins_nowhere():
    """Six metrics: c lies on the border between a and b, d below it, e just above it in a region too small to be hit."""
    a, b = np.array([1.0, 0, 0.5, 0.5, 0.5, 0.5]), np.array([0.0, 1, 0.5, 0.5, 0.5, 0.5])
    normalised = np.array([a, b, (a + b) / 2, (a + b) / 2 - 1e-3])
    found = weight_regions(normalised, "abcd", names(6, "m"), np.ones(6), generator=np.random.default_rng(0), draws=500)
    assert {name: found[name].status for name in "abcd"} == {"a": "wins", "b": "wins", "c": "border", "d": "never"}
    assert all((found[name].share, found[name].low, found[name].high) == (0, 0, 0) for name in "cd")
    for name in "ab":
        count = round(found[name].share * 500)
        assert (found[name].low, found[name].high) == pytest.approx(wilson(count / 500, 500, 0.95))
    more = np.vstack([normalised, (a + b) / 2 + 1e-6])
    tiny = weight_regions(more, "abcde", names(6, "m"), np.ones(6), generator=np.random.default_rng(0), draws=500)["e"]
    assert (tiny.status, tiny.share) == ("wins", 0)
    assert 0 < tiny.high < 0.01


@pytest.mark.parametrize(("height", "status"), [(4.4, "never"), (4.5, "border"), (4.6, "wins")])
def test_drawn_regions_do_not_need_scores_within_0_and_1(height, status):
    """Six metrics: a and b are level at 4.5 with equal weights of two, and c lies near that; on the others c is behind."""
    a, b, c = np.zeros((3, 6))
    c[2:] = -1
    a[:2], b[:2], c[:2] = (10, -1), (-1, 10), (height, height)
    given = {"generator": np.random.default_rng(0), "draws": 1}
    found = weight_regions(np.array([a, b, c]), "abc", names(6, "m"), np.ones(6), **given)
    assert found["c"].status == status
    below = weight_regions(np.array([a, b, c - 6]), "abc", names(6, "m"), np.ones(6), **given)
    assert below["c"].status == "never"


def test_those_that_win_nowhere():
    normalised = np.array([[1, 0], [0, 1], [0.5, 0.5], [0.4, 0.4], [0.0, 1.0], [0.3, 0.3], [1.0, 0.0]])
    found = weight_regions(normalised, "abcdefg", TWO, (1, 1), candidates="abcdef")
    assert found["e"] is found["b"]
    assert found["b"].tied_with == ("e",)
    assert [found[name].status for name in "abcdf"] == ["wins", "wins", "border", "never", "never"]
    assert [found[name].share for name in "cdf"] == [0, 0, 0]
    assert [(found[name].low, found[name].high) for name in "df"] == [(0, 0)] * 2
    assert found["c"].dominated_by is None  # on the line between a and b
    assert found["d"].dominated_by == "c"
    assert found["d"].inequalities == ()
    assert found["d"].corners is None
    assert found.left_out == {"g": "not a candidate"}
    assert found.winners == ("a", "b", "e", "c")  # all level in the middle


def test_rounding_does_not_part_equals():
    """A third plus two thirds is one, up to rounding: the strategy in between wins on the border only."""
    normalised = np.array([[1.0, 0.0], [1 / 3, 2 / 3], [0.0, 1.0], [1e-14, 1.0 - 1e-14]])
    found = weight_regions(normalised, "abcd", TWO, (1, 1))
    assert found["b"].status == "border"
    assert found["c"].tied_with == ("d",)
    assert sum(shares(found).values()) == 1


def test_level_with_all_winners_up_to_rounding():
    """A third of each metric: level at equal weights, where three thirds make 0.999999999999 if cut to 12 decimals."""
    normalised = np.vstack([np.full(3, 1 / 3), np.eye(3)])
    found = weight_regions(normalised, ["mid", "a", "b", "c"], THREE, (1, 1, 1))
    assert found["mid"].status == "border"
    assert set(found.winners) == set(found.at((1, 1, 1))) == {"mid", "a", "b", "c"}
    assert "mid" not in found.at((1, 1, 1.1))


@pytest.mark.parametrize("n_metrics", [2, 3])
def test_a_mixture_of_two_wins_on_the_border_only(n_metrics):
    """Whatever rounding makes of it: no region of a share of 1e-25, and nothing lost."""
    generator = np.random.default_rng(n_metrics)
    for _ in range(40):
        a, b = generator.random((2, n_metrics))
        a[:2], b[:2] = (1, 0), (0, 1)
        share = generator.random()
        found = weight_regions(
            np.array([a, b, share * a + (1 - share) * b]), "abc", names(n_metrics, "m"), np.ones(n_metrics)
        )
        assert [found[name].status for name in "abc"] == ["wins", "wins", "border"]
        assert sum(shares(found).values()) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("gap", [1e-9, 1e-10, 1e-11, 2e-12])
@pytest.mark.parametrize("n_metrics", [5, 6])
def test_near_equals_keep_their_shares(gap, n_metrics):
    """b is better than a in one metric and worse in another, by little: each wins half of what both win."""
    a = np.full(n_metrics, 0.5)
    b = a + gap * np.eye(n_metrics)[0] - gap * np.eye(n_metrics)[1]
    poor = np.r_[[0.2, 0.9], np.full(n_metrics - 2, 0.1)]
    found = weight_regions(
        np.array([a, b, poor]), "abc", names(n_metrics, "m"), np.ones(n_metrics),
        generator=np.random.default_rng(0), draws=20_000,
    )  # fmt: skip
    assert [found[name].status for name in "abc"] == ["wins"] * 3
    assert sum(shares(found).values()) == pytest.approx(1, abs=1e-12)
    assert found["a"].share > 0.3
    assert found["b"].share > 0.3


@pytest.mark.parametrize("margin", [1e-3, 1e-6, 3e-9, 5e-10, 1e-11])
def test_a_small_margin_is_told_from_none(margin):
    """Six opposed strategies and one that is ahead (behind) by little at equal weights only: no draw hits it."""
    given = {"generator": np.random.default_rng(0), "draws": 500}
    for sign, status in ((1, "wins"), (-1, "never")):
        normalised = np.vstack([np.eye(6), np.full(6, 1 / 6 + sign * margin)])
        found = weight_regions(normalised, "abcdefg", names(6, "m"), np.ones(6), **given)
        assert found["g"].status == status
        assert ("g" in found.winners) == ("g" in found.at(np.ones(6))) == (sign > 0)
        assert sum(shares(found).values()) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_winners_and_the_strategies_at_the_weights_agree(seed):
    """Few different values, so that many are level at the chosen weights."""
    generator = np.random.default_rng(seed)
    n_metrics = 2 + seed % 5
    normalised = generator.integers(0, 4, (8, n_metrics)) / 3
    weights = generator.integers(1, 3, n_metrics)
    found = weight_regions(
        normalised, names(8), names(n_metrics, "m"), weights, generator=np.random.default_rng(0), draws=2000
    )
    held = {name for first in found.at(weights) for name in (found[first].strategy, *found[first].tied_with)}
    assert held == set(found.winners)


def test_all_equal_one_metric_one_candidate():
    found = weight_regions(np.full((3, 2), 0.5), "abc", TWO, (1, 1))
    assert [(each.strategy, each.tied_with, each.share) for each in found.regions] == [("a", ("b", "c"), 1.0)]
    single = weight_regions(np.array([[0.2], [0.9]]), "ab", ["m"], [1])
    assert shares(single) == {"b": 1.0, "a": 0.0}
    assert single["b"].corners == ((1.0,),)
    assert single["a"].dominated_by == "b"
    alone = weight_regions(np.array([[0.2, 0.4]]), "a", TWO, (1, 1))
    assert shares(alone) == {"a": 1.0}
    assert alone["a"].inequalities == ()


def test_undefined_metrics_leave_a_strategy_out_with_a_reason():
    normalised = np.array([[1, 0, np.nan], [0, 1, 0.5], [np.nan, 2, 0.5]])
    found = weight_regions(normalised, "abc", THREE, (1, 1, 0))
    assert found.left_out == {"c": "not defined: m1"}
    assert shares(found) == {"a": 0.5, "b": 0.5}
    every = weight_regions(normalised, "abc", THREE, (1, 1, 0), among=THREE)
    assert every.left_out == {"a": "not defined: m3", "c": "not defined: m1"}
    assert every.weights == (0.5, 0.5, 0.0)
    with pytest.raises(InputError, match="no candidate is defined"):
        weight_regions(normalised, "abc", THREE, (1, 1, 0), candidates=["c"])


def test_json_is_plain():
    found = weight_regions(np.eye(3), "abc", THREE, (0.6, 0.3, 0.1))
    read = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert read["metrics"] == list(THREE)
    assert [region["strategy"] for region in read["regions"]] == ["a", "b", "c"]
    assert read["regions"][0]["inequalities"][0] == {"rival": "b", "coefficients": [1.0, -1.0, 0.0]}


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"weights": (1, 1)}, "do not fit"),
        ({"weights": (0, 0, 0)}, "no weight"),
        ({"weights": (1, -1, 1)}, "at least 0"),
        ({"strategies": "ab"}, "do not fit"),
        ({"candidates": ["d"]}, "unknown candidate"),
        ({"among": ["m4"]}, "unknown metric"),
        ({"among": []}, "no weight"),
        ({"normalised": np.diag([1, np.inf, 1])}, "b is infinite on m2"),
        ({"normalised": np.diag([1, -np.inf, 1])}, "b is infinite on m2"),
        ({"level": 1.5}, "level is 1.5"),
        ({"level": 0}, "level is 0"),
    ],
)
def test_wrong_input_is_refused(change, match):
    given = {"normalised": np.eye(3), "strategies": "abc", "metrics": THREE, "weights": (1, 1, 1)} | change
    with pytest.raises(InputError, match=match):
        weight_regions(**given)


def test_asking_for_unknown_places():
    found = weight_regions(np.eye(3), "abc", THREE, (1, 1, 1))
    with pytest.raises(UnknownNameError, match="valid: a, b, c"):
        found["d"]
    with pytest.raises(InputError, match="3 numbers"):
        found.at((0, 0, 0))
