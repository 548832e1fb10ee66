"""Four real votes (Pabulib): what each rule funds, pinned; pabutools funds the same; who is served.

Toulouse 2019: one project of 390,000 has the most points and takes 39 % of the budget under greedy. Equal Shares gives
each voter 669 of her own, raised to 1,383: the 471 voters of the large project hold too little for 390,000 once they
paid for the cheap ones that they want too, and 19 others are bought and one more is added.
Częstochowa 2020: the second project by points costs the whole budget; greedy skips it and funds five, Equal Shares nine.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from accordant.voting.pabulib import read_pabulib
from accordant.voting.budgets import budget_rules, gain, reach

TOULOUSE, DZBOW, WARSAW, ZABRZE = (
    f"budgets/{name}.pb"
    for name in (
        "france_toulouse_2019_",
        "poland_czestochowa_2020_dzbow",
        "poland_warszawa_2017_plac-wojska-polskiego",
        "poland_zabrze_2021_maciejow",
    )
)
FUNDED = {
    (TOULOUSE, "greedy"): "4 16 13 29 5 10 30 20 1 18 7 27 6 26",
    (TOULOUSE, "seq_phragmen"): "10 20 30 1 6 12 18 14 16 27 7 24 13 26 3 25 28 5 29 23",
    (TOULOUSE, "equal_shares"): "10 20 30 1 6 12 14 18 16 27 7 24 13 26 25 3 28 5 29 15",
    (DZBOW, "greedy"): "213 363 513 520 330",
    (DZBOW, "seq_phragmen"): "563 461 213 263 520 279 330 513",
    (DZBOW, "equal_shares"): "563 461 213 520 263 279 330 513 306",
    (WARSAW, "greedy"): "427 915 2567 1623",
    (WARSAW, "seq_phragmen"): "915 1623 427 2567",
    (WARSAW, "equal_shares"): "915 1623 427 2567",
    (ZABRZE, "greedy"): "P0008",
    (ZABRZE, "seq_phragmen"): "P0008",
    (ZABRZE, "equal_shares"): "P0008",
}
SPENT = {TOULOUSE: (1_000_000, 858_000, 987_000), DZBOW: (364_200, 305_600, 363_600)}


@pytest.mark.parametrize(("file", "name"), FUNDED)
def test_funded(file, name, real_data):
    found = budget_rules.create(name)(read_pabulib(real_data(file)))
    assert " ".join(found.projects) == FUNDED[file, name]
    assert found.ties == {}
    if file in SPENT:
        assert found.spent == dict(zip(("greedy", "seq_phragmen", "equal_shares"), SPENT[file], strict=True))[name]


def test_the_organisers_funded_what_greedy_funds(real_data):
    """Warsaw's file says which projects were selected: all four."""
    election = read_pabulib(real_data(WARSAW))
    assert election.project_facts["selected"] == ("1",) * 4
    assert budget_rules.create("greedy")(election).chosen.all()


def test_shares_of_voters(real_data):
    """Toulouse: as many voters are served as by greedy (of 1,494, 1,398), 398 get more and 313 fewer of their projects."""
    election = read_pabulib(real_data(TOULOUSE))
    greedy, shares = (budget_rules.create(name)(election) for name in ("greedy", "equal_shares"))
    assert [round(reach(found).served * 1_494) for found in (greedy, shares)] == [1_398, 1_398]
    difference = gain(greedy, shares)
    assert [round(each * 1_494) for each in (difference.more, difference.less)] == [398, 313]
    fewer = election.approvals @ shares.chosen.astype(int) < election.approvals @ greedy.chosen.astype(int)
    assert election.approvals[fewer, election.projects.index("4")].all()  # all of them voted for the large project
    assert shares.voter_money == 1_383
    assert shares.prices[election.projects.index("10")] == Fraction(2_000, 287)
    assert [election.projects[p] for p in shares.completed] == ["15"]


@pytest.mark.long
@pytest.mark.parametrize(("file", "utility"), [
    *((file, utility) for file in (TOULOUSE, DZBOW) for utility in ("approval", "cost", "score")),
    *((file, utility) for file in (WARSAW, ZABRZE) for utility in ("approval", "cost")),
])  # fmt: skip
def test_pabutools_funds_the_same(file, utility, real_data, oracle):
    """The same purchases in the same order, without completion."""
    election = read_pabulib(real_data(file))
    there = oracle(election)
    measure = {
        "approval": there.elections.Cardinality_Sat, "cost": there.elections.Cost_Sat,
        "score": there.elections.Additive_Cardinal_Sat,
    }[utility]  # fmt: skip
    theirs = there.rules.method_of_equal_shares(
        there.instance, there.points if utility == "score" else there.approvals,
        sat_class=measure, tie_breaking=there.ties,
    )  # fmt: skip
    ours = budget_rules.create("equal_shares", {"utility": utility, "completion": "none"})(election)
    assert there.names(theirs) == ours.projects


@pytest.mark.parametrize("file", [TOULOUSE, DZBOW])
def test_the_last_raise_of_pabutools(file, real_data, oracle, extra):
    """With the money of our last raise pabutools buys the same, and with one unit more it overspends."""
    election = read_pabulib(real_data(file))
    ours = budget_rules.create("equal_shares", {"completion": "add1"})(election)
    there, frac = oracle(election), extra("pabutools.fractions").frac
    for more, fits in ((0, True), (1, False)):
        there.instance.budget_limit = frac(int(ours.voter_money + more) * len(election.scores))
        theirs = there.rules.method_of_equal_shares(
            there.instance, there.approvals, sat_class=there.elections.Cardinality_Sat, tie_breaking=there.ties
        )
        assert (sum(project.cost for project in theirs) <= election.budget) == fits
        if fits:
            assert there.names(theirs) == ours.projects


@pytest.mark.long
@pytest.mark.parametrize("file", [TOULOUSE, DZBOW, WARSAW, ZABRZE])
def test_other_rules_of_pabutools(file, real_data, oracle):
    election = read_pabulib(real_data(file))
    there = oracle(election)
    phragmen = there.rules.sequential_phragmen(there.instance, there.approvals, tie_breaking=there.ties)
    assert set(there.names(phragmen)) == set(budget_rules.create("seq_phragmen")(election).projects)
    for measure, profile, given in (
        (there.elections.Cost_Sat, there.approvals, {"by": "votes"}),
        (there.elections.Cardinality_Sat, there.approvals, {"by": "votes", "per_cost": True}),
        (there.elections.Additive_Cardinal_Sat, there.points, {"by": "score", "per_cost": True}),
    ):
        theirs = there.rules.greedy_utilitarian_welfare(
            there.instance, profile, sat_class=measure, tie_breaking=there.ties
        )
        assert set(there.names(theirs)) == set(budget_rules.create("greedy", given)(election).projects)


def test_voters_served_in_czestochowa(real_data):
    """Of 887 voters, counted from the ballots alone: Phragmén, which stops early, serves fewer than greedy."""
    election = read_pabulib(real_data(DZBOW))
    for name, served in (("greedy", 631), ("equal_shares", 655), ("seq_phragmen", 622)):
        found = budget_rules.create(name)(election)
        assert int((election.approvals & found.chosen).any(axis=1).sum()) == served
        assert np.isclose(reach(found).served, served / 887)
