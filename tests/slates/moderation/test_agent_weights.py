"""What weighs an agent: the worked example, edges, and what a ban needs."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accordant.errors import UnknownNameError
from accordant.slates.moderation import (
    contributions,
    hallucination,
    banned_items,
    relevance,
    reliability,
    normalise_scores,
)


def test_worked_example():
    """k = 3: previous (a, b, c), new (b, a, d), last offer (a, d, e)."""
    d = reliability(("b", "a", "d"), ("a", "b", "c"), ("a", "d", "e"), 3)
    assert d == pytest.approx(2 / 3, abs=1e-12)
    weight = 0.8 + d - 1 / 3
    assert weight == pytest.approx(1.1333, abs=5e-5)
    assert contributions(("b", "a", "d"), weight) == pytest.approx({"b": 1.1333, "a": 0.5667, "d": 0.3778}, abs=5e-5)


def test_reliability_by_hand():
    assert reliability(("a", "b"), None, (), 2) == 1.0
    assert reliability(("a", "b"), (), ("a",), 2) == 1.0
    assert reliability(("a", "b", "c"), ("a", "b", "c"), ("z",), 3) == 1.0
    # all dropped, all new, none of them in the last offer: the worst that can be
    assert reliability(("x", "y"), ("a", "b"), ("a", "b"), 2) == 0.0
    # new items that come from the last offer cost what they moved: 2 dropped · 2 + |0 − 0| + |1 − 1| of 8
    assert reliability(("x", "y"), ("a", "b"), ("x", "y"), 2) == 0.5
    # no new item costs more than k: d is dropped for 2, w moves by 3 and costs 2, of 16
    assert reliability(("a", "b", "c", "w"), ("a", "b", "c", "d"), ("w",), 2) == 0.75
    # offers longer than the one before could go below 0
    assert reliability(("x", "y", "z"), ("a",), (), 3) == 0.0


@given(st.permutations(list("abcdef")), st.permutations(list("abcdef")), st.permutations(list("abcdef")))
def test_reliability_is_a_share_and_1_only_for_the_same_offer(new, old, last):
    k = 4
    d = reliability(new[:k], old[:k], last[:k], k)
    assert 0.0 <= d <= 1.0
    assert (d == 1.0) == (new[:k] == old[:k])


def test_relevance_and_hallucination():
    assert relevance(("a", "b"), {"a": 0.4}) == 0.2
    assert relevance((), {"a": 0.4}) == 0.0
    assert hallucination(("a", "b", "x"), {"a", "b"}) == pytest.approx(1 / 3)
    assert hallucination(("a", "b", "x"), {"a", "b"}, ("b",)) == pytest.approx(2 / 3)
    assert hallucination((), {"a"}) == 0.0
    assert contributions(("a",), 0.0) == {}
    assert contributions(("a",), -0.1) == {}


@pytest.mark.parametrize(
    ("mode", "banned"), [("majority", ("b", "c")), ("unanimous", ("c",)), ("aggressive", ("a", "b", "c"))]
)
def test_rejections(mode, banned):
    offers = [("a", "b"), ("a", "x"), ("y", "x")]  # a is omitted once, b twice, c by all
    assert banned_items(mode, ("a", "b", "c"), offers) == banned
    assert banned_items(mode, (), offers) == ()


def test_a_single_agent_bans_alone_but_not_unanimously():
    assert banned_items("majority", ("a",), [("b",)]) == ("a",)
    assert banned_items("unanimous", ("a",), [("b",)]) == ()
    with pytest.raises(UnknownNameError, match="did you mean 'majority'"):
        banned_items("majorty", (), [])


def test_scaling_by_hand():
    scores = np.array([[1.0, 2.0], [3.0, 2.0], [2.0, 2.0], [9.0, 2.0]])
    counted = np.array([[True, True]] * 3 + [[False, True]])
    assert normalise_scores("min-max", scores, counted).T.tolist() == [[0.0, 1.0, 0.5, 0.0], [0.0] * 4]
    deviation = math.sqrt(2 / 3)
    np.testing.assert_allclose(
        normalise_scores("z", scores, counted)[:, 0], [-1 / deviation, 1 / deviation, 0, 0], atol=1e-12
    )
    assert normalise_scores("z", scores, counted)[:, 1].tolist() == [0.0] * 4
    assert normalise_scores("min-max", scores, np.zeros((4, 2), dtype=bool)).tolist() == [[0.0, 0.0]] * 4
    with pytest.raises(UnknownNameError, match="unknown scaling 'minmax'"):
        normalise_scores("minmax", scores, counted)


def test_scores_that_differ_by_rounding_alone_are_not_blown_up():
    scores = np.full((3, 1), 0.1) + np.array([[0.0], [1e-17], [2e-17]])
    for mode in ("min-max", "z"):
        assert normalise_scores(mode, scores, np.ones((3, 1), dtype=bool)).ravel().tolist() == [0.0] * 3


@pytest.mark.parametrize("mode", ["min-max", "z"])
def test_rounding_grows_with_the_scores(mode):
    """A millionth of a millionth of 10⁶ is 10⁻⁶: less is rounding, more is a difference."""
    steps = np.array([[0.0], [1.0], [2.0]])
    scaled = [normalise_scores(mode, 1e6 + step * steps, np.ones((3, 1), dtype=bool)) for step in (1e-8, 1e-3)]
    assert (scaled[0] == 0.0).all()
    assert scaled[1][2] - scaled[1][0] > 0.9
