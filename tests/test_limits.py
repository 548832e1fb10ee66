"""Every limit stands on its page of the reference with its reason, and refuses what goes beyond it."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from accordant import limits
from accordant.errors import DataError
from docs.site.reference import limit_table

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "limits.md"
MADE = re.compile(r"(?<=<!-- limits -->\n).*?(?=<!-- /limits -->)", re.DOTALL)


def test_the_page_states_every_limit():
    text = PAGE.read_text(encoding="utf-8")
    made = MADE.sub(lambda _: f"\n{limit_table()}\n\n", text)
    if os.environ.get("ACCORDANT_RECORD") == "1":
        PAGE.write_text(made, encoding="utf-8")
    else:
        assert text == made


def test_no_other_module_declares_a_limit(trees):
    """One place: whoever needs another limit adds it there."""
    elsewhere = [path for path, tree in trees.items() if path.name != "limits.py" and "= Limit(" in path.read_text()]
    assert elsewhere == []


def test_as_much_as_allowed_is_no_error():
    limits.AGENTS.check(limits.AGENTS.most, "here")
    with pytest.raises(DataError, match="here: 21 agents in one deliberation; allowed: at most 20"):
        limits.AGENTS.check(limits.AGENTS.most + 1, "here")
