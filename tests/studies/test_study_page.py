"""The page, the table and the JSON of a study: well-formed, escaped, and of one content."""

from __future__ import annotations

import csv
import io
import json
import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path

import pytest

from accordant.sections import sections
from accordant.studies.comparison import Runs
from accordant.studies.declaration import StudySpec
from accordant.studies.execution import Failure
from accordant.report.charts.curves import MOST_CURVES
from accordant.studies.page import render_study
from tests.drawings import faults
from accordant.studies.result import CellPart, FailurePart, StudyResult
from accordant.studies.summary import differences_text, summarise, table_text
from accordant.studies.terminal import print_study

VOID = {"meta", "br", "wbr", "input"}
EVIL = "<script>alert(1)</script>"


class Page(HTMLParser):
    """Tags and text; complains about wrong nesting."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.open, self.words, self.ids = [], [], [], []
        self.feed(html)
        self.close()
        assert not self.open, self.open
        self.text = " ".join(" ".join(self.words).split())

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.ids += [value for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, tag

    def handle_data(self, data):
        if self.open and self.open[-1] not in {"style", "script"}:
            self.words.append(data)


class Cells:
    """Cells with records made up."""

    def __init__(self, made_up, seeds=3):
        self.cells, self.records = [], {}
        for seed in range(seeds):
            for rows, train in ((60, 60), (None, 120)):
                for variant, gain in (("base", 0.0), ("other", 0.1)):
                    label = f"{variant}, {rows or 'all'} rows"
                    condition = made_up.condition(rows, {"variant": variant}, label)
                    cell = made_up.cell(condition, seed)
                    self.cells.append(cell)
                    found = [
                        made_up.row(name, base + gain + seed / 50 + (train - 60) / 1000, metrics)
                        for name, base, metrics in (
                            ("maximin", 0.6, {"Accuracy": 0.5, "Loss": 0.2 + seed / 9, "Gap": None}),
                            ("constant:yes", 0.4, {"Accuracy": 0.5 + seed / 10, "Loss": 0.3, "Gap": 0.1}),
                            ("oracle", 0.8, {"Accuracy": 1.0, "Loss": 0.0, "Gap": 0.0}),
                        )
                    ]
                    self.records[cell.name] = made_up.record(found, "maximin" if seed else "constant:yes", train)


SAID = [
    {"says": f"Maximin leads {EVIL}", "source": "somebody & Co", "published": "0.9", "higher": "maximin",
     "lower": ["candidates"]},
]  # fmt: skip


@pytest.fixture
def result(made_up):
    world = Cells(made_up)
    study = StudySpec(
        name="own", title=f"A study {EVIL}", case="beds.yaml", seeds=[0, 1, 2], rows=[60, None],
        variants={"base": {}, "other": {}}, compare={"metrics": ["score", "Loss"]}, statements=SAID,
    )  # fmt: skip
    failure = Failure(world.cells[0].name, f"wrong {EVIL}", wrong_input=True)
    return summarise(study, world.cells, world.records, [failure])


def test_the_page_is_well_formed_and_escapes_what_others_wrote(result):
    html = render_study(result)
    page = Page(html)
    assert page.tags.count("script") == 1  # the one of all pages
    assert EVIL in page.text
    assert len(page.ids) == len(set(page.ids))
    for drawing in re.findall(r"<svg.*?</svg>", html, re.DOTALL):
        ET.fromstring(drawing)
    assert "http://" not in html.replace("http://www.w3.org/2000/svg", "") and "https://" not in html
    for words in ("1 run failed", "maximin: 2 of 3", "One thing changed at a time", "came out", "somebody & Co"):
        assert words in page.text, words
    assert "is fair" not in page.text


@pytest.mark.parametrize("columns", [60, 80])
def test_what_is_printed_fits_the_terminal_and_is_whole(result, monkeypatch, capsys, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    print_study(result, Path("out"))
    printed = capsys.readouterr().out
    assert max(map(len, printed.split("\n"))) <= columns and "…" not in printed
    words = " ".join(printed.split())
    for condition in result.conditions:
        for part in (condition.label, str(condition.score), *condition.selected):
            assert part in words


def test_the_page_is_made_of_the_json_alone(result):
    again = StudyResult.read(json.loads(json.dumps(result.to_json())))
    assert again == result
    assert render_study(again) == render_study(result)
    assert sections.factory("study") is StudyResult


def test_a_study_without_any_finished_run_has_a_page(made_up):
    world = Cells(made_up, seeds=1)
    study = StudySpec(name="own", case="beds.yaml", seeds=[0], rows=[60, None], variants={"base": {}, "other": {}})
    empty = summarise(study, world.cells, {}, [Failure(world.cells[0].name, "broken", wrong_input=False)])
    assert "0 of 4 runs are finished" in Page(render_study(empty)).text
    assert empty.words == "0 of 4 runs in 4 conditions."
    assert list(csv.DictReader(io.StringIO(table_text(empty)))) == []


def test_the_table_holds_every_mean(result):
    lines = list(csv.DictReader(io.StringIO(table_text(result))))
    assert len(lines) == 4 * 3 * 4  # conditions, strategies, score and metrics
    for condition in result.conditions:
        for row in condition.leaderboard:
            found = {
                line["metric"]: line for line in lines
                if (line["condition"], line["strategy"]) == (condition.label, row.strategy)
            }  # fmt: skip
            assert float(found["score"]["mean"]) == row.score.value
            assert float(found["Loss"]["mean"]) == row.metrics["Loss"].value
            assert found["Gap"]["mean"] == ("" if row.metrics["Gap"].value is None else str(row.metrics["Gap"].value))
            assert int(found["score"]["selected_runs"]) == condition.selected.get(row.strategy, 0)
            assert (found["score"]["rows"], found["score"]["variant"]) == (
                str(condition.rows or "all"), condition.variants["variant"]
            )  # fmt: skip


def test_the_table_of_differences_holds_both_lists(result):
    lines = list(csv.DictReader(io.StringIO(differences_text(result))))
    differences = [*result.against_baseline, *result.against_strategies]
    assert len(lines) == len(differences) == 3 * 2 + 4
    for line, each in zip(lines, differences, strict=True):
        assert (line["condition"], line["other"], line["in_words"]) == (each.condition, each.other, each.verdict)
        assert line["difference"] == ("" if each.difference.value is None else str(each.difference.value))
    assert [line["list"] for line in lines] == ["baseline condition"] * 6 + ["baseline strategies"] * 4


def test_the_baseline_is_the_first_variant_of_the_largest_size(result):
    assert result.baseline.label == "base, all rows"
    assert {each.other for each in result.against_baseline} == {"base, all rows"}
    assert len(result.against_baseline) == 3 * 2
    gains = {each.condition: each for each in result.against_baseline if each.metric == "score"}
    assert gains["other, all rows"].difference.value == pytest.approx(0.1)
    assert gains["other, all rows"].verdict == "cannot be told" or gains["other, all rows"].difference.low is not None


def test_every_run_is_listed_with_what_became_of_it(result):
    assert len(result.cells) == 12
    assert isinstance(result.cells[0], CellPart) and isinstance(result.failures[0], FailurePart)
    assert {cell.selected for cell in result.cells} == {"maximin", "constant:yes"}
    assert Runs.of([], {}).columns == ()


def test_all_that_is_drawn_lies_in_its_picture_and_can_be_read(result):
    assert faults(render_study(result)) == []


def test_drawings_say_the_means_by_size_and_by_variant(result):
    text = Page(render_study(result)).text
    assert (
        "Mean composite score by training rows D* of each run: from 0.553 to 0.613; maximin: from 0.620 to 0.680; "
        "constant:yes: from 0.420 to 0.480. "
    ) in text
    assert (
        "composite score by variant maximin: base 0.680, other 0.780; constant:yes: base 0.480, other 0.580; oracle: base "
        "0.880, other 0.980. "
    ) in text


def test_as_many_candidates_have_a_curve_as_can_be_told_apart(result):
    """Eight curves, D* among them; the others are candidates, the best at the largest size first."""
    conditions = []
    for condition in result.conditions:
        best = condition.leaderboard[0]
        rows = [best.model_copy(update={"strategy": f"rule {k}"}) for k in range(MOST_CURVES)]
        conditions.append(condition.model_copy(update={"leaderboard": (*rows, *condition.leaderboard)}))
    text = Page(render_study(result.model_copy(update={"conditions": tuple(conditions)}))).text
    told = text.partition("Mean composite score by training rows ")[2].partition(". ")[0]
    assert told.count(": from ") == MOST_CURVES and f"rule {MOST_CURVES - 2}: from" in told
