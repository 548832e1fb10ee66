"""Networks of users and items: the encoder against the formulas in plain numpy, its edge cases, and the losses."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from accordant.compute import compute
from accordant.compute.fan_out import run_all
from accordant.preferences.learners.learner import learners
from accordant.preferences.learners.logistic import log_loss
from accordant.preferences.records import Comparisons


@pytest.fixture(autouse=True)
def torch(extra):
    return extra("torch")


@pytest.fixture
def trainable(torch):
    torch.optim.Adam([torch.zeros(1)])  # imports most of torch: no test should pay


def encoder_of(torch, n_features=3, n_latent=2, hidden=4):
    from accordant.preferences.networks import PairEncoder

    torch.manual_seed(0)
    return PairEncoder(n_features, n_latent, hidden)


def by_hand(encoder, chosen, rejected):
    """Mean and log-variance of z for one user, from the weights in numpy."""
    weight = {name: value.detach().numpy().astype(float) for name, value in encoder.state_dict().items()}
    pairs = np.tanh(np.hstack([chosen, rejected]) @ weight["pairs.0.weight"].T + weight["pairs.0.bias"])
    pairs = np.tanh(pairs @ weight["pairs.2.weight"].T + weight["pairs.2.bias"])
    scores = pairs @ weight["attention.weight"][0] + weight["attention.bias"]
    attention = np.exp(scores) / np.exp(scores).sum()
    mean = attention @ pairs
    variance = mean @ weight["log_variance.weight"].T + weight["log_variance.bias"]
    return mean @ weight["mean.weight"].T + weight["mean.bias"], np.clip(variance, -1, 1)


def test_the_encoder_averages_pairs_by_attention_and_ignores_padding(torch):
    encoder, generator = encoder_of(torch), np.random.default_rng(1)
    chosen, rejected = generator.normal(size=(2, 2, 5, 3)).astype(np.float32) * 3
    present = np.array([[True] * 5, [True, True, False, False, False]])
    mean, variance = encoder(*map(torch.from_numpy, (chosen, rejected, present)))
    for user, count in enumerate((5, 2)):
        expected = by_hand(encoder, chosen[user, :count], rejected[user, :count])
        assert mean[user].detach().numpy() == pytest.approx(expected[0], abs=1e-5)
        assert variance[user].detach().numpy() == pytest.approx(expected[1], abs=1e-5)
    assert float(variance.detach().abs().max()) <= 1


def test_the_order_of_a_user_s_pairs_does_not_matter(torch):
    encoder, generator = encoder_of(torch), np.random.default_rng(2)
    chosen, rejected = (torch.from_numpy(generator.normal(size=(1, 4, 3)).astype(np.float32)) for _ in range(2))
    present, turned = torch.ones((1, 4), dtype=torch.bool), [2, 0, 3, 1]
    one, two = encoder(chosen, rejected, present), encoder(chosen[:, turned], rejected[:, turned], present)
    assert torch.allclose(one[0], two[0], atol=1e-6)


def test_a_user_without_pairs_is_encoded_without_nan(torch):
    encoder = encoder_of(torch)
    nothing = torch.zeros((1, 1, 3))
    mean, variance = encoder(nothing, nothing, torch.zeros((1, 1), dtype=torch.bool))
    assert mean[0].tolist() == encoder.mean.bias.tolist()
    assert bool(torch.isfinite(variance).all())


def test_latent_vectors_have_one_length(torch):
    from accordant.preferences.networks import scale_to_length

    latent = torch.tensor([[3.0, 4.0], [0.0, 0.0], [1e-3, 0.0]])
    assert scale_to_length(latent).norm(dim=1).tolist() == pytest.approx([2**0.5, 0, 2**0.5])


def test_divergence_from_the_standard_normal(torch):
    from accordant.preferences.networks import divergence

    assert float(divergence(torch.zeros((3, 2)), torch.zeros((3, 2)))) == 0
    mean, log_variance = torch.tensor([[1.0, -2.0]]), torch.tensor([[0.5, -1.5]])
    draws = np.random.default_rng(0).normal(size=(400_000, 2)) * np.exp([0.25, -0.75]) + [1, -2]
    by_draws = (-0.5 * ((draws - [1, -2]) ** 2 / np.exp([0.5, -1.5]) + [0.5, -1.5]) + 0.5 * draws**2).sum(axis=1)
    assert float(divergence(mean, log_variance)) == pytest.approx(by_draws.mean(), abs=0.02)


def test_losses_are_those_of_the_linear_learners(torch):
    from accordant.preferences.network_training import Terms

    generator = np.random.default_rng(3)
    weights, targets, offsets, pull, strength, margins = generator.random((6, 7))
    records = np.array([5, 0, 3])
    terms = Terms(weights, targets, offsets, pull, strength)
    found = terms.losses(torch.from_numpy(margins[records].astype(np.float32)), records).numpy()
    moved = margins + offsets
    expected = weights * log_loss(moved, targets) + strength * (moved - pull) ** 2
    assert found == pytest.approx(expected[records], abs=1e-5)
    with pytest.raises(ValueError, match=r"margins have shape \(3, 1\)"):
        terms.losses(torch.zeros((3, 1)), records)


def test_the_mean_loss_is_the_value_of_the_linear_problem(torch):
    from accordant.preferences.learners.logistic import LogisticProblem, Pull
    from accordant.preferences.network_training import Terms

    generator = np.random.default_rng(5)
    weights, targets, offsets, pull, strength = generator.random((5, 9))
    problem = LogisticProblem(
        generator.normal(size=(9, 2)), targets, weights, offsets, pull=Pull(pull, strength)
    )  # fmt: skip
    theta = np.array([0.7, -1.1])
    margins = torch.from_numpy((problem.differences @ theta).astype(np.float32))
    found = float(Terms.of(problem).losses(margins, np.arange(9)).mean())
    assert found == pytest.approx(problem.value(theta, problem.predictions(theta)), abs=1e-5)


def test_the_worse_group_gains_weight_as_in_the_worked_example(torch):
    """One step from (.5, .5) with losses (.3, .7) at rate .01 gives (.499, .501)."""
    from accordant.preferences.network_training import _worst

    losses, groups = torch.tensor([0.2, 0.4, 0.7]), np.array([0, 0, 1])
    total, shares = _worst(losses, groups, np.array([0.5, 0.5]), 0.01)
    assert shares == pytest.approx([0.499, 0.501], abs=1e-6)
    assert float(total) == pytest.approx(0.499 * 0.3 + 0.501 * 0.7, abs=1e-6)


@pytest.mark.usefixtures("trainable")
@pytest.mark.parametrize("groups", [None, [0, 0, 0, 1, 1, 2, 2, 2]], ids=["mean", "worst group"])
def test_the_held_out_loss_is_the_weighted_mean_or_that_of_the_worst_group(torch, groups):
    """Of a network that does not move; no record of the second group is held out."""
    from accordant.preferences.network_training import Terms, Training, trained
    from accordant.preferences.networks import KnownLatents, RewardNetwork

    generator, held_out = np.random.default_rng(6), np.array([0, 1, 2, 5, 6, 7])
    items, weights = np.arange(16).reshape(-1, 2), generator.uniform(0.5, 2.0, 8)
    records = Comparisons(generator.normal(size=(16, 3)) * 3, items[:, 0], items[:, 1], np.arange(8))
    torch.manual_seed(0)
    network, latents = RewardNetwork(3, 0, 4), KnownLatents(records, None, np.array([3, 4]))
    with torch.no_grad():
        rewards = network(torch.from_numpy(records.features.astype(np.float32)), torch.zeros((16, 0))).numpy()
    nothing = np.zeros(8)
    terms = Terms(weights, np.ones(8), nothing, nothing, nothing, None if groups is None else np.array(groups))
    stop = trained(network, latents, records, terms, held_out, Training(1, 2, 0.0, 0.0, 0.0), generator)
    losses = np.log1p(np.exp(rewards[items[:, 1]] - rewards[items[:, 0]]))
    parts = [held_out] if groups is None else [held_out[:3], held_out[3:]]
    means = [np.average(losses[part], weights=weights[part]) for part in parts]
    assert groups is None or abs(means[0] - means[1]) > 0.01
    assert (stop.steps, stop.loss) == (1, pytest.approx(max(means), abs=1e-6))


@pytest.mark.usefixtures("trainable")
def test_a_group_without_weight_takes_no_weight_from_the_others(torch):
    from accordant.preferences.learners.logistic import LogisticProblem
    from accordant.preferences.network_training import Terms, Training, trained
    from accordant.preferences.networks import KnownLatents, RewardNetwork

    generator, items = np.random.default_rng(6), np.arange(48).reshape(-1, 2)
    records = Comparisons(generator.normal(size=(48, 2)), items[:, 0], items[:, 1], np.arange(24) // 8)
    counted, parameters = np.arange(16), []  # of users 0 and 1; user 2 is a group without weight
    for some in (records.take(counted), records):
        problem = LogisticProblem(some.differences(), weights=(some.users < 2).astype(float))
        torch.manual_seed(0)
        network = RewardNetwork(2, 0, 4)
        trained(
            network, KnownLatents(some, None, counted), some, Terms.of(problem, some.users), counted[:0],
            Training(steps=5, batch=8, rate=0.05, decay=1.0, divergence=0.0), np.random.default_rng(7),
        )  # fmt: skip
        parameters.append(np.concatenate([each.detach().numpy().ravel() for each in network.parameters()]))
    assert parameters[0] == pytest.approx(parameters[1], abs=1e-6)


def test_a_record_never_tells_its_own_user(torch):
    """In every training step the records that are read and those that are predicted are different ones."""
    from accordant.preferences.networks import EncodedLatents

    generator = np.random.default_rng(4)
    users = np.repeat(np.arange(4), [1, 2, 5, 9])
    items = np.arange(2 * len(users)).reshape(-1, 2)
    records = Comparisons(generator.normal(size=(items.size, 3)), items[:, 0], items[:, 1], users)
    latents = EncodedLatents(records, np.arange(len(users)), encoder_of(torch), shown=3, variational=True)
    seen, n_read = [], set()
    latents._encoded = lambda read: seen.append(read) or (torch.zeros((len(read), 2)), torch.zeros((len(read), 2)))
    for _ in range(30):
        draw = latents.drawn(generator, 6)  # one user
        assert len(seen[-1]) == 1
        assert not set(seen[-1][0].tolist()) & set(draw.records.tolist())
        for read in seen[-1]:
            assert len(set(users[read])) <= 1
            assert len(read) <= 3
        assert len(draw.latent) == len(draw.records) > 0
        if users[draw.records[0]] == 3:
            n_read.add(len(seen[-1][0]))
    assert n_read == {0, 1, 2, 3}  # none too: of strangers nothing is known


def test_users_are_known_by_the_mean_of_their_own_pairs(torch):
    from accordant.preferences.networks import MOST_PAIRS, EncodedLatents, scale_to_length

    counts, generator = (1, MOST_PAIRS, 2 * MOST_PAIRS + 1, 0), np.random.default_rng(3)
    users = np.repeat(np.arange(4), counts)
    items = np.arange(2 * len(users)).reshape(-1, 2)
    records = Comparisons(
        generator.normal(size=(items.size, 3)), items[:, 0], items[:, 1], users, user_names=("a", "b", "c", "d")
    )
    encoder = encoder_of(torch)
    latents = EncodedLatents(records, np.arange(len(records)), encoder, shown=4, variational=True)
    found = latents.of_users(records).numpy()
    for user, step in ((0, 1), (1, 1), (2, 3)):  # every third of 129 pairs: at most 64 are read
        rows = np.flatnonzero(users == user)[::step]
        mean, _ = by_hand(encoder, records.features[items[rows, 0]], records.features[items[rows, 1]])
        assert found[user] == pytest.approx(mean * 2**0.5 / np.linalg.norm(mean), abs=1e-5)
    stranger = scale_to_length(encoder.mean.bias.detach()[None])[0].numpy()
    assert found[3] == pytest.approx(stranger) == latents.of_stranger().numpy()
    one, more = records.take(np.flatnonzero(users == 0)), ("a", "b", "c", "d", "e", "f")
    assert latents.of_users(replace(records, user_names=more)).numpy()[:4] == pytest.approx(found)
    assert latents.of_users(replace(records, user_names=more)).numpy()[5] == pytest.approx(stranger)
    assert latents.adapted(one).of_users(one).numpy()[0] == pytest.approx(found[0], abs=1e-5)


def test_the_weight_of_the_divergence_rises_for_half_of_a_cycle_and_stays():
    from accordant.preferences.network_training import CYCLES, _annealed

    found = [_annealed(step, 8 * CYCLES) for step in range(8 * CYCLES)]
    assert found == [0.0, 0.25, 0.5, 0.75, 1.0, 1.0, 1.0, 1.0] * CYCLES


@pytest.mark.long
def test_networks_that_train_on_two_threads_do_not_share_their_draws():
    generator = np.random.default_rng(0)
    records = Comparisons(
        generator.normal(size=(40, 2)), np.arange(0, 40, 2), np.arange(1, 40, 2), np.arange(20) % 4, tuple("abcd")
    )
    tasks = [
        partial(learners.create(name, {"steps": 20}).fit, records, generator=np.random.default_rng(seed))
        for seed, name in enumerate(("user_encoder", "mlp", "variational", "user_encoder"))
    ]
    with compute("threads:4"):
        together = [model.margins(records) for model in run_all(tasks, 1, "testing")]
    fresh = [partial(task.func, *task.args, generator=np.random.default_rng(k)) for k, task in enumerate(tasks)]
    assert [each.tobytes() for each in together] == [task().margins(records).tobytes() for task in fresh]
