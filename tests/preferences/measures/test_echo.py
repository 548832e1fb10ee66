"""Exposure to what other groups prefer: by hand, a loop as twin, and the two extremes."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from accordant.errors import InputError
from accordant.preferences.measures import exposure

# responses: one of each of two groups, one of both, one of nobody
PREFERRED = np.array([[True, False], [False, True], [True, True], [False, False]])


def test_by_hand():
    slates = np.array([[0, 0], [0, 1], [2, 3], [0, -1], [3, 3]])
    found = exposure(slates, PREFERRED, np.array([0, 0, 0, 1, 1]))
    assert found.other.tolist() == [False, True, True, True, False]
    assert found.opposing.tolist() == [False, True, False, True, False]
    assert (found.share_other, found.share_opposing) == (0.6, 0.4)
    np.testing.assert_allclose(found.by_viewer, [1 / 3, 1 / 2])
    np.testing.assert_allclose(found.shares, [[3.5 / 5, 1.5 / 5], [1, 0]])
    first = -(0.7 * math.log(0.7) + 0.3 * math.log(0.3)) / math.log(2)
    np.testing.assert_allclose(found.entropy, [first, 0.0])
    overall = -(0.75 * math.log(0.75) + 0.25 * math.log(0.25)) / math.log(2)
    assert found.overall_entropy == pytest.approx(overall)
    assert found.separation == pytest.approx(1 - 5 / 6 * first / overall)


def test_echo_chambers_and_a_public_square():
    viewers = np.array([0, 0, 1, 1])
    chambers = exposure(viewers[:, None], PREFERRED, viewers)
    assert chambers.share_other == 0.0 and chambers.separation == 1.0
    assert chambers.entropy.tolist() == [0.0, 0.0] and chambers.overall_entropy == pytest.approx(1.0)
    square = exposure(np.tile([[0, 1]], (4, 1)), PREFERRED, viewers)
    assert square.share_opposing == 1.0 and square.separation == pytest.approx(0.0)
    np.testing.assert_allclose(square.entropy, 1.0)


def test_against_a_loop():
    rng = np.random.default_rng(0)
    preferred, slates = rng.random((12, 3)) < 0.4, rng.integers(-1, 12, (50, 4))
    viewers = rng.integers(0, 3, 50)
    found = exposure(slates, preferred, viewers)
    table = np.zeros((3, 3))
    for s in range(50):
        other = opposing = False
        for r in slates[s]:
            if r < 0:
                continue
            fans = [g for g in range(3) if preferred[r, g]]
            other |= any(g != viewers[s] for g in fans)
            opposing |= bool(fans) and viewers[s] not in fans
            for g in fans:
                table[viewers[s], g] += 1 / len(fans)
        assert (found.other[s], found.opposing[s]) == (other, opposing)
    np.testing.assert_allclose(found.shares, table / table.sum(axis=1, keepdims=True))
    # separation is the mutual information of viewer and group shown, over the entropy of the group shown
    joint = table / table.sum()
    rows, columns = joint.sum(axis=1), joint.sum(axis=0)
    information = sum(joint[v, g] * math.log(joint[v, g] / rows[v] / columns[g]) for v in range(3) for g in range(3))
    assert found.separation == pytest.approx(information / -sum(columns * np.log(columns)))


def test_nothing_shown_that_anybody_prefers():
    found = exposure(np.array([[3], [-1]]), PREFERRED, np.array([0, 0]))
    assert found.share_other == 0.0 and np.isnan(found.shares).all() and math.isnan(found.overall_entropy)
    shown = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert shown["by_viewer"] == [0.0, None] and shown["separation"] is None and shown["entropy"] == [None, None]


def test_viewers_who_are_shown_nothing_that_anybody_prefers_do_not_count_for_separation():
    found = exposure(np.array([[0, 1], [0, 3], [3, -1]]), PREFERRED, np.array([0, 0, 1]))
    first = -(2 / 3 * math.log(2 / 3) + 1 / 3 * math.log(1 / 3)) / math.log(2)
    np.testing.assert_allclose(found.shares, [[2 / 3, 1 / 3], [np.nan, np.nan]])
    np.testing.assert_allclose(found.entropy, [first, np.nan])
    assert found.overall_entropy == pytest.approx(first) and found.separation == pytest.approx(0.0)


def test_one_taste_for_everybody_has_no_separation():
    found = exposure(np.zeros((2, 1), dtype=int), PREFERRED, np.array([0, 1]))
    assert found.overall_entropy == 0.0 and math.isnan(found.separation)
    assert found.by_viewer.tolist() == [0.0, 1.0]


def test_wrong_input():
    slates, viewers = np.array([[0], [1]]), np.array([0, 1])
    for shown, liked, seen, message in (
        (slates, PREFERRED.astype(float), viewers, "true or false"),
        (slates, PREFERRED[:, :1], viewers, "two groups"),
        (slates[:, 0], PREFERRED, viewers, "slates have shape"),
        (slates[:0], PREFERRED, viewers[:0], "slates have shape"),
        (slates.astype(float), PREFERRED, viewers, "slates have shape"),
        (slates + 3, PREFERRED, viewers, "-1 to 3"),
        (slates, PREFERRED, viewers + 1, "0 to 1"),
        (slates, PREFERRED, viewers[:, None], "viewers has shape"),
    ):
        with pytest.raises(InputError, match=message):
            exposure(shown, liked, seen)
