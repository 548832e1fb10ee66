"""The page while it is closed: a first screen, and folds that say what they hold."""

from __future__ import annotations

import re
from typing import Any

import pytest

from accordant.report.distribution import groupings
from accordant.report.headlines import headlines
from accordant.report.labels import readable_names
from accordant.report.reading import Reading
from accordant.report.render import render
from accordant.report.rules import rules
from accordant.report.scrutiny import findings
from accordant.report.standings import standings
from accordant.report.summary import answer, checks
from accordant.runs.record import Record

Json = dict[str, Any]
FOLD = re.compile(
    r'<details class="fold">\n<summary><h3 id="([a-z-]+)-title">(.+?)</h3> <span class="headline">(.*?)</span></summary>'
    r'\n<section id="\1" aria-labelledby="\1-title">',
    re.DOTALL,
)


def says(record: Json) -> dict[str, str]:
    reading = Reading.named(Record.read(record))
    parts = standings(reading, reading.weighted), groupings(reading)
    return headlines(reading, answer(reading), findings(reading), checks(reading), *parts)


@pytest.mark.few(4)
def test_every_fold_says_its_finding(variant: Json) -> None:
    html = render(Record.read(variant))
    folds = FOLD.findall(html)
    assert [identifier for identifier, _, _ in folds] == re.findall(r'<section id="([a-z-]+)"', html)[1:]
    for identifier, title, words in folds:
        assert title.strip()
        assert words.strip().endswith("."), identifier
        assert "None" not in words


@pytest.mark.few(2)
def test_nothing_but_the_first_screen_stands_unfolded(variant: Json) -> None:
    html = render(Record.read(variant))
    main = html[html.index("<main") : html.index("</main>")]
    main = re.sub(r'<section id="answer".*?</section>', "", main, count=1, flags=re.DOTALL)
    previous = ""
    while previous != main:
        previous, main = main, re.sub(r"<details(?:(?!<details).)*?</details>", "", main, flags=re.DOTALL)
    assert "<table" not in main and "<svg" not in main
    words = re.sub(r"<[^>]*>", " ", main).split()
    assert len(words) < 90


def test_nothing_is_open_at_first_and_printing_opens_all(records: dict[str, Json]) -> None:
    html = render(Record.read(records["scrutinised"]))
    assert "<details open" not in html
    printed = html[html.index("@media print") :]
    assert "details::details-content { content-visibility: visible; block-size: auto; display: block; }" in printed


def test_headlines_follow_from_the_record(records: dict[str, Json]) -> None:
    told = says(records["tiny"])
    assert told["leaderboard"] == "Among the best, with 90% confidence: utilitarian, maximin and Lender alone."
    assert told["data"].endswith("untouched.")
    assert told["stakeholders"] == "Lender and Borrower."
    assert told["trade-off"] == "Differences between scores come from Accuracy (50%), Gap (30%) and Loss (20%)."
    record = records["tiny"]
    record["reward_sources"] = {
        name: {"kind": "table", "words": "stated in the case's table"} for name in ("Lender", "Borrower")
    }
    assert says(record)["stakeholders"] == "Lender and Borrower; rewards stated in the case's table."


@pytest.mark.parametrize("name", ["tiny", "twelve strategies", "undefined"])
def test_dominance_is_counted_as_the_table_shows_it(records: dict[str, Json], name: str) -> None:
    record = records[name]
    html = render(Record.read(record))
    table = html[html.index('id="dominance-caption"') :]
    table = table[: table.index("</table>")]
    free, compared = table.count("<strong>not dominated</strong>"), table.count("<tr") - 1 - table.count('colspan="2"')
    assert says(record)["pareto"].startswith(f"{free} of {compared} candidate")


def test_places_are_those_of_the_orders(records: dict[str, Json]) -> None:
    record = records["tiny"]
    record["selected"] = "maximin"
    scores = {
        side: [row["score"]["value"] for row in record[side]["leaderboard"] if row["candidate"]]
        for side in ("test", "validation")
    }
    own = {
        side: next(row["score"]["value"] for row in record[side]["leaderboard"] if row["strategy"] == "maximin")
        for side in scores
    }
    places = {side: 1 + sum(score is not None and score > own[side] for score in scores[side]) for side in scores}
    ranked = {side: sum(score is not None for score in scores[side]) for side in scores}
    assert says(record)["validation"] == (
        f"maximin has place {places['validation']} of {ranked['validation']} in selection, "
        f"and place {places['test']} of {ranked['test']} on the untouched rows."
    )


def test_rules_that_decide_alike_stand_behind_one_but_the_selected_never(records: dict[str, Json]) -> None:
    record = records["tiny"]
    rows = {row["strategy"]: row for row in record["test"]["leaderboard"]}
    rows["maximin"]["alike"] = rows["stakeholder:Lender"]["alike"] = "constant:Grant"
    record["selected"] = "maximin"
    reading = Reading.named(Record.read(record))
    shown = [line.name for line in reading.shown]
    assert "maximin" in shown and "Lender alone" not in shown
    behind = {rule.line.name: [line.name for line in rule.alike] for rule in rules(reading)}
    assert behind["Always Grant"] == ["Lender alone"]
    assert sum(map(len, behind.values())) == len(reading.lines) - len(reading.shown)
    html = render(Record.read(record))
    table = re.search(r'<caption id="scores-1">.*?</table>', html, re.DOTALL)[0]
    folded = re.search(r'<caption id="scores-1-alike">.*?</table>', html, re.DOTALL)[0]
    assert "Lender alone" not in table.replace("<wbr>", "") and "Lender alone" in folded.replace("<wbr>", "")
    end = "each in one sentence; 1 of them decides as another one does."
    assert says(record)["rules"] == f"{len(reading.lines)} rules, {end}"


def test_every_rule_is_told_in_one_sentence_or_has_none(records: dict[str, Json]) -> None:
    record = records["tiny"]
    names = readable_names(Record.read(record))
    html = render(Record.read(record))
    part = re.search(r'<section id="rules".*?</section>', html, re.DOTALL)[0].replace("<wbr>", "")
    for row in record["test"]["leaderboard"]:
        assert f"<code>{row['strategy']}</code>" in part
        assert names.get(row["strategy"], row["strategy"]) in part


@pytest.mark.few(4)
def test_references_have_no_score(variant: Json) -> None:
    html = render(Record.read(variant))
    table = re.search(r'<caption id="scores-1">.*?</table>', html, re.DOTALL)[0]
    outside = table[table.index('class="outside"') :] if 'class="outside"' in table else ""
    rows = sum(not row["candidate"] for row in variant["test"]["leaderboard"])
    assert outside.count("not scored") == rows == table.count("not scored")
