"""Measures of users, items, providers and categories by hand, and where nothing is defined."""

import math

import numpy as np
import pytest

from accordant.errors import InputError, UnknownNameError
from accordant.slates import measures
from accordant.slates.objectives.travel import kilometres
from accordant.slates.measures.exposure import tail

SECOND = 1 / math.log2(3)  # attention of the second place


def value(name, served, **parameters):
    return measures.create(name, parameters).of(served)


def test_relevance_by_hand(shown):
    """The second of two places hits one of three targets; the other request wants nothing."""
    targets = np.array([[0, 0], [1, 0], [1, 0], [1, 0]])
    served = shown([[0, 1], [2, 3]], targets=targets)
    assert value("ndcg", served) == pytest.approx(SECOND / (1 + SECOND))
    assert value("recall", served) == pytest.approx(1 / 3)
    assert value("hit_rate", served) == 1.0
    assert measures.create("ndcg").requests(served) == 1


@pytest.mark.parametrize("name", ["ndcg", "recall", "hit_rate"])
def test_relevance_without_targets(shown, without_targets, name):
    assert math.isnan(value(name, shown([[0, 1]])))
    assert math.isnan(value(name, shown([[0, 1]], targets=np.zeros((2, 1)))))
    served = shown([[0, 1]], targets=np.ones((2, 1)))
    assert value(name, served) == 1.0
    assert math.isnan(value(name, without_targets(served)))


def test_a_target_that_may_not_be_shown_is_missed(shown):
    available = np.array([[True], [False]])
    served = shown([[0]], np.full((1, 2, 1), 0.5), targets=np.array([[1], [1]]), available=available)
    assert value("recall", served) == 0.5
    assert value("ndcg", served) == 1.0  # one place, and it hits


def test_empty_list_hits_nothing(shown):
    served = shown([[-1, -1]], np.full((1, 2, 1), 0.5), targets=np.ones((2, 1)), available=np.zeros((2, 1), dtype=bool))
    assert [value(name, served) for name in ("ndcg", "recall", "hit_rate")] == [0.0, 0.0, 0.0]


def test_exposure(shown, items):
    """c0 has attention 2, c1 2 × 0.631, c2 is never shown, c3 is closed."""
    known = items(4, provider=("p", "q", "q", "r"), capacity=np.array([9.0, 9.0, 9.0, 0.0]))
    served = shown([[0, 1], [0, 1]], items=known)
    total = 2 + 2 * SECOND
    assert value("exposure_gini", served) == pytest.approx(4 / (3 * total))
    assert value("coverage", served) == pytest.approx(2 / 3)
    share = 2 / total
    gap = share / (1 / 3) - (1 - share) / (2 / 3)
    assert value("provider_exposure_gap", served) == pytest.approx(gap)
    assert value("provider_exposure_gap", served, target="equal") == pytest.approx(2 * share - 2 * (1 - share))


def test_gap_depends_on_what_is_due(shown, items):
    known = items(3, category=("a", "a", None), provider=("p", "q", "q"), popularity=np.array([1.0, 1.0, 5.0]))
    served = shown([[0], [1]], items=known)
    gap = 0.5 / (1 / 7) - 0.5 / (6 / 7)
    assert value("provider_exposure_gap", served, target="popularity") == pytest.approx(gap)
    assert math.isnan(value("provider_exposure_gap", served, between="category"))  # one category only
    assert value("provider_exposure_gap", served, target="equal") == 0.0


def test_gap_refuses_wrong_words():
    with pytest.raises(UnknownNameError, match="did you mean 'provider'"):
        measures.create("provider_exposure_gap", {"between": "providers"})
    with pytest.raises(UnknownNameError, match="valid: items, popularity, equal"):
        measures.create("provider_exposure_gap", {"target": "merit"})


def test_nothing_shown_is_not_zero(shown, items):
    known = items(2, provider=("p", "q"), category=("a", "b"), capacity=np.zeros(2))
    served = shown([[-1]], items=known, targets=np.ones((2, 1)), history=np.ones((2, 1)))
    for name in (
        "exposure_gini", "provider_exposure_gap", "coverage", "long_tail_share", "popularity_lift", "overload",
        "category_concentration", "intra_list_diversity", "history_overlap", "distance",
    ):  # fmt: skip
        assert math.isnan(value(name, served)), name


def test_long_tail(shown, items):
    """The head is the fewest items with 80 % of popularity: c1 and c0, not c2 with the same popularity."""
    known = items(5, popularity=np.array([2.0, 6.0, 2.0, 0.0, 0.0]))
    assert tail(known, 0.8).tolist() == [False, False, True, True, True]
    assert tail(known, 0.6).tolist() == [True, False, True, True, True]
    served = shown([[1, 2], [3, 0]], items=known)
    assert value("long_tail_share", served) == pytest.approx(0.5)
    assert value("long_tail_share", served, head=0.6) == pytest.approx((1 + 2 * SECOND) / (2 + 2 * SECOND))
    assert math.isnan(value("long_tail_share", shown([[0]], items=items(2, popularity=np.zeros(2)))))
    for wrong in (0.0, 1.0, -1.0):
        with pytest.raises(InputError, match="above 0 and below 1"):
            measures.create("long_tail_share", {"head": wrong})


def test_popularity_lift(shown, items):
    """Shown: 6 and 2 on average; before: c0 twice and c1 once, so (2 + 2 + 6) / 3; the cold user does not count."""
    known = items(3, popularity=np.array([2.0, 6.0, 4.0]))
    served = shown([[1], [0]], items=known, history=np.array([[2, 0], [1, 0], [0, 0]]))
    assert value("popularity_lift", served) == pytest.approx(6 / (10 / 3))
    assert measures.create("popularity_lift").requests(served) == 1
    assert math.isnan(value("popularity_lift", served, against="targets"))
    assert measures.create("popularity_lift", {"against": "targets"}).requests(served) == 0
    with pytest.raises(UnknownNameError, match="valid: history, targets"):
        measures.create("popularity_lift", {"against": "hist"})


def test_overload_is_per_day(shown, items, batch):
    """Capacity 1.5: two visits on one day are half a visit too much, one on each of two days is none."""
    known = items(2, capacity=np.array([1.5, np.inf]))
    values = np.full((1, 2, 2), 0.5)
    assert value("overload", shown([[0], [0]], values, items=known)) == pytest.approx(0.25)
    two = (batch(values[:, :, :1], 0), batch(values[:, :, 1:], 1, first=1))
    assert value("overload", shown([[0], [0]], values, items=known, batches=two)) == 0.0
    same = (batch(values[:, :, :1], 4), batch(values[:, :, 1:], 4, first=1))
    assert value("overload", shown([[0], [0]], values, items=known, batches=same)) == pytest.approx(0.25)
    assert value("overload", shown([[1], [1]], values, items=known)) == 0.0


def test_categories(shown, items):
    known = items(5, category=("a", "a", "b", None, "c"))
    served = shown([[0, 1, 2], [3, 4, -1], [3, -1, -1]], items=known, history=np.array([[1, 0, 0]] + [[0] * 3] * 4))
    assert value("category_concentration", served) == pytest.approx((5 / 9 + 1) / 2)
    assert value("intra_list_diversity", served) == pytest.approx(2 / 3)
    assert value("history_overlap", served) == pytest.approx(2 / 3)
    assert [measures.create(name).requests(served) for name in
            ("category_concentration", "intra_list_diversity", "history_overlap")] == [2, 1, 1]  # fmt: skip


def test_distance():
    """A quarter of the equator, the whole axis, and no way at all."""
    quarter = 6371.0088 * math.pi / 2
    assert float(kilometres(*map(np.array, (0.0, 0.0, 0.0, 90.0)))) == pytest.approx(quarter)
    assert float(kilometres(*map(np.array, (90.0, 12.0, -90.0, -7.0)))) == pytest.approx(2 * quarter)
    assert float(kilometres(*map(np.array, (55.9, -3.2, 55.9, -3.2)))) == 0.0
    assert math.isnan(float(kilometres(*map(np.array, (55.9, -3.2, math.nan, -3.2)))))
