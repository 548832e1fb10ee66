"""Bars: lengths, the side of zero, and what has no value."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest

from accordant.report.charts.bars import METER_WIDTH, NAMES, WIDTH, WORDS, Bar, bar_chart, meter
from accordant.report.charts.panels import LETTER, Panel
from accordant.report.charts.panels import NAMES as NAMES_OF_PANELS
from accordant.report.charts.svg import AVERAGE_WIDTH

MARK = 14.0  # width of what stands before a name in a panel


def outlines(markup: str) -> list[tuple[float, float]]:
    """Return left and right end of each bar."""
    found = re.findall(r'd="M([\d.]+) [\d.]+L([\d.]+) [\d.]+L[\d.]+ [\d.]+L[\d.]+ [\d.]+Z"', markup)
    return [(float(left), float(right)) for left, right in found]


def test_bars_are_as_long_as_their_values_and_start_at_zero() -> None:
    bars = [Bar("a", 10.0, "ten"), Bar("b", -5.0, "minus five"), Bar("c", 0.0, "zero"), Bar("d", None, "–")]
    found = str(bar_chart("b", "title", bars, "caption"))
    (a_left, a_right), (b_left, b_right) = outlines(found)
    assert a_left == b_right  # zero
    assert a_right - a_left == pytest.approx(2 * (b_right - b_left), abs=0.02)
    assert b_left >= NAMES
    assert a_right <= WIDTH - WORDS + 0.01
    assert found.count(">not defined<") == 1
    assert "a: ten; b: minus five; c: zero; d: –." in found


def test_a_bar_below_zero_is_hollow_and_a_solid_one_is_not() -> None:
    found = str(bar_chart("b", "title", [Bar("a", 1.0, "1", None), Bar("b", -1.0, "−1", None)], ""))
    assert found.count("area solid") == 1
    below = str(bar_chart("b", "title", [Bar("a", 1.0, "1", 2), Bar("b", -1.0, "−1", 2)], ""))
    assert "hatch-2" in below
    assert "hatch-0" in below


def test_limits_are_drawn_and_fit() -> None:
    found = str(bar_chart("b", "title", [Bar("a", 0.5, "50%", 1, (0.25, 0.75))], "", shares=True))
    assert found.count('class="interval"') == 3
    assert "75%" in found


@pytest.mark.parametrize(
    ("share", "length"), [(0.0, 0.0), (0.5, (METER_WIDTH - 1) / 2), (1.0, METER_WIDTH - 1), (7.0, METER_WIDTH - 1)]
)
def test_small_bars_end_at_their_frame(share: float, length: float) -> None:
    widths = [float(each) for each in re.findall(r'<rect x="0.5" y="0.5" width="([\d.]+)"', str(meter(share)))]
    assert widths == [METER_WIDTH - 1, pytest.approx(length)]


def test_a_bar_of_half_a_pixel_is_drawn() -> None:
    for share, n in ((0.002, 2), (0.0, 1)):
        bars = [Bar("a", share, "a"), Bar("b", 1.0, "b")]
        assert len(outlines(str(bar_chart("b", "title", bars, "")))) == n


def test_a_small_bar_without_a_share_is_empty() -> None:
    assert "level" not in str(meter(None))


@pytest.mark.parametrize("value", [0.002, 0.1, 0.5, 1.0])
def test_whatever_is_not_zero_has_a_bar(value: float) -> None:
    assert len(outlines(str(bar_chart("b", "title", [Bar("a", value, "a"), Bar("b", 1.0, "b")], "")))) == 2


def test_a_long_name_is_broken_before_the_bars() -> None:
    found = str(bar_chart("b", "title", [Bar("many words that do not end " * 3, 1.0, "1")], ""))
    lines = re.findall(r'<text x="2" y="[\d.]+">([^<]*)</text>', found)
    assert len(lines) == 2 and all(5 * len(words) < NAMES for words in lines)


@pytest.mark.parametrize("name", ["many words that do not end " * 3, "a_strategy[with_parameters_that_never_end]" * 2])
def test_names_of_panels_leave_room_for_the_mark_before_the_rows(name: str) -> None:
    (words,) = Panel([SimpleNamespace(name=name)]).names
    assert len(words) == 2
    assert all(MARK + LETTER * AVERAGE_WIDTH * len(part) <= NAMES_OF_PANELS for part in words)
