"""A start of adaptation that counts users more who are served badly after it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from accordant.errors import DataError, InputError
from accordant.preferences import Comparisons
from accordant.preferences.learners.learner import learners
from accordant.preferences.learners.logistic import LogisticProblem, log_loss
from accordant.preferences.learners.meta_reweighting import MetaReweighted, hard_user_weights
from accordant.preferences.synthetic import world


def sample(name="antipodal", **changes):
    small = {"users": 24, "features": 5, "records": 20, "test_records": 20}
    return world(name, **{**small, **changes}).drawn(np.random.default_rng(3))


def problem_of(records, *, size=2, prior=1.5, ridge=0.05):
    directions = np.random.default_rng(4).normal(size=(records.features.shape[1], size))
    learner = MetaReweighted(prior=prior, ridge=ridge, directions=size)
    problem = learner.problem(records, np.zeros(len(directions)), directions, np.random.default_rng(0))
    return problem, directions


def test_losses_are_those_of_a_users_query_after_adaptation_to_the_support():
    records = sample(users=4, records=5).training
    problem, directions = problem_of(records)
    common = np.random.default_rng(5).normal(size=5)
    found = problem.user_losses(common)
    for user in range(4):
        x = records.differences(np.flatnonzero(records.users == user))
        query, support = x[::2], x[1::2]
        adaptation = LogisticProblem(support @ directions, offsets=support @ common, ridge=1.5 / len(support))
        place = adaptation.solve(tolerance=1e-12).coefficients
        assert found[user] == pytest.approx(log_loss(query @ (common + directions @ place)).mean(), abs=1e-9)


def test_the_gradient_is_the_slope_through_the_adaptation():
    records = sample(users=6, features=4, records=5).training
    records = replace(records, weights=np.random.default_rng(6).random(len(records)))
    problem, _ = problem_of(records)
    common, weights = np.random.default_rng(7).normal(size=4), np.random.default_rng(8).random(6)
    _, gradient = problem.value_and_gradient(common, weights)
    for step, slope in zip(1e-5 * np.eye(4), gradient, strict=True):
        high, low = (problem.value_and_gradient(common + way * step, weights)[0] for way in (1, -1))
        assert (high - low) / 2e-5 == pytest.approx(slope, abs=1e-8)


def test_weights_are_those_of_the_formula():
    losses = np.array([0.2, 0.4, 0.6, 0.8, np.nan])
    found = hard_user_weights(losses, share=0.5, softness=0.5)
    assert found[:4] == pytest.approx(1 / (1 + np.exp(-(losses[:4] - 0.5) / 0.5)))
    assert found[4] == 0
    assert hard_user_weights(np.array([1.0]), 0.5, 0.5) == pytest.approx([0.5])


def test_a_user_with_one_record_counts_with_the_loss_of_the_start_itself():
    records = sample(users=3, records=3).training.take(np.array([0, 1, 2, 3, 6, 7]))
    problem, _ = problem_of(records)
    common = np.random.default_rng(9).normal(size=5)
    assert problem.user_losses(common)[1] == pytest.approx(log_loss(records.differences([3]) @ common)[0])
    only = records.take(np.array([0, 3, 4]))
    alone, _ = problem_of(only)
    assert alone.user_losses(common) == pytest.approx(log_loss(only.differences() @ common))
    assert np.isfinite(learners.create("meta_reweighted").fit(only).margins(only)).all()


def test_users_without_a_query_do_not_count():
    """Whether they are there changes neither the problem nor what is learned of the others."""
    records = sample(users=6, features=4, records=6).training
    silent = replace(records, weights=np.where(records.users >= 4, 0.0, 1.0))
    known = records.take(np.flatnonzero(records.users < 4))
    known = replace(known, user_names=records.names[:4], groups=None, user_features=None)
    problem, _ = problem_of(silent)
    without, _ = problem_of(known)
    common, weights = np.random.default_rng(7).normal(size=4), np.array([1.0, 2.0, 1.0, 3.0, 5.0, 1.0])
    losses = problem.user_losses(common)
    assert losses[:4] == pytest.approx(without.user_losses(common)) and np.isnan(losses[4:]).all()
    (value, gradient), (expected, slope) = (
        problem.value_and_gradient(common, weights), without.value_and_gradient(common, weights[:4])
    )  # fmt: skip
    assert value == pytest.approx(expected) and gradient == pytest.approx(slope)
    found, plain = (MetaReweighted(rounds=2).fit(some, generator=np.random.default_rng(0)) for some in (silent, known))
    assert found.margins(known) == pytest.approx(plain.margins(known), abs=1e-4)


def test_hard_users_weigh_more_and_are_served_better_than_without_reweighting():
    records = sample("90:10", users=30, features=6).training
    sharp = learners.create("meta_reweighted", {"softness": 0.02, "directions": 1}).fit(records)
    plain = learners.create("meta_reweighted", {"softness": 1e6, "directions": 1}).fit(records)
    problem, _ = problem_of(records)
    problem = MetaReweighted(directions=1).problem(records, plain.common, plain.directions, np.random.default_rng(0))
    losses = {name: problem.user_losses(model.common) for name, model in (("sharp", sharp), ("plain", plain))}
    hardest = losses["plain"] >= np.quantile(losses["plain"], 0.5)
    assert losses["sharp"][hardest].mean() < losses["plain"][hardest].mean()
    assert losses["sharp"].mean() > losses["plain"].mean()


def test_opposed_users_are_told_apart_and_new_ones_by_few_records():
    drawn = sample()
    model = learners.create("meta_reweighted").fit(drawn.training)
    pooled = learners.create("pooled").fit(drawn.training)
    accuracy = (model.margins(drawn.test) > 0).mean()
    assert accuracy > (pooled.margins(drawn.test) > 0).mean() + 0.15
    adapted = model.adapted(drawn.first)
    assert (adapted.margins(drawn.later) > 0).mean() > (pooled.margins(drawn.later) > 0).mean() + 0.1
    assert np.array_equal(model.adapted(drawn.training).places, model.places)


def test_strangers_get_the_start_and_results_repeat():
    records = sample().training
    model, again = (learners.create("meta_reweighted").fit(records) for _ in range(2))
    assert np.array_equal(model.common, again.common)
    for user in (None, 24, -1):
        assert np.array_equal(model.rewards(np.eye(5), user), model.common)
    nobody = model.adapted(Comparisons(np.eye(5), [0], [1], [0], user_names=("a", "b")))
    assert np.array_equal(nobody.rewards(np.eye(5), 1), model.common)


def test_what_cannot_be_learned_is_refused():
    for parameters, said in (
        ({"share": 0}, "share is 0"),
        ({"share": 1.5}, "share is 1.5"),
        ({"softness": 0}, "softness is 0"),
        ({"directions": True}, "directions is True"),
        ({"rounds": 0}, "rounds is 0"),
    ):
        with pytest.raises(InputError, match=said):
            learners.create("meta_reweighted", parameters)
    with pytest.raises(DataError, match="no comparisons"):
        learners.create("meta_reweighted").fit(sample().training.take(np.arange(0)))


def test_the_support_of_a_user_shares_no_item_with_the_query():
    high, low = np.triu_indices(6, 1)
    users = np.repeat([0, 1], len(high))
    features = np.random.default_rng(10).normal(size=(6, 3))
    records = Comparisons(features, np.tile(high, 2), np.tile(low, 2), users)
    problem, directions = problem_of(records)
    pairs = {tuple(x): {i, j} for i, j, x in zip(high, low, features[high] - features[low], strict=True)}
    for user in (0, 1):
        query, support = (
            set().union(*(pairs[tuple(x)] for x in each[part.users == user]))
            for each, part in (
                (problem.query_differences, problem.query),
                (problem.support_differences, problem.support),
            )
        )
        assert len(query) == len(support) == 3
        assert not query & support
    assert problem.query.columns == pytest.approx(problem.query_differences @ directions)
