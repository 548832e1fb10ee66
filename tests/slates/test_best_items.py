"""The best items: one user alone, and many at once, against plain loops with ties."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accordant.errors import InputError
from accordant.slates.candidates import best_items

LEVELS = st.sampled_from([-2.0, 0.0, 0.5, 0.5 + 1e-14, 1.0])


def twin(scores, totals, allowed, k):
    left, found, tied = [c for c in range(len(scores)) if allowed[c]], [], False
    while left and len(found) < k:
        top = max(scores[c] for c in left)
        level = [c for c in left if scores[c] >= top - 1e-12 * max(1, abs(top))]
        tied = tied or len(level) > 1
        most = max(totals[c] for c in level)
        found.append(next(c for c in level if totals[c] >= most - 1e-12 * max(1, abs(most))))
        left.remove(found[-1])
    return found + [-1] * (k - len(found)), tied


@pytest.mark.long
@given(
    st.lists(st.tuples(LEVELS, LEVELS, st.booleans()), min_size=1, max_size=9),
    st.lists(st.tuples(LEVELS, LEVELS, st.booleans()), min_size=9, max_size=9),
    st.integers(1, 6),
)
@settings(max_examples=200, deadline=None)
def test_against_the_twin(one, other, k):
    first, second = np.array(one), np.array(other[: len(one)])
    scores, totals, allowed = (np.stack([first[:, j], second[:, j]], axis=1) for j in range(3))
    expected = [twin(scores[:, u], totals[:, u], allowed[:, u], k) for u in range(2)]
    both = best_items(scores, totals, allowed.astype(bool), k)
    for u, (items, tied) in enumerate(expected):
        alone = best_items(scores[:, [u]], totals[:, [u]], allowed[:, [u]].astype(bool), k)
        assert both.items[u].tolist() == alone.items[0].tolist() == items
        assert both.tied[u] == alone.tied[0] == tied


@pytest.mark.parametrize("n_users", [0, 1, 3])
def test_edges(n_users):
    scores = np.zeros((4, n_users))
    found = best_items(scores, scores, np.ones((4, n_users), dtype=bool), 6)
    assert found.items.tolist() == [[0, 1, 2, 3, -1, -1]] * n_users
    assert scores.max(initial=0.0) == 0.0  # what was given is not changed


@pytest.mark.parametrize("n_users", [1, 2])
@pytest.mark.parametrize("score", [np.inf, np.nan])
def test_a_score_without_an_order_is_refused(score, n_users):
    scores = np.zeros((4, n_users))
    scores[2, 0] = score
    with pytest.raises(InputError, match=r"NaN or \+inf"):
        best_items(scores, np.zeros_like(scores), np.ones(scores.shape, dtype=bool), 2)
