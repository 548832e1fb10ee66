"""What strategies choose where allocations are too many to list: against exact optima, and said to be a search."""

from __future__ import annotations

import json

import numpy as np
import pytest

from accordant.agents import create
from accordant.allocations.measures.measure import Criterion
from accordant.allocations.enumeration import count_options
from accordant.allocations.measures.measure import measures
from accordant.deliberation.cases.triage.scenarios import random_scenario
from accordant.deliberation.assessment import alternatives, emergence
from accordant.deliberation.adapters import choices_by_strategy
from accordant.deliberation.protocols.debate import debate


CRITERIA = (
    Criterion("access gap", measures.create("access_gap", {"group": "group"}), 0.25),
    Criterion("need", measures.create("need_capture"), 0.6),
)


def held(seed=0, names=("utilitarian", "care"), patients=24, beds=10):
    return debate(random_scenario(seed, patients=patients, beds=beds), [create(name) for name in names], seed=seed)


def sums(deliberation):
    """Return what each patient adds to the sum of utilities, each scaled from its worst to its best ten."""
    beds = int(deliberation.scenario.capacity[0])
    total = 0
    for utility in deliberation.utilities.values():
        ordered = np.sort(utility.values)
        total = total + utility.values / (ordered[-beds:].sum() - ordered[:beds].sum())
    return total


@pytest.mark.long
@pytest.mark.parametrize("seed", [0, 2, 3])
def test_the_utilitarian_choice_is_the_best_of_all_allocations(seed):
    deliberation = held(seed)
    assert count_options(deliberation.scenario) > 1_900_000
    assert deliberation.options is None
    found = choices_by_strategy(deliberation, ["utilitarian"])
    worth = sums(deliberation)
    best = np.sort(worth)[-10:].sum()
    assert found.allocations["utilitarian"].shares @ worth == pytest.approx(best, abs=1e-9)
    joint = deliberation.joint.shares @ worth
    assert found.agrees["utilitarian"] == (joint >= best - 1e-9)
    assert found.exact == {"utilitarian": True}


@pytest.mark.long
def test_the_largest_sum_is_compared_however_few_are_searched():
    deliberation = held(2)
    few = alternatives(deliberation, drawn=1, size=1).options
    assert len(few) < 10
    worth = sums(deliberation)
    assert (few.shares @ worth).max() == pytest.approx(np.sort(worth)[-10:].sum(), abs=1e-9)
    assert choices_by_strategy(deliberation, ["utilitarian"], options=few).exact == {"utilitarian": True}


@pytest.mark.long
def test_other_choices_are_said_to_come_from_a_search():
    deliberation = held(1)
    rules = ["utilitarian", "maximin", "kalai_smorodinsky"]
    among = alternatives(deliberation, drawn=1).options
    found = choices_by_strategy(deliberation, rules, options=among)
    assert found.exact == {"utilitarian": True, "maximin": False, "kalai_smorodinsky[context]": False}
    assert not found.complete
    assert found.among == len(among) > 500
    assert found.words == f"among {len(among):,} allocations that a search found"
    written = json.loads(json.dumps(found.to_json()))
    assert written["maximin"]["exact"] is False
    assert written["maximin"]["among"] == len(among)
    assert written["maximin"]["words"] == found.words
    smallest = {}
    for label, each in found.allocations.items():
        smallest[label] = min(
            (utility.values @ each.shares - np.sort(utility.values)[:10].sum())
            / (np.sort(utility.values)[-10:].sum() - np.sort(utility.values)[:10].sum())
            for utility in deliberation.utilities.values()
        )
    assert smallest["maximin"] == max(smallest.values())


@pytest.mark.long
def test_a_poor_list_is_not_called_exact():
    deliberation = held(2)
    among = alternatives(deliberation, drawn=1, size=20).options
    kept = type(among)(among.scenario, among.granted[[among.position(deliberation.joint)]], complete=False)
    found = choices_by_strategy(deliberation, ["utilitarian"], options=kept)
    assert found.allocations["utilitarian"] == deliberation.joint
    assert found.exact == {"utilitarian": False}


def test_listed_allocations_are_all_of_them():
    found = choices_by_strategy(held(patients=6, beds=2), ["utilitarian", "maximin", "copeland"])
    assert found.complete
    assert set(found.exact.values()) == {True}
    assert found.words == "among all 15 feasible allocations"


@pytest.mark.long
def test_utilities_that_do_not_add_up_have_no_exact_sum():
    deliberation = debate(
        random_scenario(0, patients=20, beds=9),
        [create("egalitarian", {"form": "group_gap", "group": "group"}), create("rawlsian")],
    )
    found = choices_by_strategy(
        deliberation, ["utilitarian"], options=alternatives(deliberation, drawn=1, size=50).options
    )
    assert found.exact == {"utilitarian": False}


@pytest.mark.long
def test_null_hypotheses_are_there_where_a_search_replaces_the_list():
    found = emergence(held(0, ("rawlsian", "utilitarian")), CRITERIA)
    for null, search in zip(found.random, found.search, strict=True):
        assert null.eligible == 2000
        assert 0 <= null.all_met <= null.mean_met / len(CRITERIA) <= 1
        assert not null.exact
        assert not search.exact
        assert search.most_met >= len(found.joint)
