"""Both education cases from their simulators to decisions, against the truth that only a simulator knows."""

from __future__ import annotations

import numpy as np
import pytest

from accordant.cases.education.enrolments import MODULES, RESULTS
from accordant.cases.education.enrolments import simulate_enrolments, true_chances
from accordant.cases.education.pupils import NOISE, TRUTH, simulate_known_pupils
from accordant.cases.loaders import simulate
from accordant.cases.files import read_case
from accordant.contexts import Contexts
from accordant.errors import InputError
from accordant.learning.causal import DRLearner
from accordant.runs.execution import RunOptions, build_policy, split

FAST = RunOptions(folds=3, resamples=100)


def carried_out(case, rows):
    """A fitted policy, its untouched rows, and the leaderboard on them."""
    learning = case.learning.replace(folds=3)
    case = case.replace(learning=learning, evaluation=case.evaluation.replace(resamples=100))
    train, test = split(simulate(case, 1, rows, {}), case.evaluation.test_size, 1)
    policy = build_policy(case, FAST).fit_log(train.log, case.signals())
    evidence = policy.evidence_on(test.log, true_levels=test.true_levels)
    return policy, evidence, policy.leaderboard_on(evidence)


@pytest.fixture(scope="module")
def modules():
    return carried_out(read_case("education")[0], 600)


@pytest.fixture(scope="module")
def tutoring():
    """The case as it is, with a faster learner and the truth of its simulator."""
    case, _ = read_case("education-tutoring")
    model = case.learning.outcome_model.replace(name="t_learner")
    return carried_out(
        case.replace(
            learning=case.learning.replace(outcome_model=model),
            data=case.data.replace(true_levels=TRUTH),
            simulator=case.simulator.replace(name="education_tutoring_known"),
        ),
        300,
    )


def values(leaderboard, strategy):
    (row,) = (each for each in leaderboard.to_json() if each["strategy"] == strategy)
    return {name: each["value"] for name, each in row["metrics"].items()}


@pytest.mark.long
def test_modules_from_simulator_to_decisions(modules):
    policy, evidence, leaderboard = modules
    assert policy.selected_ in policy.strategies_ and policy.strategies_[policy.selected_].may_be_selected
    listed = {each["strategy"] for each in leaderboard.to_json()}
    assert {"logged", "random", *(f"constant:{module}" for module in MODULES), "constrained[places]"} <= listed
    assert any("Outcomes depend on the action" in sentence for sentence in policy.warnings_)
    found = values(leaderboard, "constrained[places]")
    for module, most in zip(MODULES, (0.035, 0.365, 0.205, 0.29, 0.135, 0.36, 0.12), strict=True):
        assert found[f"Percent_{module}"] <= 100 * most + 1e-9
    # the last of four presentations, and nobody who is learned from
    assert evidence.expected.values.shape == (4, 7, evidence.n_contexts) and 120 <= evidence.n_contexts <= 180
    assert not set(evidence.log.groups) & set(policy.evidence_.log.groups)


@pytest.mark.long
@pytest.mark.parametrize("name", ["modules", "tutoring"])
def test_the_logged_line_holds_what_was_observed(name, request):
    """On untouched rows and on held-out folds, where f says nothing about it."""
    policy, evidence, leaderboard = request.getfixturevalue(name)
    for known, board in ((evidence, leaderboard), (policy.evidence_, policy.leaderboard_)):
        found, log = values(board, "logged"), known.log
        means = {}
        for who, signal in policy.signals_.items():
            outcomes = log.outcomes if policy.problem.continuous else np.array(RESULTS)[log.outcomes]
            rewards = [
                signal(log.contexts.take(np.array([t])), policy.problem.actions[log.actions[t]], outcomes[t])[0]
                for t in range(len(log))
            ]
            means[who] = np.mean(rewards)
            assert found[f"Reward_{who}"] == pytest.approx(means[who], rel=1e-12)
        assert found["Mean_Reward"] == pytest.approx(np.mean(list(means.values())), rel=1e-12)
        assert found["Worst_Off_Reward"] == pytest.approx(min(means.values()), rel=1e-12)
        if policy.problem.continuous:
            assert found["Mean_Grade"] == pytest.approx(log.outcomes.mean(), rel=1e-12)


@pytest.mark.long
def test_expected_rewards_are_tables_times_probabilities(modules):
    """The rewards are stated, so E is Σ_o q f exactly; and it takes a batch of new students as it is."""
    policy, evidence, _ = modules
    contexts = evidence.log.contexts.take(np.arange(20))
    expected = policy.expected_rewards({name: contexts[name] for name in (*policy.features_, "Priority")})
    chances = policy.outcome_model_.predict(contexts).weights
    for who, (name, signal) in enumerate(policy.signals_.items()):
        assert expected.stakeholders[who] == name
        for action, module in enumerate(MODULES):
            wanted = sum(signal(contexts, module, result) * chances[action, o] for o, result in enumerate(RESULTS))
            assert expected.values[who, action] == pytest.approx(wanted, abs=1e-12)


@pytest.mark.long
def test_new_students_with_values_never_seen(modules):
    policy, evidence, _ = modules
    contexts = evidence.log.contexts.take(np.arange(2))
    columns = {name: contexts[name] for name in (*policy.features_, "Priority")}
    unseen = Contexts({**columns, "disability": np.array(["?", "?"])})  # a row of zeros, as documented
    assert np.isfinite(policy.expected_rewards(unseen).values).all()
    unknown = Contexts({**columns, "Priority": np.array(["other", "richest"])})
    with pytest.raises(InputError, match="richest"):
        policy.expected_rewards(unknown)
    with pytest.raises(InputError, match="Area_rank"):
        policy.expected_rewards(Contexts({name: columns[name] for name in columns if name != "Area_rank"}))


@pytest.mark.long
def test_simulated_enrolments_have_the_chances_that_are_said():
    table = simulate_enrolments(30_000, np.random.default_rng(0))
    chances = true_chances(table)
    assert chances.shape == (7, 4, 30_000) and np.allclose(chances.sum(axis=1), 1) and chances.min() > 0
    for code, module in enumerate(MODULES):
        rows = np.flatnonzero(table["code_module"] == module)
        seen = np.array([(table["final_result"].to_numpy()[rows] == result).mean() for result in RESULTS])
        error = 4 * np.sqrt(0.25 / len(rows))
        assert np.abs(seen - chances[code][:, rows].mean(axis=1)).max() < error
    women = table["gender"] == "F"
    assert (table["code_module"][women] == "BBB").mean() > 2 * (table["code_module"][~women] == "BBB").mean()


@pytest.mark.long
def test_the_outcome_model_comes_near_the_truth(modules):
    """Nearer than the shares of results in each module, which is what no model of students would say."""
    case, _ = read_case("education")
    data = simulate(case, 5, 4000, {})
    policy = build_policy(case.replace(strategies=()), FAST)
    policy.set_params(strategies=None, resamples=100, folds=3).fit_log(data.log, case.signals())
    fresh = simulate_enrolments(2000, np.random.default_rng(9))
    truth = true_chances(fresh)
    found = policy.outcome_model_.predict(Contexts({name: fresh[name].to_numpy() for name in fresh.columns})).weights
    shares = np.stack([truth[code].mean(axis=1) for code in range(7)])
    common = [MODULES.index(name) for name in ("BBB", "CCC", "DDD", "EEE", "FFF", "GGG")]
    ours = np.abs(found - truth)[common].mean()
    assert ours < 0.03 < np.abs(shares[:, :, None] - truth)[common].mean()


@pytest.mark.long
def test_tutoring_from_simulator_to_decisions(tutoring):
    policy, evidence, leaderboard = tutoring
    assert policy.learned_.overlap is not None and sum(policy.learned_.overlap.counts) == 240
    for title in ("a fifth of the places", "a fifth, maximin"):
        assert values(leaderboard, f"constrained[{title}]")["Percent_tutored"] <= 20
    everybody = values(leaderboard, "constant:Tutoring")
    assert everybody["Percent_tutored_who_failed"] == everybody["Percent_tutored_low_home"] == 100
    gain = everybody["True_Mean_Grade"] - values(leaderboard, "constant:No_tutoring")["True_Mean_Grade"]
    assert gain == pytest.approx((evidence.true_levels[0] - evidence.true_levels[1]).mean()) and gain >= 1
    assert not set(TRUTH.values()) & set(evidence.log.contexts)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
def test_a_naive_comparison_says_that_helpful_tutoring_harms(seed):
    """Simpson's trap by construction; adjusting for what drove the choice finds the sign again."""
    table = simulate_known_pupils(4000, np.random.default_rng(seed))
    tutored = table["Action"] == "Tutoring"
    truth = (table[TRUTH["Tutoring"]] - table[TRUTH["No_tutoring"]]).mean()
    assert truth >= 1
    assert table["G3"][tutored].mean() - table["G3"][~tutored].mean() < 0
    columns = table[["age", "Medu", "Fedu", "studytime", "failures"]].to_numpy(dtype=float)
    columns = np.column_stack([columns, np.fmax(table["Medu"], table["Fedu"])])
    learner = DRLearner(folds=3).fit(columns, (~tutored).to_numpy(dtype=int), table["G3"].to_numpy(), n_actions=2)
    levels = learner.predict_levels(columns)
    standard_error = NOISE / np.sqrt(tutored.sum())
    assert (levels[0] - levels[1]).mean() == pytest.approx(truth, abs=4 * standard_error)


@pytest.mark.long
@pytest.mark.parametrize("name", ["education", "education-tutoring"])
def test_same_seed_same_rows(name):
    case, _ = read_case(name)
    assert simulate(case, 3, 200, {}).sha256 == simulate(case, 3, 200, {}).sha256 != simulate(case, 4, 200, {}).sha256


@pytest.mark.long
def test_scope_cards_say_what_is_confounded():
    for name in ("education", "education-tutoring"):
        case, _ = read_case(name)
        assert "CONFOUNDED" in case.scope.limits and any("onfounded" in note for note in case.notes)
        attributes = {each.name for each in case.scope.sensitive_attributes}
        assert attributes == {each.name for each in case.problem.sensitive_attributes}
        audited = {each.name for each in case.scope.sensitive_attributes if each.permitted_use == "audit_only"}
        assert not audited & set(case.data.features)
