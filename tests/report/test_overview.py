"""The first screen: what it says follows from the record, and each link leads to a fold."""

from __future__ import annotations

import re
from typing import Any

import pytest

from accordant.report.labels import readable_names
from accordant.report.overview import overview
from accordant.report.reading import Reading
from accordant.report.render import render
from accordant.report.scrutiny import findings
from accordant.report.summary import answer, checks
from accordant.runs.record import Record

Json = dict[str, Any]


def seen(record: Json, asked: frozenset[str] = frozenset()):
    reading = Reading.named(Record.read(record))
    return overview(reading, answer(reading), findings(reading), checks(reading), asked)


def first_screen(record: Json) -> str:
    return re.search(r'<section id="answer".*?</section>', render(Record.read(record)), re.DOTALL)[0]


def set_rewards(record: Json, rewards: dict[str, dict[str, float]]) -> None:
    """Let strategies bring stakeholders these rewards in every group."""
    for table in record["groups"]:
        for row in table["rows"]:
            row["mean_rewards"] |= rewards.get(row["strategy"], {})


def test_every_thought_leads_to_a_fold(variant: Json) -> None:
    html = render(Record.read(variant))
    for statement in seen(variant).statements:
        assert statement.words.strip()
        for place, words in statement.places:
            assert f'<section id="{place}"' in html and words


def test_who_is_better_off_is_compared_with_the_utilitarian_rule_and_the_best_constant(
    records: dict[str, Json],
) -> None:
    record = records["tiny"]
    record["selected"] = "maximin"
    record["strategies"] |= {
        name: {"name": name, "kind": "compromise", "candidate": True, "note": "", "selectable": True, "parameters": {}}
        for name in ("utilitarian", "maximin")
    }
    set_rewards(
        record,
        {
            "maximin": {"Lender": 0.5, "Borrower": 0.7},
            "utilitarian": {"Lender": 0.6, "Borrower": 0.6},
            "constant:Grant": {"Lender": 0.5001, "Borrower": 0.6999},
        },
    )
    compared = seen(record).comparison
    assert [line.name for line, _ in compared.heads] == ["maximin", "utilitarian", "Always Grant"]
    told = [each.striptags() for each in compared.sentences]
    assert told == [
        "Against utilitarian: higher for Borrower, lower for Lender.", "Against Always Grant (best constant): equal for everybody.",
    ]  # fmt: skip
    assert [(name, [cell.value for cell in cells]) for name, cells in compared.rows] == [
        ("Lender", ["0.500", "0.600", "0.500"]), ("Borrower", ["0.700", "0.600", "0.700"]),
    ]  # fmt: skip


def test_a_difference_that_the_record_tests_is_told_with_its_intervals(records: dict[str, Json]) -> None:
    record = records["scrutinised"]
    untested = seen(record).comparison
    other = untested.heads[1][0].name
    assert untested.caution == "These are means: none of the differences is tested."
    record["scrutiny"]["gains"] = {
        "strategy": record["selected"], "other": other, "different": 0.5, "worst_off": "Nobody", "gains": {}, "n": 9,
        "gainers": [], "payers": [], "sentence": "Somebody gains 0.1 [0.05, 0.15].",
    }  # fmt: skip
    tested = seen(record).comparison
    assert "Somebody gains 0.1 [0.05, 0.15]." in tested.sentences
    assert not any(f"Against {other}" in sentence.striptags() for sentence in tested.sentences)
    assert any(f"Against {other}" in sentence.striptags() for sentence in untested.sentences)
    assert len(tested.sentences) == len(untested.sentences)
    assert tested.caution == "Other differences are means, and not tested."


def test_a_mean_has_the_interval_of_the_metric_that_measures_it(records: dict[str, Json]) -> None:
    record = records["tiny"]
    record["case"]["metrics"]["Extra"] = {"metric": "stakeholder_reward", "parameters": {"stakeholder": "Lender"}}
    compared = seen(record).comparison
    row = next(each for each in record["test"]["leaderboard"] if each["strategy"] == record["selected"])
    cell = compared.rows[0][1][0]
    figures = row["metrics"]["Extra"]
    assert cell.value == f"{figures['value']:.3f}"
    assert cell.interval == f"[{figures['low']:.3f}, {figures['high']:.3f}]".replace("-", "−")
    assert compared.rows[1][1][0].interval == ""


def test_actions_are_told_where_the_case_measures_them(records: dict[str, Json]) -> None:
    record = records["tiny"]
    record["case"]["metrics"]["Extra"] = {"metric": "share_of_action", "parameters": {"action": "Grant"}}
    for row in record["test"]["leaderboard"]:
        row["metrics"]["Extra"]["value"] = 0.25
    said = seen(record).statements[0].words
    assert "It takes Grant in 25% of the untouched rows; other actions are not measured." in said
    record["case"]["metrics"]["Gap"] = {"metric": "share_of_action", "parameters": {"action": "Deny", "percent": True}}
    for row in record["test"]["leaderboard"]:
        row["metrics"]["Gap"]["value"] = 75.0
    assert "It takes Deny in 75% and Grant in 25% of the untouched rows." in seen(record).statements[0].words
    del record["case"]["metrics"]["Gap"]
    for row in record["test"]["leaderboard"]:
        row["metrics"]["Extra"]["value"] = 0.0
    assert "It takes" not in seen(record).statements[0].words


def test_what_was_not_asked_is_said_until_it_is(records: dict[str, Json]) -> None:
    unseen = " ".join(seen(records["tiny"]).unseen)
    assert "Not asked of this run yet: a debate, lists and why one person's decision was taken." in unseen
    assert "Certificates, conflicts and weights were not looked at." in unseen
    unseen = " ".join(seen(records["scrutinised"], frozenset({"talks", "lists"})).unseen)
    assert "Not asked of this run yet: why one person's decision was taken." in unseen
    assert "Certificates" not in unseen
    assert "Not asked" not in " ".join(seen(records["tiny"], frozenset({"talks", "lists", "person"})).unseen)
    assert "Not on people" in seen(records["bare"]).statements[-1].words


@pytest.mark.parametrize("name", ["tiny", "scrutinised", "constant on top", "all undefined"])
def test_no_sentence_of_the_first_screen_is_said_twice(records: dict[str, Json], name: str) -> None:
    text = " ".join(re.sub(r"<[^>]*>", " ", first_screen(records[name])).split())
    sentences = [each for each in re.split(r"(?<=[.:]) ", text) if len(each) > 40]
    assert len(sentences) > 3
    assert len(sentences) == len(set(sentences))


def test_without_a_selected_strategy_nothing_is_compared(records: dict[str, Json]) -> None:
    record = records["tiny"]
    record["selected"] = None
    found = seen(record)
    assert found.comparison is None
    assert "No strategy was selected" in found.statements[0].words
    assert "No strategy was selected on held-out folds." in first_screen(record)


def test_the_rule_is_told_with_its_parameters(records: dict[str, Json]) -> None:
    record = records["tiny"]
    record["selected"] = "constant:Grant"
    record["strategies"]["constant:Grant"] = {
        "name": "constant", "kind": "baseline", "candidate": True, "note": "", "selectable": False,
        "parameters": {"action": "Grant"},
    }  # fmt: skip
    assert readable_names(Record.read(record))["constant:Grant"] == "Always Grant"
    assert "The rule: always take Grant." in seen(record).statements[0].words
