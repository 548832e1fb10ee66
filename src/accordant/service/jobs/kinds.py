"""What jobs do, by kind; every effect checks the lease in its own transaction, so that it happens once."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from sqlalchemy import Connection, Row, select

from accordant.cases.files import built_in_files
from accordant.compute.executor import Failure, carried_out
from accordant.compute.tasks import Task as PartTask
from accordant.errors import InputError, UnknownNameError, spec_error
from accordant.learning.effort import Effort
from accordant.progress import Advance, observed
from accordant.runs import RunOptions, carry_out, read_run, write_run
from accordant.service.contests import Contestation
from accordant.service.jobs.parts import forget, mark_decided, next_part
from accordant.service.jobs.queue import Lease, LeaseLostError, advance, finish, hold
from accordant.service.publication import publish
from accordant.service.schema import api_client
from accordant.service.secrets import Erased
from accordant.service.service import Service
from accordant.studies.execution import StudyOptions
from accordant.studies.folder import carry_out_study
from accordant.tables.scratch import ScratchFolder

PART = "part"  # a kind that only workers take that are told so: it names files to read and write
CASE_NAME = r"^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$"


class StoppedError(Exception):
    """The worker is told to stop: whoever comes next carries the job on."""


@dataclass(eq=False)
class Task:
    """A job that is being done.

    Attributes
    ----------
    service
        Where.
    lease
        What.
    cases
        Folder of case files that may be carried out beside the built-in ones.
    stopping
        Set when the worker is to stop.
    lost
        Set when the lease is another's.
    stage
        What is being done now, for whoever looks.
    """

    service: Service
    lease: Lease
    cases: Path | None = None
    stopping: threading.Event = field(default_factory=threading.Event)
    lost: threading.Event = field(default_factory=threading.Event)
    stage: str | None = None

    def check(self) -> None:
        """Stop here if the lease is lost, or the worker is to stop."""
        if self.lost.is_set():
            raise LeaseLostError(self.lease.job)
        if self.stopping.is_set():
            raise StoppedError

    def beat(self) -> None:
        """Keep the lease, and show how far the work is."""
        with self.service.database.writing() as connection:
            hold(connection, self.lease, stage=self.stage)

    def begin(self, words: str, total: int) -> Advance:
        """Return what is called after each step; see `accordant.progress.Observer`."""
        done, counting = 0, threading.Lock()

        def step() -> None:
            """Count a step, and stop if the lease is lost or the worker is to stop."""
            nonlocal done
            with counting:
                done += 1
                self.stage = f"{words}: {done} of {total}"
            self.check()

        self.stage = f"{words}: 0 of {total}"
        return step

    def end(self, advance: Advance) -> None:
        """Take note that a stage is over."""
        del advance


class _Wanted(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class RunWanted(_Wanted):
    """A case to carry out and to publish.

    Attributes
    ----------
    case
        A built-in case, or one in the folder that the worker was given.
    seed, effort
        See `RunOptions`.
    """

    case: Annotated[str, Field(pattern=CASE_NAME)]
    seed: Annotated[int, Field(ge=0, le=2**31)] = 42
    effort: Effort = "standard"


class StudyWanted(_Wanted):
    """A study to carry out.

    Attributes
    ----------
    study
        A built-in study, or one in the folder that the worker was given.
    """

    study: Annotated[str, Field(pattern=CASE_NAME)]


class DecisionsWanted(_Wanted):
    """Contexts, which come in parts, to be decided by what is active under a name; None if there is only one."""

    deployment: Annotated[str, Field(min_length=1, max_length=200)] | None = None


class RedecisionsWanted(_Wanted):
    """Decisions that are to be changed as one that is like them was, for reasons that stand in its sealed part.

    Attributes
    ----------
    origin
        Identifier of the contest that was answered with a change; see `Contestation.decide_alike`.
    alike
        Identifiers of decisions.
    """

    origin: Annotated[str, Field(min_length=1, max_length=64)]
    alike: Annotated[list[Annotated[str, Field(min_length=1, max_length=64)]], Field(min_length=1, max_length=100_000)]


def carry_out_run(task: Task, wanted: RunWanted) -> None:
    """Carry a case out and publish the run, in one transaction with the end of the job."""
    case = _file("case", wanted.case, task.cases, built_in_files())
    with observed(task):
        outcome = carry_out(case, RunOptions(seed=wanted.seed, effort=wanted.effort))
    with ScratchFolder() as folder:
        run = read_run(write_run(outcome, Path(folder) / "run"))
        with task.service.database.writing() as connection:
            hold(connection, task.lease)
            digest = publish(connection, run, task.lease.workspace)
            finish(connection, task.lease, {"run": digest})


def carry_out_whole_study(task: Task, wanted: StudyWanted) -> None:
    """Carry a study out, and keep what it comes to; its runs are not published, and after a kill it begins anew."""
    study = _file("study", wanted.study, task.cases, built_in_files("accordant.studies"))
    with observed(task), ScratchFolder() as folder:
        study_result, _ = carry_out_study(study, Path(folder) / "study", StudyOptions())
        task.check()  # a run that was stopped counts as one that failed
    with task.service.database.writing() as connection:
        hold(connection, task.lease)
        finish(connection, task.lease, {"study": study_result.to_json()})


def _file(kind: str, name: str, folder: Path | None, built_in: Collection[str]) -> str | Path:
    """Return a case or a study that may be carried out; raises UnknownNameError for any other."""
    own = {} if folder is None else {file.stem: file for file in folder.glob("*.yaml")}
    if name in own:
        return own[name]
    if name not in built_in:
        raise UnknownNameError(kind, name, sorted({*built_in, *own}))
    return name


def decide_parts(task: Task, wanted: DecisionsWanted) -> None:
    """Decide about all parts that came, each once, whoever began it: a part has a key of its own for `decide`."""
    service, lease = task.service, task.lease
    with service.database.reading() as connection:
        client = connection.execute(
            select(api_client).where(api_client.c.id == lease.client, api_client.c.revoked_at.is_(None))
        ).one_or_none()
    if client is None:
        raise InputError("the client of this job was revoked")
    done = lease.done
    while True:
        task.check()
        with service.database.reading() as connection:
            part = next_part(connection, service.keys, lease.job)
        if part is None:
            break
        position, contexts = part
        done += len(contexts)

        def within(connection: Connection, position: int = position, done: int = done) -> None:
            """Note, in the transaction of the decisions, how far the job is."""
            advance(connection, lease, done)
            mark_decided(connection, lease.job, position)

        service.decider.decide_within(client, part_key(lease.job, position), contexts, wanted.deployment, within)
        forget(service.database, service.keys)
    with service.database.writing() as connection:
        finish(connection, lease, {"decisions": done})


def part_key(identifier: str, position: int) -> str:
    """Return the Idempotency-Key of a part of a job."""
    return f"job {identifier} part {position}"


def decide_alike(task: Task, wanted: RedecisionsWanted) -> None:
    """Change like cases one by one; one that was contested, or changed, since the job was asked for stays as it is."""
    service, lease = task.service, task.lease
    if lease.person is None:
        raise InputError("nobody asked for this job, so nobody gives the reasons")
    with service.database.reading() as connection:
        part = next_part(connection, service.keys, lease.job)
    if part is None:
        raise InputError("this job has no reasons")
    reasons = str(part[1][0]["reasons"])
    alike, contestation = tuple(dict.fromkeys(wanted.alike)), Contestation(service.keys)
    result = {"changed": 0, "left": 0, **lease.result}
    for position in range(lease.done, len(alike)):
        task.check()
        changed, left = ({**result, name: result[name] + 1} for name in ("changed", "left"))
        try:
            with service.database.writing() as connection:
                advance(connection, lease, position + 1, changed)
                contestation.decide_alike(connection, lease.person, wanted.origin, [alike[position]], reasons)
            result = changed
        except (InputError, Erased):
            with service.database.writing() as connection:
                advance(connection, lease, position + 1, left)
            result = left
        task.stage = f"deciding like cases: {position + 1} of {len(alike)}"
    with service.database.writing() as connection:
        finish(connection, lease, result)


class PartWanted(_Wanted):
    """A part of a larger work, asked for by `accordant.service.jobs.parts_executor.Queue`, never over HTTP.

    Attributes
    ----------
    task, options, item
        See `accordant.compute.tasks.Task`.
    """

    task: str
    options: dict[str, Any]
    item: dict[str, Any]


def carry_out_part(task: Task, wanted: PartWanted) -> None:
    """Carry a part out, and keep what it told."""
    part_result = carried_out(PartTask(wanted.task, wanted.options), wanted.item)
    if isinstance(part_result, Failure):
        raise part_result.error
    with task.service.database.writing() as connection:
        finish(connection, task.lease, part_result)


Work = Callable[[Task, Any], None]
KINDS: Mapping[str, tuple[type[_Wanted], Work]] = {
    "run": (RunWanted, carry_out_run),
    "study": (StudyWanted, carry_out_whole_study),
    "decisions": (DecisionsWanted, decide_parts),
    "redecisions": (RedecisionsWanted, decide_alike),
    PART: (PartWanted, carry_out_part),
}


def wanted_of(kind: str, payload: Any) -> _Wanted:
    """Return what a job wants, checked.

    Raises
    ------
    UnknownNameError
        If there is no such kind.
    SpecError
        If anything in it cannot be used.
    """
    if kind not in KINDS:
        raise UnknownNameError("kind", kind, KINDS)
    wanted, _ = KINDS[kind]
    try:
        return wanted.model_validate(payload)
    except ValidationError as error:
        raise spec_error(error, f"job {kind}", wanted.model_fields) from None


def shown(row: Row[Any]) -> dict[str, Any]:
    """Return what is told of a job."""
    return {
        "id": row.id, "kind": row.kind, "state": row.state, "done": row.done, "total": row.total, "stage": row.stage,
        "tries": row.tries, "created_at": row.created_at, "ended_at": row.ended_at, "error": row.error,
        "result": None if row.result is None else json.loads(row.result),
    }  # fmt: skip
