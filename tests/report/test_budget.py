"""A line that goes beyond a limit is named on the first screen, and its table stands in a fold."""

from __future__ import annotations

import copy
import re
from typing import Any

import pytest

from accordant.report.render import render
from accordant.runs.record import Record

Json = dict[str, Any]
SENTENCE = "constant:Grant leads by taking Grant for everybody, and <nobody> declared that it is scarce."


def with_budget(record: Json, *, declared: bool) -> Json:
    found = copy.deepcopy(record)
    found["scrutiny"]["budget"] = {
        "winner": "constant:Grant", "action": "Grant", "share": 0.3, "declared": declared, "sentence": SENTENCE,
        "words": "Grant for at most 30.0% of people", "board": found["test"],
    }  # fmt: skip
    return found


@pytest.mark.parametrize("declared", [False, True])
def test_the_page_says_it_and_shows_the_table(records: dict[str, Json], declared: bool) -> None:
    record = records["scrutinised, intersections"]
    html = render(Record.read(with_budget(record, declared=declared)))
    first = re.search(r'<section id="answer".*?</section>', html, re.DOTALL)[0]
    assert "&lt;nobody&gt; declared that it is scarce" in first and '<a href="#budget"' in first
    assert ("A limit of the case is exceeded" in first) == declared
    fold = re.search(r'<section id="budget".*?</section>', html, re.DOTALL)[0]
    assert "Grant for at most 30.0% of people" in fold
    assert fold.count("<tr><th") == len(record["test"]["leaderboard"]) + 1
    assert ("The log shows what was enough so far" in fold) != declared


def test_without_it_nothing_is_said(records: dict[str, Json]) -> None:
    html = render(Record.read(records["scrutinised, intersections"]))
    assert 'id="budget"' not in html and "Nobody declared what is scarce" not in html
