"""Condorcet winners and stable lists against exact loops over pairs."""

import json
from fractions import Fraction

import numpy as np
import pytest

from accordant.slates.evaluation import condorcet, condorcet_winners
from accordant.slates.slates import Slates

CYCLE = np.array([[[1.0], [0.5], [0.0]], [[0.0], [1.0], [0.5]], [[0.5], [0.0], [1.0]]])


def margin(candidates, u, a, b):
    """Weight that prefers a minus weight that prefers b."""
    total = Fraction(0)
    for i, weight in enumerate(candidates.weights):
        one, other = candidates.values[i, a, u], candidates.values[i, b, u]
        total += Fraction(weight) * (int(one > other) - int(one < other))
    return total


def lists(candidates, items):
    return Slates("fixed", candidates.items, np.asarray(items), np.zeros(len(items), dtype=bool))


@pytest.mark.parametrize("seed", range(5))
def test_against_loop(slate_rules, drawn_candidates, seed):
    candidates = drawn_candidates(seed, n_users=40, n_items=6, n_stakeholders=2 + seed % 3, levels=3)
    slates, may = slate_rules["borda"](candidates, 2), candidates.available
    compared = winners = held = counted = stable = weak = shown = beating = 0
    for u in range(candidates.n_users):
        open_items, chosen = np.flatnonzero(may[:, u]).tolist(), [c for c in slates.items[u].tolist() if c >= 0]
        best = [a for a in open_items if all(margin(candidates, u, a, b) > 0 for b in open_items if b != a)]
        assert condorcet_winners(candidates)[u] == (best[0] if best else -1)
        if len(open_items) > 1:
            compared += 1
            winners += len(best)
            held += bool(best) and best[0] in chosen
        rest = [c for c in open_items if c not in chosen]
        if chosen and rest:
            counted += 1
            strong = [all(margin(candidates, u, a, b) > 0 for b in rest) for a in chosen]
            ties = [all(margin(candidates, u, a, b) >= 0 for b in rest) for a in chosen]
            shown, beating = shown + len(chosen), beating + sum(strong)
            stable, weak = stable + all(strong), weak + all(ties)
    found = condorcet(slates, candidates)
    assert (found.compared, found.winners, found.lists) == (compared, winners, counted)
    assert found.winner_shown == pytest.approx(held / winners)
    assert found.beating == pytest.approx(beating / shown)
    assert found.stable == pytest.approx(stable / counted)
    assert found.weakly_stable == pytest.approx(weak / counted)
    assert 0 < found.winners < found.compared  # both sorts of requests were seen
    json.dumps(found.to_json(), allow_nan=False)


def test_cycle_has_no_winner(make_candidates):
    candidates = make_candidates(CYCLE)
    assert condorcet_winners(candidates).tolist() == [-1]
    found = condorcet(lists(candidates, [[0]]), candidates)
    assert (found.compared, found.winners, found.winner_shown) == (1, 0, None)
    assert (found.beating, found.stable, found.weakly_stable) == (0.0, 0.0, 0.0)


def test_weights_decide_the_cycle(make_candidates):
    candidates = make_candidates(CYCLE, weights=[1.0, 0.0, 0.0])
    assert condorcet_winners(candidates).tolist() == [0]
    assert condorcet(lists(candidates, [[1]]), candidates).winner_shown == 0.0
    assert condorcet(lists(candidates, [[0]]), candidates).winner_shown == 1.0


def test_unavailable_items_beat_nobody(make_candidates):
    candidates = make_candidates(CYCLE, available=np.array([[True], [True], [False]]))
    assert condorcet_winners(candidates).tolist() == [0]  # the first and the third prefer c0
    found = condorcet(lists(candidates, [[0]]), candidates)
    assert (found.winner_shown, found.stable) == (1.0, 1.0)


def test_weakly_stable_may_tie(make_candidates):
    candidates = make_candidates([[[1.0], [0.0]], [[0.0], [1.0]]])
    found = condorcet(lists(candidates, [[0]]), candidates)
    assert (found.stable, found.weakly_stable, found.beating) == (0.0, 1.0, 0.0)


def test_nothing_to_compare(make_candidates):
    """One item, none, or all of them shown say nothing."""
    single = make_candidates(np.ones((2, 2, 2)), available=np.array([[True, False], [False, False]]))
    assert condorcet_winners(single).tolist() == [0, -1]
    found = condorcet(lists(single, [[0], [-1]]), single)
    assert (found.compared, found.winners, found.lists) == (0, 0, 0)
    assert found.winner_shown is found.beating is found.stable is found.weakly_stable is None
    every = make_candidates(np.ones((2, 2, 1)))
    assert condorcet(lists(every, [[0, 1]]), every).lists == 0


def test_rounding_is_a_tie(make_candidates):
    candidates = make_candidates([[[0.1 + 0.2], [0.3]], [[0.3], [0.3]]])
    assert condorcet_winners(candidates).tolist() == [-1]
    weights = make_candidates([[[1.0], [0.0]], [[0.0], [1.0]]] + [[[0.0], [1.0]]], weights=[0.1 + 0.2, 0.1, 0.2])
    assert condorcet_winners(weights).tolist() == [-1]
