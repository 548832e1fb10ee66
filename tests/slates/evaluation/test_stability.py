"""Leaving out a stakeholder: against sets, and where nothing or everything changes."""

import json
import math

import numpy as np
import pytest

from accordant.slates.evaluation import drop_one
from accordant.slates.candidates import Candidates
from accordant.slates.candidates import gains_of


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", ["total", "borda"])
def test_against_loop(slate_rules, drawn_candidates, name, seed):
    rule, candidates = slate_rules[name], drawn_candidates(seed, levels=4)
    found = drop_one(rule, candidates, 3)
    assert [each.stakeholder for each in found] == ["guest", "town", "inn"]
    full = rule(candidates, 3)
    for i, dropped in enumerate(found):
        weights = [0.0 if j == i else weight for j, weight in enumerate(candidates.weights)]
        without = rule(Candidates(candidates.expected, candidates.available, weights), 3)
        shares = []
        for u in range(candidates.n_users):
            one, other = set(full.names(u)), set(without.names(u))
            shares.append(len(one & other) / len(one | other))
        assert dropped.overlap == pytest.approx(sum(shares) / len(shares))
        assert dropped.unchanged == sum(share == 1 for share in shares) / len(shares)
        before, after = (gains_of(each, candidates).attained for each in (full, without))
        for j, other in enumerate(candidates.stakeholders):
            assert dropped.changes[other] == pytest.approx(np.nanmean(after[j] - before[j]))
    assert any(dropped.overlap < 1 for dropped in found)
    json.dumps([each.to_json() for each in found], allow_nan=False)


def test_the_dropped_one_loses_by_hand(slate_rules, make_candidates):
    """Two want c0, one c1; without either of the two there is a tie, and c0 is declared first."""
    candidates = make_candidates([[[1.0], [0.0]], [[0.8], [0.0]], [[0.0], [1.0]]])
    guest, town, inn = drop_one(slate_rules["total"], candidates, 1)
    assert [each.overlap for each in (guest, town, inn)] == [0.0, 1.0, 1.0]
    assert guest.changes == {"guest": -1.0, "town": -1.0, "inn": 1.0}
    assert inn.changes == {"guest": 0.0, "town": 0.0, "inn": 0.0}
    assert guest.unchanged == 0.0


def test_a_rule_for_one_hears_no_other(slate_rules, drawn_candidates):
    for dropped in drop_one(slate_rules["for one"], drawn_candidates(4), 2):
        assert dropped.overlap == 1.0
        assert set(dropped.changes.values()) == {0.0}


def test_nobody_to_leave_out(slate_rules, make_candidates):
    values = np.ones((2, 2, 1))
    assert drop_one(slate_rules["total"], make_candidates(values, weights=[0.0, 2.0]), 1) == ()
    assert drop_one(slate_rules["total"], make_candidates(values[:1]), 1) == ()


def test_empty_and_indifferent(slate_rules, make_candidates):
    """Empty lists overlap with nothing, and everybody is indifferent."""
    nothing = make_candidates(np.ones((2, 2, 1)), available=np.zeros((2, 1), dtype=bool))
    guest, _ = drop_one(slate_rules["total"], nothing, 1)
    assert guest.overlap is None and guest.unchanged == 1.0
    assert guest.changes == {"guest": None, "town": None}
    assert not any(isinstance(each, float) and math.isnan(each) for each in guest.changes.values())
