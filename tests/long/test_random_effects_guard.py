"""How often the guard of `random_effects` opens where there is nothing to know of users; minutes, so out of the suite.

``pytest -m long tests/long/test_random_effects_guard.py -s`` prints the counts.
"""

from __future__ import annotations

import numpy as np
import pytest

from accordant.preferences import Comparisons
from accordant.preferences.learners.learner import learners

DRAWS = 12
MOST = 3  # of 12 draws: more than this has a chance below .3 % where the guard opens in 5 %


@pytest.mark.parametrize("taste", [0.0, 0.6])
@pytest.mark.parametrize(("users", "records", "features", "known"), [(20, 12, 4, 2), (40, 20, 3, 0)])
def test_the_guard_seldom_opens_where_users_are_alike(taste, users, records, features, known):
    opened = 0
    for seed in range(DRAWS):
        generator = np.random.default_rng(500 + seed)
        items = generator.normal(size=(2 * users * records, features))
        first = np.arange(0, len(items), 2)
        lost = (items[first] - items[first + 1]).sum(axis=1) * taste + generator.logistic(size=len(first)) < 0
        comparisons = Comparisons(
            items, first + lost, first + ~lost, np.repeat(np.arange(users), records),
            user_features=generator.normal(size=(users, known)) if known else None,
        )  # fmt: skip
        model = learners.create("random_effects", {"types": 2}).fit(comparisons, generator=generator)
        opened += model.gain.clear
    print(f"taste {taste}, {users} users, {records} records, {known} user features: open in {opened} of {DRAWS}")
    assert opened <= MOST
