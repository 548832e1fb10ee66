"""Order effects: none where the procedure is symmetric, shown where it is not."""

import pytest

from accordant.agents.fixtures import BaselineAgent
from accordant.agents.rules.rule import UtilityAgent
from accordant.allocations import Allocation
from accordant.deliberation.protocols.debate import debate
from accordant.deliberation.protocols.offers import alternating_offers
from accordant.deliberation.assessment.reruns import order_effects
from accordant.errors import InputError

NAMES = ("one", "two", "three")


def test_a_debate_does_not_depend_on_the_order(small):
    ward = small.ward()
    found = order_effects(
        lambda agents: debate(ward, agents, seed=3), [BaselineAgent(name) for name in NAMES], shuffles=3
    )
    assert found.orders[:2] == (NAMES, NAMES[::-1]) and 2 <= len(found.orders) <= 5
    assert not found.any and set(found.changed) == {0}
    assert found.spread == dict.fromkeys(NAMES, 0.0)


def test_who_offers_first_can_matter_and_the_difference_is_told(small):
    """Both give way at once, so the first offers what is worst for itself, and the second takes it."""
    scenario = small.build([[1], [1], [1]], [1])
    agents = [UtilityAgent("a", {"p00": 1.0}, "nice"), UtilityAgent("b", {"p01": 1.0}, "nice")]
    nobody = Allocation.whole(scenario, ["p02"])
    found = order_effects(lambda ordered: alternating_offers(scenario, ordered, disagreement=nobody), agents)
    assert found.orders == (("a", "b"), ("b", "a"))
    assert [joint.claimants for joint in found.joints] == [("p01",), ("p00",)]
    assert found.changed == (0, 2) and found.any
    assert found.utilities == {"a": (0.0, 1.0), "b": (1.0, 0.0)} and found.spread == {"a": 1.0, "b": 1.0}


def test_a_procedure_that_listens_to_the_first_alone_is_found_out(small):
    scenario = small.build([[1], [1], [1], [1]], [2])
    agents = [UtilityAgent("a", {"p00": 2.0, "p01": 1.0}), UtilityAgent("b", {"p02": 2.0, "p03": 1.0})]

    def run(ordered):
        """Take the first agent's wish."""
        held = debate(scenario, ordered)
        wish = held.solo[ordered[0].name].allocation
        return debate(scenario, ordered, settle="no_deal", disagreement=wish)

    found = order_effects(run, agents)
    assert found.changed == (0, 4) and found.any
    assert found.utilities == {"a": (1.0, 0.0), "b": (0.0, 1.0)}
    assert found.spread == {"a": 1.0, "b": 1.0}


def test_one_agent_has_one_order(small):
    found = order_effects(lambda agents: debate(small.ward(), agents), [BaselineAgent()], shuffles=2)
    assert found.orders == (("baseline",),) and not found.any


def test_wrong_arguments(small):
    for agents, shuffles in (([], 0), ([BaselineAgent()], -1)):
        with pytest.raises(InputError, match="allowed"):
            order_effects(lambda given: debate(small.ward(), given), agents, shuffles=shuffles)
