"""Batches of decisions as jobs: contexts come as JSON lines, piece by piece, and answers go the same way."""

from __future__ import annotations

import hmac
from collections.abc import AsyncIterator, Iterator
from typing import Annotated, Any

from fastapi import APIRouter, Header, HTTPException, Query, Request
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import BaseModel, TypeAdapter, ValidationError
from sqlalchemy import Row, select
from starlette.concurrency import run_in_threadpool

from accordant.errors import ConflictError, DataError
from accordant.service.answers import typed_rows
from accordant.service.api.decisions import MOST_CONTEXTS, REFUSALS, Asking, Context, Detail, Name
from accordant.service.deployments import deciding
from accordant.service.jobs.kinds import part_key, shown
from accordant.service.jobs.parts import forget, receive
from accordant.service.jobs.queue import add, begin_waiting, cancel, job_of, retry
from accordant.service.record.log import canonical
from accordant.service.schema import job
from accordant.service.service import Service

LINES = "application/x-ndjson"
MOST_IN_A_JOB = 1_000_000  # contexts
LONGEST_LINE = 2**20  # bytes

router = APIRouter(prefix="/v1", tags=["jobs"])
line_of_context: TypeAdapter[Any] = TypeAdapter(Context)


class JobAnswer(BaseModel):
    """How far a job is; `done` and `total` count contexts, or decisions."""

    id: str
    kind: str
    state: str
    done: int
    total: int
    stage: str | None
    tries: int
    created_at: str
    ended_at: str | None
    error: str | None
    result: dict[str, Any] | None


MISSING: dict[int | str, dict[str, Any]] = {
    404: {"model": Detail, "description": "There is no such job of this client."}
}
BODY = {
    "requestBody": {
        "required": True,
        "content": {LINES: {"schema": {"type": "string", "description": "One context a line: {column: value}."}}},
    }
}


@router.post("/jobs/decisions", status_code=202, response_model=JobAnswer, responses=REFUSALS, openapi_extra=BODY)
async def batch(
    request: Request,
    by: Asking,
    idempotency_key: Annotated[str, Header(min_length=1, max_length=200)],
    deployment: Annotated[Name | None, Query()] = None,
) -> JSONResponse:
    """Take contexts to decide about when there is time. The same Idempotency-Key names the same job again."""
    service, client = by
    upload = _Upload(service, client, idempotency_key, deployment)
    await run_in_threadpool(upload.begin)
    try:
        part: list[Any] = []
        async for number, line in _lines(request):
            upload.digest.update(line + b"\n")
            if upload.known is None:
                part.append(_context(line, number))
            if len(part) == MOST_CONTEXTS:
                await run_in_threadpool(upload.keep, part)
                part = []
        if part:
            await run_in_threadpool(upload.keep, part)
        row = await run_in_threadpool(upload.end)
    except BaseException:
        await run_in_threadpool(upload.drop)
        raise
    return JSONResponse(shown(row), 202)


class _Upload:
    """A batch that is being received."""

    def __init__(self, service: Service, client: Row[Any], key: str, deployment: str | None) -> None:
        self.service, self.client, self.deployment = service, client, deployment
        self.key = service.secrets.fingerprint(f"job {client.id} {key}")
        self.digest = hmac.new(self.key, repr(deployment).encode(), "sha256")
        self.known: Row[Any] | None = None
        self.identifier: str | None = None
        self.parts = self.count = 0

    def begin(self) -> None:
        """Begin a job, or find the one with this key; raises ConflictError if that is being received."""
        with self.service.database.writing() as connection:
            here = (job.c.client == self.client.id) & (job.c.idempotency_key == self.key)
            self.known = connection.execute(select(job).where(here)).one_or_none()
            if self.known is None:
                active, _ = deciding(connection, self.client.workspace, self.deployment)
                self.run = self.service.decider.runs.run(connection, active.run)
                self.identifier = add(
                    connection, self.client.workspace, "decisions", {"deployment": self.deployment},
                    client=self.client.id, idempotency_key=self.key, receiving=True,
                )  # fmt: skip
        if self.known is not None and self.known.state == "receiving":
            raise ConflictError("a job with this Idempotency-Key is being received")

    def keep(self, part: list[Any]) -> None:
        """Keep a part, if its contexts can be decided about."""
        assert self.identifier is not None
        self.count += len(part)
        if self.count > MOST_IN_A_JOB:
            raise DataError(f"more than {MOST_IN_A_JOB:,} contexts; allowed: at most so many in one job")
        typed_rows(self.run, part)
        receive(self.service.database, self.service.keys, self.identifier, self.parts, part)
        self.parts += 1

    def end(self) -> Row[Any]:
        """Let the job begin; return its row."""
        body = self.digest.digest()
        if self.known is not None:
            if not hmac.compare_digest(bytes(self.known.body), body):
                raise ConflictError("this Idempotency-Key was used for another job")
            return self.known
        if not self.count or self.identifier is None:
            raise DataError("there is no context; allowed: one or more, a line each")
        with self.service.database.writing() as connection:
            begin_waiting(connection, self.identifier, self.count, body)
            return job_of(connection, self.identifier)

    def drop(self) -> None:
        """End what was not received to its end; its key may be used again."""
        if self.identifier is None:
            return
        with self.service.database.writing() as connection:
            if job_of(connection, self.identifier).state == "receiving":
                cancel(connection, self.identifier)
                connection.execute(job.update().where(job.c.id == self.identifier).values(idempotency_key=None))
        forget(self.service.database, self.service.keys)


async def _lines(request: Request) -> AsyncIterator[tuple[int, bytes]]:
    """Yield the lines of a body that are not empty, with their numbers from 1."""
    rest, number = b"", 0
    async for piece in request.stream():
        *whole, rest = (rest + piece).split(b"\n")
        for line in whole:
            number += 1
            if line.strip():
                yield number, line
        if len(rest) > LONGEST_LINE:
            raise DataError(f"line {number + 1}: more than {LONGEST_LINE:,} bytes; allowed: at most so many")
    if rest.strip():
        yield number + 1, rest


def _context(line: bytes, number: int) -> Any:
    if len(line) > LONGEST_LINE:
        raise DataError(f"line {number}: {len(line):,} bytes; allowed: at most {LONGEST_LINE:,}")
    try:
        return line_of_context.validate_json(line, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise DataError(f"line {number}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from None


def _own(service: Service, client: Row[Any], identifier: str) -> Row[Any]:
    """Return the row of a job of this client; 404 for those of others too."""
    with service.database.reading() as connection:
        row = connection.execute(select(job).where(job.c.id == identifier, job.c.client == client.id)).one_or_none()
    if row is None:
        raise HTTPException(404, "there is no such job of this client")
    return row


@router.get("/jobs/{identifier}", responses=REFUSALS | MISSING)
def see(identifier: Name, by: Asking) -> JobAnswer:
    """Say how far a job is."""
    service, client = by
    return JobAnswer(**shown(_own(service, client, identifier)))


@router.post("/jobs/{identifier}/cancel", responses=REFUSALS | MISSING)
def stop(identifier: Name, by: Asking) -> JobAnswer:
    """Cancel a job: what it decided stays, and nothing more is decided."""
    service, client = by
    _own(service, client, identifier)
    with service.database.writing() as connection:
        cancel(connection, identifier, client.id)
    forget(service.database, service.keys)
    return JobAnswer(**shown(_own(service, client, identifier)))


@router.post("/jobs/{identifier}/retry", responses=REFUSALS | MISSING)
def again(identifier: Name, by: Asking) -> JobAnswer:
    """Let a job that failed be tried again."""
    service, client = by
    _own(service, client, identifier)
    with service.database.writing() as connection:
        retry(connection, identifier)
    return JobAnswer(**shown(_own(service, client, identifier)))


@router.get(
    "/jobs/{identifier}/decisions",
    responses=REFUSALS | MISSING | {200: {"content": {LINES: {"schema": {"type": "string"}}}}},
    response_class=StreamingResponse,
)
def answers(identifier: Name, by: Asking) -> StreamingResponse:
    """Return what a job decided so far, in the order of its contexts; null for somebody who was erased since."""
    service, client = by
    row = _own(service, client, identifier)

    def lines() -> Iterator[bytes]:
        """Yield decisions part by part, a line of JSON each, up to the first part that is not there."""
        position = told = 0
        while told < row.done:
            with service.database.reading() as connection:
                part = service.decider.again(connection, client.id, part_key(identifier, position))
            if not part:
                return
            yield b"".join(canonical(answer) + b"\n" for answer in part)
            position, told = position + 1, told + len(part)

    return StreamingResponse(lines(), media_type=LINES)
