"""Values mapped to objectives: unknown numbers, directions, weights, and attainment against floors."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from accordant.errors import InputError, SpecError
from accordant.slates.objectives import Objective, SlateStakeholder, StatedObjective, attainments, expected_utilities
from accordant.slates.slates import Slates


def stated(metric, **more):
    return StatedObjective(metric=metric, because="a test", **more)


def party(*objectives, name="Guide"):
    value = {"value": "what matters", "objectives": objectives}
    return SlateStakeholder(name=name, role="affected", values=[value], provenance="a test")


@dataclass(frozen=True)
class Fixed(Objective):
    """Whatever a test says."""

    name: ClassVar[str] = "fixed"
    about: ClassVar[str] = "a test"
    values: tuple

    def scores(self, catalogue, requests, state):
        return np.array(self.values, dtype=float)


@pytest.fixture
def fixed(monkeypatch):
    """Return a function from numbers to a stated objective that has them."""

    def make(values, **more):
        made = stated("safety", **more)
        monkeypatch.setattr(StatedObjective, "objective", property(lambda self: Fixed(values)))
        return made

    return make


class TestScores:
    def test_unknown_is_the_mean_of_the_known_for_the_same_user(self, fixed, make_catalogue, make_requests):
        nan = np.nan
        values = ((0.2, nan), (nan, nan), (0.6, 0.9))
        found = fixed(values).scores(make_catalogue(), make_requests(), None)
        assert found == pytest.approx(np.array([[0.2, 0.9], [0.4, 0.9], [0.6, 0.9]]))
        found = fixed(values, direction="min").scores(make_catalogue(), make_requests(), None)
        assert found == pytest.approx(1 - np.array([[0.2, 0.9], [0.4, 0.9], [0.6, 0.9]]))

    def test_nothing_is_known(self, make_catalogue, make_requests):
        for direction in ("max", "min"):
            found = stated("safety", direction=direction).scores(make_catalogue(), make_requests(), None)
            assert found.shape == (3, 2)
            assert (found == 0.5).all()

    def test_one_column_serves_all_users(self, make_catalogue, make_requests):
        found = stated("safety").scores(make_catalogue(safety=[0, np.nan, 1]), make_requests(n_users=3), None)
        assert found.tolist() == [[0] * 3, [0.5] * 3, [1] * 3]

    @pytest.mark.parametrize(
        ("values", "message"),
        [
            (((0.1,), (1.2,), (0.3,)), r"'safety' gives 1.2; allowed: numbers in \[0, 1\]"),
            (((0.1,), (-0.2,), (0.3,)), "gives -0.2"),
            ((0.1, 0.2, 0.3), r"has shape \(3,\); allowed: \(3, 2\)"),
            (((0.1,), (0.2,)), r"has shape \(2, 1\)"),
        ],
    )
    def test_no_objective(self, fixed, make_catalogue, make_requests, values, message):
        with pytest.raises(InputError, match=message):
            fixed(values).scores(make_catalogue(), make_requests(), None)

    def test_a_misspelt_objective_is_refused_when_it_is_declared(self):
        with pytest.raises(SpecError, match="did you mean 'crowding'"):
            stated("crowdng")
        with pytest.raises(SpecError, match="unknown parameter 'reach'"):
            stated("distance", parameters={"reach": 3})


class TestUtilities:
    def test_weights_are_shares(self, make_catalogue, make_requests, make_state):
        catalogue = make_catalogue(safety=[0, 1, 1], price=[0, 5, 10])
        who = party(stated("safety", weight=1), stated("price", weight=3, direction="min"))
        found = who.utilities(catalogue, make_requests(), make_state())
        assert found[:, 0] == pytest.approx([0.75, 0.25 + 0.375, 0.25])
        assert np.array_equal(found[:, 0], found[:, 1])

    def test_in_exact_numbers(self, world):
        catalogue, requests, state = world(5)
        objectives = [stated("novelty", weight=2), stated("crowding", direction="min"), stated("safety", weight=0.5)]
        found = party(*objectives).utilities(catalogue, requests, state)
        for c in range(7):
            for u in range(4):
                each = [objective.scores(catalogue, requests, state)[c, u] for objective in objectives]
                assert found[c, u] == pytest.approx((2 * each[0] + each[1] + 0.5 * each[2]) / 3.5)

    def test_expected(self, world):
        catalogue, requests, state = world(6)
        parties = [party(stated("relevance"), name="Tourist"), party(stated("popularity"), name="Platform")]
        E = expected_utilities(parties, catalogue, requests, state)
        assert E.stakeholders == ("Tourist", "Platform")
        assert E.actions == catalogue.items
        assert np.allclose(E.values[0], requests.relevance)
        with pytest.raises(InputError, match="nobody has a say"):
            expected_utilities([], catalogue, requests, state)


def slates_of(items, n_items=3):
    return Slates("test", tuple(f"item{c}" for c in range(n_items)), np.array(items), np.zeros(len(items), dtype=bool))


class TestAttainments:
    def test_by_hand(self, make_catalogue, make_requests, make_state):
        catalogue = make_catalogue(safety=[0.2, 0.6, 1], price=[0, 5, 10])
        who = party(stated("safety", floor=0.5), stated("price", direction="min", floor=0.75), stated("popularity"))
        found = attainments(
            who, catalogue, make_requests(n_users=3), make_state(), slates_of([[1, 0], [2, -1], [-1, -1]])
        )
        assert found.metrics == ("safety", "price", "popularity")
        expected = [[0.4, 1, np.nan], [0.75, 0, np.nan], [0, 0, np.nan]]
        np.testing.assert_allclose(found.means, expected)
        np.testing.assert_allclose(found.floors, [0.5, 0.75, np.nan])
        np.testing.assert_allclose(found.shortfall, [[0.1, 0, np.nan], [0, 0.75, np.nan], [np.nan] * 3])
        np.testing.assert_allclose(found.met, [0.5, 0.5, np.nan])

    def test_a_list_of_all_items_gives_the_mean(self, world):
        catalogue, requests, state = world(1)
        who = party(stated("distance", direction="min"), stated("long_tail", floor=0.5))
        every = np.tile(np.arange(7), (4, 1))
        found = attainments(who, catalogue, requests, state, slates_of(every, 7))
        expected = [each.scores(catalogue, requests, state).mean(axis=0) for each in who.objectives]
        np.testing.assert_allclose(found.means, expected)
        assert found.met[1] == 1

    def test_no_users_and_wrong_numbers(self, make_catalogue, make_requests, make_state):
        who = party(stated("popularity", floor=0.5))
        found = attainments(
            who, make_catalogue(), make_requests(n_users=0), make_state(), slates_of(np.empty((0, 2), dtype=int))
        )
        assert found.means.shape == (1, 0)
        assert np.isnan(found.met).all()
        with pytest.raises(InputError, match="there are 1 lists; allowed: 2"):
            attainments(who, make_catalogue(), make_requests(), make_state(), slates_of([[0, 1]]))
