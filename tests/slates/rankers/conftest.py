"""Views to rank in, and the fake server of the tests of language models."""

import importlib.util
import json
from pathlib import Path

import pytest

from accordant.slates.rankers import Aim, LanguageModelRanker, RankingView, SeenItem, SpeaksFor


def _load(path):
    module = importlib.util.module_from_spec(spec := importlib.util.spec_from_file_location("fake_server", path))
    spec.loader.exec_module(module)
    return module


fake = _load(Path(__file__).parents[2] / "agents" / "language" / "conftest.py")
directly, warm, server, key, read_data = fake.directly, fake.warm, fake.server, fake.key, fake.read_data

PARTY = SpeaksFor(
    "Residents",
    "affected",
    (
        Aim("crowding", "quiet streets", "min", 0.75, "as full as it can be", "full streets are loud"),
        Aim("popularity", "no hot spots", "min", 0.25, "the most popular", "what is popular grows"),
    ),
)
SCORES = {"zoo": (0.2, 0.1), "park": (0.9, 0.8), "museum": (0.5, 0.5), "castle": (0.4, 0.8), "bridge": (0.1, 0.0)}
DECLARED = ("park", "castle", "museum", "zoo", "bridge")  # .875, .5, .5, .175, .075: two are tied


def view_of(k=3, **changes):
    items = tuple(
        SeenItem(
            name,
            {"category": "sight", "popularity": 12.0, "price": None, "distance_km": 1.23456},
            dict(zip(("crowding", "popularity"), scores, strict=True)),
        )
        for name, scores in SCORES.items()
    )
    moment = {"day": 2.0, "latitude": 55.8642, "longitude": None}
    return RankingView(**({"voter": "me", "speaks_for": PARTY, "request": "request 7", "moment": moment,
                           "items": items, "k": k, "seed": 5} | changes))  # fmt: skip


@pytest.fixture(scope="session")
def make_view():
    """Return a function from changes to a view of five items."""
    return view_of


@pytest.fixture
def view():
    return view_of()


@pytest.fixture(scope="session")
def declared_order():
    """Items by declared utility; castle and museum are tied, in the order of names."""
    return DECLARED


def ranked_well(body):
    """Return a valid answer: the items in the order of their weighted scores, with one reason."""
    shown = fake.data_of(body)
    shares = {aim: each["share"] for aim, each in shown["aims"].items()}
    worth = {each["id"]: sum(shares[aim] * score for aim, score in each["scores"].items()) for each in shown["items"]}
    order = sorted(worth, key=lambda each: (-worth[each], each))
    return {"ranking": order, "reasons": [{"item": order[0], "text": "the quietest"}]}


@pytest.fixture(scope="session")
def answer_well():
    return ranked_well


@pytest.fixture
def ranker(server):
    """Return a function that makes a ranker of the fake server, with short waits."""
    server.script(lambda handler, body: handler.chat(json.dumps(ranked_well(body))))

    def make(**changes):
        limits = {"timeout": 5.0, "retries": 1, "backoff": 0.001, "longest_wait": 0.05} | changes.pop("limits", {})
        given = {"name": "me", "base_url": server.url, "model": "fake", "limits": limits}
        return LanguageModelRanker(**(given | changes))

    return make
