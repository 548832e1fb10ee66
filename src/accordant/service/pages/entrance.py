"""Coming in and going out: by an invitation, by one's own link, or by a code; never by a GET."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request
from fastapi.responses import Response
from sqlalchemy import Connection
from starlette.exceptions import HTTPException

from accordant.service.attempts import SECONDS_A_TRY, may_try
from accordant.service.contests import open_contests
from accordant.service.identity import (
    begin_session,
    invitation_by_code,
    invitation_of,
    new_personal_link,
    person_of_link,
    take_up,
    with_accounts,
)
from accordant.service.pages.visit import SIGNED_IN, PageRoute, Seen, Sent, Visit, from_here, go, keep_session, leave
from accordant.service.service import Service

router = APIRouter(route_class=PageRoute)
NO_LINK = "This link was used, has expired, or is not complete. Ask whoever invited you for a new one."
NO_CODE = (
    "This name and code do not belong together, were used, or have expired. After five wrong codes only the link works."
)
TOO_MANY = "Somebody where you are tried to come in too often. Wait a few minutes, then try again."
ROLES = {
    "owner": "You deploy versions, invite people, and see everything but what people wrote in confidence.",
    "analyst": "You see runs and figures.",
    "facilitator": "You see runs and figures.",
    "participant": "You see runs.",
    "reviewer": "You answer people who object to a decision, and decide what no rule decided.",
    "auditor": "You read the log and check its proofs.",
}
"""What each role is for."""


@router.get("/")
def home(visit: Seen) -> Response:
    """Show what waits for the visitor, or how to come in."""
    if visit.visitor is None:
        return go("/sign-in")
    waiting = []
    if visit.may("see_reviews"):
        with visit.service.database.reading() as connection:
            waiting = list(open_contests(connection, visit.visitor.workspace, most=5))
    return visit.page("home.html", waiting=waiting, meaning=ROLES)


@router.get("/sign-in")
def sign_in(visit: Seen) -> Response:
    """Show how to come in."""
    return visit.page("sign_in.html", wrong="")


@router.post("/sign-in")
def sign_in_by_code(
    request: Request, visit: Seen, name: Annotated[str, Form(max_length=100)] = "",
    code: Annotated[str, Form(max_length=100)] = "",
) -> Response:  # fmt: skip
    """Let somebody in who has the name of an invitation and its code; what is wrong is not said."""
    from_here(request)
    count_try(request)
    service = visit.service
    with service.database.writing() as connection:
        taken = invitation_by_code(connection, service.secrets, name, code)
        token = None if taken is None else take_up(connection, service.secrets, taken)
    if token is None:
        return visit.page("sign_in.html", 422, wrong=NO_CODE)
    return keep_session(go("/welcome"), request, SIGNED_IN, token)


@router.get("/welcome")
def welcome(visit: Seen) -> Response:
    """Offer the visitor a link of their own."""
    if visit.visitor is None:
        return go("/sign-in")
    return _welcome(visit, "")


@router.post("/welcome")
def own_link(visit: Sent) -> Response:
    """Make the visitor a link of their own, which is shown once."""
    assert visit.visitor is not None
    with visit.service.database.writing() as connection:
        token = new_personal_link(connection, visit.service.secrets, visit.visitor.person)
    return _welcome(visit, f"{visit.request.base_url}enter/{token}")


def _welcome(visit: Visit, link: str) -> Response:
    assert visit.visitor is not None
    with visit.service.database.reading() as connection:
        linked = with_accounts(connection, [visit.visitor.person])
    return visit.page("welcome.html", link=link, linked=bool(linked), meaning=ROLES)


@router.post("/sign-out")
def sign_out(visit: Sent) -> Response:
    """End the session."""
    return leave(go("/sign-in"), visit.request, visit.service, SIGNED_IN)


@router.get("/join/{link}")
def invitation(request: Request, visit: Seen, link: str) -> Response:
    """Show an invitation; nothing is used up."""
    service: Service = request.app.state.service
    with service.database.reading() as connection:
        invitation = invitation_of(connection, service.secrets, link)
    if invitation is None:
        raise HTTPException(404, NO_LINK)
    return visit.page(
        "join.html", address=f"/join/{link}", role=invitation.role, meaning=ROLES, back=invitation.person is not None
    )


@router.post("/join/{link}")
def join(request: Request, link: str) -> Response:
    """Take up an invitation."""
    from_here(request)
    count_try(request)
    service: Service = request.app.state.service
    with service.database.writing() as connection:
        token = _taken(connection, service, link)
    return keep_session(go("/welcome"), request, SIGNED_IN, token)


def count_try(request: Request) -> None:
    """Count a try to come in, in a transaction of its own; 429 if there were too many."""
    service: Service = request.app.state.service
    with service.database.writing() as connection:
        allowed = may_try(connection, service.secrets, "" if request.client is None else request.client.host)
    if not allowed:
        raise HTTPException(429, TOO_MANY, {"Retry-After": str(SECONDS_A_TRY)})


def _taken(connection: Connection, service: Service, link: str) -> str:
    invitation = invitation_of(connection, service.secrets, link)
    if invitation is None:
        raise HTTPException(404, NO_LINK)
    return take_up(connection, service.secrets, invitation)


@router.get("/enter/{link}")
def own_door(request: Request, visit: Seen, link: str) -> Response:
    """Show that somebody's own link works; nothing happens."""
    _whose(request.app.state.service, link)
    return visit.page("join.html", address=f"/enter/{link}", role="", meaning=ROLES, back=True)


@router.post("/enter/{link}")
def enter(request: Request, link: str) -> Response:
    """Begin a session of whose link it is."""
    from_here(request)
    count_try(request)
    service: Service = request.app.state.service
    who = _whose(service, link)
    with service.database.writing() as connection:
        token = begin_session(connection, service.secrets, who)
    return keep_session(go("/"), request, SIGNED_IN, token)


def _whose(service: Service, link: str) -> str:
    with service.database.reading() as connection:
        who = person_of_link(connection, service.secrets, link)
    if who is None:
        raise HTTPException(404, NO_LINK)
    return who
