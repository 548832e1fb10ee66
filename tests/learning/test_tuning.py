"""Nested cross-validation by leaving two folds out."""

from __future__ import annotations

import itertools
from collections import Counter

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

from accordant.errors import DataError, InputError
from accordant.learning.folds import make_folds
from accordant.learning.tuning import LEAST_GROUPS, Search, grid_points, nested, rounds, within_reach
from accordant.statistics import standard_error


class Spy:
    """A learner whose models remember their rows, and whose losses come from a table by point and scored fold.

    With `noise`, losses of points differ from row to row by so much that no point is clearly worse than another.
    """

    def __init__(self, folds, table, noise=0.0):
        self.points = tuple({"p": p} for p in range(len(table)))
        self.fold_of = {int(row): fold for fold, rows in enumerate(folds) for row in rows}
        self.table, self.noise, self.searched, self.fitted = table, noise, [], []

    def _folds(self, rows):
        return frozenset(self.fold_of[int(row)] for row in rows)

    def fit(self, rows, point):
        self.fitted.append((self._folds(rows), point["p"]))
        return self.fitted[-1]

    def candidates(self, rows, points):
        self.searched.append((self._folds(rows), tuple(point["p"] for point in points)))
        return [(self._folds(rows), point["p"]) for point in points]

    def losses(self, model, rows):
        (fold,) = self._folds(rows)
        seen, point = model
        assert fold not in seen, "a model was scored on rows that it was fitted on"
        signs = np.where(np.arange(len(rows)) % 2, 1.0, -1.0) if len(rows) % 2 == 0 else np.zeros(len(rows))
        return np.full(len(rows), float(self.table[point][fold])) + self.noise * point * signs


@pytest.mark.parametrize("n_folds", [3, 4, 5])
def test_number_of_fits(n_folds):
    """K(K − 1)/2 for a thorough search, K where a race is never decided; K outer models, 1 final one."""
    folds = make_folds(20 * n_folds, n_folds, np.random.default_rng(0))
    for thorough in (True, False):
        spy = Spy(folds, np.random.default_rng(1).random((3, n_folds)), noise=100.0)
        (result,), _ = nested([spy], folds, 1, thorough=thorough)
        pairs = [pair for each in rounds(n_folds, thorough=thorough) for pair in each]
        assert len(pairs) == (n_folds * (n_folds - 1) // 2 if thorough else n_folds)
        assert Counter(spy.searched) == Counter((frozenset(range(n_folds)) - set(pair), (0, 1, 2)) for pair in pairs)
        assert len(spy.fitted) == n_folds + 1
        for fold, model in enumerate(result.by_fold):
            assert model[0] == frozenset(range(n_folds)) - {fold}
        assert result.final[0] == frozenset(range(n_folds))


@pytest.mark.parametrize("n_folds", range(3, 13))
def test_every_fold_has_a_partner_at_once_and_two_in_the_end(n_folds):
    first, second = rounds(n_folds, thorough=False)
    assert {fold for pair in first for fold in pair} == set(range(n_folds))
    assert len({frozenset(pair) for pair in (*first, *second)}) == len(first) + len(second) == n_folds
    assert set(Counter(fold for pair in (*first, *second) for fold in pair).values()) == {2}


def test_without_a_grid_nothing_is_searched():
    folds = make_folds(20, 4, np.random.default_rng(0))
    spy = Spy(folds, [[1.0] * 4])
    (result,), _ = nested([spy], folds, 1)
    assert spy.searched == [] and len(spy.fitted) == 5
    assert result.search.best == {"p": 0} and not result.search.searched


@pytest.mark.parametrize("thorough", [True, False])
def test_the_search_for_a_fold_never_sees_it(thorough):
    """A loss on fold k that says the opposite of all others changes no choice made for fold k."""
    folds = make_folds(30, 5, np.random.default_rng(0))
    table = np.array([[0.1] * 5, [0.2] * 5])
    for fold in range(5):
        misleading = table.copy()
        misleading[:, fold] = [100.0, 0.0]
        (result,), _ = nested([Spy(folds, misleading)], folds, 1, thorough=thorough)
        assert result.by_fold[fold][1] == 0  # chosen without its own, misleading loss
        misled = [point for other, (_, point) in enumerate(result.by_fold) if other != fold]
        assert all(misled) if thorough else any(misled)


def test_losses_lie_where_they_belong():
    """losses[p, k, l] comes from a model without folds k and l, scored on l."""
    folds = make_folds(12, 4, np.random.default_rng(0))
    table = np.arange(8.0).reshape(2, 4)
    (result,), _ = nested([Spy(folds, table)], folds, 1, thorough=True)
    for k, scored in itertools.product(range(4), range(4)):
        found = result.search.losses[:, k, scored]
        assert np.isnan(found).all() if k == scored else np.array_equal(found, table[:, scored])


def test_the_best_mean_wins_even_if_it_is_best_in_no_fold():
    folds = make_folds(30, 3, np.random.default_rng(0))
    table = np.array([[0.0, 9.0, 9.0], [9.0, 0.0, 9.0], [9.0, 9.0, 0.0], [1.0, 1.0, 1.0]])
    assert 3 not in table.argmin(axis=0)
    (result,), _ = nested([Spy(folds, table)], folds, 1, thorough=True)
    assert result.final[1] == 3


def test_a_point_that_is_clearly_worse_drops_out_after_the_first_round():
    folds = make_folds(80, 4, np.random.default_rng(0))
    spy = Spy(folds, [[1.0] * 4, [1.0] * 4, [2.0] * 4])
    (result,), _ = nested([spy], folds, 1)
    first, second = rounds(4, thorough=False)
    assert [points for _, points in spy.searched] == [(0, 1, 2)] * len(first) + [(0, 1)] * len(second)
    assert result.final[1] == 0 and np.isnan(result.search.losses[2, 1, 2])
    assert result.search.mean_losses().tolist() == [1.0, 1.0, 2.0]  # of the dropped one, while it took part


def test_a_race_that_is_decided_for_every_fold_ends():
    folds = make_folds(80, 4, np.random.default_rng(0))
    spy = Spy(folds, [[1.0] * 4, [2.0] * 4])
    nested([spy], folds, 1)
    assert len(spy.searched) == len(rounds(4, thorough=False)[0])


def test_a_dropped_point_is_not_chosen_even_if_its_few_losses_were_small():
    losses = np.full((2, 3, 3), np.nan)
    losses[:, 0, 1] = losses[:, 1, 0] = [1.0, 0.0]
    losses[0, 1, 2] = losses[0, 2, 1] = 0.9
    search = Search(({"p": 0}, {"p": 1}), losses)
    assert search.best == {"p": 0} and search.best_without(0) == {"p": 1}


@given(st.integers(0, 2**32 - 1), st.booleans())
def test_who_is_within_reach_of_the_best_by_hand(seed, grouped):
    generator = np.random.default_rng(seed)
    losses = generator.normal(size=(4, 12)) + generator.normal(size=(4, 1))
    groups = generator.integers(0, 5, 12) if grouped else None
    if grouped:
        assert within_reach(losses, groups).all()  # a standard error of few groups says little
        losses, groups = np.tile(losses, LEAST_GROUPS), np.repeat(np.arange(3 * LEAST_GROUPS), 4)
    kept = within_reach(losses, groups)
    best = min(range(4), key=lambda p: losses[p].mean())
    for point in range(4):
        gap = losses[point] - losses[best]
        error = standard_error(gap, groups)
        assert kept[point] == (point == best or gap.mean() <= 2 * np.nan_to_num(error, nan=np.inf))


def test_a_point_that_failed_drops_out_unless_all_failed():
    losses = np.ones((3, 6))
    losses[1, 2] = np.nan
    losses[2, 0] = np.inf
    assert within_reach(losses).tolist() == [True, False, False]
    assert within_reach(np.full((2, 6), np.nan)).all()


def test_two_points_that_are_equal_give_the_first():
    assert Search(({"p": 0}, {"p": 1}), np.ones((2, 3, 3))).best == {"p": 0}


@pytest.mark.parametrize("where", ["everywhere", "in one fold"])
def test_a_loss_that_is_not_a_number_never_wins(where):
    losses = np.ones((3, 3, 3))
    losses[0] = 0.5
    losses[0, 1, 2] = np.nan  # best otherwise, but it failed somewhere
    if where == "everywhere":
        losses[0] = np.nan
    losses[2] = 0.9
    losses[:, range(3), range(3)] = np.nan
    search = Search(tuple({"p": p} for p in range(3)), losses)
    assert search.best == {"p": 2}
    assert search.best_without(1) == {"p": 2}


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_several_learners_side_by_side_keep_their_own_results(n_jobs):
    folds = make_folds(30, 3, np.random.default_rng(0))
    tables = [np.eye(3), 1 - np.eye(3), np.ones((1, 3))]
    alone = [nested([Spy(folds, table)], folds, 1)[0][0] for table in tables]
    together, _ = nested([Spy(folds, table) for table in tables], folds, n_jobs)
    for one, other in zip(alone, together, strict=True):
        assert np.array_equal(one.search.losses, other.search.losses, equal_nan=True)
        assert one.by_fold == other.by_fold and one.final == other.final


def refused():
    raise DataError("told whole")


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_what_needs_no_model_is_done_beside_the_fits(n_jobs):
    folds = make_folds(30, 3, np.random.default_rng(0))
    beside = [partial(divmod, 7, 2), partial(max, 3, 5)]
    ((result,), others) = nested([Spy(folds, np.eye(3))], folds, n_jobs, beside=beside)
    assert others == [(3, 1), 5] and len(result.by_fold) == 3
    assert nested([], folds, n_jobs, beside=beside) == ([], others)
    with pytest.raises(DataError, match="told whole"):
        nested([Spy(folds, np.eye(3))], folds, n_jobs, beside=[refused])


# --- grids and forests -----------------------------------------------------------------------------------------


def test_grid_points():
    tree = DecisionTreeRegressor()
    assert grid_points(tree, None) == grid_points(tree, {}) == ({},)
    points = grid_points(tree, {"max_depth": [1, None], "min_samples_leaf": (1, 5)})
    assert len(points) == 4 and {"max_depth": None, "min_samples_leaf": 5} in points
    assert grid_points(tree, [{"max_depth": [1]}, {"max_depth": [2, 3]}]) == tuple({"max_depth": d} for d in (1, 2, 3))
    nested_points = grid_points(make_pipeline(StandardScaler(), tree), {"decisiontreeregressor__max_depth": [1]})
    assert nested_points == ({"decisiontreeregressor__max_depth": 1},)


@pytest.mark.parametrize(
    ("grid", "message"),
    [
        ({"max_deth": [1]}, "unknown parameter 'max_deth'; did you mean 'max_depth'"),
        ({"max_depth": 3}, "'max_depth' must be a list"),
        ({"max_depth": []}, "at least one value"),
        ({"criterion": "squared_error"}, "must be a list"),
    ],
)
def test_grids_that_cannot_be_searched(grid, message):
    with pytest.raises(InputError, match=message):
        grid_points(DecisionTreeRegressor(), grid)
