"""Who decides: contributions, shares that mean nothing, and changes that mean nothing."""

from __future__ import annotations

import re
from typing import Any

import pytest

from accordant.report.reading import Reading
from accordant.report.render import render
from accordant.runs.record import Record
from accordant.report.scrutiny.deciders import MOST_NAMED, deciders


def rendered(content):
    """Return the report of the object of a `run.json`."""
    return render(Record.read(content))


Json = dict[str, Any]


@pytest.fixture
def record(records: dict[str, Json]) -> Json:
    """Four decisions; hearing Lender adds three, hearing Borrower takes one away."""
    record = records["scrutinised"]
    index = {
        "raw": {"Lender": 3.0, "Borrower": -1.0},
        "share": {"Lender": 1.5, "Borrower": -0.5},
        "standard_error": None,
    }
    group = {"contexts": 2, "shapley": {"raw": {"Lender": 0.0, "Borrower": 0.0}, "share": None}}
    asked = {
        "neutralised": {"Lender": 0.75, "Borrower": 0.25}, "dropped": {"Lender": None, "Borrower": 0.25},
        "doubled": {"Lender": 0.0, "Borrower": 0.0}, "halved": {"Lender": 0.0, "Borrower": 0.0},
    }  # fmt: skip
    power = {"rule": "by hand", "absence": "neutralised", "ties": "rotated", "contexts": 4, "moved": 2.0, "exact": True, "samples": 0,
             "players": ["Lender", "Borrower"], "shapley": index, "banzhaf": index,
             "groups": {"1": group | {"banzhaf": group["shapley"]}}}  # fmt: skip
    pivotal = {"rule": "by hand", "contexts": 4, "pivotal": asked, "reasons": {"dropped": {"Lender": "it asks nobody else"}},
               "groups": {"1": {"contexts": 2, "pivotal": asked}}}  # fmt: skip
    record["scrutiny"]["influence"] = [{"attributes": ["type"], "power": power, "pivotal": pivotal}]
    return record


def said(record: Json) -> list[str]:
    return [each.striptags() for each in deciders(Reading.of(record)).sentences]


def test_contributions_are_per_hundred_and_keep_their_sign(record: Json) -> None:
    division = deciders(Reading.of(record)).divisions[0]
    (lender, (everywhere, group)), (borrower, (negative, _)) = division.rows
    assert (lender, borrower) == ("Lender", "Borrower")
    assert (everywhere.shapley, everywhere.shapley_share, everywhere.n) == (75.0, "150%", 4)
    assert (negative.shapley, negative.shapley_share) == (-25.0, "−50%")
    assert (group.group, group.shapley, group.shapley_share, group.telling) == ("vulnerable (1)", 0.0, "–", False)
    assert everywhere.pivotal == (0.75, None, 0.0, 0.0)
    assert "Borrower: −25.0 (−50%)" in (division.chart or "")


def test_sentences_name_who_changes_most_and_what_is_shared(record: Json) -> None:
    assert said(record) == [
        "If Lender had no preference, 75% of the 4 decisions of utilitarian would be different; for Borrower 25%.",
        "Hearing everybody brings about 2 more of the 4 decisions than hearing nobody; shares are parts of these 2.",
    ]


@pytest.mark.parametrize(
    ("moved", "end"),
    [
        (0.0, "no more of the decisions than hearing nobody, so there is nothing to share out and only contributions are shown."),
        (-1.5, "1.5 fewer of the 4 decisions than hearing nobody, so there is nothing to share out and only contributions are shown."),
    ],
)  # fmt: skip
def test_little_or_nothing_to_share_is_said(record: Json, moved: float, end: str) -> None:
    record["scrutiny"]["influence"][0]["power"]["moved"] = moved
    assert said(record)[-1].endswith(end)


def test_nobody_pivotal_silent_stakeholders_and_estimates_are_said(record: Json) -> None:
    found = record["scrutiny"]["influence"][0]
    found["pivotal"]["pivotal"]["neutralised"] = {"Lender": 0.0, "Borrower": 0.0}
    found["power"] |= {"players": ["Lender"], "exact": False, "samples": 200}
    found["power"]["shapley"] = found["power"]["shapley"] | {"standard_error": {"Lender": 0.5, "Borrower": 0.25}}
    assert said(record)[0] == "No decision of utilitarian would change if any one stakeholder had no preference."
    assert said(record)[1] == "Borrower has no say under this strategy."
    assert said(record)[-1] == "Values are estimated from 200 drawn orders of being heard."
    assert "standard error 12.5" in rendered(record)


def test_large_shares_stay_out_of_the_drawing_but_in_the_table(record: Json) -> None:
    shapley = record["scrutiny"]["influence"][0]["power"]["shapley"]
    shapley["share"] = {"Lender": 40.0, "Borrower": -39.0}
    assert said(record)[-1].endswith("Parts of so few are large numbers that say little: read contributions.")
    division = deciders(Reading.of(record)).divisions[0]
    assert "(4000%)" not in (division.chart or "")
    assert division.rows[0][1][0].shapley_share == "4000%"
    shapley["share"] = {"Lender": 1.0004, "Borrower": -0.0004}
    assert deciders(Reading.of(record)).divisions[0].rows[1][1][0].shapley_share == "> −0.1%"


def test_what_means_nothing_has_its_reason_once(record: Json) -> None:
    assert deciders(Reading.of(record)).reasons == ("left out, Lender: it asks nobody else",)
    assert "left out, Lender: it asks nobody else." in rendered(record)


def test_without_rows_nobody_decides(record: Json) -> None:
    found = record["scrutiny"]["influence"][0]
    found["power"]["contexts"] = found["power"]["groups"]["1"]["contexts"] = 0
    assert said(record) == ["There are no untouched rows, so nobody decides anything."]
    assert deciders(Reading.of(record)).divisions[0].rows[0][1][0].shapley is None
    assert rendered(record)


def test_groups_beyond_what_a_page_holds_are_left_to_the_table(records: dict[str, Json]) -> None:
    few = deciders(Reading.of(records["scrutinised"])).divisions[0]
    many = deciders(Reading.of(records["scrutinised, ten stakeholders"])).divisions[0]
    assert "vulnerable (1)" in (few.chart or "")
    assert "vulnerable (1)" not in (many.chart or "")
    assert len(many.rows[0][1]) == 3
    sentence = said(records["scrutinised, ten stakeholders"])[0]
    assert re.search(r"would be different; for any other stakeholder at most [\d.]+%\.$", sentence)


@pytest.mark.parametrize(("stakeholders", "bars"), [(12, 24), (13, 13), (24, 24), (25, 0)])
def test_groups_and_then_all_bars_leave_a_drawing_of_more_than_24(record: Json, stakeholders: int, bars: int) -> None:
    names = [f"person {k}" for k in range(stakeholders)]
    found = record["scrutiny"]["influence"][0]
    for each in (found["power"], found["power"]["groups"]["1"]):
        for index in ("shapley", "banzhaf"):
            each[index] = each[index] | {"raw": dict.fromkeys(names, 1.0), "share": None}
    for each in (found["pivotal"], found["pivotal"]["groups"]["1"]):
        each["pivotal"] = {variation: dict.fromkeys(names, 0.0) for variation in each["pivotal"]}
    division = deciders(Reading.of(record)).divisions[0]
    assert len(division.rows) == stakeholders
    assert (division.chart or "").count('class="area') == bars


@pytest.mark.parametrize("n", [1, MOST_NAMED, MOST_NAMED + 1])
def test_others_are_named_while_they_are_few(record: Json, n: int) -> None:
    shares = {"Lender": 0.75, "Borrower": 0.5} | {f"other {k}": 0.5 for k in range(1, n)}
    record["scrutiny"]["influence"][0]["pivotal"]["pivotal"]["neutralised"] = shares
    named = "Borrower 50%" in said(record)[0]
    assert named == (n <= MOST_NAMED)
    assert ("any other stakeholder at most 50%" in said(record)[0]) != named
