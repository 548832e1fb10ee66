"""The built-in cases of tourism: what they declare can be computed, and rules meet it, miss it, or leave it open."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from accordant.slates.sources import market_source
from accordant.slates.case import read_slates
from accordant.errors import DataNotFoundError, InputError, UnknownNameError
from accordant.scope import lint
from accordant.slates.measures import measures
from accordant.slates.rule import SlateRule
from accordant.slates.market import serve
from accordant.slates.slates import Slates

CITIES = {"tourism": "Edin", "tourism-glasgow": "Glas", "tourism-melbourne": "Melb"}
CASES = [*CITIES, "tourism-city"]


@dataclass(frozen=True)
class TopOf(SlateRule):
    """The best items of one stakeholder; a stand-in that asks nothing of the rules."""

    name = "top_of"
    stakeholder: int = 0

    def fill(self, candidates, k):
        scores = np.where(candidates.available, candidates.values[self.stakeholder], -1.0)
        best = np.argsort(-scores, axis=0, kind="stable")[:k].T
        return Slates(self.label, candidates.items, best, np.zeros(candidates.n_users, dtype=bool))


def declared(name):
    return read_slates(name)[0].slates


def quick(name):
    """A city with the recommender that learns fastest."""
    spec = declared(name)
    return spec.replace(parameters={**spec.parameters, "recommender": "transitions"})


@pytest.fixture(autouse=True)
def nowhere(monkeypatch, tmp_path, request):
    """No data are found unless a test asks for the real ones."""
    if "real_data" not in request.fixturenames:
        monkeypatch.delenv("ACCORDANT_DATA", raising=False)
        monkeypatch.setattr("accordant.cases.files.cache_folder", lambda: tmp_path)


@pytest.mark.parametrize("name", CASES)
def test_what_a_case_declares_can_be_computed(name):
    case, problem, beside = read_slates(name)
    spec = case.slates
    assert problem is None and beside is None and case.name == name == spec.scope.id
    assert len(spec.stakeholders) >= 6 and spec.user == "Traveller" and spec.k == 5
    assert {each.name: each.floor for each in spec.stakeholders if each.floor} == {"Traveller": 0.5, "Residents": 0.2}
    assert all("authors of the case" in each.provenance for each in spec.stakeholders)
    assert [each.name for each in spec.scope.stakeholders] == [each.name for each in spec.stakeholders]
    assert not any(each.consulted for each in spec.scope.stakeholders)
    for criterion in spec.scope.criteria:
        assert measures.create(criterion.metric, criterion.params).name == criterion.metric
    codes = {finding.code for finding in lint(spec.scope, known=measures.names())}
    assert codes == {"affected-not-consulted", "conflicting-criteria"}  # both are true, and both are said


def test_the_cities_differ_in_the_city_alone():
    one = declared("tourism")
    for name in CITIES:
        other = declared(name)
        assert other.stakeholders == one.stakeholders and other.loader == "tours" and other.simulator == "city"
        changed = {key for key in one.parameters if one.parameters[key] != other.parameters[key]}
        assert changed <= {"places", "days"}
        assert [each.metric for each in other.scope.criteria] == [each.metric for each in one.scope.criteria]


@pytest.mark.long
@pytest.mark.parametrize("name", CASES)
def test_without_data_visitors_are_simulated_and_the_label_says_so(name):
    source = market_source(declared(name), 0)
    assert source.simulated and source.label == "SIMULATED by 'city': no real users"
    served = serve(TopOf(), source.market, 5)
    assert served.visits.sum() == source.facts["requests"] and set(np.unique(served.visits)) == {0.0, 1.0}
    closed = ~source.market.catalogue.open
    assert closed.sum() == 1 and not served.slates.shown()[closed].any()
    for criterion in declared(name).scope.criteria:
        assert np.isfinite(measures.create(criterion.metric, criterion.params).of(served)), criterion.metric


def test_a_named_place_without_the_file_is_an_error(tmp_path):
    with pytest.raises(DataNotFoundError, match="traj-Edin.csv"):
        market_source(declared("tourism"), 0, tmp_path)
    with pytest.raises(InputError, match="always simulated"):
        market_source(declared("tourism-city"), 0, tmp_path)


def test_a_misspelt_parameter_is_named():
    spec = declared("tourism")
    with pytest.raises(InputError, match="unknown parameter 'capacity_shar'; did you mean 'capacity_share'"):
        market_source(spec.replace(parameters={**spec.parameters, "capacity_shar": 2.0}), 0)


@pytest.mark.long
@pytest.mark.parametrize("name", CITIES)
def test_a_real_city(real_data, name):
    path = real_data(f"tourism/traj-{CITIES[name]}.csv")
    spec = quick(name)
    source = market_source(spec, 0, path.parent.parent)
    assert not source.simulated and source.label.startswith(f"traj-{CITIES[name]}.csv (sha256 ")
    market = source.market
    served = serve(TopOf(), market, 5)  # what suits the traveller, whoever else loses
    gained = dict(zip(market.stakeholders, np.nanmean(served.gains.attained, axis=1), strict=True))
    assert gained["Traveller"] == pytest.approx(1.0)
    assert gained["Residents"] < 0.5 and gained["Small_attractions"] < 0.5
    assert (served.slates.lengths == 5).all() and not (served.slates.shown() & ~together(market, "available")).any()
    ndcg = measures.create("ndcg").of(served)
    small = serve(TopOf(2), market, 5)
    assert ndcg > 2 * measures.create("ndcg").of(small)  # what small attractions want, visitors did not go on to
    assert measures.create("long_tail_share").of(served) < measures.create("long_tail_share").of(small)


def together(market, name):
    return np.concatenate([getattr(batch, name) for batch in market.batches], axis=1)


@pytest.mark.long
def test_attractions_are_closed_by_the_case(real_data):
    data = real_data("tourism/traj-Edin.csv").parent.parent
    spec = quick("tourism")
    open_market = market_source(spec, 0, data).market
    closed = market_source(spec.replace(capacity={"17": 0.0}), 0, data).market
    place = closed.catalogue.items.index("17")
    assert serve(TopOf(), open_market, 5).slates.shown()[place].any()
    assert not serve(TopOf(), closed, 5).slates.shown()[place].any()
    with pytest.raises(UnknownNameError, match="unknown item in capacity: '170'"):
        market_source(spec.replace(capacity={"170": 0.0}), 0, data)


@pytest.mark.long
def test_the_declared_recommender_agrees_better_with_visitors_than_popularity(real_data):
    data = real_data("tourism/traj-Glas.csv").parent.parent
    spec = declared("tourism-glasgow")
    assert spec.parameters["recommender"] == "ranker"
    popular = spec.replace(parameters={**spec.parameters, "recommender": "popular"})
    recall = [
        measures.create("recall").of(serve(TopOf(), market_source(each, 0, data).market, 5)) for each in (spec, popular)
    ]
    assert recall[0] > recall[1] + 0.05
