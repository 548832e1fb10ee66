"""Words and numbers of the scrutiny."""

from __future__ import annotations

from accordant.naming import counted
from accordant.report.page import breakable
from accordant.report.scale import percent
from accordant.report.page import sentence, short, strong


def test_names_are_escaped_and_emphasised() -> None:
    assert sentence("a < b: ", strong("<c>")) == "a &lt; b: <strong>&lt;c&gt;</strong>"


def test_numbers_are_short() -> None:
    assert [short(value) for value in (0.05, 0.1, 1.0, 0.0, 0.0625, 12.5)] == ["0.05", "0.1", "1", "0", "0.062", "12.5"]
    assert [counted(n, "pair") for n in (0, 1, 1000)] == ["0 pairs", "1 pair", "1,000 pairs"]


def test_a_share_below_one_is_never_called_all() -> None:
    assert [percent(share) for share in (0.9994, 0.9996, 1 - 1e-12, 1.0)] == ["99.9%", "> 99.9%", "100%", "100%"]


def test_words_of_a_sentence_stay_whole() -> None:
    assert breakable("values of actions not taken are estimates") == "values of actions not taken are estimates"
    assert breakable("x" * 40).count("<wbr>") == 2
    assert breakable("nash_bargaining[status_quo]").split("<wbr>") == ["nash_", "bargaining", "[status_", "quo]"]
