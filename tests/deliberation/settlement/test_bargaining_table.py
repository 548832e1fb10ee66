"""The table: rows by name, utilities scaled over all options, priorities, and what is refused."""

import numpy as np
import pytest

from accordant.agents import Proposal
from accordant.agents.rules.rule import UtilityAgent
from accordant.allocations import AdditiveUtility, Allocation
from accordant.allocations.enumeration import enumerate_options
from accordant.deliberation.settlement.settlement import lay_table
from accordant.errors import InputError, InvalidMoveError


class Named:
    """A utility of single patients' shares that is no sum: the largest of their values."""

    def __init__(self, values):
        self.values = np.array(values, dtype=float)

    def of(self, shares):
        return (shares * self.values).max(axis=1)

    def to_json(self):
        return "largest"


def laid(scenario, utilities, **options):
    """A table of agents who all propose the first option."""
    first = enumerate_options(scenario).allocation(0)
    agents = [UtilityAgent(name, {}) for name in utilities]
    proposals = {name: Proposal(first, utility) for name, utility in utilities.items()}
    return lay_table(scenario, agents, proposals, first, options=enumerate_options(scenario), **options)


def test_rows_stand_by_name_whatever_the_order(small):
    scenario = small.build([[1]] * 3, [1])
    utilities = {"b": AdditiveUtility([0, 1, 2]), "a": AdditiveUtility([4, 2, 0])}
    table = laid(scenario, utilities)
    assert table.names == ("a", "b")
    assert table.utilities.tolist() == [[1, 0.5, 0], [0, 0.5, 1]]
    assert table.priorities.tolist() == [[4, 2, 0], [0, 1, 2]]
    rebuilt = table.floors[:, None] + table.values @ table.options.shares.T
    assert rebuilt == pytest.approx(table.utilities)


def test_an_indifferent_agent_accepts_everything(small):
    table = laid(small.build([[1]] * 3, [1]), {"a": AdditiveUtility([7, 7, 7])})
    assert table.utilities.tolist() == [[1, 1, 1]]


def test_the_worst_is_zero_and_not_rounding(small):
    table = laid(small.build([[1]] * 3, [1]), {"a": AdditiveUtility([1e-16, 0, 1])})
    assert table.utilities.tolist() == [[0, 0, 1]]


def test_without_a_sum_priorities_are_utilities_of_single_grants(small):
    table = laid(small.build([[1]] * 3, [2]), {"a": Named([3, 1, 2]), "b": AdditiveUtility([0, 1, 2])})
    assert table.values is None and table.floors is None
    assert table.priorities.tolist() == [[3, 1, 2], [0, 1, 2]]
    assert table.utilities[0].tolist() == [1, 1, 0]


def test_what_cannot_be_read_names_the_agent(small):
    scenario = small.build([[1]] * 3, [1])
    for wrong in (AdditiveUtility([1.0, 2.0]), Named([np.nan, 1, 2])):
        with pytest.raises(InvalidMoveError, match="agent 'a': its utility"):
            laid(scenario, {"a": wrong})


def test_an_allocation_that_is_not_among_the_options_is_refused(small):
    scenario = small.build([[1]] * 3, [1])
    some = enumerate_options(small.build([[1]] * 3, [2]))
    proposal = Proposal(Allocation.whole(scenario, ["p00"]), AdditiveUtility([1, 0, 0]))
    with pytest.raises(InputError, match="not among the 3 options"):
        lay_table(scenario, [UtilityAgent("a", {})], {"a": proposal}, proposal.allocation, options=some)


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_a_utility_that_fails_among_the_options_alone_names_its_agent(small, wrong):
    scenario = small.build([[1]] * 3, [2])
    options = enumerate_options(scenario)
    proposed = options.allocation(0)
    broken = Named([0, 0, 0])  # proposals and single grants have their number
    broken.of = lambda shares: np.where((shares == options.shares[2]).all(axis=1), wrong, 1.0)
    assert broken.of(options.shares).tolist()[:2] == [1.0, 1.0]
    utilities = {"a": AdditiveUtility([1, 0, 2]), "b": broken, "c": AdditiveUtility([0, 1, 1])}
    with pytest.raises(InvalidMoveError, match="agent 'b': its utility"):
        lay_table(
            scenario,
            [UtilityAgent(name, {}) for name in "cab"],
            {name: Proposal(proposed, utility) for name, utility in utilities.items()},
            proposed,
            options=options,
        )
