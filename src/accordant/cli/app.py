"""The commands and what they have in common: options, progress on stderr, exit codes.

Exit codes: 0 done; 2 the input is wrong; 1 our fault.
"""

from __future__ import annotations

import errno
import gc
import importlib
import io
import logging
import os
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Annotated, Any, TextIO

import typer
from typer.core import TyperGroup

from accordant import __version__
from accordant.cli.library_warnings import LibraryWarnings
from accordant.errors import InputError
from accordant.naming import plain_lines
from accordant.progress import SILENT, observed
from accordant.registry import installed
from accordant.terminal import (
    say,
)


class Commands(TyperGroup):
    """The commands, each with its whole first sentence, however narrow the terminal is."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # click is part of Typer or not, by its version
        """Write a line or more for each command."""
        named = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        rows = [(name, command.get_short_help_str(WHOLE)) for name, command in named if command is not None]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


app = typer.Typer(
    name="accordant",
    cls=Commands,
    help="Decisions that several stakeholders with conflicting goals can live with, and why.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    rich_markup_mode=None,
)


FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # what a system says that has no room for more
WHOLE = 1000  # characters of a sentence that nothing is cut from
NEW_OBJECTS = 10_000  # after which cycles are looked for, not 700: libraries make half a million that stay
SPINE = (
    "accordant.cli.case_commands", "accordant.cli.run_commands", "accordant.cli.dataset_commands",
    "accordant.cli.rule_commands",
)  # fmt: skip
WINGS = ("accordant.preferences", "accordant.deliberation", "accordant.slates", "accordant.monitoring")
SERVICE = "accordant.service.command"


@app.callback(invoke_without_command=True)
def options(version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    """Decisions that several stakeholders with conflicting goals can live with, and why."""
    if version:
        typer.echo(__version__)
        raise typer.Exit


def add_commands() -> None:
    """Add the commands of the spine, of wings, and of others.

    Others bring theirs through the entry points ``accordant.commands``. The value of an entry point is a function, or a
    tuple of them such as ``COMMANDS``. One that cannot be imported, or whose name is taken, is told on stderr and left
    out: it must not take the other commands away.
    """
    for module in (*SPINE, *(f"{wing}.command" for wing in WINGS), SERVICE):
        for command in importlib.import_module(module).COMMANDS:
            app.command()(command)
    for entry in installed().select(group="accordant.commands"):
        try:
            loaded = entry.load()
            for command in loaded if isinstance(loaded, tuple) else (loaded,):
                _add_new(command)
        except Exception as error:  # noqa: BLE001 - whatever is wrong with somebody else's command
            say(f"accordant: the command {entry.name!r} of {entry.value} is left out: {error}", err=True)


def _add_new(command: Callable[..., None]) -> None:
    """Add a command whose name is free."""
    if command.__name__ in {other.callback.__name__ for other in app.registered_commands if other.callback is not None}:
        raise InputError(f"there is a command {command.__name__!r} already")
    app.command()(command)


add_commands()


def main() -> None:
    """Run the command line with its exit codes."""
    gc.set_threshold(NEW_OBJECTS, *gc.get_threshold()[1:])
    _show_progress()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # names of files may hold half a character
    try:
        try:
            with LibraryWarnings(), _bars():
                app()
        finally:
            sys.stdout.flush()
    except InputError as error:
        say(f"accordant: {error}", err=True)
        sys.exit(2)
    except BrokenPipeError:
        _give_up_output()
        sys.exit(0)
    except Exception as error:
        if isinstance(error, OSError) and error.errno in FULL:
            _give_up_output()
            say(f"accordant: standard output cannot be written: {error.strerror}", err=True)
            sys.exit(2)
        if os.environ.get("ACCORDANT_TRACEBACK"):
            raise
        say(
            f"accordant: {type(error).__name__}: {error}\nThis is a fault of accordant, not of your input. "
            "Set ACCORDANT_TRACEBACK=1 to see where it happened.",
            err=True,
        )
        sys.exit(1)


def _give_up_output() -> None:
    """Let what is still to be printed go nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _bars() -> AbstractContextManager[None]:
    """Show no bars beside JSON: whoever reads that is a program."""
    return observed(SILENT) if "--json" in sys.argv else nullcontext()


class _Lines(logging.StreamHandler):  # type: ignore[type-arg]
    """Lines on whatever standard error is when they come: bars put something in its place, to be below them."""

    def __init__(self) -> None:
        logging.Handler.__init__(self)

    @property
    def stream(self) -> TextIO:
        """Standard error."""
        return sys.stderr


class _Progress(logging.Formatter):
    """Seconds since the start before every message."""

    started = time.perf_counter()

    def format(self, record: logging.LogRecord) -> str:
        """Return a message behind the seconds since the command began."""
        return f"[{time.perf_counter() - self.started:6.1f} s] {plain_lines(record.getMessage())}"


def _show_progress() -> None:
    handler = _Lines()
    handler.setFormatter(_Progress())
    logger = logging.getLogger("accordant")
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
