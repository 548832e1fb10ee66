"""Other weights on a stored leaderboard: the run's own weights give the run's own figures, and others what they must."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
import yaml

from accordant.errors import InputError, UnknownNameError
from accordant.runs import RunOptions, carry_out, read_run, write_run
from accordant.runs.record import Record
from accordant.runs.record.choice import ShiftPart, WeightSensitivityPart
from accordant.runs.record.stored_scores import StoredScores
from accordant.runs.sections.weight_change import reweigh
from accordant.runs.sections.weight_change_record import Reweighed, ReweighedRow


@pytest.fixture(scope="module", params=["natural", "relative", "reference"])
def weighed(request, cases, tmp_path_factory):
    """A run with three weighted metrics, its data and its normalisation."""
    folder = cases["own"].parent
    case = yaml.safe_load(cases["own"].read_text())
    case["name"] = request.param
    case["evaluation"] = {"resamples": 100, "normalisation": request.param}
    case["metrics"]["Accuracy"]["weight"] = 0.3
    case["metrics"]["Parity"]["weight"] = 0.1
    case["metrics"] |= {"Mean": {"metric": "mean_reward", "weight": 0.6},
                        "Worst": {"metric": "min_reward", "weight": 0.0}}  # fmt: skip
    path = folder / f"{request.param}.yaml"
    path.write_text(yaml.safe_dump(case))
    outcome = carry_out(path, RunOptions(seed=7))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("accordant.runs.folder.render", lambda *content: "")
        made = write_run(outcome, tmp_path_factory.mktemp("weighed") / "run")
    return read_run(made), str(folder)


def own_weights(run):
    return {label: metric.weight for label, metric in run.case.metrics.items()}


@pytest.mark.long
def test_the_weights_of_the_run_give_its_leaderboard_to_the_last_digit(weighed):
    run, data = weighed
    found, board = reweigh(run, own_weights(run), data), run.record.test
    assert found.untold == ""
    assert [
        (row.strategy, row.score, row.low, row.high, row.among_best, row.kind, row.candidate) for row in found.rows
    ] == [
        (row.strategy, row.score.value, row.score.low, row.score.high, row.among_best, row.kind, row.candidate)
        for row in board.leaderboard
    ]
    assert found.weights == found.weights_of_run == {column.label: column.weight for column in board.metrics}
    assert found.borders == run.record.scrutiny.weights.borders
    assert found.selected == found.selected_then == run.record.selected
    assert found.risen == found.fallen == () and found.sentences[1] == "The winner is the same."


@pytest.mark.long
def test_scores_are_weighted_means_of_stored_values(weighed):
    run, data = weighed
    found = reweigh(run, {"Accuracy": 2, "Worst": 6}, data)
    rows = {row.strategy: row for row in run.record.test.leaderboard}
    assert found.weights == {"Accuracy": 0.25, "Parity": 0.0, "Mean": 0.0, "Worst": 0.75}
    for row in found.rows:
        cells = rows[row.strategy].metrics
        parts = [cells[label].normalised for label in ("Accuracy", "Worst")]
        assert row.score == (None if None in parts else pytest.approx(0.25 * parts[0] + 0.75 * parts[1], abs=1e-12))
        assert row.low is None or row.low <= row.score <= row.high
    ranked = [row for row in found.rows if row.candidate and row.score is not None]
    assert all(row.place == 1 + sum(each.score > row.score + 1e-12 for each in ranked) for row in ranked)
    assert found.winner == ranked[0].strategy and ranked[0].among_best is not False
    for row in (*found.risen, *found.fallen):
        assert (row.place < row.place_of_run) == (row in found.risen)


def test_all_weight_on_a_metric_gives_its_stored_values(weighed):
    record = weighed[0].record
    for label in ("Accuracy", "Parity", "Mean", "Worst"):
        weights = {column.label: float(column.label == label) for column in record.test.metrics}
        found = StoredScores.of(record, record.test, weights)
        stored = [row.metrics[label].normalised for row in record.test.leaderboard]
        assert found.composite.scores == pytest.approx(np.array(stored, dtype=np.float64), abs=0.0, nan_ok=True)


def test_who_rose_or_fell_is_told_by_how_many_places(weighed):
    run, data = weighed
    found = reweigh(run, {"Accuracy": 1}, data)
    places = {"a": (4, 1), "b": (1, 2), "c": (5, 4), "d": (3, 3), "e": (2, 5), "f": (None, None)}
    rows = tuple(
        found.rows[0].model_copy(update={"strategy": name, "place_of_run": before, "place": now})
        for name, (before, now) in places.items()
    )
    moved = found.model_copy(update={"rows": rows})
    assert [row.strategy for row in moved.risen] == ["a", "c"]
    assert [row.strategy for row in moved.fallen] == ["e", "b"]


def borders(level_with=(), nearest=None):
    shift = None if nearest is None else ShiftPart(
        rival=nearest, tied_with=(), share_moved=0.125, weights={}, change={}, distance=0.25, wins_from=None
    )  # fmt: skip
    return WeightSensitivityPart(
        winner="b", tied_with=(), level_with=level_with, nearest=shift, shifts=(), cannot=()
    )  # fmt: skip


SAID = {"winner": "b", "winner_of_run": "a", "selected": "a", "selected_then": "b", "borders": borders(nearest="c")}
A_LEADS = "At the weights Mean 0.75, Worst 0.25: b leads; at those of the run: a leads."


@pytest.mark.parametrize(
    ("place", "changes", "among_best", "sentence"),
    [
        (0, {}, {}, A_LEADS),
        (0, {"winner": None}, {}, A_LEADS.replace("b leads", "nobody is ranked")),
        (0, {"winner_of_run": None}, {}, A_LEADS.replace("a leads", "nobody is ranked")),
        (1, {"winner": None}, {}, "There is no winner."),
        (1, {"winner_of_run": None}, {}, "There is no winner at the weights of the run to compare it with."),
        (1, {"winner_of_run": "b"}, {}, "The winner is the same."),
        (1, {}, {"a": True}, "At these weights a cannot be told from the best: no gain shown."),
        (1, {}, {"a": False}, "At these weights a is not among the best (90%, all candidates compared together): "
                              "the difference is more than noise of the rows."),
        (1, {}, {"a": None}, "Whether the difference is more than noise cannot be told: the score of a has no interval "
                             "on these rows, or too few of them."),
        (1, {}, {"a": None, "b": None}, "Whether the difference is more than noise cannot be told: the score of b and "
                                        "a has no interval on these rows, or too few of them."),
        (1, {"winner_of_run": "gone"}, {}, "Whether the difference is more than noise cannot be told: the score of "
                                           "gone has no interval on these rows, or too few of them."),
        (1, {"untold": "the rows are lost"}, {"a": False},
         "Whether the difference is more than noise cannot be told: the rows are lost."),
        (2, {}, {}, "12.5 % of all weight must move before another candidate draws level with b: c."),
        (2, {"borders": borders()}, {}, "No weights of these metrics bring another candidate ahead of b."),
        (2, {"borders": borders(("c", "d"), "c")}, {}, "b is level with c and d at these weights."),
        (2, {"borders": None, "unweighed": "nobody is ranked"}, {},
         "How far the weights can move cannot be told: nobody is ranked."),
        (3, {}, {}, "On held-out folds b would have been chosen at these weights; D* of the run stays a."),
        (3, {"selected_then": None}, {},
         "On held-out folds nothing would have been chosen at these weights; D* of the run stays a."),
        (3, {"selected_then": "a"}, {}, "On held-out folds a would have been chosen at these weights too."),
    ],
)  # fmt: skip
def test_sentences_say_who_leads_whether_it_is_noise_and_how_far_the_border_is(place, changes, among_best, sentence):
    rows = tuple(
        ReweighedRow(strategy=name, kind="rule", candidate=True, place=1, place_of_run=1, score=0.5, score_of_run=0.5,
                     among_best=({"a": True, "b": True} | among_best)[name])
        for name in ("b", "a")
    )  # fmt: skip
    given = SAID | {"unweighed": "", "untold": "", "rows": rows} | changes
    reweighed = Reweighed(
        accordant="1", weights={"Mean": 0.75, "Gap": 0.0, "Worst": 0.25}, weights_of_run={"Mean": 1.0},
        normalisation="natural", level=0.9, n=40, **given,
    )  # fmt: skip
    assert reweighed.sentences[place] == sentence
    assert reweighed.words == " ".join(reweighed.sentences[:2])


@pytest.mark.long
def test_the_nearest_border_is_that_of_a_fine_grid(weighed):
    run, data = weighed
    found = reweigh(run, {"Accuracy": 0.5, "Mean": 0.5}, data)
    labels = ("Accuracy", "Parity", "Mean")  # those with weight here or in the run
    values = {row.strategy: np.array([row.metrics[label].normalised for label in labels], dtype=float)
              for row in run.record.test.leaderboard if row.candidate}  # fmt: skip
    names = [name for name, each in values.items() if np.isfinite(each).all()]
    scores = np.array([values[name] for name in names])
    steps = np.arange(0, 101) / 100
    grid = np.array([(a, p, 1 - a - p) for a in steps for p in steps if a + p <= 1 + 1e-12])
    weights = np.array([0.5, 0.0, 0.5])
    winner = names.index(found.borders.winner)
    ahead = (grid @ scores.T > (grid @ scores[winner])[:, None] + 1e-9).any(axis=1)
    moved = np.abs(grid - weights).sum(axis=1) / 2
    if found.borders.nearest is None:
        assert not ahead.any()
    else:
        assert moved[ahead].min(initial=1.0) == pytest.approx(found.borders.nearest.share_moved, abs=0.02)


@pytest.mark.long
def test_without_data_nothing_is_said_of_noise(weighed, monkeypatch, tmp_path):
    run, _ = weighed
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ACCORDANT_DATA", raising=False)
    monkeypatch.setattr("accordant.cases.files.cache_folder", lambda: tmp_path)
    found = reweigh(run, {"Worst": 1})
    assert "the untouched rows are not at hand" in found.untold
    assert {(row.low, row.high, row.among_best) for row in found.rows} == {(None, None, None)}
    assert [row.score for row in found.rows] == [row.score for row in reweigh(run, {"Worst": 1}, weighed[1]).rows]
    if found.winner != found.winner_of_run:
        assert "cannot be told" in found.sentences[1]
    with pytest.raises(InputError, match="not found at"):
        reweigh(run, {"Worst": 1}, str(tmp_path))


@pytest.mark.long
def test_models_that_give_other_scores_say_nothing_of_noise(weighed, monkeypatch):
    run, data = weighed
    other = run.policy.leaderboard_on
    monkeypatch.setattr(type(run.policy), "leaderboard_on", lambda policy, evidence, metrics: other(evidence))
    found = reweigh(run, {"Worst": 1}, data)
    assert "differ from those of the run" in found.untold and found.rows[0].among_best is None


@pytest.mark.long
def test_the_run_is_not_changed(weighed):
    run, data = weighed
    reweigh(run, {"Worst": 1}, data)
    assert run.policy.selected_ == run.record.selected
    assert read_run(run.path).record == run.record


@pytest.mark.long
@pytest.mark.parametrize(
    ("weights", "error", "message"),
    [
        ({"Acuracy": 1}, UnknownNameError, "did you mean 'Accuracy'"),
        ({"Accuracy": -1}, InputError, "weight of Accuracy is -1; allowed"),
        ({"Accuracy": float("nan")}, InputError, "weight of Accuracy is nan"),
        ({"Accuracy": float("inf")}, InputError, "weight of Accuracy is inf"),
        ({"Accuracy": 0}, InputError, "the weights sum to 0"),
    ],
)
def test_wrong_weights_are_refused(weighed, weights, error, message):
    with pytest.raises(error, match=message):
        reweigh(weighed[0], weights)


def test_a_metric_without_a_range_cannot_carry_weight(outcomes, cases, tmp_path):
    run = read_run(write_run(outcomes["care"], tmp_path / "care"))
    content = json.loads(json.dumps(run.content))
    (column,) = [column for column in content["test"]["metrics"] if column["label"] == "Truth"]
    column["range"] = None
    without = dataclasses.replace(run, record=Record.read(content))
    with pytest.raises(InputError, match="'Truth' has no range in the run"):
        reweigh(without, {"Truth": 1})
    found = reweigh(without, {"Score": 1}, str(cases["care"].parent))
    assert [row.score for row in found.rows] == [row.score.value for row in run.record.test.leaderboard]
