"""Keys: read when a request is made, kept nowhere, and taken out of everything that a server says."""

from __future__ import annotations

import ipaddress
import json
import os
import re
import unicodedata
from urllib.parse import unquote, urlsplit

from accordant.errors import InputError

SHORTEST_KEY = 4  # a shorter one could not be told from ordinary words in a text
REMOVED = "[key removed]"

_SPELLINGS = (  # how JSON may spell characters: without, and with backslashes and quotes behind a backslash
    re.compile(r"\\u([0-9a-fA-F]{4})|\\([bfnrt/])|(.)", re.DOTALL),
    re.compile(r'\\u([0-9a-fA-F]{4})|\\([bfnrt/"\\])|(.)', re.DOTALL),
)


def read_key(variable: str | None, base_url: str) -> str | None:
    """Return the key in an environment variable, or None if there is none.

    Raises InputError if it cannot be a key, stands in the address, or would travel unencrypted to another machine; the
    message never holds it.
    """
    key = os.environ.get(variable, "").strip() if variable else ""
    if not key:
        return None
    if len(key) < SHORTEST_KEY or not re.fullmatch(r"[!-~]+", key):
        raise InputError(
            f"the environment variable {variable} holds no key; allowed: {SHORTEST_KEY} or more printable ASCII "
            "characters without blanks"
        )
    check_without_key(base_url, variable)
    parts = urlsplit(base_url)
    if parts.scheme == "http" and not is_loopback(parts.hostname or ""):
        raise InputError(
            f"the key in {variable} would travel unencrypted to {parts.hostname}; use https, or name no "
            "variable for a server without keys: --key-variable none, in Python key_variable=None"
        )
    return key


def check_without_key(base_url: str, variable: str | None) -> None:
    """Refuse an address whose path holds the key: addresses stand in transcripts.

    Raises InputError if it does; the message does not.
    """
    key = os.environ.get(variable, "").strip() if variable else ""
    path = urlsplit(base_url).path
    if len(key) >= SHORTEST_KEY and (key in path or key in unquote(path)):
        raise InputError(
            f"base_url holds what the environment variable {variable} holds; allowed: an address without the key"
        )


def is_loopback(host: str) -> bool:
    """Return whether a host is this machine; then nothing has to leave it, and no proxy is asked."""
    if host.rstrip(".").lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def check_address(base_url: str) -> str:
    """Return the address of a server, without a slash at its end.

    Raises InputError if it is no address, or holds a user, a query or a fragment: keys do not belong into
    configurations.
    """
    try:
        parts = urlsplit(base_url)
        secretive = parts.username is not None or parts.password is not None or bool(parts.query or parts.fragment)
        named = parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        secretive, named = False, False
    if secretive:
        raise InputError(
            "base_url holds a user, a query or a fragment; allowed: scheme, host, port and path. A key is read from "
            "the environment variable that key_variable names"
        )
    if not named:
        raise InputError("base_url is no address of a server; allowed: such as http://localhost:11434/v1")
    return base_url.rstrip("/")


def without_key(text: str, key: str | None) -> str:
    """Return a text without the key, as it is or as JSON writes it."""
    if key is None:
        return text
    for form in (key, json.dumps(key)[1:-1], escaped(json.dumps(key))[1:-1]):
        text = text.replace(form, REMOVED)
    return text


def without_hidden_key(text: str, key: str | None) -> str:
    """Return a text without the key, also where escapes, blanks or invisible characters hide it.

    What `readable` drops could otherwise put the key together again. Only the key goes, the rest stays as it is.
    """
    text = without_key(text, key)
    if key is None:
        return text
    for spelling in _SPELLINGS:
        shown = [(_decoded(match), match) for match in spelling.finditer(text)]
        shown = [(character, match) for character, match in shown if not hidden(character)]
        plain = "".join(character for character, _ in shown)
        for place in reversed(list(re.finditer(re.escape(key), plain))):
            first, last = shown[place.start()][1], shown[place.end() - 1][1]
            text = text[: first.start()] + REMOVED + text[last.end() :]
    return text


def _decoded(spelled: re.Match[str]) -> str:
    """Return the character that a spelling stands for."""
    code, short, plain = spelled.groups()
    if code:
        return chr(int(code, 16))
    return {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}.get(short, short) if short else str(plain)


def hidden(character: str) -> bool:
    """Return whether a character is a blank, a control or an invisible one: no key holds any."""
    return character.isspace() or unicodedata.category(character).startswith("C")


def escaped(text: str) -> str:
    """Return JSON text in which no character can be taken for a mark of a prompt."""
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def readable(text: str, length: int) -> str:
    """Return a text on one line, without control and invisible characters, and at most `length` characters long."""
    kept = (
        " " if character.isspace() else character
        for character in text[: 8 * length]  # what is removed is rarely more than that
        if character.isspace() or not unicodedata.category(character).startswith("C")
    )
    line = " ".join("".join(kept).split())
    return line if len(line) <= length else line[: length - 1] + "…"
