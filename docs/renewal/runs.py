"""Carry out what stands in the blocks of a page, in a scratch folder, without network."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any

from docs.renewal.excerpts import cell, table_with
from docs.renewal.pages import PRINT, ROOT, Block, stand_alone

BASH = shutil.which("bash") or "/bin/bash"
LONGEST = 900  # seconds of one command
DEAD_END = "http://127.0.0.1:9"  # a proxy that nobody serves
PROGRESS = re.compile(r"^\[ *[\d.]+ s\] .*\n", re.MULTILINE)
MARK = "\x01"  # parts the output of Python blocks
# warnings are errors, but the version of matplotlib that a peer of ours pins calls pyparsing by old names
IGNORED = tuple(f"ignore::DeprecationWarning:matplotlib.{name}" for name in ("_mathtext", "_fontconfig_pattern"))
STRICT = tuple(part for words in ("error", *IGNORED) for part in ("-W", words))
# reads a built-in case or an example, and nothing that its page made
FROM_CASE = re.compile(r"accordant run (?:examples/\S+|[\w-]+)(?: --quick)? --out (?P<out>[\w-]+)")


class RenewalError(Exception):
    """A command of a page did not do what the page needs."""


@dataclass(frozen=True)
class Record:
    """One command that was carried out: what it printed, and the folder that it wrote."""

    command: str
    text: str
    scratch: Path
    seconds: float = 0.0

    def cell(self, row: str, column: str) -> str:
        """Return a cell of a printed table, as it is printed."""
        return cell(self.text, row, column)

    def number(self, row: str, column: str) -> float:
        """Return the first number in a cell of a printed table."""
        found = re.search(r"-?[\d,]*\.?\d+", self.cell(row, column))
        if found is None:
            raise LookupError(f"no number in {self.cell(row, column)!r}")
        return float(found[0].replace(",", ""))

    def first_row(self, column: str) -> str:
        """Return the name in the first row of a printed table."""
        table = table_with(self.text, [column])
        return table.row(table.lines[1])[0].strip().lstrip(">*= ")

    def found(self, pattern: str) -> str:
        """Return what the first group of a pattern matches in the printed text, whose lines are joined."""
        match = re.search(pattern, " ".join(self.text.split()))
        if match is None:
            raise LookupError(f"nothing matches {pattern!r}")
        return match[1]

    @cached_property
    def json(self) -> Any:
        """The record that the command wrote: ``run.json`` or ``slates.json``."""
        named = re.search(r"--out (\S+)", self.command)
        places = [self.scratch / named[1]] if named else sorted((self.scratch / "accordant-runs").glob("*"))
        files = [file for place in places for file in (place / "run.json", place / "slates.json") if file.is_file()]
        if not files:
            raise LookupError(f"no record of {self.command!r}")
        return json.loads(files[-1].read_text(encoding="utf-8"))

    @property
    def selected(self) -> str:
        """Name of the selected strategy of a run."""
        return str(self.json["selected"])

    @property
    def trial(self) -> dict[str, Any]:
        """What a rule for lists gained and cost on the later requests."""
        return dict(self.json["trial"])

    def score(self, strategy: str, part: str = "test") -> float:
        """Return the score of a strategy on the untouched rows, or in cross-validation (``validation``)."""
        (row,) = (row for row in self.json[part]["leaderboard"] if row["strategy"] == strategy)
        return float(row["score"]["value"])

    def interval(self, strategy: str) -> tuple[float, float]:
        """Return the ends of the interval of that score."""
        (row,) = (row for row in self.json["test"]["leaderboard"] if row["strategy"] == strategy)
        return float(row["score"]["low"]), float(row["score"]["high"])


def environment(scratch: Path) -> dict[str, str]:
    """Return the environment of commands: our interpreter first, one thread, no data but `DATA`, no network."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ACCORDANT_")}
    return kept | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]),
        "PYTHONUNBUFFERED": "1",
        "PYTHONWARNINGS": "ignore",
        "OMP_NUM_THREADS": "1",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "XDG_CACHE_HOME": str(scratch / ".cache"),
        **dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"), DEAD_END),
    }


@dataclass
class KeptRuns:
    """Runs of cases that several pages ask for by the same command: each is carried out once, and copied."""

    folder: Path
    made: dict[str, Future[Record]] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)

    def run(self, shell: Shell, command: str, out: str) -> Record:
        """Return what a command printed, with the folder that it wrote in the scratch folder of a page."""
        with self.lock:
            first = command not in self.made
            record = self.made.setdefault(command, Future())
        place = self.folder / re.sub(r"\W+", "-", command)
        if not first:
            made = record.result()
            shutil.copytree(place, shell.scratch / out)
            shell.status = 0  # what failed left nothing to copy
            return replace(made, scratch=shell.scratch, seconds=0.0)
        try:
            made = shell.carried_out(command)
            shutil.copytree(shell.scratch / out, place)  # before the page adds to it
            record.set_result(made)
        except (RenewalError, OSError, subprocess.SubprocessError) as error:
            record.set_exception(error)
        return record.result()


@dataclass
class Shell:
    """The scratch folder of one page: `examples` and, if there are data, `DATA` lie in it."""

    scratch: Path
    data: Path | None
    kept: KeptRuns
    status: int = 0
    log: list[Record] = field(default_factory=list)

    def prepare(self) -> None:
        """Put in place what commands of pages read."""
        self.scratch.mkdir(parents=True)
        (self.scratch / "examples").symlink_to(ROOT / "examples")
        if self.data is not None:
            (self.scratch / "DATA").symlink_to(self.data)

    def bring(self, names: list[str]) -> None:
        """Put single data files beside the commands."""
        for name in names:
            place = self.scratch / Path(name).name
            if self.data is not None and not place.exists():
                place.symlink_to(self.data / name)

    def run(self, command: str, *, errors: bool = False) -> Record:
        """Carry out one command, or copy what it made for another page where it can make nothing else."""
        named = None if errors else FROM_CASE.fullmatch(command)
        return self.carried_out(command, errors=errors) if named is None else self.kept.run(self, command, named["out"])

    def carried_out(self, command: str, *, errors: bool = False) -> Record:
        """Carry out one command; stderr is progress and left out, unless the command fails or `errors` asks for it."""
        started = time.perf_counter()
        done = subprocess.run(  # noqa: S603 - commands of our own pages
            [BASH, "-c", f"(exit {self.status})\n{command}"],
            cwd=self.scratch,
            env=environment(self.scratch),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if errors else subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
            timeout=LONGEST,
            check=False,
        )
        self.status = done.returncode
        if done.returncode not in {0, 2}:  # 2 says that the input is wrong, which pages show
            raise RenewalError(f"$ {command}\nended with {done.returncode}\n{done.stdout}{done.stderr or ''}")
        text = done.stdout if done.returncode == 0 else done.stdout + (done.stderr or "")
        record = Record(command, PROGRESS.sub("", text), self.scratch, time.perf_counter() - started)
        self.log.append(record)
        return record


def run_python(shell: Shell, blocks: list[Block]) -> list[tuple[str, list[str]]]:
    """Run the Python blocks of a page as one program: per block what it printed, and what each commented print did.

    Those that stand alone run in an empty folder, and a warning is an error; others among what commands wrote.
    """
    source = ["from __future__ import annotations"]
    for block in blocks:
        source.append(f"print({MARK + 'block'!r})")
        mark, end = (f"print({MARK + word!r})\n" for word in ("print", "end"))
        source.append(PRINT.sub(lambda match, mark=mark, end=end: f"{mark}{match[0]}\n{end}".rstrip("\n"), block.body))
    alone = stand_alone(blocks)
    folder = shell.scratch / "alone" if alone else shell.scratch
    folder.mkdir(exist_ok=not alone)
    (folder / "page.py").write_text("\n".join(source), encoding="utf-8")
    text = shell.run(f"cd alone && python {' '.join(STRICT)} page.py" if alone else "python page.py").text
    found = []
    for part in text.split(f"{MARK}block\n")[1:]:
        commented = re.findall(f"{MARK}print\n(.*?){MARK}end\n", part, re.DOTALL)
        found.append((re.sub(f"{MARK}(print|end)\n", "", part), [" ".join(each.split()) for each in commented]))
    return found
