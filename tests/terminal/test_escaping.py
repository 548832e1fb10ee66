"""Texts of others on a terminal: nothing in them steers it."""

from __future__ import annotations

import io
import json
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.table import Table

from accordant.agents import Contestation, Fault, Proposal, Reason, Turn
from accordant.allocations import Allocation
from accordant.deliberation.cases.triage.scenarios import random_scenario
from accordant.naming import plain
from accordant.terminal import PlainConsole, print_json, say
from accordant.deliberation.terminal import MOST_REASONS, MOST_VOID, Teller


@given(st.text())
def test_no_control_or_line_breaking_character_is_left(text):
    found = plain(text)
    assert not any(unicodedata.category(each)[0] == "C" or unicodedata.category(each) in ("Zl", "Zp") for each in found)
    assert found == text or "\\" in found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Zoë 5 ≥ 3", "Zoë 5 ≥ 3"),
        ("\x1b[2J", r"\x1b[2J"),
        ("a\nb", r"a\nb"),
        ("\x9b31m", r"\x9b31m"),
        ("\u202egood", r"\u202egood"),
        ("\u2028", r"\u2028"),
    ],
)
def test_what_steers_is_shown_as_an_escape(text, found):
    assert plain(text) == found


def test_lines_cells_headers_titles_and_captions_are_plain():
    stream = io.StringIO()
    console = PlainConsole(stream, width=200)
    evil = "[bold]\x1b[31m:smile:\x07"
    table = Table(title=evil, caption=evil)
    table.add_column(evil)
    table.add_row(evil)
    console.print(table)
    console.print(evil)
    assert stream.getvalue().count(r"[bold]\x1b[31m:smile:\x07") == 5
    assert "\x1b" not in stream.getvalue() and "\x07" not in stream.getvalue()


def test_empty_lines_around_a_text_are_kept():
    stream = io.StringIO()
    PlainConsole(stream, width=80).print("\nfirst\nsecond\n")
    assert stream.getvalue() == "\nfirst\\nsecond\n\n"


@pytest.mark.parametrize("text", ["\x1b[2J", "\x9b31m\x7f", "\u202eZoë\u2028", "\ud800", "\U000e0041 5 ≥ 3"])
def test_json_holds_what_it_held_and_nothing_that_steers(capsys, text):
    print_json({text: text})
    printed = capsys.readouterr().out
    assert json.loads(printed) == {text: text}
    assert plain(printed.replace("\n", "")) == printed.replace("\n", "")


def test_what_is_said_is_plain(capsys):
    say("a\x1b[2J\nb")
    say("c\x07", err=True)
    assert capsys.readouterr() == ("a\\x1b[2J\nb\n", "c\\x07\n")


def test_without_a_stream_it_prints_to_standard_output(capsys):
    PlainConsole(width=80).print("seen")
    assert capsys.readouterr().out == "seen\n" and sys.stdout is not None


def some_allocation():
    scenario = random_scenario(0, patients=1)
    return Allocation.of(scenario, {scenario.ids[0]: {"bed": 1.0}})


def told(turn):
    stream = io.StringIO()
    Teller(stream).turn(turn)
    return stream.getvalue()


def test_void_sentences_are_said_once_and_not_without_end():
    proposal = Proposal(some_allocation(), utility=None)
    faults = tuple(Fault(text, "no_patient") for text in ("same", "same", *(f"other {k}" for k in range(9))))
    text = told(Turn(1, "a", proposal, faults=faults))
    assert text.count("void: same") == 1
    assert text.count("void: other") == MOST_VOID - 1 and "void: and 4 more" in text


def test_reasons_of_a_revised_proposal_are_shown_as_those_of_a_first():
    reasons = tuple(Reason(f"p{k}", "stated", text=f"because {k}") for k in range(MOST_REASONS + 2))
    proposal = Proposal(some_allocation(), None, reasons)
    first, revised = told(Turn(1, "a", proposal)), told(Turn(2, "a", Contestation((), proposal)))
    for text in (first, revised):
        assert text.count("because") == MOST_REASONS and "and 2 more" in text
