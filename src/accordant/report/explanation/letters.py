"""Letters: decisions explained to the persons whom they are about, one page of A4 each when printed.

Service pages take the same typed model and the same template: `render_letters`.
"""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from accordant import __version__
from accordant.errors import InputError
from accordant.explanation import PersonExplanation
from accordant.languages import language, message
from accordant.report.page import Page

HEADINGS = {
    "heading": message("Why this was decided about you"),
    "reason": message("The reason"),
    "expected": message("What is likely to follow"),
    "changes": message("What would change the decision"),
    "wishes": message("Who wanted what"),
    "sure": message("How sure this is"),
    "known": message("What was known about you"),
    "objection": message("How to object"),
    "who": message("For"),
    "best": message("would be best"),
    "decision": message("this decision is"),
    "fact": message("Fact"),
    "value": message("Value"),
    "usual": message("How usual it is"),
    "usual_note": message("Among the people whom the rule was learned from."),
    "made": message("Made by accordant {version}."),
}
"""What a letter says beside its content, by its part."""

PAGE = Page("accordant.report.explanation", "letter.css", filters={}, names={})


def headings(code: str) -> dict[str, str]:
    """Return the headings of a letter in a language."""
    spoken = language(code)
    fixed = {part: spoken.text(words) for part, words in HEADINGS.items() if part != "made"}
    return fixed | {"made": spoken.text(HEADINGS["made"], version=__version__)}


def render_letters(letters: Sequence[PersonExplanation]) -> str:
    """Return letters as one HTML document, without network, script and fonts.

    Raises
    ------
    InputError
        If there is none, or they are in several languages.
    """
    codes = {letter.language for letter in letters}
    if len(codes) != 1:
        raise InputError(f"letters of one document are in one language; found {', '.join(sorted(codes)) or 'none'}")
    return PAGE.render("letter.html", letters=letters, say=headings(codes.pop()), version=__version__)


def letter_part(letter: PersonExplanation, level: int = 1) -> Markup:
    """Return a letter as a part of another page, whose styles hold those of `PAGE`; `level`: of its heading."""
    say = headings(letter.language)
    made = PAGE.part("person", letter.title, "letter_body.html", letter=letter, say=say, level=level)
    return Markup(made.html)  # noqa: S704 - made by a template that escapes


def letter_text(letter: PersonExplanation) -> list[str]:
    """Return a letter as lines for a terminal; an empty line before each part."""
    say = headings(letter.language)
    lines = [letter.title, "", letter.decided, letter.reason]
    for part in ("expected", "changes"):
        lines += _part(say[part], getattr(letter, part))
    wishes = [
        wish.who
        + f" – {say['best']}: {wish.best}" * bool(wish.best)
        + f"; {say['decision']} {wish.decision}" * bool(wish.decision)
        for wish in letter.wishes
    ]
    lines += _part(say["wishes"], wishes) + _part(say["sure"], letter.sure)
    known = [fact.name + f": {fact.value} ({fact.usual})" * bool(fact.value) for fact in letter.known]
    return lines + _part(say["known"], known) + _part(say["objection"], letter.objection)


def _part(heading: str, lines: Sequence[str]) -> list[str]:
    return ["", heading, *(f"- {line}" for line in lines)] if lines else []
