"""Hidden types are found where they can be, and doubts are said aloud."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from accordant.errors import InputError
from accordant.preferences import Comparisons
from accordant.preferences.learners.learner import learners
from accordant.preferences.learners.mixture import Mixture
from accordant.preferences.learners.logistic import log_loss


def agreement(model, groups):
    """Share of users in the right type, under the best naming of the types."""
    found, truth = model.memberships.argmax(axis=1), np.unique(np.array(groups), return_inverse=True)[1]
    names = itertools.permutations(range(len(model.shares)))
    return max((np.array(each)[found] == truth).mean() for each in names)


@pytest.mark.parametrize("assignment", ["soft", "hard"])
def test_two_opposed_groups_are_recovered(opposed, assignment):
    records = opposed(share=0.7)
    model = learners.create("mixture", {"assignment": assignment}).fit(records)
    assert agreement(model, records.groups) >= 0.95
    assert sorted(np.sign(model.coefficients[:, 0])) == [-1.0, 1.0]
    assert sorted(model.shares) == pytest.approx([0.3, 0.7], abs=0.05)
    assert not model.warnings
    margins = model.margins(records)
    assert log_loss(margins).mean() < log_loss(learners.create("pooled").fit(records).margins(records)).mean() - 0.05


def test_soft_assignments_never_lower_the_likelihood(opposed):
    records = opposed(n=600)
    reached = [
        learners.create("mixture", {"rounds": rounds, "restarts": 1, "ridge": 1e-9}).fit(records).log_likelihood
        for rounds in (1, 2, 4, 8, 16)
    ]
    assert (np.diff(reached) >= -1e-6).all()


def raised(model, records, ridge):
    """What every round raises."""
    return model.log_likelihood - 0.5 * ridge * records.record_weights.sum() * (model.coefficients**2).sum()


@pytest.mark.long
@pytest.mark.parametrize("assignment", ["soft", "hard"])
@pytest.mark.parametrize("ridge", [1e-4, 1e-2, 0.1, 1.0])
def test_every_round_raises_the_penalised_likelihood(opposed, assignment, ridge):
    records = opposed(n=400, share=0.7)
    weighed = replace(records, weights=np.random.default_rng(1).random(400))
    for seed in range(3):
        options = {"restarts": 1, "ridge": ridge, "assignment": assignment, "change": 0.0}
        reached = [
            raised(
                Mixture(rounds=rounds, **options).fit(weighed, generator=np.random.default_rng(seed)), weighed, ridge
            )
            for rounds in range(1, 16)
        ]
        assert (np.diff(reached) >= -1e-9 * np.abs(reached[:-1])).all()


def test_the_start_that_reaches_most_goes_on(opposed):
    records, ridge = opposed(n=400, share=0.7), 0.3
    options = {"types": 3, "rounds": 8, "ridge": ridge}
    generator = np.random.default_rng(2)
    alone = [Mixture(restarts=1, **options).fit(records, generator=generator) for _ in range(6)]
    together = Mixture(restarts=6, **options).fit(records, generator=np.random.default_rng(2))
    best = max(raised(each, records, ridge) for each in alone)
    assert best > min(raised(each, records, ridge) for each in alone) + 0.1
    assert raised(together, records, ridge) == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("ridge", [1e-4, 0.1])
def test_one_type_is_the_pooled_reward(opposed, ridge):
    records = opposed(n=500)
    model = learners.create("mixture", {"types": 1, "restarts": 1, "ridge": ridge}).fit(records)
    pooled = learners.create("pooled", {"ridge": ridge}).fit(records)
    assert model.coefficients[0] == pytest.approx(pooled.coefficients, abs=1e-4)


@pytest.mark.parametrize("assignment", ["soft", "hard"])
def test_records_without_weight_count_nowhere(opposed, assignment):
    records = opposed(share=0.7)
    silent = records.users % 3 == 0
    without = records.take(np.flatnonzero(~silent))
    model, expected = (
        Mixture(assignment=assignment).fit(each, generator=np.random.default_rng(3))
        for each in (replace(records, weights=np.where(silent, 0.0, 1.0)), without)
    )
    assert model.shares == pytest.approx(expected.shares, abs=1e-9)
    assert model.log_likelihood == pytest.approx(expected.log_likelihood)
    assert np.array_equal(model.has_weight, np.arange(100) % 3 != 0)
    assert model.sizes.tolist() == expected.sizes.tolist()
    assert model.sizes.sum() == model.has_weight.sum() == 66
    assert np.allclose(model.memberships[0], model.shares)
    assert model.unsure == pytest.approx(expected.unsure)
    assert model.unsure < 0.1


def test_a_user_whose_records_weigh_nothing_is_not_said_to_have_few(opposed):
    records = opposed()
    few = np.where((records.users == 0) & (np.cumsum(records.users == 0) > 3), 0.0, 1.0)
    assert "1 of 100 users" in Mixture(restarts=1).fit(replace(records, weights=few)).warnings[0]
    none = np.where(records.users == 0, 0.0, 1.0)
    assert Mixture(restarts=1).fit(replace(records, weights=none)).warnings == ()


def test_nobody_heard_is_nobody_unsure(opposed):
    model = Mixture(restarts=1).fit(opposed(n=500)).adapted(opposed().take(np.array([], dtype=int)))
    assert np.isnan(model.unsure)
    assert model.sizes.tolist() == [0, 0]


def test_a_hard_mixture_stays_hard_for_other_users(opposed):
    records = opposed(share=0.7, n=300)
    model = Mixture(assignment="hard").fit(records)
    again = model.adapted(records)
    assert again.assignment == "hard"
    assert np.array_equal(again.memberships, model.memberships)
    assert again.log_likelihood == pytest.approx(model.log_likelihood)
    others = model.adapted(opposed(n=300, seed=1))
    assert set(np.unique(others.memberships[others.has_weight])) == {0.0, 1.0}
    assert np.allclose(others.memberships[~others.has_weight], model.shares)
    soft = Mixture().fit(records)
    assert soft.adapted(records).memberships == pytest.approx(soft.memberships, abs=1e-4)


def test_empty_types_and_users_without_records_are_safe(opposed):
    records = opposed(share=1.0, n=1500)
    more = Comparisons(records.features, records.chosen, records.rejected, records.users, (*records.names, "silent"))
    model = learners.create("mixture", {"types": 4, "assignment": "hard", "restarts": 2}).fit(more)
    assert np.isfinite(model.coefficients).all()
    assert model.memberships[-1] == pytest.approx(model.shares)
    assert np.array_equal(model.rewards(more.features, None), more.features @ (model.shares @ model.coefficients))


def test_few_records_are_said_aloud(opposed):
    records = opposed(n=300)
    said = learners.create("mixture", {"restarts": 1}).fit(records).warnings[0]
    assert "fewer than 10 comparisons" in said
    assert said.endswith("rankings of three or more items are reported to")


def test_the_same_generator_gives_the_same_bytes(opposed):
    records = opposed(n=500)
    first, second = (
        learners.create("mixture", {"restarts": 2}).fit(records, generator=np.random.default_rng(5)) for _ in range(2)
    )
    assert first.coefficients.tobytes() == second.coefficients.tobytes()


@pytest.mark.parametrize(
    "wrong",
    [
        {"types": 0}, {"restarts": 0}, {"rounds": True}, {"assignment": "maybe"}, {"ridge": 0.0}, {"ridge": -1.0},
        {"change": -1e-9}, {"change": np.nan}, {"tolerance": 0.0},
    ],
)  # fmt: skip
def test_wrong_parameters_are_refused(wrong):
    with pytest.raises(InputError):
        learners.create("mixture", wrong)
