"""Small deliberations as JSON, made once, and copied for every test that changes them."""

from __future__ import annotations

import copy
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from accordant.agents import create
from accordant.allocations import Claimant, Resource, Scenario
from accordant.deliberation.sources import PatientSource
from accordant.deliberation.cases.triage.scenarios import random_scenario
from accordant.naming import read_names
from accordant.deliberation.options import DeliberationOptions
from accordant.deliberation.section import cast_for, deliberate, deliberate_often, open_deliberation
from accordant.deliberation.participants import Cast

VOID = {"meta", "br", "wbr", "input"}
PAIR, FIVE = "rawlsian,biased", "rawlsian,utilitarian,care,egalitarian,biased"


class Page(HTMLParser):
    """Text, identifiers and references; complains about wrong nesting."""

    def __init__(self, html):
        super().__init__()
        self.open, self.words, self.attributes = [], [], []
        self.feed(html)
        self.close()
        assert not self.open
        self.text = " ".join("".join(self.words).split())

    def handle_starttag(self, tag, attrs):
        self.attributes += [(key, value) for key, value in attrs if value]
        self.words.append(" " if tag != "wbr" else "")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.attributes += [(key, value) for key, value in attrs if value]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not {"style", "script"} & set(self.open):
            self.words.append(data)

    def all(self, name):
        return [value for key, value in self.attributes if key == name]


def held(agents=PAIR, *, scenario=None, cast=None, **options):
    """Return the JSON of a deliberation on six random patients, two beds, or of many."""
    given = {"patients": 6, "capacity": {"bed": 2.0}} | options
    named = read_names(agents, "agents") if agents else ()
    opened = open_deliberation("triage-random", DeliberationOptions(agents=named, **given))
    if scenario is not None:
        opened = replace(
            opened, source=PatientSource(lambda _: scenario, "SIMULATED by 'a test'", None, simulated=True)
        )
    found = deliberate if opened.options.repeat == 1 else deliberate_often
    return found(opened, cast or cast_for(opened)).section.to_json()


def in_portions():
    """Return four patients who need half units of two resources, and one who needs nothing."""
    demands = [{"bed": 1.0, "nurse": 0.5}, {"bed": 1.0}, {"nurse": 1.5}, {"bed": 0.5, "nurse": 0.5}, {}]
    facts = [each.facts for each in random_scenario(3, patients=5).claimants]
    people = [
        Claimant(f"q{k}", dict(fact), demand) for k, (fact, demand) in enumerate(zip(facts, demands, strict=True))
    ]
    return Scenario(people, [Resource("bed", 1.5, 0.5), Resource("nurse", 1.0, 0.5)], protected=("group",))


def made():
    """Return every kind of content by name."""
    alone = Cast((create("utilitarian", {"name": "only one"}),))
    return {
        "pair": held(),
        "offers": held("rawlsian,utilitarian", protocol="offers"),
        "vote": held("rawlsian,utilitarian,care", protocol="vote", seed=2),
        "five": held(FIVE, patients=5, seed=1),
        "alone": held("utilitarian", cast=alone),
        "no deal": held(PAIR, settle="no_deal", guard="strike", seed=1),
        "split": held("rawlsian,utilitarian", settle="split_contested", seed=3),
        "portions": held("rawlsian,utilitarian", scenario=in_portions(), patients=None, capacity={}),
        "many": held(PAIR, repeat=4),
        "many legitimate": held("rawlsian,utilitarian,care", repeat=2),
    }


@pytest.fixture(scope="session")
def contents():
    """Every kind of content by name; not to be changed."""
    return made()


@pytest.fixture
def content(contents):
    """A copy of the deliberation of two agents, one of them adversarial."""
    return copy.deepcopy(contents["pair"])


@pytest.fixture
def many(contents):
    """A copy of the table over four scenarios."""
    return copy.deepcopy(contents["many"])


@pytest.fixture(scope="session")
def page():
    """Reads a page and checks that it is well formed."""
    return Page


@pytest.fixture(scope="session")
def hold():
    """Returns the JSON of a small deliberation."""
    return held
