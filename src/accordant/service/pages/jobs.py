"""Jobs: what is being carried out, how far it is, and what can be asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Form
from fastapi.responses import Response
from sqlalchemy import Connection, Row, select
from starlette.exceptions import HTTPException

from accordant.cases.files import built_in_files
from accordant.errors import InputError
from accordant.learning.effort import EFFORTS
from accordant.service.jobs.kinds import shown
from accordant.service.jobs.parts import forget
from accordant.service.jobs.queue import OPEN, cancel, jobs_of, retry
from accordant.service.jobs.requests import ask
from accordant.service.pages.visit import PageRoute, Seen, Sent, Visit, go, under_own_policy
from accordant.service.schema import job
from accordant.studies.page import render_study
from accordant.studies.result import StudyResult

router = APIRouter(route_class=PageRoute)
# parts are shown by the command that asked for them
KINDS = {
    "run": "Run of a case", "study": "Study", "decisions": "Batch of decisions",
    "redecisions": "Like cases decided anew",
}  # fmt: skip
STATES = {
    "receiving": "coming in", "waiting": "waiting for a worker", "running": "being done", "done": "done",
    "failed": "failed", "cancelled": "cancelled",
}  # fmt: skip


@router.get("/static/jobs.js")
def script() -> Response:
    """Return the script that shows how far jobs are while their page stays open."""
    text = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")
    return Response(text, media_type="text/javascript", headers={"Cache-Control": "no-cache"})


@router.get("/jobs")
def jobs(visit: Seen) -> Response:
    """Show the newest jobs."""
    return _shown(visit)


@router.post("/jobs")
def start(
    visit: Sent, case: Annotated[str, Form(max_length=200)] = "", seed: Annotated[str, Form(max_length=20)] = "42",
    effort: Annotated[str, Form(max_length=20)] = "standard",
) -> Response:  # fmt: skip
    """Ask for a run."""
    visitor = visit.check("start_job")
    number: Any = int(seed) if seed.isdecimal() else seed
    try:
        ask(visit.service, visitor, "run", {"case": case.strip(), "seed": number, "effort": effort})
    except InputError as error:
        return _shown(visit, 422, f"{error}", {"case": case, "seed": seed, "effort": effort})
    return go("/jobs")


@router.post("/jobs/studies")
def start_study(visit: Sent, study: Annotated[str, Form(max_length=200)] = "") -> Response:
    """Ask for a study."""
    visitor = visit.check("start_job")
    try:
        ask(visit.service, visitor, "study", {"study": study.strip()})
    except InputError as error:
        return _shown(visit, 422, f"{error}", {"study": study})
    return go("/jobs")


@router.get("/jobs/{identifier}/study")
def study(visit: Seen, identifier: str) -> Response:
    """Show the page of a study that is done."""
    visitor = visit.check("see_runs")
    with visit.service.database.reading() as connection:
        result = shown(_own(connection, visitor.workspace, identifier))["result"] or {}
    if "study" not in result:
        raise HTTPException(404, "This job has no study to show.")
    return under_own_policy(render_study(StudyResult.read(result["study"])))


@router.post("/jobs/{identifier}/{act}")
def do(visit: Sent, identifier: str, act: str) -> Response:
    """Cancel a job, or let one that failed be tried again."""
    visitor, service = visit.check("start_job"), visit.service
    with service.database.writing() as connection:
        row = _own(connection, visitor.workspace, identifier)
        if act == "cancel":
            cancel(connection, row.id, visitor.person)
        elif act == "retry":
            retry(connection, row.id)
        else:
            raise HTTPException(404, "A job can be cancelled or tried again.")
    forget(service.database, service.keys)
    return go("/jobs")


def _own(connection: Connection, workspace: str, identifier: str) -> Row[Any]:
    row: Row[Any] | None = connection.execute(
        select(job).where(job.c.id == identifier, job.c.workspace == workspace)
    ).one_or_none()
    if row is None:
        raise HTTPException(404, "There is no such job.")
    return row


def _shown(visit: Visit, status: int = 200, wrong: str = "", given: dict[str, str] | None = None) -> Response:
    visitor = visit.check("start_job" if visit.may("start_job") else "decide_alike", "decided")
    with visit.service.database.reading() as connection:
        rows = [shown(row) for row in jobs_of(connection, visitor.workspace, KINDS)]
    return visit.page(
        "jobs.html", status, rows=rows, kinds=KINDS, states=STATES, open=OPEN, cases=sorted(built_in_files()),
        studies=sorted(built_in_files("accordant.studies")), efforts=tuple(EFFORTS), wrong=wrong,
        given={"case": "", "seed": "42", "effort": "standard", "study": ""} | (given or {}),
    )  # fmt: skip
