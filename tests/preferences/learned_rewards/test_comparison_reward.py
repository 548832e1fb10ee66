"""`ComparisonReward`: what is learned is what the answers say, on a declared scale, for declared users."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accordant.contexts import Contexts, Log
from accordant.errors import DataError, InputError, NotFittedError, UnknownNameError
from accordant.policy import ParticipatoryPolicy
from accordant.preferences.learners.learner import PreferenceLearner, RewardModel, learners, register
from accordant.preferences.learned_rewards import ComparisonReward, FittedComparisonReward
from accordant.rewards import TableReward, rewards

ACTIONS, OUTCOMES = ("Offer", "Trial", "Decline"), ("Done", "Left")
CONTEXT_COLUMNS = ("user_id", "chosen_action", "chosen_outcome", "rejected_action", "rejected_outcome", "income")


def table(signal, contexts):
    """Return rewards of every cell, shape (cell, context)."""
    return np.stack([signal(contexts, action, outcome) for action in ACTIONS for outcome in OUTCOMES])


def bradley_terry_twin(rows, ridge):
    """Minimise the mean log-loss plus the ridge over one number per cell, written out in plain loops."""
    from scipy.optimize import minimize

    place = {(action, outcome): k for k, (action, outcome) in enumerate((a, o) for a in ACTIONS for o in OUTCOMES)}
    pairs = [(place[row[1:3]], place[row[3:5]]) for row in rows]

    def loss(theta):
        total = 0.0
        for good, bad in pairs:
            total += np.log1p(np.exp(-(theta[good] - theta[bad])))
        return total / len(pairs) + ridge / 2 * sum(each**2 for each in theta)

    return minimize(loss, np.zeros(6), method="BFGS", options={"gtol": 1e-9}).x


def test_unfitted_use_is_an_error(log):
    with pytest.raises(NotFittedError, match="call fit"):
        ComparisonReward("answers.csv")(log.contexts, "Offer", "Done")


def test_rewards_are_the_scaled_ones_of_a_twin(tmp_path, problem, log, write_rows, asked, truth):
    rows = asked("u", truth, steepness=6, generator=np.random.default_rng(2), times=3)
    path = write_rows(tmp_path / "a.csv", rows)
    signal = ComparisonReward(str(path), parameters={"ridge": 0.01}).fit(log, problem)
    twin = bradley_terry_twin(rows, 0.01)
    expected = (twin - twin.min()) / (twin.max() - twin.min())
    np.testing.assert_allclose(table(signal, log.contexts)[:, 0], expected, atol=1e-5)
    margins = np.array([twin[ACTIONS.index(a) * 2 + OUTCOMES.index(o)] for _, a, o, _, _ in rows])
    margins -= [twin[ACTIONS.index(a) * 2 + OUTCOMES.index(o)] for _, _, _, a, o in rows]
    assert signal.provenance()["log_loss"] == pytest.approx(np.log1p(np.exp(-margins)).mean(), abs=1e-6)
    tied = np.abs(margins) < 1e-6  # two cells are equally good: a solver says so within its tolerance
    assert tied.any()
    assert signal.provenance()["agreement"] == pytest.approx(np.mean(np.where(tied, 0.5, margins > 0)), abs=1e-9)


def test_many_answers_by_a_stated_table_give_its_order_and_its_values(tmp_path, problem, log, write_rows, asked, truth):
    """Answers drawn by Bradley–Terry from a table are its rewards again: in its order, and on its scale."""
    stated = TableReward({action: {outcome: truth[action, outcome] for outcome in OUTCOMES} for action in ACTIONS})
    rows = asked("Applicant", truth, steepness=5, generator=np.random.default_rng(11), times=400)
    signal = ComparisonReward(str(write_rows(tmp_path / "a.csv", rows)), parameters={"ridge": 1e-6})
    learned = table(signal.of_stakeholder("Applicant", problem).fit(log, problem), log.contexts)[:, 0]
    true = table(stated, log.contexts)[:, 0]
    assert np.argsort(learned).tolist() == np.argsort(true).tolist()
    np.testing.assert_allclose(learned, true, atol=0.05)


@given(st.permutations(range(6)))
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_consistent_answers_are_put_in_order(tmp_path, problem, log, write_rows, asked, order):
    """Whoever answers every question by one order has that order learned, with 0 and 1 at its ends."""
    wanted = {
        (action, outcome): order[k] for k, (action, outcome) in enumerate((a, o) for a in ACTIONS for o in OUTCOMES)
    }
    path = write_rows(tmp_path / "a.csv", asked("u", wanted))
    learned = table(ComparisonReward(str(path)).fit(log, problem), log.contexts)[:, 0]
    assert np.argsort(learned).tolist() == np.argsort(order).tolist()
    assert learned.min() == 0.0 and learned.max() == 1.0


def test_order_and_copies_of_records_change_nothing(tmp_path, problem, log, write_rows, noisy_file):
    header, *rows = noisy_file.read_text().splitlines()
    np.random.default_rng(0).shuffle(rows)
    other = tmp_path / "other.csv"
    other.write_text("\n".join([header, *rows, *rows]))
    one, two = (table(ComparisonReward(str(each)).fit(log, problem), log.contexts) for each in (noisy_file, other))
    np.testing.assert_allclose(one, two, atol=1e-6)


def test_weights_count_like_copies(tmp_path, problem, log, write_rows, noisy_file):
    header, *rows = noisy_file.read_text().splitlines()
    copied, weighted = tmp_path / "copied.csv", tmp_path / "weighted.csv"
    copied.write_text("\n".join([header, *rows, *rows[::2]]))
    weighted.write_text("\n".join([header + ",weight", *(f"{row},{2 - k % 2}" for k, row in enumerate(rows))]))
    one, two = (ComparisonReward(str(each)).fit(log, problem) for each in (copied, weighted))
    np.testing.assert_allclose(table(one, log.contexts), table(two, log.contexts), atol=1e-6)
    assert one.provenance()["log_loss"] == pytest.approx(two.provenance()["log_loss"], abs=1e-6)


def test_the_same_file_gives_the_same_bytes(problem, log, noisy_file):
    signal = ComparisonReward(str(noisy_file), learner="per_user", users="mean", context=["income"][:0])
    assert json.dumps(signal.fit(log, problem).state()) == json.dumps(signal.fit(log, problem).state())


def with_context(path, write, generator, n=500):
    """Write answers of somebody who wants an offer the more the higher the income, and the outcome does not matter."""
    rows = []
    for _ in range(n):
        one, other = generator.choice(6, 2, replace=False)
        income = generator.normal(10, 3)
        slope = np.array([1.0, 0.0, -1.0])
        gap = 3 * (slope[one // 2] - slope[other // 2]) * (income - 10) / 3
        if generator.random() > 1 / (1 + np.exp(-gap)):
            one, other = other, one
        cells = (ACTIONS[one // 2], OUTCOMES[one % 2], ACTIONS[other // 2], OUTCOMES[other % 2])
        rows.append(("u", *cells, round(income, 2)))
    return write(path, rows, CONTEXT_COLUMNS)


def test_rewards_depend_on_declared_contexts(tmp_path, problem, log, write_rows):
    path = with_context(tmp_path / "a.csv", write_rows, np.random.default_rng(1))
    signal = ComparisonReward(str(path), context=["income"]).fit(log, problem)
    assert signal.warnings == ()
    poor, rich = table(signal, Contexts({"income": [7.0, 13.0]})).T
    assert rich[0] > rich[2] > rich[4] and rich[1] > rich[3] > rich[5]
    assert poor[0] < poor[2] < poor[4] and poor[1] < poor[3] < poor[5]
    mean = table(signal, Contexts({"income": [np.nan, signal.features.context["income"][0]]}))
    np.testing.assert_array_equal(mean[:, 0], mean[:, 1])
    slopes = signal.coefficients[0, :, 1]
    assert abs(slopes.sum()) < 1e-6 * np.abs(slopes).max()  # comparisons never say where it is better to be
    blind = ComparisonReward(str(path)).fit(log, problem)
    assert "columns that nothing reads: income" in blind.warnings[-1]
    assert blind.provenance()["log_loss"] > signal.provenance()["log_loss"] + 0.1


def test_one_row_alone_is_judged_as_in_the_batch(tmp_path, problem, log, write_rows):
    path = with_context(tmp_path / "a.csv", write_rows, np.random.default_rng(1))
    signal = ComparisonReward(str(path), context=["income"]).fit(log, problem)
    batch = signal(log.contexts, "Offer", "Done")
    for t in (0, 3, 117):
        assert signal(log.contexts.take(np.array([t])), "Offer", "Done")[0] == batch[t]


def test_many_cells_at_once_are_judged_as_each_by_itself(tmp_path, problem, log, write_rows):
    path = with_context(tmp_path / "a.csv", write_rows, np.random.default_rng(1))
    signal = ComparisonReward(str(path), context=["income"]).fit(log, problem)
    cells = [(action, outcome) for action in ACTIONS for outcome in OUTCOMES]
    for n in (1, 2, 17, log.contexts.n_contexts):
        contexts = log.contexts.take(slice(0, n))
        for (action, outcome), at_once in zip(cells, signal.rewards(contexts, cells), strict=True):
            np.testing.assert_array_equal(at_once, signal(contexts, action, outcome), strict=True)


def numbers_file(path, write, generator, n=400):
    """Write answers of a parent who wants a high score, the more so the lower it is, and no visit."""
    rows = []
    for _ in range(n):
        scores, actions = generator.uniform(0, 10, 2).round(2), generator.choice(["Visit", "None"], 2)
        value = [np.sqrt(score) - 0.5 * (action == "Visit") for score, action in zip(scores, actions, strict=True)]
        first = generator.random() < 1 / (1 + np.exp(-4 * (value[0] - value[1])))
        one, other = (0, 1) if first else (1, 0)
        rows.append(("u", actions[one], scores[one], actions[other], scores[other]))
    return write(path, rows)


def test_continuous_outcomes(tmp_path, visits, write_rows):
    generator = np.random.default_rng(4)
    path = numbers_file(tmp_path / "a.csv", write_rows, generator)
    log = Log(Contexts({"x": np.zeros(300)}), generator.integers(0, 2, 300), generator.uniform(0, 10, 300))
    signal = ComparisonReward(str(path)).fit(log, visits)
    contexts, scores = Contexts({"x": np.zeros(9)}), np.linspace(1, 9, 9)
    visit, none = signal(contexts, "Visit", scores), signal(contexts, "None", scores)
    assert (np.diff(visit) > 0).all() and (none > visit).all()
    assert visit[1] - visit[0] > visit[8] - visit[7]  # curved as the root is
    truth = np.sqrt(scores)
    expected = np.corrcoef(np.r_[visit, none], np.r_[truth - 0.5, truth])[0, 1]
    assert expected > 0.98
    assert signal(contexts, "None", 50.0)[0] == signal(contexts, "None", 10.0)[0]
    cells = [("Visit", scores), ("None", 3.0), ("None", scores)]  # one score for all contexts, or each its own
    for cell, at_once in zip(cells, signal.rewards(contexts, cells), strict=True):
        np.testing.assert_array_equal(at_once, signal(contexts, *cell), strict=True)
    again = ComparisonReward(str(path)).restored(json.loads(json.dumps(signal.state())))
    np.testing.assert_array_equal(again(contexts, "Visit", scores), visit)


# --- several users ---------------------------------------------------------------------------------------------


@pytest.fixture
def opposed_file(tmp_path, write_rows, asked, truth):
    """Two users agree, the third wants the opposite; the third answers twice as often."""
    other = {cell: 1 - value for cell, value in truth.items()}
    rows = [*asked("ann", truth), *asked("bob", truth), *asked("cem", other, times=4)]
    return write_rows(tmp_path / "opposed.csv", [(*row, "x" if row[0] == "cem" else "y") for row in rows],
                      (*CONTEXT_COLUMNS[:5], "group_id"))  # fmt: skip


def test_pooled_follows_whoever_answers_most(opposed_file, problem, log, truth):
    learned = table(ComparisonReward(str(opposed_file)).fit(log, problem), log.contexts)[:, 0]
    assert np.argsort(learned).tolist() == np.argsort([-each for each in truth.values()]).tolist()


def test_mean_and_worst_are_those_of_the_users(opposed_file, problem, log, truth):
    """Both are recomputed from the users' own rewards, which are scaled to [0, 1] one by one."""
    settings = {"learner": "per_user", "parameters": {"prior": 0.5}}
    mean = ComparisonReward(str(opposed_file), users="mean", **settings).fit(log, problem)
    own = []
    for coefficients in mean.coefficients[:, :, 0]:
        own.append((coefficients - coefficients.min()) / (coefficients.max() - coefficients.min()))
    assert np.argsort(own[0]).tolist() == np.argsort(list(truth.values())).tolist()
    assert np.argsort(own[2]).tolist() == np.argsort(list(truth.values()))[::-1].tolist()
    np.testing.assert_allclose(table(mean, log.contexts)[:, 7], np.mean(own, axis=0), atol=1e-12)
    worst = ComparisonReward(str(opposed_file), users="worst", **settings).fit(log, problem)
    by_group = [np.mean(own[:2], axis=0), own[2]]
    np.testing.assert_allclose(table(worst, log.contexts)[:, 7], np.min(by_group, axis=0), atol=1e-12)
    assert mean.provenance()["users"] == 3 and mean.provenance()["groups"] == 2


def test_without_groups_the_worst_is_of_the_users(tmp_path, opposed_file, problem, log):
    path = tmp_path / "plain.csv"
    path.write_text("\n".join(line.rpartition(",")[0] for line in opposed_file.read_text().splitlines()))
    signals = [
        ComparisonReward(str(path), learner="per_user", users=users).fit(log, problem) for users in ("mean", "worst")
    ]
    own = [(c - c.min()) / (c.max() - c.min()) for c in signals[0].coefficients[:, :, 0]]
    np.testing.assert_allclose(table(signals[1], log.contexts)[:, 0], np.min(own, axis=0), atol=1e-12)


def test_only_listens_to_those_named(opposed_file, problem, log, truth):
    learned = table(ComparisonReward(str(opposed_file), only=["ann", "bob"]).fit(log, problem), log.contexts)[:, 0]
    assert np.argsort(learned).tolist() == np.argsort(list(truth.values())).tolist()


def test_every_user_needs_a_reward_of_their_own(opposed_file, problem, log):
    with pytest.raises(InputError, match="learned the same reward for every user; allowed: .*'per_user'"):
        ComparisonReward(str(opposed_file), users="worst").fit(log, problem)


@pytest.mark.parametrize("users", ["mean", "worst"])
def test_a_single_user_is_the_mean_and_the_worst(tmp_path, problem, log, write_rows, asked, truth, users):
    path = str(write_rows(tmp_path / "answers.csv", asked("ann", truth, times=3)))
    found = ComparisonReward(path, users=users).fit(log, problem)
    pooled = ComparisonReward(path).fit(log, problem)
    np.testing.assert_allclose(table(found, log.contexts), table(pooled, log.contexts), atol=1e-9)


@pytest.mark.parametrize(("learner", "spread"), [
    ("balanced", 0), ("group_robust", 0), ("per_group", 1), ("distributional", 1), ("low_rank", 1),
])  # fmt: skip
def test_other_learners_by_name(opposed_file, problem, log, learner, spread):
    """A learner that gives opposed groups the same say learns nothing; one that counts records learns something."""
    signal = ComparisonReward(str(opposed_file), learner=learner).fit(log, problem)
    found = table(signal, log.contexts)
    assert found.shape == (6, 200) and np.ptp(found[:, 0]) == spread
    assert signal.provenance()["learner"] == learner


def test_agreement_is_that_of_the_reward_that_is_used(opposed_file, problem, log):
    """A third of the users answers two thirds of the questions by the opposite order."""
    per_user = {"learner": "per_user", "parameters": {"prior": 0.5}}
    found = {
        users: ComparisonReward(str(opposed_file), users=users, **per_user).fit(log, problem).provenance()["agreement"]
        for users in ("pooled", "mean")
    }
    assert found["mean"] == 1.0  # everybody's own reward puts everything in their own order
    assert found["pooled"] == pytest.approx(4 / 6)


def test_a_learner_that_is_not_linear_is_refused(noisy_file, problem, log):
    class Squares(RewardModel):
        def rewards(self, features, user=None):
            return (features**2).sum(axis=1) + features[:, 0]

        def margins(self, comparisons):
            raise NotImplementedError

    class Bent(PreferenceLearner):
        def fit(self, comparisons, *, generator=None):
            return Squares()

    path = noisy_file.with_name("with-income.csv")
    header, *rows = noisy_file.read_text().splitlines()
    path.write_text("\n".join([header + ",income", *(f"{row},{k % 20}" for k, row in enumerate(rows))]))
    try:
        register("bent_for_a_test")(Bent)
        with pytest.raises(InputError, match="not linear"):
            ComparisonReward(str(path), learner="bent_for_a_test", context=["income"]).fit(log, problem)
    finally:
        learners._factories.pop("bent_for_a_test")


# --- scale and warnings ----------------------------------------------------------------------------------------


def test_anchors_are_0_and_1(noisy_file, problem, log):
    anchors = {"lowest": ["Decline", "Done"], "highest": ["Trial", "Done"]}
    signal = ComparisonReward(str(noisy_file), anchors=anchors).fit(log, problem)
    assert signal(log.contexts, "Decline", "Done")[0] == 0.0 and signal(log.contexts, "Trial", "Done")[0] == 1.0
    assert 0 < signal(log.contexts, "Trial", "Left")[0] < 1
    low, high = (sentence for sentence in signal.warnings if "clipped" in sentence)
    assert "17% of the learned rewards" in low and "clipped to 0" in low  # Decline with Left
    assert "17% of the learned rewards" in high and "clipped to 1" in high  # Offer with Done
    with pytest.raises(DataError, match="highest above lowest"):
        ComparisonReward(str(noisy_file), anchors={"lowest": ["Offer", "Done"], "highest": ["Decline", "Left"]}).fit(
            log, problem
        )
    with pytest.raises(UnknownNameError, match="did you mean 'Offer'"):
        ComparisonReward(str(noisy_file), anchors={"lowest": ["Ofer", "Done"], "highest": ["Trial", "Left"]}).fit(
            log, problem
        )


def test_answers_that_contradict_each_other_are_reported(tmp_path, problem, log, write_rows, asked, truth):
    other = {cell: -value for cell, value in truth.items()}
    path = write_rows(tmp_path / "a.csv", [*asked("u", truth), *asked("u", other)])
    signal = ComparisonReward(str(path)).fit(log, problem)
    (sentence,) = signal.warnings
    assert "contradict each other" in sentence and "log-loss of 0.693" in sentence
    assert (table(signal, log.contexts) == 0.5).all()


def test_a_cell_that_nobody_compared_is_between_the_others(tmp_path, problem, log, write_rows, asked, truth):
    path = write_rows(
        tmp_path / "a.csv", [row for row in asked("u", truth) if ("Trial", "Left") not in (row[1:3], row[3:])]
    )
    signal = ComparisonReward(str(path)).fit(log, problem)
    (sentence,) = signal.warnings
    assert "nobody compared 'Trial' with 'Left'" in sentence
    others = [k for k in range(6) if k != 3]
    assert table(signal, log.contexts)[3, 0] == pytest.approx(table(signal, log.contexts)[others, 0].mean(), abs=1e-6)


# --- declared, saved, used in Python ---------------------------------------------------------------------------


@pytest.mark.parametrize(("parameters", "message"), [
    ({"file": 3}, "file is 3; allowed: the path of a file"),
    ({"learner": "bradley_tery"}, "unknown preference learner 'bradley_tery'; did you mean 'bradley_terry'"),
    ({"parameters": {"rige": 1}}, "unknown parameter 'rige'; did you mean 'ridge'"),
    ({"users": "median"}, "unknown users 'median'; .*valid: pooled, mean, worst"),
    ({"context": "income"}, "context is 'income'; allowed: a list of different names"),
    ({"only": ["ann", "ann"]}, "only is .* allowed: a list of different names"),
    ({"anchors": {"lowest": ["Offer", "Done"]}}, "allowed: lowest and highest"),
    ({"anchors": {"lowest": "Offer", "highest": ["Offer", "Done"]}}, "anchor 'lowest' is 'Offer'"),
    ({"anchors": {"lowest": ["a", "b"], "highest": ["a", "c"]}, "users": "mean"}, "anchors are for users: pooled"),
    ({"leaner": "bradley_terry"}, "unknown parameter 'leaner'; did you mean 'learner'"),
])  # fmt: skip
def test_wrong_parameters_are_refused_by_name(parameters, message):
    with pytest.raises(InputError, match=message):
        rewards.create("comparisons", {"file": "answers.csv", **parameters})


def test_state_rebuilds_the_signal_without_the_file(noisy_file, problem, log):
    declared = ComparisonReward(str(noisy_file), learner="per_user", users="worst")
    fitted = declared.fit(log, problem)
    state = json.loads(json.dumps(fitted.state()))
    noisy_file.unlink()
    for again in (declared.restored(state), fitted.restored(state)):
        assert isinstance(again, FittedComparisonReward)
        np.testing.assert_array_equal(table(again, log.contexts), table(fitted, log.contexts))
        assert (again.provenance(), again.warnings) == (fitted.provenance(), fitted.warnings)
    assert str(noisy_file.parent) not in json.dumps(state)  # no path of this machine is kept
    assert fitted.fit(log, problem) is fitted


def test_a_policy_learns_rewards_in_python(loans, tmp_path, write_rows):
    actions, outcomes = loans.problem.actions, loans.problem.outcome_names
    cells = [(a, o) for a in actions for o in outcomes]
    rows = [("u", *one, *other) for k, one in enumerate(cells) for other in cells[k + 1 :]]
    columns = (*CONTEXT_COLUMNS[:5], "why")
    path = write_rows(tmp_path / "bank.csv", [(*row, "") for row in rows[:-1]], columns)  # in order, one pair left out
    policy: ParticipatoryPolicy = loans.policy()
    policy.fit(loans.columns, **loans.data, rewards=loans.rewards | {"Bank": ComparisonReward(str(path))})
    granted = policy.signals_["Bank"](loans.contexts, "Grant", "Full")
    assert (granted == 1.0).all()
    assert any(
        each.startswith("Rewards of 'Bank': bank.csv has columns that nothing reads: why") for each in policy.warnings_
    )
    assert policy.recommend(loans.columns).decisions.n_contexts == 120


WEIGHED = ("user_id", "chosen_action", "chosen_outcome", "rejected_action", "rejected_outcome", "weight")


@pytest.mark.parametrize("users", ["mean", "worst"])
def test_users_without_any_weight_are_nobody(tmp_path, problem, log, write_rows, asked, truth, users):
    rows = [[*row, 1] for row in asked("ann", truth, times=3)]
    rows += [[*row, 1] for row in asked("ben", {cell: -value for cell, value in truth.items()}, times=3)]
    silent = [[f"z{k}", "Offer", "Done", "Trial", "Done", 0] for k in range(20)]
    plain, beside = (
        ComparisonReward(str(write_rows(tmp_path / name, given, WEIGHED)), learner="per_user", users=users).fit(
            log, problem
        )
        for name, given in (("plain.csv", rows), ("beside.csv", silent[:10] + rows + silent[10:]))
    )
    np.testing.assert_array_equal(table(plain, log.contexts), table(beside, log.contexts))
    assert beside.about["users"] == plain.about["users"] == 2
    assert plain.warnings == ()
    (warning,) = beside.warnings
    assert "20 users are left out" in warning and "z0" not in warning


@pytest.mark.parametrize("users", ["mean", "worst"])
def test_one_user_without_any_weight_is_told_as_one(tmp_path, problem, log, write_rows, asked, truth, users):
    rows = [[*row, 1] for row in asked("ann", truth, times=3)] + [["zoe", "Offer", "Done", "Trial", "Done", 0]]
    path = str(write_rows(tmp_path / "answers.csv", rows, WEIGHED))
    found = ComparisonReward(path, learner="per_user", users=users).fit(log, problem)
    assert found.warnings == ("records of weight 0 alone are no answers; 1 user is left out.",)


def test_gaps_of_one_user_are_told_although_others_fill_them(tmp_path, problem, log, write_rows, asked, truth):
    rows = [*asked("ann", truth, times=3), ["ben", "Offer", "Done", "Trial", "Done"]]
    path = str(write_rows(tmp_path / "answers.csv", rows))
    for users in ("mean", "worst"):
        warnings = ComparisonReward(path, learner="per_user", users=users).fit(log, problem).warnings
        assert any("1 of 2 users did not compare everything" in each for each in warnings)
        assert not any("ben" in each for each in warnings)
    pooled = ComparisonReward(path, learner="per_user").fit(log, problem).warnings
    assert not any("users did not compare" in each for each in pooled)


def test_an_absurd_context_value_counts_as_far_away(tmp_path, problem, log, write_rows, asked, truth):
    rows = [[*row, 10.0 + k % 3] for k, row in enumerate(asked("ann", truth))]
    rows[0][-1] = 1e308
    path = write_rows(tmp_path / "answers.csv", rows, (*WEIGHED[:5], "income"))
    found = ComparisonReward(str(path), context=("income",)).fit(log, problem)
    assert np.isfinite(table(found, log.contexts)).all()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"only": ()}, "only names nobody"),
        ({"anchors": {"lowest": 5, "highest": ["Offer", "Done"]}}, "anchor 'lowest' is 5"),
        ({"anchors": {"lowest": None, "highest": ["Offer", "Done"]}}, "anchor 'lowest' is None"),
    ],
)
def test_values_that_are_no_lists_are_refused(parameters, message):
    with pytest.raises(InputError, match=message):
        ComparisonReward("answers.csv", **parameters)
