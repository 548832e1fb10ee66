"""Bars with the time that is left: rich on a terminal, tqdm in a notebook that has it."""

from __future__ import annotations

import importlib.util
import sys
import time
from collections.abc import Iterator
from functools import cache
from typing import Any

from rich.console import RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

from accordant.naming import plain
from accordant.progress import Advance, Observer, bars
from accordant.terminal import PlainConsole

PATIENCE = 0.5  # seconds before a bar appears: what is done sooner needs none
BETWEEN = 0.1  # seconds between two drawings


class PatientProgress(Progress):
    """Bars of rich, each of which appears when it was not done at once."""

    def get_renderables(self) -> Iterator[RenderableType]:
        """Return a table of the bars that are shown."""
        shown = [task for task in self.tasks if (task.elapsed or 0.0) >= PATIENCE]
        if shown:
            yield self.make_tasks_table(shown)


class RichBars:
    """Bars below each other on standard error, gone when the work is done; what is printed meanwhile stands above.

    They are drawn anew as steps are done, not by a thread that refreshes them: a process with a second thread forks no
    workers.
    """

    def __init__(self) -> None:
        self._shown: Progress | None = None
        self._drawn = 0.0
        self._tasks: dict[Advance, Any] = {}

    def begin(self, words: str, total: int) -> Advance:
        """Show another bar; the first one opens the display."""
        if self._shown is None:
            self._shown = PatientProgress(
                SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(bar_width=24),
                MofNCompleteColumn(), TimeRemainingColumn(), TextColumn("left"),
                console=PlainConsole(sys.stderr), transient=True, auto_refresh=False,
            )  # fmt: skip
            self._shown.start()
        shown, task = self._shown, self._shown.add_task(plain(words), total=total)

        def advance() -> None:
            """Move the bar by one step, and draw it if it was drawn long enough ago."""
            shown.advance(task)
            if time.monotonic() - self._drawn > BETWEEN:
                self._drawn = time.monotonic()
                shown.refresh()

        self._tasks[advance] = task
        return advance

    def end(self, advance: Advance) -> None:
        """Take the bar away; the last one closes the display."""
        assert self._shown is not None
        self._shown.remove_task(self._tasks.pop(advance))
        if not self._tasks:
            self._shown.stop()
            self._shown = None


class TqdmBars:
    """Bars of tqdm, which draws with widgets where the notebook has them."""

    def __init__(self) -> None:
        self._shown: dict[Advance, Any] = {}

    def begin(self, words: str, total: int) -> Advance:
        """Show a bar."""
        bar = _tqdm()(total=total, desc=plain(words), leave=False, delay=PATIENCE)

        def advance() -> None:
            """Move the bar by one step."""
            bar.update()

        self._shown[advance] = bar
        return advance

    def end(self, advance: Advance) -> None:
        """Close the bar."""
        self._shown.pop(advance).close()


def _tqdm() -> Any:
    """Return tqdm with widgets, or with text where there are none: it warns of their absence in every notebook."""
    if importlib.util.find_spec("ipywidgets") is None:
        from tqdm.std import tqdm
    else:
        from tqdm.auto import tqdm
    return tqdm


@bars.register("terminal")
@cache
def terminal_bars() -> Observer:
    """Return the one display of this process."""
    return RichBars()


@bars.register("notebook")
@cache
def notebook_bars() -> Observer:
    """Return bars of tqdm where it is installed, otherwise of rich."""
    return TqdmBars() if importlib.util.find_spec("tqdm") is not None else RichBars()
