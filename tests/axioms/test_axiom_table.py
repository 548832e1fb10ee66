"""Tables, which rules stand in them, and the two theorems read off them."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

import numpy as np
import pytest

from accordant import strategies
from accordant.axioms import arrow, axiom_table, gibbard_satterthwaite, rules_for, sample
from accordant.axioms.claims import Claim
from accordant.axioms.table import ARROW, missing
from accordant.axioms.table import Cell
from accordant.errors import InputError, UnknownNameError
from accordant.strategies.compromise import Compromise, Scored
from accordant.utilities import ExpectedRewards


def labels(rules):
    return [rule.label for rule in rules]


@pytest.fixture(scope="module")
def table():
    E = sample(200)
    return axiom_table(rules_for(E), E)


def test_all_rules_that_read_nothing_but_rewards():
    found = labels(rules_for(sample(1)))
    assert {"utilitarian", "borda", "stakeholder:Ada", "stakeholder:Cleo", "constant:w"} <= set(found)
    assert not {"logged", "oracle", "random", "outcome_only", "random_dictatorship", "maximal_lotteries"} & set(found)
    assert [label for label in found if label.startswith("constant")] == ["constant:w"]


def test_rules_by_name_alias_and_label():
    E = sample(1)
    assert labels(rules_for(E, ["maximin", "simpson"])) == ["maximin", "minimax"]
    assert labels(rules_for(E, ["stakeholder"])) == ["stakeholder:Ada", "stakeholder:Ben", "stakeholder:Cleo"]
    assert labels(rules_for(E, ["stakeholder:Ben", "constant:z"])) == ["stakeholder:Ben", "constant:z"]
    assert labels(rules_for(E, ["kalai_smorodinsky[context]"])) == ["kalai_smorodinsky[context]"]
    assert labels(rules_for(E, ["maximin", "maximin"])) == ["maximin"]


def test_unknown_and_unsuited_rules_are_refused():
    with pytest.raises(UnknownNameError, match="did you mean 'utilitarian'"):
        rules_for(sample(1), ["utilitarain"])
    for name in ("logged", "random", "random_dictatorship"):
        with pytest.raises(InputError, match="reads something else than expected rewards, or draws"):
            rules_for(sample(1), [name])


def test_rules_of_a_run_take_the_place_of_registered_ones():
    E = sample(5)
    own = [
        strategies.create("utilitarian", {"weights": [1, 2, 1]}),
        strategies.create("nash_bargaining", {"disagreement": "status_quo", "status_quo": "w"}),
        strategies.create("logged"),
        strategies.create("constant", {"action": "y"}),
        strategies.create("constant", {"action": "z"}),
    ]
    rules = rules_for(E, None, {rule.label: rule for rule in own})
    assert labels(rules)[:2] == ["utilitarian", "nash_bargaining[status_quo]"]
    assert rules[0].weights == (1, 2, 1)
    assert "nash_bargaining[context]" not in labels(rules)
    assert [label for label in labels(rules) if label.startswith("constant")] == ["constant:w"]
    assert "maximin" in labels(rules)


@pytest.mark.long
def test_a_table_is_plain_json(table):
    shown = json.loads(json.dumps(table.to_json(), allow_nan=False))
    assert shown["contexts"] == 200
    assert len(shown["rules"]) == len(table.rules)
    cell = shown["rules"][0]["cells"][0]
    assert {"axiom", "judged", "violated", "inapplicable", "witness", "text", "claim"} <= set(cell)
    assert all(rule["actions_chosen"] == (1 if rule["rule"] == "constant:w" else 4) for rule in shown["rules"])


def test_a_table_of_some_axioms_only():
    E = sample(20)
    found = axiom_table(rules_for(E, ["borda"]), E, names=["anonymity", "neutrality"])
    assert [axiom.name for axiom in found.axioms] == ["anonymity", "neutrality"]
    with pytest.raises(UnknownNameError, match="axiom"):
        axiom_table(rules_for(E, ["borda"]), E, names=["fairness"])


@pytest.mark.long
def test_cells_say_claim_count_or_contradiction(table):
    cell = table.cells["utilitarian", "scale_invariance"]
    assert cell.text == "fails"
    assert table.cells["utilitarian", "shift_invariance"].text == "always"
    assert table.cells["constant:w", "pairwise_independence"].text == "–"
    count = f"{cell.finding.violated}/{cell.finding.judged}"
    assert Cell(cell.finding, None).text == count
    wrong = Cell(cell.finding, Claim(True, "a wrong reason"))
    assert wrong.contradicted
    assert wrong.text == f"{count}!"
    assert wrong.satisfied is False
    clean = Cell(table.cells["utilitarian", "shift_invariance"].finding, None)
    assert clean.text.startswith("0/")
    assert clean.satisfied is None


def test_a_rule_that_refuses_the_data_says_why():
    E = ExpectedRewards(np.random.default_rng(0).random((2, 9, 4)), stakeholders="AB", actions="abcdefghi")
    found = axiom_table([strategies.create("kemeny")], E, names=["anonymity"])
    assert "at most 8" in found.cells["kemeny", "anonymity"].finding.inapplicable
    assert found.chosen == {"kemeny": 0}


@pytest.mark.long
def test_arrow_is_computed_from_the_table(table):
    for rule, gaps in missing(table, table.rules, ARROW).items():
        assert gaps, f"{rule} would contradict the theorem"
    assert missing(table, ["borda", "utilitarian", "stakeholder:Ada", "constant:w"], ARROW) == {
        "borda": ("pairwise_independence",),
        "utilitarian": ("ordinal_invariance",),
        "stakeholder:Ada": ("non_dictatorship",),
        "constant:w": ("weak_pareto",),
    }
    said = arrow(table)
    assert said.startswith(f"Arrow (1951): of {len(table.rules)} rules none has weak Pareto, pairwise independence, ")
    assert "only weak Pareto is missing in constant:w" in said


def test_theorems_name_what_each_rule_lacks():
    E = sample(100)
    few = axiom_table(rules_for(E, ["utilitarian", "copeland", "stakeholder:Ben", "kalai_smorodinsky"]), E)
    assert arrow(few) == (
        "Arrow (1951): of 4 rules none has weak Pareto, pairwise independence, ordinal invariance and "
        "non-dictatorship together (only ordinal invariance is missing in utilitarian; only pairwise independence is "
        "missing in copeland; only non-dictatorship is missing in stakeholder:Ben; more in 1)."
    )
    assert gibbard_satterthwaite(few) == (
        "Gibbard (1973) and Satterthwaite (1975): of 4 rules that chose every action none has "
        "strategy-proofness and non-dictatorship together (only strategy-proofness is missing in utilitarian, copeland "
        "and kalai_smorodinsky[context]; only non-dictatorship is missing in stakeholder:Ben)."
    )


@pytest.mark.long
def test_a_constant_is_strategy_proof_because_it_chooses_one_action(table):
    assert table.satisfied("constant:w", "strategy_proofness")
    assert table.satisfied("constant:w", "non_dictatorship")
    assert "Not every action was chosen here by constant:w." in gibbard_satterthwaite(table)


def test_a_rule_that_chooses_one_action_is_none_of_those_of_the_theorem():
    E = sample(50)
    found = gibbard_satterthwaite(axiom_table(rules_for(E, ["constant:x"]), E))
    assert found.endswith("here is none. Not every action was chosen here by constant:x.")


def test_theorems_are_silent_about_two_actions():
    E = sample(20, n_actions=2)
    two = axiom_table(rules_for(E, ["utilitarian"]), E)
    assert arrow(two) == "Arrow (1951) speaks about three or more actions; here are 2."
    assert "here are 2" in gibbard_satterthwaite(two)


def test_theorems_fill_in_what_was_not_seen():
    """One context is too little to see everything; then the sentence leans on the theorem and says so."""
    E = ExpectedRewards([[0.9, 0.5, 0.1], [0.9, 0.5, 0.1]], stakeholders="AB", actions="wxy")

    @dataclass(frozen=True)
    class Unknown(Compromise):
        name = "unknown"

        def score(self, block, weights):
            return Scored(block.totals.copy())

    few = axiom_table([Unknown()], E, names=ARROW)
    assert few.cells["unknown", "weak_pareto"].claim is None
    open_table = replace(
        few, cells={key: Cell(replace(cell.finding, violated=0), None) for key, cell in few.cells.items()}
    )
    assert arrow(open_table) == (
        "Arrow (1951): of 1 rule 0 lack one of weak Pareto, pairwise independence, ordinal invariance and "
        "non-dictatorship. By the theorem unknown must too, though no violation was found here."
    )


@pytest.mark.long
def test_a_wrong_claim_would_be_noticed(table):
    wrong = replace(
        table,
        cells=table.cells | {("borda", "pairwise_independence"): Cell(
            replace(table.cells["borda", "pairwise_independence"].finding, violated=0), Claim(True, "wrong"))},
    )  # fmt: skip
    assert "borda should not have" in arrow(wrong)


def test_sampled_rewards_hold_ties_and_no_ties():
    E = sample(30, seed=1, n_stakeholders=2, n_actions=5)
    assert E.values.shape == (2, 5, 30)
    assert set(np.unique(E.values[:, :, 2::3])) <= {0.0, 0.5, 1.0}
    np.testing.assert_allclose(E.values[:, :, 1::3] * 10, np.round(E.values[:, :, 1::3] * 10))
    assert len(np.unique(E.values[:, :, ::3])) == 100
    np.testing.assert_array_equal(E.values, sample(30, seed=1, n_stakeholders=2, n_actions=5).values)


@pytest.mark.parametrize(
    "wrong", [{"n_contexts": 0}, {"n_contexts": 5, "n_stakeholders": 9}, {"n_contexts": 5, "n_actions": 7}]
)
def test_samples_out_of_range_are_refused(wrong):
    with pytest.raises(InputError, match="allowed: 1 to"):
        sample(**wrong)


def test_one_stakeholder_is_no_society():
    E = sample(50, n_stakeholders=1)
    alone = axiom_table(rules_for(E, ["utilitarian"]), E)
    assert arrow(alone) == "Arrow (1951) speaks about two or more stakeholders; here is 1."
    assert "here is 1" in gibbard_satterthwaite(alone)
    assert alone.cells["utilitarian", "strategy_proofness"].claim is None


def test_a_dictator_for_a_day_is_no_dictator():
    """On few E somebody may always prevail; a rule that is not dictatorial on all E is not called so."""
    E = ExpectedRewards([[0.03, 0.01, 0.01], [0.0, 0.01, 0.01]], stakeholders=["Ada", "Ben"], actions="wxy")
    cell = axiom_table(rules_for(E, ["minimax_regret"]), E, names=["non_dictatorship"])
    assert cell.cells["minimax_regret", "non_dictatorship"].text == "always"
