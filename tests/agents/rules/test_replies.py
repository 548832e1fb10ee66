"""What is answered on a disputed patient."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accordant.agents.rules.outlook import Stand, stand

VALUES = np.array([0.9, 0.7, 0.5, 0.3])


def answer(patient, before, after, *others, values=VALUES):
    return stand(patient, values, np.array(before, float), np.array(after, float), np.array(others, float))


@pytest.mark.parametrize(
    ("patient", "before", "after", "other", "kind"),
    [
        (0, [1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1], "concede"),  # one's own claim is dropped
        (2, [1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1], "concede"),  # the other's is taken up
        (1, [1, 1, 0, 0], [1, 0.5, 0.5, 0], [0, 0, 1, 1], "revise"),
        (2, [1, 1, 0, 0], [1, 0.5, 0.5, 0], [0, 0, 1, 1], "revise"),
        (2, [1, 1, 0, 0], [1, 0.5, 0.5, 0], [0, 1, 0.5, 0.5], "concede"),  # the very share of the other
        (1, [1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], "justify"),
        (3, [1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], "challenge"),
        (3, [0, 0, 0, 1], [0, 0, 0, 1], [1, 0, 0, 0], "maintain"),  # the other's patient is worth more
        (0, [0, 0, 0, 1], [0, 0, 0, 1], [1, 0, 0, 0], "maintain"),  # nobody granted is worth as much
        (1, [0, 0.5, 0.5, 0], [0, 0.5, 0.5, 0], [0, 1, 0, 0], "justify"),  # nobody else would get more
    ],
)
def test_one_other(patient, before, after, other, kind):
    assert answer(patient, before, after, other).kind == kind


def test_the_closest_comparison_is_made():
    assert answer(0, [1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1]) == Stand("justify", 2)
    assert answer(3, [1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1]) == Stand("challenge", 1)


def test_nobody_is_compared_with_oneself():
    assert answer(1, [0, 0.5, 0.5, 0], [0, 0.5, 0.5, 0], [0, 1, 0, 0]) == Stand("justify")


def test_whom_both_grant_is_no_argument_against_another():
    assert answer(2, [1, 0, 0, 1], [1, 0, 0, 1], [1, 0, 1, 0]).kind == "maintain"
    assert answer(2, [1, 1, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0]) == Stand("challenge", 1)


def test_several_others():
    others = [0, 0, 1, 1], [1, 1, 0, 0]
    assert answer(2, [1, 1, 0, 0], [1, 1, 0, 0], *others) == Stand("challenge", 1)
    assert answer(3, [1, 1, 0, 0], [1, 0, 0, 1], *others).kind == "concede"


def test_equal_values_speak_for_both():
    flat = np.ones(4)
    assert answer(0, [1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], values=flat) == Stand("justify", 2)
    assert answer(2, [1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], values=flat) == Stand("challenge", 0)


ROW = st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=4, max_size=4)


@given(ROW, ROW, st.lists(ROW, min_size=1, max_size=3), st.integers(0, 3))
def test_kinds_follow_from_shares(before, after, others, patient):
    found = answer(patient, before, after, *others)
    assert (found.kind in ("concede", "revise")) == (before[patient] != after[patient])
    if found.kind == "justify":
        assert after[patient] > 0
        assert found.against is None or VALUES[found.against] <= VALUES[patient]
    if found.kind == "challenge":
        assert after[patient] == 0
        assert VALUES[found.against] >= VALUES[patient]
        assert after[found.against] > min(row[found.against] for row in others)
