"""What people must answer: contests and what was referred, late ones first; and like cases of what they changed."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Form, Request
from fastapi.responses import Response
from sqlalchemy import Connection, Row, select
from starlette.exceptions import HTTPException

from accordant.errors import InputError
from accordant.explanation.labels import LabelledNames, Labels
from accordant.languages import language
from accordant.report.explanation import letter_part
from accordant.service.contests import Contestation, decided_here, history, in_force, open_contests
from accordant.service.jobs.requests import ask_redecisions
from accordant.service.pages.visit import PageRoute, Seen, Sent, Visit, go
from accordant.service.record.log import now
from accordant.service.schema import contest, decision, deployment
from accordant.service.secrets import Erased
from accordant.service.stored_decisions import DecisionRead, LikeCase, like_cases, read_decision

router = APIRouter(route_class=PageRoute)
MOST_LISTED = 200
MOST_AT_ONCE = 25  # like cases that are changed while a browser waits; more are a job
KINDS = {
    "contest": "Objection",
    "referral": "Left to a person",
    "like_case": "Like case",
}
RESULTS = {
    "upheld": "stays as it was",
    "changed": "changed",
    "remitted": "sent back, to be decided by somebody else",
}
SPOKEN = language("en")


def named(decided: DecisionRead) -> LabelledNames:
    """Return the names of a case for people who work with it."""
    return LabelledNames(decided.run.case.labels.get(SPOKEN.code, Labels()), SPOKEN)


@router.get("/reviews")
def queue(visit: Seen) -> Response:
    """Show what is to be answered."""
    visitor, service = visit.check("see_reviews"), visit.service
    with service.database.reading() as connection:
        rows = open_contests(connection, visitor.workspace, most=MOST_LISTED)
        listed = [(row, _excerpt(visit, connection, row)) for row in rows]
    return visit.page("reviews.html", listed=listed, now=now(), kinds=KINDS, most=MOST_LISTED)


def _excerpt(visit: Visit, connection: Connection, row: Row[Any]) -> str:
    """Return the beginning of what a person wrote, for whoever may read it."""
    if row.kind != "contest" or not visit.may("read_decision", "contested"):
        return ""
    try:
        text = " ".join(_grounds(visit, connection, row, row.person).split())
    except Erased:
        return ""
    return text if len(text) <= 120 else f"{text[:117]}…"


def _grounds(visit: Visit, connection: Connection, row: Row[Any], who: str) -> str:
    return str(Contestation(visit.service.keys).told(connection, row.seq, who)["grounds"])


@router.get("/reviews/{identifier}")
def one(visit: Seen, identifier: str) -> Response:
    """Show what is to be answered, or was, with the decision that it is about."""
    return _shown(visit, identifier)


@router.post("/reviews/{identifier}")
def answer(
    visit: Sent, identifier: str, result: Annotated[str, Form(max_length=20)] = "",
    action: Annotated[str, Form(max_length=500)] = "", reasons: Annotated[str, Form(max_length=20_000)] = "",
) -> Response:  # fmt: skip
    """Take an answer."""
    service = visit.service
    try:
        with service.database.writing() as connection:
            row, decided = _found(visit, connection, identifier)
            visitor = visit.check("review", decided.row.state if row.state == "open" else "any")
            if row.kind == "referral":
                result = "changed"
            new = _new_action(decided, result, action)
            Contestation(service.keys).answer(connection, visitor.person, identifier, result, reasons, new)
    except InputError as error:
        if error.__class__ is not InputError:
            raise
        return _shown(visit, identifier, 422, f"{error}", {"result": result, "action": action, "reasons": reasons})
    return go(f"/reviews/{identifier}")


def _new_action(decided: DecisionRead, result: str, action: str) -> str | None:
    """Return the action that is taken instead; None where the result is no change."""
    if not result:
        raise InputError("choose one of the answers")
    if result != "changed":
        return None
    if not action:
        raise InputError("choose the action that is taken instead")
    if action not in decided.run.case.problem.actions:
        raise InputError(f"action is {action!r}; allowed: an action of the case")
    return action


@router.post("/reviews/{identifier}/alike")
def decide_alike(
    visit: Sent, identifier: str, reasons: Annotated[str, Form(max_length=20_000)] = "",
    alike: Annotated[list[str] | None, Form(max_length=200)] = None,
) -> Response:  # fmt: skip
    """Change like cases as this one was changed."""
    service = visit.service
    if len(alike or []) > MOST_AT_ONCE and reasons.strip():
        with service.database.reading() as connection:
            _found(visit, connection, identifier)
        ask_redecisions(service, visit.check("decide_alike", "decided"), identifier, alike or [], reasons)
        return go("/jobs")
    try:
        with service.database.writing() as connection:
            _found(visit, connection, identifier)
            visitor = visit.check("decide_alike", "decided")
            count = Contestation(service.keys).decide_alike(
                connection, visitor.person, identifier, alike or [], reasons
            )
    except InputError as error:
        if error.__class__ is not InputError:
            raise
        return _shown(visit, identifier, 422, f"{error}", {"reasons": reasons})
    return go(f"/reviews/{identifier}?done={count}")


def _found(visit: Visit, connection: Connection, identifier: str) -> tuple[Row[Any], DecisionRead]:
    """Return a contest of this workspace, with its decision; 404 if there is none."""
    visitor = visit.check("see_reviews")
    row = connection.execute(
        select(contest)
        .join(decision, decision.c.id == contest.c.decision)
        .join(deployment, deployment.c.id == decision.c.deployment)
        .where(contest.c.id == identifier, deployment.c.workspace == visitor.workspace)
    ).one_or_none()
    decided = None if row is None else read_decision(visit.service.decider, connection, row.decision)
    if row is None or decided is None:
        raise HTTPException(404, "There is no such review.")
    visit.check("read_decision", decided.row.state if row.state == "open" else "changed")
    return row, decided


def _shown(
    visit: Visit, identifier: str, status: int = 200, wrong: str = "", given: dict[str, str] | None = None
) -> Response:
    """Return the page of a contest."""
    service, contestation = visit.service, Contestation(visit.service.keys)
    with service.database.reading() as connection:
        _, decided = _found(visit, connection, identifier)
        assert visit.visitor is not None
        who = decided.row.person
        steps = [
            (
                row,
                contestation.told(connection, row.seq, who)["grounds"] if row.kind == "contest" else "",
                "" if row.answered_seq is None else contestation.told(connection, row.answered_seq, who)["reasons"],
            )
            for row in history(connection, decided.row.id)
        ]
        here = next(row for row, _, _ in steps if row.id == identifier)
        extends = here.result == "changed" and visit.may("decide_alike", "decided")
        alike: list[LikeCase] = like_cases(service.decider, connection, decided) if extends else []
        stands = in_force(connection, decided.row.id)
        barred = decided_here(connection, visit.visitor.person, decided.row.id)
        following = [row for row in open_contests(connection, visit.visitor.workspace, most=2) if row.id != identifier]
    return visit.page(
        "review.html", status, row=here, decided=decided, steps=steps, names=named(decided), alike=alike,
        letter=letter_part(decided.letter(SPOKEN.code), 3), stands=stands, barred=barred, wrong=wrong,
        given={"result": "", "action": "", "reasons": ""} | (given or {}),
        kinds=KINDS, results=RESULTS, may_review=visit.may("review", decided.row.state), following=following,
        now=now(), done=_done(visit.request),
    )  # fmt: skip


def _done(request: Request) -> int:
    """Return how many like cases were just changed, as the address says."""
    told = request.query_params.get("done", "")
    return int(told) if told.isdecimal() and len(told) < 5 else 0
