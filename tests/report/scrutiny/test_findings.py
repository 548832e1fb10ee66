"""All sections together: there with a scrutiny, and not there without."""

from __future__ import annotations

import re
from typing import Any

import pytest

from accordant.errors import SpecError
from accordant.report.reading import Reading
from accordant.report.render import render
from accordant.runs.record import Record
from accordant.report.scrutiny import findings


def rendered(content):
    """Return the report of the object of a `run.json`."""
    return render(Record.read(content))


Json = dict[str, Any]
SECTIONS = ("weights", "conflict", "deciders", "trust")


@pytest.mark.parametrize("name", ["tiny", "bare", "long names"])
def test_a_record_without_scrutiny_leaves_the_sections_out(records: dict[str, Json], name: str) -> None:
    html = rendered(records[name])
    assert findings(Reading.of(records[name])) is None
    assert not [each for each in SECTIONS if f'id="{each}"' in html or f'href="#{each}"' in html]
    assert rendered(records[name] | {"scrutiny": None}) == html


def test_sections_are_there_in_order_and_in_the_contents(records: dict[str, Json]) -> None:
    html = rendered(records["scrutinised"])
    order = re.findall(r'<section id="([a-z-]+)"', html)
    assert order == [
        "answer", "move", "people", "stakeholders", "data", "models", "rules", "leaderboard", "distribution", "trade-off", "pareto",
        "validation", "conflict", "weights", "deciders", "trust", "scope", "reproduction",
    ]  # fmt: skip
    chapters = re.findall(r'<section class="chapter" id="([a-z-]+)"', html)
    assert chapters == ["asked", "follows", "deciding", "conflicts", "confidence", "person", "made"]
    assert re.findall(r'<li><a href="#([a-z-]+)">', html) == chapters
    assert '<section class="chapter needs-script" id="try"' in html


@pytest.mark.parametrize("part", ["certificates", "influence", "weights", "conflict", "by_strategy"])
def test_a_part_that_is_missing_is_an_error_and_not_an_empty_section(records: dict[str, Json], part: str) -> None:
    record = records["scrutinised"]
    del record["scrutiny"][part]
    with pytest.raises(SpecError, match=part):
        rendered(record)


def test_without_a_ranked_candidate_the_reason_takes_the_place_of_weights(records: dict[str, Json]) -> None:
    record = records["scrutinised"]
    record["scrutiny"] |= {"weights": None, "unweighed": "no candidate is defined on all of Accuracy"}
    html = rendered(record)
    assert "There is no winner to look behind: no candidate is defined on all of Accuracy." in html
    assert 'id="weights"' in html
    assert 'id="survival-caption"' not in html


def test_other_sections_stay_as_they_are(records: dict[str, Json]) -> None:
    plain, more = rendered(records["tiny"]), rendered(records["scrutinised"])
    for name in ("leaderboard", "trade-off", "pareto", "distribution", "models"):
        part = re.compile(rf'<section id="{name}".*?</section>', re.DOTALL)
        assert part.findall(plain) == part.findall(more) != []
