"""What the report says about hidden reasons: there where welfare rests on propensities, and not elsewhere."""

from __future__ import annotations

from typing import Any

import pytest

from accordant.evaluation.sensitivity import (
    ComparisonSensitivity,
    ConfoundedInterval,
    RuleSensitivity,
    Sensitivity,
)
from accordant.report.reading import Reading
from accordant.report.render import render
from accordant.runs.record import Record
from accordant.report.scrutiny.confounding import confounding


def rendered(content):
    """Return the report of the object of a `run.json`."""
    return render(Record.read(content))


Json = dict[str, Any]
INTERVALS = (ConfoundedInterval(1.0, 0.05, 0.05, 0.01, 0.09), ConfoundedInterval(1.5, 0.01, 0.09, -0.03, 0.13))


def found(record: Json, **turning: float | None) -> Json:
    """Return a record with a sensitivity of its selected strategy against the logged decisions."""
    points = {"turning_point": 1.8, "turning_point_with_error": 1.2} | turning
    rules = [RuleSensitivity(row["strategy"], 0.5, INTERVALS) for row in reversed(record["test"]["leaderboard"])]
    compared = ComparisonSensitivity(
        record["selected"], "logged", "logged", different=0.25, difference=0.05, intervals=INTERVALS, **points
    )
    features = {f"column {k}": 1.5 - k / 100 for k in range(12)}
    made = Sensitivity(100, 500, 0.95, tuple(rules), (compared,), features, ("Lender",))
    record["scrutiny"]["sensitivity"] = made.to_json()
    return record


@pytest.mark.parametrize("old", [True, False])
def test_a_record_without_it_leaves_the_section_out(records: dict[str, Json], old: bool) -> None:
    record = records["scrutinised"]
    if not old:
        record["scrutiny"]["sensitivity"] = None
    assert confounding(Reading.of(record)) is None
    assert "confounding" not in rendered(record)


def test_the_section_says_what_could_turn_the_comparison_and_puts_features_beside_it(records: dict[str, Json]) -> None:
    html = rendered(found(records["scrutinised"]))
    assert '<section id="confounding"' in html
    assert 'href="#confounding"' in html
    assert "a hidden reason that multiplies the odds of an action by 1.20 could turn this round" in html
    assert "leaving out column 0, the strongest recorded column, would amount to 1.50" in html
    assert "no unmeasured confounding" in html
    assert "predicted rewards stand in" in html


def test_rows_are_in_the_order_of_the_leaderboard_and_features_are_cut(records: dict[str, Json]) -> None:
    section = confounding(Reading.of(found(records["scrutinised"])))
    assert section is not None
    places = [row.line.position for row in section.welfare if row.line]
    assert places == sorted(places)
    assert (len(section.features), len(section.more_features)) == (10, 2)
    assert section.odds_ratios == ("1", "1.5")
    assert section.compared[0].intervals[0] == "[0.010, 0.090]"


@pytest.mark.parametrize(("value", "words"), [(None, "above 100"), (1.0, "cannot be told"), (1.234, "1.23")])
def test_turning_points_in_words(records: dict[str, Json], value: float | None, words: str) -> None:
    section = confounding(Reading.of(found(records["scrutinised"], turning_point_with_error=value)))
    assert section is not None
    assert section.compared[0].turning_point_with_error == words
