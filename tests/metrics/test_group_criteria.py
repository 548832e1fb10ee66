"""Group criteria against loops over rows, against fairlearn, and where a group is empty."""

from __future__ import annotations

from types import SimpleNamespace

import fairlearn.metrics as fm
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accordant import metrics
from accordant.errors import InputError, MissingColumnError, UnknownNameError
from accordant.metrics import Cells
from accordant.metrics.group import GroupCriterion
from accordant.metrics.statistics import contingency

CRITERIA = {
    "demographic_parity": [(lambda a, y: a, lambda a, y: True)],
    "equal_opportunity": [(lambda a, y: a, lambda a, y: y)],
    "predictive_equality": [(lambda a, y: a, lambda a, y: not y)],
    "equalised_odds": [(lambda a, y: a, lambda a, y: y), (lambda a, y: a, lambda a, y: not y)],
    "predictive_parity": [(lambda a, y: y, lambda a, y: a)],
}


def share(cases):
    """Return the mean of a list, or None if it is empty."""
    return sum(cases) / len(cases) if cases else None


def twin(table, name, aggregate="difference", protected=None, actions=("Grant", "Lower"), outcomes=("Full",)):
    """Compute a criterion by looping over rows."""
    found = []
    for hit, counts in CRITERIA[name]:
        groups = {}
        for action, outcome, group in table:
            a, y = action in actions, outcome in outcomes
            key = (group == protected) if protected is not None else group
            groups.setdefault(key, [])
            if counts(a, y):
                groups[key].append(hit(a, y))
        rates = {key: share(cases) for key, cases in groups.items()}
        if None in rates.values() or len(rates) < 2:
            return None
        if protected is not None:
            found.append(rates[True] - rates[False])
        elif aggregate == "difference":
            found.append(max(rates.values()) - min(rates.values()))
        else:
            found.append(min(rates.values()) / max(rates.values()))
    return min(found) if aggregate == "ratio" else max(found, key=abs)


@pytest.mark.few(10)
@pytest.mark.parametrize("name", CRITERIA)
@pytest.mark.parametrize("attributes", [("sex",), ("age",), ("sex", "age")])
@pytest.mark.parametrize("aggregate", ["difference", "ratio"])
def test_equals_the_loop_over_rows(world, decide, rows, name, attributes, aggregate):
    for seed in range(5):
        evidence = world(200, seed)
        decisions = decide(evidence, seed=seed + 100)
        metric = metrics.create(name, {"attributes": attributes, "aggregate": aggregate})
        expected = twin(rows(evidence, decisions, attributes), name, aggregate)
        assert metric.evaluate(decisions, evidence).value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", CRITERIA)
def test_signed_gap_is_protected_minus_the_rest(world, decide, rows, name):
    for seed in range(5):
        evidence = world(200, seed)
        decisions = decide(evidence, seed=seed + 100)
        metric = metrics.create(name, {"attributes": ["age"], "protected": "old"})
        expected = twin(rows(evidence, decisions, ("age",)), name, protected="old")
        assert metric.evaluate(decisions, evidence).value == pytest.approx(expected, abs=1e-12)
        assert metric.goal == "zero"


def test_sets_of_favourable_actions_and_outcomes(world, decide, rows):
    evidence = world(200)
    decisions = decide(evidence)
    for actions, outcomes in [(("Grant",), ("Full",)), (("Lower", "Deny"), ("Part", "None"))]:
        metric = metrics.create(
            "predictive_parity",
            {"attributes": ["sex"], "protected": "1", "actions": actions, "outcomes": outcomes},
        )
        expected = twin(rows(evidence, decisions, ("sex",)), "predictive_parity", "difference", "1", actions, outcomes)
        assert metric.evaluate(decisions, evidence).value == pytest.approx(expected, abs=1e-12)


def test_graded_benefit_counts_each_action_by_its_benefit(world, decide, rows):
    evidence = world(200)
    decisions = decide(evidence)
    benefit = {"Grant": 1.0, "Lower": 0.4, "Deny": 0.0}
    metric = metrics.create("demographic_parity", {"attributes": ["sex"], "protected": 1.0, "actions": benefit})
    table = rows(evidence, decisions, ("sex",))
    means = {g: share([benefit[a] for a, _, group in table if group == g]) for g in ("0", "1")}
    assert metric.evaluate(decisions, evidence).value == pytest.approx(means["1"] - means["0"], abs=1e-12)


@pytest.mark.parametrize("columns", [["sex"], ["age"], ["sex", "age"]])
def test_equals_fairlearn(world, decide, columns):
    evidence = world(400, seed=3)
    decisions = decide(evidence, seed=4)
    truth = (evidence.log.outcomes == 0).astype(int)
    chosen = np.isin(decisions.codes, [0, 1]).astype(int)
    features = np.stack([evidence.log.contexts[name].astype(str) for name in columns], axis=1)
    peers = {
        ("demographic_parity", "difference"): fm.demographic_parity_difference,
        ("demographic_parity", "ratio"): fm.demographic_parity_ratio,
        ("equal_opportunity", "difference"): fm.equal_opportunity_difference,
        ("equal_opportunity", "ratio"): fm.equal_opportunity_ratio,
        ("equalised_odds", "difference"): fm.equalized_odds_difference,
        ("equalised_odds", "ratio"): fm.equalized_odds_ratio,
    }
    for (name, aggregate), peer in peers.items():
        ours = metrics.create(name, {"attributes": columns, "aggregate": aggregate}).evaluate(decisions, evidence).value
        assert ours == pytest.approx(peer(truth, chosen, sensitive_features=features), abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_any_small_table_equals_the_loop_or_is_undefined(world, decide, rows, data):
    """Small tables have empty groups all the time; they must come out as None, never as a number."""
    n = data.draw(st.integers(1, 8))
    evidence = world(n, data.draw(st.integers(0, 10_000)))
    decisions = decide(evidence, data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))
    name = data.draw(st.sampled_from(sorted(CRITERIA)))
    result = metrics.create(name, {"attributes": ["age"]}).evaluate(decisions, evidence)
    expected = twin(rows(evidence, decisions, ("age",)), name)
    assert (result.value is None) == (expected is None)
    assert expected is None or result.value == pytest.approx(expected, abs=1e-12)
    assert (result.value is None) == bool(result.reason)
    assert sum(group.n for group in result.by_group) == result.n


def test_group_without_grants_makes_the_gap_undefined(world, decide):
    """Pitfall 14: a strategy that never grants to one group."""
    evidence = world(200)
    codes = np.where(evidence.log.contexts["sex"] == 1, 2, 0)
    result = metrics.create("predictive_parity", {"attributes": ["sex"], "protected": "1"}).evaluate(
        decide(evidence, codes), evidence
    )
    assert result.value is None
    assert result.reason == (
        "group '1' of sex has no contexts given a favourable action (n=0), "
        "so its positive_predictive_value is not defined"
    )
    assert {group.label: (group.value, group.n) for group in result.by_group}["1"] == (None, 0)


def test_absent_protected_group_is_undefined_and_named(world, decide):
    evidence = world(50)
    result = metrics.create("demographic_parity", {"attributes": ["age"], "protected": "ancient"}).evaluate(
        decide(evidence), evidence
    )
    assert result.value is None
    assert result.reason.startswith("group 'ancient' of age is empty (n=0); groups: 'middle' (n=")


def test_one_group_has_nothing_to_compare(world, decide):
    """A gap of 0 between one group and itself would look like the best possible strategy."""
    evidence = world(1)
    result = metrics.create("demographic_parity", {"attributes": ["sex"]}).evaluate(decide(evidence), evidence)
    assert result.value is None
    assert "nothing to compare" in result.reason


def test_ratio_of_zero_rates_is_undefined(world, decide):
    evidence = world(50)
    never = decide(evidence, np.full(50, 2))
    result = metrics.create("demographic_parity", {"attributes": ["sex"], "aggregate": "ratio"}).evaluate(
        never, evidence
    )
    assert (result.value, result.reason) == (
        None,
        "the rate is 0 in every group, so their ratio is not defined",
    )
    assert metrics.create("demographic_parity", {"attributes": ["sex"]}).evaluate(never, evidence).value == 0.0


def test_intersections_that_nobody_belongs_to_are_shown_but_not_compared(world, decide):
    evidence = world(4, seed=2)
    result = metrics.create("demographic_parity", {"attributes": ["sex", "age"]}).evaluate(decide(evidence), evidence)
    empty = [group for group in result.by_group if group.n == 0]
    assert empty
    assert all(group.value is None for group in empty)
    assert result.value is not None


def test_continuous_outcome_has_demographic_parity_only(numeric_world, decide, rows):
    evidence = numeric_world(100)
    decisions = decide(evidence)
    parity = metrics.create("demographic_parity", {"attributes": ["sex"]})
    assert parity.evaluate(decisions, evidence).value == pytest.approx(
        twin(rows(evidence, decisions, ("sex",)), "demographic_parity"), abs=1e-12
    )
    for name in ("equal_opportunity", "predictive_parity", "equalised_odds", "accuracy_parity"):
        with pytest.raises(InputError, match="the outcome of this problem is a number"):
            metrics.create(name, {"attributes": ["sex"]}).check(evidence)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"attributes": []}, "attributes is empty"),
        ({"attributes": ["sex"], "aggregate": "quotient"}, "unknown aggregate 'quotient'"),
        ({"attributes": ["sex", "age"], "protected": "1"}, "protected needs one attribute"),
        ({"attributes": ["sex"], "protected": "1", "aggregate": "ratio"}, "protected needs one attribute"),
    ],
)
def test_contradicting_parameters_are_refused(parameters, message):
    with pytest.raises(InputError, match=message):
        metrics.create("demographic_parity", parameters)


def test_unknown_names_and_missing_declarations_are_refused(world, decide):
    evidence = world(20)
    with pytest.raises(UnknownNameError, match="did you mean 'Grant'"):
        metrics.create("demographic_parity", {"attributes": ["sex"], "actions": ["Grnat"]}).check(evidence)
    with pytest.raises(MissingColumnError, match="column 'sx' is missing"):
        metrics.create("demographic_parity", {"attributes": ["sx"]}).evaluate(decide(evidence), evidence)
    with pytest.raises(InputError, match="no favourable outcome is declared"):
        metrics.create("equal_opportunity", {"attributes": ["sex"]}).check(world(20, favourable_outcomes=[]))
    with pytest.raises(InputError, match="not a benefit per action"):
        metrics.create("predictive_parity", {"attributes": ["sex"], "actions": {"Grant": 0.5}}).check(evidence)
    with pytest.raises(InputError, match=r"benefit of action 'Grant' is 1.5"):
        metrics.create("demographic_parity", {"attributes": ["sex"], "actions": {"Grant": 1.5}}).check(evidence)


def test_a_numeric_column_is_no_group(world, decide):
    evidence = world(300)
    evidence.log.contexts._columns["income"] = np.arange(300.0)
    with pytest.raises(InputError, match="makes 300 groups; at most 256"):
        metrics.create("demographic_parity", {"attributes": ["income"]}).evaluate(decide(evidence), evidence)


def test_aliases_lead_to_the_same_criterion():
    assert metrics.create("conditional_outcome_parity", {"attributes": ["g"]}) == metrics.create(
        "predictive_parity", {"attributes": "g"}
    )
    assert isinstance(metrics.create("equalized_odds", {"attributes": ["g"]}), GroupCriterion)


METHODS = [
    (name, aggregate, method, combined)
    for name, rates in (("demographic_parity", 1), ("equal_opportunity", 1), ("equalised_odds", 2))
    for aggregate in ("difference", "ratio")
    for method in ("between_groups", "to_overall")
    for combined in ("worst", "mean")[:rates]
]
THEIRS = {"demographic_parity": "demographic_parity", "equal_opportunity": "equal_opportunity",
          "equalised_odds": "equalized_odds"}  # fmt: skip


@pytest.mark.few(5)
@pytest.mark.parametrize(("name", "aggregate", "method", "combined"), METHODS)
def test_comparison_with_all_contexts_and_means_of_rates_equal_fairlearn(
    world, decide, name, aggregate, method, combined
):
    evidence = world(300)
    decisions = decide(evidence)
    agg = {"agg": {"worst": "worst_case", "mean": "mean"}[combined]} if name == "equalised_odds" else {}
    wanted = getattr(fm, f"{THEIRS[name]}_{aggregate}")(
        evidence.log.outcomes == 0, np.isin(decisions.codes, [0, 1]), method=method,
        sensitive_features=evidence.log.contexts["age"], **agg,
    )  # fmt: skip
    given = {"attributes": ["age"], "aggregate": aggregate, "method": method, "combined": combined}
    metric = metrics.create(name, given)
    assert metric.evaluate(decisions, evidence).value == pytest.approx(wanted, abs=1e-12)
    table = contingency(decisions, Cells.of(evidence, ("age",)))
    low, high = metric.limits(table, 0.95, 1.0)
    assert low <= wanted <= high


def test_only_known_ways_of_comparing():
    with pytest.raises(InputError, match="did you mean 'to_overall'"):
        metrics.create("demographic_parity", {"attributes": ["age"], "method": "to_overal"})
    with pytest.raises(InputError, match="combined 'average'"):
        metrics.create("equalised_odds", {"attributes": ["age"], "combined": "average"})
    with pytest.raises(InputError, match="everybody else"):
        metrics.create("demographic_parity", {"attributes": ["age"], "protected": "old", "method": "to_overall"})


@pytest.mark.parametrize(("size", "told"), [(2, True), (1, True), (0, False)])
def test_a_group_of_one_without_anybody_to_count_is_named(size, told, monkeypatch):
    metric = metrics.create("equal_opportunity", {"attributes": ["sex"]})
    monkeypatch.setattr(type(metric), "_masks", lambda *given: None)
    rate = SimpleNamespace(who="qualified", name="rate", sums=lambda *given: (None, [5, 0, 3]))
    monkeypatch.setattr(type(metric), "criterion", (rate,))
    labels = SimpleNamespace(labels=("f", "m", "x"))
    reason = metric.reason(SimpleNamespace(cells=SimpleNamespace(groups=labels, sizes=[9, size, 4])))
    assert ("group 'm' of sex has no qualified (n=0)" in reason) == told
