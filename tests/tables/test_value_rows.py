"""Rows of values as a data frame."""

from __future__ import annotations

import pytest

from accordant import limits
from accordant.errors import InputError
from accordant.tables.value_rows import frame_of_rows


@pytest.mark.parametrize("most", [12, 11])
def test_all_cells_are_counted_those_of_the_head_too(monkeypatch, most):
    monkeypatch.setattr(limits, "TABLE_CELLS", limits.Limit(most, "cells", ""))
    rows = list(enumerate([["a", "b", "c"], ["1", "2", "x"], ["3", "4", "y"], ["5", "6", "z"]]))
    if most < 12:
        with pytest.raises(InputError, match="cells"):
            frame_of_rows(iter(rows), "rows")
    else:
        assert frame_of_rows(iter(rows), "rows").to_dict("list") == {
            "a": [1, 3, 5],
            "b": [2, 4, 6],
            "c": ["x", "y", "z"],
        }
