"""Leaderboards: order, the set of the best, references, constants, undefined values, and what they say in words."""

from __future__ import annotations

import json

import numpy as np
import pytest

from accordant import metrics
from accordant.contexts import Contexts, Log
from accordant.decisions import Decisions
from accordant.errors import InputError, UnknownNameError
from accordant.evaluation import composite_score, evaluate
from accordant.evaluation.comparison import _wider
from accordant.evidence import Evidence
from accordant.problem import DecisionProblem
from accordant.utilities import ExpectedRewards


@pytest.fixture(scope="module")
def board(world, strategies, kinds, candidates, summing):
    evidence = world(400)
    return evaluate(
        strategies(evidence),
        kinds,
        evidence,
        summing,
        candidates=candidates,
        resamples=300,
        generator=np.random.default_rng(0),
    )


@pytest.mark.parametrize(
    ("ends", "span", "limits"),
    [
        ((0.4, 0.6), None, (0.3, 0.8)),
        ((0.4, 0.6), (0.0, 1.0), (0.3, 0.8)),
        ((0.05, 0.9), (0.0, 1.0), (0.0, 1.0)),
        ((-0.1, 1.1), (0.0, 1.0), (-0.1, 1.1)),  # limits that lay beyond the range already stay
    ],
)
def test_limits_of_fits_repeated_are_no_farther_apart_than_the_range(ends, span, limits):
    assert _wider(ends, (0.1, 0.2), span) == pytest.approx(limits)


@pytest.mark.parametrize("resamples", [0, 50])
def test_two_processes_give_the_same_board_and_leave_the_same_generator(
    world, strategies, kinds, candidates, summing, resamples
):
    evidence = world(100)
    decided, boards, following = strategies(evidence), [], []
    for n_jobs in (1, 2):
        generator = np.random.default_rng(0)
        for _ in range(2):
            boards.append(
                evaluate(
                    decided, kinds, evidence, summing, candidates=candidates, resamples=resamples, n_jobs=n_jobs,
                    generator=generator, refits=[decided, decided],
                ).to_json()
            )  # fmt: skip
        following.append(generator.random())
    assert boards[:2] == boards[2:] and following[0] == following[1]
    assert (boards[0] != boards[1]) == (resamples > 0)


def test_sorted_by_score_and_scores_are_the_composite(board, summing, candidates):
    scores = [row.score.value for row in board]
    assert scores == sorted(scores, reverse=True)
    raw = np.array([[row.metrics[label].estimate.value for label in summing] for row in board])
    expected = composite_score(
        raw,
        goals=[metric.goal for metric, _ in summing.values()],
        weights=[weight for _, weight in summing.values()],
        candidates=np.array([row.strategy in candidates for row in board]),
        normalisation="natural",
        ranges=[(0, 1), (-1, 1), (0, 1), (0, 1), (0, 1), (0, 1)],
    )
    np.testing.assert_allclose(scores, expected.scores, atol=1e-12)
    assert [column.weight for column in board.columns] == pytest.approx(
        [0.5 / 1.5, 0.3 / 1.5, 0, 0.2 / 1.5, 0.4 / 1.5, 0.1 / 1.5]
    )


def test_values_equal_the_metrics_own_evaluation(board, world, strategies, summing):
    evidence = world(400)
    for name, line in strategies(evidence).items():
        for label, (metric, _) in summing.items():
            result, cell = metric.evaluate(line, evidence), board[name].metrics[label]
            assert (cell.estimate.value, cell.n, cell.reason) == (result.value, result.n, result.reason)
            assert [g.label for g in cell.by_group] == [g.label for g in result.by_group]


def test_intervals_contain_the_value_and_constants_are_there(board):
    """Acceptance test 10: constants present in every table."""
    assert {f"constant:{action}" for action in ("Grant", "Lower", "Deny")} <= {row.strategy for row in board}
    for row in board:
        for label in ("Accuracy", "Nash", "Regret"):
            estimate = row.metrics[label].estimate
            assert estimate.low - 1e-12 <= estimate.value <= estimate.high + 1e-12
        for group in row.metrics["Accuracy"].by_group:
            assert group.estimate.low - 1e-12 <= group.estimate.value <= group.estimate.high + 1e-12


def test_references_do_not_move_the_scale(world, strategies, kinds, candidates, summing, board):
    """Acceptance test 7: the oracle is absent from the candidate set."""
    evidence = world(400)
    lines = {name: line for name, line in strategies(evidence).items() if name in candidates}
    alone = evaluate(
        lines,
        kinds,
        evidence,
        summing,
        candidates=candidates,
        resamples=300,
        generator=np.random.default_rng(0),
    )
    for row in alone:
        assert row.score == board[row.strategy].score
        assert row.among_best == board[row.strategy].among_best
    assert board["oracle"].among_best is None
    assert board["random"].among_best is None


def test_undefined_never_wins(world, decided):
    """Pitfall 14: a strategy that never grants to one group had a NaN gap, and NaN came first."""
    evidence = world(300)
    sex, truth = evidence.log.contexts["sex"], evidence.log.outcomes
    lines = {
        "never to 1": decided(evidence, "never to 1", np.where(sex == 1, 2, truth)),
        "blind": decided(evidence, "blind", np.random.default_rng(0).integers(0, 3, 300)),
    }
    asked = {
        "Predictive": (metrics.create("predictive_parity", {"attributes": ["sex"], "protected": "1"}), 0.5),
        "Accuracy": (metrics.create("accuracy"), 0.5),
    }
    found = evaluate(
        lines,
        dict.fromkeys(lines, "compromise"),
        evidence,
        asked,
        candidates=list(lines),
        resamples=100,
        generator=np.random.default_rng(0),
    )
    row = found["never to 1"]
    assert (row.score.value, row.score.low, row.among_best) == (None, None, None)
    assert row.score.undefined == 1.0
    assert found.rows[-1] is row
    assert (found.best, found["blind"].among_best) == ("blind", True)
    assert row.metrics["Predictive"].estimate.value is None
    assert "group '1' of sex" in row.metrics["Predictive"].reason
    assert any(remark.startswith("never to 1 is unranked: Predictive is not defined") for remark in found.remarks)
    text = json.dumps(found.to_json(), allow_nan=False)
    assert json.loads(text)[-1]["score"] == {"value": None, "low": None, "high": None, "undefined": 1.0}


def test_resamples_without_a_value_are_left_out_and_reported(world, decided):
    """One context of group 1 gets Grant: about 37 % of resamples miss it."""
    evidence = world(300)
    sex = evidence.log.contexts["sex"]
    codes = np.where(sex == 1, 2, 0)
    codes[np.flatnonzero(sex == 1)[0]] = 0
    lines = {"rare": decided(evidence, "rare", codes), "all": decided(evidence, "all", 0)}
    asked = {"Predictive": (metrics.create("predictive_parity", {"attributes": ["sex"], "protected": "1"}), 1.0)}
    found = evaluate(
        lines,
        dict.fromkeys(lines, "compromise"),
        evidence,
        asked,
        candidates=list(lines),
        resamples=2000,
        generator=np.random.default_rng(0),
    )
    share = found["rare"].metrics["Predictive"].estimate.undefined
    assert share == pytest.approx((1 - 1 / 300) ** 300, abs=0.04)
    assert found["rare"].among_best is None  # what is so often undefined is not compared
    assert any(f"the scores of rare ({share:.0%})" in remark for remark in found.remarks)


def test_a_constant_above_everything_is_said(world, decided, kinds):
    """Pitfall 6: always Grant beat every strategy and no table showed it."""
    evidence = world(400)
    generator = np.random.default_rng(0)
    lines = {
        "good": decided(evidence, "good", generator.integers(0, 3, 400)),
        "fair": decided(evidence, "fair", generator.integers(1, 3, 400)),
        "constant:Grant": decided(evidence, "constant:Grant", 0),
        "constant:Deny": decided(evidence, "constant:Deny", 2),
        "oracle": decided(evidence, "oracle", evidence.log.outcomes),
    }
    asked = {"Accuracy": (metrics.create("accuracy"), 1.0)}
    found = evaluate(
        lines,
        kinds,
        evidence,
        asked,
        candidates=list(lines)[:4],
        resamples=200,
        generator=np.random.default_rng(0),
    )
    assert found.best_constant == "constant:Grant"
    assert found["good"].below_best_constant
    assert found["fair"].below_best_constant
    assert found["constant:Deny"].below_best_constant
    assert not found["constant:Grant"].below_best_constant
    assert not found["oracle"].below_best_constant
    assert found.remarks[0] == (
        f"Always Grant scores {found['constant:Grant'].score}, and no strategy scores higher: "
        "on this composite score deciding case by case shows no gain."
    )


def test_difference_from_the_best(world, decided):
    """On accuracy alone, 9 decisions in 400 cannot be told apart and half of them can."""
    evidence = world(400)
    truth = evidence.log.outcomes
    wrong = (truth + 1) % 3
    few, many = np.arange(400) < 9, np.arange(400) < 200
    lines = {
        "right": decided(evidence, "right", np.where(np.arange(400) < 3, wrong, truth)),
        "few wrong": decided(evidence, "few wrong", np.where(few[::-1], wrong, truth)),
        "many wrong": decided(evidence, "many wrong", np.where(many, wrong, truth)),
    }
    found = evaluate(
        lines,
        dict.fromkeys(lines, "compromise"),
        evidence,
        {"Accuracy": (metrics.create("accuracy"), 1.0)},
        candidates=list(lines),
        resamples=500,
        generator=np.random.default_rng(0),
    )
    assert found.best == "right"
    assert [found[name].among_best for name in lines] == [True, True, False]
    assert (
        "The best candidate is among right and few wrong (with 95% confidence, all candidates compared together); "
        "shown to be worse: many wrong."
    ) in found.remarks


def test_without_resamples_there_are_values_and_no_limits(world, strategies, kinds, candidates, counting):
    evidence = world(100)
    found = evaluate(
        strategies(evidence),
        kinds,
        evidence,
        counting,
        candidates=candidates,
        resamples=0,
        generator=np.random.default_rng(0),
    )
    for row in found:
        assert (row.score.low, row.score.high, row.score.undefined, row.among_best) == (None,) * 4
    values = {name: found[name].score.value for name in candidates}
    assert found.best == max(values, key=values.get)


def test_reference_normalisation_leaves_accuracy_raw(world, strategies, kinds, candidates, counting):
    evidence = world(100)
    found = evaluate(
        strategies(evidence),
        kinds,
        evidence,
        counting,
        candidates=candidates,
        resamples=0,
        normalisation="reference",
        generator=np.random.default_rng(0),
    )
    for row in found:
        assert row.metrics["Accuracy"].normalised == row.metrics["Accuracy"].estimate.value
    others = [name for name in counting if name != "Accuracy"]
    assert others
    for name in others:
        assert any(row.metrics[name].normalised != row.metrics[name].estimate.value for row in found), name


def test_same_generator_same_leaderboard(world, strategies, kinds, candidates, summing, board):
    evidence = world(400)
    again = evaluate(
        strategies(evidence),
        kinds,
        evidence,
        summing,
        candidates=candidates,
        resamples=300,
        generator=np.random.default_rng(0),
    )
    assert json.dumps(again.to_json()) == json.dumps(board.to_json())
    assert again.remarks == board.remarks


def test_rows_and_frame_agree(board):
    frame = board.to_frame()
    assert list(frame["strategy"]) == [row.strategy for row in board]
    assert frame.loc[0, "Nash low"] == board.rows[0].metrics["Nash"].estimate.low
    assert [list(row) for row in board.to_rows()] == [list(frame.columns)] * len(board.rows)


def test_wrong_requests_are_refused(world, strategies, kinds, candidates, counting, board):
    evidence = world(30)
    lines, generator = strategies(evidence), np.random.default_rng(0)
    with pytest.raises(UnknownNameError, match="did you mean 'good'"):
        evaluate(lines, kinds, evidence, counting, candidates=["goood"], generator=generator)
    with pytest.raises(UnknownNameError, match="strategy without a kind"):
        evaluate(lines, {}, evidence, counting, candidates=candidates, generator=generator)
    with pytest.raises(InputError, match="no metrics"):
        evaluate(lines, kinds, evidence, {}, candidates=candidates, generator=generator)
    with pytest.raises(InputError, match="sum to 0"):
        evaluate(
            lines,
            kinds,
            evidence,
            {"A": (metrics.create("accuracy"), 0.0)},
            candidates=candidates,
            generator=generator,
        )
    with pytest.raises(UnknownNameError, match="did you mean 'poor'"):
        board["por"]


def test_a_constant_stands_above_a_strategy_that_only_equals_it(world, decided):
    """A strategy that decides like a constant everywhere has not earned its cost."""
    evidence = world(200)
    lines = {"same": decided(evidence, "same", 0), "constant:Grant": decided(evidence, "constant:Grant", 0)}
    lines["worse"] = decided(evidence, "worse", 1)
    found = evaluate(
        lines,
        {"same": "compromise", "constant:Grant": "baseline", "worse": "compromise"},
        evidence,
        {"Accuracy": (metrics.create("accuracy"), 1.0)},
        candidates=list(lines),
        resamples=100,
        generator=np.random.default_rng(0),
    )
    assert [row.strategy for row in found.rows] == ["constant:Grant", "same", "worse"]
    assert found.best == "constant:Grant"
    assert "no strategy scores higher" in found.remarks[0]
    assert found["same"].alike == "constant:Grant"
    assert any("compared as one: same as constant:Grant" in sentence for sentence in found.remarks)


def test_a_baseline_that_decides_case_by_case_is_a_rival_of_constants(world, decided):
    evidence = world(200)
    lines = {"outcome_only": decided(evidence, "outcome_only", evidence.log.outcomes)}
    lines["constant:Grant"] = decided(evidence, "constant:Grant", 0)
    lines["poor"] = decided(evidence, "poor", 2 - evidence.log.outcomes)
    found = evaluate(
        lines,
        {"outcome_only": "baseline", "constant:Grant": "baseline", "poor": "compromise"},
        evidence,
        {"Accuracy": (metrics.create("accuracy"), 1.0)},
        candidates=list(lines),
        resamples=100,
        generator=np.random.default_rng(0),
    )
    assert not any("shows no gain" in sentence for sentence in found.remarks)
    assert found.remarks[0].endswith("scored lower: poor.")


def evaluated(lines, evidence, asked, resamples=300, **options):
    """Return the leaderboard of lines that are all candidates."""
    return evaluate(
        lines, dict.fromkeys(lines, "compromise"), evidence, asked, candidates=list(lines), resamples=resamples,
        generator=np.random.default_rng(0), **options,
    )  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("dropped", ["good", "fair", "poor", "constant:Lower"])
def test_scores_do_not_depend_on_who_else_is_listed(world, strategies, summing, candidates, dropped):
    """With min–max scales, dropping one candidate moved all scores and often the winner."""
    evidence = world(400)
    lines = {name: line for name, line in strategies(evidence).items() if name in candidates}
    every = evaluated(lines, evidence, summing)
    fewer = evaluated({name: line for name, line in lines.items() if name != dropped}, evidence, summing)
    for row in fewer:
        assert row.score == every[row.strategy].score
    relative = evaluated(lines, evidence, summing, normalisation="relative")
    assert [column.range for column in relative.columns] == [None] * len(summing)


def test_no_interval_is_made_up_for_a_chosen_score_that_is_never_defined(decided):
    """A gap over groups of one context each is defined on no resample; the score had an interval of zero width."""
    n, actions = 40, ["yes", "no"]
    groups = np.where(np.arange(n) < 11, "many", np.arange(n).astype(str))
    problem = DecisionProblem(
        stakeholders=["A"], actions=actions, outcomes=["x"], favourable_actions=["yes"], sensitive_attributes=["group"]
    )
    log = Log(Contexts({"group": groups}), np.zeros(n, dtype=int), np.zeros(n, dtype=int))
    generator = np.random.default_rng(0)
    expected = ExpectedRewards(generator.random((1, 2, n)), stakeholders=["A"], actions=actions)
    evidence = Evidence(problem, log, expected, expected.values)
    asked = {
        "Gap": (metrics.create("demographic_parity", {"attributes": ["group"]}), 0.5),
        "Mean": (metrics.create("mean_reward"), 0.5),
    }
    lines = {
        name: Decisions(name, tuple(actions), generator.integers(0, 2, n), np.zeros(n, dtype=bool)) for name in "ab"
    }
    found = evaluated(lines, evidence, asked, resamples=200)
    assert found.rows[0].score.value is not None
    assert found.rows[0].score.low is None
    assert found.chosen_score is None


def test_a_declared_range_of_a_total_is_per_context(world, decided):
    """Else the score of a total would depend on how many rows a part has."""
    evidence = world()
    metric = metrics.create("stakeholder_reward", {"stakeholder": evidence.problem.stakeholder_names[0], "total": True})
    lines = {"always": decided(evidence, "always", 0), "other": decided(evidence, "other", 1)}
    found = evaluated(lines, evidence, {"Sum": (metric, 1.0)}, ranges={"Sum": (0.0, 0.8)})
    assert found.columns[0].range == pytest.approx((0.0, 0.8 * evidence.n_contexts))
    for row in found.rows:
        assert row.score.value == pytest.approx(row.metrics["Sum"].estimate.value / (0.8 * evidence.n_contexts))


def test_a_declared_range_is_the_scale(world, decided):
    evidence = world(200)
    lines = {"all": decided(evidence, "all", 0)}
    asked = {"Accuracy": (metrics.create("accuracy"), 1.0)}
    value = evaluated(lines, evidence, asked)["all"].metrics["Accuracy"].estimate.value
    found = evaluated(lines, evidence, asked, ranges={"Accuracy": (0.5, 0.75)})
    assert found["all"].score.value == pytest.approx((value - 0.5) / 0.25)
    assert found.columns[0].range == (0.5, 0.75)
    with pytest.raises(UnknownNameError, match="did you mean 'Accuracy'"):
        evaluated(lines, evidence, asked, ranges={"Acuracy": (0, 1)})
    with pytest.raises(InputError, match="range of metric 0|low below high"):
        evaluated(lines, evidence, asked, ranges={"Accuracy": (1, 0)})


def test_what_never_varied_has_an_interval_of_some_width(world, decided):
    """Thirty of a hundred parity gaps were printed as [0, 0] while the true gap was not 0."""
    evidence = world(120)
    codes = np.zeros(120, dtype=int)
    lines = {"all": decided(evidence, "all", 0), "nearly": decided(evidence, "nearly", codes)}
    gap = metrics.create("demographic_parity", {"attributes": ["sex"]})
    asked = {"Gap": (gap, 0.5), "Share": (metrics.create("share_of_action", {"action": "Grant"}), 0.5)}
    row = evaluated(lines, evidence, asked)["all"]
    gap, share = (row.metrics[label].estimate for label in asked)
    assert (gap.value, gap.low) == (0.0, 0.0) and 0.03 < gap.high < 0.12
    assert (share.value, share.high) == (1.0, 1.0) and 0.95 < share.low < 0.99
    assert row.score.low < row.score.value


def test_metrics_that_differ_by_noise_are_called_uninformative(world, decided):
    evidence = world(400)
    generator = np.random.default_rng(3)
    lines = {
        name: decided(evidence, name, np.where(generator.random(400) < p, 0, 2)) for name, p in (("a", 0.2), ("b", 0.8))
    }
    gap = metrics.create("demographic_parity", {"attributes": ["sex"], "protected": "1"})
    asked = {"Gap": (gap, 0.6), "Share": (metrics.create("share_of_action", {"action": "Grant"}), 0.4)}
    found = evaluated(lines, evidence, asked)
    assert [column.uninformative for column in found.columns] == [True, False]
    assert sum(column.influence for column in found.columns) == pytest.approx(1)
    assert "The candidates differ by no more than noise on Gap (weight 0.6)." in found.remarks
    assert any(remark.startswith("Differences between scores come from Share") for remark in found.remarks)


def test_few_contexts_are_the_headline(world, decided):
    evidence = world(20)
    lines = {name: decided(evidence, name, code) for code, name in enumerate(("a", "b", "c"))}
    assert (
        evaluated(lines, evidence, {"Accuracy": (metrics.create("accuracy"), 1.0)})
        .remarks[0]
        .startswith("There are only 20 contexts")
    )


@pytest.mark.long
def test_the_score_of_the_chosen_is_corrected_for_the_choice():
    """Ten equal candidates: the best of them scores high by luck, its corrected score does not."""
    actions = ["yes", "no"]
    problem = DecisionProblem(stakeholders=["A"], actions=actions, outcomes=["x", "y"])
    raw, corrected, held, metric_held = [], [], 0, 0
    for seed in range(60):
        generator = np.random.default_rng(seed)
        n = 150
        log = Log(Contexts({"x": np.zeros(n)}), np.zeros(n, dtype=int), np.zeros(n, dtype=int))
        rewards = generator.random((1, 2, n))
        expected = ExpectedRewards(np.full((1, 2, n), 0.5), stakeholders=["A"], actions=actions)
        evidence = Evidence(problem, log, expected, rewards)
        untied = np.zeros(n, dtype=bool)
        lines = {str(k): Decisions(str(k), tuple(actions), generator.integers(0, 2, n), untied) for k in range(10)}
        found = evaluated(lines, evidence, {"Mean": (metrics.create("mean_reward"), 1.0)}, resamples=200)
        raw.append(found.rows[0].score.value)
        corrected.append(found.chosen_score.value)
        held += found.chosen_score.low <= 0.5 <= found.chosen_score.high
        cell = found.rows[0].metrics["Mean"].estimate
        metric_held += cell.low <= 0.5 <= cell.high
    assert np.mean(raw) - 0.5 > 0.02
    assert abs(np.mean(corrected) - 0.5) < 0.4 * (np.mean(raw) - 0.5)
    assert held >= 54
    assert metric_held >= 54


def alone(evidence, metric, line, **options):
    """Return the row of one line whose score is one metric."""
    return evaluated({"line": line}, evidence, {"M": (metric, 1.0)}, **options)["line"]


@pytest.mark.parametrize("name", ["min_reward", "mean_reward", "accuracy"])
def test_a_score_of_one_metric_on_the_unit_range_has_its_interval(world, decided, name):
    """The score took plain percentiles of the smallest mean, whose upper limit missed the truth in up to 71 %."""
    evidence = world(100)
    row = alone(evidence, metrics.create(name), decided(evidence, "line", np.arange(100) % 3))
    found = row.metrics["M"].estimate
    assert (row.score.low, row.score.high) == pytest.approx((found.low, found.high), abs=1e-9)


def test_a_gap_around_zero_can_only_lose(world, decided):
    """A gap of 0 is as good as can be: its score lies at the upper end of its interval."""
    evidence = world(60)
    gap = metrics.create("demographic_parity", {"attributes": ["sex"], "protected": "1"})
    row = alone(evidence, gap, decided(evidence, "line", 0))
    found = row.metrics["M"].estimate
    assert found.low < 0 < found.high and row.score.value == 1.0
    assert row.score.high == pytest.approx(1.0)
    assert row.score.low == pytest.approx(1 - max(-found.low, found.high))


def test_metrics_that_differ_for_certain_are_informative(world, decided):
    """Two constants differ by 1 on every resample, and a comparison without variance called that noise."""
    evidence = world(200)
    lines = {"all": decided(evidence, "all", 0), "none": decided(evidence, "none", 2)}
    share = {"Share": (metrics.create("share_of_action", {"action": "Grant"}), 1.0)}
    assert not evaluated(lines, evidence, share).columns[0].uninformative


def test_known_rewards_need_no_overlap(world, decided):
    """Candidates were dropped from the comparison for propensities that nothing was estimated with."""
    from accordant.evaluation.batch_evidence import gather_evidence
    from accordant.predictions import OutcomePrediction
    from accordant.rewards import TableReward

    evidence = world(200)
    table = {a: {o: 0.5 for o in ("Full", "Part", "None")} for a in ("Grant", "Lower", "Deny")}
    prediction = OutcomePrediction(np.full((3, 3, 200), 1 / 3), None, depends_on_action=False)
    found = gather_evidence(
        evidence.problem, evidence.log, {name: TableReward(table) for name in ("Bank", "Applicant")},
        evidence.expected, prediction, propensities=np.array([0.985, 0.01, 0.005])[:, None] * np.ones(200),
    )  # fmt: skip
    assert found.hindsight and found.propensities is None


def test_a_declared_scale_is_no_bound_of_what_is_possible(world, decided):
    """A reward that never varied got the interval of the narrow range that was declared as its scale."""
    import dataclasses

    evidence = dataclasses.replace(world(60), rewards=np.full((2, 3, 60), 0.5))
    asked = {"M": (metrics.create("mean_reward"), 1.0)}
    wide = evaluated({"line": decided(evidence, "line", 0)}, evidence, asked)["line"].metrics["M"].estimate
    narrow = evaluated({"line": decided(evidence, "line", 0)}, evidence, asked, ranges={"M": (0.45, 0.55)})
    assert narrow["line"].metrics["M"].estimate == wide and wide.high - wide.low > 0.2
