"""A reward for each group: how far it goes from the pooled one, and on which records that is decided."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from accordant.preferences import Comparisons
from accordant.preferences.learners.pareto_distillation import ParetoDistillation
from accordant.preferences.learners.specialists import FOLDS, NO_STEP, PRIORS, record_folds
from accordant.preferences.learners.logistic import LogisticProblem, log_loss
from accordant.preferences.synthetic import world


def lesson_of(name="antipodal", seed=0, context="none", learner=None, **changes):
    sizes = {"users": 14, "records": 6, "features": 3} | changes
    training = world(name, **sizes).drawn(np.random.default_rng(seed)).training
    return (learner or ParetoDistillation(context=context)).lesson(training)


def test_the_strongest_prior_stands_first_so_that_ties_go_to_the_pooled_reward():
    assert PRIORS[0] == NO_STEP
    assert list(PRIORS) == sorted(PRIORS, reverse=True)


@pytest.mark.parametrize("name", ["antipodal", "scarce", "alike"])
def test_the_prior_is_the_best_of_the_grid_on_held_out_users(name):
    lesson = lesson_of(name, minority=0.4)
    records, x = lesson.comparisons, lesson.comparisons.differences()
    folds, group = record_folds(records, lesson.groups).sides[0], lesson.groups.of_record
    for g, found in lesson.specialists.items():
        losses, hits = [], []
        for prior in PRIORS:
            total, right = 0.0, 0
            for fold in range(FOLDS):
                common = LogisticProblem(x[folds != fold], ridge=1e-4).solve(tolerance=1e-7).coefficients
                inside = (folds != fold) & (group == g)
                near = LogisticProblem(x[inside], ridge=min(prior, 1e9) / inside.sum(), centre=common)
                theta = near.solve(common, tolerance=1e-7).coefficients
                margins = x[(folds == fold) & (group == g)] @ theta
                total, right = total + log_loss(margins).sum(), right + (margins > 0).sum()
            losses.append(total)
            hits.append(right / (group == g).sum())
        assert losses[PRIORS.index(found.prior)] <= min(losses) * (1 + 1e-4)
        assert found.pooled_held_out == pytest.approx(hits[0])
        assert found.held_out == pytest.approx(hits[PRIORS.index(found.prior)])


def test_a_specialist_is_the_best_reward_under_its_prior():
    training = world("antipodal", users=14, records=6, features=3).drawn(np.random.default_rng(0)).training
    weights = np.random.default_rng(1).integers(0, 5, len(training)).astype(float)
    lesson = ParetoDistillation(context="none").lesson(replace(training, weights=weights))
    for g, found in lesson.specialists.items():
        assert found.prior < NO_STEP
        rows = lesson.groups.of_record == g

        def slow(theta, x=training.differences()[rows], w=weights[rows], prior=found.prior):
            """The formula at the top of specialists.py."""
            return w @ np.log1p(np.exp(-x @ theta)) + 0.5 * prior * ((theta - lesson.pooled) ** 2).sum()

        here = slow(found.coefficients)
        assert here < slow(lesson.pooled)
        for k in range(3):
            step = 1e-5 * np.eye(3)[k]
            slope = (slow(found.coefficients + step) - slow(found.coefficients - step)) / 2e-5
            assert slope == pytest.approx(0.0, abs=1e-5)


def test_specialists_of_opposed_groups_are_opposed_and_better_on_records_that_they_did_not_see():
    lesson = lesson_of(users=40, records=20, individuality=0.0)
    first, second = (each.coefficients for each in lesson.specialists.values())
    assert first @ second < -0.8 * np.linalg.norm(first) * np.linalg.norm(second)
    for each in lesson.specialists.values():
        assert each.held_out > 0.7 > each.pooled_held_out


@pytest.mark.long
def test_groups_that_are_alike_often_stay_at_the_pooled_reward_and_opposed_ones_never():
    shares = {}
    for name in ("alike", "antipodal"):
        lessons = [lesson_of(name, seed, individuality=0.0, users=20) for seed in range(8)]
        priors = [each.prior for lesson in lessons for each in lesson.specialists.values()]
        shares[name] = np.mean(np.array(priors) == NO_STEP)
    assert shares["antipodal"] == 0.0
    assert shares["alike"] >= 0.25


def test_users_are_dealt_whole_where_there_are_enough():
    lesson = lesson_of(users=14, minority=0.2)
    records, (folds, other) = lesson.comparisons, record_folds(lesson.comparisons, lesson.groups).sides
    assert np.array_equal(folds, other)
    majority = [set(folds[records.users == user]) for user in range(11)]
    assert all(len(each) == 1 for each in majority)
    assert set.union(*majority) == set(range(FOLDS))
    few = folds[records.users >= 11]
    assert sorted(np.bincount(few).tolist()) == [3, 3, 4, 4, 4]


def test_as_many_users_as_folds_are_dealt_whole_and_fewer_are_dealt_by_items():
    for users, whole in ((FOLDS, True), (FOLDS - 1, False)):
        training = world("alike", users=users + 7, records=6, features=3).drawn(np.random.default_rng(0)).training
        records = training.with_groups(["many"] * 7 + ["few"] * users)
        folds = record_folds(records, ParetoDistillation(context="none").lesson(records).groups).sides[0]
        of_user = [set(folds[records.users == user]) for user in range(7, 7 + users)]
        assert all((len(dealt) == 1) == whole for dealt in of_user)
        assert set.union(*of_user) == set(range(FOLDS))


def noise(*, copies=1, rated=False, records=30, seed=0):
    """Return records of 16 users and 3 of another group, whose answers say nothing."""
    generator, pairs = np.random.default_rng(seed), [(0, 1)] * copies
    if rated:  # all pairs of 12 items in an order by chance
        pairs, records = list(zip(*np.triu_indices(12, 1), strict=True)), 1
    items = 12 if rated else 2
    ends = np.array([np.array(pairs) + items * k for k in range(19 * records)]).reshape(-1, 2)
    users = np.repeat(np.arange(19), records * len(pairs))
    features = generator.normal(size=(19 * records * items, 6))
    return Comparisons(features, *ends.T, users, groups=["many"] * 16 + ["few"] * 3)


@pytest.mark.long
@pytest.mark.parametrize("shape", [{"copies": 3}, {"rated": True}])
def test_of_few_users_no_item_of_a_held_out_record_is_known(shape):
    records = noise(**shape)
    lesson = ParetoDistillation(context="none").lesson(records)
    few, folds = records.users >= 16, record_folds(records, lesson.groups)
    items = np.stack([records.chosen, records.rejected])
    judged = np.zeros(len(records), dtype=int)
    for fold in range(FOLDS):
        held, known = few & folds.held_out(fold), few & folds.known(fold)
        assert held.any()
        assert known.any()
        assert not set(items[:, held].ravel()) & set(items[:, known].ravel())
        judged += held
    assert judged[few].max() == 1
    assert judged[few].min() == (0 if "rated" in shape else 1)


@pytest.mark.few(1)
@pytest.mark.parametrize("shape", [{"copies": 3}, {"rated": True}])
def test_few_users_whose_answers_say_nothing_do_not_look_predictable(shape):
    lessons = [ParetoDistillation(context="none").lesson(noise(seed=seed, **shape)) for seed in range(6)]
    few = [found for lesson in lessons for g, found in lesson.specialists.items() if lesson.groups.names[g] == "few"]
    assert len(few) == 6
    assert np.mean([found.held_out for found in few]) < 0.57
    assert sum(found.prior == NO_STEP for found in few) >= 3


def test_records_without_weight_are_in_no_fold():
    lesson = lesson_of()
    weights = (np.arange(len(lesson.comparisons)) % 3 > 0).astype(float)
    folds = record_folds(replace(lesson.comparisons, weights=weights), lesson.groups).sides
    assert ((folds == -1) == (weights == 0)).all()


def test_a_group_of_one_record_stays_with_the_pooled_reward_or_near_it():
    training = world("alike", users=8, records=6, features=3).drawn(np.random.default_rng(0)).training
    training = training.take(np.arange(43)).with_groups(["many"] * 7 + ["one"])
    lesson = ParetoDistillation(context="none").lesson(training)
    one = lesson.specialists[1]
    assert one.prior == NO_STEP
    assert np.array_equal(one.coefficients, lesson.pooled)


def test_nothing_to_hold_out_means_the_pooled_reward():
    training = (
        world("alike", users=2, records=1, features=2).drawn(np.random.default_rng(0)).training.take(np.array([0]))
    )
    lesson = ParetoDistillation(context="none").lesson(training)
    (only,) = lesson.specialists.values()
    assert only.prior == NO_STEP
    assert np.isnan(only.held_out)


def test_specialists_read_the_context_if_asked_to():
    blind, informed = (
        lesson_of(learner=ParetoDistillation(context="given", specialist_context=reads), known=5) for reads in (False, True)
    )  # fmt: skip
    assert [len(each.coefficients) for each in blind.specialists.values()] == [3, 3]
    assert [len(each.coefficients) for each in informed.specialists.values()] == [12, 12]
    assert blind.contextless_margins is not None
    assert informed.contextless_margins is None
