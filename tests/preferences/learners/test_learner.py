"""What all reward models have in common: features of a wrong shape never become rewards."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from accordant.preferences.checks import check_positive, check_whole
from accordant.errors import InputError
from accordant.preferences import Comparisons
from accordant.preferences.learners.learner import checked_features, learners
from accordant.preferences.synthetic import world

LINEAR = ("bradley_terry", "balanced", "group_robust", "per_group", "per_user", "mixture", "distributional")

NETWORKS = ("mlp", "user_encoder", "variational")


@pytest.fixture
def records():
    """Three comparisons of two users with three features."""
    features = np.random.default_rng(0).normal(size=(6, 3))
    return Comparisons(features, [0, 2, 4], [1, 3, 5], [0, 0, 1], groups=("a", "b"), user_features=np.eye(2))


@pytest.fixture(params=[*LINEAR, "contextual"])
def model(request, records):
    """A model of each linear learner."""
    if request.param == "contextual":
        return learners.create("bradley_terry", {"context": "given"}).fit(records)
    return learners.create(request.param).fit(records)


@pytest.mark.few(10)
@pytest.mark.parametrize("shape", [(3,), (4, 1), (2, 4), (2, 3, 1), ()])
def test_features_of_another_shape_are_refused(model, shape):
    with pytest.raises(InputError, match=r"features have shape .*allowed: \(item, 3\), as in training"):
        model.rewards(np.ones(shape), 0)


def test_items_of_another_width_have_no_margins(model, records):
    wider = replace(records, features=np.hstack([records.features, records.features]))
    with pytest.raises(InputError, match="features have shape"):
        model.margins(wider)
    assert model.margins(records).shape == (3,)
    assert model.rewards(records.features).shape == (6,)
    assert model.rewards(records.features[:0]).shape == (0,)


def test_means_and_spreads_refuse_them_too(records):
    model = learners.create("distributional").fit(records)
    for ask in (model.spreads, model.deviations, model.explained, lambda features: model.quantiles(features, 0.5)):
        with pytest.raises(InputError, match="features have shape"):
            ask(np.ones(3))


def test_whole_numbers_are_features_and_words_are_not():
    assert checked_features([[1, 2]], 2).shape == (1, 2)
    with pytest.raises(InputError, match="allowed: numbers"):
        checked_features([["a", "b"]], 2)


def test_parameters_are_named_when_they_are_refused():
    check_positive(ridge=1e-300)
    check_whole(steps=1)
    for wrong in (0.0, -1.0, np.inf, np.nan):
        with pytest.raises(InputError, match="ridge is .*; allowed: above 0"):
            check_positive(rate=1.0, ridge=wrong)
    for wrong in (0, -1, 1.5, True, np.nan):
        with pytest.raises(InputError, match="steps is .*; allowed: a whole number from 1"):
            check_whole(rounds=2, steps=wrong)


@pytest.mark.parametrize("name", sorted(set(learners.names()) - set(NETWORKS)))
def test_records_without_weight_change_nothing(name):
    """Some of everybody's, and all of two users; networks draw other records then."""
    sample = world("antipodal", users=6, records=8, features=2, test_records=5).drawn(np.random.default_rng(0))
    silent = np.isin(sample.training.users, (1, 5)) | (np.random.default_rng(1).random(48) < 0.2)
    records = (
        replace(sample.training, weights=np.where(silent, 0.0, 1.0)),
        sample.training.take(np.flatnonzero(~silent)),
    )
    learner = learners.create(name, {"ridge": 0.1} if name == "distributional" else None)  # else nearly without bound
    given, without = (learner.fit(some, generator=np.random.default_rng(0)).margins(sample.test) for some in records)
    assert given == pytest.approx(without, rel=1e-4, abs=1e-4)
