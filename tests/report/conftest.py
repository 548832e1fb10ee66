"""Records made by hand: a small one, and one for each situation that a report must survive."""

from __future__ import annotations

import copy
import functools
import hashlib
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from accordant.certificates.survey import Survey
from accordant.evaluation.conflict import (
    VERDICTS, Concessions, Conflicts, Grounds, Improvement, PairConflict, ParityPrice, Point, PricePoint, Verdict,
)  # fmt: skip
from accordant.statistics import Estimate
from accordant.evaluation.weighting import (
    UndominatedScores,
    ScoreTable,
    Weighing,
    weight_sensitivity,
    other_choices,
    sampling_error,
)
from accordant.evaluation.weighting.regions import regions_of
from accordant.explanation.influence import influence, pivotal
from accordant.strategies import create
from accordant.utilities import ExpectedRewards

Json = dict[str, Any]
ROUND = (0.03, 0.05)  # how far intervals reach below and above a value
REASON = "group '1' of type has no contexts given a favourable action (n=0)"
HOSTILE = "<script>alert(1)</script>\"'&{{ 7*7 }}\x00"
VERDICT = (
    "Always Grant scores 0.900 [0.870, 0.950], and no strategy scores higher: on this composite score deciding case by "
    "case shows no gain."
)


def estimate(value: float | None) -> Json:
    if value is None:
        return {"value": None, "low": None, "high": None, "undefined": 1.0}
    return {"value": value, "low": value - ROUND[0], "high": value + ROUND[1], "undefined": 0.0}


def metric_cell(value: float | None) -> Json:
    reason = "" if value is not None else REASON
    return {
        **estimate(value), "n": 40 if value is not None else 0, "reason": reason,
        "normalised": value, "by_group": [{"rate": "selection_rate", "group": "0", **estimate(value), "n": 20}],
    }  # fmt: skip


def spread(*parts: object) -> float:
    """Return a number in [0, 1] that depends on nothing but the parts."""
    return int(hashlib.sha256(repr(parts).encode()).hexdigest()[:8], 16) / 16**8


def board(names: list[tuple[str, str, bool]], metrics: list[Json], n: int) -> Json:
    rows = []
    for index, (name, kind, candidate) in enumerate(names):
        row = {
            "strategy": name, "kind": kind, "candidate": candidate,
            "score": estimate(0.9 - 0.05 * index if candidate else 1.05),
            "among_best": index <= 2 if candidate else None, "alike": None, "tied": 0.25 * (index == 1),
            "below_best_constant": False, "overlap": None,
            "metrics": {m["label"]: metric_cell(0.8 * spread(name, m["label"], n)) for m in metrics},
        }  # fmt: skip
        rows.append(row)
    constants = [name for name, _, _ in names if name.startswith("constant:")]
    return {
        "n": n, "resamples": 200, "level": 0.9, "normalisation": "natural",
        "best_constant": constants[0] if constants else None,
        "remarks": ["Always Deny scores 0.800 [0.770, 0.850]; scored lower: random."],
        "metrics": metrics, "leaderboard": rows,
    }  # fmt: skip


def metric(label: str, goal: str, weight: float) -> Json:
    words = f"What {label} measures."
    return {
        "label": label, "goal": goal, "weight": weight, "uninformative": False, "description": words, "influence": weight,
        "range": [0.0, 1.0],
    }  # fmt: skip


def tiny_record(
    *,
    stakeholders: tuple[str, ...] = ("Lender", "Borrower"),
    actions: tuple[str, ...] = ("Grant", "Deny"),
    metrics: tuple[tuple[str, str, float], ...] = (
        ("Accuracy", "max", 0.5),
        ("Gap", "zero", 0.3),
        ("Loss", "min", 0.2),
        ("Extra", "max", 0.0),
    ),
    rules: tuple[str, ...] = ("utilitarian", "maximin"),
    attributes: tuple[str, ...] = ("type",),
    simulated: bool = False,
) -> Json:
    """Build a valid record; see `accordant.runs.record.make_record` for its keys."""
    names = [(rule, "compromise", True) for rule in rules]
    names += [(f"stakeholder:{stakeholders[0]}", "stakeholder", True)]
    names += [(f"constant:{action}", "baseline", True) for action in actions]
    names += [("oracle", "reference", False), ("random", "baseline", False)]
    columns = [metric(*each) for each in metrics]
    groupings = [[name] for name in attributes] + ([list(attributes)] if len(attributes) > 1 else [])
    return {
        "format": 2,
        "versions": {"python": "3.11.0", "accordant": "0.1.0", "numpy": "2.0.0"},
        "case": {
            "name": "tiny", "title": "A tiny case", "description": "Two actions, few rows.",
            "problem": {
                "stakeholders": [{"name": s, "role": "affected", "weight": 1.0, "description": f"{s} cares."} for s in stakeholders],
                "actions": list(actions), "outcomes": ["Repaid", "Lost"], "favourable_actions": [actions[0]],
                "sensitive_attributes": [{"name": a, "labels": {"1": "vulnerable"}} for a in attributes],
            },
            "metrics": {label: {"metric": label.lower(), "weight": weight, "parameters": {}} for label, _, weight in metrics},
        },
        "seed": 7,
        "data": {"source": "tiny.csv", "simulated": simulated, "sha256": None if simulated else "ab" * 32,
                 "rows": 200, "train": 160, "test": 40},
        "selected": rules[0],
        "selection": {"consults": "", "score": None},
        "notes": ["A note of the case."],
        "warnings": ["A warning."],
        "test": board(names, columns, 40),
        "validation": board(names, columns, 160),
        "groups": [group_table(names, stakeholders, grouping) for grouping in groupings],
        "outcome_model": {"name": "LogisticRegression", "quality": [
            {"name": "Brier score", "value": 0.25, "standard_error": 0.02, "note": "0 is perfect"},
            {"name": "accuracy", "value": 0.8125, "standard_error": None, "note": "most probable outcome"},
        ]},
        "learning": {
            "action_aware": False,
            "action_counts": {action: 160 * (index == 0) for index, action in enumerate(actions)},
            "searches": {"outcome": {"points": [{"parameters": {}, "loss": None}], "best": {}},
                         stakeholders[0]: {"points": [{"parameters": {"depth": 1}, "loss": 0.02}, {"parameters": {"depth": 3}, "loss": 0.0125}], "best": {"depth": 3}}},
            "reward_errors": [{"stakeholder": s, "action": a, "outcome": o, "mean_absolute_error": 0.0375, "n": 160}
                              for s in stakeholders for a in actions for o in ("Repaid", "Lost")],
        },
        "strategies": {
            name: {"name": "constant" if name.startswith("constant:") else name, "kind": kind, "candidate": candidate,
                   "selectable": kind == "compromise", "note": "", "parameters": {}}
            for name, kind, candidate in names
        },
        "scope": card(),
        "people": people(names, stakeholders, len(actions)),
        "cost": {"seconds": 1.5, "cpu_seconds": 1.25},
    }  # fmt: skip


def group_table(names: list[tuple[str, str, bool]], stakeholders: tuple[str, ...], attributes: list[str]) -> Json:
    labels = ["0", "1"]
    for _ in attributes[1:]:
        labels = [f"{label} × {value}" for label in labels for value in ("0", "1")]
    rows = []
    for name, _, _ in names:
        for position, label in enumerate(labels):
            n = 0 if position == 3 else 10 * (position + 1)
            means = {who: spread(name, label, who) if n else None for who in stakeholders}
            share = spread(name, label) if n else None
            rows.append({"strategy": name, "group": label, "n": n, "favourable_share": share, "mean_rewards": means})
    return {"attributes": attributes, "rows": rows}


def people(names: list[tuple[str, str, bool]], stakeholders: tuple[str, ...], n_actions: int, n: int = 6) -> Json:
    rows = list(range(0, 5 * n, 5))
    actions = range(n_actions)
    return {
        "rows": rows, "n": 40,
        "expected": {who: [[round(spread(who, row, action), 4) for action in actions] for row in rows] for who in stakeholders},
        "decisions": {
            name: [[1 / n_actions] * n_actions if name == "random" else int(n_actions * spread(name, row)) for row in rows]
            for name, _, _ in names
        },
    }  # fmt: skip


def card() -> Json:
    lists = ("populations", "criteria_rejected", "known_conflicts", "composition", "iterations")
    texts = (
        "deployment_context",
        "data_provenance",
        "disagreement_rule",
        "appeal_route",
        "responsible_party",
    )
    return {
        "hash": "cd" * 32, "id": "tiny-card", "version": "3", "title": "A card", "decision": "Grant or deny",
        "decision_unit": "one person", "in_scope_uses": ["testing"], "out_of_scope_uses": [], "limits": "Made by hand.",
        "stakeholders": [{"name": "Lender", "role": "deciding", "consulted": False, "how": "", "date": ""}],
        "sensitive_attributes": [{"name": "type", "permitted_use": "audit_only", "why": ""}],
        "criteria": [
            {"metric": "Gap", "threshold": 0.9, "params": {}, "rationale": "access", "chosen_by": "the council"},
            {"metric": "Accuracy", "threshold": 0.99, "params": {}, "rationale": "", "chosen_by": ""},
            {"metric": "unknown_metric", "threshold": None, "params": {}, "rationale": "", "chosen_by": ""},
        ],
        "frameworks_considered": {"group fairness": {"verdict": "applicable", "reason": "groups exist"}},
        "review_by": "2030-01-01", **{key: [] for key in lists}, **{key: "" for key in texts},
    }  # fmt: skip


def continuous() -> Json:
    record = tiny_record(
        stakeholders=("Parent", "Provider", "Policy"),
        actions=("A", "C"),
        metrics=(("Total_score", "max", 0.5), ("Cost_effectiveness", "max", 0.3), ("Gap", "zero", 0.2)),
    )
    record["case"]["problem"]["outcomes"] = {
        "name": "cognitive score",
        "unit": "points",
        "low": 0.0,
        "high": None,
    }
    record["case"]["problem"]["favourable_actions"] = ["A"]
    for row in record["test"]["leaderboard"]:
        cell = row["metrics"]["Total_score"]
        for part in ("value", "low", "high"):
            cell[part] = 1234.5 + 40 * cell[part]
    for error in record["learning"]["reward_errors"]:
        error["outcome"] = None
    record["learning"]["proxies"] = [
        {"attribute": "type", "is_feature": False, "balanced_accuracy": 0.9375, "chance": 0.5},
        {"attribute": "other", "is_feature": True, "balanced_accuracy": None, "chance": 1.0},
    ]
    record["learning"]["overlap"] = {
        "counts": [90, 70], "lowest": [0.01, 0.125], "highest": [0.875, 0.99], "clipped_shares": [0.25, 0.0],
        "effective_sample_sizes": [41.5, 60.25], "clip": 0.02,
    }  # fmt: skip
    record["learning"] |= {"action_aware": True, "action_counts": {"A": 90, "C": 70}}
    return record


def undefined_metrics() -> Json:
    record = tiny_record()
    for where in ("test", "validation"):
        row = record[where]["leaderboard"][-3]
        row["metrics"]["Gap"] = metric_cell(None)
        row["score"] = estimate(None)
        row["among_best"] = None
        record[where]["leaderboard"][0]["score"]["undefined"] = 0.125
    return record


def all_undefined() -> Json:
    record = tiny_record()
    record["test"] |= {"best_constant": None, "remarks": ["No candidate is ranked."]}
    for row in record["test"]["leaderboard"]:
        row["metrics"]["Gap"], row["score"], row["among_best"] = metric_cell(None), estimate(None), None
    return record


def constant_on_top() -> Json:
    record = tiny_record()
    rows = record["test"]["leaderboard"]
    rows.insert(0, rows.pop(3))
    for index, row in enumerate(rows[:-2]):
        row["score"], row["below_best_constant"] = estimate(0.9 - 0.1 * index), index > 0
    record["test"]["remarks"] = [
        VERDICT,
        "The best candidate is among constant:Grant and utilitarian.",
    ]
    return record


def not_resampled() -> Json:
    record = tiny_record()
    for where in ("test", "validation"):
        record[where]["resamples"] = 0
        for row in record[where]["leaderboard"]:
            row["among_best"] = None
            for each in (row["score"], *row["metrics"].values()):
                each |= {"low": None, "high": None, "undefined": None}
    return record


def bare() -> Json:
    record = tiny_record(metrics=(("Accuracy", "max", 1.0),), attributes=(), simulated=True)
    record["case"]["metrics"] |= {
        "Reward_Lender": {
            "metric": "stakeholder_reward",
            "parameters": {"stakeholder": "Lender"},
            "weight": 0.0,
        }
    }
    for where in ("test", "validation"):
        record[where]["metrics"].append(metric("Reward_Lender", "max", 0.0))
        for row in record[where]["leaderboard"]:
            row["metrics"]["Reward_Lender"] = metric_cell(0.5)
    record |= {"scope": None, "notes": [], "warnings": []}
    record["outcome_model"]["quality"], record["learning"]["reward_errors"] = [], []
    record["learning"]["searches"] = {}
    return record


def hostile() -> Json:
    record = tiny_record(
        stakeholders=(HOSTILE, "Borrower"),
        rules=("utilitarian", f"rule {HOSTILE}"),
        attributes=("type", HOSTILE),
    )
    record["case"] |= {"title": HOSTILE, "description": HOSTILE, "name": HOSTILE}
    record |= {"notes": [HOSTILE], "warnings": [HOSTILE]}
    record["data"]["source"] = HOSTILE
    record["test"]["remarks"] = [HOSTILE]
    record["scope"] |= {"id": HOSTILE, "limits": HOSTILE}
    record["outcome_model"]["name"] = HOSTILE
    return record


RADII = (0.0, 0.01, 0.05, 0.1, 0.15, 0.2, 0.25)


def scrutinised(record: Json, **changes: Any) -> Json:
    """Return a record with a scrutiny of its selected strategy, written by the code that writes those of runs."""
    stakeholders = tuple(each["name"] for each in record["case"]["problem"]["stakeholders"])
    groupings = tuple(tuple(table["attributes"]) for table in record["groups"]) or ((),)
    weighted = tuple((m["label"], m["goal"], m["weight"]) for m in record["test"]["metrics"] if m["weight"] > 0)
    candidates = tuple(row["strategy"] for row in record["test"]["leaderboard"] if row["candidate"])
    made = {
        "strategy": record["selected"],
        "certificates": certificates(record["selected"], stakeholders),
        "by_strategy": [compared(name, position) for position, name in enumerate(candidates)],
        "bounds": [bound(label, [who]) for label, _, _ in weighted for who in stakeholders] + [bound("Extra", list(stakeholders))],
        "unbounded": {"Strange": "it does not say how it is made of sums"},
        "influence": influences(stakeholders, groupings),
        "weights": weights(candidates, weighted),
        "conflict": conflict(candidates, stakeholders, weighted),
    }  # fmt: skip
    return record | {"scrutiny": copy.deepcopy(made) | changes}


def certificates(rule: str, stakeholders: tuple[str, ...], *, exact: bool = True, scale: float = 0.2) -> Json:
    """Return radii that shrink with the size of a coalition; infinite ones for an infinite scale."""
    sizes = range(1, len(stakeholders) + 1)
    coalitions = tuple(members for size in sizes for members in combinations(stakeholders, size))
    radii = np.array([[scale * spread(members, t) / len(members) for t in range(40)] for members in coalitions])
    return Survey(rule, coalitions, radii, exact, "by hand").to_json(RADII)


def compared(name: str, position: int) -> Json:
    shares = [1.0, 0.75, 0.5 if position else 0.25]
    return {"strategy": name, "method": "by hand", "exact": position % 2 == 0, "deltas": [0.01, 0.05, 0.1],
            "everybody": shares, "worst_single": [1.0, 0.875, 0.625], "manipulable": []}  # fmt: skip


def bound(metric: str, coalition: list[str] | None) -> Json:
    threat = {"delta": 0.05, "coalition": coalition, "box": [0.0, 1.0], "frozen": False}
    return {"metric": metric, "coalition": coalition, "delta": 0.05, "searched": {}, "rule": "by hand", "threat": threat,
            "at_most": None, "nominal": 0.5, "low": 0.25, "high": 0.75, "status": "sound", "low_status": "exact",
            "high_status": "sound", "attained_low": 0.25, "attained_high": 0.625, "may_be_undefined": False,
            "method": "by hand", "tolerance": 1e-9}  # fmt: skip


@functools.cache
def influences(
    stakeholders: tuple[str, ...], groupings: tuple[tuple[str, ...], ...], rule: str = "utilitarian"
) -> list[Json]:
    values = np.array([[[spread(i, a, t) for t in range(40)] for a in range(3)] for i in range(len(stakeholders))])
    expected = ExpectedRewards(values, stakeholders=stakeholders, actions=("a", "b", "c"))
    strategy, found = create(rule), []
    for columns in groupings:
        groups = np.array([" × ".join("01"[(t >> k) % 2] for k in range(len(columns))) for t in range(40)])
        labels = groups if columns else None
        power, asked = influence(strategy, expected, groups=labels), pivotal(strategy, expected, groups=labels)
        found.append({"attributes": list(columns), "power": power.to_json(), "pivotal": asked.to_json()})
    return found


@functools.cache
def weights(
    candidates: tuple[str, ...], metrics: tuple[tuple[str, Any, float], ...], *, resamples: int = 5, level: bool = False
) -> Json:
    """Return what stands behind the winner if normalised metrics are drawn; all equal if `level`."""
    labels = tuple(label for label, _, _ in metrics)
    shares, everybody = np.array([weight for _, _, weight in metrics]), np.ones(len(candidates), dtype=bool)
    raw = np.array([[spread(name, label) for label in labels] for name in candidates])
    raw = np.full(raw.shape, 0.5) if level else (raw - raw.min(axis=0)) / np.ptp(raw, axis=0)
    scores = UndominatedScores.of(raw, candidates, labels, shares.tolist())
    generator = np.random.default_rng(0)
    regions = regions_of(scores, generator=generator, draws=500, level=0.9)
    drawn = np.clip(raw + 0.1 * generator.normal(size=(resamples, *raw.shape)), 0, 1)
    survived = None
    if resamples:
        survived = sampling_error(drawn, candidates, generator.dirichlet(shares, 50), everybody)
    baselines = np.array([name.startswith("constant:") for name in candidates])
    table = ScoreTable(
        candidates,
        ("max",) * len(labels),
        shares,
        raw,
        np.zeros(len(labels), dtype=bool),
        everybody,
        baselines,
        "relative",
        ((0.0, 1.0),) * len(labels),
    )
    found = weight_sensitivity(scores, {region.strategy: region.status == "wins" for region in regions.regions})
    return Weighing(regions, found, survived, other_choices(table)).to_json()


def conflict(
    candidates: tuple[str, ...], stakeholders: tuple[str, ...], metrics: tuple[tuple[str, Any, float], ...]
) -> Json:
    """Return one pair for each two metrics, verdicts in turn, and prices that can and cannot be had."""
    pairs = [
        pair(candidates, (a[0], b[0]), VERDICTS[k % len(VERDICTS)]) for k, (a, b) in enumerate(combinations(metrics, 2))
    ]
    gaps = [label for label, goal, _ in metrics if goal == "zero"]
    labels = tuple(label for label, _, _ in metrics)
    prices = [price(label, labels, stakeholders) for label in gaps]
    prices.append(ParityPrice("Odds", "utilitarian", "", False, "outcomes are not known", ()))
    tried = {"strategy": 3, "reweighed": 10, "bounded": 0, "probe": 60}
    return Conflicts(tuple(pairs), tuple(prices), 40, 200, 0.9, tried).to_json()


def pair(candidates: tuple[str, ...], metrics: tuple[str, str], word: Verdict) -> PairConflict:
    first, second = candidates[:2]
    single, none = word == "same direction", word == "no difference"
    points = (
        Point(first, "strategy", (0.5, 0.25), {}),
        Point("0.5 a + 0.5 b", "mixture", (0.75, 0.5), {"a": 0.5, "b": 0.5}),
    )
    gains = Estimate(0.25, 0.125, 0.375), Estimate(0.0625, 0.03125, 0.09375)
    confirmed = word == "missing strategy"
    return PairConflict(
        metrics, ("max", "max"), word,
        Grounds(not none, "none", single, 0.125, not single, confirmed, None, 0.9),
        None if none else (first, first if single else second),
        None if none else (Estimate(0.125, 0.0625, 0.1875), Estimate(0.25, None, None)),
        (0.5, None), (points[0],), points, points, None, (True, False),
        None if single or none else Concessions(1.0, 0.5, -0.25, (-0.0, 0.25)),
        () if single or none else (Improvement(first, points[1], gains, confirmed),),
        ("not known with hindsight",) if none else (),
    )  # fmt: skip


def price(metric: str, labels: tuple[str, ...], stakeholders: tuple[str, ...]) -> ParityPrice:
    def point(within: float | None, reason: str = "") -> PricePoint:
        """Return a bound at which stakeholders lose, one after the other more."""
        lost = 0.0 if within is None else 0.5 - within
        rewards = {name: 0.5 - lost * k / 10 for k, name in enumerate(stakeholders)}
        change = {label: Estimate(-lost / 4, -lost / 2, 0.0) for label in labels}
        if reason:
            return PricePoint(within, {}, {}, {}, None, None, None, reason)
        return PricePoint(within, dict.fromkeys(labels, 0.5), change, rewards, lost / 8, 0.0, lost)

    return ParityPrice(
        metric, "utilitarian", "type", True, "", (point(None), point(0.5), point(0.25), point(0.0, "nobody is left")),
    )  # fmt: skip


def underscores() -> Json:
    record = tiny_record(
        stakeholders=("Night_ward", "Town"), actions=("Send_home", "Admit"),
        metrics=(("Worst_Off", "max", 0.6), ("mean_reward", "max", 0.4)),
    )  # fmt: skip
    words = "learned from answers in Night_ward.csv"
    source = {"kind": "comparisons", "words": words}
    record["reward_sources"] = {"Night_ward": source}
    record["warnings"] = ["Night_ward was asked in Night_ward.csv about Send_home, not about Send_home_early."]
    return record


LONG = "a_strategy_with_an_uncommonly_long_name[and_parameters_that_do_not_end_soon_either]"
VARIANTS: dict[str, Callable[[], Json]] = {
    "tiny": tiny_record,
    "continuous": continuous,
    "undefined": undefined_metrics,
    "all undefined": all_undefined,
    "constant on top": constant_on_top,
    "not resampled": not_resampled,
    "bare": bare,
    "hostile": hostile,
    "intersections": lambda: tiny_record(attributes=("type", "age", "region")),
    "twelve strategies": lambda: tiny_record(rules=tuple(f"rule_{index}" for index in range(9))),
    "two metrics": lambda: tiny_record(metrics=(("Accuracy", "max", 0.5), ("Loss", "min", 0.5))),
    "many metrics": lambda: tiny_record(
        metrics=tuple((f"Metric_{i}", ("max", "min", "zero")[i % 3], 1 / 14) for i in range(14))
    ),
    "underscores": underscores,
    "long names": lambda: tiny_record(
        rules=(LONG, "x" * 90), stakeholders=("The association of everybody concerned " * 2, "漢字" * 20)
    ),
    "scrutinised": lambda: scrutinised(tiny_record()),
    "scrutinised, hostile": lambda: scrutinised(hostile()),
    "scrutinised, one metric": lambda: scrutinised(bare()),
    "scrutinised, two metrics": lambda: scrutinised(VARIANTS["two metrics"]()),
    "scrutinised, many metrics": lambda: scrutinised(VARIANTS["many metrics"]()),
    "scrutinised, long names": lambda: scrutinised(VARIANTS["long names"]()),
    "scrutinised, ten stakeholders": lambda: scrutinised(
        tiny_record(stakeholders=tuple(f"Stakeholder {k}" for k in range(10)))
    ),
    "scrutinised, intersections": lambda: scrutinised(VARIANTS["intersections"]()),
}


@functools.cache
def made(name: str) -> Json:
    return VARIANTS[name]()


@pytest.fixture(params=VARIANTS)
def variant(request: pytest.FixtureRequest) -> Json:
    """Every situation in turn."""
    return copy.deepcopy(made(request.param))


class Records(dict[str, Json]):
    """Situations by name, made anew when asked for."""

    def __missing__(self, name: str) -> Json:
        self[name] = copy.deepcopy(made(name))
        return self[name]


@pytest.fixture
def records() -> dict[str, Json]:
    """All situations by name, made anew."""
    return Records()
