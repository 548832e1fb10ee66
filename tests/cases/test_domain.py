"""Lending and health: rewards and metrics against hand-made numbers and the published protocol."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accordant import metrics, strategies
from accordant.cases.health.rewards import health_rewards
from accordant.cases.lending.rewards import ACTIONS, OUTCOMES, LendingReward, lending_rewards, table_of
from accordant.cases.loaders import load_file
from accordant.cases.files import read_case
from accordant.contexts import Contexts, Log
from accordant.decisions import Decisions
from accordant.errors import DataError, InputError, NotFittedError, UnknownNameError
from accordant.evidence import Evidence
from accordant.runs.execution import split
from accordant.utilities import ExpectedRewards


def row(amount, rate, kind=0.0):
    return Contexts({"Loan_Amount": [amount], "Interest_Rate": [rate], "Applicant_Type": [kind]})


def evidence_without_learning(problem, log, **given):
    """Evidence whose E is a dummy: for metrics that read only decisions, log and levels."""
    shape = (len(problem.stakeholders), len(problem.actions), len(log))
    dummy = ExpectedRewards(np.full(shape, 0.5), stakeholders=problem.stakeholder_names, actions=problem.actions)
    return Evidence(problem, log, dummy, np.full(shape, 0.5), **given)


def decide(problem, codes):
    codes = np.asarray(codes)
    return Decisions("hand", problem.actions, codes, np.zeros(len(codes), dtype=bool))


# --- rewards in lending ----------------------------------------------------------------------------------------

CELLS = (
    ("Bank", "Grant", "Fully_Repaid"),
    ("Applicant", "Grant", "Fully_Repaid"),
    ("Regulatory", "Grant", "Fully_Repaid"),
    ("Applicant", "Grant_lower", "Partially_Repaid"),
    ("Regulatory", "Not_Grant", "Fully_Repaid"),
)


@pytest.mark.parametrize(
    ("amount", "rate", "before_clipping"),
    [
        (6400.0, 0.1485, (0.735040, 0.666540, 0.544960, 0.533232, 0.272480)),
        (19_800.0, 0.1288, (1.6932, -0.9356, 1.3068, -0.74848, 0.653400)),
    ],
)
def test_worked_numbers_as_published(amount, rate, before_clipping):
    signals = lending_rewards(variant="published", noise=0.0)
    for (name, action, outcome), wanted in zip(CELLS, before_clipping, strict=True):
        signal = signals[name]
        assert signal.desirability(row(amount, rate), action, outcome)[0] == pytest.approx(wanted, abs=1e-6)
        assert signal(row(amount, rate), action, outcome)[0] == pytest.approx(min(1, max(0, wanted)), abs=1e-6)


@pytest.mark.parametrize(("amount", "rate"), [(6400.0, 0.1485), (19_800.0, 0.1288)])
def test_worked_numbers_corrected(amount, rate):
    """b (1 − ι/2), whatever the size; Bank and Regulatory as published."""
    corrected, published = lending_rewards(noise=0.0), lending_rewards(variant="published", noise=0.0)
    assert corrected["Applicant"](row(amount, rate), "Grant", "Fully_Repaid")[0] == pytest.approx(
        1 - rate / 2, abs=1e-12
    )
    for name in ("Bank", "Regulatory"):
        for action in ACTIONS:
            for outcome in OUTCOMES:
                assert corrected[name](row(amount, rate), action, outcome) == published[name](
                    row(amount, rate), action, outcome
                )


@pytest.mark.long
@settings(max_examples=60, deadline=None)
@given(
    st.floats(500, 60_000),
    st.floats(0, 0.5),
    st.sampled_from([0.0, 1.0]),
    st.sampled_from(["base", "mild", "strictest"]),
)
def test_better_cells_are_never_worth_less(amount, rate, kind, structure):
    """Monotone in the table entry at every loan size, and strict for the Applicant; the published variant is not."""
    for name in ("Bank", "Applicant", "Regulatory"):
        table = table_of(name, structure)
        signal = LendingReward(0.0, name, structure, "corrected")
        cells = [(a, o) for a in ACTIONS for o in OUTCOMES]
        base = np.array([table(row(amount, rate, kind), a, o)[0] for a, o in cells])
        worth = np.array([signal(row(amount, rate, kind), a, o)[0] for a, o in cells])
        order = np.argsort(base, kind="stable")
        assert (np.diff(worth[order]) >= -1e-12).all()
        if name == "Applicant":
            assert ((np.diff(worth[order]) > 0) == (np.diff(base[order]) > 0)).all()


def test_table_entries_spot_checked():
    for name, structure, kind, action, outcome, value in (
        ("Bank", "base", 0, "Grant_lower", "Partially_Repaid", 1.0),
        ("Bank", "base", 1, "Not_Grant", "Partially_Repaid", 0.2),
        ("Applicant", "base", 1, "Grant_lower", "Not_Repaid", 0.3),
        ("Applicant", "mild", 1, "Not_Grant", "Not_Repaid", 0.2),
        ("Bank", "mild", 1, "Grant_lower", "Fully_Repaid", 0.5),
        ("Bank", "strictest", 1, "Not_Grant", "Partially_Repaid", 1.0),
        ("Applicant", "strictest", 0, "Grant_lower", "Not_Repaid", 0.6),
        ("Regulatory", "strictest", 1, "Grant", "Not_Repaid", 0.3),
        ("Regulatory", "mild", 0, "Not_Grant", "Fully_Repaid", 0.5),
    ):
        assert table_of(name, structure)(row(1, 0.1, float(kind)), action, outcome)[0] == value


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"structure": "bsae"}, "did you mean 'base'"),
        ({"variant": "correct"}, "did you mean 'corrected'"),
        ({"noise": -0.1}, "reward noise"),
        ({"noise": 2}, "reward noise"),
    ],
)
def test_parameters_of_lending_rewards(parameters, message):
    with pytest.raises(InputError, match=message):
        lending_rewards(**parameters)


def test_an_unknown_applicant_type():
    with pytest.raises(UnknownNameError, match="Applicant_Type"):
        lending_rewards()["Bank"](row(1000, 0.1, 2.0), "Grant", "Fully_Repaid")


# --- rewards in health -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def health():
    return read_case("health")[0].problem


def fitted(problem, noise=0.0, structure="base"):
    """Signals with the ranges of the first realisation: m_A 3.3, M_A 9.3, m_C 0.0, M_C 11.3."""
    outcomes = np.array([3.3, 9.3, 0.0, 11.3])
    log = Log(Contexts({"x23": [0.0] * 4}), np.array([0, 0, 1, 1]), outcomes)
    return {name: signal.fit(log, problem) for name, signal in health_rewards(noise, structure).items()}


@pytest.mark.parametrize(
    ("name", "action", "score", "x23", "wanted"),
    [
        ("Healthcare_Provider", "A", 6.9, 0, 0.593548),
        ("Healthcare_Provider", "C", 3.3, 0, 0.463871),
        ("Policy_Maker", "A", 6.9, 0, 0.450000),
        ("Policy_Maker", "A", 6.9, 1, 0.750000),
        ("Policy_Maker", "C", 3.3, 0, 0.219027),
        ("Parent", "A", 6.9, 0, 0.610619),
        ("Parent", "C", 3.3, 0, 0.292035),
    ],
)
def test_worked_numbers_in_health(health, name, action, score, x23, wanted):
    signal = fitted(health)[name]
    contexts = Contexts({"x23": [float(x23)]})
    assert signal(contexts, action, score)[0] == pytest.approx(wanted, abs=1e-6)
    assert signal(contexts, action, np.array([score]))[0] == pytest.approx(wanted, abs=1e-6)


@pytest.mark.parametrize(
    ("structure", "name", "action", "score", "x23", "wanted"),
    [
        ("mild", "Healthcare_Provider", "A", 6.9, 0, 0.704839),
        ("mild", "Healthcare_Provider", "C", 3.3, 0, 0.382097),
        ("mild", "Policy_Maker", "A", 6.9, 1, 0.63),
        ("mild", "Parent", "A", 6.9, 0, 0.610619),
        ("strictest", "Healthcare_Provider", "A", 6.9, 0, 0.370968),
        ("strictest", "Healthcare_Provider", "C", 3.3, 0, 0.627419),
        ("strictest", "Policy_Maker", "A", 6.9, 0, 0.3),
        ("strictest", "Policy_Maker", "A", 6.9, 1, 0.9),
    ],
)
def test_structures_of_health_rewards(health, structure, name, action, score, x23, wanted):
    signal = fitted(health, structure=structure)[name]
    assert signal(Contexts({"x23": [float(x23)]}), action, score)[0] == pytest.approx(wanted, abs=1e-6)


def test_a_misspelt_structure_of_health_rewards():
    with pytest.raises(UnknownNameError, match="did you mean 'strictest'"):
        health_rewards(structure="stricktest")


def test_unfitted_health_rewards_are_an_error(health):
    for signal in health_rewards().values():
        with pytest.raises(NotFittedError, match="fit"):
            signal(Contexts({"x23": [0.0]}), "A", 5.0)


def test_a_range_needs_rows_of_every_action(health):
    log = Log(Contexts({"x23": [0.0]}), np.array([0]), np.array([3.0]))
    with pytest.raises(DataError, match="no training row has the action 'C'"):
        health_rewards()["Parent"].fit(log, health)


def test_the_parent_answers_without_noise(health):
    contexts = Contexts({"x23": np.zeros(50)})
    signals = fitted(health, noise=0.05)
    assert np.array_equal(
        signals["Parent"].elicit(contexts, "A", 5.0, np.random.default_rng(0)), signals["Parent"](contexts, "A", 5.0)
    )
    noisy = signals["Policy_Maker"].elicit(contexts, "A", 5.0, np.random.default_rng(0))
    assert len(np.unique(noisy)) == 50


# --- money -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def nine():
    """Every action meets every outcome once; amounts are powers of two, so that sums tell cells apart."""
    problem = read_case("lending")[0].problem
    decided, followed = np.divmod(np.arange(9), 3)
    amounts = 2.0 ** np.arange(9) * 100
    columns = {
        "Loan_Amount": amounts,
        "Interest_Rate": np.full(9, 0.1),
        "Recoveries": np.where(followed == 1, 0.25 * amounts, np.where(followed == 2, 0.1 * amounts, 0.0)),
        "Applicant_Type": np.arange(9) % 2.0,
    }
    log = Log(Contexts(columns), np.zeros(9, dtype=int), followed)
    return evidence_without_learning(problem, log), decide(problem, decided), amounts


@pytest.mark.parametrize(
    ("metric", "parameters", "weights"),
    [
        # one number per cell, in the order Grant × (full, partial, not), Grant_lower × …, Not_Grant × …
        ("total_profit", {}, [1, 0, 0, 0, 1, 0, 0, 0, 0]),
        ("unexploited_profit", {}, [0, 0, 0, 0, 0, 0, 1, 0, 0]),
        ("total_loss", {}, [0, 0, 1, 0, 0.75, 0, 0, 0, 0]),
        ("full_profit", {}, [1, 0, 0, 0.5, 0, 0, 0, 0, 0]),
        ("full_loss", {}, [0, 0.75, 1, 0, 0.375, 0.5, 0, 0, 0]),
        ("full_profit", {"lower_share": 0.25}, [1, 0, 0, 0.25, 0, 0, 0, 0, 0]),
        ("full_loss", {"lower_share": 0.25}, [0, 0.75, 1, 0, 0.1875, 0.25, 0, 0, 0]),
    ],
)
def test_nine_cells(nine, metric, parameters, weights):
    evidence, decisions, amounts = nine
    found = metrics.create(metric, parameters).evaluate(decisions, evidence).value
    assert found == pytest.approx(np.dot(weights, amounts) / amounts.sum(), abs=1e-12)


def test_payoff_of_nine_cells(nine):
    evidence, decisions, _ = nine
    table = table_of("Applicant", "base")
    wanted = sum(table(row(1, 0.1, float(t % 2)), ACTIONS[t // 3], OUTCOMES[t % 3])[0] for t in range(9))
    found = metrics.create("table_payoff", {"stakeholder": "Applicant"}).evaluate(decisions, evidence).value
    assert found == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize("share", [0.0, 1.0, -1.0])
def test_lower_share_is_a_share(share):
    with pytest.raises(InputError, match="lower_share"):
        metrics.create("full_profit", {"lower_share": share})


def test_a_missing_column_is_named(nine):
    evidence, decisions, _ = nine
    columns = {name: values for name, values in evidence.log.contexts.items() if name != "Recoveries"}
    log = Log(Contexts(columns), evidence.log.actions, evidence.log.outcomes)
    with pytest.raises(InputError, match="'Recoveries' is missing"):
        metrics.create("total_loss").evaluate(decisions, evidence_without_learning(evidence.problem, log))


def test_the_oracle_on_the_published_protocol(real_data):
    """All 2,656 rows, scikit-learn's split with seed 42: exact agreement with the published tables."""
    case, _ = read_case("lending-published")
    data = load_file(real_data("lending/lending_club_2015.csv"), case.data, case.problem, {})
    _, test = split(data, 0.2, 42)
    evidence = evidence_without_learning(case.problem, test.log)
    oracle = strategies.create("oracle").for_problem(case.problem)(evidence.expected, log=test.log)
    wanted = {
        "Total_Profit": 0.8063006935264503,
        "Total_Loss": 0.009261888678398722,
        "Demographic_Parity": 0.005328441649196325,
        "Percent_Grant": 83.83458646616542,
        "Accuracy": 1.0,
        "Conditional_Outcome_Parity": 0.0,
    }
    for label, value in wanted.items():
        declared = case.metrics[label]
        found = metrics.create(declared.metric, declared.parameters).evaluate(oracle, evidence).value
        assert found == pytest.approx(value, abs=1e-12), label


# --- scores ----------------------------------------------------------------------------------------------------


def children(problem, treated_score, control_score):
    levels = np.array([treated_score, control_score], dtype=float)
    n = levels.shape[1]
    log = Log(Contexts({"x23": np.zeros(n)}), np.arange(n) % 2, levels[np.arange(n) % 2, np.arange(n)])
    return evidence_without_learning(problem, log, outcome_levels=levels, true_levels=levels)


def test_treating_everybody(real_data):
    case, _ = read_case("health")
    data = load_file(real_data("ihdp/ihdp_npci_1.csv"), case.data, case.problem, {})
    evidence = evidence_without_learning(case.problem, data.log, true_levels=data.true_levels)
    everybody = decide(case.problem, np.zeros(747, dtype=int))
    found = metrics.create("policy_value").evaluate(everybody, evidence).value
    mu1 = np.genfromtxt(real_data("ihdp/ihdp_npci_1.csv"), delimiter=",", names=True, usecols=("mu0", "mu1"))["mu1"]
    assert found == pytest.approx(mu1.mean(), abs=1e-12)
    published = 6.442666666666666  # of the 150 test rows
    _, test = split(data, 0.2, 42)
    evidence = evidence_without_learning(case.problem, test.log, true_levels=test.true_levels)
    found = metrics.create("policy_value").evaluate(decide(case.problem, np.zeros(150, dtype=int)), evidence).value
    assert found == pytest.approx(published, abs=1e-12)


def test_cost_effectiveness_published_and_matched(health):
    """A constant effect of 2: treating the high baselines inflates the published figure, never the matched one."""
    baseline = np.array([1.0, 2, 3, 4, 5, 6, 7, 8])
    evidence = children(health, baseline + 2.0, baseline)
    published, matched = metrics.create("cost_effectiveness"), metrics.create("matched_cost_effectiveness")
    for treated in ([6, 7], [0, 1], [0, 3, 7], range(8)):
        codes = np.ones(8, dtype=int)
        codes[list(treated)] = 0
        assert matched.evaluate(decide(health, codes), evidence).value == pytest.approx(2 / 90, abs=1e-12)
        wanted = ((baseline + 2)[list(treated)].mean() - baseline.mean()) / 90
        assert published.evaluate(decide(health, codes), evidence).value == pytest.approx(wanted, abs=1e-12)
    high = np.ones(8, dtype=int)
    high[[6, 7]] = 0
    assert published.evaluate(decide(health, high), evidence).value > 2.4 * 2 / 90


def test_nobody_is_treated(health):
    evidence = children(health, [3.0, 4, 5, 6], [1.0, 2, 3, 4])
    nobody = decide(health, np.ones(4, dtype=int))
    assert metrics.create("cost_effectiveness").evaluate(nobody, evidence).value == 0
    result = metrics.create("matched_cost_effectiveness").evaluate(nobody, evidence)
    assert result.value is None and "nobody is treated" in result.reason
    assert metrics.create("score_difference").evaluate(nobody, evidence).value == 0
    assert metrics.create("mean_score_of", {"action": "A"}).evaluate(nobody, evidence).value is None
    assert metrics.create("mean_score_of", {"action": "C"}).evaluate(nobody, evidence).value == 2.5


@pytest.mark.parametrize(
    ("name", "parameters", "span"),
    [
        ("cost_effectiveness", {}, (-0.2, 0.2)), ("matched_cost_effectiveness", {}, (-0.2, 0.2)),
        ("mean_score_of", {"action": "A"}, (2.0, 20.0)), ("score_difference", {}, (-18.0, 18.0)),
        ("share_within", {"action": "A", "attribute": "sex", "group": "f"}, (0.0, 1.0)),
        ("share_within", {"action": "A", "attribute": "sex", "group": "f", "percent": True}, (0.0, 100.0)),
    ],
)  # fmt: skip
def test_ranges_follow_that_of_outcomes(name, parameters, span):
    evidence = SimpleNamespace(outcome_range=(2.0, 20.0))
    assert metrics.create(name, parameters).range(evidence) == pytest.approx(span)


def test_score_difference_by_hand(health):
    evidence = children(health, [3.0, 4, 5, 6], [1.0, 2, 3, 4])
    found = metrics.create("score_difference").evaluate(decide(health, [0, 1, 1, 0]), evidence).value
    assert found == pytest.approx((3 + 6) / 2 - (2 + 3) / 2)
