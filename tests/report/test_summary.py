"""What the page says of each criterion of a card: requirement, value, and whether value and interval meet it."""

from __future__ import annotations

from typing import Any

import pytest

from accordant.report.reading import Reading
from accordant.report.summary import checks

Json = dict[str, Any]
MEETS, FAILS = "the value meets the threshold", "the value does not meet the threshold"


def checked(record: Json, metric: str, threshold: float | None, cell: Json | None = None, **params: Any) -> Any:
    """Return the check of one criterion on the selected strategy, whose cell of the metric is changed first."""
    record["scope"]["criteria"] = [
        {"metric": metric, "threshold": threshold, "params": params, "rationale": "", "chosen_by": ""}
    ]
    if cell is not None:
        (line,) = (line for line in record["test"]["leaderboard"] if line["strategy"] == record["selected"])
        line["metrics"][metric] |= cell
    (check,) = checks(Reading.of(record))
    return check


@pytest.mark.parametrize(
    ("metric", "requirement"),
    [("Accuracy", "Accuracy ≥ 0.5"), ("Loss", "Loss ≤ 0.5"), ("Gap", "|Gap| ≤ 0.5")],
)
@pytest.mark.parametrize(
    ("value", "low", "high", "finding"),
    [
        # each as for a metric of which more is better; mirrored at 0.5 for one of which less is
        (0.5, None, None, MEETS), (0.49, None, None, FAILS),
        (0.6, 0.5, 0.7, f"{MEETS}, and so does its whole interval"),
        (0.6, 0.49, 0.7, f"{MEETS}, but part of its interval does not"),
        (0.4, 0.3, 0.5, f"{FAILS}, but part of its interval does"),
        (0.4, 0.3, 0.49, f"{FAILS}, nor does any of its interval"),
    ],
)  # fmt: skip
def test_a_threshold_is_compared_with_the_value_and_with_its_interval(
    records: dict[str, Json], metric: str, requirement: str, value: float, low: float, high: float, finding: str
) -> None:
    ends = [value, low, high] if metric == "Accuracy" else [end and 1 - end for end in (value, high, low)]
    cell = dict(zip(("value", "low", "high"), ends, strict=True))
    check = checked(records["tiny"], metric, 0.5, cell)
    assert (check.requirement, check.finding) == (requirement, finding)
    assert check.meets is finding.startswith(MEETS)


@pytest.mark.parametrize(
    ("low", "high", "finding"),
    [
        (-0.7, -0.55, f"{FAILS}, nor does any of its interval"), (-0.7, -0.5, f"{FAILS}, but part of its interval does"),
        (-0.9, 0.8, f"{FAILS}, but part of its interval does"), (-0.6, 0.0, f"{FAILS}, but part of its interval does"),
    ],
)  # fmt: skip
def test_a_distance_from_zero_may_be_met_between_ends_that_do_not(
    records: dict[str, Json], low: float, high: float, finding: str
) -> None:
    check = checked(records["tiny"], "Gap", 0.5, {"value": -0.6, "low": low, "high": high})
    assert check.finding == finding and check.meets is False


def test_what_cannot_be_judged_says_why(records: dict[str, Json]) -> None:
    record = records["tiny"]
    check = checked(record, "Loss", None)
    assert (check.requirement, check.finding) == (
        "no threshold given; less is better", "no threshold to compare with"
    )  # fmt: skip
    assert check.meets is None
    check = checked(record, "nothing", 0.25)
    assert (check.requirement, check.value, check.interval) == ("threshold 0.25", "–", "")
    assert check.finding == "not evaluated: no such metric in this run"
    assert checked(record, "nothing", None).requirement == "no threshold given"
    check = checked(record, "Loss", 0.5, {"value": None, "reason": "nobody counts", "n": 0})
    assert check.finding.endswith("(n=0: nobody counts)") and check.meets is None
    record["selected"] = None
    check = checked(record, "Accuracy", 0.5)
    assert check.finding == "not evaluated: no strategy was selected" and check.requirement == "Accuracy ≥ 0.5"


def test_a_criterion_may_name_a_metric_by_its_registered_name_and_parameters(records: dict[str, Json]) -> None:
    record = records["tiny"]
    assert checked(record, "gap", 0.5).label == "Gap"
    record["case"]["metrics"]["Gap"] |= {"metric": "parity", "parameters": {"attribute": "type", "protected": 1}}
    record["case"]["metrics"]["Extra"] |= {"metric": "parity", "parameters": {"attribute": "sex", "protected": 1}}
    assert checked(record, "parity", 0.5, attribute="sex").label == "Extra"
    assert checked(record, "parity", 0.5, attribute="type", protected=1).label == "Gap"
    assert checked(record, "parity", 0.5, attribute="type", protected=2).finding.startswith("not evaluated")
