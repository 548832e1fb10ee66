"""The scale of answers is learned: samples against sums over a grid, and claims about people who hardly care."""

from __future__ import annotations

import numpy as np
import pytest

from accordant.errors import InputError
from accordant.preferences.elicitation import (
    Inquiry,
    NormalPrior,
    OwnChoice,
    Posterior,
    ScalePrior,
    Stopping,
    elicit,
    simulated_person,
)


def belief_of(rows):
    found = Posterior(NormalPrior(np.array([0.5, -0.5]), 4 * np.eye(2)), 0.02, scale=ScalePrior(0.1, 3.0))
    for row in rows:
        found = found.updated(row)
    return found


def log_by_hand(belief, points):
    """Return the log-density: answers by Bradley and Terry, and the prior averaged over 400 scales."""
    scales = np.geomspace(0.1, 3.0, 400)[:, None]
    squares = ((points[None] - scales[..., None] * belief.prior.mean) ** 2).sum(axis=2) / (4 * scales**2)
    log = np.log((np.exp(-0.5 * squares) / scales**2).mean(axis=0))
    for row in belief.differences:
        log += np.log(0.98 / (1 + np.exp(-points @ row)) + 0.01)
    return log


@pytest.mark.long
def test_samples_and_density_are_those_of_a_sum_over_scales():
    belief = belief_of([[1.0, 0.2], [0.5, -1.0], [-0.3, 0.8], [-1.0, -0.1], [1.5, 1.0]])
    axis = np.linspace(-15, 15, 401)
    points = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    log = log_by_hand(belief, points)
    found = belief.log_density(points[::997])
    assert found - found[0] == pytest.approx(log[::997] - log[0], abs=0.15)  # 60 scales against 400
    weights = np.exp(log - log.max())
    weights /= weights.sum()
    lengths = np.linalg.norm(points, axis=1)
    before = belief_of(belief.differences[:-1])
    for drawn in (
        belief.samples(3000, np.random.default_rng(0)),
        belief.samples_from(before.samples(3000, np.random.default_rng(1)), 1, np.random.default_rng(2)),
    ):
        spread = np.sqrt(weights @ points**2 - (weights @ points) ** 2)
        assert drawn.mean(axis=0) == pytest.approx(weights @ points, abs=0.15 * spread.max())
        for level in (0.5, 2.0, 5.0):
            assert (np.linalg.norm(drawn, axis=1) < level).mean() == pytest.approx(
                weights[lengths < level].sum(), abs=0.06
            )


def test_answers_that_contradict_each_other_make_the_scale_small():
    rows = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    torn = belief_of(np.vstack([rows, -rows, rows, -rows]))
    sure = belief_of(np.vstack([rows, rows, rows, rows]))
    lengths = [np.linalg.norm(each.samples(1000, np.random.default_rng(0)), axis=1).mean() for each in (torn, sure)]
    assert lengths[0] < 0.5 * lengths[1]
    assert np.linalg.norm(torn.mean) < np.linalg.norm(sure.mean)


def claims(scale, factor, people=8):
    """Return the claimed probability of the decision, and whether it was right, for simulated people."""
    found = []
    for seed in range(people):
        made, answering, asking = np.random.default_rng(seed).spawn(3)
        items = made.standard_normal((8, 4)) / 2
        truth = factor * 3 * made.standard_normal(4)
        plan = Inquiry(items, OwnChoice(items[:3]), samples=400, stopping=Stopping(0.95, 0.0, 12))
        belief = Posterior(NormalPrior.isotropic(4, 9.0), 0.02, scale=scale)
        end = elicit(plan, belief, simulated_person(truth, items, answering, 0.02), asking)
        found.append((end.standing.probability, end.standing.decided == (items[:3] @ truth).argmax()))
    return np.array(found, dtype=float)


@pytest.mark.long
def test_claims_about_people_who_hardly_care_are_modest():
    """Answers a tenth as sure as the prior says: near coin flips, which a known scale takes for strong preferences."""
    known, learned = claims(None, 0.1), claims(ScalePrior(), 0.1)
    assert learned[:, 0].mean() < known[:, 0].mean() - 0.05
    assert (learned[:, 0] >= 0.95).sum() <= 1


def test_a_scale_out_of_range_is_refused():
    for low, high in ((0.0, 1.0), (2.0, 1.0), (1.0, np.inf)):
        with pytest.raises(InputError, match="scale goes from"):
            ScalePrior(low, high)
    assert ScalePrior(0.1, 10.0).scales(np.zeros(1))[0] == pytest.approx(1.0)
