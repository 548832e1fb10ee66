"""`weigh`: it agrees with the leaderboard that it explains."""

from __future__ import annotations

import json

import numpy as np
import pytest

from accordant.errors import InputError, UnknownNameError
from accordant.evaluation import evaluate
from accordant.evaluation.weighting import weigh, weigh_leaderboard


@pytest.fixture(scope="module")
def case(world, strategies, kinds, candidates, counting):
    evidence = world(n=240, seed=2)
    return (strategies(evidence), kinds, evidence, counting), {"candidates": candidates, "resamples": 60}


@pytest.fixture(scope="module")
def board(case):
    return evaluate(*case[0], **case[1], generator=np.random.default_rng(3))


@pytest.fixture(scope="module")
def weighing(case):
    return weigh(*case[0], **case[1], generator=np.random.default_rng(3))


def test_it_names_the_leaderboards_winner(board, weighing):
    assert weighing.sensitivity.winner == board.best
    assert board.best in weighing.regions.winners
    assert weighing.regions.metrics == ("Accuracy", "Parity", "Share")
    assert weighing.regions.weights == pytest.approx((0.5, 0.3, 0.2))
    assert weighing.choices.normalisations[0].winners[0] == board.best


def test_a_leaderboard_has_the_same_regions(board, weighing):
    found = weigh_leaderboard(board, generator=np.random.default_rng(0))
    assert {each.strategy: each.share for each in found.regions.regions} == pytest.approx(
        {each.strategy: each.share for each in weighing.regions.regions}
    )
    assert found.sensitivity.winner == board.best
    assert found.sensitivity.nearest.share_moved == pytest.approx(weighing.sensitivity.nearest.share_moved)
    assert found.sampling_error is None
    assert found.choices is None


def test_moving_the_weights_over_the_border_changes_the_leaderboard(case, weighing):
    given, known = case
    near = weighing.sensitivity.nearest
    metrics = {label: (metric, 0.0) for label, (metric, _) in given[3].items()}
    here, there = np.array(weighing.regions.weights), np.array(near.weights)
    for step, best in ((0.99, weighing.sensitivity.winner), (1.01, near.rival)):
        moved = np.maximum(here + step * (there - here), 0)
        for label, weight in zip(weighing.regions.metrics, moved, strict=True):
            metrics[label] = (given[3][label][0], float(weight))
        found = evaluate(
            *given[:3], metrics, candidates=known["candidates"], generator=np.random.default_rng(0), resamples=0
        )
        assert found.best == best


def test_same_seed_same_result_and_plain_json(case, weighing):
    again = weigh(*case[0], **case[1], generator=np.random.default_rng(3))
    assert again.to_json() == weighing.to_json()
    read = json.loads(json.dumps(weighing.to_json(), allow_nan=False))
    assert set(read) == {"regions", "borders", "sampling_error", "choices"}


def test_without_resamples(case):
    given, known = case
    found = weigh(*given, candidates=known["candidates"], generator=np.random.default_rng(0), resamples=0)
    assert found.sampling_error is None
    assert found.to_json()["sampling_error"] is None


def test_among_equals_the_baseline_is_named(case, decided):
    decisions, kinds, evidence, metrics = case[0]
    twin = decided(evidence, "twin", decisions["constant:Deny"].codes)
    more = {"twin": twin, **decisions}
    found = weigh(
        more, {"twin": "compromise", **kinds}, evidence, metrics,
        candidates=["twin", *case[1]["candidates"]], generator=np.random.default_rng(0), resamples=0,
    )  # fmt: skip
    region = found.regions["twin"]
    assert region.strategy == "constant:Deny"
    assert region.tied_with == ("twin",)


def test_six_weighted_metrics(case, summing):
    decisions, kinds, evidence, _ = case[0]
    metrics = {label: (metric, 1.0) for label, (metric, _) in summing.items()}
    found = weigh(
        decisions, kinds, evidence, metrics, candidates=case[1]["candidates"],
        generator=np.random.default_rng(0), resamples=5, draws=5000,
    )  # fmt: skip
    assert found.regions.method == "sampled"
    assert sum(region.share for region in found.regions.regions) == pytest.approx(1)


def test_wrong_input_is_refused(case):
    given, known = case
    generator = np.random.default_rng(0)
    with pytest.raises(UnknownNameError, match="candidate strategy"):
        weigh(*given, candidates=["god"], generator=generator)
    with pytest.raises(UnknownNameError, match="without a kind"):
        weigh(given[0], {}, *given[2:], candidates=known["candidates"], generator=generator)
    weightless = {label: (metric, 0.0) for label, (metric, _) in given[3].items()}
    with pytest.raises(InputError, match="positive weight"):
        weigh(*given[:3], weightless, candidates=known["candidates"], generator=generator)
