"""How far long work is: the library counts steps, and whoever looks is told.

    with steps("fitting models", len(tasks)) as advance:
        for task in tasks:
            task()
            advance()

Nothing here prints. Steps go to the `Observer` that `observed` names, or else to a bar in a notebook or on a terminal,
if there is one to look at: not into pipes, not in worker processes, not under continuous integration.
"""

from __future__ import annotations

import functools
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from accordant.registry import Registry

Advance = Callable[[], None]
Given = ParamSpec("Given")
Result = TypeVar("Result")


class HasVerbose(Protocol):
    """Whatever says by ``verbose`` whether its progress is shown."""

    verbose: int


Verbose = TypeVar("Verbose", bound=HasVerbose)


class Observer(Protocol):
    """Whoever is told how far work is."""

    def begin(self, words: str, total: int) -> Advance:
        """Return what is called after each of `total` steps, from any thread.

        Parameters
        ----------
        words
            What is done, such as ``fitting models``.
        total
            How many steps there are.
        """

    def end(self, advance: Advance) -> None:
        """Take note that nothing more comes of what `begin` returned, finished or not."""


class Silent:
    """Looks away."""

    def begin(self, words: str, total: int) -> Advance:
        """Return what does nothing."""
        del words, total
        return _nothing

    def end(self, advance: Advance) -> None:
        """Do nothing."""


SILENT = Silent()
_observer: ContextVar[Observer | None] = ContextVar("observer of progress", default=None)

bars: Registry[Observer] = Registry("progress bar", group="accordant.progress", packages=("accordant.progress_bars",))
"""``notebook`` and ``terminal``: who shows progress where nobody was named."""


@contextmanager
def observed(observer: Observer) -> Iterator[None]:
    """Tell an observer of all steps inside, and nobody else."""
    token = _observer.set(observer)
    try:
        yield
    finally:
        _observer.reset(token)


def by_verbosity(
    method: Callable[Concatenate[Verbose, Given], Result],
) -> Callable[Concatenate[Verbose, Given], Result]:
    """Return a method that tells nobody of its steps if its object has ``verbose=0``."""

    @functools.wraps(method)
    def heard(self: Verbose, /, *given: Given.args, **named: Given.kwargs) -> Result:
        """Call the method, without bars if the object is not verbose."""
        if self.verbose:
            return method(self, *given, **named)
        with observed(SILENT):
            return method(self, *given, **named)

    return heard


@contextmanager
def steps(words: str, total: int) -> Iterator[Advance]:
    """Count the steps of some work.

    Parameters
    ----------
    words
        What is done, as a participle without its end: ``fitting models``.
    total
        How many steps there are; of fewer than two nobody is told.

    Yields
    ------
    Advance
        To be called after each step, from any thread.
    """
    observer = (_observer.get() or usual()) if total > 1 else SILENT
    advance = observer.begin(words, total)
    try:
        yield advance
    finally:
        observer.end(advance)


def usual() -> Observer:
    """Return who shows progress here: a bar in a notebook or on a terminal, or nobody."""
    if "CI" in os.environ or not _first_thread_of_first_process():
        return SILENT
    if in_notebook():
        return bars.create("notebook")
    return bars.create("terminal") if sys.stderr is not None and sys.stderr.isatty() else SILENT


def in_notebook() -> bool:
    """Return whether Python answers the cells of a notebook."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return shell is not None and getattr(shell, "kernel", None) is not None


def _first_thread_of_first_process() -> bool:
    """Return whether nobody else shows progress: workers would write over each other."""
    import multiprocessing

    alone = multiprocessing.parent_process() is None and "LOKY_WORKER" not in os.environ
    return alone and threading.current_thread() is threading.main_thread()


def _nothing() -> None:
    """Do nothing."""
