"""How values of features stand in sentences."""

from __future__ import annotations

import pytest

from accordant.explanation.wording import _value


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "missing"), ("", "an empty text"), ("north", "north"), (-3.0, "−3"), (0.12345, "0.1235"), (1e6, "1000000")],
)
def test_a_value_of_a_feature(value, text):
    assert _value(value) == text
