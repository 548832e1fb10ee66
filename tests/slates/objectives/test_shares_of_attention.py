"""Popularity, the long tail, and claims to attention."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accordant.slates.objectives import objectives
from accordant.slates.objectives.exposure import behind, item_claims
from accordant.slates.objectives.objective import more_popular

COUNTS = st.lists(st.integers(0, 6), min_size=2, max_size=9)


class TestPopularity:
    def test_by_hand(self, make_catalogue):
        found = objectives.create("popularity").scores(make_catalogue(popularity=[0, 3, 15]), None, None)
        assert found[:, 0] == pytest.approx([0.0, 0.5, 1.0])

    def test_nothing_was_consumed(self, make_catalogue):
        assert not objectives.create("popularity").scores(make_catalogue(), None, None).any()


class TestLongTail:
    @given(COUNTS)
    def test_brute_force(self, counts):
        expected = [
            Fraction(
                sum(2 * (other > mine) + (other == mine) for j, other in enumerate(counts) if j != i),
                2 * (len(counts) - 1),
            )
            for i, mine in enumerate(counts)
        ]
        assert more_popular(np.array(counts, dtype=float)).tolist() == pytest.approx([float(each) for each in expected])

    @given(COUNTS)
    def test_mean_is_one_half(self, counts):
        assert more_popular(np.array(counts, dtype=float)).mean() == pytest.approx(0.5)

    def test_tail(self, make_catalogue):
        catalogue = make_catalogue(5, popularity=[5, 4, 3, 2, 1])
        assert objectives.create("long_tail", {"tail": 0.5}).scores(catalogue, None, None)[:, 0].tolist() == [
            0, 0, 1, 1, 1,
        ]  # fmt: skip

    def test_alike_and_alone(self, make_catalogue):
        for n_items in (1, 4):
            assert (objectives.create("long_tail").scores(make_catalogue(n_items), None, None) == 0.5).all()


class TestBehind:
    @given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=6))
    def test_brute_force(self, pairs):
        wanted, got = [Fraction(a) for a, _ in pairs], [Fraction(b) for _, b in pairs]
        claims = [a / sum(wanted) if sum(wanted) else Fraction(0) for a in wanted]
        found = behind(np.array([float(each) for each in claims]), np.array([float(each) for each in got]))
        for mine, had, score in zip(claims, got, found, strict=True):
            if not sum(got):
                expected = Fraction(1, 2)
            elif not mine:
                expected = Fraction(0)
            else:
                expected = mine / (mine + had / sum(got))
            assert score == pytest.approx(float(expected))

    def test_on_target_is_one_half_and_nothing_is_one(self):
        assert behind(np.array([0.25, 0.75]), np.array([1.0, 3.0])).tolist() == [0.5, 0.5]
        assert behind(np.array([0.5, 0.5]), np.array([0.0, 3.0])).tolist() == pytest.approx([1.0, 1 / 3])


class TestExposureShare:
    def test_who_had_less_scores_higher(self, make_catalogue, make_state):
        found = objectives.create("exposure_share").scores(make_catalogue(), None, make_state(exposure=[3.0, 1.0, 0.0]))
        assert found[:, 0] == pytest.approx([1 / 3 / (1 / 3 + 3 / 4), 1 / 3 / (1 / 3 + 1 / 4), 1.0])

    def test_claims_by_popularity(self, make_catalogue):
        catalogue = make_catalogue(popularity=[4, 1, 0])
        assert item_claims(catalogue, 0.0) == pytest.approx([1 / 3] * 3)
        assert item_claims(catalogue, 0.5) == pytest.approx([2 / 3, 1 / 3, 0])
        assert item_claims(catalogue, 1.0) == pytest.approx([0.8, 0.2, 0])
        few = make_catalogue(popularity=[0.4, 0.1, 0])
        assert item_claims(few, 1.0) == pytest.approx([0.8, 0.2, 0])

    def test_closed_items_claim_nothing(self, make_catalogue):
        assert item_claims(make_catalogue(popularity=[4, 1, 0], capacity=[0, 1, 1]), 0.0).tolist() == [0, 0.5, 0.5]
        assert item_claims(make_catalogue(popularity=[4, 0, 0], capacity=[0, 1, 1]), 1.0).tolist() == [0, 0.5, 0.5]
        assert not item_claims(make_catalogue(capacity=[0, 0, 0]), 0.0).any()


class TestProviderShare:
    def scores(self, catalogue, state, **parameters):
        return objectives.create("provider_share", parameters).scores(catalogue, None, state)[:, 0]

    def test_equal_per_provider_or_item(self, make_catalogue, make_state):
        catalogue = make_catalogue(4, provider=("a", "a", "b", None), popularity=[3, 0, 1, 9])
        state = make_state(4, exposure=[2.0, 0.0, 2.0, 5.0])  # half and half; the last has no provider
        assert self.scores(catalogue, state)[:3] == pytest.approx([0.5] * 3)
        assert self.scores(catalogue, state, per="item")[:3] == pytest.approx([4 / 7, 4 / 7, 0.4])
        assert self.scores(catalogue, state, per="item", power=1.0)[:3] == pytest.approx([0.6, 0.6, 1 / 3])
        assert np.isnan(self.scores(catalogue, state)[3])

    def test_provider_without_open_items(self, make_catalogue, make_state):
        catalogue = make_catalogue(provider=("a", "b", "b"), capacity=[0, 1, 1])
        assert self.scores(catalogue, make_state(exposure=[1.0, 1.0, 0.0])) == pytest.approx([0, 2 / 3, 2 / 3])

    def test_no_provider_and_no_attention(self, make_catalogue, make_state):
        assert np.isnan(self.scores(make_catalogue(), make_state())).all()
        assert self.scores(make_catalogue(provider=("a", "b", "b")), make_state()).tolist() == [0.5] * 3
