"""What holds for all registered recommenders."""

import dataclasses
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accordant.errors import InputError, UnknownNameError
from accordant.slates.relevance import Interactions, create, names, relative

NAMES = ("factorisation", "neighbours", "popular", "ranker", "transitions")
USERS, STARTS = [0, 3, -1, -1, 11, 0], [2, -1, 4, -1, 7, 2]  # user 11 and item 7 have no row


@pytest.fixture(scope="module")
def fitted(make_interactions, make_catalogue):
    """Every recommender, fitted."""
    return {name: create(name).fit(make_interactions(), make_catalogue(8)) for name in NAMES}


def test_all_are_registered():
    assert set(NAMES) <= set(names())


@pytest.mark.parametrize("name", NAMES)
class TestEvery:
    def test_shape_and_range(self, fitted, name):
        scores = fitted[name].scores(USERS, STARTS)
        assert scores.shape == (8, 6)
        assert np.isfinite(scores).all()
        assert (scores >= 0).all()
        scaled = fitted[name].relevance(USERS, STARTS)
        assert ((scaled >= 0) & (scaled <= 1)).all()
        assert (scaled.max(axis=0) == 1).all()

    def test_requests_do_not_depend_on_each_other(self, fitted, name):
        scores = fitted[name].scores(USERS, STARTS)
        for request, (user, start) in enumerate(zip(USERS, STARTS, strict=True)):
            np.testing.assert_allclose(fitted[name].scores([user], [start])[:, 0], scores[:, request], rtol=1e-9)
        assert np.array_equal(scores[:, 0], scores[:, 5])

    def test_same_seed_same_bytes(self, fitted, name, make_interactions, make_catalogue):
        again = create(name).fit(make_interactions(), make_catalogue(8))
        assert again.scores(USERS, STARTS).tobytes() == fitted[name].scores(USERS, STARTS).tobytes()

    def test_order_of_rows_does_not_matter(self, fitted, name, make_interactions, make_catalogue):
        turned = make_interactions().take(np.arange(60)[::-1])
        again = create(name).fit(turned, make_catalogue(8))
        np.testing.assert_allclose(again.scores(USERS, STARTS), fitted[name].scores(USERS, STARTS), rtol=1e-6)

    def test_no_requests(self, fitted, name):
        assert fitted[name].scores([], []).shape == (8, 0)
        assert fitted[name].relevance([], []).shape == (8, 0)

    def test_wrong_positions(self, fitted, name):
        for users, starts, message in (
            ([12], [0], "users name position 12; allowed: -1 to 11"),
            ([0], [8], "starts name position 8; allowed: -1 to 7"),
            ([0, 1], [0], "allowed: one of each per request"),
            ([0.5], [0], "allowed: whole numbers"),
        ):
            with pytest.raises(InputError, match=message):
                fitted[name].scores(users, starts)

    def test_another_catalogue(self, name, make_interactions, make_catalogue):
        with pytest.raises(InputError, match="about 8 items; allowed: 7"):
            create(name).fit(make_interactions(), make_catalogue(7))

    def test_nothing_known_of_items(self, name, make_interactions, make_catalogue):
        found = create(name).fit(make_interactions(), make_catalogue(8, known=False))
        assert np.isfinite(found.scores(USERS, STARTS)).all()

    def test_without_interactions(self, name, make_catalogue):
        nothing = Interactions.of(2, 3, [], [])
        if name == "ranker":
            with pytest.raises(InputError, match="a ranker has 0 interactions"):
                create(name).fit(nothing, make_catalogue(3))
        else:
            found = create(name).fit(nothing, make_catalogue(3))
            assert not found.relevance([0, -1], [-1, -1]).any()

    def test_rebuilds_itself(self, name):
        made = create(name)
        parameters = {field.name: getattr(made, field.name) for field in dataclasses.fields(made)}
        assert create(name, parameters) == made
        assert made.about


@pytest.mark.parametrize("name", ["popular", "transitions", "neighbours", "factorisation"])
def test_cold_and_without_a_start_is_popularity_or_reach(fitted, name, make_interactions):
    rows = make_interactions()
    prior = rows.popularity if name in {"popular", "transitions"} else rows.reach
    np.testing.assert_allclose(fitted[name].relevance([-1], [-1])[:, 0], prior / prior.max())


@pytest.mark.parametrize("name", ["popular", "transitions", "neighbours", "factorisation"])
def test_items_that_nobody_consumed_score_nothing(fitted, name):
    assert not fitted[name].scores(USERS, STARTS)[7].any()


@pytest.mark.long
@given(st.lists(st.lists(st.just(0.0) | st.floats(1e-9, 1e9), min_size=3, max_size=3), min_size=1, max_size=4))
def test_relative(columns):
    scores = np.array(columns).T
    found = relative(scores)
    for before, after in zip(scores.T, found.T, strict=True):
        assert after.max() == (1 if before.any() else 0)
        np.testing.assert_allclose(after * before.max(), before, rtol=1e-12, atol=0)


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("transitions", {"smoothing": 0.0}, "smoothing is 0.0; allowed: a number above 0"),
        ("neighbours", {"neighbours": 0}, "neighbours is 0"),
        ("neighbours", {"shrinkage": -1.0}, "shrinkage is -1.0"),
        ("factorisation", {"factors": 0}, "factors is 0"),
        ("factorisation", {"iterations": 0}, "iterations is 0"),
        ("factorisation", {"alpha": 0.0}, "alpha is 0.0"),
        ("factorisation", {"regularisation": float("inf")}, "regularisation is inf"),
        ("ranker", {"estimator": "logistik"}, "did you mean 'logistic'"),
        ("ranker", {"held": 1.0}, "held is 1.0; allowed: above 0 and below 1"),
        ("ranker", {"negatives": 0}, "negatives is 0"),
    ],
)
def test_wrong_parameters(name, parameters, message):
    with pytest.raises(InputError, match=message):
        create(name, parameters)


def test_wrong_name():
    with pytest.raises(UnknownNameError, match="did you mean 'popular'"):
        create("populr")


@pytest.mark.long
def test_importing_is_light():
    heavy = ("sklearn", "scipy", "pandas", "numba", "joblib", "matplotlib")
    code = (
        "import sys, accordant.slates.fidelity; from accordant.slates.objectives import objectives; "
        "from accordant.slates.relevance import names; objectives.names(); names(); "
        f"print(*(name for name in {heavy} if name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
