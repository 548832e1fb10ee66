"""Strips and triangles: corners of the simplex are drawn at corners, and the chosen weights where they lie."""

from __future__ import annotations

import re

import pytest

from accordant.report.charts.simplex import (
    APEX,
    BASE,
    LEADING,
    SIDE,
    STRIP_BOTTOM,
    STRIP_TOP,
    WIDTH,
    Area,
    weight_strip,
    weight_triangle,
)


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


def test_weights_below_a_strip_end_inside_the_drawing() -> None:
    found = str(weight_strip("s", ("first", "second"), [Area(1, "a", ((1.0, 0.0), (0.0, 1.0)))], (0.5, 0.5)))
    ticks = re.findall(r'<text [^>]*class="tick"[^>]*>[^<]*', found)
    anchors = {tick.rpartition(">")[2]: re.search(r'text-anchor="(\w+)"', tick) for tick in ticks}
    assert {words: "start" if each is None else each[1] for words, each in anchors.items()} == {
        "0%": "start",
        "50%": "middle",
        "100%": "end",
    }


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


def words(markup: str) -> list[tuple[float, float, str]]:
    return [
        (float(x), float(y), said) for x, y, said in re.findall(r'<text x="([\d.]+)" y="([\d.]+)"[^>]*>([^<]*)', markup)
    ]


def test_names_below_a_strip_have_half_its_width_and_one_line() -> None:
    fits, too_long = "x" * 23, "y" * 24  # 0.57 em each; half the strip without its margins is 164 / 12 em
    area = Area(1, "a", ((1.0, 0.0), (0.5, 0.5)))
    found = str(weight_strip("s", (fits, too_long), [area, Area(2, "b", ((0.5, 0.5), (0.0, 1.0)))], (0.5, 0.5)))
    y = STRIP_BOTTOM + 32
    assert words(found)[-2:] == [(SIDE, y, f"← {'y' * 22}…"), (WIDTH - SIDE, y, f"{fits} →")]
    assert words(str(weight_strip("s", ("a b" * 12, fits), [area], (0.5, 0.5))))[-1][2].endswith("… →")


def test_a_strip_has_numbers_in_its_regions_and_shares_below() -> None:
    areas = [Area(1, "a", ((1.0, 0.0), (0.25, 0.75))), Area(2, "b", ((0.25, 0.75), (0.0, 1.0)))]
    found = words(str(weight_strip("s", ("first", "second"), areas, (0.5, 0.5))))
    span, middle = WIDTH - 2 * SIDE, (STRIP_TOP + STRIP_BOTTOM) / 2 + 4
    assert found[:2] == [(SIDE + 0.625 * span, middle, "1"), (SIDE + 0.125 * span, middle, "2")]
    ticks = [(SIDE, "0%"), (WIDTH / 2, "50%"), (WIDTH - SIDE, "100%")]
    assert found[2:5] == [(x, STRIP_BOTTOM + 16, said) for x, said in ticks]


def test_the_number_of_a_region_stands_at_the_mean_of_its_corners() -> None:
    left = Area(1, "a", ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.5, 0.0, 0.5)))
    right = Area(2, "b", ((0.5, 0.0, 0.5), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)))
    found = str(weight_triangle("t", ("top", "left", "right"), [left, right], (0.2, 0.3, 0.5)))
    half = (BASE - APEX) / 3**0.5
    for area, (x, y, said) in zip((left, right), words(found)[:2], strict=True):
        top, one, other = (sum(corner[k] for corner in area.corners) / 3 for k in range(3))
        assert (x, y) == pytest.approx(
            (WIDTH / 2 + (other - one) * half, APEX * top + BASE * (one + other) + 4), abs=0.01
        )
        assert said == str(area.number)
    assert star(found) == pytest.approx((WIDTH / 2 + 0.2 * half, APEX * 0.2 + BASE * 0.8), abs=0.01)
    corner = f"{WIDTH / 2 - half:.2f} {BASE:g}"
    assert found.count(corner) >= 2


def test_names_at_the_corners_of_a_triangle_break_within_their_room() -> None:
    whole = Area(1, "a", ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)))

    def found(*metrics: str) -> list[tuple[float, float, str]]:
        return words(str(weight_triangle("t", metrics, [whole], (1.0, 0.0, 0.0))))[1:]

    # 30 em above, that is 52 letters; 172 / 12 em at each side below, that is 25
    assert found("t" * 52, "l" * 25, "r" * 25) == [
        (WIDTH / 2, APEX - 10, "t" * 52),
        (2.0, BASE + 18, "l" * 25),
        (WIDTH - 2, BASE + 18, "r" * 25),
    ]
    broken = found("t" * 30 + "_" + "u" * 30, "l" * 20 + "_" + "m" * 20, "r" * 26)
    assert broken == [
        (WIDTH / 2, APEX - 10 - LEADING, "t" * 30 + "_"),
        (WIDTH / 2, APEX - 10, "u" * 30),
        (2.0, BASE + 18, "l" * 20 + "_"),
        (2.0, BASE + 18 + LEADING, "m" * 20),
        (WIDTH - 2, BASE + 18, "r" * 24 + "…"),
    ]
    assert found("t" * 53, "l", "r")[0][2].endswith("…")
