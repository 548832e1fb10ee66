"""What the script of the page gets: numbers of the record and nothing else, under a policy that names it by its hash."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from typing import Any

import pytest

from accordant.report.charts.svg import printable
from accordant.report.page import script_data
from accordant.report.reading import Reading
from accordant.report.render import render
from accordant.runs.record import Record

Json = dict[str, Any]


def data(record: Json) -> Json:
    text = re.search(
        r'<script type="application/json" id="run-data">(.*?)</script>', render(Record.read(record)), re.DOTALL
    )[1]
    return json.loads(text)


@pytest.mark.few(4)
def test_the_policy_names_the_style_and_the_script_that_stand_in_the_page(variant: Json) -> None:
    html = render(Record.read(variant))
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', html)[1]
    assert policy.replace("&#39;", "'").startswith("default-src 'none'; ")
    for kind, start, end in (("style", "<style>", "</style>"), ("script", '<script type="module">', "</script>")):
        text = html[html.index(start) + len(start) : html.index(end, html.index(start))]
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy.replace("&#39;", "'")
    assert "unsafe" not in policy
    assert not re.search(r'<[^>]+ (style|on\w+)="', html)


def test_data_never_ends_their_element() -> None:
    values = {"</script><script>": ["<!--", "a & b", "\u2028", "\x00\u202e"]}
    text = str(script_data(values))
    assert not re.search(r"[<>&\u2028\x00]", text)
    assert json.loads(text) == {"</script><script>": ["<!--", "a & b", "\u2028", "\N{REPLACEMENT CHARACTER}" * 2]}


@pytest.mark.few(2)
def test_boards_hold_the_normalised_values_of_the_record_as_they_are(variant: Json) -> None:
    given, reading = data(variant), Reading.named(Record.read(variant))
    board, rows = given["boards"]["test"], variant["test"]["leaderboard"]
    assert board["labels"] == [printable(row["strategy"]) for row in rows]
    assert board["known"] == [column["label"] for column in variant["test"]["metrics"]]
    assert board["names"] == [printable(row.strategy) for row in reading.record.test.leaderboard]
    assert board["values"] == [[row["metrics"][label]["normalised"] for label in board["known"]] for row in rows]
    assert given["selected"] == reading.record.selected
    baselines = [row["kind"] == "baseline" for row in rows]
    assert [baselines[place] for place in board["declared"]] == sorted(baselines, reverse=True)


@pytest.mark.parametrize("name", ["tiny", "intersections"])
def test_groups_of_the_first_table_have_two_rows_or_more(records: dict[str, Json], name: str) -> None:
    record = records[name]
    html, among = render(Record.read(record)), data(record)["among"]
    options = re.findall(r'<option value="\d+">(.*?), (\d+) rows</option>', html)
    sizes = {row["n"] for table in record["groups"] for row in table["rows"]}
    assert len(options) == len(among) > 1
    assert {int(n) for _, n in options} == {n for n in sizes if n > 1}
    assert all(len(cells) == len(record["case"]["problem"]["stakeholders"]) for cells in among)


def test_rows_one_by_one_are_there_if_the_record_keeps_them(records: dict[str, Json]) -> None:
    record = records["tiny"]
    people = data(record)["people"]
    assert people["rows"] == record["people"]["rows"] and people["expected"] == record["people"]["expected"]
    assert people["decisions"]["Always Grant"] == record["people"]["decisions"]["constant:Grant"]
    assert set(people) == {"rows", "actions", "expected", "decisions"}  # and no feature of anybody
    html = render(Record.read(record))
    assert "6 of 40 untouched rows, evenly spaced" in html and 'id="people"' in html
    del record["people"]
    assert data(record)["people"] is None and 'id="people"' not in render(Record.read(record))


@pytest.mark.parametrize(("n", "there"), [(1, False), (2, True)])
def test_rows_one_by_one_are_there_if_there_is_more_than_one(records: dict[str, Json], n: int, there: bool) -> None:
    record = records["tiny"]
    kept = record["people"]
    record["people"] = {
        "rows": kept["rows"][:n],
        "n": kept["n"],
        "expected": {name: rows[:n] for name, rows in kept["expected"].items()},
        "decisions": {name: rows[:n] for name, rows in kept["decisions"].items()},
    }
    assert (data(record)["people"] is not None) == there
    assert ('id="people"' in render(Record.read(record))) == there


def test_metrics_without_a_range_cannot_carry_weight_on_the_natural_scale(records: dict[str, Json]) -> None:
    record = records["tiny"]
    assert 'data-known="Extra"' in render(Record.read(record))
    record["test"]["metrics"][-1]["range"] = None
    assert 'data-known="Extra"' not in render(Record.read(record))
    record["test"]["normalisation"] = "relative"
    assert 'data-known="Extra"' in render(Record.read(record))
