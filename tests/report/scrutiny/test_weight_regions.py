"""The weights behind the winner, on two candidates whose border is known."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from accordant.evaluation.weighting import UndominatedScores, Weighing, weight_sensitivity
from accordant.evaluation.weighting.regions import regions_of
from accordant.report.reading import Reading
from accordant.report.render import render
from accordant.runs.record import Record
from accordant.report.scrutiny.weight_regions import weighed


def rendered(content):
    """Return the report of the object of a `run.json`."""
    return render(Record.read(content))


Json = dict[str, Any]


def weighing(rows: dict[str, list[float]], weights: list[float]) -> Json:
    """Return regions and borders of normalised values."""
    metrics = [f"m{k}" for k in range(len(weights))]
    scores = UndominatedScores.of(np.array(list(rows.values())), list(rows), metrics, weights)
    regions = regions_of(scores, generator=np.random.default_rng(0), draws=1000, level=0.9)
    found = weight_sensitivity(scores, {region.strategy: region.status == "wins" for region in regions.regions})
    return Weighing(regions, found, None, None).to_json()


@pytest.fixture
def record(records: dict[str, Json]) -> Json:
    """`a` wins where m0 weighs more than a quarter."""
    rows = {"a": [1.0, 0.0], "b": [0.0, 1 / 3], "c": [0.0, 0.25]}
    return records["scrutinised"] | {
        "scrutiny": records["scrutinised"]["scrutiny"] | {"weights": weighing(rows, [0.75, 0.25])}
    }


def said(record: Json) -> list[str]:
    return [each.striptags() for each in weighed(Reading.of(record)).sentences]


def test_winner_share_and_nearest_border(record: Json) -> None:
    assert said(record) == [
        "At the chosen weights a has the highest score on the untouched rows, and so at 75% of all weights that could have "
        "been chosen.",
        "1 of 3 different candidates win at no weights, or only on a border.",
        "If 50 percentage points of weight moved from m0 to m1, b would be level with a, which is ahead on the untouched "
        "rows, and take over beyond that.",
    ]
    found = weighed(Reading.of(record))
    assert [(each.rival, each.points, each.giving, each.taking, each.wins_from) for each in found.shifts] == [
        ("b", "50", "m0", "m1", "50"), ("c", "55", "m0", "m1", "–"),
    ]  # fmt: skip
    assert [(each.name, each.region, each.detail) for each in found.standings] == [
        ("a", "75%", ""), ("b", "25%", ""), ("c", "nowhere", "dominated by b"),
    ]  # fmt: skip
    assert found.map is not None
    assert "Regions: 1 a, 2 b. Chosen weights: m0 75%, m1 25%." in found.map


def test_equal_candidates_share_their_region(record: Json) -> None:
    rows = {"a": [1.0, 0.0], "twin": [1.0, 0.0], "b": [0.0, 1.0]}
    record["scrutiny"]["weights"] = weighing(rows, [0.75, 0.25])
    assert said(record)[0].startswith("At the chosen weights a and twin have the highest score")
    assert "1 a +1: 50% ★" in (weighed(Reading.of(record)).bars or "")
    assert [(each.name, each.detail) for each in weighed(Reading.of(record)).standings][:2] == [
        ("a", "shared by 2 with equal values"), ("twin", "shared by 2 with equal values"),
    ]  # fmt: skip


def test_a_border_at_the_chosen_weights_is_said(record: Json) -> None:
    record["scrutiny"]["weights"] = weighing({"a": [1.0, 0.0], "b": [0.0, 1.0]}, [0.5, 0.5])
    assert said(record)[-1] == "b is level with a at the chosen weights: the smallest change decides between them."


def test_a_winner_whom_no_weights_beat(record: Json) -> None:
    record["scrutiny"]["weights"] = weighing({"a": [1.0, 1.0], "b": [0.5, 0.5]}, [0.5, 0.5])
    assert said(record)[-1] == "No weights bring another candidate ahead."
    assert weighed(Reading.of(record)).cannot == ("b",)
    assert "No weights bring ahead of the winner: b." in rendered(record)


def test_a_single_metric_leaves_nothing_to_choose(records: dict[str, Json]) -> None:
    found = weighed(Reading.of(records["scrutinised, one metric"]))
    assert found.sentences[0].startswith("Only one metric has weight, Accuracy, so there are no weights to choose;")
    assert found.bars is None
    assert found.map is None


@pytest.mark.parametrize(("name", "drawn"), [("two metrics", "strip"), ("many metrics", ""), ("hostile", "triangle")])
def test_regions_are_drawn_for_two_and_three_metrics(records: dict[str, Json], name: str, drawn: str) -> None:
    found = weighed(Reading.of(records[f"scrutinised, {name}"]))
    assert found.bars is not None
    assert bool(found.map) == bool(drawn)
    if name == "many metrics":
        assert found.draws == 500
        assert 'class="interval"' in found.bars  # shares of drawn weights have limits


def test_survival_is_that_of_the_record(records: dict[str, Json]) -> None:
    record = records["scrutinised"]
    survival = {each["strategy"]: each for each in record["scrutiny"]["weights"]["sampling_error"]["strategies"]}
    found = weighed(Reading.of(record))
    assert {each.name for each in found.standings} == set(survival)
    for each in found.standings:
        assert each.share[:2] in f"{100 * survival[each.name]['share']:.1f}% < 0.1%"
    assert found.resamples == 5
    without = copy.deepcopy(record)
    without["scrutiny"]["weights"]["sampling_error"] = None
    assert "Over resamples" not in rendered(without)
    assert "Over resamples" in rendered(record)


def test_who_is_left_out_is_named_with_the_reason(record: Json) -> None:
    record["scrutiny"]["weights"]["regions"]["left_out"] = {"oracle": "not a candidate", "d": "not defined: m0"}
    assert weighed(Reading.of(record)).left_out == {"d": "not defined: m0"}
    assert "Left out: d (not defined: m0)." in rendered(record)
