"""The JSON of served slates made by hand: a small one, and one for each situation that a page must survive."""

from __future__ import annotations

import copy
import functools
import hashlib
from html.parser import HTMLParser

import pytest

from accordant.slates.page import render_slates

VOID = {"meta", "br", "wbr", "input"}
HOSTILE = "<script>alert(1)</script>\"'&{{ 7*7 }}\x00"
LONG = "a_rule_with_an_uncommonly_long_name[and_parameters_that_do_not_end_soon_either]"
OBJECTIVE = {
    "metric": "relevance", "parameters": {"per": "item"}, "direction": "max", "weight": 3.0, "floor": 0.2,
    "because": "what visitors went on to",
}  # fmt: skip


class Page(HTMLParser):
    """Text, identifiers and references; complains about wrong nesting."""

    def __init__(self, html):
        super().__init__()
        self.open, self.words, self.attributes, self.tags = [], [], [], []
        self.feed(html)
        self.close()
        assert not self.open
        self.text = " ".join("".join(self.words).split())

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
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


def spread(*parts):
    """Return a number in [0, 1] that depends on nothing but the parts."""
    return int(hashlib.sha256(repr(parts).encode()).hexdigest()[:8], 16) / 16**8


def estimate(value):
    if value is None:
        return {"value": None, "low": None, "high": None, "undefined": 1.0}
    return {"value": value, "low": value - 0.03, "high": value + 0.05, "undefined": 0.0}


def item(name, place, *, located, limited):
    return {
        "name": name, "category": "Museum", "provider": None, "popularity": float(100 - place),
        "capacity": 0.0 if limited and place == 1 else 2.0 if limited else None,
        "latitude": 55.0 + 0.01 * spread(name, "n") if located else None,
        "longitude": -3.0 + 0.01 * spread(name, "e") if located else None, "price": None, "safety": None,
    }  # fmt: skip


def rule(label, kind, names, items, *, watched, n):
    """Return what is said of one rule beside its measures."""
    opened = [each["name"] for each in items if each["capacity"] != 0]
    shares = [spread(label, name) for name in opened]
    shares = [value / sum(shares) for value in shares]
    lorenz = [0.0]
    for value in sorted(shares):
        lorenz.append(lorenz[-1] + value)
    limited = [each["name"] for each in items if each["capacity"]]
    times = sorted({1, (n + 1) // 2, n})
    return {
        "label": label, "kind": kind, "note": "", "changed": 0.125, "floor_unmet": 0.0625, "floor_impossible": 0.03125,
        "broken": {"jr": 0.0, "ejr_plus": 0.28125}, "witness": "request 1 breaks EJR+: Visitor could claim 1 of 3 places",
        "over_time": {
            "stakeholders": names, "days": [0] * len(times), "request": times, "window": 500,
            "attained": [[None if t == 1 and name == names[-1] else spread(label, name, t) for t in times] for name in names],
            "gap": [0.25] * len(times), "shortfall": [0.125] * len(times),
            "behind": [None, *[names[0]] * (len(times) - 1)], "changes": list(range(len(times))),
            "churn": 0.0375 if len(times) > 1 else None,
        },
        "popularity": {"items": opened, "popularity": [1 / len(opened)] * len(opened), "exposure": shares,
                       "lorenz": lorenz, "gini": 0.4375},
        "crowding": {"items": limited, "capacity": [2.0] * len(limited),
                     "mean": [spread(label, name, "mean") for name in limited],
                     "peak": sorted((2.5 * spread(label, name, "peak") for name in limited), reverse=True),
                     "days_over": [0.375] * len(limited)},
        "condorcet": {"compared": n, "winners": 1, "winner_shown": 1.0, "lists": n, "beating": 0.0625, "stable": 0.0,
                      "weakly_stable": 0.5},
        "attainments": [{"stakeholder": name, "value": "to like it", "metric": "relevance", "direction": "max",
                         "mean": 0.5625, "floor": 0.2, "met": True} for name in names],
        "stability": [{"stakeholder": name, "overlap": 0.8125, "unchanged": 0.25,
                       "changes": {other: spread(label, name, other) - 0.5 for other in names}, "in_market": False}
                      for name in names] if watched else [],
        "manipulability": [{"rule": label, "stakeholder": name, "gain": estimate(0.0875), "share": 0.6875, "largest": 0.3125,
                            "best": {}, "tried": 28, "every_order": False, "one_report": kind == "dynamic",
                            "in_market": False}
                           for name in names] if watched else [],
    }  # fmt: skip


def criterion(metric, value, threshold, met):
    card = {"id": "card", "version": "2", "hash": "cd" * 32}
    return {"metric": metric, "params": {}, "threshold": threshold, "goal": "max", "value": value, "met": met,
            "card": card, "words": ""}  # fmt: skip


def measured(label, user):
    """Return which measure stands under a label, with its parameters."""
    if label == "user attained":
        return "attained", {"stakeholder": user}
    if label.startswith("attained "):
        return "attained", {"stakeholder": label.removeprefix("attained ")}
    return label.replace(" ", "_"), {}


def voice(stakeholder, kind="language model", asked=40, passed=30, silenced=0, fallbacks=0, instead="declared"):
    """Return what is said of one who speaks; see `accordant.slates.proxies.ProxySummary`."""
    ranker = {"name": f"speaker of {stakeholder}", "kind": kind, "about": "Says what it likes."}
    model = {
        "model": "small",
        "temperature": 0.0,
        "seed": None,
        "fallback": {"name": "objective_ranker", "kind": "rule"},
    }
    usage = {"requests": 41, "tokens_per_mode": {"json": 12500}, "problems": ["too long"], "over_budget": False}
    return {
        "stakeholder": stakeholder, "ranker": ranker | (model if kind == "language model" else {}), "asked": asked,
        "empty": 3 if asked else 0, "passed": passed, "silenced": silenced, "fallbacks": fallbacks,
        "mean_tau": 0.4375 if asked else None, "mean_share": 0.5625 if asked else None,
        "usage": usage if kind == "language model" else {}, "threshold": 0.5, "instead": instead,
    }  # fmt: skip


def card():
    return {
        "id": "card", "version": "2", "title": "A card", "decision": "what to show", "deployment_context": "",
        "in_scope_uses": ["teaching"], "out_of_scope_uses": ["guiding visitors"], "limits": "made by hand",
        "stakeholders": [{"name": "Visitor", "role": "affected", "consulted": False, "how": "", "date": ""}],
        "criteria": [
            {"metric": "worst_off", "threshold": 0.3, "params": {}, "rationale": "nobody is left", "chosen_by": "the council"},
            {"metric": "ndcg", "threshold": 0.3, "params": {}, "rationale": "", "chosen_by": ""},
            {"metric": "overload", "threshold": None, "params": {}, "rationale": "", "chosen_by": ""},
        ],
        "criteria_rejected": [{"metric": "coverage", "reason": "shown once counts"}],
        "known_conflicts": [{"a": "ndcg", "b": "overload", "why": "what is liked is full"}],
        "disagreement_rule": "", "appeal_route": "", "responsible_party": "",
    }  # fmt: skip


def made(
    rules=("borda", "seq_pav", "dynamic"),
    stakeholders=("Visitor", "Residents", "City"),
    user="Visitor",
    n_items=6,
    n=40,
    *,
    located=True,
    limited=True,
    simulated=False,
    prefix="item",
):
    """Return the JSON of served slates; see `accordant.slates.result.SlateResult.to_json`."""
    names, items = (
        list(stakeholders),
        [item(f"{prefix} {k}", k, located=located, limited=limited) for k in range(n_items)],
    )
    alone = [f"stakeholder:{name}" for name in names]
    kinds = {"random_slate": "baseline", **dict.fromkeys(alone, "baseline")}
    kinds |= {label: {"dynamic": "dynamic", "seq_pav": "approval"}.get(label, "per item") for label in rules}
    labels = ["worst off", *(["user attained"] if user else []), "overload"]
    labels += [f"attained {name}" for name in names if name != user]
    columns = [
        {"label": label, "measure": measured(label, user)[0], "parameters": measured(label, user)[1], "goal": "min" if label == "overload" else "max", "weight": {"worst off": 0.5 if user else 1.0, "user attained": 0.5}.get(label, 0.0),
         "uninformative": False, "description": f"what {label} is"} for label in labels
    ]  # fmt: skip
    board = []
    for place, (label, kind) in enumerate(kinds.items()):
        metrics = {
            column: estimate(spread(label, column)) | {"n": float(n), "reason": "", "normalised": 0.5, "by_group": []}
            for column in labels
        }
        board.append({
            "strategy": label, "kind": kind, "candidate": label != "random_slate",
            "score": estimate(1 - place / 100) if label != "random_slate" else estimate(0.1875),
            "among_best": None if label == "random_slate" else place <= 2, "alike": None, "tied": 0.25,
            "below_best_constant": False, "metrics": metrics,
        })  # fmt: skip
    axes = [*(["user attained"] if user else []), "worst off"]
    watched = {label for label in kinds if label in (f"stakeholder:{user}", *rules[:2])}
    reference = f"stakeholder:{user}" if user else None
    change = {"better": None, **estimate(-0.0125)}
    later = {
        label: estimate(0.05 * k - 0.15) | {"better": (False, True, None)[k % 3]} for k, label in enumerate(labels)
    }
    later |= {"worst off": estimate(0.2546) | {"better": True}}
    later |= {"user attained": estimate(-0.1744) | {"better": False}} if user else {}
    content = {
        "result": 2, "version": "0.1.0",
        "case": {"name": "tiny", "title": "A tiny case", "description": "Few items.", "notes": ["A note of the case."]},
        "source": {"label": "SIMULATED city" if simulated else "tiny.csv", "simulated": simulated,
                   "sha256": None if simulated else "ab" * 32, "notes": ["DAYS ARE MADE UP."],
                   "facts": {"items": n_items, "split": "2012-09-24", "cold_share": 0.46875, "open": True, "none": None}},
        "seed": 7, "options": {"k": None, "strategies": [], "floors": True, "capacity": {}, "requests": None,
                               "resamples": 300, "data": None, "seed": 7, "rankings": None, "model": None,
                               "threshold": 0.5, "instead": "declared"},
        "k": 3, "user": user,
        "stakeholders": [
            {"name": name, "role": "affected", "legitimacy": "It is their day", "weight": 1.0, "provenance": "the authors",
             "floor": 0.5 if name == names[0] else None, "values": [{"value": "to like it", "objectives": [OBJECTIVE]}]}
            for name in names
        ],
        "items": items, "requests": {"n": n, "users": max(1, n // 2), "cold": 5, "days": 2, "batches": 4},
        "rules": [rule(label, kind, names, items, watched=label in watched, n=n) for label, kind in kinds.items()],
        "columns": columns, "leaderboard": sorted(board, key=lambda row: -row["score"]["value"]),
        "remarks": ["The table orders rules on the requests that it reports."], "resamples": 300, "level": 0.95, "normalisation": "natural",
        "front": {"axes": axes, "rows": [
            {"rule": label, "values": [spread(label, axis) for axis in axes], "on_front": place % 2 == 1,
             "dominated_by": [] if place % 2 else [*kinds][1:2], "probability": 0.9375,
             "dominators": {[*kinds][-1]: 0.0625} if place % 2 else {[*kinds][1]: 0.625}}
            for place, label in enumerate(kinds)
        ]},
        "prices": None if user is None else {"reference": reference, "rules": {
            label: {column: change | {"better": (None, True, False)[k % 3], "value": 0.1 * k - 0.1} for k, column in enumerate(labels)}
            for label in kinds if label != reference
        }},
        "trial": None if user is None else {
            "chosen": rules[0] if rules else alone[0], "reference": reference, "gain_of": "worst off", "price_of": "user attained",
            "earlier": n // 2, "later": n - n // 2, "cut": "between days", "gain": later["worst off"],
            "price": later["user attained"], "differences": later, "dominated_by": [], "dominators": {}, "on_front": 0.9833, "words": "",
        },
        "consumption": None,
        "examples": [{
            "rule": "borda", "request": 0, "id": "ask 1", "items": [items[0]["name"]], "text": "Shown: item 0 (best for Visitor: 1.000).",
            "statements": [{"kind": "serves", "item": items[0]["name"], "stakeholder": names[0], "numbers": [1.0]},
                           {"kind": "no gain", "item": None, "stakeholder": None, "numbers": []}],
            "reasons": [f"best for {names[0]}: 1.000 of the way"],
        }],
        "verdicts": {label: [criterion("worst_off", 0.40625, 0.3, True), criterion("ndcg", None, 0.3, None),
                             criterion("overload", 0.15625, None, None)] for label in kinds},
        "scope": card(), "voices": [], "warnings": ["nobody was consulted"],
    }  # fmt: skip
    return content


def without_values():
    """Return slates with nothing defined: no list was ever shown."""
    content = made()
    for row in content["leaderboard"]:
        row["score"] = estimate(None)
        row["among_best"] = None
        for cell in row["metrics"].values():
            cell |= estimate(None) | {"n": 0.0, "reason": "no list", "normalised": None}
    for each in content["rules"]:
        shown = each["popularity"]
        nothing = [None] * len(shown["items"])
        shown |= {"exposure": nothing, "popularity": nothing, "lorenz": [*nothing, None], "gini": None}
        each["condorcet"] |= {"winner_shown": None, "beating": None, "stable": None, "weakly_stable": None}
        past = each["over_time"]
        past["attained"] = [[None] * len(past["days"]) for _ in past["attained"]]
        past |= {"behind": [None] * len(past["days"]), "gap": [None] * len(past["days"]), "churn": None}
        for one in each["stability"]:
            one |= {"overlap": None, "changes": dict.fromkeys(one["changes"])}
        for one in each["manipulability"]:
            one |= {"gain": estimate(None), "share": None}
        for one in each["attainments"]:
            one |= {"mean": None, "met": None}
    for row in content["front"]["rows"]:
        row |= {"values": [None, None], "on_front": False, "dominated_by": [], "dominators": {}, "probability": None}
    return content | {"trial": None}


def checked(verdict="artefact"):
    change = {"value": -0.0125, "low": -0.0312, "high": 0.0062, "effect": "unclear"}
    point = {"balance": 1.0, "categories": 1.5, "entropy": 0.25, "all_consumed": 0.4375, "best_consumed": 0.6875,
             "all_change": None, "best_change": None, "gamma": {"gamma": 0.53125, "left_out": 0.25}}  # fmt: skip
    found = {
        "verdict": verdict, "reason": "with more categories accuracy changes", "margin": 0.005, "n_users": 147,
        "real_from": None, "points": [point, point | {"categories": 2.5, "all_change": change, "best_change": change}],
    }  # fmt: skip
    return made() | {"consumption": found}


def hostile():
    content = made(rules=(HOSTILE, "borda"), stakeholders=(HOSTILE, "City"), user=HOSTILE, prefix=HOSTILE)
    content["case"] |= {"name": HOSTILE, "title": HOSTILE, "description": HOSTILE, "notes": [HOSTILE]}
    content["source"] |= {"label": HOSTILE, "notes": [HOSTILE], "facts": {HOSTILE: HOSTILE}}
    content["leaderboard"][0]["kind"] = content["rules"][0]["note"] = HOSTILE
    content["stakeholders"][0] |= {"role": HOSTILE, "legitimacy": HOSTILE, "provenance": HOSTILE}
    content["stakeholders"][0]["values"][0]["value"] = HOSTILE
    content["voices"] = [voice(HOSTILE) | {"usage": {HOSTILE: [HOSTILE]}}]
    content["voices"][0]["ranker"] |= {"name": HOSTILE, "about": HOSTILE, "model": HOSTILE}
    content["examples"][0] |= {"id": HOSTILE, "items": [HOSTILE]}
    return content | {
        "warnings": [HOSTILE],
        "remarks": [HOSTILE],
        "consumption": {"verdict": HOSTILE, "reason": HOSTILE},
    }


def dominated():
    content = made()
    content["trial"] |= {
        "dominated_by": ["seq_pav"],
        "dominators": {"seq_pav": 0.625},
        "gain": estimate(0.01) | {"better": None},
    }
    return content


def bare():
    content = made(user=None, located=False, limited=False, n=1)
    content["stakeholders"] = [
        {"name": each["name"], "values": [], "weight": 1.0, "floor": None} for each in content["stakeholders"]
    ]  # as of a decision problem, which declares no objectives
    for each in content["rules"]:
        each |= {"attainments": [], "stability": [], "manipulability": [], "broken": {}, "witness": ""}
        each |= {"floor_unmet": None, "changed": 0.0, "floor_impossible": 0.0}
    return content | {"verdicts": {}, "scope": None, "examples": [], "warnings": [], "remarks": []}


def not_resampled():
    content = made() | {"resamples": 0}
    for row in content["leaderboard"]:
        row["among_best"] = None
        for each in (row["score"], *row["metrics"].values()):
            each |= {"low": None, "high": None, "undefined": None}
    for row in content["front"]["rows"]:
        row |= {"probability": None, "dominators": {}}
    return content


def proxies(**changes):
    """Return slates in which two are spoken for."""
    return made() | {
        "voices": [voice("Residents", **changes), voice("City", "recorded", instead=changes.get("instead", "declared"))]
    }


def one_day():
    content = made()
    content["trial"]["cut"] = "inside a day"
    return content


VARIANTS = {
    "tiny": made,
    "simulated": lambda: made(simulated=True),
    "nobody is the user": lambda: made(user=None),
    "dominated": dominated,
    "no coordinates": lambda: made(located=False),
    "no capacities": lambda: made(limited=False),
    "neither": lambda: made(located=False, limited=False),
    "one place": lambda: made(n_items=1, n=1, limited=False),
    "one of everything": lambda: made(rules=(), stakeholders=("Visitor",), n_items=2, n=1),
    "many items": lambda: made(n_items=1000),
    "many rules": lambda: made(rules=tuple(f"rule_{k}" for k in range(40))),
    "many stakeholders": lambda: made(stakeholders=("Visitor", *(f"Stakeholder {k}" for k in range(11)))),
    "long names": lambda: made(rules=(LONG, "x" * 90), stakeholders=("Visitor", "everybody concerned " * 4, "漢字" * 20), prefix="y" * 60),
    "nothing defined": without_values,
    "not resampled": not_resampled,
    "bare": bare,
    "hostile": hostile,
    "one day": one_day,
    "spoken for": lambda: proxies(fallbacks=4, silenced=6, instead="silence"),
    "no model spoke": lambda: proxies(fallbacks=40),
    "nothing asked": lambda: proxies(asked=0, passed=0),
    "checked": checked,
    "checked in words": lambda: made() | {"consumption": {"verdict": "undecided", "words": "too few requests", "n": 3}},
}  # fmt: skip


@functools.cache
def once(name):
    return VARIANTS[name]()


@functools.cache
def rendered(name):
    return render_slates(once(name))


@pytest.fixture(params=VARIANTS)
def variant(request):
    """Every situation in turn: its JSON and its page."""
    return copy.deepcopy(once(request.param)), rendered(request.param)


@pytest.fixture
def situations():
    """A function from the name of a situation to its JSON, made anew."""
    return lambda name: copy.deepcopy(once(name))


@pytest.fixture
def page():
    """A function from HTML to what it says."""
    return Page
