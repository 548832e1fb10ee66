"""Crowding, distance, emissions, price, safety."""

import math

import numpy as np
import pytest

from accordant.errors import InputError
from accordant.slates.objectives import objectives
from accordant.slates.objectives.travel import EARTH_KM, kilometres


class TestKilometres:
    @pytest.mark.parametrize(
        ("one", "other", "share"),
        [
            ((0, 0), (0, 90), 1 / 4),
            ((0, 0), (90, 0), 1 / 4),
            ((90, 7), (-90, 50), 1 / 2),
            ((0, 179), (0, -179), 2 / 360),
        ],
    )
    def test_parts_of_a_great_circle(self, one, other, share):
        assert kilometres(*one, *other) == pytest.approx(share * 2 * math.pi * EARTH_KM)

    def test_against_the_angle_between_vectors(self):
        rng = np.random.default_rng(0)
        for _ in range(50):
            (a, b), (c, d) = ((math.asin(rng.uniform(-1, 1)), rng.uniform(-math.pi, math.pi)) for _ in range(2))
            one, other = (
                [math.cos(p) * math.cos(q), math.cos(p) * math.sin(q), math.sin(p)] for p, q in ((a, b), (c, d))
            )
            angle = math.atan2(np.linalg.norm(np.cross(one, other)), np.dot(one, other))
            assert kilometres(*np.degrees([a, b, c, d])) == pytest.approx(EARTH_KM * angle, abs=1e-6)

    def test_same_and_unknown(self):
        assert kilometres(55.9, -3.2, 55.9, -3.2) == 0
        assert np.isnan(kilometres(np.nan, 0, 0, 0))

    def test_opposite_points_do_not_leave_the_domain(self):
        assert kilometres(55.9, -3.2, -55.9, 176.8) == pytest.approx(math.pi * EARTH_KM)


class TestDistanceAndEmissions:
    degree = math.pi * EARTH_KM / 180

    def test_distance(self, make_catalogue, make_requests):
        catalogue = make_catalogue(latitude=[0, 0.01, 2], longitude=[0, 0, 0])
        requests = make_requests(latitude=[0, np.nan], longitude=[0, 0])
        found = objectives.create("distance", {"reach_km": 10.0}).scores(catalogue, requests, None)
        assert found[:, 0] == pytest.approx([0, 0.01 * self.degree / 10, 1])
        assert np.isnan(found[:, 1]).all()

    def test_emissions(self, make_catalogue, make_requests):
        catalogue = make_catalogue(4, latitude=[0, 0.01, 0.02, 9], longitude=[0, 0, 0, 0])
        parameters = {"walking_km": 1.2, "shares": {"tram": 1, "car": 3}, "grams_per_km": {"tram": 20, "car": 100}}
        found = objectives.create("emissions", parameters).scores(
            catalogue, make_requests(4, 1, latitude=[0], longitude=[0]), None
        )
        assert found[:, 0] == pytest.approx([0, 0, 0.02 * self.degree * 80 / 1000, 1])

    def test_walking_distance_is_walked(self, make_catalogue, make_requests):
        catalogue, requests = (
            make_catalogue(1, latitude=[0.01], longitude=[0]),
            make_requests(1, 1, latitude=[0], longitude=[0]),
        )
        far = float(kilometres(0, 0, 0.01, 0))
        found = [
            objectives.create("emissions", {"walking_km": walked}).scores(catalogue, requests, None)[0, 0]
            for walked in (far, np.nextafter(far, 0))
        ]
        assert found == pytest.approx([0, far * 135 / 1000])

    def test_no_position(self, make_catalogue, make_requests):
        for name in ("distance", "emissions"):
            assert np.isnan(objectives.create(name).scores(make_catalogue(), make_requests(), None)).all()


class TestCrowding:
    def scores(self, catalogue, state, **parameters):
        return objectives.create("crowding", parameters).scores(catalogue, None, state)[:, 0].tolist()

    def test_load_over_capacity(self, make_catalogue, make_state):
        catalogue = make_catalogue(4, capacity=[4, 2, np.inf, 0])
        assert self.scores(catalogue, make_state(4, load=[1.0, 3.0, 9.0, 0.0])) == [0.25, 1, 0, 1]

    def test_others_come_by_popularity(self, make_catalogue, make_state):
        catalogue = make_catalogue(capacity=[10, 10, 0], popularity=[3, 1, 0])
        assert self.scores(catalogue, make_state(), others=8.0) == [0.6, 0.2, 1]

    def test_others_where_nothing_is_popular(self, make_catalogue, make_state):
        assert self.scores(make_catalogue(capacity=[10] * 3), make_state(), others=6.0) == pytest.approx([0.2] * 3)


class TestPriceAndSafety:
    def test_reference(self, make_catalogue):
        catalogue = make_catalogue(price=[0, 5, np.nan])
        for parameters, half in (({"reference": 10.0}, 0.5), ({"reference": 4.0}, 1.0), ({}, 1.0)):
            found = objectives.create("price", parameters).scores(catalogue, None, None)[:, 0]
            assert found[:2].tolist() == [0, half]
            assert np.isnan(found[2])

    def test_everything_is_free_or_unknown(self, make_catalogue):
        assert not objectives.create("price").scores(make_catalogue(price=[0, 0, 0]), None, None).any()
        assert np.isnan(objectives.create("price").scores(make_catalogue(), None, None)).all()

    def test_wrong_prices(self, make_catalogue):
        for wrong in (-1.0, np.inf):
            with pytest.raises(InputError, match="allowed: numbers of at least 0"):
                objectives.create("price").scores(make_catalogue(price=[0, 1, wrong]), None, None)

    def test_safety(self, make_catalogue):
        found = objectives.create("safety").scores(make_catalogue(safety=[0.2, np.nan, 1]), None, None)[:, 0]
        assert np.array_equal(found, [0.2, np.nan, 1], equal_nan=True)
