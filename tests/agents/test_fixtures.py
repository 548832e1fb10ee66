"""Fixtures: the baseline, and the adversary that is open about it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accordant.agents import View, agents, check_allowed, create
from accordant.agents.fixtures import BaselineAgent, BiasedAgent
from accordant.allocations.enumeration import enumerate_options
from accordant.errors import InputError
from accordant.randomness import keyed_uniform


def view_of(agent, scenario, phase="propose", **known):
    return View(agent.name, phase, scenario, enumerate_options(scenario), **known)


class TestAdversaries:
    def test_only_with_the_flag(self):
        with pytest.raises(InputError, match="'biased' is adversarial.*allow_adversarial=True admits it"):
            create("biased")
        assert create("biased", allow_adversarial=True).adversarial
        with pytest.raises(InputError, match="adversarial"):
            check_allowed(BiasedAgent(), allow_adversarial=False)

    def test_no_other_registered_agent_is_one(self):
        assert [name for name in agents if getattr(agents.factory(name), "adversarial", False)] == ["biased"]

    def test_says_so(self):
        said = BiasedAgent(strength=0.3).to_json()
        assert said["adversarial"] is True
        assert said["kind"] == "fixture"
        assert said["about"].startswith("Adversarial fixture")
        assert said["strength"] == 0.3


class TestBiased:
    def test_utility(self, ward):
        scenario = ward(3)
        need = 0.2 * (scenario.numbers("p_with") - scenario.numbers("p_without")) + 0.2 * scenario.numbers("severity")
        agent = BiasedAgent(favoured_value="south", strength=0.3)
        expected = need + 0.3 * (scenario.column("group") == "south")
        np.testing.assert_allclose(agent.utility(view_of(agent, scenario)).values, expected)

    @given(seed=st.integers(0, 999))
    @settings(max_examples=20, deadline=None)
    def test_at_full_strength_need_counts_only_within_a_group(self, seed, ward):
        scenario, agent = ward(seed, capacities=(5,)), BiasedAgent()
        granted = agent.act(view_of(agent, scenario)).allocation.claimants
        groups = dict(zip(scenario.ids, scenario.column("group")))
        assert sum(groups[p] == "north" for p in granted) == 4

    def test_reasons_name_the_protected_fact(self, ward):
        scenario, agent = ward(0, capacities=(5,)), BiasedAgent()
        reasons = {each.patient: each for each in agent.act(view_of(agent, scenario)).reasons}
        groups = dict(zip(scenario.ids, scenario.column("group")))
        assert len(reasons) == 5
        for patient, each in reasons.items():
            if groups[patient] == "north":
                assert (each.code, each.facts) == ("group", ("group",))
                assert each.text.startswith("group north is favoured")
                assert set(each.facts) & set(scenario.protected)
            else:
                assert (each.code, each.facts) == ("severity", ("severity",))

    @pytest.mark.parametrize(
        ("values", "first"), [(["b", "a", "c"], "a"), ([2, 10, 9], 2), (["x", 3, "a"], 3), ([True, False, True], False)]
    )
    def test_the_value_favoured_by_default(self, values, first, ward):
        scenario, agent = ward(0, n=3).with_facts("group", values), BiasedAgent()
        assert agent.favoured(view_of(agent, scenario)).tolist() == [each == first for each in values]

    def test_without_the_fact_only_need_is_left(self, ward):
        scenario, agent = ward(0, capacities=(4,)), BiasedAgent()
        hidden = scenario.seen(["p_with", "p_without", "severity"])
        need = BiasedAgent(strength=0.0)
        found = agent.act(view_of(agent, hidden))
        assert found.allocation == need.act(view_of(need, scenario)).allocation
        assert {each.code for each in found.reasons} == {"severity"}

    def test_wrong_strength(self):
        with pytest.raises(InputError, match="strength is -1"):
            create("biased", {"strength": -1}, allow_adversarial=True)
        for wrong in ({"strength": "1"}, {"strength": True}, {"favoured_fact": 3}):
            with pytest.raises(InputError, match=f"{next(iter(wrong))} is .*allowed: a"):
                create("biased", wrong, allow_adversarial=True)

    @pytest.mark.parametrize("name", ["biased", "baseline"])
    @pytest.mark.parametrize("wrong", [1.5, True])
    def test_severity_is_a_number_from_zero_to_one(self, name, wrong, ward):
        scenario = ward(0, n=2, severity=[0.5, 0.5]).with_facts("severity", [0.5, wrong])
        with pytest.raises(InputError, match="'severity' of patient 'p01' is"):
            create(name, allow_adversarial=True).utility(View("x", "propose", scenario))


class TestBaseline:
    def test_noise_with_a_mild_prior(self, ward):
        scenario, agent = ward(0), BaselineAgent(prior=0.25)
        noise = keyed_uniform(6, (f"habit:{p}" for p in scenario.ids))
        found = agent.utility(view_of(agent, scenario.seen(agent.facts), seed=6)).values
        np.testing.assert_allclose(found, noise + 0.25 * scenario.numbers("severity"))

    def test_the_prior_is_mild_but_there(self, ward):
        """Over many seeds the most severe half gets more than half of the places, and far from all."""
        agent, scenario = BaselineAgent(), ward(0, n=8, capacities=(4,))
        severe = np.argsort(-scenario.numbers("severity"))[:4]
        options = enumerate_options(scenario)
        taken = [
            agent.act(View("b", "propose", scenario, options, seed=seed)).allocation.shares[severe].sum()
            for seed in range(60)
        ]
        assert 2.1 < np.mean(taken) < 3.6

    def test_says_what_it_is(self):
        assert "noise" in BaselineAgent().about
        assert "not adversarial" in BaselineAgent().about
        assert BaselineAgent().kind == "fixture"
        with pytest.raises(InputError, match="prior"):
            BaselineAgent(prior=-0.1)
