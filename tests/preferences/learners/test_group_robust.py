"""The worst group's loss, against a search over the only coefficient."""

from __future__ import annotations

import numpy as np
import pytest

from accordant.errors import InputError
from accordant.preferences.learners.group_robust import reweighted
from accordant.preferences.learners.learner import learners
from accordant.preferences.learners.logistic import log_loss


def test_one_step_of_the_published_example():
    assert reweighted(np.array([0.5, 0.5]), np.array([0.3, 0.7]), 0.01) == pytest.approx([0.499, 0.501], abs=1e-6)


def test_weights_move_to_the_worse_group():
    shares = reweighted(np.array([0.5, 0.5]), np.array([0.2, 0.9]), 1.0)
    assert shares[1] > shares[0]


def test_the_worst_group_is_served_as_well_as_any_coefficient_can(opposed):
    records = opposed(share=0.8)
    group = np.array(records.groups)[records.users]
    differences = records.differences()[:, 0]

    def worst(theta):
        loss = log_loss(theta * differences)
        return max(loss[group == name].mean() for name in ("many", "few")) + 0.5e-4 * theta**2

    model = learners.create("group_robust", {"rounds": 200}).fit(records)
    best = min(worst(theta) for theta in np.linspace(-3, 3, 6001))
    assert worst(model.coefficients[0]) == pytest.approx(best, abs=2e-3)
    pooled = learners.create("bradley_terry").fit(records)
    assert worst(model.coefficients[0]) < worst(pooled.coefficients[0]) - 0.1


@pytest.mark.parametrize("wrong", [{"rate": 0.0}, {"rounds": 0}, {"ridge": -1.0}])
def test_wrong_parameters_are_refused(wrong):
    with pytest.raises(InputError):
        learners.create("group_robust", wrong)
