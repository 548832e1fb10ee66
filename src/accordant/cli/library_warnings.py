"""Warnings of libraries while a command works: each one told once at its end, with how often it came.

A library repeats itself for every fit, and threads defeat Python's own memory of what was shown: a run wrote thousands
of lines, in which the one that mattered was not seen.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from types import TracebackType
from typing import Any, Self

from accordant.terminal import say

NUMBER = re.compile(r"[-+]?\d[\d.,]*(?:e[-+]?\d+)?")  # warnings that differ in numbers alone are alike
MOST_SHOWN = 20
LONGEST = 300  # characters of one warning


class LibraryWarnings:
    """Collects warnings as long as it is entered, and tells them on stderr when it is left."""

    def __init__(self) -> None:
        self._times: Counter[tuple[str, str]] = Counter()
        self._first: dict[tuple[str, str], str] = {}
        self._shown_by_python: Any = None

    def __enter__(self) -> Self:
        self._shown_by_python, warnings.showwarning = warnings.showwarning, self._note  # what Python offers for this
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        warnings.showwarning = self._shown_by_python
        for line in self.lines():
            say(line, err=True)

    def lines(self) -> list[str]:
        """Return a line for each distinct warning, the first one first."""
        shown = [
            f"warning: {kind}: {self._first[kind, alike]}" + (f" ({times:,} times)" if times > 1 else "")
            for (kind, alike), times in list(self._times.items())[:MOST_SHOWN]
        ]
        more = len(self._times) - len(shown)
        return shown + ([f"warning: {more:,} other kinds are not shown"] if more else [])

    def _note(
        self, message: Warning | str, category: type[Warning], filename: str, lineno: int, *_: object, **__: object
    ) -> None:
        """Count a warning."""
        del filename, lineno
        text = " ".join(str(message).split())
        key = category.__name__, NUMBER.sub("#", text)
        self._times[key] += 1
        self._first.setdefault(key, text if len(text) <= LONGEST else text[: LONGEST - 1] + "…")
