"""Certified ranges of metrics: what is exact, what is sound, and what has no end."""

from __future__ import annotations

from typing import Any

import pytest

from accordant.report.render import render
from accordant.runs.record import Record
from accordant.runs.record.scrutiny import BoundPart
from accordant.report.scrutiny.misreports import bounds_of


def rendered(content):
    """Return the report of the object of a `run.json`."""
    return render(Record.read(content))


Json = dict[str, Any]


def bound(metric: str = "Gap", coalition: list[str] | None = None, **changes: object) -> BoundPart:
    threat = {"delta": 0.05, "coalition": coalition, "box": [0.0, 1.0], "frozen": False}
    made = {
        "metric": metric,
        "coalition": coalition,
        "delta": 0.05,
        "searched": {},
        "rule": "by hand",
        "threat": threat,
        "at_most": None,
        "nominal": 0.5,
        "low": 0.25,
        "high": 0.75,
        "status": "sound",
        "low_status": "exact",
        "high_status": "sound",
        "attained_low": 0.25,
        "attained_high": 0.625,
        "may_be_undefined": False,
        "method": "by hand",
        "tolerance": 1e-9,
    }
    return BoundPart.model_validate(made | changes)  # fmt: skip


def test_rows_say_range_attack_and_certainty_of_both_ends() -> None:
    found = bounds_of([bound(coalition=["A"]), bound("Loss", ["A"], high_status="exact")], {"Gap"})
    assert found is not None
    [(metric, [row])], [(other, [exact])] = found.weighted, found.others
    assert (metric, other) == ("Gap", "Loss")
    assert (row.coalition, row.nominal, row.certified, row.attained) == (
        "A",
        "0.500",
        "0.250 to 0.750",
        "0.250 to 0.625",
    )
    assert row.certainty == "low end exact, high end sound"
    assert exact.certainty == "exact"


@pytest.mark.parametrize(
    ("changes", "certified", "attained"),
    [
        ({"low": None}, "no end to 0.750", "0.250 to 0.625"),
        ({"low": None, "high": None, "attained_low": None, "attained_high": None}, "–", "–"),
        ({"low": 0.5, "high": 0.5, "attained_low": 0.5, "attained_high": 0.5}, "stays 0.500", "stays 0.500"),
        ({"may_be_undefined": True}, "0.250 to 0.750, or not defined", "0.250 to 0.625"),
    ],
)
def test_ranges(changes: Json, certified: str, attained: str) -> None:
    found = bounds_of([bound(**changes)], {"Gap"})
    assert found is not None
    [(_, [row])] = found.weighted
    assert (row.certified, row.attained) == (certified, attained)


def test_coalitions_in_words() -> None:
    rows = [bound(coalition=each) for each in (["A"], ["B"], ["A", "B"], None, [])]
    found = bounds_of(rows, {"Gap"})
    assert found is not None
    names = [row.coalition for row in found.weighted[0][1]]
    assert names == ["A", "B", "everybody together", "everybody together", "nobody"]


def test_a_record_without_bounds_has_no_table(records: dict[str, Json]) -> None:
    record = records["scrutinised"]
    assert "Certified range" in rendered(record)
    assert "Strange</strong> has no bound: it does not say how it is made of sums" in rendered(record)
    del record["scrutiny"]["bounds"], record["scrutiny"]["unbounded"]
    assert bounds_of(record["scrutiny"].get("bounds"), ()) is None
    assert "Certified range" not in rendered(record)
