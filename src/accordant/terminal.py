"""Commands: their options, what they print, escaped, and the command line that made a result."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import json
import math
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Annotated, Any, TextIO

import typer
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from accordant.errors import InputError
from accordant.naming import plain, plain_lines, steers
from accordant.tables.output import Input, check_output, is_standard_output
from accordant.terminal_table import FittedTable, broken

WIDTH = 140  # columns of a table that is piped somewhere: wide enough for a leaderboard
BEYOND_ASCII = re.compile("[^\n -~]")


def arguments(options: Mapping[str, Any], declared: type, names: tuple[str, ...]) -> list[str]:
    """Return the arguments for those options that differ from the defaults of the class that declares them.

    Parameters
    ----------
    options
        Field to value, as JSON values.
    declared
        The dataclass.
    names
        Which fields, in this order; each is an option of the command with ``-`` for ``_``.
    """
    usual = {field.name: field.default for field in dataclasses.fields(declared)}
    return [
        part
        for name in names
        if options[name] != usual[name]
        for part in (f"--{name.replace('_', '-')}", str(options[name]))
    ]


def named(declared: Mapping[str, Any]) -> str:
    """Return a name with its parameters as the command line takes them, see `accordant.naming.read_named`."""
    inside = ",".join(f"{key}={_value(value)}" for key, value in declared["parameters"].items())
    return f"{declared['name']}[{inside}]" if inside else str(declared["name"])


def _value(value: object) -> str:
    """Return JSON, or a text without quotes where it is not read as anything else."""
    if not isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    try:
        json.loads(value)
    except ValueError:
        return value
    return json.dumps(value, ensure_ascii=False)


def refuse_idle(given: Mapping[str, object], what: str) -> None:
    """Raise InputError for options, by flag, that were given and have no effect; None stands for not given."""
    idle = [flag for flag, value in given.items() if value is not None]
    if idle:
        raise InputError(f"{', '.join(idle)} has no effect on {what}")


def named_values(flag: str, given: Sequence[str], form: str) -> dict[str, str]:
    """Return the values that a repeatable option names.

    Parameters
    ----------
    flag
        The option.
    given
        As typed.
    form
        What is allowed, such as ``NAME=VALUE``.

    Raises
    ------
    InputError
        If one is not of this form, or a name repeats.
    """
    values: dict[str, str] = {}
    for text in given:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not (name and equals and value):
            raise InputError(f"{flag} is {text!r}; allowed: {form}")
        if name in values:
            raise InputError(f"{flag} names {name!r} twice")
        values[name] = value
    return values


def comma_names(flag: str, given: str) -> tuple[str, ...]:
    """Return the names of an option such as ``Bank, Applicant``, each once; raises InputError if it names nothing."""
    names = tuple(dict.fromkeys(name.strip() for name in given.split(",") if name.strip()))
    if not names:
        raise InputError(f"{flag} is {given!r}; allowed: names separated by commas")
    return names


class PlainConsole(Console):
    """A console on which every text, in a line or in a cell of a table, is printed as `plain` writes it.

    Empty lines before and after a text are kept.

    Parameters
    ----------
    stream
        Where to.
    width
        Columns where the stream is no terminal and ``$COLUMNS`` does not say how many there are.
    soft_wrap
        Whether lines are left as long as they are where nobody says how wide it is, and else are broken between words
        under their own indentation.
    """

    def __init__(self, stream: TextIO | None = None, *, width: int = WIDTH, soft_wrap: bool = False) -> None:
        stream = sys.stdout if stream is None else stream
        super().__init__(
            file=stream, width=None if stream.isatty() else _columns(width), markup=False, highlight=False, emoji=False,
            soft_wrap=soft_wrap,
        )  # fmt: skip
        self._breaks = soft_wrap and (stream.isatty() or _columns(0) > 0)

    def print(self, *objects: Any, **options: Any) -> None:
        """Print; a line with a word that is longer than it, such as a path, stays whole, so that it can be copied."""
        if self._breaks and len(objects) == 1 and isinstance(objects[0], str):
            for line in self._broken(objects[0]):
                super().print(line, **options)
            return
        words = [word for text in objects if isinstance(text, str) for word in text.split()]
        long = any(cell_len(plain(word)) > self.width for word in words)
        super().print(*objects, **({"soft_wrap": True} if long else {"crop": False}) | options)

    def _broken(self, text: str) -> list[str]:
        """Return a text in lines, with breaks between words and under its own indentation."""
        before = len(text) - len(text.lstrip("\n"))
        line = text.strip("\n")
        indent = len(line) - len(line.lstrip(" "))
        return [*[""] * before, *(broken(line, self.width, indent) or [""] * (not before))]

    def render_str(self, text: str, **options: Any) -> Text:
        """Return a text for printing; whatever is printed as a string comes through here."""
        told = text.strip("\n")
        before, after = text.split(told, 1) if told else (text, "")
        return super().render_str(before + plain(told) + after, **options)


def _columns(default: int) -> int:
    """Return how many columns the environment wants, or a default."""
    said = os.environ.get("COLUMNS", "")
    return int(said) if said.isascii() and said.isdigit() and int(said) else default


Json = Annotated[bool, typer.Option("--json", help="Print machine-readable JSON on stdout, and nothing else there.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of everything random.")]
SeedFromZero = Annotated[
    int | None, typer.Option(min=0, show_default="0", help="Seed of everything random; without it, 42 for a new run.")
]
Out = Annotated[Path | None, typer.Option(help="Where to write the result.")]
On = Annotated[
    str | None,
    typer.Option(
        metavar="WHERE",
        help="Where to work: here, processes:N, ray://local, ray://HOST:PORT, dask://HOST:PORT, queue://DATABASE.",
    ),
]
PartRows = Annotated[
    int | None,
    typer.Option("--part-rows", min=1, help="A part ends with the row group that reaches so many rows; 500000."),
]
RowId = Annotated[
    str | None, typer.Option("--id", metavar="COLUMN", help="Column with what rows are called; none for numbers.")
]
CaseName = Annotated[str, typer.Argument(metavar="CASE", help="A built-in case or a path to a YAML file.")]
RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="Folder that `accordant run` wrote.")]
RunOrCase = Annotated[
    str,
    typer.Argument(metavar="RUN|CASE", help="Folder that `accordant run` wrote, or a case: its run is made first."),
]
Add = Annotated[bool, typer.Option("--add/--no-add", help="Add the result to the run as a section.")]
Data = Annotated[str | None, typer.Option(help="Data file, or folder that holds it.")]
Command = Callable[..., None]

MODEL_FLAGS: Mapping[str, Any] = {
    "llm": Annotated[str | None, typer.Option(metavar="BASE_URL", help="Endpoint that speaks the OpenAI protocol.")],
    "model": Annotated[str | None, typer.Option(help="Name of the language model at --llm.")],
    "speaks_for": str | None,
    "key_variable": Annotated[
        str | None, typer.Option(help="Environment variable with the key of --llm, or none; OPENAI_API_KEY by default.")
    ],
    "fallback": bool,
    "calls": Annotated[int | None, typer.Option(min=1, help="Most requests to the model.")],
    "tokens": Annotated[int | None, typer.Option(min=1, help="Most tokens of the model.")],
    "seconds": Annotated[float | None, typer.Option(min=0.001, help="Most seconds spent with the model.")],
    "timeout": Annotated[float | None, typer.Option(min=0.001, help="Most seconds of one request; 30 by default.")],
    "record": Annotated[Path | None, typer.Option(help="File to record the conversations with the model in.")],
    "replay": Annotated[Path | None, typer.Option(help="File with recorded conversations: no request is sent.")],
}
"""Flags of every command in which a language model may speak; whom it speaks for is explained by the command."""

LAST_ROW = 10**12  # beyond, a number that was typed is no row
FIELDS = {"llm": "base_url", "speaks_for": "agents"}  # what `ModelOptions` calls flags of another name


def with_model(*, speaks_for: str, fallback: str) -> Callable[[Command], Command]:
    """Let a command take `MODEL_FLAGS` where its parameter ``model`` stands, which gets them as one mapping.

    Typer reads flags from a signature, so that is what is written here.

    Parameters
    ----------
    speaks_for, fallback
        Help of the flags ``--speaks-for`` and ``--fallback``.
    """
    told = {
        "speaks_for": typer.Option(help=speaks_for),
        "fallback": typer.Option("--fallback", help=fallback),
    }
    flags = [
        inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=False if kind is bool else None,
            annotation=Annotated[kind, told[name]] if name in told else kind,
        )
        for name, kind in MODEL_FLAGS.items()
    ]  # fmt: skip

    def decorate(command: Command) -> Command:
        """Give one command the flags."""

        @functools.wraps(command)
        def called(**given: Any) -> None:
            """Call the command with the options of the model as one mapping."""
            model = {FIELDS.get(name, name): given.pop(name) for name in MODEL_FLAGS}
            command(**given, model=model)

        signature = inspect.signature(command, eval_str=True)
        parameters = [
            flag
            for parameter in signature.parameters.values()
            for flag in (flags if parameter.name == "model" else [parameter])
        ]
        called.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        called.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return called

    return decorate


def capacities(given: Sequence[str], form: str) -> dict[str, float]:
    """Return name to number, from options such as ``bed=5``.

    Parameters
    ----------
    given
        What ``--capacity`` was given.
    form
        What is allowed, for messages.

    Raises
    ------
    InputError
        If an option has another form, or a resource is named twice.
    """
    amounts: dict[str, float] = {}
    for text in given:
        name, equals, units = text.partition("=")
        try:
            amount = float(units)
        except ValueError:
            amount = float("nan")
        if not (name.strip() and equals and 0 <= amount < math.inf):
            raise InputError(f"--capacity is {text!r}; allowed: {form}")
        if name.strip() in amounts:
            raise InputError(f"--capacity names {name.strip()!r} twice")
        amounts[name.strip()] = amount
    return amounts


def row_numbers(given: str, option: str = "--row", task: str = "explained") -> list[int]:
    """Return the row numbers of an option such as ``0,4``, each once.

    Raises
    ------
    InputError
        If one is no row; the message says for what task.
    """
    try:
        rows = [int(number) for number in given.split(",")]
    except ValueError:
        raise InputError(f"{option} is {given!r}; allowed: whole numbers separated by commas, such as 0,4") from None
    for row in rows:
        if not 0 <= row <= LAST_ROW:
            raise InputError(f"row {row} is to be {task}; allowed: numbers of rows, from 0")
    return list(dict.fromkeys(rows))


def print_json(value: Any) -> None:
    """Print one JSON value and a newline; what could steer a terminal is written as JSON escapes."""
    text = json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False)
    sys.stdout.write(BEYOND_ASCII.sub(lambda match: _json_escaped(match.group()), text) + "\n")


def _json_escaped(character: str) -> str:
    return json.dumps(character)[1:-1] if steers(character) else character


def say(text: str, *, err: bool = False) -> None:
    """Print lines to standard output or standard error, each as `plain` writes it."""
    typer.echo(plain_lines(text), err=err)


def working(on: str | None, jobs: int | None = None) -> AbstractContextManager[Any]:
    """Return the block in which fits, runs and comparisons are carried out where ``--on`` says, if it says anything.

    Raises
    ------
    InputError
        If ``--jobs`` was given too, or there is no such place.
    """
    if on is None:
        return nullcontext()
    if jobs:
        raise InputError(f"--on {on} and --jobs {jobs} both say how many work side by side; give one of them")
    from accordant.compute.executor import compute

    return compute(on)


def check_out(
    out: Path | None, inputs: Iterable[Input], *, json: bool, check: Callable[..., None] = check_output
) -> None:
    """Refuse what ``--out`` may not name, before the work and not after it.

    Parameters
    ----------
    out
        What the user named.
    inputs
        What the command reads.
    json
        Whether JSON goes to standard output.
    check
        What refuses a place.

    Raises
    ------
    InputError
        If `check` refuses the place, or two results would go to standard output.
    """
    if out is None:
        return
    if json and is_standard_output(out):
        raise InputError(f"--out {out} and --json both write to standard output; allowed: one of them")
    check(out, inputs)


def print_records(title: str, records: Sequence[Mapping[str, Any]], as_json: bool) -> None:
    """Print records as JSON or as a table."""
    if as_json:
        print_json(list(records))
        return
    table = FittedTable(title)
    for name in records[0]:
        table.add(name.replace("_", " "))
    for record in records:
        table.add_row(*(_text(value) for value in record.values()))
    PlainConsole().print(table)


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name}={default}" for name, default in value.items())
    return "" if value is None else str(value)
