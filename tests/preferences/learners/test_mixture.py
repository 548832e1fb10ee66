"""Hidden types are found where they can be, and doubts are said aloud."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from accordant.errors import InputError
from accordant.preferences import Comparisons
from accordant.preferences.learners.learner import learners
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


def test_one_type_is_the_pooled_reward(opposed):
    records = opposed(n=500)
    model = learners.create("mixture", {"types": 1, "restarts": 1}).fit(records)
    pooled = learners.create("pooled").fit(records)
    assert model.coefficients[0] == pytest.approx(pooled.coefficients, abs=1e-4)


def test_empty_types_and_users_without_records_are_safe(opposed):
    records = opposed(share=1.0, n=1500)
    more = Comparisons(records.features, records.chosen, records.rejected, records.users, (*records.names, "silent"))
    model = learners.create("mixture", {"types": 4, "assignment": "hard", "restarts": 2}).fit(more)
    assert np.isfinite(model.coefficients).all()
    assert model.memberships[-1] == pytest.approx(model.shares)
    assert np.array_equal(model.rewards(more.features, None), more.features @ (model.shares @ model.coefficients))


def test_few_records_are_said_aloud(opposed):
    records = opposed(n=300)
    assert "fewer than 10 comparisons" in learners.create("mixture", {"restarts": 1}).fit(records).warnings[0]


def test_the_same_generator_gives_the_same_bytes(opposed):
    records = opposed(n=500)
    first, second = (
        learners.create("mixture", {"restarts": 2}).fit(records, generator=np.random.default_rng(5)) for _ in range(2)
    )
    assert first.coefficients.tobytes() == second.coefficients.tobytes()


@pytest.mark.parametrize("wrong", [{"types": 0}, {"restarts": 0}, {"rounds": True}, {"assignment": "maybe"}])
def test_wrong_parameters_are_refused(wrong):
    with pytest.raises(InputError):
        learners.create("mixture", wrong)
