"""What the page says of searches: only points of the default model of rewards are compared by what stands for them."""

from __future__ import annotations

from typing import Any

import pytest

from accordant.report.reading import Reading
from accordant.report.tables import stand_ins
from accordant.runs.record import Record

Json = dict[str, Any]
DEFAULT = [{"max_leaf_nodes": 8, "max_iter": 100}, {"max_leaf_nodes": 31, "max_iter": 50}]


@pytest.mark.parametrize(
    ("model", "points", "effort", "said"),
    [
        ("Borrower", DEFAULT, "standard", True),
        ("Borrower", DEFAULT, "thorough", False),
        ("outcome", DEFAULT, "standard", False),
        ("Borrower", DEFAULT[:1], "standard", False),  # nothing was compared
        ("Borrower", [{"depth": 1}, {"depth": 3}], "standard", False),  # a model of the user
        ("Borrower", [DEFAULT[0], {"depth": 3}], "standard", False),
    ],
)
def test_stand_ins_are_those_of_default_models_that_were_compared(
    records: dict[str, Json], model: str, points: list[Json], effort: str, said: bool
) -> None:
    record = records["tiny"]
    searches = {model: {"points": [{"parameters": point, "loss": 0.1} for point in points], "best": points[0]}}
    record["learning"] |= {"searches": searches, "effort": effort}
    assert stand_ins(Reading.named(Record.read(record))) is said
