"""Users served in order: against a slow twin, across batches, and what serving whoever is behind does."""

import numpy as np
import pytest

from accordant import ExpectedRewards
from accordant.errors import InputError, UnknownNameError
from accordant.randomness import keyed_uniform
from accordant.slates.candidates import Candidates
from accordant.slates.candidates import gains_of
from accordant.slates.rule import rules
from accordant.slates.rules.dynamic import Dynamic
from accordant.slates.slates import Slates
from accordant.slates.slates import State


def world(seed=0, n_stakeholders=3, n_items=8, n_users=12, **given):
    values = np.random.default_rng(seed).random((n_stakeholders, n_items, n_users))
    names = [f"s{i}" for i in range(n_stakeholders)]
    expected = ExpectedRewards(values, stakeholders=names, actions=[f"c{c}" for c in range(n_items)])
    return Candidates(expected, **given)


def best(scores, totals, allowed, k):
    left, found = list(allowed), []
    while left and len(found) < k:
        top = max(scores[c] for c in left)
        tied = [c for c in left if scores[c] >= top - 1e-12]
        found.append(max(tied, key=lambda c: (round(totals[c], 12), -c)))
        left.remove(found[-1])
    return found


def twin(candidates, k, share, mode, seed, user=0):
    """Product of (1 − mean attained) and what the user keeps, with plain loops."""
    E, n = candidates.values, len(candidates.values)
    members = [i for i in range(n) if i != user and candidates.weights[i] > 0]
    past, lists, says = [], [], []
    draws = keyed_uniform(seed, [f"slate {u}" for u in range(candidates.n_users)])
    for u in range(candidates.n_users):
        allowed = np.flatnonzero(candidates.available[:, u]).tolist()

        def attained(i, items):
            order = sorted((E[i, c, u] for c in allowed), reverse=True)[: len(items)]
            low = sorted(E[i, c, u] for c in allowed)[: len(items)]
            span = sum(order) - sum(low)
            return (sum(E[i, c, u] for c in items) - sum(low)) / span if span > 1e-9 else np.nan

        m = [np.nanmean([each[i] for each in past]) if past else 1.0 for i in range(n)]
        kept = {i: attained(user, best(E[i, :, u], candidates.totals[:, u], allowed, k)) for i in members}
        score = {i: candidates.weights[i] * (1 - m[i]) * kept[i] for i in members}
        total = sum(score.values())
        shares = [score[i] / total if i in score and total > 0 else 0.0 for i in range(n)]
        if mode == "lottery" and total > 0:
            winner = next(i for i in range(n) if draws[u] < sum(shares[: i + 1]))
            shares = [float(i == winner) for i in range(n)]
        if mode == "top" and total > 0:
            shares = [float(i == int(np.argmax(shares))) for i in range(n)]
        mixed = (1 - share * sum(shares)) * E[user, :, u] + share * sum(s * E[i, :, u] for i, s in enumerate(shares))
        items = best(mixed, candidates.totals[:, u], allowed, k)
        past.append([attained(i, items) for i in range(n)])
        lists.append(items)
        says.append(shares)
    return lists, np.array(says).T


@pytest.mark.parametrize("mode", ["lottery", "top", "mixture"])
@pytest.mark.parametrize("share", [0.3, 1.0])
def test_against_the_twin(mode, share):
    available = np.random.default_rng(4).random((8, 12)) < 0.85
    candidates = world(2, 4, available=available, weights=[1.0, 2.0, 0.0, 1.0])
    found = Dynamic(mode=mode, share=share, seed=5)(candidates, 3)
    lists, says = twin(candidates, 3, share, mode, 5)
    assert [[c for c in items if c >= 0] for items in found.items.tolist()] == lists
    np.testing.assert_allclose(found.quantities["voting_weights"], says, atol=1e-9)
    assert (found.quantities["voting_weights"][[0, 2]] == 0).all()  # the user, and who has no say


def after(state, rule, candidates, k):
    slates = rule(candidates, k, state=state)
    return slates, state.after(slates, gains_of(slates, candidates).attained, np.zeros(len(candidates.items)))


@pytest.mark.few(3)
@pytest.mark.parametrize(
    "rule",
    [
        Dynamic(),
        Dynamic("least_fair", share=0.8),
        Dynamic("fairness_lottery", seed=3),
        Dynamic("random"),
        Dynamic("most_compatible"),
        Dynamic("weighted_product", mode="mixture"),
        Dynamic("static_lottery", allocation_parameters={"chances": {"s1": 0.5, "s2": 0.2}}),
        Dynamic(
            fairness="disparate_exposure",
            fairness_parameters={"items": dict.fromkeys(("s0", "s1", "s2"), ["c0", "c5"])},
        ),
    ],
    ids=lambda rule: rule.label,
)
def test_batches_change_nothing(rule, monkeypatch):
    candidates = world(1, n_users=60)
    whole = rule(candidates, 3)
    state, parts = State.start(8, 3, 3), []
    for batch in (slice(0, 1), slice(1, 20), slice(20, 60)):
        slates, state = after(state, rule, candidates.take(batch), 3)
        parts.append(slates.items)
    np.testing.assert_array_equal(np.concatenate(parts), whole.items)
    monkeypatch.setattr("accordant.slates.candidates.BLOCK_SIZE", 100)
    np.testing.assert_array_equal(rule(candidates, 3, threads=2).items, whole.items)


def test_draws_go_on_after_the_window():
    """With more slates than a state remembers, the next batch must not draw the same lots again."""
    candidates = world(1, 3, 4, 700)
    rule = Dynamic("random", seed=1)
    whole = rule(candidates, 2)
    state, parts = State.start(4, 3, 2), []
    for batch in (slice(0, 550), slice(550, 600), slice(600, 700)):
        slates, state = after(state, rule, candidates.take(batch), 2)
        parts.append(slates.items)
    np.testing.assert_array_equal(np.concatenate(parts), whole.items)
    said = whole.quantities["voting_weights"][1]
    assert 280 < said.sum() < 420  # a fair coin, 700 times


def test_whoever_is_behind_is_served():
    """The user's wishes are the opposite of one stakeholder's: only a say lifts it, and it gets one within the batch."""
    rng = np.random.default_rng(0)
    user = rng.random((10, 40))
    values = np.stack([user, 1.0 - user, user])
    candidates = Candidates(
        ExpectedRewards(values, stakeholders=["user", "left", "friend"], actions=list("abcdefghij"))
    )
    alone = Dynamic(share=0.0)(candidates, 2)
    served = Dynamic("least_fair", share=0.9)(candidates, 2)
    without, with_ = (gains_of(each, candidates).attained.mean(axis=1) for each in (alone, served))
    assert without == pytest.approx([1.0, 0.0, 1.0])
    assert with_[1] == pytest.approx(0.5, abs=0.05)
    assert abs(with_[1] - with_[2]) < 0.05  # a gap of 1 is closed
    assert with_[0] == pytest.approx(0.5, abs=0.05)  # and the user pays for it
    says = served.quantities["voting_weights"][1]
    assert says[1:].tolist() != sorted(says[1:].tolist())  # in turns, not first the one and then the other
    assert served.quantities["fairness"][:, 0].tolist() == [1.0, 1.0, 1.0]


def test_the_first_user_gets_the_own_list_if_nothing_is_owed():
    candidates = world(3)
    found = Dynamic()(candidates, 3)
    assert found.quantities["chances"][:, 0].tolist() == [0.0, 0.0, 0.0]
    assert found.items[0].tolist() == best(candidates.values[0, :, 0], candidates.totals[:, 0], range(8), 3)
    np.testing.assert_array_equal(found.items[:1], Dynamic(share=1.0)(candidates, 3).items[:1])


def test_a_stakeholder_to_whom_all_lists_are_alike_is_not_behind():
    values = world(4).values.copy()
    values[1] = 0.5
    candidates = Candidates(
        ExpectedRewards(values, stakeholders=["s0", "s1", "s2"], actions=[f"c{c}" for c in range(8)])
    )
    found = Dynamic("fairness_lottery")(candidates, 3)
    assert np.isnan(found.quantities["fairness"][1, 1:]).all()
    assert (found.quantities["chances"][1] == 0).all()
    assert found.quantities["voting_weights"][2, 1:].all()


def test_everybody_fits_a_user_to_whom_all_lists_are_alike():
    values = world(4).values.copy()
    values[0] = 0.5
    candidates = Candidates(
        ExpectedRewards(values, stakeholders=["s0", "s1", "s2"], actions=[f"c{c}" for c in range(8)])
    )
    found = Dynamic("most_compatible")(candidates, 3)
    assert (found.quantities["compatibility"] == 1.0).all()
    assert found.quantities["voting_weights"][1].all()  # a tie: declared first


def test_dropping_the_user_leaves_the_others():
    full = world(6, weights=[0.0, 1.0, 1.0])
    named = Dynamic("random", user="s0", share=0.5)(full, 3)
    assert (named.quantities["voting_weights"][0] == 0).all()
    for u in range(full.n_users):
        (winner,) = np.flatnonzero(named.quantities["voting_weights"][:, u])
        assert named.items[u].tolist() == best(full.values[winner, :, u], full.totals[:, u], range(8), 3)
    product = Dynamic(user="s0", share=0.5)(full, 3).quantities
    assert (product["compatibility"] == 1.0).all()  # nobody is there to fit
    assert product["voting_weights"][1:, 1:].sum(axis=0).tolist() == [1.0] * (full.n_users - 1)
    rest = Candidates(ExpectedRewards(full.values[1:], stakeholders=["s1", "s2"], actions=list(full.items)))
    np.testing.assert_array_equal(Dynamic()(full, 3).items, Dynamic()(rest, 3).items)


@pytest.mark.parametrize("allocation", ["product", "least_fair", "random"])
def test_edges(allocation):
    rule = Dynamic(allocation)
    assert rule(world(n_stakeholders=1, n_users=3), 2).lengths.tolist() == [2, 2, 2]  # only the user
    assert rule(world(n_items=2), 5).lengths.tolist() == [2] * 12
    closed = rule(world(available=np.zeros(8, dtype=bool)), 3)
    assert (closed.items == -1).all()
    assert rule(world().take(slice(0, 0)), 3).items.shape == (0, 3)
    same = Candidates(ExpectedRewards(np.full((2, 4, 3), 0.5), stakeholders=["a", "b"], actions=list("wxyz")))
    found = rule(same, 2)
    assert [found.names(u) for u in range(3)] == [("w", "x")] * 3
    assert found.tied.all()


def test_single_precision():
    candidates = world(8)
    rough = Candidates(
        ExpectedRewards(
            candidates.values.astype(np.float32), stakeholders=["s0", "s1", "s2"], actions=list(candidates.items)
        )
    )
    np.testing.assert_array_equal(Dynamic()(rough, 3).items, Dynamic()(candidates, 3).items)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: Dynamic(share=1.1), InputError, "share is 1.1; allowed: from 0 to 1"),
        (lambda: Dynamic(mode="best"), UnknownNameError, "unknown mode 'best'"),
        (lambda: Dynamic("prod"), UnknownNameError, "unknown voting weight allocation 'prod'"),
        (lambda: Dynamic(fairness="attain"), UnknownNameError, "did you mean 'attained'"),
        (lambda: Dynamic(allocation_parameters={"x": 1}), InputError, "unknown parameter 'x'"),
        (lambda: Dynamic(user="nobody")(world(), 2), UnknownNameError, "unknown stakeholder named as user: 'nobody'"),
        (lambda: Dynamic()(world(), 0), InputError, "a slate has 0 places"),
        (lambda: Dynamic()(world(), 2, state=State.start(5, 3, 2)), InputError, "the state is of"),
        (
            lambda: Dynamic("static_lottery", allocation_parameters={"chances": {"zz": 1}})(world(), 2),
            UnknownNameError,
            "stakeholder in chances: 'zz'",
        ),
    ],
)
def test_wrong_input(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_it_is_registered_and_rebuilds_itself():
    rule = rules.create("dynamic", {"allocation": "least_fair", "share": 0.25})
    assert rule.label == "dynamic[allocation=least_fair,share=0.25]"
    assert rules.create(rule.name, rule.parameters) == rule
    assert isinstance(rule(world(), 2), Slates)
    assert rule(world(), 2).rule == rule.label
    np.testing.assert_array_equal(rule.fill(world(), 2).items, rule(world(), 2).items)
