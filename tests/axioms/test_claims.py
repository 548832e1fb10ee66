"""The table of claims is honest: every no has a matrix that shows it, every yes a reason and no exception on data."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from accordant import strategies
from accordant.axioms import axiom_table, axioms, rules_for, sample
from accordant.axioms.claims import CLAIMS, COLUMNS, claim_about, read_table
from accordant.axioms.claims import COUNTEREXAMPLES, counterexample
from accordant.axioms.sample import ACTIONS, STAKEHOLDERS
from accordant.axioms.subjects import registered_rules
from accordant.axioms.table import ORDER
from accordant.axioms.claims import THEOREMS
from accordant.utilities import ExpectedRewards

REQUIRED = {"stakeholder": {"stakeholder": "Ada"}, "constant": {"action": "w"}}
PAIRS = [(each, rule) for each in COUNTEREXAMPLES for rule in each.rules.split()]
SHAPES = [(2, 2), (2, 3), (3, 4), (4, 3), (5, 4), (7, 3), (1, 4), (3, 1)]


@pytest.mark.few(60)
@pytest.mark.parametrize(("example", "rule"), PAIRS, ids=[f"{each.axiom}-{rule}" for each, rule in PAIRS])
def test_every_counterexample_is_confirmed_in_plain_python(confirms, example, rule):
    assert confirms(example.axiom, strategies.create(rule, REQUIRED.get(rule, {})), *example.matrices())


@pytest.mark.long
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_what_is_claimed_never_to_fail_never_fails_on_data(shape):
    E = sample(1500 if shape == (3, 4) else 150, seed=11, n_stakeholders=shape[0], n_actions=shape[1])
    table = axiom_table(rules_for(E), E, seed=2)
    wrong = [
        finding.to_json() for (_, _), cell in table.cells.items() if cell.contradicted for finding in [cell.finding]
    ]
    assert wrong == []


@pytest.mark.long
@settings(max_examples=120, deadline=None)
@given(data=st.data())
def test_no_exception_can_be_found(data):
    """The same as a property: any rule, any axiom, any small E in hundredths."""
    shape = data.draw(st.tuples(st.integers(1, 4), st.integers(1, 4), st.integers(1, 4)))
    E = ExpectedRewards(data.draw(arrays(np.int64, shape, elements=st.integers(0, 100))) / 100,
                        stakeholders=STAKEHOLDERS[: shape[0]], actions=ACTIONS[: shape[1]])  # fmt: skip
    rule = data.draw(st.sampled_from(registered_rules(E)))
    certain = [
        axiom
        for (name, axiom), holds in CLAIMS.items()
        if holds and name == rule.name and not axioms.create(axiom).about_all
    ]
    finding = axioms.create(data.draw(st.sampled_from(certain))).check(rule, E, data.draw(st.integers(0, 9)))
    assert finding.violated == 0, finding.to_json()


@pytest.mark.long
def test_claims_hold_on_extreme_rewards():
    """Rewards near 0 and 1 and rare differences: where floors, tolerances and logarithms bite."""
    generator = np.random.default_rng(5)
    values = 10.0 ** -generator.integers(0, 5, size=(3, 4, 900)) * generator.integers(0, 3, size=(3, 4, 900)) / 2
    values[:, :, ::3] = 1 - values[:, :, ::3]
    E = ExpectedRewards(values, stakeholders=("Ada", "Ben", "Cleo"), actions="wxyz")
    table = axiom_table(rules_for(E), E, seed=3)
    assert [key for key, cell in table.cells.items() if cell.contradicted] == []


def test_every_no_has_a_counterexample_and_every_yes_a_reason():
    shown = {(rule, each.axiom) for each in COUNTEREXAMPLES for rule in each.rules.split()}
    proven = {(rule, each.axiom) for each in THEOREMS for rule in each.rules.split()}
    assert shown == {key for key, holds in CLAIMS.items() if not holds}
    assert proven == {key for key, holds in CLAIMS.items() if holds}


def test_no_claim_is_made_twice():
    for records in (COUNTEREXAMPLES, THEOREMS):
        counted = Counter((rule, each.axiom) for each in records for rule in each.rules.split())
        assert [key for key, times in counted.items() if times > 1] == []


def test_every_built_in_rule_and_every_axiom_has_its_place():
    built_in = {rule.name for rule in registered_rules(sample(1)) if type(rule).__module__.startswith("accordant.")}
    assert built_in == {rule for rule, _ in CLAIMS}
    assert set(COLUMNS.values()) == set(ORDER)
    assert {name for name in axioms if axioms.factory(name).__module__.startswith("accordant.axioms.")} == set(ORDER)


def test_claims_are_about_default_parameters():
    def claim(name, parameters, axiom="strong_pareto", n_actions=4):
        return claim_about(strategies.create(name, parameters), axiom, 3, n_actions)

    assert claim("utilitarian", {}).holds
    assert claim("utilitarian", {"weights": [2, 2, 2]}).holds
    assert claim("utilitarian", {"weights": [2, 1, 2]}) is None
    assert claim("compromise_programming", {"exponent": 1.0}) is None
    assert claim("nash_bargaining", {"disagreement": "status_quo", "status_quo": "w"}) is None
    assert claim("stakeholder", {"stakeholder": "anybody"}, "strategy_proofness").holds
    assert claim("random_dictatorship", {}) is None


def test_ranked_pairs_is_spoken_of_up_to_eight_actions():
    rule = strategies.create("ranked_pairs")
    assert claim_about(rule, "neutrality", 3, 8).holds
    assert claim_about(rule, "neutrality", 3, 9) is None


def test_a_claim_tells_its_reason_or_its_matrix():
    yes = claim_about(strategies.create("kemeny"), "condorcet_consistency", 3, 3).to_json()
    assert yes == {"holds": True, "because": "an action that beats all others wins alone (Fishburn 1977)",
                   "counterexample": None}  # fmt: skip
    no = claim_about(strategies.create("borda"), "strategy_proofness", 3, 3).to_json()
    assert no["holds"] is False
    assert no["counterexample"]["before"] == [[0.0, 0.5, 1.0], [1.0, 0.0, 0.5], [0.5, 1.0, 0.0]]
    assert counterexample("utilitarian", "anonymity") is None


def test_table_is_read_by_columns_and_open_cells_are_left_out():
    assert read_table("   WP  St\nfirst  yes ?\n\nsecond no  yes") == {
        ("first", "weak_pareto"): True, ("second", "weak_pareto"): False, ("second", "strategy_proofness"): True
    }  # fmt: skip
    with pytest.raises(ValueError):
        read_table("WP St\nfirst yes")
