"""Justifications on the scale of each stakeholder, and names that look like parts of the sentence."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accordant.slates.evaluation import check, why
from accordant.slates.evaluation.justification import TEMPLATES
from accordant.slates.candidates import gains_of
from accordant.slates.slates import Slates
from accordant.utilities import ExpectedRewards

NARROW = np.array([[[0.9], [0.5], [0.1]], [[0.30], [0.32], [0.34]]])


def test_a_narrow_range_counts_as_much_as_a_wide_one(lists_of):
    """c1, c0: the guest loses 0.2 of 0.8 and still attains half; the town loses 0.01 and attains nothing."""
    found = why(lists_of([[1]], NARROW), 0)
    assert found.statements[-1].kind == "gives up" and found.statements[-1].stakeholder == "guest"
    pair = lists_of([[1, 0]], NARROW)
    found = why(pair, 0)
    assert found.statements[-1].stakeholder == "town" and found.statements[-1].numbers == pytest.approx((0.0,))
    assert found.statements[-2].stakeholder == "guest" and found.statements[-2].numbers == pytest.approx((1.0, 0.5))
    other = lists_of([[2]], NARROW)  # the town gains 0.02 over a draw, half of its range
    assert why(other, 0).statements[-2].stakeholder == "town"
    assert why(other, 0).text == (
        "Shown: c2 (best for town: 1.000); town gains most over a list drawn at random (attained 1.000 against 0.500); "
        "guest is furthest from its best list (attained 0.000 of 1)."
    )


def shares(values, shown, k):
    """Return what a list and the mean over items attain, in exact arithmetic; None for whom lists are alike."""
    exact = [Fraction(float(each)) for each in values]
    ordered = sorted(exact)
    worst, best = sum(ordered[:k]) / k, sum(ordered[-k:]) / k
    if best - worst <= Fraction(1, 10**9):
        return None
    return [(each - worst) / (best - worst) for each in (sum(exact[c] for c in shown) / k, sum(exact) / len(exact))]


@pytest.mark.parametrize("seed", range(5))
def test_who_is_named_in_exact_arithmetic(lists_of, drawn_candidates, seed):
    draw = np.random.default_rng(seed)
    values = draw.random((3, 6, 8)) * np.array([1.0, 0.1, 0.01])[:, None, None]
    values[1, :, 0] = 0.5  # all lists are alike for the town
    k = 1 + seed
    lists = np.array([draw.permutation(6)[:k] for _ in range(8)])
    shown = lists_of(lists, values)
    named = set()
    for u in range(8):
        found = [shares(values[i, :, u], lists[u], k) for i in range(3)]
        known = [i for i in range(3) if found[i] is not None]
        gain, loss = why(shown, u).statements[-2:]
        best = max(known, key=lambda i: found[i][0] - found[i][1])
        if found[best][0] - found[best][1] > Fraction(1, 10**9):
            assert gain.stakeholder == ("guest", "town", "inn")[best]
            assert gain.numbers == pytest.approx([float(each) for each in found[best]])
        else:
            assert gain.kind == "no gain"
        least = min(known, key=lambda i: found[i][0])
        assert loss.stakeholder == ("guest", "town", "inn")[least] or found[least][0] == 1
        named |= {gain.stakeholder, loss.stakeholder}
    assert named >= {"guest", "town", "inn"} or k > 3


def test_whoever_is_furthest_attains_least(served):
    """The sentence and the measure of the worst-off speak of the same stakeholder."""
    for shown in served.values():
        attained = gains_of(shown.slates, shown.candidates).attained
        for request in range(len(shown.users)):
            last = why(shown, request).statements[-1]
            least = np.nanmin(attained[:, request])
            if last.kind == "no loss":
                assert least == pytest.approx(1.0)
            else:
                assert (
                    last.numbers[0] == least == attained[shown.candidates.stakeholders.index(last.stakeholder), request]
                )


def test_equals_go_to_whoever_is_declared_first(lists_of):
    values = np.array([[[0.2], [0.4]], [[0.1], [0.9]], [[0.9], [0.1]]])
    assert why(lists_of([[0]], values), 0).statements[-1].stakeholder == "guest"
    assert why(lists_of([[1]], values), 0).statements[-2].stakeholder == "guest"
    assert why(lists_of([[1]], values), 0).statements[-1].stakeholder == "inn"


def test_rounding_makes_nobody_the_worst_off(lists_of):
    """What the guest and the town attain differs in the last digit alone, in favour of neither."""
    values = np.array([[[0.1 + 0.2], [0.0], [0.6]], [[0.3], [0.0], [0.6]]])
    swapped = values[::-1]
    for each in (values, swapped):
        attained = [row[0, 0] / 0.6 for row in each]
        assert attained[0] != attained[1]
        assert why(lists_of([[0]], each), 0).statements[-1].stakeholder == "guest"


PARTS = ["{item}", "{stakeholder}", "{0}", "{1}", "a", "0.500", ", ", "; ", ".", "Shown: ", "(", ")", "\\", " (best for ",
         *TEMPLATES.values()]  # fmt: skip
NAMES = st.lists(st.sampled_from(PARTS), min_size=1, max_size=3).map("".join)


@pytest.mark.long
@settings(max_examples=150, deadline=None)
@given(
    items=st.lists(NAMES, min_size=4, max_size=4, unique=True),
    stakeholders=st.lists(NAMES, min_size=2, max_size=2, unique=True),
    seed=st.integers(0, 5),
)
def test_whatever_names_are_the_truth_passes_and_a_change_does_not(base_served, items, stakeholders, seed):
    shown = renamed(base_served(seed), tuple(items), tuple(stakeholders))
    found = why(shown, 0)
    result = check(found, shown)
    assert result.faithful, result.problems
    number = f"{found.statements[-1].numbers[0]:.3f}" if found.statements[-1].numbers else "best list"
    cut = found.text.rindex(number)
    for new in ("0.123", "", "9.999"):
        text = found.text[:cut] + new + found.text[cut + len(number) :]
        wrong = check(replace(found, text=text), shown)
        assert not wrong.faithful and wrong.problems


@pytest.fixture(scope="module")
def base_served(lists_of):
    """Return a function from a seed to a list of two of four items for two stakeholders."""

    def make(seed):
        """Return what was shown."""
        draw = np.random.default_rng(seed)
        return lists_of([draw.permutation(4)[:2]], draw.random((2, 4, 1)))

    return make


def renamed(shown, items, stakeholders):
    """Return what was shown with other names."""
    expected = ExpectedRewards(shown.candidates.values, stakeholders=stakeholders, actions=items)
    slates = Slates(shown.slates.rule, items, shown.slates.items, shown.slates.tied)
    return replace(shown, slates=slates, candidates=type(shown.candidates)(expected))


def test_names_that_hide_what_is_wrong(lists_of):
    """One item is named like a statement about two others: the sentence is another, and that is said."""
    values = np.array([[[0.5], [0.5], [0.5]]])
    names = ("a", "b", "a (the same for everybody), b")
    two, one = (renamed(lists_of([each], values), names, ("guest",)) for each in ([0, 1], [2]))
    assert why(two, 0).text == why(one, 0).text
    assert check(why(two, 0), two).faithful and check(why(one, 0), one).faithful
    assert not check(why(two, 0), one).faithful  # the reasons are of two items
