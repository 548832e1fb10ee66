"""The price of parity: curves of rewards, bounds that cannot be met, and gaps without a price."""

from __future__ import annotations

from typing import Any

import pytest

from accordant.report.reading import Reading
from accordant.report.render import render
from accordant.runs.record import Record
from accordant.runs.record.choice import PricePart
from accordant.report.scrutiny.disputes import parity_price


def rendered(content):
    """Return the report of the object of a `run.json`."""
    return render(Record.read(content))


Json = dict[str, Any]


@pytest.fixture
def price(records: dict[str, Json]) -> Json:
    found: Json = records["scrutinised"]["scrutiny"]["conflict"]["prices"][0]
    return found


def test_rows_are_bounds_with_changes_or_reasons(price: Json) -> None:
    said = parity_price(PricePart.model_validate(price), 1, ["Accuracy", "Unknown"])
    assert said.metrics == ("Accuracy",)
    assert [(row.within, row.changed, row.lost, row.reason) for row in said.rows] == [
        ("0.500", "0%", "0.000", ""), ("0.250", "25%", "0.031", ""), ("0.000", "", "", "nobody is left"),
    ]  # fmt: skip
    assert [(cell.value, cell.interval) for cell in said.rows[1].cells] == [("−0.062", "[−0.125, 0.000]")]
    assert said.sentence == "A bound of 0.25 changes 25% of decisions and costs the rule 0.031 of its score per row."


def test_curves_are_changes_of_rewards_against_no_bound(price: Json) -> None:
    chart = parity_price(PricePart.model_validate(price), 1, ["Accuracy"]).chart or ""
    assert "Borrower: from 0.000 to −0.025; Lender: from 0.000 to 0.000." in chart  # who loses most comes first


def test_a_rule_without_a_gap_pays_nothing(price: Json) -> None:
    free = price["points"][0]
    price["points"] = [free, free | {"within": 0.0}]
    said = parity_price(PricePart.model_validate(price), 1, ["Accuracy"])
    assert said.sentence == "The rule has no gap by itself, so a bound costs nothing."
    assert said.chart is None


def test_bounds_that_cannot_be_met(price: Json) -> None:
    price["points"] = [price["points"][0], price["points"][-1]]
    assert parity_price(PricePart.model_validate(price), 1, ["Accuracy"]).sentence == "No bound can be met."


def test_a_score_that_is_not_finite_has_no_price(price: Json) -> None:
    for point in price["points"]:
        point["score_lost"] = None
    said = parity_price(PricePart.model_validate(price), 1, ["Accuracy"])
    assert said.sentence == "A bound of 0.25 changes 25% of decisions."
    assert said.rows[0].lost == "–"


def test_rows_without_a_finite_score_are_counted(price: Json) -> None:
    assert not parity_price(PricePart.model_validate(price), 1, ["Accuracy"]).hopeless
    price["points"][2]["hopeless"] = 0.78
    said = parity_price(PricePart.model_validate(price), 1, ["Accuracy"])
    assert said.hopeless
    assert [row.hopeless for row in said.rows] == [0.0, 0.78, None]
    assert said.sentence.endswith("of its score per row, and 0.8 more rows than without a bound have no finite score.")


def test_gaps_without_a_price_say_why(records: dict[str, Json]) -> None:
    record = records["scrutinised"]
    assert "Odds</strong> has no price: outcomes are not known." in rendered(record)
    reading = Reading.of(record)
    odds = parity_price(reading.scrutiny.conflict.prices[-1], 2, ["Accuracy"])
    assert (odds.reason, odds.chart, odds.rows) == ("outcomes are not known", None, ())
