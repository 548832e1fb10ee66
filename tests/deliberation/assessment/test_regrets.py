"""Regret under every framework, satisfaction, and measures side by side: against enumeration by hand."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from accordant.agents import create
from accordant.agents.frameworks import Framework, frameworks
from accordant.allocations import AdditiveUtility
from accordant.allocations.measures.measure import Criterion
from accordant.allocations.measures.measure import measures
from accordant.deliberation.cases.triage.scenarios import random_scenario
from accordant.deliberation.assessment.alternatives import alternatives
from accordant.deliberation.assessment.regrets import recorded, regrets
from accordant.deliberation.assessment.regrets import satisfaction
from accordant.deliberation.assessment.verdict import side_by_side
from accordant.deliberation.protocols.debate import debate
from accordant.deliberation.protocols.views import seed_of
from accordant.errors import UnknownNameError

PATIENTS = ("p0", "p1", "p2", "p3")


@pytest.fixture(scope="module")
def held(record, scenario):
    """A serves need, B serves who came first; joint serves one wish of each."""
    people = scenario(
        severity=[0.9, 0.8, 0.4, 0.3], p_without=[0.1, 0.2, 0.6, 0.7], p_with=[0.5, 0.3, 0.9, 0.95],
        arrival=[4, 3, 2, 1], acuity=[1, 2, 4, 5], dependency=[0.1, 0.9, 0.3, 0.2],
    )  # fmt: skip
    wish = {"A": {"p0": 1.0, "p1": 1.0}, "B": {"p2": 1.0, "p3": 1.0}}
    return record(
        people, wish, {"p0": 1.0, "p2": 1.0}, revised={"A": {"p0": 1.0, "p2": 1.0}},
        values={"A": [0.9, 0.8, 0.4, 0.3], "B": [1, 2, 3, 4]},
    )  # fmt: skip


def test_regret_is_what_is_missing_to_the_best_over_the_range(held):
    matrix = regrets(held)
    assert matrix.frameworks == frameworks.names()
    assert matrix.missing == {}
    assert matrix.allocations == ("solo A", "solo B", "revised A", "revised B", "joint")
    pairs = list(itertools.combinations(range(4), 2))
    for name in matrix.frameworks:
        framework = frameworks.create(name)
        if hasattr(framework, "lots"):
            continue  # nobody drew one, see below
        utility = framework.utility(held.scenario.seen(framework.sees), held.seed)
        worth = {pair: float(utility.of(np.array([[float(k in pair) for k in range(4)]]))[0]) for pair in pairs}
        best, worst = max(worth.values()), min(worth.values())
        for row, pair in (("solo A", (0, 1)), ("solo B", (2, 3)), ("revised A", (0, 2)), ("joint", (0, 2))):
            expected = (best - worth[pair]) / (best - worst) if best - worst > 1e-12 else 0.0
            assert matrix.of(row, name) == pytest.approx(expected, abs=1e-9), (row, name)
    assert matrix.of("solo B", "libertarian") == 0.0  # first come, first served
    assert matrix.of("solo A", "libertarian") == pytest.approx(1.0)
    assert ((matrix.regrets >= 0) & (matrix.regrets <= 1)).all()


def test_a_lottery_that_nobody_drew_prefers_nobody(held):
    matrix = regrets(held)
    assert matrix.of("solo A", "egalitarian") == matrix.of("solo B", "egalitarian") == 0.0
    # p0 has acuity 1 and can be rescued: who grants somebody else and not p0 breaks the one constraint there is
    assert matrix.of("solo A", "rights") == matrix.of("joint", "rights") == 0.0
    assert matrix.of("solo B", "rights") == 1.0
    assert set(matrix.followed) == {()}


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("framework", ["egalitarian", "rights"])
def test_whoever_draws_lots_is_judged_by_its_own(framework, seed):
    found = debate(random_scenario(seed, patients=7, beds=3), [create(framework), create("rawlsian")], seed=seed)
    matrix = regrets(found)
    assert matrix.of(f"solo {framework}", framework) == pytest.approx(0.0, abs=1e-9)  # fidelity of a rule agent
    assert matrix.followed[matrix.frameworks.index(framework)] == (framework,)
    agent = next(each for each in found.agents if each.name == framework)
    seen = found.scenario.seen(agent.framework.sees)
    lots, ids = agent.framework.lots(seen, seed_of(seed, framework)), range(7)
    worth = {}
    for trio in itertools.combinations(ids, 3):
        shares = np.array([[float(k in trio) for k in ids]])
        broken = int(agent.framework.violations(seen, shares)[0])
        worth[trio] = (-broken, sum(lots[k] for k in trio))
    for label, allocation in recorded(found).items():  # constraints come first, then the lots
        trio = tuple(np.flatnonzero(allocation.shares).tolist())
        better = sum(other > worth[trio] for other in worth.values())
        assert (matrix.of(label, framework) <= 1e-9) == (better == 0)
        for other, each in recorded(found).items():
            if worth[trio] > worth[tuple(np.flatnonzero(each.shares).tolist())]:
                assert matrix.of(label, framework) <= matrix.of(other, framework) + 1e-12


def test_two_who_draw_lots_are_each_judged_by_their_own():
    pair = [create("egalitarian", {"name": name}) for name in ("one", "two")]
    found = debate(random_scenario(1), [*pair, create("rawlsian")], seed=1)
    matrix = regrets(found)
    assert found.solo["one"].allocation != found.solo["two"].allocation
    assert matrix.of("solo one", "egalitarian") == matrix.of("solo two", "egalitarian") == pytest.approx(0.0, abs=1e-9)
    assert matrix.of("joint", "egalitarian") > 0
    assert matrix.followed[matrix.frameworks.index("egalitarian")] == ("one", "two")


def test_a_column_is_by_the_parameters_of_whoever_follows_it():
    agent = create("egalitarian", {"form": "group_gap", "group": "group"})
    matrix = regrets(debate(random_scenario(2), [agent, create("rawlsian")], seed=2))
    assert matrix.of("solo egalitarian", "egalitarian") == pytest.approx(0.0, abs=1e-9)
    assert ("egalitarian",) in matrix.followed


def test_frameworks_that_cannot_see_what_they_need_are_named(record, scenario):
    found = regrets(record(scenario("ab", beds=1, arrival=[1, 2]), {"A": {"p0": 1.0}}, {"p1": 1.0}))
    assert "libertarian" in found.frameworks
    assert found.missing["utilitarian"]
    assert set(found.frameworks) | set(found.missing) == set(frameworks.names())
    with pytest.raises(UnknownNameError, match="framework 'utilitarian'"):
        found.of("joint", "utilitarian")
    with pytest.raises(UnknownNameError, match="did you mean 'joint'"):
        found.of("Joint", "libertarian")


def test_no_framework_that_can_be_asked_leaves_an_empty_matrix(held):
    assert regrets(held, by=()).regrets.shape == (5, 0)


def test_a_framework_is_shown_what_it_sees_and_nothing_else(held):
    class Probe(Framework):
        name, sees, shown = "probe", ("arrival",), []

        def utility(self, scenario, seed):
            self.shown.append((scenario.facts, seed))
            return AdditiveUtility(-scenario.numbers("arrival"))

    assert regrets(held, by=(probe := Probe(),)).frameworks == ("probe",)
    assert probe.shown == [(("arrival",), held.seed)]


def test_a_sample_never_shows_more_regret_than_is_possible(held):
    exact, sampled = regrets(held), regrets(held, among=alternatives(held, limit=1, drawn=2, size=2))
    assert not sampled.exact
    np.testing.assert_allclose(
        sampled.regrets[:, list(exact.frameworks).index("libertarian")],
        exact.regrets[:, list(exact.frameworks).index("libertarian")],
    )


def test_satisfaction_by_hand(held):
    found = satisfaction(held)
    assert found.solo == {"A": pytest.approx(1.0), "B": pytest.approx(1.0)}
    assert found.revised == {"A": pytest.approx(0.6), "B": pytest.approx(1.0)}  # (1.3 - .7) / (1.7 - .7)
    assert found.joint == {"A": pytest.approx(0.6), "B": pytest.approx(0.25)}  # (4 - 3) / (7 - 3)
    assert found.gap == pytest.approx(0.35)
    assert found.drift == {"A": 0.0, "B": 0.0}
    assert found.exact


def test_an_indifferent_agent_is_satisfied_with_anything(record, scenario):
    people = scenario("ab", beds=1)
    found = satisfaction(record(people, {"A": {"p0": 1.0}}, {"p1": 1.0}, values={"A": [2.0, 2.0]}))
    assert found.joint == {"A": 1.0}


def test_side_by_side(held):
    gap = Criterion("gap", measures.create("access_gap", {"group": "group"}), 0.25)
    need = Criterion("need", measures.create("need_capture"), 0.6)
    found = side_by_side(held, (gap, need))
    assert found.allocations == tuple(recorded(held))
    np.testing.assert_allclose(found.values, [[1, 1], [1, 0], [0, 0.5], [1, 0], [0, 0.5]])
    assert found.met.tolist() == [[False, True], [False, False], [True, False], [False, False], [True, False]]
    assert found.to_json()["joint"]["gap"] == {"value": 0.0, "met": True}


def test_side_by_side_keeps_what_is_not_defined_apart(record, scenario):
    gap = Criterion("gap", measures.create("access_gap", {"group": "group"}), 0.25)
    found = side_by_side(record(scenario("aa", beds=1), {"A": {"p0": 1.0}}, {"p1": 1.0}), (gap,))
    assert found.to_json()["joint"]["gap"] == {"value": None, "met": None}
    assert regrets(found_record(record, scenario)).exact


def found_record(record, scenario):
    return record(scenario("aa", beds=1, arrival=[1, 2]), {"A": {"p0": 1.0}}, {"p1": 1.0})
