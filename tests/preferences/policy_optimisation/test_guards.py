"""Guards: the bound, the gate, and what they promise for every choice."""

from __future__ import annotations

import numpy as np
import pytest

from accordant.errors import InputError
from accordant.preferences.policy_optimisation import guarded_rewards

SHARED = np.array([[1.0, 0.0], [0.0, 0.5]])
PERSONAL = np.array([[[1.2, 3.0], [-4.0, 0.5]], [[1.0, 0.0], [0.0, 0.5]]])


def test_by_hand():
    found = guarded_rewards(SHARED, PERSONAL, most=0.5, kept=[0.5, 1.0])
    assert found[0] == pytest.approx(np.array([[1.1, 0.5], [-0.5, 0.5]]))
    assert found[1] == pytest.approx(SHARED)
    assert guarded_rewards(SHARED, PERSONAL, most=np.inf) == pytest.approx(PERSONAL)
    assert guarded_rewards(SHARED, PERSONAL, most=0)[0] == pytest.approx(SHARED)


@pytest.mark.parametrize("seed", range(5))
def test_nobody_s_choice_costs_the_shared_reward_more_than_twice_the_bound(seed):
    """If r_u is within `most` of the shared reward, its best candidate is within 2 most of the best shared one."""
    generator = np.random.default_rng(seed)
    shared, personal = generator.normal(size=(4, 30)), 5 * generator.normal(size=(3, 4, 30))
    permitted = generator.random((4, 30)) < 0.6
    permitted[0] = True
    found = guarded_rewards(shared, personal, most=0.3, permitted=permitted)
    best = np.where(permitted, shared, -np.inf).max(axis=0)
    for user in found:
        choice = user.argmax(axis=0)
        assert permitted[choice, np.arange(30)].all()
        assert (best - shared[choice, np.arange(30)] <= 0.6 + 1e-12).all()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"personal": PERSONAL[0]}, "personal has shape"),
        ({"personal": PERSONAL[:, :1]}, "personal has shape"),
        ({"shared": SHARED * np.nan}, "NaN"),
        ({"most": -1.0}, "most is -1"),
        ({"most": np.nan}, "most is nan"),
        ({"kept": [0.5]}, "kept has shape"),
        ({"kept": [[0.5], [0.5]]}, "kept has shape"),
        ({"kept": [0.5, 1.5]}, "kept has shape"),
        ({"permitted": np.ones((2, 2))}, "permitted has shape"),
        ({"permitted": np.array([[True, False], [True, False]])}, "context 1 has no permitted"),
    ],
)
def test_wrong_input(changes, words):
    given = {"shared": SHARED, "personal": PERSONAL, "most": 1.0} | changes
    with pytest.raises(InputError, match=words):
        guarded_rewards(given.pop("shared"), given.pop("personal"), **given)
