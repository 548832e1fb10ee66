"""Views hold what a stakeholder may see, and nothing else: searched through and through."""

from dataclasses import fields, is_dataclass, replace

import numpy as np
import pytest

from accordant.slates.rankers import NoisyRanker, Ranker
from accordant.voting.ballots import Ranking
from accordant.slates.proxies import proxy_reports
from accordant.slates.rule import rules
from accordant.slates.market import serve
from accordant.slates.slates import State


class Watch(Ranker):
    """Keeps views."""

    name, about = "watch", "a fixture of a test"

    def __init__(self, reads=False):
        self.views, self.reads_requests = [], reads

    def rank(self, view):
        self.views.append(view)
        return Ranking(self.name, ())


def everything(value):
    """Yield every value below a view, keys of mappings among them."""
    if is_dataclass(value):
        for field in fields(value):
            yield from everything(getattr(value, field.name))
    elif isinstance(value, tuple | list | set | frozenset):
        for each in value:
            yield from everything(each)
    elif hasattr(value, "items"):
        for key, each in value.items():
            yield key
            yield from everything(each)
    else:
        assert isinstance(value, str | int | float | bool | None), type(value)  # nothing in which more could hide
        yield value


def views_of(market, stakeholders, name, *, reads=False, seed=0):
    ranker = Watch(reads)
    serve(
        rules.create("utilitarian_slate"),
        proxy_reports(market, {name: ranker}, declared=stakeholders, seed=seed).market,
        3,
    )
    return ranker.views


@pytest.mark.parametrize("name", ["Guest", "Neighbours", "Nature"])
def test_nothing_of_others_of_the_user_or_of_what_followed(name, market, stakeholders):
    others = [each.name for each in stakeholders if each.name != name]
    start = State.start(7, 3, 3)
    views = views_of(market, stakeholders, name)
    assert len(views) == 7
    hidden = [7777.0]  # the history
    for batch in market.batches:
        E = market.expected(batch, start.on(batch.day)).values
        own = market.stakeholders.index(name)
        hidden += np.delete(E, own, axis=0).reshape(-1).tolist()
        hidden += [] if name == "Guest" else batch.relevance.reshape(-1).tolist()
    hidden = {round(each, 12) for each in hidden}
    for view in views:
        found = list(everything(view))
        assert len(found) > 60
        texts = [each for each in found if isinstance(each, str)]
        assert not [each for each in texts if "anna" in each or "tour" in each]
        assert not [each for each in texts if any(other in each for other in others)]
        assert not [each for each in found if isinstance(each, bool)]  # targets, availability
        own_scores = {s for item in view.items for s in item.scores.values()}
        numbers = {round(each, 12) for each in found if isinstance(each, float) and each not in own_scores}
        assert not numbers & hidden
        assert {aim.name for aim in view.speaks_for.aims} == set(view.items[0].scores)


def test_scores_are_those_of_its_own_objectives(market, stakeholders):
    guest = stakeholders[0]
    start = State.start(7, 3, 3)
    by_number = {view.request: view for view in views_of(market, stakeholders, "Guest")}
    number = 0
    for batch in market.batches:
        worth = guest.utilities(market.catalogue, batch, start.on(batch.day))
        relevance = guest.objectives[0].scores(market.catalogue, batch, start)
        for user in range(batch.n_users):
            number += 1
            view = by_number[f"request {number}"]
            for item in view.items:
                c = market.catalogue.items.index(item.name)
                assert item.scores["relevance"] == relevance[c, user]
                assert view.utility(item) == pytest.approx(worth[c, user])


def test_what_is_declared_stands_in_words(market, stakeholders):
    party = views_of(market, stakeholders, "Neighbours")[0].speaks_for
    assert (party.name, party.role) == ("Neighbours", "affected")
    assert [aim.name for aim in party.aims] == ["popularity", "price", "price 2"]
    assert sum(aim.share for aim in party.aims) == pytest.approx(1)
    assert [aim.direction for aim in party.aims] == ["min", "max", "min"]
    assert party.aims[0].because == "Neighbours says so of popularity"
    assert party.aims[0].value == "what Neighbours values"
    assert party.aims[0].measured.startswith("the most popular item")


def test_facts_of_items_and_of_the_moment(market, stakeholders):
    view = views_of(market, stakeholders, "Nature")[4]
    assert view.moment.keys() == {"day", "latitude", "longitude"}
    assert view.moment["day"] == 1.0
    facts = {item.name: item.facts for item in view.items}
    assert facts["dome"].keys() == {"category", "popularity", "price", "distance_km"}
    assert (facts["dome"]["category"], facts["dome"]["price"]) == (None, 12.0)
    assert (facts["castle"]["price"], facts["castle"]["category"]) == (None, "sight")
    assert 0 < facts["alpha"]["distance_km"] < 5


def test_only_what_may_be_shown_is_shown(market, stakeholders):
    views = views_of(market, stakeholders, "Nature")
    for view in views:
        assert "gate" not in [item.name for item in view.items]  # closed
    assert [len(view.items) for view in views] == [5, 6, 5, 6, 5, 6, 5]


def test_the_order_of_items_is_drawn_from_the_seed(market, stakeholders):
    orders = [
        [tuple(item.name for item in view.items) for view in views_of(market, stakeholders, "Nature", seed=seed)]
        for seed in range(12)
    ]
    assert orders[0] == [tuple(item.name for item in v.items) for v in views_of(market, stakeholders, "Nature")]
    firsts = {order[1][0] for order in orders}
    assert len(firsts) >= 4
    assert len({order[1] for order in orders}) == 12


def test_requests_are_named_for_recorded_rankings_alone(market, stakeholders):
    assert [view.request for view in views_of(market, stakeholders, "Nature")] == [f"request {n}" for n in range(1, 8)]
    named = [view.request for view in views_of(market, stakeholders, "Nature", reads=True)]
    assert named == [each for batch in market.batches for each in batch.ids]


def test_names_of_users_and_requests_change_no_view(market, stakeholders):
    renamed = tuple(
        replace(batch, ids=tuple(f"x{each}" for each in batch.ids), users=tuple("y" for _ in batch.users))
        for batch in market.batches
    )
    other = replace(market, batches=renamed)
    assert views_of(market, stakeholders, "Nature") == views_of(other, stakeholders, "Nature")


def test_seeds_differ_between_stakeholders_and_requests(market, stakeholders):
    seeds = [view.seed for name in ("Guest", "Nature") for view in views_of(market, stakeholders, name)]
    assert len(set(seeds)) == 14


def test_draws_of_rankers_follow_the_seed(market, stakeholders):
    def orders(seed):
        proxies = proxy_reports(market, {"Nature": NoisyRanker(1.0)}, declared=stakeholders, seed=seed)
        serve(rules.create("utilitarian_slate"), proxies.market, 3)
        return [each.ranking.order for each in proxies.ballots]

    assert orders(1) == orders(1) != orders(2)
