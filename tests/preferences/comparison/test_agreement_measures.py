"""Agreement with false stances: figures against slow twins, a null world, and a world with a drift."""

from __future__ import annotations

import math

import numpy as np
import pytest

from accordant.errors import InputError
from accordant.preferences.comparison.agreement import PEOPLE, disagreement_of, echo, measure_agreement


def world(seed, *, flattery=0.0, n_users=25, n_pairs=40, each=20):
    """Users who compare some of the same pairs; one of the two models adds flattery to what it makes of a response."""
    generator = np.random.default_rng(seed)
    users = np.repeat(np.arange(n_users), each)
    pairs = np.concatenate([generator.choice(n_pairs, each, replace=False) for _ in range(n_users)])
    first_agrees = generator.random(n_pairs)[pairs] < 0.5
    taste = generator.normal(size=n_pairs)[pairs]
    own = taste + 0.5 * generator.normal(size=n_users)[users] * generator.normal(size=n_pairs)[pairs]
    first = generator.random(len(users)) < 1 / (1 + np.exp(-own))
    side = np.where(first, 1.0, -1.0)
    push = flattery * np.where(first_agrees, 1.0, -1.0)
    agrees = np.stack([np.where(first, first_agrees, ~first_agrees), np.where(first, ~first_agrees, first_agrees)])
    return {"pooled": side * taste, "own": side * (own + push)}, agrees, users, pairs, generator


def measured(seed, resamples=150, **others):
    margins, agrees, users, pairs, generator = world(seed, **others)
    return measure_agreement(margins, agrees, users, pairs, generator=generator, resamples=resamples)


def test_figures_are_those_of_a_slow_twin():
    margins, agrees, users, pairs, generator = world(3, flattery=0.4)
    agrees[:, :7] = True  # both agree: these records say nothing
    found = measure_agreement(margins, agrees, users, pairs, generator=generator, resamples=50)
    assert (found.records, found.undecided) == (len(users) - 7, 7)
    for each in found.methods:
        tilts = [
            margin if chosen else -margin
            for margin, chosen, rejected in zip(margins[each.method], *agrees, strict=True) if chosen != rejected
        ]  # fmt: skip
        assert each.tilt.value == pytest.approx(sum(tilts) / len(tilts))
        assert each.drift.value == pytest.approx(sum(1 / (1 + math.exp(-t)) - 0.5 for t in tilts) / len(tilts))
        assert each.positive == pytest.approx(sum(t > 0 for t in tilts) / len(tilts))
    chosen = [one for one, other in agrees.T if one != other]
    assert found.chosen.value == pytest.approx(np.mean(chosen) - 0.5)
    assert found.methods[0].against_pooled is None
    assert found.methods[1].against_pooled.value == pytest.approx(
        found.methods[1].drift.value - found.methods[0].drift.value
    )


def claims(found):
    return [each.drift.low > 0 or each.drift.high < 0 for each in found.methods]


def test_a_drift_that_is_there_is_shown_for_the_model_that_has_it():
    seen = np.array([claims(measured(seed, flattery=1.5)) for seed in range(5)])
    assert seen[:, 1].all()
    gaps = [measured(seed, flattery=1.5).methods[1].against_pooled for seed in range(5)]
    assert all(gap.low > 0 for gap in gaps)


@pytest.mark.long
def test_no_drift_is_claimed_where_agreement_has_nothing_to_do_with_rewards():
    worlds = 300
    wrong = sum(any(claims(measured(seed, resamples=300))) for seed in range(worlds))
    assert wrong / worlds <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / worlds)


def test_somebody_must_have_agreed():
    margins, agrees, users, pairs, generator = world(0)
    with pytest.raises(InputError, match="exactly one response that agrees"):
        measure_agreement(margins, np.ones_like(agrees), users, pairs, generator=generator, resamples=10)


def test_what_is_shown_to_whom_is_counted_as_a_slow_twin_does():
    generator = np.random.default_rng(1)
    n = 200
    users = generator.integers(0, 8, n)
    of_user = np.array([0, 0, 0, 1, 1, 1, 1, -1])
    items = np.stack([generator.integers(0, 6, n), 6 + generator.integers(0, 6, n)])
    items = np.where(generator.random(n) < 0.5, items, items[::-1])
    margins = {"model": generator.normal(size=n)}
    found = {
        each.by: each for each in echo(margins, items, users, of_user[users], 2, generator=generator, resamples=40)
    }
    known = [row for row in range(n) if of_user[users[row]] >= 0]

    def likes(group, item):
        mine = [row for row in known if of_user[users[row]] == group and item in items[:, row]]
        return 2 * sum(items[0, row] == item for row in mine) > len(mine)

    def opposing(row, shown):
        own = of_user[users[row]]
        return likes(1 - own, shown) and not likes(own, shown)

    people = np.mean([opposing(row, items[0, row]) for row in known])
    model = np.mean([opposing(row, items[0 if margins["model"][row] >= 0 else 1, row]) for row in known])
    assert found[PEOPLE].opposing.value == pytest.approx(people) and found["model"].opposing.value == pytest.approx(
        model
    )
    assert 0 <= found["model"].separation <= 1
    assert echo(margins, items, users, np.zeros(n, dtype=int), 1, generator=generator, resamples=10) == ()


def test_the_floor_needs_two_users_on_a_pair():
    generator = np.random.default_rng(0)
    margins = [np.array([1.0, -1.0, 0.5])]
    alone = np.array([[0, 2, 4], [1, 3, 5]])
    users = np.array([0, 1, 2])
    assert disagreement_of(margins, alone, users, generator=generator, resamples=20) is None
    shared = np.array([[0, 1, 4], [1, 0, 5]])
    found = disagreement_of(margins, shared, users, generator=generator, resamples=20)
    assert found.n_pairs == 1 and found.excluded == 1 and found.two_differ.value == 1.0
    assert found.single.value == pytest.approx((math.log1p(math.exp(-1)) + math.log1p(math.exp(1))) / 2)
