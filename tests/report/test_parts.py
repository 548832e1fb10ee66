"""The parts of a report on numbers worked out by hand."""

from __future__ import annotations

import copy
import math
import re
from importlib.resources import files
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accordant.report.charts.svg import wrapped
from accordant.report.summary import answer, checks
from accordant.report.distribution import rates_behind_metrics, rewards_by_stakeholder
from accordant.report.standings import standings
from accordant.report.standings import compare
from accordant.report.reading import EQUAL, Reading
from accordant.report.scale import Scale, count, decimals, interval, linear_scale, number, percent
from accordant.naming import listed

Json = dict[str, Any]


def set_values(record: Json, label: str, values: list[float | None]) -> None:
    rows = [row for row in record["test"]["leaderboard"] if row["candidate"]]
    for row, value in zip(rows, values, strict=True):
        row["metrics"][label]["value"] = value


@given(st.lists(st.floats(-1e9, 1e9), min_size=1), st.booleans())
def test_scale_covers_its_values_with_round_ticks(values: list[float], tight: bool) -> None:
    scale = linear_scale(values, 10.0, 110.0, tight=tight)
    room = 1e-6 * (scale.high - scale.low)
    assert scale.low - room <= min(values)
    assert max(values) <= scale.high + room
    assert 10 - 1e-3 <= scale(min(values)) <= scale(max(values)) <= 110 + 1e-3
    assert 1 <= len(scale.ticks) <= 8
    steps = [after - before for before, after in zip(scale.ticks, scale.ticks[1:], strict=False)]
    assert all(math.isclose(step, steps[0], rel_tol=1e-6, abs_tol=1e-12) for step in steps)


def test_scale_runs_backwards_where_less_is_better() -> None:
    scale = linear_scale([0.0, 0.2], 0.0, 100.0)
    turned = linear_scale([0.0, 0.2], 100.0, 0.0)
    assert (scale(0.0), scale(0.2)) == (0.0, 100.0)
    assert (turned(0.0), turned(0.2)) == (100.0, 0.0)
    assert scale.labels() == ["0.00", "0.05", "0.10", "0.15", "0.20"]


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        ([0.83, 0.2], 3),
        ([12.5], 1),
        ([123.0, None], 0),
        ([54321.0], 0),
        ([0.0042], 4),
        ([0.0], 3),
        ([], 3),
        ([9.99], 3),
        ([1234.5, 1234.1], 2),
    ],
)
def test_decimals(values: list[float | None], wanted: int) -> None:
    assert decimals(values) == wanted


def test_numbers_as_they_are_set() -> None:
    assert number(-0.0656, 3) == "−0.066"
    assert number(-0.0001, 3) == "0.000"
    assert number(54321.4, 0) == "54\N{NARROW NO-BREAK SPACE}321"
    assert number(None) == "not defined"
    assert interval(-0.1, 0.25) == "[−0.100, 0.250]"
    assert interval(None, 0.25) == ""
    assert [percent(share) for share in (0.0, 0.0004, 0.206, 1.0, None)] == [
        "0%",
        "< 0.1%",
        "20.6%",
        "100%",
        "–",
    ]
    assert [count(n) for n in (40, 40.0, 180 + 3e-14, 13.25, None)] == ["40", "40", "180", "13.2", "–"]
    assert [listed(names) for names in ([], ["a"], ["a", "b", "c"])] == ["", "a", "a, b and c"]


def test_names_break_where_they_may_and_are_cut_at_last() -> None:
    assert wrapped("compromise_programming[context]", 13) == ["compromise_programming", "[context]"]
    assert wrapped("maximin", 13) == ["maximin"]
    cut = wrapped("x" * 90, 10)
    assert len(cut) == 1
    assert cut[0].endswith("…")
    assert len(wrapped("漢" * 40, 10)[0]) <= 10


def test_dominance_turns_every_goal_the_right_way(records: dict[str, Json]) -> None:
    record = records["tiny"]  # utilitarian, maximin, stakeholder:Lender, constant:Grant, constant:Deny
    set_values(record, "Accuracy", [0.9, 0.8, 0.9, 0.9, 0.5])
    set_values(record, "Gap", [-0.1, 0.2, 0.1, 0.0, None])
    set_values(record, "Loss", [0.3, 0.3, 0.3, 0.4, 0.1])
    reading = Reading.of(record)
    found = {each.line.name: each for each in standings(reading, reading.weighted)}
    assert found["utilitarian"].dominated_by == ()
    assert found["utilitarian"].equal_to == ("stakeholder:Lender",)  # −0.1 and 0.1 are as far from zero
    assert found["maximin"].dominated_by == ("utilitarian", "stakeholder:Lender")
    assert found["constant:Grant"].dominated_by == ()
    assert not found["constant:Deny"].compared


def test_rewards_are_weighted_by_group_size_and_the_worst_off_marked(records: dict[str, Json]) -> None:
    record = records["tiny"]
    for row in record["groups"][0]["rows"]:
        row["n"] = {"0": 30, "1": 10}[row["group"]]
        row["mean_rewards"] = {"Lender": {"0": 0.8, "1": 0.4}[row["group"]], "Borrower": 0.75}
    shares = dict((line.name, shares) for line, shares in rewards_by_stakeholder(Reading.of(record)))["utilitarian"]
    assert [share.value for share in shares] == [pytest.approx(0.7), pytest.approx(0.75)]
    assert [share.worst_off for share in shares] == [True, False]
    record["case"]["problem"]["stakeholders"][0]["weight"] = 0.0
    shares = rewards_by_stakeholder(Reading.of(record))[0][1]
    assert [share.worst_off for share in shares] == [False, True]


def test_without_groups_rewards_come_from_the_metric(records: dict[str, Json]) -> None:
    shares = rewards_by_stakeholder(Reading.of(records["bare"]))[0][1]
    assert [share.value for share in shares] == [0.5, None]


@pytest.mark.parametrize(
    ("goal", "threshold", "limits", "finding"),
    [
        ("zero", 0.1, (-0.05, -0.08, 0.02), "the value meets the threshold, and so does its whole interval"),
        (
            "zero",
            0.1,
            (-0.05, -0.18, 0.02),
            "the value meets the threshold, but part of its interval does not",
        ),
        (
            "zero",
            0.1,
            (0.15, 0.05, 0.2),
            "the value does not meet the threshold, but part of its interval does",
        ),
        (
            "zero",
            0.1,
            (0.3, -0.2, 0.4),
            "the value does not meet the threshold, but part of its interval does",
        ),
        (
            "zero",
            0.1,
            (-0.3, -0.4, -0.2),
            "the value does not meet the threshold, nor does any of its interval",
        ),
        ("max", 0.8, (0.85, 0.81, 0.9), "the value meets the threshold, and so does its whole interval"),
        ("max", 0.8, (0.7, 0.6, 0.75), "the value does not meet the threshold, nor does any of its interval"),
        ("min", 0.2, (0.1, 0.05, 0.3), "the value meets the threshold, but part of its interval does not"),
        ("min", None, (0.1, 0.05, 0.3), "no threshold to compare with"),
    ],
)
def test_criteria(
    records: dict[str, Json],
    goal: str,
    threshold: float | None,
    limits: tuple[float, float, float],
    finding: str,
) -> None:
    record = records["tiny"]
    record["scope"]["criteria"] = record["scope"]["criteria"][:1]
    record["scope"]["criteria"][0]["threshold"] = threshold
    next(column for column in record["test"]["metrics"] if column["label"] == "Gap")["goal"] = goal
    record["test"]["leaderboard"][0]["metrics"]["Gap"] |= dict(zip(("value", "low", "high"), limits, strict=True))
    assert checks(Reading.of(record))[0].finding == finding


def test_criteria_find_metrics_by_registered_name_and_say_what_is_missing(records: dict[str, Json]) -> None:
    record = records["tiny"]
    record["scope"]["criteria"][0] |= {"metric": "gap"}
    found = checks(Reading.of(record))
    assert [check.label for check in found] == ["Gap", "Accuracy", "unknown_metric"]
    assert found[2].finding == "not evaluated: no such metric in this run"


def test_equal_scores_share_a_place(records: dict[str, Json]) -> None:
    record = records["tiny"]
    scores = [0.5, 0.9, 0.9, None, 0.1]
    for row, score in zip(record["validation"]["leaderboard"], scores, strict=False):
        row["score"]["value"] = score
    places = compare(Reading.of(record))
    assert places.validation == {"utilitarian": 3, "maximin": 1, "stakeholder:Lender": 1, "constant:Deny": 4}
    assert [line.name for line in places.order][-1] == "constant:Grant"


def test_rates_behind_metrics_are_those_of_the_selected_strategy(records: dict[str, Json]) -> None:
    record = records["tiny"]
    record["case"]["metrics"]["Gap"]["parameters"] = {"attributes": ["type"]}
    cell = record["test"]["leaderboard"][0]["metrics"]["Gap"]
    limits = {key: cell[key] for key in ("value", "low", "high", "undefined")}
    cell["by_group"] = [{"rate": "selection_rate", "group": "1", **limits, "n": 20}]
    gap = [each for each in rates_behind_metrics(Reading.of(record)) if each.metric == "Gap"]
    assert [(each.rate, each.group, each.n) for each in gap] == [("selection rate", "vulnerable (1)", 20)]
    assert gap[0].estimate.value == cell["value"]


def test_letters_contrast_with_every_background() -> None:
    style = (files("accordant.report") / "style.css").read_text(encoding="utf-8")
    colours = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{3,6});", style.split("}")[0]))
    pairs = [(letter, ground) for letter in ("ink", "quiet", "accent") for ground in ("paper", "tint", "faint")]
    for letter, ground in [
        *pairs,
        ("alert", "alert-tint"),
        ("warn", "warn-tint"),
        ("ink", "alert-tint"),
        ("ink", "warn-tint"),
    ]:
        assert contrast(colours[letter], colours[ground]) >= 4.5, (
            letter,
            ground,
        )  # WCAG 2.2, 1.4.3, level AA


def contrast(a: str, b: str) -> float:
    """Return the contrast ratio of two colours (WCAG 2.2, relative luminance)."""
    low, high = sorted(luminance(each) for each in (a, b))
    return (high + 0.05) / (low + 0.05)


def luminance(colour: str) -> float:
    digits = colour[1:] if len(colour) == 7 else "".join(2 * each for each in colour[1:])
    parts = [int(digits[start : start + 2], 16) / 255 for start in (0, 2, 4)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_scores_far_outside_do_not_flatten_the_rest():
    """A line that is no candidate may score anything; the drawing ends a little beyond [0, 1]."""
    from accordant.report.charts.panels import score_scale
    from accordant.runs.record import Limits

    def limits(value, low, high):
        return Limits(value=value, low=low, high=high, undefined=None)

    scale = score_scale([limits(-0.95, -6.8, 1.4), limits(0.7, 0.6, 0.8)])
    assert (scale.low, scale.high) == (-0.2, 1.2)
    near = score_scale([limits(0.7, 0.6, 1.1)])
    assert (near.low, near.high) == (0.0, 1.1)


def test_ticks_have_the_decimals_of_their_step() -> None:
    assert Scale(0.0, 1.0, 0.0, 1.0, (0.25, 0.75)).labels() == ["0.2", "0.8"]  # a step of one half
    assert Scale(0.25, 0.75, 0.0, 1.0, (0.5,)).labels() == ["0.5"]  # one tick: as wide as the axis
    assert Scale(0.25, 0.5, 0.0, 1.0, (0.5,)).labels() == ["0.50"]
    assert Scale(0.0, 2.0, 0.0, 1.0, (0.0, 1.0, 2.0)).labels() == ["0", "1", "2"]
    assert Scale(0.0, 2e-7, 0.0, 1.0, (0.0, 1e-7)).labels() == ["0.0000000", "0.0000001"]
    assert Scale(0.0, 1.0, 0.0, 1.0, (0.0, 1e-9)).labels() == ["0.000", "0.000"]  # too small: three
    assert Scale(0.0, 1.0, 0.0, 1.0, ()).labels() == []


def test_a_value_is_drawn_in_proportion() -> None:
    scale = Scale(-1.0, 3.0, 10.0, 110.0, ())
    assert [scale(value) for value in (-1.0, 0.0, 3.0)] == [10.0, 35.0, 110.0]


@pytest.mark.parametrize(
    ("gap", "said"),
    [
        (0.0, "as much as"),
        (EQUAL, "as much as"),
        (-EQUAL, "as much as"),
        (2 * EQUAL, "less than"),
        (-2 * EQUAL, "more than"),
    ],
)
def test_scores_up_to_rounding_apart_are_as_much(records: dict[str, Json], gap: float, said: str) -> None:
    record = records["tiny"]
    rows = {row["strategy"]: row for row in record["test"]["leaderboard"]}
    rows[record["test"]["best_constant"]]["score"]["value"] = 0.0
    rows[record["selected"]]["score"]["value"] = gap
    sentences = [each.striptags() for each in answer(Reading.of(record)).sentences]
    (found,) = [each for each in sentences if each.startswith("The same action for everybody")]
    assert found.endswith(f", {said} the selected strategy.")


def test_a_score_that_is_not_defined_is_compared_with_no_constant(records: dict[str, Json]) -> None:
    for whose in ("selected", "constant", "nobody"):
        record = copy.deepcopy(records["tiny"])
        names = {"selected": record["selected"], "constant": record["test"]["best_constant"]}
        for row in record["test"]["leaderboard"]:
            if row["strategy"] == names.get(whose):
                row["score"] |= {"value": None, "low": None, "high": None}
        if whose == "nobody":
            record["selected"] = None
        sentences = [each.striptags() for each in answer(Reading.of(record)).sentences]
        (found,) = [each for each in sentences if each.startswith("The same action for everybody")]
        assert "the selected strategy" not in found
        assert ("is not defined" in found or "scores not defined" in found) == (whose == "constant")
