"""The report as a whole: what it must contain, and what must never be in it."""

from __future__ import annotations

import copy
import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from typing import Any

import pytest

from accordant.evaluation.leaderboard import LeaderboardRow
from accordant.statistics import Estimate
from accordant.evaluation.remarks import remarks
from accordant.report.labels import readable_names
from accordant.report.render import render
from accordant.runs.record import Record
from accordant.report.summary import VERDICT, answer
from accordant.report.reading import Reading
from tests.drawings import faults


def rendered(content):
    """Return the report of the object of a `run.json`."""
    return render(Record.read(content))


Json = dict[str, Any]
VOID = {"meta", "br", "wbr", "input"}


class Page(HTMLParser):
    """Tags with attributes, text without markup, and table cells by caption; complains about wrong nesting."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.words: list[str] = []
        self.rows: list[list[str]] = []
        self.feed(html)
        self.close()
        assert not self.open, f"not closed: {self.open}"
        self.text = " ".join("".join(self.words).split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag == "tr":
            self.rows.append([])
        elif tag in {"td", "th"}:
            self.rows[-1].append("")
        elif tag == "span":
            self.handle_data(" ")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag
        self.words.append(" " if tag not in {"strong", "a", "sup"} else "")

    def handle_data(self, data: str) -> None:
        if {"style", "script"} & set(self.open):
            return
        self.words.append(data)
        if self.rows and {"td", "th"} & set(self.open):
            self.rows[-1][-1] += data

    def attributes(self, name: str) -> list[str]:
        return [value for _, attributes in self.tags for key, value in attributes.items() if key == name and value]


def readable(name: str) -> str:
    return " ".join(name.replace("\x00", "\N{REPLACEMENT CHARACTER}").split())


@pytest.mark.few(2)
def test_every_variant_is_one_well_formed_page(variant: Json) -> None:
    page = Page(rendered(variant))
    identifiers = page.attributes("id")
    assert len(identifiers) == len(set(identifiers))
    for reference in [href[1:] for href in page.attributes("href")] + " ".join(
        page.attributes("aria-labelledby")
    ).split():
        assert reference in identifiers
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in zip(levels, levels[1:], strict=False))


@pytest.mark.long
def test_nothing_leads_out_of_the_file(variant: Json) -> None:
    html = rendered(variant)
    page = Page(html)
    assert not {"link", "img", "iframe", "object", "embed", "base", "form"} & {tag for tag, _ in page.tags}
    assert all(href.startswith("#") for href in page.attributes("href"))
    assert not page.attributes("src")
    assert not re.search(
        r"url\(|@import|javascript:|fetch\(|XMLHttpRequest|WebSocket|import\(|localStorage|innerHTML", html
    )
    assert not [key for _, attributes in page.tags for key in attributes if key.startswith("on")]


@pytest.mark.few(2)
def test_drawings_are_well_formed_and_named(variant: Json) -> None:
    drawings = re.findall(r"<svg.*?</svg>", rendered(variant), flags=re.DOTALL)
    assert drawings
    for drawing in drawings:
        root = ET.fromstring(drawing)
        if root.get("aria-hidden") == "true":
            continue
        name, about = list(root)[:2]
        assert (name.tag.endswith("title"), about.tag.endswith("desc")) == (True, True)
        assert name.text
        assert about.text
        width, height = (float(each) for each in (root.get("viewBox") or "").split()[2:])
        for label in root.iter("{http://www.w3.org/2000/svg}text"):
            assert -1 <= float(label.get("x", "nan")) <= width + 1
            assert 0 <= float(label.get("y", "nan")) <= height
        assert "nan" not in drawing


@pytest.mark.few(1)
def test_same_record_same_bytes(variant: Json) -> None:
    before = copy.deepcopy(variant)
    assert rendered(variant) == rendered(json.loads(json.dumps(variant)))
    assert variant == before


@pytest.mark.few(2)
def test_every_strategy_metric_and_stakeholder_appears(variant: Json) -> None:
    text, names = Page(rendered(variant)).text, readable_names(Record.read(variant))
    for row in variant["test"]["leaderboard"]:
        assert readable(row["strategy"]) in text
    for column in variant["test"]["metrics"]:
        assert names.get(column["label"], column["label"]) in text
    for stakeholder in variant["case"]["problem"]["stakeholders"]:
        assert readable(stakeholder["name"]) in text


def test_hostile_names_stay_text(records: dict[str, Json]) -> None:
    html = rendered(records["hostile"])
    assert re.findall("<script[^>]*>", html) == [
        '<script type="module">',
        '<script type="application/json" id="run-data">',
    ]
    assert "\x00" not in html
    assert "49" not in Page(html).text.split("alert(1)")[1][:20]  # a template in a name is not evaluated
    assert "<script>alert(1)</script>" in Page(html).text


@pytest.mark.few(2)
def test_numbers_in_the_leaderboard_are_those_of_the_record(variant: Json) -> None:
    page = Page(rendered(variant))
    weighted = sorted((m for m in variant["test"]["metrics"] if m["weight"] > 0), key=lambda m: -m["weight"])[:5]
    names = readable_names(Record.read(variant))
    for row in variant["test"]["leaderboard"]:
        name = readable(names.get(row["strategy"], row["strategy"]))
        found = [
            cells
            for cells in page.rows
            if len(cells) == 5 + len(weighted) and readable(cells[0]).startswith(f"{name} ") and not cells[1]  # drawn
        ]
        assert len(found) == 1
        score, metrics = found[0][2], found[0][5:]
        if row["candidate"]:
            assert_shows(score, row["score"], "unranked")
        else:
            assert score == "not scored"
        for column, text in zip(weighted, metrics, strict=True):
            assert_shows(text, row["metrics"][column["label"]], "not defined")


def assert_shows(text: str, estimate: Json, absent: str) -> None:
    if estimate["value"] is None:
        assert absent in text
        return
    plain = text.replace("\N{MINUS SIGN}", "-").replace("\N{NARROW NO-BREAK SPACE}", "").split("not defined")[0]
    numbers = [float(each) for each in re.findall(r"-?\d+(?:\.\d+)?", plain)]
    digits = len(re.findall(r"\d+\.?(\d*)", plain)[0])
    wanted = [estimate[part] for part in ("value", "low", "high") if estimate[part] is not None]
    assert numbers == [pytest.approx(each, abs=0.5001 * 10.0**-digits) for each in wanted]


def test_undefined_is_said_with_n_and_reason(records: dict[str, Json]) -> None:
    text = Page(rendered(records["undefined"])).text
    assert "not defined (n=0: group '1' of type has no contexts given a favourable action (n=0))" in text
    assert "not defined on 12.5% of resamples" in text
    assert "not defined (n=" not in Page(rendered(records["tiny"])).text
    assert "not defined (n=0: no untouched row is in this group)" in Page(rendered(records["intersections"])).text
    assert "None" not in re.sub(r"<style>.*?</style>", "", rendered(records["all undefined"]), flags=re.DOTALL)


@pytest.mark.few(2)
def test_a_constant_on_top_is_said_on_top_and_only_then(variant: Json) -> None:
    text = Page(rendered(variant)).text
    applies = any(VERDICT in remark for remark in variant["test"]["remarks"])
    assert ("No strategy earns its cost on this score" in text) == applies
    if applies:
        assert text.index(VERDICT) < text.index("Selected of ")


def test_verdict_is_recognised_in_the_sentences_of_the_evaluation() -> None:
    def row(name: str, kind: str, value: float) -> LeaderboardRow:
        return LeaderboardRow(name, kind, True, Estimate(value), None, None, 0.0, value < 0.9, {})

    always = {"constant:Grant": "Grant", "maximin": None}
    for best in (0.9, 0.8):
        rows = [row("constant:Grant", "baseline", 0.9), row("maximin", "compromise", best)]
        said = remarks(rows, (), "constant:Grant", always, 90)
        assert VERDICT in said[0]
    rows = [row("maximin", "compromise", 0.95), row("constant:Grant", "baseline", 0.9)]
    assert VERDICT not in " ".join(remarks(rows, (), "constant:Grant", always, 90))


def test_answer_names_selection_score_and_constant(records: dict[str, Json]) -> None:
    said = Page(rendered(records["tiny"])).text
    assert "What was decided utilitarian." in said
    assert "Selected of 5 candidates by its score on 160 training rows, held out in turn." in said
    assert "its score is 0.900 (90% interval [0.870, 0.950])" in said
    constant = "(Always Grant) scores 0.750 (90% interval [0.720, 0.800])"
    assert f"{constant}, less than the selected strategy" in said
    on_top = Page(rendered(records["constant on top"])).text
    assert "Always Grant scores 0.900 [0.870, 0.950], and no strategy scores higher" in on_top
    assert "The same action for everybody" not in on_top  # said once


@pytest.mark.parametrize(
    ("position", "among", "end"),
    [
        (0, [True, False, False, False, False], "rows, and all others are shown to be worse."),
        (
            0,
            [True, False, True, False, False],
            "the selected strategy, has the highest composite score on these rows.",
        ),
        (1, [True, False, False, False, False], "rows; the selected strategy is shown not to be the best."),
        (1, [True, True, False, False, False], "rows; the selected strategy cannot be told from the best."),
        (1, [None] * 5, "utilitarian has the highest composite score on these rows."),
    ],
)
def test_answer_says_whether_the_selected_one_is_told_from_the_best(
    records: dict[str, Json], position: int, among: list[bool | None], end: str
) -> None:
    record = records["tiny"]
    record["selected"] = record["test"]["leaderboard"][position]["strategy"]
    for row, told in zip(record["test"]["leaderboard"], among, strict=False):
        row["among_best"] = told
    assert end in answer(Reading.of(record)).sentences[-1].striptags()


def test_a_baseline_above_the_constant_is_named_beside_the_verdict(records: dict[str, Json]) -> None:
    record = records["constant on top"]
    assert answer(Reading.of(record)).exceptions == ()
    name = record["test"]["leaderboard"][1]["strategy"]
    record["test"]["leaderboard"][1] |= {
        "kind": "baseline",
        "score": record["test"]["leaderboard"][0]["score"] | {"value": 0.95},
    }
    assert answer(Reading.of(record)).exceptions == (name,)
    assert f"Only baselines score above that constant: {name}." in Page(rendered(record)).text


def test_simulated_or_given_is_said(records: dict[str, Json]) -> None:
    assert "simulated, not about real people" in Page(rendered(records["bare"])).text
    assert "simulated, not about real people" not in Page(rendered(records["tiny"])).text
    assert "--data PATH" not in Page(rendered(records["bare"])).text
    assert "accordant run tiny --seed 7 --data PATH" in Page(rendered(records["tiny"])).text


def test_overlap_and_proxies_are_shown_where_they_were_recorded(records: dict[str, Json]) -> None:
    page = Page(rendered(records["continuous"]))
    rows = [[" ".join(cell.split()) for cell in row] for row in page.rows]
    assert ["A", "90", "0.010 to 0.875", "25%", "41.5"] in rows
    assert ["type", "no", "0.938", "0.500"] in rows
    assert ["other", "yes", "not defined", "1.000"] in rows
    assert "Overlap:" not in Page(rendered(records["tiny"])).text


@pytest.mark.parametrize(
    ("weights", "said"),
    [((0.4, 0.3, 0.3, 0), True), ((0.25,) * 4, True), ((0.4, 0.4, 0.2, 0), False), ((0.5, 0.5, 0, 0), False)],
)
def test_metrics_with_the_weight_of_those_that_are_drawn_are_mentioned(
    records: dict[str, Json], weights: tuple[float, ...], said: bool
) -> None:
    record = records["tiny"]
    for metric, weight in zip(record["test"]["metrics"], weights, strict=True):
        metric["weight"] = weight
    html = rendered(record)
    assert "The two metrics with the largest weights" in html
    assert ("of several with equal weight, those declared first" in html) is said


def test_no_card_no_verdict(records: dict[str, Json]) -> None:
    assert "this report gives no verdict about any criterion" in Page(rendered(records["bare"])).text
    text = Page(rendered(records["tiny"])).text
    assert "For card tiny-card , version 3" in text.replace("tiny-card,", "tiny-card ,")


@pytest.mark.long
def test_no_result_is_called_fair(variant: Json) -> None:
    assert not re.search(r"\b(is|are) (un)?fair\b", Page(rendered(variant)).text)


@pytest.mark.few(2)
def test_every_table_has_a_caption_and_every_scroll_box_takes_focus(variant: Json) -> None:
    html = rendered(variant)
    assert html.count("<table") == html.count("<caption")
    boxes = re.findall(r'<div class="scroll[^>]*>', html)
    assert len(boxes) == html.count("<table")
    assert all('tabindex="0"' in box and 'role="group"' in box for box in boxes)


@pytest.mark.long
def test_rendering_needs_neither_scikit_learn_nor_matplotlib() -> None:
    check = "import sys, accordant.report.render; print([m for m in ('sklearn', 'matplotlib') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_candidates_that_are_never_selected_are_named(records: dict[str, Json]) -> None:
    record = records["tiny"]
    told = {
        name: (about["candidate"], about["selectable"])
        for name, about in (
            ("utilitarian", {"candidate": True, "selectable": True}),
            ("maximin", {"candidate": True, "selectable": False}),
            ("oracle", {"candidate": False, "selectable": False}),
            ("random", {"candidate": False, "selectable": True}),
        )
    }
    for name, about in record["strategies"].items():
        about["candidate"], about["selectable"] = told.get(name, (True, True))
    assert "Never selected by design: maximin. Places count" in Page(rendered(record)).text
    for about in record["strategies"].values():
        about["selectable"] = True
    assert "Never selected by design" not in Page(rendered(record)).text


LEARNED = {
    "kind": "comparisons", "words": "learned from 9 comparisons by 3 people in <b>.csv (sha256 0123456789ab…)",
    "replaces": "the case's table", "given": True, "file": "<b>.csv", "sha256": "0123456789abcdef", "records": 9,
    "users": 3, "learner": "bradley_terry", "aggregation": "pooled", "agreement": 0.75, "log_loss": 0.5,
}  # fmt: skip


def test_the_page_says_early_where_each_reward_comes_from(records: dict[str, Json]) -> None:
    tiny = copy.deepcopy(records["tiny"])
    first, *others = [each["name"] for each in tiny["case"]["problem"]["stakeholders"]]
    stated = {"kind": "table", "words": "stated in the case's table"}
    page = Page(rendered(tiny | {"reward_sources": {first: LEARNED, **dict.fromkeys(others, stated)}}))
    start, end = (
        page.text.index(words) for words in ("Everything below rests on these rewards", "The composite score is")
    )
    asked = page.text[start:end]
    assert f"Reward: {LEARNED['words']}, instead of the case's table. It agrees with 75% of them." in asked
    assert asked.count("Reward: stated in the case's table.") == len(others)
    assert f"its scope card were written for other rewards of {first}." in asked
    assert f"--preferences '{first}=<b>.csv' --seed" in page.text


def test_the_page_of_a_record_without_sources_only_says_who_there_is(records: dict[str, Json]) -> None:
    page = Page(rendered(records["tiny"]))
    assert "Stakeholders and their rewards" in page.text and "Reward: " not in page.text


@pytest.mark.few(2)
def test_all_that_is_drawn_lies_in_its_picture_and_can_be_read(variant):
    assert faults(rendered(variant)) == []
