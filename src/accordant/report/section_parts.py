"""What sections that were added to a run put on its page: their own parts, nested under its headings."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from accordant.report.labels import renamed, text_with_names
from accordant.runs.chain import Link

HEADING = re.compile(r"<(/?)h([1-6])(?=[ >])")
DEEPER = 2  # levels below the headings of a page of its own: chapter and fold stand above
IDENTIFIERS = re.compile(r'( (?:id|for)="| href="#)(?=[^"])')
LABELLED = re.compile(r'( aria-(?:labelledby|describedby)=")([^"]+)(?=")')


@dataclass(frozen=True)
class AddedSection:
    """One section that was added.

    Attributes
    ----------
    link
        Its file in the chain.
    identifier
        Of its fold, unique on the page.
    words
        What it found, in one sentence.
    chapter, title, html, style
        Its own part of the page; nothing where it has none.
    """

    link: Link
    identifier: str
    words: str
    chapter: str = ""
    title: str = ""
    html: Markup | None = None
    style: Markup | None = None


def added_sections(links: Sequence[Link], names: Mapping[str, str]) -> tuple[AddedSection, ...]:
    """Return the sections of a chain, in its order; `names`: label to name in the run."""
    return tuple(_added(link, f"section-{number:04d}", names) for number, link in enumerate(links, 1))


def _added(link: Link, identifier: str, names: Mapping[str, str]) -> AddedSection:
    part, words = link.page_part(), renamed(link.words, names)
    if part is None:
        return AddedSection(link, identifier, words)
    scope = f"part-{link.envelope.section}"
    html = f'<div class="{scope}">{text_with_names(nested(part.html, f"{identifier}-"), names)}</div>'
    # made by a page of this program, which escapes what it is given, and by a file beside it
    body, style = Markup(html), Markup(f".{scope} {{\n{part.style}\n}}")  # noqa: S704
    return AddedSection(link, identifier, words, part.chapter, part.title, body, style)


def nested(html: str, prefix: str) -> str:
    """Return HTML of a page of its own as a part of another page.

    Parameters
    ----------
    html
        With all quotes of texts escaped, as templates write it.
    prefix
        Put before every identifier, and every reference to one.
    """
    html = HEADING.sub(lambda match: f"<{match[1]}h{min(6, int(match[2]) + DEEPER)}", html)
    html = IDENTIFIERS.sub(lambda match: match[1] + prefix, html)
    return LABELLED.sub(lambda match: match[1] + " ".join(prefix + identifier for identifier in match[2].split()), html)
