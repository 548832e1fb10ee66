"""From results to JSON values."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
import pytest

from accordant.json_values import field_values, finite, json_value


def test_what_is_not_finite_is_none_wherever_it_stands():
    found = json_value({
        "array": np.array([[1.0, np.nan], [np.inf, 2.0]]), "counts": np.arange(2), "names": np.array(["a", "b"]),
        "number": np.float64("nan"), "mask": np.array([True]), "inside": [(1, -np.inf, "x", None)], "flag": True,
    })  # fmt: skip
    assert found == {
        "array": [[1.0, None], [None, 2.0]], "counts": [0, 1], "names": ["a", "b"], "number": None, "mask": [True],
        "inside": [[1, None, "x", None]], "flag": True,
    }  # fmt: skip
    assert json.loads(json.dumps(found, allow_nan=False)) == found


@pytest.mark.parametrize(("value", "right"), [(1, 1.0), (np.float32(0.5), 0.5), (np.array(2.0), 2.0), ("nan", None)])
def test_a_number(value, right):
    assert finite(value) == right
    assert finite(float("-inf")) is None


@dataclass
class Record:
    """A record that writes itself, and may hold another."""

    value: float
    inside: object = ()

    to_json = field_values


def test_a_record_is_written_by_its_fields_and_what_is_inside_by_itself():
    class Named:
        def to_json(self):
            return "named"

    inside = {"record": Record(float("nan")), "others": (Named(), np.arange(2))}
    assert Record(1.0, inside).to_json() == {
        "value": 1.0, "inside": {"record": {"value": None, "inside": []}, "others": ["named", [0, 1]]}
    }  # fmt: skip
    assert field_values(Record(1.0, inside), without=("inside",)) == {"value": 1.0}
