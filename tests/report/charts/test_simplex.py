"""Strips and triangles: corners of the simplex are drawn at corners, and the chosen weights where they lie."""

from __future__ import annotations

import re

import pytest

from accordant.report.charts.simplex import APEX, BASE, SIDE, WIDTH, Area, weight_strip, weight_triangle


def star(markup: str) -> tuple[float, float]:
    found = re.search(r'class="mark filled front[^"]*" transform="translate\(([\d.]+) ([\d.]+)\)', markup)
    assert found is not None
    return float(found[1]), float(found[2])


def test_a_strip_divides_at_the_border() -> None:
    areas = [Area(1, "a", ((1.0, 0.0), (0.25, 0.75))), Area(2, "b", ((0.25, 0.75), (0.0, 1.0)))]
    found = str(weight_strip("s", ("first", "second"), areas, (0.5, 0.5)))
    border = SIDE + 0.25 * (WIDTH - 2 * SIDE)
    assert f"M{border:.2f}" in found
    assert f"L{border:.2f}" in found
    assert star(found)[0] == pytest.approx(WIDTH / 2)
    assert "Regions: 1 a, 2 b. Chosen weights: first 50%, second 50%." in found


def test_a_triangle_has_its_metrics_in_its_corners() -> None:
    whole = Area(1, "a", ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)))
    x, y = star(str(weight_triangle("t", ("top", "left", "right"), [whole], (1.0, 0.0, 0.0))))
    assert (x, y) == (WIDTH / 2, APEX)
    left, low = star(str(weight_triangle("t", ("top", "left", "right"), [whole], (0.0, 1.0, 0.0))))
    right, _ = star(str(weight_triangle("t", ("top", "left", "right"), [whole], (0.0, 0.0, 1.0))))
    assert low == BASE
    assert left < WIDTH / 2 < right
    assert left + right == pytest.approx(WIDTH, abs=0.02)
    middle = star(str(weight_triangle("t", ("top", "left", "right"), [whole], (1 / 3, 1 / 3, 1 / 3))))
    assert middle == pytest.approx((WIDTH / 2, APEX + (BASE - APEX) * 2 / 3), abs=0.01)
