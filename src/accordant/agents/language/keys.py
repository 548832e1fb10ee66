"""Keys: read when a request is made, kept nowhere, and taken out of everything that a server says."""

from __future__ import annotations

import json
import os
import re
import unicodedata
from urllib.parse import urlsplit

from accordant.errors import InputError

SHORTEST_KEY = 4  # a shorter one could not be told from ordinary words in a text
REMOVED = "[key removed]"
LOOPBACK = ("localhost", "127.0.0.1", "::1")

_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")


def read_key(variable: str | None, base_url: str) -> str | None:
    """Return the key in an environment variable, or None if there is none.

    Raises
    ------
    InputError
        If it cannot be a key, or would travel unencrypted to another machine; the message never holds it.
    """
    key = os.environ.get(variable, "").strip() if variable else ""
    if not key:
        return None
    if len(key) < SHORTEST_KEY or not re.fullmatch(r"[!-~]+", key):
        raise InputError(
            f"the environment variable {variable} holds no key; allowed: {SHORTEST_KEY} or more printable ASCII "
            "characters without blanks"
        )
    parts = urlsplit(base_url)
    if parts.scheme == "http" and parts.hostname not in LOOPBACK:
        raise InputError(
            f"the key in {variable} would travel unencrypted to {parts.hostname}; use https, or key_variable=None for "
            "a server without keys"
        )
    return key


def check_address(base_url: str) -> str:
    """Return the address of a server, without a slash at its end.

    Raises
    ------
    InputError
        If it is no address, or holds a user, a query or a fragment: keys do not belong into configurations.
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
    """Return a text without the key, also where escapes of any character hide it; then it holds no escapes."""
    text = without_key(text, key)
    plain = _ESCAPE.sub(lambda found: chr(int(found[1], 16)), text).replace("\\/", "/")
    return plain.replace(key, REMOVED) if key is not None and key in plain else text


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
