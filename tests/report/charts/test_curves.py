"""Curves: names never overlap or leave the drawing, and curves differ without colour."""

from __future__ import annotations

import re

import pytest

from accordant.report.charts.curves import (
    HEIGHT, LEADING, MOST_CURVES, STYLES, Axes, Curve, curve_chart, plot_height, plot_width,
)  # fmt: skip
from accordant.report.scale import linear_scale


def drawing(ends: list[float], names: list[str]) -> str:
    curves = [Curve(name, ((0.0, 1.0), (0.1, end))) for name, end in zip(names, ends, strict=True)]
    axes = Axes(
        linear_scale([0.0, 0.1], *plot_width()), linear_scale([0.0, 1.0], *plot_height()), ("δ →", "share"), shares=True
    )
    return str(curve_chart("c", "title", curves, axes))


@pytest.mark.parametrize("ends", [[0.0] * MOST_CURVES, [1.0] * MOST_CURVES, [k / 7 for k in range(MOST_CURVES)]])
def test_names_stand_apart_inside_the_drawing(ends: list[float]) -> None:
    names = [f"name{k} of_two_lines" for k in range(MOST_CURVES)]
    places = sorted(float(y) for y in re.findall(r'y="([\d.]+)"[^>]*>(?:name\d of_|two_lines)<', drawing(ends, names)))
    assert len(places) == 2 * MOST_CURVES
    assert all(after - before >= LEADING - 0.01 for before, after in zip(places, places[1:], strict=False))
    assert places[0] > 8
    assert places[-1] <= HEIGHT


def test_names_follow_the_order_of_the_ends() -> None:
    rows = re.findall(r'<text x="[\d.]+" y="([\d.]+)"[^>]*>([abc])</text>', drawing([0.1, 0.9, 0.5], ["a", "b", "c"]))
    assert [name for _, name in sorted(rows, key=lambda row: float(row[0]))] == ["b", "c", "a"]


def test_every_curve_has_dashes_and_a_mark_of_its_own() -> None:
    assert len({dashes for dashes, _ in STYLES}) == len({shape for _, shape in STYLES}) == MOST_CURVES
    found = drawing([0.2, 0.4, 0.6], ["a", "b", "c"])
    assert found.count('stroke-dasharray="7 3"') == 2  # the curve, and its sample before the name
    assert 'class="curve first"' in found


def test_values_are_said_in_words() -> None:
    assert "a: from 100% to 25%." in drawing([0.25], ["a"])
