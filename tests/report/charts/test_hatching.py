"""Areas filled with lines: these stay inside, and are as long as they should be."""

from __future__ import annotations

import re

import pytest

from accordant.report.charts.svg import HATCHES, box, hatched


def strokes(markup: str) -> list[tuple[float, ...]]:
    lines = re.findall(r"M([-\d.]+) ([-\d.]+)L([-\d.]+) ([-\d.]+)(?=M|\")", markup)
    return [tuple(map(float, each)) for each in lines]


def test_level_lines_of_a_rectangle_reach_from_side_to_side() -> None:
    level = HATCHES.index(((0.0, 5.0),))
    outline, lines = hatched(box(10, 1, 30, 11), level)
    assert "M10.00 1.00L30.00 1.00L30.00 11.00L10.00 11.00Z" in outline
    assert {tuple(sorted(each[::2])) for each in strokes(lines)} == {(10.0, 30.0)}
    assert sorted(each[1] for each in strokes(lines)) == [5.0, 10.0]


@pytest.mark.parametrize("shift", range(4))
def test_a_line_that_meets_corners_reaches_from_one_to_the_other(shift: int) -> None:
    corners = ((0.0, 5.0), (10.0, 0.0), (20.0, 5.0), (10.0, 10.0))
    _, lines = hatched((*corners[shift:], *corners[:shift]), HATCHES.index(((0.0, 5.0),)))
    ((x1, y1, x2, y2),) = strokes(lines)
    assert sorted([(x1, y1), (x2, y2)]) == [(0.0, 5.0), (20.0, 5.0)]


@pytest.mark.parametrize("position", range(2 * len(HATCHES)))
def test_lines_stay_inside_a_triangle_and_its_sides(position: int) -> None:
    corners = ((0.0, 0.0), (60.0, 0.0), (0.0, 60.0))
    outline, *lines = hatched(corners, position)
    assert bool(lines) == bool(HATCHES[position % len(HATCHES)])
    for x1, y1, x2, y2 in strokes("".join(lines)):
        for x, y in ((x1, y1), (x2, y2)):
            assert min(x, y) >= -0.01
            assert x + y <= 60.01
            assert min(x, y, abs(60 - x - y)) <= 0.02


def test_an_area_without_room_has_no_lines() -> None:
    assert len(hatched(box(10.1, 0, 10.1, 3), HATCHES.index(((90.0, 5.0),)))) == 1
