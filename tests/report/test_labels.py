"""Names of strategies in words: in one place, the same everywhere, and never at the cost of a number."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accordant.report.labels import in_words, readable, readable_names, renamed, with_names
from accordant.report.render import render
from accordant.runs.record import Record

Json = dict[str, Any]


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("constant:Grant", "Always Grant"),
        ("constant:Grant_lower", "Always Grant_lower"),
        ("stakeholder:Bank", "Bank alone"),
        ("stakeholder:", "stakeholder:"),
        ("nash_bargaining[status_quo]", "Nash bargaining (status quo)"),
        ("kalai_smorodinsky[context]", "Kalai–Smorodinsky (context)"),
        ("compromise_programming[context]", "compromise programming (context)"),
        ("outcome_only", "outcome only"),
        ("maximin", "maximin"),
        ("other:thing", "other:thing"),
        ("my rule: no. 1", "my rule: no. 1"),
    ],
)
def test_labels_in_words(label: str, name: str) -> None:
    assert readable(label) == name


def test_only_labels_that_are_no_words_get_names(records: dict[str, Json]) -> None:
    assert readable_names(Record.read(records["tiny"])) == {
        "constant:Grant": "Always Grant", "constant:Deny": "Always Deny", "stakeholder:Lender": "Lender alone",
    }  # fmt: skip


def test_columns_of_the_data_are_said_in_words(records: dict[str, Json]) -> None:
    record = records["tiny"]
    record["case"]["data"] = {"features": ["credit_score", "age"]}
    assert readable_names(Record.read(record))["credit_score"] == "credit score"


def test_two_names_that_would_read_alike_stay() -> None:
    assert in_words(["a_b", "c_d", "e_f", "e f", "g h"]) == {"a_b": "a b", "c_d": "c d"}
    assert in_words(["a_b", "a b"]) == {}


def test_a_name_that_two_labels_would_share_is_given_to_neither(records: dict[str, Json]) -> None:
    record = records["tiny"]
    record["strategies"] = {}
    for other, named in (("c_d", True), ("a b", False)):
        for board in ("test", "validation"):
            for row, name in zip(record[board]["leaderboard"], ("a_b", other), strict=False):
                row["strategy"] = name
        assert ("a_b" in readable_names(Record.read(record))) == named


def test_a_name_that_is_declared_for_something_else_is_not_given(records: dict[str, Json]) -> None:
    record = records["tiny"]
    record["test"]["metrics"][0]["label"] = "Always Grant"
    assert "constant:Grant" not in readable_names(Record.read(record))


@given(st.text(alphabet="ab_:[]x ", max_size=30))
def test_renaming_equals_trying_every_place(words: str) -> None:
    names = {"a_b": "A B", "a_b[x]": "A B (x)", "b:a": "all a"}

    def by_hand() -> str:
        said, place = "", 0
        while place < len(words):
            for label in sorted(names, key=len, reverse=True):
                end = place + len(label)
                before = words[place - 1] if place else " "
                after = words[end] if end < len(words) else " "
                inside = re.match(r"\w", before) or (label[-1].isalnum() and re.match(r"\w", after))
                if words.startswith(label, place) and not inside:
                    said, place = said + names[label], end
                    break
            else:
                said, place = said + words[place], place + 1
        return said

    assert renamed(words, names) == by_hand()


def numbers(value: Any) -> list[float]:
    """Return all numbers in their order."""
    if isinstance(value, dict):
        return [number for inner in value.values() for number in numbers(inner)]
    if isinstance(value, list):
        return [number for inner in value for number in numbers(inner)]
    return [] if isinstance(value, str) or value is None else [value]


@pytest.mark.few(4)
def test_names_change_no_number(variant: Json) -> None:
    record = Record.read(variant)
    named = with_names(record, readable_names(record))
    assert numbers(named.content) == numbers(record.content)
    assert [about.metric for about in named.case.metrics.values()] == [
        each.metric for each in record.case.metrics.values()
    ]
    assert [about.name for about in named.strategies.values()] == [each.name for each in record.strategies.values()]


@pytest.mark.few(5)
def test_a_page_shows_labels_only_where_they_are_to_be_copied(variant: Json) -> None:
    html = render(Record.read(variant))
    shown = re.sub(r"<(code|pre|style|script)\b.*?</\1>| data-known=\"[^\"]*\"", "", html, flags=re.DOTALL)
    shown = re.sub(r"<wbr>", "", shown)
    for label, name in readable_names(Record.read(variant)).items():
        if re.fullmatch(r"(constant|stakeholder):\w+", label):
            assert label not in shown
            assert name in shown
            assert re.sub(r"<wbr>", "", html).count(f"<code>{label}</code>") == 1


def test_what_a_case_declares_is_said_without_underscores_but_names_of_files_and_of_registered_things_stay(
    records: dict[str, Json],
) -> None:
    record = Record.read(records["underscores"])
    names = readable_names(record)
    assert names | {"stakeholder:Night_ward": "Night ward alone", "constant:Send_home": "Always Send home"} == names
    said = with_names(record, names)
    assert said.warnings == ("Night ward was asked in Night_ward.csv about Send home, not about Send_home_early.",)
    assert said.reward_sources["Night ward"].words == "learned from answers in Night_ward.csv"
    assert (
        list(said.case.metrics) == ["Worst Off", "mean reward"]
        and said.case.metrics["mean reward"].metric == "mean_reward"
    )
    assert [each.name for each in said.case.problem.stakeholders] == ["Night ward", "Town"]
    assert set(said.people.expected) == {"Night ward", "Town"} and "Always Send home" in said.people.decisions
    html = re.sub(r"<wbr>", "", render(record))
    assert "Send home" in html and "Send_home" not in re.sub(
        r"<(code|script)\b.*?</\1>| data-known=\"[^\"]*\"|Send_home_early", "", html, flags=re.DOTALL
    )


def test_two_names_that_differ_by_an_underscore_only_keep_it(records: dict[str, Json]) -> None:
    record = records["underscores"]
    record["case"]["problem"]["stakeholders"][1]["name"] = "Night ward"
    assert "Night_ward" not in readable_names(Record.read(record))
