"""Who works here: inviting people to roles, giving them a new link, admitting and refusing programs."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Form
from fastapi.responses import Response
from sqlalchemy import Connection, delete, select

from accordant.errors import ConflictError, InputError, UnknownNameError
from accordant.service.clients import add_client, revoke_client
from accordant.service.identity import (
    INVITABLE,
    INVITATION_DAYS,
    Invitation,
    end_sessions,
    invite,
    unlink_account,
    with_accounts,
)
from accordant.service.pages.entrance import ROLES
from accordant.service.pages.visit import PageRoute, Seen, Sent, Visit, go
from accordant.service.record.log import Act, append
from accordant.service.schema import api_client, identity, membership, person

router = APIRouter(route_class=PageRoute)


@router.get("/people")
def people(visit: Seen) -> Response:
    """Show who works here."""
    visit.check("invite")
    return _shown(visit)


def _shown(visit: Visit, **told: Any) -> Response:
    assert visit.visitor is not None
    here = visit.visitor.workspace
    with visit.service.database.reading() as connection:
        members = connection.execute(
            select(membership.c.person, membership.c.role, person.c.created_at)
            .join(person, person.c.id == membership.c.person)
            .where(membership.c.workspace == here)
            .order_by(person.c.created_at)
        ).all()
        linked = with_accounts(connection, [member.person for member in members])
        programs = connection.execute(
            select(api_client).where(api_client.c.workspace == here).order_by(api_client.c.created_at)
        ).all()
    blank: dict[str, Any] = {"invitation": None, "role": "", "key": "", "program": ""}
    return visit.page(
        "people.html", members=members, linked=linked, programs=programs, invitable=INVITABLE, meaning=ROLES,
        days=INVITATION_DAYS, base=str(visit.request.base_url), **(blank | told),
    )  # fmt: skip


@router.post("/people/invite")
def invite_somebody(visit: Sent, role: Annotated[str, Form(max_length=50)] = "") -> Response:
    """Invite somebody, and show link and code once."""
    visitor = visit.check("invite")
    with visit.service.database.writing() as connection:
        made = invite(connection, visit.service.secrets, visitor.workspace, role, visitor.person)
    return _shown(visit, invitation=made, role=role)


@router.post("/people/link")
def new_link(visit: Sent, who: Annotated[str, Form(max_length=100)] = "") -> Response:
    """Give somebody who works here a new link; the old one, a linked account and open sessions end."""
    visitor = visit.check("invite")
    with visit.service.database.writing() as connection:
        role = _role(connection, visitor.workspace, who)
        connection.execute(delete(identity).where(identity.c.person == who, identity.c.kind == "link"))
        unlink_account(connection, who)
        if who != visitor.person:
            end_sessions(connection, who)
        made: Invitation = invite(
            connection, visit.service.secrets, visitor.workspace, role, visitor.person, who=who
        )  # fmt: skip
    return _shown(visit, invitation=made, role=role)


@router.post("/people/remove")
def remove(visit: Sent, who: Annotated[str, Form(max_length=100)] = "") -> Response:
    """Take somebody's role away; what they did stays on record."""
    visitor = visit.check("invite")
    with visit.service.database.writing() as connection:
        role = _role(connection, visitor.workspace, who)
        owners = connection.execute(
            select(membership.c.person).where(
                membership.c.workspace == visitor.workspace, membership.c.role == "owner", membership.c.person != who
            )
        ).all()
        if not owners:
            raise ConflictError("the last owner cannot go; invite another one first")
        connection.execute(
            delete(membership).where(membership.c.person == who, membership.c.workspace == visitor.workspace)
        )
        connection.execute(delete(identity).where(identity.c.person == who, identity.c.kind == "link"))
        unlink_account(connection, who)
        end_sessions(connection, who)
        append(connection, [Act("removal", {"workspace": visitor.workspace, "role": role}, who)])
    return go("/people")


def _role(connection: Connection, workspace: str, who: str) -> str:
    """Return the role of somebody who works here; raises UnknownNameError if nobody does."""
    role = (
        connection.execute(
            select(membership.c.role).where(membership.c.person == who, membership.c.workspace == workspace)
        )
        .scalars()
        .first()
    )
    if role is None:
        raise UnknownNameError("person", who[:8], ())
    return str(role)


@router.post("/people/program")
def admit(visit: Sent, name: Annotated[str, Form(max_length=200)] = "") -> Response:
    """Admit a program, and show its key once."""
    visitor = visit.check("manage_clients")
    if not name.strip():
        raise InputError("the program has no name")
    with visit.service.database.writing() as connection:
        key = add_client(connection, visit.service.secrets, visitor.workspace, name.strip())
    return _shown(visit, key=key, program=name.strip())


@router.post("/people/program/revoke")
def refuse(visit: Sent, name: Annotated[str, Form(max_length=300)] = "") -> Response:
    """Refuse the key of a program from now on."""
    visitor = visit.check("manage_clients")
    with visit.service.database.writing() as connection:
        revoke_client(connection, visitor.workspace, name)
    return go("/people")
