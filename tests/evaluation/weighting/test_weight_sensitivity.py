"""Distances to the nearest border: closed forms, a fine grid, and stepping onto the border and just beyond."""

from __future__ import annotations

import json

import numpy as np
import pytest

from accordant.evaluation.weighting import UndominatedScores, weight_sensitivity
from accordant.evaluation.weighting.weight_sensitivity import nearest_by_distance, nearest_by_share, on_simplex
from accordant.evaluation.weighting.regions import regions_of


def found_for(normalised, weights):
    strategies = [chr(ord("a") + s) for s in range(len(normalised))]
    scores = UndominatedScores.of(
        np.array(normalised, dtype=float), strategies, [f"m{k}" for k in range(len(weights))], weights
    )
    winning = {region.strategy: region.status == "wins" for region in regions_of(scores).regions}
    return scores, weight_sensitivity(scores, winning)


def test_two_metrics_closed_form():
    """a leads b by 0.6 w1 − 0.3 w2 at (0.6, 0.4); level where w1 = 1/3, so 26.7 points of weight must move."""
    _, found = found_for([[0.9, 0.2], [0.3, 0.5]], (0.6, 0.4))
    assert found.winner == "a"
    (shift,) = found.shifts
    assert shift is found.nearest
    assert shift.rival == "b"
    assert shift.share_moved == pytest.approx(0.6 - 1 / 3)
    assert shift.weights == pytest.approx((1 / 3, 2 / 3))
    assert shift.distance == pytest.approx(np.sqrt(2) * (0.6 - 1 / 3))
    assert shift.wins_from == pytest.approx(0.6 - 1 / 3)


def test_a_border_outside_the_simplex_does_not_count():
    _, found = found_for([[0.9, 0.5], [0.3, 0.4], [0.9, 0.1]], (0.5, 0.5))
    assert found.winner == "a"
    assert found.nearest is None
    assert found.cannot == ("b", "c")  # c draws level where only the first metric counts, and is never ahead
    assert found.to_json()["nearest"] is None


def test_level_rivals_are_at_distance_zero():
    _, found = found_for([[1, 0], [0, 1], [0, 1]], (0.5, 0.5))
    assert found.winner == "a"
    assert found.level_with == ("b",)
    assert found.nearest.share_moved == 0
    assert found.nearest.distance == 0
    assert found.nearest.tied_with == ("c",)
    assert found.nearest.weights == (0.5, 0.5)


@pytest.mark.few(4)
@pytest.mark.parametrize("seed", range(12))
def test_against_a_fine_grid(seed):
    """Brute-force twin: all weights of a grid, the nearest at which the rival is level or ahead."""
    generator = np.random.default_rng(seed)
    n_metrics, steps = (2, 400) if seed % 3 == 0 else (3, 120)
    normalised, weights = generator.random((5, n_metrics)), generator.dirichlet(np.ones(n_metrics))
    scores, found = found_for(normalised, weights)
    parts = np.array(list(np.ndindex(*(steps + 1,) * (n_metrics - 1))))
    parts = parts[parts.sum(axis=1) <= steps]
    grid = np.column_stack([parts, steps - parts.sum(axis=1)]) / steps
    scores, winner = grid @ normalised.T, ord(found.winner) - ord("a")
    moved, far = np.abs(grid - weights).sum(axis=1) / 2, np.linalg.norm(grid - weights, axis=1)
    for shift in found.shifts:
        rival = ord(shift.rival) - ord("a")
        level = scores[:, rival] >= scores[:, winner]
        coarse = 2 * n_metrics / steps
        if level.any():
            assert shift.share_moved - 1e-12 <= moved[level].min() <= shift.share_moved + coarse
            assert shift.distance - 1e-12 <= far[level].min() <= shift.distance + coarse
        best = scores[:, rival] >= scores.max(axis=1)
        if best.any():
            assert shift.wins_from - 1e-7 <= moved[best].min()
            assert shift.wins_from >= shift.share_moved - 1e-7
    for name in found.cannot:
        assert (scores[:, ord(name) - ord("a")] <= scores[:, winner] + 1e-12).all()


@pytest.mark.few(4)
@pytest.mark.parametrize("seed", range(20))
def test_on_the_border_level_and_just_beyond_ahead(seed):
    generator = np.random.default_rng(100 + seed)
    n_metrics = 2 + seed % 4
    normalised, weights = generator.random((7, n_metrics)), generator.dirichlet(np.ones(n_metrics))
    _, found = found_for(normalised, weights)
    if found.nearest is None:
        scores = generator.dirichlet(np.ones(n_metrics), 2000) @ normalised.T
        assert (scores.argmax(axis=1) == ord(found.winner) - ord("a")).all()
        return
    there, winner, rival = (
        np.array(found.nearest.weights),
        ord(found.winner) - ord("a"),
        ord(found.nearest.rival) - ord("a"),
    )
    assert there.sum() == pytest.approx(1)
    assert (there >= 0).all()
    scores = normalised @ there
    assert scores[rival] == pytest.approx(scores[winner], abs=1e-9)
    assert scores[winner] >= scores.max() - 1e-9  # nobody else has overtaken before
    before = normalised @ (weights + 0.999 * (there - weights))
    assert before.argmax() == winner
    step = np.zeros(n_metrics)
    step[(normalised[rival] - normalised[winner]).argmax()] = 1
    beyond = normalised @ (there + 1e-4 * (step - there))
    assert beyond[rival] > beyond[winner]
    assert found.nearest.distance <= np.linalg.norm(there - weights) + 1e-9


@pytest.mark.parametrize("seed", range(8))
def test_distance_is_that_of_a_programme(seed):
    """Against scipy's solver of smooth programmes with constraints."""
    from scipy.optimize import minimize

    generator = np.random.default_rng(seed)
    weights, gain = generator.dirichlet(np.ones(4)), generator.normal(size=4)
    gain -= gain @ weights + 0.2  # the rival is behind at the weights
    if gain.max() <= 0:
        gain[0] = 0.5
        gain[1:] -= 1
    point = nearest_by_distance(weights, gain)
    constraints = [{"type": "eq", "fun": lambda w: w.sum() - 1}, {"type": "ineq", "fun": lambda w: gain @ w}]
    start = np.eye(4)[gain.argmax()]
    done = minimize(lambda w: ((w - weights) ** 2).sum(), start, bounds=[(0, 1)] * 4, constraints=constraints)
    assert np.linalg.norm(point - weights) == pytest.approx(np.sqrt(done.fun), abs=1e-5)
    assert gain @ point == pytest.approx(0, abs=1e-9)


def test_nearest_by_share_takes_from_the_worst_first():
    moved = nearest_by_share(np.array([0.5, 0.3, 0.2]), np.array([-0.2, -1.0, 0.6]))
    # the gap is −0.28; all of the second metric's weight would bring 0.48
    assert moved == pytest.approx([0.5, 0.3 - 0.28 / 1.6, 0.2 + 0.28 / 1.6])


@pytest.mark.parametrize("end", [0, 1])
def test_gains_that_are_equal_up_to_rounding(end):
    """0.9 − 0.7 and 1.0 − 0.2 … leave gains that differ in the last bit; a quotient of roundings is no share."""
    normalised = [[0.7, 0.1, 0.9], [0.2, 0.2, 1.0]]
    _, found = found_for(normalised[:: 1 if end else -1], (0.17, 0.05, 0.78))
    (shift,) = found.shifts
    assert shift.share_moved == pytest.approx(0.002 / 0.6)
    assert shift.wins_from == pytest.approx(0.002 / 0.6)


def smallest_share(weights, gain):
    """Twin: a linear programme."""
    from scipy.optimize import linprog

    n = len(weights)
    done = linprog(
        np.repeat([1.0, 0.0], n), A_ub=[[*-gain, *gain]], b_ub=[gain @ weights], A_eq=[np.repeat([1.0, -1.0], n)],
        b_eq=[0.0], bounds=[(0, None)] * n + [(0, weight) for weight in weights],
    )  # fmt: skip
    assert done.success
    return done.fun


@pytest.mark.few(1)
@pytest.mark.parametrize("n_metrics", [2, 3, 4, 5])
def test_share_moved_is_that_of_a_programme(n_metrics):
    """Values with one decimal, so that many gains are equal up to rounding."""
    generator = np.random.default_rng(n_metrics)
    compared = 0
    for _ in range(150):
        first, second = np.round(generator.random((2, n_metrics)), 1)
        weights = np.round(generator.dirichlet(np.ones(n_metrics)), 2)
        weights, gain = weights / weights.sum(), second - first
        if gain.max() <= 1e-12:
            continue
        moved = nearest_by_share(weights, gain)
        assert np.abs(moved - weights).sum() / 2 == pytest.approx(smallest_share(weights, gain), abs=1e-7)
        assert gain @ moved >= -1e-12
        assert moved.min() >= 0
        compared += 1
    assert compared > 100


@pytest.mark.few(4)
@pytest.mark.parametrize("seed", range(30))
def test_winning_never_takes_less_than_overtaking(seed):
    generator = np.random.default_rng(seed)
    normalised = np.round(generator.random((5, 4)), 1)
    _, found = found_for(normalised, np.round(generator.dirichlet(np.ones(4)), 2) + 0.01)
    assert all(shift.wins_from is None or shift.wins_from >= shift.share_moved - 1e-9 for shift in found.shifts)


def test_the_winner_is_a_leader_with_a_region():
    """All four are level at equal weights, and the first of them nowhere else."""
    _, found = found_for([[1 / 3] * 3, *np.eye(3).tolist()], (1, 1, 1))
    assert found.winner == "b"
    assert found.level_with == ("a", "c", "d")
    assert {shift.rival: shift.wins_from for shift in found.shifts}["a"] is None


def test_projection_on_the_simplex():
    assert on_simplex(np.array([0.2, 0.3, 0.5])) == pytest.approx([0.2, 0.3, 0.5])
    assert on_simplex(np.array([2.0, 0.0, -1.0])) == pytest.approx([1, 0, 0])
    assert on_simplex(np.array([1.0, 1.0, -5.0])) == pytest.approx([0.5, 0.5, 0])


def test_json_names_the_metrics():
    _, found = found_for([[0.9, 0.2], [0.3, 0.5]], (0.6, 0.4))
    read = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert read["nearest"]["change"]["m0"] == pytest.approx(1 / 3 - 0.6)
    assert sum(read["nearest"]["change"].values()) == pytest.approx(0)
    assert read["shifts"] == [read["nearest"]]


def test_a_rival_that_overtakes_may_still_win_nowhere():
    _, found = found_for([[1, 0], [0, 1], [0.45, 0.5]], (0.9, 0.1))
    third = next(shift for shift in found.shifts if shift.rival == "c")
    assert third.wins_from is None
    assert third.share_moved == pytest.approx(0.9 - 0.5 / 1.05)
    _, found = found_for([[1, 0], [0, 1], [0.5, 0.5]], (0.9, 0.1))  # c is level with both where both are equal
    assert {shift.rival: shift.wins_from for shift in found.shifts} == {"b": pytest.approx(0.4), "c": None}
