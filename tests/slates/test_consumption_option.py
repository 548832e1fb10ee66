"""Slates for users who take only some items of a list: the rule, the measure, the check, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from accordant.errors import InputError
from accordant.naming import Named
from accordant.slates.measures import measures
from accordant.slates.options import SlateOptions, command_line
from accordant.slates.page import render_slates
from accordant.slates.proxies.sources import with_proxies
from accordant.slates.rule import rules
from accordant.slates.rules.consumption_aware import ConsumptionAware
from accordant.slates.section import CONSUMED, MODELLED, _consumption, open_slates, show_slates
from accordant.slates.market import serve
from accordant.slates.slates import NOTHING
from tests.slates.measures.conftest import catalogue, random_market, small_market

LIBRARY = Path(__file__).parents[2] / "examples" / "own_slates" / "library.yaml"


def few(**others):
    return SlateOptions(
        **({"requests": 8, "resamples": 100, "strategies": (Named("seq_pav"),), "data": str(LIBRARY.parent)} | others)
    )


@pytest.fixture(scope="module")
def opened():
    return open_slates(LIBRARY, few(consumption=2))


@pytest.fixture(scope="module")
def shown(opened):
    return show_slates(opened)


@pytest.fixture(scope="module")
def content(shown):
    return shown.to_json()


def test_the_rule_competes_and_every_rule_is_measured(content):
    label = "consumption_aware[consumed=2]"
    assert label in [row["strategy"] for row in content["leaderboard"]]
    columns = [each["label"] for each in content["columns"]]
    assert columns.index(CONSUMED) == 2 and content["consumption"]["consumed"] == 2
    assert "--consumption 2" in command_line(content)
    page = render_slates(content)
    assert CONSUMED in page and "Lists are judged by" in page


def test_a_draw_at_random_is_no_candidate(content):
    assert [row["strategy"] for row in content["leaderboard"] if not row["candidate"]] == ["random_slate"]
    assert "random_slate cannot win." in content["remarks"]


def test_whoever_speaks_is_told_with_what_a_ranking_must_hold(shown, tmp_path):
    market, file = shown.opened.source.market, tmp_path / "rankings.csv"
    file.write_text(f"stakeholder,request,place,item\nReader,{market.ids[0]},1,{market.catalogue.items[0]}\n")
    ready = with_proxies(shown.opened, None, str(file), threshold=0.25, instead="silence")
    serve(rules.create("utilitarian_slate"), ready.opened.source.market, 5)
    (voice,) = replace(shown, proxies=ready.proxies).to_json()["voices"]
    assert (voice["stakeholder"], voice["asked"]) == ("Reader", 8)
    assert (voice["threshold"], voice["instead"]) == (0.25, "silence")


def test_how_many_requests_are_served_is_noted_where_not_all_are(opened):
    assert opened.source.notes[0] == ("Of 208 requests the first 8 are served; the notes below speak of all of them.")
    every = open_slates(LIBRARY, few(requests=None))
    assert every.source.notes == opened.source.notes[1:] and every.known == opened.known
    assert every.known == set(every.source.market.ids) > set(opened.source.market.ids)


@pytest.mark.long
def test_without_it_nothing_changes():
    options = few()
    content = show_slates(open_slates(LIBRARY, options)).to_json()
    assert "consumption" not in content["options"] and "judged_by" not in (content["consumption"] or {})
    assert CONSUMED not in [each["label"] for each in content["columns"]]
    assert "--consumption" not in command_line(content)


def test_no_list_is_worth_more_than_that_of_the_rule():
    for consumed in (1, 2):
        measure = measures.create("consumed_value", {"consumed": consumed})
        for seed in (1, 2):
            market = replace(random_market(seed), floors={}, close_when_full=False)
            served = serve(ConsumptionAware(consumed=consumed), market, 4)
            best, generator = measure.of_requests(served), np.random.default_rng(seed)
            for _ in range(20):
                items = np.full_like(served.slates.items, NOTHING)
                for request, may in enumerate(served.candidates.available.T):
                    drawn = generator.permutation(np.flatnonzero(may))[:4]
                    items[request, : len(drawn)] = drawn
                other = measure.of_requests(replace(served, slates=replace(served.slates, items=items)))
                known = ~np.isnan(other)
                assert (other[known] <= best[known] + 1e-9).all() and known.any()


def test_where_nobody_knows_what_was_taken_a_model_judges(opened):
    values = np.random.default_rng(0).uniform(0.1, 0.9, (2, 8, 30))
    items = catalogue(8, category=("a", "a", "a", "b", "b", "c", "c", None))
    served = serve(ConsumptionAware(), small_market(values, items), 4)
    found = _consumption(served, replace(opened, options=few(consumption=1), k=4))
    assert found["judged_by"] == MODELLED and found["consumed"] == 1 and found["n_requests"] == 30
    assert _consumption(served, replace(opened, options=few(), k=4)) is None


def test_what_is_needed_is_said(tmp_path):
    with pytest.raises(InputError, match="--consumption is 6; allowed: 1 to 5"):
        open_slates(LIBRARY, few(consumption=6))
    case = tmp_path / "plain.yaml"
    case.write_text(LIBRARY.read_text(encoding="utf-8").replace("category: shelf, ", ""), encoding="utf-8")
    with pytest.raises(InputError, match="--consumption needs items of two categories or more.*no category"):
        open_slates(case, few(consumption=1))
