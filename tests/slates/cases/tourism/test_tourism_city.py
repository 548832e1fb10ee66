"""The made-up city: what is declared of it holds, and visitors choose as the multinomial model says."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from accordant.slates.sources import market_simulators
from accordant.slates.cases.tourism import simulator
from accordant.slates.cases.tourism.simulator import VISITS, Choice
from accordant.slates.cases.tourism.simulator import CATEGORIES
from accordant.slates.cases.tourism.simulator import LIKED, city
from accordant.errors import InputError
from accordant.slates.catalogue import Requests
from accordant.slates.slates import NOTHING, Slates

SMALL = {"days": 2, "visitors_per_day": 10, "batch": 4, "places": 12, "users": 15}


def together(demand, name):
    return np.concatenate([getattr(batch, name) for batch in demand.batches], axis=-1)


def requests_of(n_items, n_users, ids=None):
    names = tuple(str(user) for user in range(n_users)) if ids is None else ids
    nothing = np.zeros((n_items, n_users))
    return Requests(names, names, 0, np.zeros(n_users), np.zeros(n_users), nothing, nothing, nothing == 0)


def slates_of(n_items, lists):
    items = np.array(lists, dtype=np.intp)
    return Slates("test", tuple(map(str, range(n_items))), items, np.zeros(len(items), dtype=bool))


def chooser(taste, room=None, **changes):
    """A choice of users who all have one taste."""
    n_items, n_users = len(taste), changes.pop("n_users", 1)
    room = np.full(n_items, 1e9) if room is None else np.array(room, dtype=float)
    seed = changes.pop("seed", 0)
    return Choice(
        seed, tuple(map(str, range(n_items))), np.repeat(np.array(taste, dtype=float)[:, None], n_users, axis=1),
        {str(user): user for user in range(n_users)}, room, **changes,
    )  # fmt: skip


def test_what_is_declared_of_the_city_holds():
    demand = city(3, **SMALL, closed=2, cold_share=0.4)
    catalogue = demand.catalogue
    assert catalogue.n_items == 12 and (~catalogue.open).sum() == 2
    assert sum(each is None for each in catalogue.category) >= 1 and set(catalogue.categories) <= set(CATEGORIES)
    assert len(catalogue.providers) == 2 and np.isfinite(catalogue.latitude).all()
    assert [batch.day for batch in demand.batches] == [0, 0, 0, 1, 1, 1]
    assert [batch.n_users for batch in demand.batches] == [4, 4, 2] * 2
    for day in range(2):
        users = [user for batch in demand.batches if batch.day == day for user in batch.users]
        assert len(set(users)) == len(users) == 10  # nobody comes twice on a day
    history = together(demand, "history")
    asked = [user for batch in demand.batches for user in batch.users]
    cold = {user for user, empty in zip(asked, (history == 0).all(axis=0), strict=True) if empty}
    assert 0 < len(cold) <= 6 and demand.facts["cold_share"] == np.mean([user in cold for user in asked])
    assert len(cold) < len(set(asked))


def test_closed_attractions_are_those_of_middle_popularity():
    catalogue = city(0, **SMALL, closed=2).catalogue
    ranks = np.argsort(np.argsort(-catalogue.popularity))[~catalogue.open]
    assert sorted(ranks) == [5, 6]


def test_what_an_attraction_costs_and_where_it_is_is_drawn_as_declared():
    """Of 1,000 attractions a tenth has no category, a tenth no price, three tenths are free."""
    catalogue = city(6, **(SMALL | {"places": 1000, "users": 1})).catalogue
    assert [place for place, each in enumerate(catalogue.category) if each is None] == [*range(1, 1000, 10)]
    price = catalogue.price
    assert np.isnan(price).mean() == pytest.approx(0.1, abs=0.03)
    assert (price == 0).mean() == pytest.approx(0.3, abs=0.05)
    paid = price[price > 0]
    assert (paid.min(), paid.max()) == (5, 40) and paid.mean() == pytest.approx(22.5, abs=1.5)
    assert (paid == paid.round()).all()
    assert (catalogue.safety.min(), catalogue.safety.max()) == (0.6, 1.0)
    assert (catalogue.safety == catalogue.safety.round(2)).all()
    for degrees, middle in ((catalogue.latitude, 48.0), (catalogue.longitude, 11.0)):
        assert degrees.mean() == pytest.approx(middle, abs=0.003) and degrees.std() == pytest.approx(0.02, abs=0.002)


def test_visitors_start_around_the_centre():
    demand = city(6, **(SMALL | {"visitors_per_day": 500, "users": 500}))
    for name, middle in (("latitude", 48.0), ("longitude", 11.0)):
        degrees = together(demand, name)
        assert degrees.mean() == pytest.approx(middle, abs=0.003) and degrees.std() == pytest.approx(0.02, abs=0.002)


def test_users_who_are_known_made_three_to_twelve_visits():
    history = together(city(6, **(SMALL | {"visitors_per_day": 300, "users": 400, "cold_share": 0.25})), "history")
    made = history.sum(axis=0)
    assert set(made) == {0, *range(3, 13)}
    assert (made > 0).mean() == pytest.approx(0.75, abs=0.06)


def test_nobody_likes_what_has_no_category_for_its_category():
    """Where there is a category, users differ more: own liking of it is drawn, and more widely than accident."""
    demand = city(0, **(SMALL | {"places": 60, "users": 200, "visitors_per_day": 100}))
    taste = demand.uptake.taste
    spread = np.log(taste / (1 - taste)).std(axis=1)
    without = np.array([each is None for each in demand.catalogue.category])
    assert spread[without].max() < 0.8 < 1.1 < spread[~without].min()


def test_taste_is_fame_and_liking_of_the_category_and_accident():
    """Over users: mean 0.8 of standardised fame, variance 0.6² where there is no category, and 1.2² more elsewhere."""
    demand = city(0, **(SMALL | {"places": 60, "users": 1500, "visitors_per_day": 1500, "days": 1}))
    liking = np.log(demand.uptake.taste / (1 - demand.uptake.taste))
    fame = np.log(1 + demand.catalogue.popularity)
    expected = 0.8 * (fame - fame.mean()) / fame.std()
    without = np.array([each is None for each in demand.catalogue.category])
    np.testing.assert_allclose(liking.mean(axis=1), expected, atol=0.12)
    np.testing.assert_allclose(liking[without].std(axis=1), 0.6, atol=0.06)
    np.testing.assert_allclose(liking[~without].std(axis=1), math.hypot(0.6, 1.2), atol=0.12)
    np.testing.assert_allclose(liking[without].mean(axis=1), expected[without], atol=0.06)


def test_popularity_follows_the_power_law():
    ranked = np.sort(city(1).catalogue.popularity)[::-1]
    slope = np.polyfit(np.log(np.arange(1, len(ranked) + 1)), np.log(ranked), 1)[0]
    assert slope == pytest.approx(-0.9, abs=0.02)


def test_the_same_seed_gives_the_same_city_and_another_one_another():
    one, again, other = (city(seed, **SMALL) for seed in (5, 5, 6))
    for name in ("relevance", "history", "targets", "latitude"):
        assert np.array_equal(together(one, name), together(again, name))
        assert not np.array_equal(together(one, name), together(other, name))
    assert np.array_equal(one.catalogue.price, again.catalogue.price, equal_nan=True)


def test_relevance_without_noise_is_taste_and_noise_changes_nothing_else():
    demand, noisy = city(2, **SMALL, noise=0.0), city(2, **SMALL, noise=0.3)
    taste = demand.uptake.taste
    known = together(demand, "history").any(axis=0)
    relevance = together(demand, "relevance")
    assert np.allclose(relevance[:, known], taste[:, known])
    assert not np.allclose(relevance[:, ~known], taste[:, ~known])
    assert (relevance[:, ~known] == relevance[:, ~known][:, :1]).all()  # all that are not known look alike
    assert np.array_equal(taste, noisy.uptake.taste)
    for name in ("history", "targets", "longitude"):
        assert np.array_equal(together(demand, name), together(noisy, name))
    assert ((together(noisy, "relevance") >= 0) & (together(noisy, "relevance") <= 1)).all()
    errors = together(city(2, **SMALL, noise=0.01), "relevance")[:, known] - taste[:, known]
    assert errors.std() == pytest.approx(0.01, rel=0.15) and errors.mean() == pytest.approx(0, abs=0.003)


def test_targets_are_the_best_liked_open_attractions():
    demand = city(4, **SMALL, closed=3)
    taste, targets = demand.uptake.taste, together(demand, "targets")
    for request in range(taste.shape[1]):
        by_liking = sorted(range(12), key=lambda item: -taste[item, request])
        best = [item for item in by_liking if demand.catalogue.open[item]][:LIKED]
        assert set(np.flatnonzero(targets[:, request])) == set(best)


def test_a_city_of_one_attraction():
    demand = city(0, days=1, visitors_per_day=3, places=1, closed=0, users=2)
    assert together(demand, "targets").all() and demand.catalogue.n_items == 1
    assert sum(batch.n_users for batch in demand.batches) == 3  # fewer users than visitors: somebody comes twice


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"closed": 12}, "12 of 12 attractions are closed"),
        ({"closed": -1}, "-1 of 12 attractions are closed"),
        ({"days": 0}, "days is 0; allowed: a whole number of at least 1"),
        ({"visitors_per_day": 0}, "visitors_per_day is 0"),
        ({"batch": 0}, "batch is 0"),
        ({"users": 0}, "0 users"),
        ({"cold_share": 1.5}, "cold_share is 1.5; allowed: from 0 to 1"),
        ({"noise": -0.1}, "noise is -0.1"),
        ({"sharpness": float("nan")}, "sharpness is nan"),
        ({"crowding_aversion": -1.0}, "crowding_aversion is -1"),
    ],
)
def test_parameters_out_of_range(changes, message):
    with pytest.raises(InputError, match=message):
        city(0, **(SMALL | changes))


@pytest.mark.parametrize("name", ["closed", "cold_share", "noise", "sharpness", "position_bias", "crowding_aversion"])
def test_a_parameter_of_nought_is_allowed(name):
    assert city(0, **(SMALL | {name: 0})).facts["requests"] == 20


def test_the_simulator_is_registered():
    demand = market_simulators.create("city", {"seed": 0, **SMALL})
    assert demand.facts["requests"] == 20


def test_choices_follow_the_multinomial_model():
    """Shares of 4,000 visitors against exp(u) / Σ exp(u), u = 2 · taste + ln(attention)."""
    taste, n_users = [0.9, 0.1, 0.5, 0.7], 4000
    choose = chooser(taste, n_users=n_users, sharpness=2.0)
    found = choose(requests_of(4, n_users), slates_of(4, [[1, 0, 3]] * n_users))
    weights = {item: math.exp(2 * taste[item]) / math.log2(2 + place) for place, item in enumerate([1, 0, 3])}
    for item, weight in weights.items():
        share = weight / sum(weights.values())
        assert found[item].mean() == pytest.approx(share, abs=4 * math.sqrt(share * (1 - share) / n_users))
    assert found[2].sum() == 0 and (found.sum(axis=0) == 1).all()


def test_an_empty_list_brings_no_visit_and_padding_is_no_item():
    choose = chooser([0.2, 0.8], n_users=2)
    found = choose(requests_of(2, 2), slates_of(2, [[NOTHING, NOTHING], [0, NOTHING]]))
    assert found.tolist() == [[0, 1], [0, 0]]


def test_a_mood_is_gumbel_and_finite_at_both_ends_of_what_is_drawn(monkeypatch):
    monkeypatch.setattr(simulator, "keyed_uniform", lambda *_: np.array([0.0, 0.25, 0.5, 1.0]))
    least, *middle, most = chooser([0.5] * 4).shocks("0", np.arange(4))
    assert middle == pytest.approx([-math.log(-math.log(draw)) for draw in (0.25, 0.5)])
    assert (least, most) == pytest.approx((-math.log(53 * math.log(2)), 53 * math.log(2)))


def test_moods_do_not_depend_on_who_else_comes_or_on_the_list():
    choose = chooser([0.5] * 6, n_users=40, crowding_aversion=0.0, position_bias=0.0)
    lists = [[0, 1, 2, 3, 4]] * 40
    together_ = choose(requests_of(6, 40), slates_of(6, lists))
    for user in (0, 17, 39):
        alone = choose(requests_of(6, 1, (str(user),)), slates_of(6, [lists[0]]))
        assert np.array_equal(alone[:, 0], together_[:, user])
    turned = choose(requests_of(6, 40), slates_of(6, [each[::-1] for each in lists]))
    assert np.array_equal(turned, together_)  # without position bias the order of the list is nothing
    taken = np.argmax(together_, axis=0)
    shorter = [[item for item in each if item != 5 - taken[user]][:4] for user, each in enumerate(lists)]
    kept = np.array([taken[user] in each for user, each in enumerate(shorter)])
    again = np.argmax(choose(requests_of(6, 40), slates_of(6, shorter)), axis=0)
    assert kept.any() and (again[kept] == taken[kept]).all()  # leaving out what was not chosen changes no choice


def test_crowding_turns_visitors_away():
    lists = slates_of(3, [[0, 1, 2]] * 9)
    averse = chooser([1.0, 0.5, 0.0], room=[1, 1, 1], n_users=9, crowding_aversion=1e6)
    found = averse(requests_of(3, 9), lists)
    assert found.sum(axis=1).tolist() == [3, 3, 3]  # each goes to the emptiest
    for last in range(1, 10):
        visited = found[:, :last].sum(axis=1)
        assert visited.max() - visited.min() <= 1
    roomy = chooser([1.0, 0.5, 0.0], room=[2, 1, 1], n_users=8, crowding_aversion=1e6)
    came = roomy(requests_of(3, 8), slates_of(3, [[0, 1, 2]] * 8)).sum(axis=1)
    assert came.tolist() == [4, 2, 2]  # in proportion to room
    mild = chooser([1.0, 0.5, 0.0], room=[1, 1, 1], n_users=9, crowding_aversion=0.0, sharpness=1e6)
    assert mild(requests_of(3, 9), lists)[0].sum() == 9


def test_each_visitor_meets_those_who_came_before_at_what_fits_the_room():
    """One after the other by the formula, where neither taste nor crowd nor mood decides alone."""
    taste, room = [0.9, 0.5, 0.2, 0.7], [1.0, 2.0, 4.0, 3.0]
    choose = chooser(taste, room=room, n_users=60, sharpness=3.0, position_bias=2.0, crowding_aversion=1.5)
    lists = [np.random.default_rng(user).permutation(4)[:3].tolist() for user in range(60)]
    found, came = choose(requests_of(4, 60), slates_of(4, lists)), [0] * 4
    for user, shown in enumerate(lists):
        utilities = [
            3.0 * taste[item] - 2.0 * math.log(math.log2(2 + place)) - 1.5 * came[item] / room[item] + mood
            for place, (item, mood) in enumerate(zip(shown, choose.shocks(str(user), np.array(shown)), strict=True))
        ]
        taken = shown[int(np.argmax(utilities))]
        assert found[:, user].tolist() == [item == taken for item in range(4)]
        came[taken] += 1


def test_room_is_the_capacity_of_a_batch():
    demand = city(0, **SMALL)
    for item, capacity in enumerate(demand.catalogue.capacity):
        exact = max(Fraction(1), Fraction(float(capacity)) * 4 / 10)
        assert demand.uptake.room[item] == pytest.approx(float(exact))


def test_visits_to_all_attractions_together_are_as_declared():
    popularity = city(1).catalogue.popularity
    assert popularity.sum() == pytest.approx(VISITS, abs=len(popularity) / 2)  # each is rounded
    assert popularity.max() / np.sort(popularity)[-2] == pytest.approx(2**0.9, abs=1e-3)
    assert city(1, **(SMALL | {"places": 1, "closed": 0})).catalogue.popularity.tolist() == [VISITS]
