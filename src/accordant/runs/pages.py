"""Writing a result down: a page alone, or a new folder with the page and its JSON."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from accordant.errors import InputError

PAGE = "report.html"


def write_page(page: str, content: Mapping[str, Any], record: str, out: Path, what: str) -> Path:
    """Write a page, or a new folder with the page and the JSON; return the path of the page.

    Parameters
    ----------
    page
        HTML.
    content
        JSON values.
    record
        Name of the JSON file in a folder.
    out
        A file that ends with ``.html``, or a folder that does not exist.
    what
        What is written, for messages.

    Raises
    ------
    InputError
        If the folder exists, or nothing can be written there.
    """
    refuse_place(out)
    try:
        if out.suffix.lower() == ".html":
            out.write_text(page, encoding="utf-8")
            return out
        out.mkdir(parents=True)
        text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)
        (out / record).write_text(text + "\n", encoding="utf-8")
        (out / PAGE).write_text(page, encoding="utf-8")
    except OSError as error:
        raise InputError(f"the {what} cannot be written to {out}: {error.strerror}") from None
    return out / PAGE


def refuse_place(out: Path) -> None:
    """Refuse a place where nothing can be written, before the work and not after it.

    Raises
    ------
    InputError
        If a folder exists, for it is written once; if the name ends with anything but ``.html``; or if the folder
        above does not exist or cannot be written to.
    """
    if out.suffix.lower() not in ("", ".html"):
        raise InputError(
            f"--out is {out}; allowed: a file that ends with .html, or a new folder without such an ending"
        )
    page = out.suffix.lower() == ".html"
    if out.exists() and not (page and out.is_file()):
        raise InputError(f"{out} exists; name another folder with --out, or a file that ends with .html")
    above = out.parent
    while not page and not above.exists():
        above = above.parent
    if not above.is_dir():
        raise InputError(f"--out is {out}; there is no folder {above}")
    if not os.access(out if out.exists() else above, os.W_OK):
        raise InputError(f"--out is {out}; {out if out.exists() else above} cannot be written to")
