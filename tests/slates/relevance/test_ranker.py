"""Features, what the estimator learns from, and estimators of every kind."""

import numpy as np
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import Ridge
from sklearn.tree import DecisionTreeClassifier

from accordant.errors import InputError
from accordant.slates.objectives.travel import kilometres
from accordant.slates.relevance import Interactions, create
from accordant.slates.relevance import ranker
from accordant.slates.relevance.ranker import Features
from accordant.slates.relevance.ranker import Ranker


@pytest.fixture(scope="module")
def features(make_interactions, make_catalogue):
    return Features.learned_from(make_interactions(), make_catalogue(8), 0)


class TestFeatures:
    def test_by_hand(self, features, make_interactions, make_catalogue):
        catalogue, dense = make_catalogue(8), features.history.dense
        users, starts = np.array([0, -1, 3]), np.array([2, 5, -1])
        found = {name: features.of(users, starts)[:, :, at] for at, name in enumerate(features.names)}
        for request, (user, start) in enumerate(zip(users, starts, strict=True)):
            had = np.zeros(8) if user < 0 else dense[user]
            for item in range(8):
                same = 1.0 * (start >= 0 and item % 2 == start % 2)
                share = had[item % 2 :: 2].sum() / had.sum() if had.sum() else 0.0
                place = catalogue.latitude[[start, item]]
                near = 1 / (1 + kilometres(place[0], -3.2, place[1], -3.2)) if start >= 0 else 0.0
                expected = [same, share, near, np.log1p(had[item]), 1.0 * (item == start)]
                named = ("same category", "category share", "closeness", "had before", "is start")
                assert [found[name][item, request] for name in named] == pytest.approx(expected)

    def test_nothing_known_of_items(self, make_interactions, make_catalogue):
        blind = Features.learned_from(make_interactions(), make_catalogue(8, known=False), 0)
        found = blind.of(np.array([0]), np.array([2]))
        assert not found[
            :, :, [blind.names.index(name) for name in ("same category", "category share", "closeness")]
        ].any()


class TestExamples:
    def test_taken_and_not_taken(self, features, make_interactions):
        later = make_interactions(9)
        described, taken = Ranker(negatives=2).examples(features, later)
        assert taken.sum() == 60
        assert len(described) == len(taken)
        wanted = {(u, s): set() for u, s in zip(later.users, later.starts, strict=True)}
        for user, start, item in zip(later.users, later.starts, later.items, strict=True):
            wanted[user, start].add(item)
        rows = sum(
            min(2 * sum(1 for row in zip(later.users, later.starts, strict=True) if row == key),
                len(set(range(8)) - items))
            for key, items in wanted.items()
        )  # fmt: skip
        assert (taken == 0).sum() == rows

    def test_features_do_not_know_what_was_taken_later(self, make_catalogue, monkeypatch):
        """The estimator never sees features from the rows that it is to predict."""
        seen = []
        real = Features.learned_from.__func__
        monkeypatch.setattr(
            Features, "learned_from",
            classmethod(lambda cls, rows, *more: seen.append(rows.times.tolist()) or real(cls, rows, *more)),
        )  # fmt: skip
        rng = np.random.default_rng(0)
        rows = Interactions.of(5, 6, rng.integers(0, 5, 20), rng.integers(0, 6, 20), times=rng.permutation(20))
        create("ranker", {"held": 0.25}).fit(rows, make_catalogue(6))
        assert sorted(seen[0]) == list(range(15))
        assert sorted(seen[1]) == list(range(20))


class TestEstimators:
    @pytest.mark.parametrize("estimator", ["logistic", DecisionTreeClassifier(max_depth=2, random_state=0), Ridge()])
    def test_any_will_do(self, estimator, make_interactions, make_catalogue):
        found = create("ranker", {"estimator": estimator}).fit(make_interactions(), make_catalogue(8))
        scores = found.scores([0, -1], [1, -1])
        assert scores.shape == (8, 2)
        assert (scores >= 0).all()
        if not isinstance(estimator, str):
            assert not hasattr(estimator, "n_features_in_")  # a clone was fitted

    def test_negative_predictions_count_as_nothing(self, make_interactions, make_catalogue):
        below = DummyRegressor(strategy="constant", constant=-1.0)
        found = create("ranker", {"estimator": below}).fit(make_interactions(), make_catalogue(8))
        assert not found.relevance([0], [1]).any()

    def test_it_learns_that_near_places_follow(self, make_catalogue):
        rng, n = np.random.default_rng(5), 400
        starts = rng.integers(0, 12, n)
        items = np.clip(starts + rng.choice([-1, 1], n), 0, 11)
        kept = items != starts
        rows = Interactions.of(40, 12, rng.integers(0, 40, n)[kept], items[kept], starts=starts[kept])
        found = create("ranker").fit(rows, make_catalogue(12)).relevance([-1], [6])[:, 0]
        assert set(np.argsort(-found)[:2]) == {5, 7}

    def test_everything_was_taken(self, make_catalogue):
        with pytest.raises(InputError, match="finds no item that was not taken"):
            create("ranker").fit(Interactions.of(1, 1, [0] * 6, [0] * 6), make_catalogue(1))


def test_examples_do_not_depend_on_how_many_are_described_at_once(features, make_interactions, monkeypatch):
    later = make_interactions(9)
    whole, taken = Ranker(negatives=2).examples(features, later)
    for at_once in (1, 3, 7):
        monkeypatch.setattr(ranker, "AT_ONCE", at_once)
        described, again = Ranker(negatives=2).examples(features, later)
        assert (described == whole).all() and (again == taken).all()
