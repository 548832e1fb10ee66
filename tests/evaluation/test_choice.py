"""What choosing the best of several lines adds, by hand and against equal lines."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from accordant.evaluation.bootstrap import Choice, first_of
from accordant.evaluation.scored_lines import ScoredLines
from accordant.statistics import Estimate

NAN = np.nan


def choice_of(scores, drawn, selectable=None, leader=None):
    scores, drawn = np.array(scores, dtype=float), np.array(drawn, dtype=float)
    selectable = np.ones(len(scores), dtype=bool) if selectable is None else np.array(selectable)
    return Choice.of(scores, drawn, selectable, np.arange(len(scores)) if leader is None else np.array(leader))


def test_by_hand():
    drawn = np.array([[0.5, 0.7], [0.9, 0.2], [NAN, 0.1], [NAN, NAN]])
    found = choice_of([0.6, 0.4], drawn)
    assert found.line == 0
    assert found.anew.tolist() == [1, 0, 1, -1]
    assert found.concerns.tolist() == [True, False]
    assert found.optimism(np.array([0.6, 0.4]), drawn) == pytest.approx((0.3 + 0.3 - 0.3) / 3)


@pytest.mark.parametrize(
    ("scores", "drawn", "selectable"),
    [
        ([0.9, 0.1], [[0.8, 0.2], [1.0, 0.1]], None),  # the other never comes first
        ([0.5, NAN], [[0.4, 0.9], [0.6, 0.9]], None),  # the other has no score
        ([0.5, 0.4], [[0.4, 0.9], [0.6, 0.9]], [True, False]),  # the other may not be chosen
        ([0.5], [[0.4], [0.6]], None),  # there is no other
        ([0.5, 0.4], [[NAN, NAN], [NAN, NAN]], None),  # nothing is ever defined
    ],
)
def test_nothing_is_added_where_no_other_is_ever_chosen(scores, drawn, selectable):
    found = choice_of(scores, drawn, selectable)
    assert found.excess(np.array(scores, dtype=float), np.array(drawn, dtype=float), 0.95) == (0.0, 0.0)


def test_no_choice_where_no_selectable_line_has_a_score():
    assert choice_of([NAN, 0.5], [[0.1, 0.5]], [True, False]) is None
    assert first_of(np.array([NAN, NAN]), np.array([True, True])) is None


def test_who_decides_alike_is_concerned():
    assert choice_of([0.4, 0.5, 0.5], [[0.4, 0.5, 0.5]], leader=[0, 1, 1]).concerns.tolist() == [False, True, True]


def test_a_metric_that_is_worse_where_it_is_lower_moves_its_lower_limit():
    """Ten equal lines: what is chosen is high by luck, so the truth lies lower than its value says."""
    generator = np.random.default_rng(0)
    values = generator.normal(size=10)
    drawn = values + generator.normal(size=(4000, 10))
    found = choice_of(values, drawn)
    below, above = found.excess(values, drawn, 0.95)
    assert 0 < below < 2
    assert above == pytest.approx(0.0, abs=0.05)
    assert found.optimism(values, drawn) > 0.2
    worse = found.excess(-values, -drawn, 0.95)
    assert worse == pytest.approx((above, below))


def chosen(withheld="", low=0.3, high=0.9, drawn=None):
    """Return the corrected score of the first of two lines, and the choice behind it."""
    scores = np.array([0.6, 0.5])
    drawn = np.random.default_rng(0).normal(scores, 0.2, size=(500, 2)) if drawn is None else drawn
    choice = choice_of(scores, drawn)
    single = Estimate(0.6, low, high, 0.9, 40)
    point, estimates = SimpleNamespace(scores=scores), [single, Estimate(0.5)]
    given = SimpleNamespace(
        choice=choice, withheld=lambda line: withheld, estimates=estimates, point=point, sampled=drawn, level=0.9
    )
    return ScoredLines.chosen_score(given), choice, drawn


def test_the_score_of_the_chosen_goes_down_by_the_optimism_and_its_limits_apart():
    found, choice, drawn = chosen()
    optimism = choice.optimism(np.array([0.6, 0.5]), drawn)
    below, above = choice.excess(np.array([0.6, 0.5]), drawn, 0.9)
    assert optimism > 0.02
    assert below > 0.02
    assert found == Estimate(0.6 - optimism, 0.3 - below, 0.9 + above, 0.9, 40)
    drawn = np.vstack([drawn, np.tile([NAN, -2.0], (100, 1))])  # where only the other is defined, it is far too low
    mended, choice, drawn = chosen(drawn=drawn)
    below, above = choice.excess(np.array([0.6, 0.5]), drawn, 0.9)
    assert above > 1
    assert (mended.low, mended.high) == (0.3 - below, 0.9 + above)


def test_no_score_of_the_chosen_where_its_own_has_no_interval_or_is_withheld():
    assert chosen(low=None, high=None)[0] is None
    assert chosen(low=None)[0] is chosen(high=None)[0] is None
    assert chosen(withheld="too few")[0] is None
