"""Text in drawings: escaped, without what XML forbids or what turns the direction of writing."""

from __future__ import annotations

import pytest

from accordant.report.charts.svg import USUAL, Label, clean, placed

REPLACED = "\N{REPLACEMENT CHARACTER}"


@pytest.mark.parametrize("code", [0x00, 0x1B, 0x7F, 0xD800, 0xFFFE, *range(0x202A, 0x202F), *range(0x2066, 0x206A)])
def test_what_is_replaced(code):
    assert clean(f"a{chr(code)}b") == f"a{REPLACED}b"


@pytest.mark.parametrize("words", ["tab\tand\nline", "日本 Ω é", "\u05d0\u05d1", "\u2029\u202f\u2065\u206a"])
def test_what_stays(words):
    assert clean(words) == words


def test_markup_is_escaped():
    assert clean("<b>&\"'") == "&lt;b&gt;&amp;&#34;&#39;"


def test_a_label_with_room_stands_beside_its_mark():
    (drawn,) = placed([Label(100, 100, "here")], [(94, 94, 106, 106)], (0, 0, 360, 300))
    assert '<text x="110" y="104"' in drawn


def test_a_label_is_moved_outward_by_what_its_mark_is_larger_than_usual():
    (drawn,) = placed([Label(100, 100, "here", radius=USUAL + 5)], [(89, 89, 111, 111)], (0, 0, 360, 300))
    assert '<text x="115" y="104"' in drawn


# all that is nearer than 62 units to a mark at (100, 100), but for a corridor to its left and right
WALLS = [(45, 20, 155, 85), (45, 115, 155, 190), (136, 85, 158, 115), (42, 85, 64, 115)]
FRAME = (-100, 0, 360, 300)


def test_a_label_far_off_goes_where_its_line_crosses_no_other_label():
    alone = placed([Label(100, 100, "longer")], WALLS, FRAME)
    beside = placed([Label(118, 100, "a"), Label(100, 100, "longer")], WALLS, FRAME)
    assert '<text x="162" y="104"' in alone[-1]
    assert '<text x="128" y="104"' in beside[0]
    assert '<text x="38" y="104"' in beside[-1]
