"""The section ``slates`` of a case file, and the market that comes of it."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import yaml

from accordant.slates import sources
from accordant.slates.sources import Demand, market_loaders, market_simulators, market_source, with_capacities
from accordant.slates.case import SlateSpec
from accordant.slates.case import read_slates
from accordant.errors import DataNotFoundError, InputError, SpecError, UnknownNameError
from accordant.slates.catalogue import Catalogue, Requests
from accordant.slates.market import ExpectedUptake
from accordant.slates.slates import State

STAKEHOLDERS = [
    {"name": "Guest", "role": "affected", "provenance": "tests", "floor": 0.3, "values": [
        {"value": "taste", "objectives": [{"metric": "relevance", "because": "test"}]}]},
    {"name": "Town", "role": "deciding", "provenance": "tests", "weight": 2.0, "values": [
        {"value": "calm", "objectives": [{"metric": "popularity", "direction": "min", "because": "test"}]}]},
]  # fmt: skip
SLATES = {"loader": "three", "file": "three.csv", "simulator": "one", "user": "Guest", "stakeholders": STAKEHOLDERS}


def demand(n_items, relevance=0.5, uptake=None):
    """Return items c0, c1, … and one request."""
    nothing = np.full(n_items, np.nan)
    catalogue = Catalogue(
        tuple(f"c{c}" for c in range(n_items)), (None,) * n_items, (None,) * n_items, np.arange(n_items) + 1.0,
        np.full(n_items, np.inf), nothing, nothing, nothing, nothing,
    )  # fmt: skip
    one = np.full((n_items, 1), relevance)
    request = Requests(("r",), ("u",), 0, np.zeros(1), np.zeros(1), one, 0 * one, np.ones((n_items, 1), dtype=bool))
    return Demand(catalogue, (request,), ("a note",), {"relevance": relevance}, uptake)


def three(path, seed, relevance=0.25, shared=0):
    """A loader with parameters of its own."""
    assert path.read_text() == "data" and isinstance(seed, int)
    return demand(3, relevance)


def one(seed, shared=0, visits=None):
    """A simulator."""
    return demand(1, seed / 10, None if visits is None else ExpectedUptake(visits))


@pytest.fixture(autouse=True)
def registered(monkeypatch, tmp_path):
    """Register a loader and a simulator for one test; no data are anywhere else."""
    for registry, name, function in ((market_loaders, "three", three), (market_simulators, "one", one)):
        registry.names()
        monkeypatch.setitem(registry._factories, name, function)
    monkeypatch.delenv("ACCORDANT_DATA", raising=False)
    monkeypatch.setattr("accordant.cases.files.cache_folder", lambda: tmp_path / "nowhere")


def spec(**changes):
    return SlateSpec(**{key: value for key, value in (SLATES | changes).items() if value is not None})


def test_a_file_beside_the_case_is_read(tmp_path):
    (tmp_path / "three.csv").write_text("data")
    found = market_source(spec(parameters={"relevance": 0.75}), 3, None, tmp_path)
    market = found.market
    assert market.catalogue.n_items == 3 and market.stakeholders == ("Guest", "Town") and not found.simulated
    assert market.weights == {"Guest": 1.0, "Town": 2.0} and market.floors == {"Guest": 0.3}
    assert market.user_stakeholder == "Guest" and market.uptake == ExpectedUptake(1.0)
    assert found.label.startswith("three.csv (sha256 ") and found.sha256[:12] in found.label
    assert found.notes == ("a note",) and found.facts == {"relevance": 0.75}
    values = market.expected(market.batches[0], State.start(3, 2, 2)).values
    assert values[0].tolist() == [[0.75]] * 3
    assert values[1, :, 0] == pytest.approx(1 - np.log([2, 3, 4]) / np.log(4), abs=1e-12)


def test_without_a_file_the_simulator_stands_in():
    found = market_source(spec(visits=2.0), 4)
    assert found.simulated and found.sha256 is None and found.label == "SIMULATED by 'one': no real users"
    assert found.market.catalogue.n_items == 1 and found.facts == {"relevance": 0.4}
    assert found.market.uptake == ExpectedUptake(2.0)
    own = market_source(spec(visits=2.0, parameters={"visits": 3.0}), 4)
    assert own.market.uptake == ExpectedUptake(3.0)  # what the simulator says of choices goes before


def test_each_gets_the_parameters_that_it_knows(tmp_path):
    given = {"relevance": 0.5, "shared": 1, "visits": 1.0}
    assert market_source(spec(parameters=given), 0).simulated
    (tmp_path / "three.csv").write_text("data")
    assert not market_source(spec(parameters=given), 0, tmp_path).simulated
    with pytest.raises(InputError, match="slates: unknown parameter 'relevanc'; .*did you mean 'relevance'"):
        market_source(spec(parameters={"relevanc": 1}), 0)
    for name in ("path", "seed"):
        with pytest.raises(InputError, match=f"unknown parameter '{name}'"):
            market_source(spec(parameters={name: 1}), 0)


def test_places_that_hold_no_data(tmp_path):
    with pytest.raises(DataNotFoundError, match=r"three.csv.*not found at"):
        market_source(spec(), 0, tmp_path)
    with pytest.raises(DataNotFoundError, match=r"three.csv"):
        market_source(spec(simulator=None), 0)
    with pytest.raises(InputError, match="the items of this case are always simulated"):
        market_source(spec(loader=None, file=None), 0, tmp_path)


def test_unknown_loaders_and_simulators(tmp_path):
    (tmp_path / "three.csv").write_text("data")
    with pytest.raises(UnknownNameError, match="unknown market loader 'threee'; did you mean 'three'"):
        market_source(spec(loader="threee"), 0, tmp_path)
    with pytest.raises(UnknownNameError, match="unknown market simulator 'oen'"):
        market_source(spec(simulator="oen"), 0)


def test_built_in_loaders_and_simulators_are_found():
    assert {"interactions", "tours"} <= set(market_loaders) and "city" in market_simulators
    assert sources.market_loaders is market_loaders


def test_capacities(tmp_path):
    (tmp_path / "three.csv").write_text("data")
    found = market_source(spec(capacity={"c1": 0, "c2": 4.5}), 0, tmp_path).market.catalogue
    assert found.capacity.tolist() == [np.inf, 0.0, 4.5] and found.open.tolist() == [True, False, True]
    given = demand(2).catalogue
    assert with_capacities(given, {"c0": 1.0}).capacity.tolist() == [1.0, np.inf]
    assert given.capacity.tolist() == [np.inf, np.inf]
    with pytest.raises(UnknownNameError, match="unknown item in capacity: 'c9'"):
        with_capacities(given, {"c9": 1.0})


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"stakeholders": []}, "no stakeholder with objectives is declared"),
        ({"loader": None, "file": None, "simulator": None}, "neither a loader nor a simulator brings items"),
        ({"loader": None}, "a loader needs a file, and a file a loader"),
        ({"file": None}, "a loader needs a file, and a file a loader"),
        ({"stakeholders": [STAKEHOLDERS[0]] * 2}, "stakeholder 'Guest' is declared 2 times"),
        ({"user": "Gest"}, "unknown user 'Gest'; did you mean 'Guest'"),
        ({"parties": {"Guest": {"weight": 1}}}, "declare weight and floor beside values"),
        ({"measures": {"a": {"measure": "worst_off", "weight": 0.5}}}, "weights of measures sum to 0.5"),
        ({"measures": {"a": {"measure": "worst_off", "weight": 2}}}, "weight"),
        ({"capacity": {"c0": -1}}, "capacity"),
        ({"capacity": {"c0": float("nan")}}, "capacity"),
        ({"k": 0}, "k"),
        ({"visits": float("inf")}, "visits"),
        ({"looader": "x"}, "looader"),
    ],
)
def test_sections_that_are_wrong(changes, words):
    with pytest.raises(SpecError, match=words):
        spec(**changes)


def test_a_party_keeps_the_weight_of_its_problem_unless_it_says_otherwise():
    found = SlateSpec(parties={"Bank": {"floor": 0.5}, "Applicant": {"weight": 0}})
    assert found.parties["Bank"].weight is None and found.parties["Applicant"].weight == 0


def test_case_files(tmp_path):
    path = tmp_path / "own.yaml"
    keys = {"name": "own", "title": "Own", "slates": SLATES}
    path.write_text(yaml.safe_dump(keys))
    case, problem, beside = read_slates(path)
    assert case.slates == spec() and problem is None and beside == tmp_path
    changed = copy.deepcopy(keys)
    del changed["slates"]
    path.write_text(yaml.safe_dump(changed))
    with pytest.raises(SpecError, match="declares no slates"):
        read_slates(path)
    path.write_text(yaml.safe_dump({"name": "own", "title": "Own", "slates": {"k": 3}}))
    with pytest.raises(SpecError, match="stakeholders are missing, and no decision problem declares any"):
        read_slates(path)
