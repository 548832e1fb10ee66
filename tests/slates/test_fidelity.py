"""The fidelity gate: τ_b against all pairs, truncated ballots, who is silent, and what is aggregated then."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accordant.voting.ballots import Ranking
from accordant.errors import InputError, UnknownNameError
from accordant.slates.candidates import Candidates
from accordant.slates.fidelity import NO_RANKING, NOTHING_DECLARED, fidelity, gate, ranked_candidates
from accordant.slates.rule import SlateRule
from accordant.slates.slates import Slates
from accordant.utilities import ExpectedRewards

ITEMS = "abcdefgh"


def candidates_of(values, available=None, weights=None):
    values = np.asarray(values, dtype=float)
    values = values[:, :, None] if values.ndim == 2 else values
    names = [f"party{i}" for i in range(len(values))]
    expected = ExpectedRewards(values, stakeholders=names, actions=list(ITEMS[: values.shape[1]]))
    return Candidates(expected, available, weights)


def ballot(order, scores=()):
    return Ranking("agent", tuple(order), tuple(scores))


def slow_tau(wanted: Sequence[float], said: Sequence[float]) -> float:
    """τ_b over all pairs."""
    agree = one = other = 0
    for i, j in combinations(range(len(wanted)), 2):
        a, b = np.sign(wanted[i] - wanted[j]), np.sign(said[i] - said[j])
        agree, one, other = agree + a * b, one + abs(a), other + abs(b)
    return agree / math.sqrt(one * other) if one and other else math.nan


@dataclass(frozen=True)
class Best(SlateRule):
    """The best items by the weighted sum."""

    name: ClassVar[str] = "best"

    def fill(self, candidates, k):
        sums = np.einsum("i,icu->cu", candidates.weights, candidates.values)
        ordered = np.argsort(-np.where(candidates.available, sums, -1.0), axis=0, kind="stable")[:k].T
        users = np.arange(candidates.n_users)[:, None]
        items = np.where(candidates.available[ordered, users], ordered, -1)
        return Slates(self.label, candidates.items, items, np.zeros(len(items), dtype=bool))


class TestTau:
    @pytest.mark.long
    @settings(max_examples=150, deadline=None)
    @given(st.data())
    def test_against_all_pairs(self, data):
        n = data.draw(st.integers(1, 7))
        levels = data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
        shown = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
        order = data.draw(st.permutations(ITEMS[:n]))[: data.draw(st.integers(0, n))]
        falls = data.draw(st.lists(st.integers(0, 1), min_size=len(order), max_size=len(order)))
        scores = tuple(-float(each) for each in np.cumsum(falls)) if data.draw(st.booleans()) else ()
        found = fidelity([ballot(order, scores)], candidates_of([np.array(levels) / 3], shown), "party0")
        below = min(scores, default=0) - 1
        heights = {item: (scores[at] if scores else -at) for at, item in enumerate(order)}
        lowest = below if scores else -len(order)
        said = [heights.get(ITEMS[c], lowest) for c in range(n) if shown[c]]
        wanted = [levels[c] for c in range(n) if shown[c]]
        assert found.tau[0] == pytest.approx(slow_tau(wanted, said), nan_ok=True)
        attainable = max((slow_tau(wanted, each) for each in permutations(said)), default=math.nan)
        assert found.attainable[0] == pytest.approx(attainable, nan_ok=True)
        if not math.isnan(found.tau[0]):
            assert found.passed[0] == (found.tau[0] / attainable >= 0.5 - 1e-9)
            assert found.notes == ("",)

    def test_whole_and_reversed_order(self):
        wanted = candidates_of([[0.1, 0.9, 0.5, 0.3]])
        for order, tau in (("bcda", 1.0), ("adcb", -1.0), ("bcad", 2 / 3)):
            found = fidelity([ballot(order)], wanted, "party0")
            assert found.tau[0] == pytest.approx(tau)
            assert found.passed[0] == (tau > 0.5)

    def test_the_first_five_of_88(self):
        """A short ballot in exactly the declared order passes, though its τ_b is a third."""
        names = [f"place{c}" for c in range(88)]
        expected = ExpectedRewards(np.linspace(1, 0, 88)[None, :, None], stakeholders=["party0"], actions=names)
        found = fidelity([ballot(names[:5])], Candidates(expected), "party0")
        assert found.tau[0] == pytest.approx(math.sqrt(425 / 3828))
        assert found.share[0] == pytest.approx(1)
        assert found.passed[0]

    def test_rounding_of_utilities_makes_no_order(self):
        found = fidelity([ballot("cba")], candidates_of([[0.5, 0.5 + 1e-15, 0.9]]), "party0")
        assert found.tau[0] == pytest.approx(2 / math.sqrt(6))
        assert found.share[0] == 1

    def test_three_of_four_pairs_is_the_threshold(self):
        found = fidelity(
            [ballot("abdc"), ballot("bdca")], candidates_of(np.tile([[[0.9], [0.6], [0.4], [0.1]]], 2)), "party0"
        )
        assert found.tau == pytest.approx([2 / 3, -1 / 3])
        assert found.mean == pytest.approx(1 / 6)
        assert found.mean_share == pytest.approx(1 / 6)
        exact = fidelity([ballot("abdc")], candidates_of([[0.9, 0.6, 0.4, 0.1]]), "party0", threshold=2 / 3)
        assert exact.passed[0]

    def test_what_has_no_tau(self):
        values = np.array([[[0.5, 0.5, 0.1, 0.1, 0.3], [0.5, 0.5, 0.9, 0.9, 0.4]]])
        available = np.array([[True, True, True, True, False], [True, True, True, True, True]])
        rankings = [ballot("ab"), None, None, ballot(""), ballot("ab")]
        found = fidelity(rankings, candidates_of(values, available), "party0")
        assert np.isnan(found.tau).all()
        assert np.isnan(found.attainable).all()
        assert found.passed.tolist() == [True, False, False, False, True]
        assert found.notes == (NOTHING_DECLARED, NO_RANKING, NO_RANKING, NO_RANKING, NOTHING_DECLARED)
        assert math.isnan(found.mean)

    def test_nothing_may_be_shown_and_nobody_asks(self):
        found = fidelity([ballot("ab")], candidates_of([[0.1, 0.9]], np.zeros(2, dtype=bool)), "party0")
        assert found.passed[0]
        nobody = fidelity([], candidates_of(np.empty((1, 2, 0))), "party0")
        assert nobody.tau.shape == nobody.passed.shape == (0,)

    @pytest.mark.parametrize(
        ("rankings", "stakeholder", "threshold", "message"),
        [
            ([], "party0", 0.5, "has 0 rankings; allowed: 1, one per user"),
            ([None], "party", 0.5, "did you mean 'party0'"),
            ([ballot("az")], "party0", 0.5, "unknown item ranked for 'party0': 'z'"),
            ([None], "party0", 1.5, r"threshold is 1.5; allowed: a number in \[-1, 1\]"),
            ([None], "party0", math.nan, "threshold is nan"),
        ],
    )
    def test_wrong_input(self, rankings, stakeholder, threshold, message):
        with pytest.raises(InputError, match=message):
            fidelity(rankings, candidates_of([[0.1, 0.9]]), stakeholder, threshold)


class TestRankedCandidates:
    declared = candidates_of([[0.1, 0.2, 0.3, 0.4], [0.5, 0.6, 0.7, 0.8]])

    def row(self, ranking, candidates=declared):
        return ranked_candidates(candidates, {"party0": [ranking]}).values[0, :, 0].tolist()

    def test_borda_points(self):
        assert self.row(ballot("dbca")) == pytest.approx([0, 2 / 3, 1 / 3, 1])
        assert self.row(ballot("bc")) == pytest.approx([0, 1, 2 / 3, 0])
        assert self.row(ballot("")) == [0, 0, 0, 0]

    def test_scores_as_they_are(self):
        assert self.row(ballot("dba", (0.9, 0.9, 0.2))) == [0.2, 0.9, 0, 0.9]

    def test_items_that_may_not_be_shown(self):
        three = candidates_of(self.declared.values, np.array([True, True, False, True]))
        assert self.row(ballot("cdba"), three) == [0, 0.5, 0, 1]
        assert self.row(ballot("cd", (0.9, 0.4)), three) == [0, 0, 0, 0.4]
        one = candidates_of(self.declared.values, np.array([False, True, False, False]))
        assert self.row(ballot("ab"), one) == [0, 1, 0, 0]

    def test_the_rest_stays(self):
        found = ranked_candidates(self.declared, {"party0": [None]})
        assert np.array_equal(found.values, self.declared.values)
        changed = ranked_candidates(self.declared, {"party1": [ballot("abcd")]})
        assert np.array_equal(changed.values[0], self.declared.values[0])
        assert changed.values[1, :, 0] == pytest.approx([1, 2 / 3, 1 / 3, 0])
        assert self.declared.values[1, 0, 0] == 0.5

    def test_the_order_of_a_ranking_is_the_order_of_its_row(self):
        for order in permutations("abcd"):
            row = np.array(self.row(ballot(order)))
            assert "".join(ITEMS[c] for c in np.argsort(-row)) == "".join(order)

    def test_scores_outside(self):
        with pytest.raises(InputError, match=r"gives scores up to 7.0; allowed: scores in \[0, 1\]"):
            self.row(ballot("ab", (7, 0.5)))


class TestGate:
    values = np.array([[0.9, 0.5, 0.1], [0.1, 0.5, 0.9], [0.2, 0.9, 0.1]])[:, :, None].repeat(4, axis=2)
    true, false = ballot("abc"), ballot("cba")

    def gated(self, rankings, weights=None, **more):
        return gate(candidates_of(self.values, weights=weights), {"party0": rankings}, **more)

    def test_who_does_not_pass_has_no_say(self):
        found = self.gated([self.true, self.false, None, self.true])
        assert found.muted.tolist() == [[False, True, True, False], [False] * 4, [False] * 4]
        assert found.gated.tolist() == [False, True, True, False]
        assert not found.all_muted.any()
        slates = found.slates(Best(), 1)
        without = Best()(candidates_of(self.values, weights=[0, 1, 1]), 1)
        assert slates.items[[1, 2]].tolist() == without.items[[1, 2]].tolist()
        assert slates.flags["gated"].tolist() == found.gated.tolist()

    def test_every_user_is_served_with_its_own_weights(self):
        rng = np.random.default_rng(0)
        values = rng.random((3, 5, 30))
        plain = candidates_of(values)
        ballots = {name: [ballot(rng.permutation(list(ITEMS[:5]))) for _ in range(30)] for name in ("party0", "party2")}
        found = gate(plain, ballots, threshold=0.0)
        slates = found.slates(Best(), 2)
        assert 0 < found.gated.sum() < 30
        for user in range(30):
            weights = np.where(found.muted[:, user], 0.0, 1.0)
            alone = Candidates(found.candidates.take(np.array([user])).expected, weights=weights)
            assert Best()(alone, 2).items[0].tolist() == slates.items[user].tolist()

    def test_a_ballot_that_passed_counts_as_it_was_cast(self):
        close = ballot("bac")  # two of three pairs as declared: τ_b is a third
        found = self.gated([close] * 4, threshold=0.3)
        assert found.fidelity["party0"].passed.all()
        assert found.candidates.values[0, :, 0].tolist() == [0.5, 1, 0]

    def test_declared_instead(self):
        found = self.gated([self.false] * 4, instead="declared")
        assert not found.muted.any()
        assert found.gated.all()
        assert np.array_equal(found.candidates.values, self.values)

    def test_somebody_must_be_heard(self):
        found = self.gated([self.true, self.false, self.false, self.false], weights=[1, 0, 0])
        assert found.all_muted.tolist() == [False, True, True, True]
        assert not found.muted.any()
        assert found.gated.tolist() == [False, True, True, True]
        assert found.slates(Best(), 1).items[:, 0].tolist() == [0, 0, 0, 0]

    def test_nobody_asks(self):
        found = gate(candidates_of(np.empty((2, 3, 0))), {"party0": []})
        assert found.slates(Best(), 2).items.shape == (0, 2)

    def test_without_ballots_nothing_changes(self):
        found = gate(candidates_of(self.values), {})
        assert np.array_equal(found.candidates.values, self.values)
        assert not found.gated.any()

    def test_wrong_words(self):
        with pytest.raises(UnknownNameError, match="did you mean 'silence'"):
            self.gated([None] * 4, instead="silent")
        with pytest.raises(UnknownNameError, match="unknown stakeholder 'party9'"):
            gate(candidates_of(self.values), {"party9": [None] * 4})
