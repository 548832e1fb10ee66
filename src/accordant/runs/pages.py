"""Writing a result down: a page alone, or a new folder with the page and its JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from accordant.errors import InputError
from accordant.tables.output import (
    Input,
    check_output,
    check_output_folder,
    is_standard_output,
    output_folder,
    write_output,
    write_part,
)

PAGE = "report.html"


def write_page(page: str, content: Mapping[str, Any], record: str, out: Path) -> Path:
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
        A file that ends with ``.html``, standard output, or a folder that does not exist.

    Raises
    ------
    InputError
        If the place is refused, see `check_page`, or cannot be written.
    """
    check_page(out)
    if _is_page(out):
        write_output(out, page)
        return out
    with output_folder(out) as folder:
        write_part(folder / record, _record_text(content))
        write_part(folder / PAGE, page)
    return out / PAGE


def add_page(page: str, content: Mapping[str, Any], record: str, folder: Path) -> Path:
    """Write a page and the JSON into a folder that is there, in place of older ones; see `write_page`."""
    write_output(folder / record, _record_text(content))
    write_output(folder / PAGE, page)
    return folder / PAGE


def _record_text(content: Mapping[str, Any]) -> str:
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def write_html(page: Callable[[], str], out: Path) -> Path:
    """Write a page alone.

    Parameters
    ----------
    page
        Returns the HTML; asked when the place was looked at.
    out
        A file that ends with ``.html``.

    Raises
    ------
    InputError
        If it has another ending, or the place is refused.
    """
    if not _is_page(out):
        raise InputError(f"the page is {out}; allowed: a file that ends with .html")
    check_output(out)
    write_output(out, page())
    return out


def check_page(out: Path, inputs: Iterable[Input] = ()) -> None:
    """Refuse a place for a page, or for a new folder with it, before the work and not after it.

    Raises
    ------
    InputError
        If the name ends with anything but ``.html``, or `check_output` or `check_output_folder` refuses it.
    """
    if _is_page(out):
        check_output(out, inputs)
    elif out.suffix:
        raise InputError(
            f"--out is {out}; allowed: a file that ends with .html, or a new folder without such an ending"
        )
    else:
        check_output_folder(out, inputs)


def _is_page(out: Path) -> bool:
    return out.suffix.lower() == ".html" or is_standard_output(out)
