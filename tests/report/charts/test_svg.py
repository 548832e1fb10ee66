"""Text in drawings: escaped, without what XML forbids or what turns the direction of writing."""

from __future__ import annotations

import pytest

from accordant.report.charts.svg import clean

REPLACED = "\N{REPLACEMENT CHARACTER}"


@pytest.mark.parametrize("code", [0x00, 0x1B, 0x7F, 0xD800, 0xFFFE, *range(0x202A, 0x202F), *range(0x2066, 0x206A)])
def test_what_is_replaced(code):
    assert clean(f"a{chr(code)}b") == f"a{REPLACED}b"


@pytest.mark.parametrize("words", ["tab\tand\nline", "日本 Ω é", "\u05d0\u05d1", "\u2029\u202f\u2065\u206a"])
def test_what_stays(words):
    assert clean(words) == words


def test_markup_is_escaped():
    assert clean("<b>&\"'") == "&lt;b&gt;&amp;&#34;&#39;"
