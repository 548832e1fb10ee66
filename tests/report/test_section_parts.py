"""Sections that were added to a run: their own parts on its page, nested, and all of them in a list."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

from accordant.errors import RunFolderError
from accordant.report.section_parts import added_sections, nested
from accordant.report.render import render
from accordant.runs.chain import Envelope, Link
from accordant.runs.record import Record
from accordant.sections import PagePart, Section, page_parts

Json = dict[str, Any]
HTML = (
    '<section id="answer" aria-labelledby="answer-title note"><h2 id="answer-title">constant:<wbr>Grant won</h2>'
    '<p id="note"><a href="#answer">href="x" h2</a> constant:Grant &#34; id=&#34;y&#34;</p>'
    "<pre>accordant --strategies constant:Grant</pre></section>"
)


class Settled(Section):
    """A section with a part of its own."""

    name: ClassVar[str] = "settled"
    html: str = HTML

    @property
    def words(self) -> str:
        """With a label in it."""
        return "constant:Grant was settled on."


class Noted(Section):
    """A section without one."""

    name: ClassVar[str] = "noted"

    @property
    def words(self) -> str:
        """Plain words."""
        return "Something was noted."


class Broken(Settled):
    """A section whose part cannot be made of what it holds."""

    name: ClassVar[str] = "broken"


def broken_part(section: Section) -> PagePart:
    """Not there."""
    raise LookupError(f"row 9 of {section.name}")


@pytest.fixture(autouse=True)
def parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Register parts of the sections above, for one test each."""
    page_parts.names()  # loads what others have
    made = {
        "settled": lambda it: PagePart("talks", "Row 3, debated", it.html, '.note { color: "red" }'),
        "broken": broken_part,
    }
    monkeypatch.setattr(page_parts, "_factories", {**page_parts._factories, **made})


@dataclass(frozen=True)
class Told(Link):
    """A link whose section is known here."""

    told: Section | None = None

    def section(self) -> Section | None:
        """The section as it is."""
        return self.told


def link(section: Section | None, number: int) -> Link:
    name = "unknown" if section is None else section.name
    envelope = Envelope(section=name, version=1, previous="0" * 64, result={})
    return Told(f"sections/{number:04d}-{name}.json", f"{number}" * 64, envelope, section)


def links(*told: Section | None) -> list[Link]:
    return [link(section, number) for number, section in enumerate(told, 1)]


def test_a_page_of_its_own_becomes_a_part() -> None:
    assert nested(HTML, "s1-") == (
        '<section id="s1-answer" aria-labelledby="s1-answer-title s1-note">'
        '<h4 id="s1-answer-title">constant:<wbr>Grant won</h4>'
        '<p id="s1-note"><a href="#s1-answer">href="x" h2</a> constant:Grant &#34; id=&#34;y&#34;</p>'
        "<pre>accordant --strategies constant:Grant</pre></section>"
    )
    assert nested("<h5>a</h5><h6 class='b'>c</h6><header>d</header>", "x") == (
        "<h6>a</h6><h6 class='b'>c</h6><header>d</header>"
    )


def test_parts_stand_in_their_chapter_and_every_section_in_the_list(records: dict[str, Json]) -> None:
    html = render(Record.read(records["tiny"]), links(Settled(), Noted(), Settled(), None))
    talks = re.search(r'<section class="chapter" id="talks".*?<section class="chapter"', html, re.DOTALL)[0]
    assert talks.count('<details class="fold">') == 2
    assert '<section id="section-0001"' in talks and '<section id="section-0003"' in talks
    assert "Always Grant was settled on." in talks and "Always Grant won" in talks
    assert "<pre>accordant --strategies constant:Grant</pre>" in talks  # to be copied
    listed = re.search(r'<section id="added".*?</section>', html, re.DOTALL)[0]
    assert 'href="#section-0001"' in listed and "Something was noted." in listed
    assert "This version of accordant does not read it." in listed
    assert all(f"{number}" * 64 in listed for number in range(1, 5))
    assert html.count('.part-settled {\n.note { color: "red" }\n}') == 1
    assert 'id="lists"' not in html
    identifiers = re.findall(r' id="([^"]+)"', html)
    assert len(identifiers) == len(set(identifiers))
    assert set(re.findall(r' href="#([^"]+)"', html)) <= set(identifiers)


def test_without_sections_there_is_neither_list_nor_chapter(records: dict[str, Json]) -> None:
    html = render(Record.read(records["tiny"]))
    assert 'id="added"' not in html and 'id="talks"' not in html
    assert "No single decision was explained yet." in html


def test_a_part_that_cannot_be_made_names_its_file() -> None:
    with pytest.raises(RunFolderError, match=r"sections/0001-broken\.json is not what a section 'broken' holds"):
        added_sections(links(Broken()), {})
