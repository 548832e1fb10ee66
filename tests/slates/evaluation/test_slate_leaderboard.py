"""The leaderboard of slate rules: scores as by hand, order, who is a candidate, and what the reader is told."""

from __future__ import annotations

import json

import numpy as np
import pytest

from accordant.errors import InputError, UnknownNameError
from accordant.slates.evaluation.board import Board, BoardCell, BoardColumn, BoardRow
from accordant.slates.evaluation.leaderboard import leaderboard
from accordant.slates.evaluation.scores import scores
from accordant.slates.measures import measures
from accordant.statistics import Estimate

MEASURES = {
    "worst": measures.create("worst_off"),
    "guest": measures.create("attained", {"stakeholder": "guest"}),
    "gini": measures.create("exposure_gini"),
    "shown": measures.create("coverage"),
}
WEIGHTS = {"worst": 2.0, "guest": 1.0, "gini": 1.0}
KINDS = {"total": "welfare", "guest": "baseline", "town": "baseline", "inn": "baseline"}


@pytest.fixture(scope="module")
def board(served):
    return scores(served, MEASURES, resamples=120, seed=3)


def by_hand(rows, weights=WEIGHTS, inside=tuple(KINDS), natural=True):
    """Return composite scores from mappings rule → label → value, in plain Python."""
    found = dict.fromkeys(rows, 0.0)
    for label, weight in weights.items():
        values = [rows[rule][label] for rule in inside]
        low, high = (0.0, 1.0) if natural else (min(values), max(values))
        for rule, row in rows.items():
            share = 1.0 if high == low else (row[label] - low) / (high - low)
            found[rule] += weight / sum(weights.values()) * (1 - share if label == "gini" and high > low else share)
    return found


def points(board):
    return {row.rule: {label: cell.estimate.value for label, cell in row.cells.items()} for row in board}


@pytest.mark.parametrize("normalisation", ["natural", "relative"])
@pytest.mark.parametrize("outside", [(), ("guest",), ("total", "town")])
def test_scores_are_those_by_hand(board, outside, normalisation):
    found = leaderboard(board, KINDS, WEIGHTS, outside, normalisation=normalisation)
    assert found.normalisation == normalisation
    inside = [rule for rule in KINDS if rule not in outside]
    expected = by_hand(points(board), inside=inside, natural=normalisation == "natural")
    assert {row.strategy: row.score.value for row in found.rows} == pytest.approx(expected, abs=1e-12)
    levels = [row.score.value for row in found.rows]
    assert levels == sorted(levels, reverse=True)
    assert {row.strategy for row in found.rows if not row.candidate} == set(outside)
    assert found.best == next(row.strategy for row in found.rows if row.candidate)
    scale = "" if normalisation == "natural" else ": it does not define the scale, so its score may leave [0, 1]"
    listed = ", ".join(row.strategy for row in found.rows if not row.candidate)
    assert [said for said in found.remarks if "cannot win" in said] == [f"{listed} cannot win{scale}."] * bool(outside)
    assert [column.weight for column in found.columns] == [0.5, 0.25, 0.25, 0.0]


def test_intervals_are_of_scores_on_resamples(board):
    found = leaderboard(board, KINDS, WEIGHTS)
    drawn = [
        by_hand({rule: dict(zip(board.labels, draw[r], strict=True)) for r, rule in enumerate(board.rules)})
        for draw in board.draws
    ]
    for row in found.rows:
        limits = np.quantile([each[row.strategy] for each in drawn], [0.025, 0.975])
        assert (row.score.low, row.score.high) == pytest.approx(tuple(limits), abs=0.02)
        gaps = [each[found.best] - each[row.strategy] for each in drawn]
        if row.among_best is False:
            # whoever is taken out is surely worse: simultaneous comparisons are stricter than single ones
            assert np.quantile(gaps, 0.025) > 0
    assert found[found.best].among_best is True


def test_differences_are_to_the_best_candidate_whoever_stands_above(board):
    """One who is no candidate may have the highest score; nobody is compared with it."""
    best = leaderboard(board, KINDS, WEIGHTS).rows[0].strategy
    found = leaderboard(board, KINDS, WEIGHTS, [best])
    assert found.rows[0].strategy == best and not found.rows[0].candidate and found.rows[0].among_best is None
    winner = next(row for row in found.rows if row.candidate)
    assert found.best == winner.strategy and winner.among_best is True
    close = [row for row in found.rows if row.candidate and row.among_best and row is not winner]
    words = " ".join(found.remarks)
    assert (f"from {winner.strategy}, which comes first" in words) == bool(close)


def test_without_resamples_there_are_no_intervals(served):
    found = leaderboard(scores(served, MEASURES, resamples=0), KINDS, WEIGHTS)
    for row in found.rows:
        assert row.score.low is None and row.among_best is None
    assert not any("cannot tell" in each for each in found.remarks)


def test_baselines_come_first_among_equals(served):
    same = {"a rule": served["total"], "a baseline": served["total"], "another": served["guest"]}
    kinds = {"a rule": "welfare", "a baseline": "baseline", "another": "welfare"}
    found = leaderboard(scores(same, MEASURES, resamples=20), kinds, {"worst": 1.0})
    order = [row.strategy for row in found.rows if row.strategy != "another"]
    assert order == ["a baseline", "a rule"]
    first = "a baseline" if found.rows[0].strategy == "a baseline" else None
    assert ["comes first, a baseline" in each for each in found.remarks].count(True) == (first is not None)
    assert found["a rule"].alike == "a baseline" and found["a baseline"].alike is None
    assert found["a rule"].among_best == found["a baseline"].among_best


def test_what_separates_nothing_is_said(served):
    same = {"one": served["total"], "two": served["total"]}
    found = leaderboard(scores(same, MEASURES, resamples=10), dict.fromkeys(same, "welfare"), WEIGHTS)
    assert found.rows[0].score.value == found.rows[1].score.value
    assert not any("a baseline" in each for each in found.remarks)
    assert any("All rules are equal on worst, guest, gini, which" in each for each in found.remarks)
    assert any("two shows the same lists as one in 99% of requests or more." in each for each in found.remarks)
    assert not any("cannot tell" in each for each in found.remarks)


def test_a_measure_without_a_value_leaves_rules_unranked(lists_of):
    found = {"one": lists_of([[0], [1]], np.random.default_rng(0).random((2, 3, 2)))}
    made = {"ndcg": measures.create("ndcg"), "worst": measures.create("worst_off")}
    board = scores(found, made, resamples=10)
    table = leaderboard(board, {"one": "welfare"}, {"ndcg": 0.5, "worst": 0.5})
    assert table.rows[0].score.value is None
    assert any("not defined for one, so there is no score" in each for each in table.remarks)
    alone = leaderboard(board, {"one": "welfare"}, {"worst": 1.0}).rows[0]
    assert alone.score.value == pytest.approx(alone.metrics["worst"].estimate.value)
    json.dumps(table.to_json(), allow_nan=False)


def test_a_score_does_not_depend_on_who_else_is_listed(served):
    every = leaderboard(scores(served, MEASURES, resamples=30), KINDS, WEIGHTS)
    for dropped in KINDS:
        fewer = {rule: each for rule, each in served.items() if rule != dropped}
        found = leaderboard(scores(fewer, MEASURES, resamples=30), KINDS, WEIGHTS)
        assert {row.strategy: row.score for row in found.rows} == {
            row.strategy: row.score for row in every.rows if row.strategy != dropped
        }
        assert [row.strategy for row in found.rows] == [r.strategy for r in every.rows if r.strategy != dropped]


def test_ranges_are_declared_or_scores_are_relative(served):
    made = {
        "worst": measures.create("worst_off"),
        "gap": measures.create("provider_exposure_gap", {"between": "category"}),
    }
    board, weights = scores(served, made, resamples=0), {"worst": 0.5, "gap": 0.5}
    without = leaderboard(board, KINDS, weights)
    assert without.normalisation == "relative"
    assert any(each.startswith("gap has no range, so scores are relative") for each in without.remarks)
    found = leaderboard(board, KINDS, weights, ranges={"gap": (0.0, 8.0)})
    assert found.normalisation == "natural"
    assert not any("no range" in each for each in found.remarks)
    for row in found.rows:
        worst, gap = (row.metrics[label].estimate.value for label in made)
        assert row.score.value == pytest.approx(0.5 * worst + 0.5 * (8 - gap) / 8)
    # one that does not count needs no range, and has no place on one
    shown = leaderboard(board, KINDS, {"worst": 1.0})
    assert shown.normalisation == "natural"
    assert all(row.metrics["gap"].normalised is None for row in shown.rows)
    with pytest.raises(UnknownNameError):
        leaderboard(board, KINDS, weights, ranges={"gip": (0.0, 8.0)})


@pytest.mark.long
def test_rules_that_are_all_equal_are_rarely_told_apart():
    """Six rules of the same expected quality on 60 users: the best ones are all in the set in 95 of 100 worlds."""
    generator = np.random.default_rng(0)
    wrong, worlds, n_users, n_rules = 0, 300, 60, 6
    for _ in range(worlds):
        quality = np.clip(
            0.5 + 0.1 * generator.normal(size=(n_users, 1)) + 0.2 * generator.normal(size=(n_users, n_rules)), 0, 1
        )
        draws = generator.multinomial(n_users, np.full(n_users, 1 / n_users), size=1000) @ quality / n_users
        found = leaderboard(
            board_of(quality.mean(axis=0), draws, n_users), {f"r{r}": "welfare" for r in range(n_rules)}, {"m": 1.0}
        )
        wrong += not all(row.among_best for row in found.rows)
    assert wrong / worlds <= 0.07


def test_a_rule_that_is_clearly_worse_is_told_apart():
    generator = np.random.default_rng(1)
    quality = np.clip(np.array([0.6, 0.5, 0.58]) + 0.1 * generator.normal(size=(100, 3)), 0, 1)
    draws = generator.multinomial(100, np.full(100, 0.01), size=300) @ quality / 100
    found = leaderboard(
        board_of(quality.mean(axis=0), draws, 100), dict.fromkeys(("r0", "r1", "r2"), "welfare"), {"m": 1.0}
    )
    assert found["r0"].among_best is True and found["r1"].among_best is False


def board_of(points, draws, n_users):
    """Return a board of one measure in [0, 1]; all rules show other lists."""
    n = len(points)
    rows = tuple(BoardRow(f"r{r}", {"m": BoardCell(Estimate(float(points[r])), n_users)}, 0.0, 0.0) for r in range(n))
    column = BoardColumn("m", "max", "", range=(0.0, 1.0))
    shown = np.repeat(np.arange(n)[:, None], n_users, axis=1)
    return Board(rows, (column,), n_users, n_users, len(draws), 0.95, 0, points[:, None], draws[:, :, None], shown)


def test_what_cannot_be_asked(board):
    with pytest.raises(UnknownNameError, match="did you mean 'worst'"):
        leaderboard(board, KINDS, {"wurst": 1.0})
    with pytest.raises(InputError, match="rules without a kind: inn"):
        leaderboard(board, {name: kind for name, kind in KINDS.items() if name != "inn"}, WEIGHTS)
    with pytest.raises(InputError, match="no candidate"):
        leaderboard(board, KINDS, WEIGHTS, tuple(KINDS))
    for weights in ({}, {"worst": 0.0}, {"worst": -1.0}, {"worst": float("nan")}):
        with pytest.raises(InputError, match="weights"):
            leaderboard(board, KINDS, weights)
