"""The first screen: what it says follows from the record, and each link leads to a fold."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from markupsafe import Markup

from accordant.report.labels import readable_names
from accordant.report.overview import in_short, overview
from accordant.report.reading import Reading
from accordant.report.render import render
from accordant.report.scrutiny import findings
from accordant.report.statements import changes
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


@pytest.mark.few(2)
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
        "Against utilitarian (highest sum): higher for Borrower, lower for Lender.", "Against Always Grant (best constant): equal for everybody.",
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


def test_actions_are_told_where_metrics_or_rows_have_them(records: dict[str, Json]) -> None:
    record = records["tiny"]
    record["case"]["metrics"]["Extra"] = {"metric": "share_of_action", "parameters": {"action": "Grant"}}
    for row in record["test"]["leaderboard"]:
        row["metrics"]["Extra"]["value"] = 0.25
    said = seen(record).statements[0].words
    assert "It takes Deny in 75% and Grant in 25% of the 40 untouched rows." in said  # what is left is the other action
    record["case"]["metrics"]["Gap"] = {"metric": "share_of_action", "parameters": {"action": "Deny", "percent": True}}
    for row in record["test"]["leaderboard"]:
        row["metrics"]["Gap"]["value"] = 75.0
    assert "It takes Deny in 75% and Grant in 25% of the 40 untouched rows." in seen(record).statements[0].words
    del record["case"]["metrics"]["Gap"], record["case"]["metrics"]["Extra"], record["people"]
    assert "It takes" not in seen(record).statements[0].words


@pytest.mark.parametrize(("rows", "about"), [(4, ""), (9, "about ")])
def test_actions_are_counted_in_the_rows_of_the_page(records: dict[str, Json], rows: int, about: str) -> None:
    record = records["tiny"]
    record["people"] = {
        "rows": [0, 1, 2, 3], "n": rows, "expected": {"Lender": [[0.5, 0.5]] * 4, "Borrower": [[0.5, 0.5]] * 4},
        "decisions": {record["selected"]: [0, 1, 1, 1], "random": [0, 0, 0, 1]},
    }  # fmt: skip
    record["strategies"]["random"] = {
        "name": "logged", "kind": "baseline", "candidate": False, "note": "", "selectable": False, "parameters": {},
    }  # fmt: skip
    told = f"It takes {about}Deny in 75% and Grant in 25% of the 40 untouched rows; what was done: {about}Grant in 75% and Deny in 25%."
    assert told in seen(record).statements[0].words
    record["people"]["decisions"]["random"] = [1, 1, 1, 0]
    same = f"untouched rows; what was done has the same shares, but differs in {about}50% of the rows."
    assert same in seen(record).statements[0].words
    record["people"]["decisions"]["random"] = record["people"]["decisions"][record["selected"]]
    assert "untouched rows; what was done has the same shares." in seen(record).statements[0].words


def test_whom_a_selection_consults_is_said_first(records: dict[str, Json]) -> None:
    record = records["tiny"]
    consults = record["selection"]["consults"] = "It decides by what Lender wants and consults nobody else."
    assert seen(record).statements[0].words.startswith(f"<strong>utilitarian</strong>. {consults} ")
    record["strategies"][record["selected"]] = {
        "name": "stakeholder", "kind": "baseline", "candidate": True, "note": "", "selectable": True,
        "parameters": {"stakeholder": "Lender"},
    }  # fmt: skip
    assert "The rule:" not in seen(record).statements[0].words


def test_terms_of_bargaining_are_said_in_words(records: dict[str, Json]) -> None:
    record = records["tiny"]
    record["strategies"][record["selected"]] = {
        "name": "nash_bargaining", "kind": "compromise", "candidate": True, "note": "", "selectable": True,
        "parameters": {},
    }  # fmt: skip
    told = "The rule: maximise the product of gains over what each gets without agreement."
    assert told in seen(record).statements[0].words


def test_simulated_rows_are_said_above_the_title(records: dict[str, Json]) -> None:
    record = records["tiny"]
    for simulated in (True, False):
        record["data"]["simulated"] = simulated
        above = render(Record.read(record)).split("<h1>")[0]
        assert ("<strong>simulated data</strong>" in above) == simulated


def test_the_score_is_told_with_its_weights(records: dict[str, Json]) -> None:
    made = "The score, a value judgement, is a weighted mean of Accuracy (50%), Gap (30%) and Loss (20%)."
    assert made in seen(records["tiny"]).statements[0].words
    assert "and 11 more metrics (78.6%)." in seen(records["many metrics"]).statements[0].words
    assert "is the metric " in seen(records["bare"]).statements[0].words


@pytest.mark.parametrize(
    ("position", "among", "words"),
    [
        (0, [True, False, False, False, False], "It is shown to be the best of those compared."),
        (0, [True, True, True, False, False], "It may be the best: the rows do not tell it from 2 others."),
        (1, [True, True, False, False, False], "the rows do not tell it from 1 other, utilitarian with the highest score, 0.900."),
        (1, [True, False, False, False, False], "It is shown not to be the best: others score higher, utilitarian with the highest score, 0.900, among them."),
        (0, [None] * 5, "Not known: it was not compared with the others."),
    ],
)  # fmt: skip
def test_how_sure_it_is_comes_first_and_in_words(
    records: dict[str, Json], position: int, among: list[bool | None], words: str
) -> None:
    record = records["tiny"]
    record["selected"] = record["test"]["leaderboard"][position]["strategy"]
    for row, told in zip(record["test"]["leaderboard"], among, strict=False):
        row["among_best"] = told
    assert words in seen(record).statements[1].words.split("</strong>")[0]


def test_without_a_gain_it_is_said_first(records: dict[str, Json]) -> None:
    said = seen(records["constant on top"]).statements[1].words
    told = "No gain from deciding case by case is seen, and the rows do not tell it from 2 others."
    assert said.startswith(f"<strong>{told}</strong>")


def test_other_rules_are_explained_where_they_are_named_first(records: dict[str, Json]) -> None:
    record = records["tiny"]
    record["strategies"] |= {
        name: {"name": name, "kind": "compromise", "candidate": True, "note": "", "selectable": True, "parameters": {}}
        for name in ("utilitarian", "maximin")
    }
    record["selected"] = "maximin"
    named = seen(record).rules
    assert named.title == "Other rules named here"
    assert named.words.striptags() == "utilitarian: maximise the weighted mean of expected rewards."
    screen = first_screen(record)
    assert screen.index("Who gains and who loses") < screen.index(named.title) < screen.index("How sure that is")
    record["selected"] = "utilitarian"
    assert seen(record).rules is None  # constants say what they do


def test_how_many_strategies_share_values_is_left_to_the_part_on_weights(records: dict[str, Json]) -> None:
    weighed = findings(Reading.named(Record.read(records["scrutinised"])))
    border = Markup("a <strong>b</strong> (2 others with equal values) and c (1 other with equal values), ahead")
    shared = replace(weighed, weighed=replace(weighed.weighed, sentences=(border,)))
    assert changes(shared).words.startswith("a <strong>b</strong> and c, ahead ")


def test_a_quick_look_and_guesses_are_told_before_all_else(records: dict[str, Json]) -> None:
    record = records["tiny"]
    assert seen(record).alarms == ()
    assert "Rewards are stated or learned" in " ".join(seen(record).unseen)
    record["learning"]["effort"] = "quick"
    record["reward_sources"] = {name: {"kind": "guessed", "words": "guessed"} for name in ("Lender", "Borrower")}
    found = seen(record)
    assert [word for word, _ in found.alarms] == ["This is a quick look", "Rewards are guesses"]
    assert "Nobody has said yet what Lender and Borrower want" in found.alarms[1][1]
    assert "stated or learned" not in first_screen(record)
    assert "<strong>Not yet</strong>: the rewards of Lender and Borrower are guesses" in first_screen(record)
    record["reward_sources"]["Lender"]["kind"] = "table"
    found = seen(record)
    assert "Nobody has said yet what Borrower wants" in found.alarms[1][1]
    assert "Other rewards are stated or learned" in " ".join(found.unseen)
    del record["reward_sources"]
    assert "<strong>Not yet</strong>: this is a quick look" in first_screen(record)


def test_what_was_not_asked_is_said_until_it_is(records: dict[str, Json]) -> None:
    unseen = " ".join(seen(records["tiny"]).unseen)
    assert "Not asked of this run yet: a debate, lists and why one person's decision was taken." in unseen
    assert "Certificates, conflicts and weights were not looked at." in unseen
    unseen = " ".join(seen(records["scrutinised"], frozenset({"talks", "lists"})).unseen)
    assert "Not asked of this run yet: why one person's decision was taken." in unseen
    assert "Certificates" not in unseen
    assert "Not asked" not in " ".join(seen(records["tiny"], frozenset({"talks", "lists", "person"})).unseen)
    assert any("Not on people" in each.words for each in seen(records["bare"]).statements)


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


def test_in_short_is_the_first_screen_as_plain_text_without_what_would_change_it(records: dict[str, Json]) -> None:
    for name in ("tiny", "scrutinised", "bare"):
        told = dict(in_short(Record.read(records[name])))
        screen = {each.title: each.words.striptags() for each in seen(records[name]).statements}
        assert {title: told[title] for title in screen if title in told} == {
            title: words for title, words in screen.items() if title != "What would change it"
        }
        assert set(told) - set(screen) <= {"Who gains and who loses"} and not any("<" in text for text in told.values())
    assert list(told)[0] == "What was decided"
