"""*May I use it?*: the shortest answer comes from the record, and a page never permits."""

from __future__ import annotations

from typing import Any

import pytest

from accordant.report.reading import Reading
from accordant.report.summary import answer, checks
from accordant.report.use import may_be_used
from accordant.runs.record import Record

Json = dict[str, Any]


def said(record: Json) -> str:
    reading = Reading.named(Record.read(record))
    return may_be_used(reading, answer(reading), checks(reading)).striptags()


def test_each_obstacle_is_said_before_the_next(records: dict[str, Json]) -> None:
    record = records["tiny"]
    record["data"]["simulated"] = True
    assert said(record).startswith("Not on people: all rows are simulated. 1 of 2 thresholds are not met: Accuracy.")
    record["data"]["simulated"] = False
    assert said(record).startswith("Not as it stands: the value does not meet the threshold of Accuracy.")
    record["scope"]["criteria"] = record["scope"]["criteria"][:1]
    assert said(record).startswith(
        "Only for what its card allows: no threshold is missed; read the 1 warning below first, and"
    )
    row = next(row for row in record["test"]["leaderboard"] if row["strategy"] == record["selected"])
    row["among_best"] = False
    assert said(record).startswith("Not as it stands: another strategy is shown to score higher.")
    row["below_best_constant"] = True
    assert said(record).startswith("It is not needed: the same action for everybody (Always Grant) scores higher.")
    card, record["scope"] = record["scope"], None
    assert said(record) == "Not yet: nobody has stated what it is for, there is no scope card."
    record["scope"], record["selected"] = card, None
    assert said(record).startswith("No: nothing was selected.")


def test_a_verdict_for_the_same_action_for_everybody_comes_before_thresholds(records: dict[str, Json]) -> None:
    record = records["constant on top"]
    assert said(record).startswith(
        "It is not needed: no strategy does better than the same action for everybody (Always Grant)."
    )


@pytest.mark.parametrize(("before", "told"), [(0.7, True), (0.6004, False), (0.5, False)])
def test_what_was_better_for_everybody_before_is_said(records: dict[str, Json], before: float, told: bool) -> None:
    record = records["tiny"]
    record["strategies"]["random"] = {
        "name": "logged", "kind": "baseline", "candidate": False, "note": "", "selectable": False, "parameters": {},
    }  # fmt: skip
    for table in record["groups"]:
        for row in table["rows"]:
            mine = row["strategy"] == record["selected"]
            row["mean_rewards"] = {"Lender": 0.6 if mine else 0.8, "Borrower": 0.6 if mine else before}
    assert (
        "What was done so far gives every stakeholder more on average, which is not tested." in said(record)
    ) == told


def test_the_card_is_told_in_words(records: dict[str, Json]) -> None:
    record = records["tiny"]
    record["scope"] |= {
        "in_scope_uses": ["one", "two", "three", "four"], "out_of_scope_uses": ["harm"], "responsible_party": "the board",
        "findings": [{"code": "affected-not-consulted", "words": "x"}, {"code": "other", "words": "y"}],
    }  # fmt: skip
    words = said(record)
    assert "The scope card allows one, two, three and more, and excludes harm." in words
    assert "Not consulted: Lender." in words and "The card leaves 1 point open." in words
    assert words.endswith("Who answers for a use: the board, review by 2030-01-01.")


@pytest.mark.few(4)
@pytest.mark.parametrize("word", ["fair", "permitted", "approved", "safe"])
def test_nothing_is_called_good(variant: Json, word: str) -> None:
    assert word not in said(variant)
