"""Languages of texts for people: catalogues of gettext, read from the .po files of the package.

The source language is English: a message is its own translation there. A module marks what it says::

    WHY = message("Why this was decided")     # translated later, by `Language.text`
    language("de").text(WHY)

Catalogues stay readable text. They are packed in memory as ``msgfmt`` would pack them, so that the standard library's
`gettext` does the rest. The header of a catalogue also says how the language writes numbers: ``X-Decimal`` and
``X-Thousands``.
"""

from __future__ import annotations

import ast
import gettext
import importlib.resources
import io
import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from accordant.errors import InputError, UnknownNameError

SOURCE = "en"
DOMAIN = "accordant.po"
_LINE = re.compile(r'(?:(msgid_plural|msgid|msgstr(?:\[\d+\])?)\s+)?(".*")')
_MAGIC = 0x950412DE  # of .mo files
Entry = tuple[tuple[str, ...], tuple[str, ...]]
"""A message with its plural, if it has one, and its translations."""


def message(text: str) -> str:
    """Mark a text as one that catalogues translate."""
    return text


@dataclass(frozen=True, eq=False)
class Language:
    """One language.

    Attributes
    ----------
    code
        As HTML writes it, such as ``de``.
    catalogue
        Of gettext.
    """

    code: str
    catalogue: gettext.NullTranslations

    def text(self, words: str, /, **fields: object) -> str:
        """Return a message in this language, its fields filled."""
        translated = self.catalogue.gettext(words)
        return translated.format(**fields) if fields else translated

    def listed(self, names: Sequence[str]) -> str:
        """Return names in one phrase: ``a, b and c``; empty for none."""
        if len(names) < 2:
            return "".join(names)
        return self.text(message("{first} and {last}"), first=", ".join(names[:-1]), last=names[-1])

    def number(self, value: float, digits: int | None = None) -> str:
        """Return a number as the language writes it: whole, or with so many decimals (at most two if None)."""
        whole = float(value).is_integer() and digits is None
        text = f"{value:,.{0 if whole else 2 if digits is None else digits}f}"
        if digits is None and not whole:
            text = f"{value:,.3g}" if abs(value) < 1 else text.rstrip("0").rstrip(".")
        signs = {",": self._sign("x-thousands", ","), ".": self._sign("x-decimal", "."), "-": "\N{MINUS SIGN}"}
        return "".join(signs.get(character, character) for character in text)

    def _sign(self, key: str, usual: str) -> str:
        return self.catalogue.info().get(key, usual)


def languages() -> tuple[str, ...]:
    """Return the codes of all languages that are shipped, the source language first."""
    folder = importlib.resources.files("accordant") / "locale"
    return (SOURCE, *sorted(place.name for place in folder.iterdir() if (place / "LC_MESSAGES" / DOMAIN).is_file()))


@cache
def language(code: str) -> Language:
    """Return a language by its code.

    Raises
    ------
    UnknownNameError
        If none of this code is shipped.
    """
    if code not in languages():
        raise UnknownNameError("language", code, languages())
    if code == SOURCE:
        return Language(code, gettext.NullTranslations())
    return Language(code, gettext.GNUTranslations(io.BytesIO(packed(read_catalogue(catalogue_text(code))))))


def catalogue_text(code: str) -> str:
    """Return the text of a shipped catalogue."""
    file = importlib.resources.files("accordant") / "locale" / code / "LC_MESSAGES" / DOMAIN
    return file.read_text(encoding="utf-8")


def read_catalogue(text: str) -> tuple[Entry, ...]:
    """Return the entries of a .po file; those marked as fuzzy are left out, as ``msgfmt`` does.

    Raises
    ------
    InputError
        If a line is none of a catalogue.
    """
    entries: list[Entry] = []
    for block in re.split(r"\n\s*\n", text):
        lines = [line.strip() for line in block.splitlines() if line.strip()]
        parts: dict[str, str] = {}
        key = ""
        for line in lines:
            if line.startswith("#"):
                continue
            matched = _LINE.fullmatch(line)
            if matched is None or not (matched[1] or key):
                raise InputError(f"catalogue: {line!r:.80} is no line of a .po file")
            key = matched[1] or key
            parts[key] = parts.get(key, "") + ast.literal_eval(matched[2])
        if parts and not any(line.startswith("#,") and "fuzzy" in line for line in lines):
            said = tuple(parts[name] for name in ("msgid", "msgid_plural") if name in parts)
            entries.append((said, tuple(value for name, value in sorted(parts.items()) if name.startswith("msgstr"))))
    return tuple(entries)


def packed(entries: Sequence[Entry]) -> bytes:
    """Return entries as a .mo file holds them (GNU gettext, "The Format of GNU MO Files")."""
    ordered = sorted(("\0".join(said).encode(), "\0".join(translated).encode()) for said, translated in entries)
    count, tables = len(ordered), io.BytesIO()
    texts = io.BytesIO()
    start = 28 + 16 * count
    for column in (0, 1):
        for pair in ordered:
            tables.write(struct.pack("<II", len(pair[column]), start + texts.tell()))
            texts.write(pair[column] + b"\0")
    head = struct.pack("<7I", _MAGIC, 0, count, 28, 28 + 8 * count, 0, start)
    return head + tables.getvalue() + texts.getvalue()
