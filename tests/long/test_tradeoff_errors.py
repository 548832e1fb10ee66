"""How often the check of a trade-off is wrong, by the number of users: why there is a least one."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from accordant.slates.tradeoff import LoggedOutcomes, check, check_tradeoff

SAMPLES = 200
CATEGORIES = np.arange(12) % 4


def world(losers, generator, users, requests):
    """A share of the users likes one category alone, and loses half of the best two by another; others like all alike."""
    n = users * requests
    favourite = CATEGORIES[:, None] == np.repeat(generator.integers(0, 4, users), requests)
    relevance = np.where(favourite, 0.8, 0.05) * generator.uniform(0.9, 1.0, (12, n))
    loses = np.repeat(generator.random(users) < losers, requests)
    return relevance, np.where(loses, favourite, generator.random((12, n)) < 0.4)


def verdicts(losers, users, requests):
    """Share of samples with each verdict."""
    found = Counter()
    names = [str(i // requests) for i in range(users * requests)]
    for sample in range(SAMPLES):
        relevance, targets = world(losers, np.random.default_rng([sample, users, requests]), users, requests)
        if targets.any():
            outcomes = LoggedOutcomes(targets)
            found[
                check_tradeoff(relevance, CATEGORIES, outcomes, names, length=3, consumed=2, seed=sample).verdict
            ] += 1
    return {verdict: number / SAMPLES for verdict, number in found.items()}


@pytest.mark.parametrize("requests", [1, 3])
@pytest.mark.parametrize("users", [1, 2, 5, 10, 20, 40])
def test_false_verdicts(users, requests, monkeypatch, capsys):
    """Without the least number: a loss where there is none, and none where one user in twenty loses half."""
    monkeypatch.setattr(check, "too_few", lambda *given: None)
    nothing, some = verdicts(0.0, users, requests), verdicts(0.05, users, requests)
    invented, overlooked = nothing.get("real", 0) + nothing.get("artefact", 0), some.get("none", 0)
    with capsys.disabled():
        print(f"\n{users:3} users, {requests} requests each: invented {invented:.3f}, overlooked {overlooked:.3f}")
    if users == 1:
        assert invented > 0.2
        assert overlooked > 0.2
    if users >= 20:
        assert invented <= 0.05
        assert overlooked <= 0.05
