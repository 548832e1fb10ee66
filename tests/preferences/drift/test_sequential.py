"""Following streams: a plain loop as twin, one block is the batch estimate, nothing sees its own answer, drift."""

from __future__ import annotations

import numpy as np
import pytest

from accordant.errors import DataError, InputError, UnknownNameError
from accordant.preferences import Comparisons
from accordant.preferences.drift import Belief, TasteChange, follow, update
from accordant.preferences.learners.logistic import LogisticProblem


def world(n=120, n_users=4, d=3, seed=0, flip=None):
    """Logistic answers of users with one reward each; after the time `flip` all rewards are reversed."""
    generator = np.random.default_rng(seed)
    features, users = generator.normal(size=(2 * n, d)), generator.integers(0, n_users, n)
    times = np.sort(generator.integers(0, n // 2, n)).astype(float)
    theta = 1.5 * generator.normal(size=(n_users, d))
    sign = np.ones(n) if flip is None else np.where(times < flip, 1.0, -1.0)
    one, two = np.arange(n), np.arange(n, 2 * n)
    margin = sign * ((features[one] - features[two]) * theta[users]).sum(axis=1)
    right = generator.random(n) < 1 / (1 + np.exp(-margin))
    names = tuple(f"u{user}" for user in range(n_users + 1))  # the last has no records
    groups = tuple("ab"[user % 2] for user in range(n_users)) + ("c",)
    weights = generator.choice([0.0, 0.5, 1.0], n)
    return Comparisons(
        features, np.where(right, one, two), np.where(right, two, one), users, names, groups, weights
    ), times  # fmt: skip


def slowly(records, streams, prior, change, times, blocks):
    """Follow by a plain loop over sorted blocks."""
    margins, beliefs = np.full(len(records), np.nan), {}
    for stream in sorted(set(streams.tolist())):
        belief, last = prior, None
        mine = [row for row in range(len(records)) if streams[row] == stream]
        keys = sorted({(times[row], blocks[row]) for row in mine}, key=lambda key: (key[0], _first(mine, blocks, key)))
        for time, block in keys:
            rows = np.array([row for row in mine if blocks[row] == block])
            belief = change.after(belief, prior, 0.0 if last is None else time - last)
            last = time
            margins[rows] = belief.margins(records.differences(rows))
            belief = update(belief, records.differences(rows), records.record_weights[rows])
        beliefs[stream] = belief
    return margins, beliefs


def _first(mine, blocks, key):
    return min(row for row in mine if blocks[row] == key[1])


@pytest.mark.few(2)
@pytest.mark.parametrize("change", [TasteChange(), TasteChange(0.8), TasteChange(1.0, 0.3)])
@pytest.mark.parametrize("by", ["user", "group"])
def test_against_a_plain_loop(change, by):
    records, times = world()
    prior = Belief.around(np.array([0.3, 0.0, -0.2]), 0.7)
    shuffled = np.random.default_rng(1).permutation(len(records))
    records, times = records.take(shuffled), times[shuffled]
    streams = records.users if by == "user" else np.array([0, 1, 0, 1, 2])[records.users]
    blocks = np.unique(times, return_inverse=True)[1]
    expected, beliefs = slowly(records, streams, prior, change, times, blocks)
    found = follow(records, prior, change, times=times, by=by)
    np.testing.assert_allclose(found.margins, expected, atol=1e-9)
    np.testing.assert_allclose(found.log_loss, np.log1p(np.exp(-expected)))
    for stream, belief in beliefs.items():
        np.testing.assert_allclose(found.beliefs[stream].mean, belief.mean, atol=1e-9)
        np.testing.assert_allclose(found.beliefs[stream].covariance, belief.covariance, atol=1e-9)
    assert found.blocks == len(set(zip(streams.tolist(), times.tolist(), strict=True)))


def test_blocks_without_times_take_one_unit_each():
    records, _ = world(60)
    prior, change = Belief.around(np.zeros(3), 1.0), TasteChange(0.7)
    blocks = np.arange(60) // 5
    steps = np.empty(60)
    for user in range(4):
        rows = np.flatnonzero(records.users == user)
        steps[rows] = np.unique(blocks[rows], return_inverse=True)[1]
    expected, _ = slowly(records, records.users, prior, change, steps, blocks)
    np.testing.assert_allclose(follow(records, prior, change, blocks=blocks).margins, expected, atol=1e-9)
    every = follow(records, prior, change)
    alone = follow(records, prior, change, blocks=np.arange(60))
    np.testing.assert_array_equal(every.margins, alone.margins)


def test_large_blocks_beside_small_ones():
    records, _ = world(400, n_users=4)
    prior = Belief.around(np.zeros(3), 1.0)
    blocks = np.where(records.users == 0, 0, np.arange(400) // 40)
    expected, beliefs = slowly(records, records.users, prior, TasteChange(), blocks.astype(float), blocks)
    found = follow(records, prior, blocks=blocks)
    np.testing.assert_allclose(found.margins, expected, atol=1e-7)
    np.testing.assert_allclose(found.beliefs[0].mean, beliefs[0].mean, atol=1e-7)


def test_one_block_is_the_batch_estimate():
    """Forgetting nothing, one block: the maximum a posteriori estimate of the batch learner, within 1e-7."""
    records, _ = world(300, n_users=2)
    prior = Belief.around(np.array([0.5, -0.5, 0.1]), 0.4)
    found = follow(records, prior, blocks=np.zeros(300, dtype=int))
    for user in range(2):
        rows = np.flatnonzero(records.users == user)
        w = records.record_weights[rows]
        batch = LogisticProblem(
            records.differences(rows), weights=w, ridge=1 / (0.4 * w.sum()), centre=prior.mean
        ).solve(tolerance=1e-11)  # fmt: skip
        np.testing.assert_allclose(found.beliefs[user].mean, batch.coefficients, atol=1e-7)
    np.testing.assert_allclose(found.margins, prior.margins(records.differences()), atol=1e-12)


def test_record_by_record_is_near_the_batch():
    records, _ = world(300, n_users=1)
    prior = Belief.around(np.zeros(3), 1.0)
    one, batch = follow(records, prior), follow(records, prior, blocks=np.zeros(300, dtype=int))
    away = one.beliefs[0].mean - batch.beliefs[0].mean
    assert np.abs(away).max() > 1e-6  # not the same: Laplace per step is an approximation
    assert away @ np.linalg.solve(batch.beliefs[0].covariance, away) < 0.5  # but well within what is not known


def test_no_record_predicts_itself():
    records, times = world()
    prior = Belief.around(np.zeros(3), 1.0)
    turned = Comparisons(
        records.features, np.append(records.chosen[:-1], records.rejected[-1]),
        np.append(records.rejected[:-1], records.chosen[-1]), records.users, records.names, None, records.weights,
    )  # fmt: skip
    one, two = follow(records, prior, times=times), follow(turned, prior, times=times)
    np.testing.assert_array_equal(one.margins[:-1], two.margins[:-1])
    assert one.margins[-1] == -two.margins[-1] != 0


def test_whoever_is_unknown_or_silent_is_the_prior():
    records, times = world()
    found = follow(records, Belief.around(np.ones(3), 0.2), times=times)
    assert found.names[4] == "u4" and found.of(None) is found.prior
    np.testing.assert_array_equal(found.of("u4").mean, np.ones(3))
    np.testing.assert_array_equal(found.model.of_user(17), np.ones(3))
    np.testing.assert_array_equal(found.model.of_user(2), found.of("u2").mean)
    by_group = follow(records, Belief.around(np.ones(3), 0.2), times=times, by="group")
    assert by_group.names == ("a", "b", "c")
    np.testing.assert_array_equal(by_group.model.of_user(3), by_group.of("b").mean)
    with pytest.raises(UnknownNameError, match="u9"):
        found.of("u9")


@pytest.mark.long
def test_forgetting_pays_after_a_change_and_costs_without_one():
    prior = Belief.around(np.zeros(3), 1.0)
    for flip, better in ((300, True), (None, False)):
        records, times = world(1200, n_users=4, seed=3, flip=flip)
        kept, forgot = (follow(records, prior, change, times=times) for change in (TasteChange(), TasteChange(0.97)))
        late = times >= 300
        gain = kept.log_loss[late].mean() - forgot.log_loss[late].mean()
        assert gain > 0.05 if better else gain < 0


def test_empty_and_wrong_input():
    records, times = world(10)
    prior = Belief.around(np.zeros(3), 1.0)
    nothing = follow(records.take(np.empty(0, dtype=int)), prior)
    assert nothing.blocks == 0 and len(nothing.margins) == 0 and len(nothing.beliefs) == 5
    with pytest.raises(InputError, match="features"):
        follow(records, Belief.around(np.zeros(2), 1.0))
    with pytest.raises(InputError, match="times"):
        follow(records, prior, times=times[:, None])
    with pytest.raises(InputError, match="blocks"):
        follow(records, prior, blocks=np.zeros((10, 1), dtype=int))
    with pytest.raises(DataError, match="another time"):
        follow(records, prior, times=np.arange(10.0), blocks=np.zeros(10, dtype=int))
    with pytest.raises(UnknownNameError):
        follow(records, prior, by="item")
    with pytest.raises(DataError, match="groups"):
        follow(Comparisons(np.eye(3), [0], [1], [0]), prior, by="group")


def test_times_too_far_apart_are_refused():
    records = Comparisons(np.eye(2), np.array([0, 1]), np.array([1, 0]), np.array([0, 0]), ("a",))
    with pytest.raises(InputError, match="times go from -1e\\+308 to 1e\\+308"):
        follow(records, Belief.around(np.zeros(2), 1.0), TasteChange(0.9), times=np.array([-1e308, 1e308]))
