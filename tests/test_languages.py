"""Catalogues are complete, their fields agree with the source, and .po files are read as gettext's own tools read them."""

from __future__ import annotations

import ast
import gettext
import io
import string
from pathlib import Path

import pytest

from accordant.errors import InputError, UnknownNameError
from accordant.languages import catalogue_text, language, languages, packed, read_catalogue

SOURCE = Path(__file__).parent.parent / "src" / "accordant"
TRANSLATED = [code for code in languages() if code != "en"]


def messages():
    """Every text that is marked as a message anywhere in the package."""
    found = {}
    for file in sorted(SOURCE.rglob("*.py")):
        text = file.read_text(encoding="utf-8")
        if "message(" not in text or file.name == "languages.py" and "def message" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "message":
                assert isinstance(node.args[0], ast.Constant), (
                    f"{file}:{node.lineno}: only a plain text can be translated"
                )
                found.setdefault(node.args[0].value, f"{file.relative_to(SOURCE)}:{node.lineno}")
    return found


def fields(text):
    """The names of fields of a message."""
    return sorted({name for _, name, _, _ in string.Formatter().parse(text) if name is not None})


@pytest.mark.parametrize("code", TRANSLATED)
def test_a_catalogue_holds_every_message_and_no_other(code):
    entries = {said[0]: translated for said, translated in read_catalogue(catalogue_text(code))}
    entries.pop("")
    assert sorted(set(messages()) - set(entries)) == []
    assert sorted(set(entries) - set(messages())) == []
    assert [said for said, translated in entries.items() if not all(translated)] == []


@pytest.mark.parametrize("code", TRANSLATED)
def test_fields_of_translations_are_those_of_the_message(code):
    for said, translated in read_catalogue(catalogue_text(code)):
        for words in translated if said[0] else ():
            assert fields(words) == fields(said[-1]), words


@pytest.mark.parametrize("code", TRANSLATED)
def test_sentences_end_alike(code):
    for said, translated in read_catalogue(catalogue_text(code)):
        if said[0]:
            assert said[0].endswith(".") == translated[0].endswith("."), translated[0]


def test_there_are_messages_to_translate():
    assert len(messages()) > 80
    assert set(TRANSLATED) >= {"de"}


def test_a_catalogue_is_packed_as_gettext_reads_it():
    text = (
        'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=UTF-8\\n"\n'
        '"Plural-Forms: nplurals=2; plural=(n != 1);\\n"\n\n'
        '# a remark\nmsgid "one line"\nmsgid_plural "{n} lines"\nmsgstr[0] "eine Zeile"\nmsgstr[1] "{n} Zeilen"\n\n'
        '#, fuzzy\nmsgid "unsure"\nmsgstr "falsch"\n\nmsgid ""\n"long "\n"text"\nmsgstr ""\n"langer "\n"Täxt"\n'
    )
    found = gettext.GNUTranslations(io.BytesIO(packed(read_catalogue(text))))
    assert found.gettext("long text") == "langer Täxt"
    assert found.gettext("unsure") == "unsure"
    assert [found.ngettext("one line", "{n} lines", n) for n in (1, 2)] == ["eine Zeile", "{n} Zeilen"]


def test_what_is_no_catalogue_is_refused():
    with pytest.raises(InputError, match="is no line of a .po file"):
        read_catalogue('msgid "a"\nmsgstr b')
    with pytest.raises(InputError, match="is no line of a .po file"):
        read_catalogue('"text without a key"')


def test_languages_by_their_code():
    assert languages()[0] == "en"
    with pytest.raises(UnknownNameError, match="did you mean"):
        language("dee")


@pytest.mark.parametrize(
    ("code", "value", "digits", "text"),
    [
        ("en", 1234.5, None, "1,234.5"), ("de", 1234.5, None, "1.234,5"), ("en", -3.0, None, "−3"),
        ("de", 0.1288, None, "0,129"), ("en", 78924.0, None, "78,924"), ("de", 11.25, 1, "11,2"),
    ],
)  # fmt: skip
def test_numbers_as_a_language_writes_them(code, value, digits, text):
    assert language(code).number(value, digits) == text


def test_names_in_one_phrase():
    assert language("en").listed(["a", "b", "c"]) == "a, b and c"
    assert language("de").listed(["a", "b"]) == "a und b"
    assert language("de").listed([]) == ""
