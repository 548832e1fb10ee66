"""`Ledger`: what of a large job is done, a line for each part, in the folder that holds what came of it.

A part is done once its output stands under its name and its line is written. Whoever carries the job on hands the old
line to the task, which does nothing if what it would read and what it wrote are still the same. So a driver may die, a
machine may go, and the job ends with the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from accordant.compute.executor import RETRIES, Executor, Failure
from accordant.compute.tasks import Task, Told
from accordant.errors import AccordantError, InputError
from accordant.progress import steps
from accordant.tables.output import (
    append_lines,
    check_output_folder,
    one_writer,
    output_folder,
    write_output,
    write_part,
)
from accordant.tables.text import file_hash, read_text

PLAN, LINES = "plan.json", "parts.jsonl"
SHOWN = 3  # parts that failed are named, up to so many


@dataclass(frozen=True)
class Ledger:
    """The folder of a job.

    Attributes
    ----------
    folder
        Where it is.
    task, items
        What the job is.
    """

    folder: Path
    task: Task
    items: Sequence[Told]

    @classmethod
    def of(cls, folder: Path, task: Task, items: Sequence[Told]) -> Self:
        """Begin a job in a new folder or in one where nothing was done of another, or take up the same one.

        Raises
        ------
        InputError
            If something else is there.
        """
        job = cls(folder, task, items)
        if not folder.exists():
            check_output_folder(folder)
            with output_folder(folder) as made:
                write_part(made / PLAN, job._plan)
                write_part(made / LINES, "")
            return job
        if not (folder / PLAN).is_file():
            raise InputError(f"{folder} exists and holds no parts of a job; name another folder")
        if read_text(folder / PLAN) != job._plan:
            if not _is_untouched(folder):
                raise job._taken()
            with one_writer(folder):
                if not _is_untouched(folder):
                    raise job._taken()
                write_output(folder / PLAN, job._plan)
        return job

    @cached_property
    def _plan(self) -> str:
        """What its file says of the job."""
        plan = {"task": self.task.name, "options": dict(self.task.options), "parts": list(self.items)}
        return json.dumps(plan, indent=1, ensure_ascii=False) + "\n"

    def _taken(self) -> InputError:
        """Return what is said where the folder holds another job."""
        difference = _difference(self.folder, json.loads(self._plan))
        return InputError(f"{self.folder} holds parts of another job ({difference}); name another folder")

    def lines(self) -> dict[int, Told]:
        """Return what is written of parts that are done, by number; a line that was cut off is not there."""
        lines = {}
        text = (self.folder / LINES).read_text("utf-8", "replace")
        for line in text.split("\n"):  # names may hold other ends of lines
            try:
                told = json.loads(line)
                lines[int(told["part"])] = told
            except (ValueError, LookupError, TypeError):
                continue
        return lines

    def carry_out(
        self, executor: Executor, *, doing: str, places: Mapping[str, str], retries: int = RETRIES
    ) -> list[Told]:
        """Return the line of every part, in order, once all are done.

        Parameters
        ----------
        executor
            Who carries them out.
        doing
            What is done, for whoever watches.
        places
            Options of the task that say where something is, and not what is done: they may change meanwhile. The folder
            of the job is among them as ``out``.
        retries
            See `Executor.run`.

        Raises
        ------
        InputError, AccordantError
            If parts failed, with the first of them: the others are done, and stay so. And if the folder was taken for
            another job meanwhile.
        """
        with one_writer(self.folder), steps(doing, len(self.items)) as advance:
            if read_text(self.folder / PLAN) != self._plan:
                raise self._taken()
            before = self.lines()
            self._keep(before)  # behind a line that was cut off no other can be added
            asked = [{**item, "before": before.get(number)} for number, item in enumerate(self.items)]
            done, failed = dict[int, Told](), dict[int, Exception]()
            task = Task(self.task.name, {**self.task.options, **places, "out": str(self.folder.absolute())})
            with closing(executor.run(task, asked, retries=retries)) as arriving:
                for number, result in arriving:
                    if isinstance(result, Failure):
                        failed[number] = result.error
                        continue
                    done[number] = line = {"part": number, **result}
                    if line != before.get(number):
                        append_lines(self.folder / LINES, _line(line))
                    advance()
            if failed:
                raise _failure(failed, len(self.items), self.folder)
            self._keep(done)
        return [done[number] for number in sorted(done)]

    def _keep(self, lines: Mapping[int, Told]) -> None:
        """Write the lines of parts in order, and nothing else."""
        write_output(self.folder / LINES, "".join(_line(lines[number]) for number in sorted(lines)))


@contextmanager
def part_output(
    options: Mapping[str, Any], item: Mapping[str, Any], name: str, fingerprint: str
) -> Iterator[PartOutput]:
    """Open the place of a part's output; where it is done already, its `line` is what was written of it.

    Parameters
    ----------
    options, item
        What the task was given.
    name
        Of the file that the part writes.
    fingerprint
        Of what it reads.
    """
    path, before = Path(options["out"]) / name, item.get("before")
    same = before is not None and before.get("input") == fingerprint and path.is_file()
    if before is not None and same and file_hash(path) == before.get("sha256"):
        yield PartOutput(path, fingerprint, {key: value for key, value in before.items() if key != "part"})
        return
    output = PartOutput(path, fingerprint)
    yield output
    output.line = {"input": fingerprint, **output.told, "output": name, "sha256": file_hash(path)}


@dataclass
class PartOutput:
    """Where a part writes, and what is written of it.

    Attributes
    ----------
    path
        Where its output goes.
    fingerprint
        Of what it reads.
    line
        What the ledger holds of it; None until it is done.
    told
        What the task says of it.
    """

    path: Path
    fingerprint: str
    line: Told | None = None
    told: Told = field(default_factory=dict)

    def finished(self) -> Told:
        """Return the line of a part that is done."""
        assert self.line is not None
        return self.line


def _is_untouched(folder: Path) -> bool:
    """Whether nothing was done of the job in a folder: wrong input may have failed every part."""
    return {path.name for path in folder.iterdir()} == {PLAN, LINES} and not (folder / LINES).stat().st_size


def _line(told: Told) -> str:
    return json.dumps(told, ensure_ascii=False, sort_keys=True) + "\n"


def _failure(failed: Mapping[int, Exception], total: int, folder: Path) -> AccordantError:
    """Return one error for all parts that failed: of wrong input if all of them are."""
    shown = [f"part {number}: {failed[number]}" for number in sorted(failed)[:SHOWN]]
    more = f"; and {len(failed) - SHOWN} more" if len(failed) > SHOWN else ""
    others = f", the others stand in {folder}" if len(failed) < total else ""
    words = f"{len(failed)} of {total} parts failed{others}: {'; '.join(shown)}{more}"
    wrong = all(isinstance(error, InputError) for error in failed.values())
    return InputError(words) if wrong else AccordantError(words)


def _difference(folder: Path, plan: Told) -> str:
    """Return in what a folder's plan differs, in a word."""
    try:
        other = json.loads(read_text(folder / PLAN))
        different = [name for name, value in plan.items() if other.get(name) != value]
        both = {**plan["options"], **other["options"]}
        options = [name for name in both if plan["options"].get(name) != other["options"].get(name)]
    except (ValueError, LookupError, TypeError, AttributeError):
        return "its plan was changed"
    return f"other {' and '.join(options if different == ['options'] else different)}"
