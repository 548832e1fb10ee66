"""The text of a file of ballots, or an error that names the line."""

from __future__ import annotations

from pathlib import Path

from accordant.errors import DataError


def text_of(file: Path) -> str:
    """Return the text of a file without its byte order mark.

    Raises
    ------
    DataError
        If the file is missing, cannot be read, or is not UTF-8.
    """
    try:
        content = file.read_bytes()
    except FileNotFoundError:
        raise DataError(f"{file}: there is no such file") from None
    except OSError as error:
        raise DataError(f"{file} cannot be read: {error.strerror}") from None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        number = content.count(b"\n", 0, error.start) + 1
        raise DataError(
            f"{file}, line {number}: byte {content[error.start]:#04x} is not UTF-8; allowed: UTF-8"
        ) from None
