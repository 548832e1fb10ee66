"""Choices other than weights: scales against written-out twins, rank reversal with a witness, baselines left out."""

from __future__ import annotations

import json
from itertools import combinations

import numpy as np
import pytest

from accordant.evaluation.composite import composite_score
from accordant.evaluation.weighting import ScoreTable, other_choices
from accordant.evaluation.weighting.choices import rank_scale, z_scale


def table(raw, weights, *, goals=None, candidates=None, baselines=None, normalisation="relative"):
    raw = np.array(raw, dtype=float)
    n, m = raw.shape
    return ScoreTable(
        tuple(chr(ord("a") + s) for s in range(n)),
        tuple(goals or ("max",) * m),
        np.array(weights, dtype=float),
        raw,
        np.zeros(m, dtype=bool),
        np.ones(n, dtype=bool) if candidates is None else np.array(candidates, dtype=bool),
        np.zeros(n, dtype=bool) if baselines is None else np.array(baselines, dtype=bool),
        normalisation,
        ((0.0, 1.0),) * m,
    )


REVERSAL = [[0.9, 0.50], [0.5, 0.80], [0.4, 0.0]]  # c makes the second metric's scale long, which favours a


def test_rank_reversal_with_a_witness():
    """With c: a 1.0 and 0.625, b 0.2 and 1; without c both are 1 and 0: the order is that of the weights."""
    found = other_choices(table(REVERSAL, (0.4, 0.6)))
    (reversal,) = found.reversals
    assert (reversal.ahead, reversal.behind, reversal.removed) == ("a", "b", "c")
    assert reversal.lead_before == pytest.approx(0.4 * 0.8 - 0.6 * 0.375)
    assert reversal.lead_after == pytest.approx(0.4 - 0.6)
    assert found.pairs == 3
    changed = [each for each in found.without if each.changed]
    assert [(each.removed, each.winners) for each in changed] == [(("c",), ("b",))]
    assert [each.winners for each in found.without] == [("b",), ("a",), ("b",)]


@pytest.mark.parametrize("seed", range(8))
def test_reversals_against_a_plain_twin(seed):
    generator = np.random.default_rng(seed)
    raw, weights = generator.random((5, 3)), generator.dirichlet(np.ones(3))
    found = other_choices(table(raw, weights))

    def scores(kept):
        part = composite_score(
            raw[list(kept)], goals=("max",) * 3, weights=weights, candidates=np.ones(len(kept), dtype=bool)
        ).scores
        return dict(zip(kept, part, strict=True))

    full, pairs = scores(range(5)), set()
    for removed in range(5):
        fewer = scores([s for s in range(5) if s != removed])
        for a, b in combinations(fewer, 2):
            if (full[a] - full[b]) * (fewer[a] - fewer[b]) < 0:
                pairs.add(frozenset("abcde"[s] for s in (a, b)))
    assert {frozenset((each.ahead, each.behind)) for each in found.reversals} == pairs
    assert len(found.reversals) == len(pairs)


def test_drawing_level_is_no_reversal():
    """Without c, a and b have 1 and 0, and 0 and 1, so they are level."""
    found = other_choices(table(REVERSAL, (0.5, 0.5)))
    assert found.normalisations[0].order[0] == "a"
    assert next(each.winners for each in found.without if each.removed == ("c",)) == ("a", "b")
    assert found.reversals == ()
    assert not any(each.changed for each in found.without)


def test_every_normalisation_names_its_winner():
    found = other_choices(table([[0.9, 0.1], [0.5, 0.6], [0.55, 0.5]], (0.5, 0.5)))
    winners = {each.normalisation: each.winners for each in found.normalisations}
    assert set(winners) == {"natural", "relative", "reference", "rank", "zscore"}
    order = next(each.order for each in found.normalisations if each.normalisation == "rank")
    assert winners["rank"] == ("a", "b", "c")  # 1 + 0, 0 + 1, 1/2 + 1/2
    assert set(order) == set("abc")
    assert next(each.lead for each in found.normalisations if each.normalisation == "rank") is None


def test_scales_written_out():
    assert rank_scale(np.array([3.0, 1.0, 3.0, 2.0])) == pytest.approx([2.5 / 3, 0, 2.5 / 3, 1 / 3])
    assert rank_scale(np.array([5.0])).tolist() == [1.0]
    assert z_scale(np.array([1.0, 2.0, 3.0])) == pytest.approx(np.array([-1, 0, 1]) / np.sqrt(2 / 3))
    assert z_scale(np.array([2.0, 2.0])).tolist() == [0, 0]


def test_goals_turn_the_comparison_scales():
    raw = [[0.3, -0.4], [0.1, 0.1], [0.2, 0.2]]
    found = other_choices(table(raw, (1, 1), goals=("min", "zero")))
    assert all(each.winners == ("b",) for each in found.normalisations)


def test_unranked_and_others_take_no_part():
    raw = [[0.9, np.nan], [0.5, 0.8], [0.4, 0.1], [9.0, 9.0]]
    found = other_choices(table(raw, (0.5, 0.5), candidates=[1, 1, 1, 0]))
    assert found.pairs == 1
    assert {each.removed for each in found.without} == {("b",), ("c",)}
    assert all(set(each.order) == {"b", "c"} for each in found.normalisations)
    assert found.reversals == ()


def test_baselines_left_out_in_every_combination():
    raw = [*REVERSAL, [0.45, 0.1]]
    found = other_choices(table(raw, (0.4, 0.6), baselines=[0, 0, 1, 1]))
    assert found.baseline_subsets == 3
    # either of c and d keeps the scale long enough; without both, b wins
    assert found.smallest_change.removed == ("c", "d")
    assert found.smallest_change.winners == ("b",)
    assert found.baseline_changes == 1
    assert found.without_baselines == found.smallest_change
    none = other_choices(table(raw, (0.4, 0.6)))
    assert (none.baseline_subsets, none.smallest_change, none.without_baselines) == (0, None, None)
    every = other_choices(table(raw, (0.4, 0.6), baselines=[1, 1, 1, 1]))
    assert every.baseline_subsets == 14  # all but leaving nobody
    assert every.without_baselines is None


def test_many_baselines_are_left_out_singly_and_all_together():
    raw = np.random.default_rng(0).random((13, 2))
    found = other_choices(table(raw, (1, 1), baselines=[0] + [1] * 12))
    assert found.baseline_subsets == 13


def test_one_candidate_and_json():
    found = other_choices(table([[0.5, 0.5]], (1, 1)))
    assert found.without == ()
    assert found.pairs == 0
    read = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert [each["winners"] for each in read["normalisations"]] == [["a"]] * 5
    assert read["reversals"] == []
