"""Identity without accounts of our own: invitations that a link or a code takes up, and sessions that they begin.

A link is read as often as anybody likes, and used by a form only: programs that look at links before people do spend
nothing. Tokens, codes and sessions are kept as fingerprints, see `Secrets.fingerprint`; so is the account that somebody
has at a provider (`accordant.service.oidc`), and nothing else of it.
"""

from __future__ import annotations

import secrets as system
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Row, delete, insert, select, update

from accordant.errors import ConflictError, UnknownNameError
from accordant.service.permissions import ROLES, Role
from accordant.service.record.log import TIME, Act, append, canonical, now
from accordant.service.schema import account_sign_in, identity, invitation, membership, person, session
from accordant.service.secrets import Secrets, new_id, new_token

INVITATION_DAYS = 14
INVITATION_PATH = "/join/"  # its link ends with the token
SESSION_HOURS = 12
ACCOUNT_MINUTES = 10  # until whoever was sent to the provider must be back
CODE_DIGITS = 6
CODE_TRIES = 5  # wrong codes until an invitation can be taken up by its link only
INVITABLE: tuple[Role, ...] = tuple(role for role in ROLES if role not in {"client", "concerned"})


@dataclass(frozen=True)
class Invitation:
    """What is given to whoever is invited; none of it is kept.

    Attributes
    ----------
    token
        The end of the link.
    handle, code
        For those to whom no link can be sent: eight letters that name the invitation, and six digits.
    """

    token: str
    handle: str
    code: str


@dataclass(frozen=True)
class Visitor:
    """Whoever has a session.

    Attributes
    ----------
    person
        A random identifier.
    workspace
        Where the session acts.
    roles
        In that workspace.
    csrf
        What every form of this session must hold.
    """

    person: str
    workspace: str
    roles: frozenset[Role]
    csrf: str


def after(**duration: float) -> str:
    """Return a time from now as it is recorded."""
    return (datetime.now(UTC) + timedelta(**duration)).strftime(TIME)


def invite(
    connection: Connection, secrets: Secrets, workspace: str, role: str, by: str | None = None, uses: int = 1,
    who: str | None = None,
) -> Invitation:  # fmt: skip
    """Invite somebody to a role; `by`: who invites, None for a command; `who`: somebody who was here, for a new link.

    Raises
    ------
    UnknownNameError
        If nobody can be invited to such a role.
    """
    if role not in INVITABLE:
        raise UnknownNameError("role", role, INVITABLE)
    made = Invitation(
        new_token(),
        "".join(system.choice("ABCDEFGHJKLMNPQRSTUVWXYZ") for _ in range(8)),
        "".join(system.choice("0123456789") for _ in range(CODE_DIGITS)),
    )
    connection.execute(
        insert(invitation).values(
            token=secrets.fingerprint(made.token), handle=secrets.fingerprint(made.handle),
            code=secrets.fingerprint(made.handle + made.code), tries_left=CODE_TRIES, workspace=workspace, role=role,
            uses_left=uses, expires_at=after(days=INVITATION_DAYS), created_by=by, person=who,
        )
    )  # fmt: skip
    append(connection, [Act("invitation", {"role": role, "workspace": workspace, "by": by})])
    return made


def withdraw(connection: Connection, workspace: str, role: str) -> None:
    """Let nobody take up an invitation to a role that was not taken up yet."""
    open_ones = (invitation.c.workspace == workspace) & (invitation.c.role == role) & (invitation.c.uses_left > 0)
    connection.execute(update(invitation).where(open_ones).values(uses_left=0))


def invitation_of(connection: Connection, secrets: Secrets, token: str) -> Row[Any] | None:
    """Return the invitation of a link, without using it; None if there is none that can be taken up."""
    return _open_invitation(connection, invitation.c.token == secrets.fingerprint(token))


def invitation_by_code(connection: Connection, secrets: Secrets, handle: str, code: str) -> Row[Any] | None:
    """Return the invitation of a code; a wrong one counts against it, whether there is such an invitation or not.

    The same fingerprints are computed and one row at most is written in any case, so that the time says nothing.
    """
    given_handle, given = (
        secrets.fingerprint(handle.strip().upper()),
        secrets.fingerprint(handle.strip().upper() + code.strip()),
    )
    row = _open_invitation(connection, (invitation.c.handle == given_handle) & (invitation.c.tries_left > 0))
    right = row is not None and system.compare_digest(bytes(row.code), given)
    connection.execute(
        update(invitation)
        .where(invitation.c.handle == given_handle)
        .values(tries_left=invitation.c.tries_left - (0 if right else 1))
    )
    return row if right else None


def _open_invitation(connection: Connection, condition: Any) -> Row[Any] | None:
    live = (invitation.c.uses_left > 0) & (invitation.c.expires_at > now())
    return connection.execute(select(invitation).where(condition & live)).one_or_none()


def take_up(connection: Connection, secrets: Secrets, taken: Row[Any]) -> str:
    """Take up an invitation once, and return the token of a new session: of a new person with the role, or of old."""
    left = connection.execute(
        update(invitation)
        .where(invitation.c.token == taken.token, invitation.c.uses_left > 0)
        .values(uses_left=invitation.c.uses_left - 1)
    ).rowcount
    if left != 1:
        raise UnknownNameError("invitation", "this one", ())
    if taken.person is not None:
        return begin_session(connection, secrets, taken.person)
    who = new_id()
    connection.execute(insert(person).values(id=who, created_at=now()))
    connection.execute(insert(membership).values(person=who, workspace=taken.workspace, role=taken.role))
    append(connection, [Act("membership", {"workspace": taken.workspace, "role": taken.role}, who)])
    return begin_session(connection, secrets, who)


def begin_session(connection: Connection, secrets: Secrets, who: str) -> str:
    """Return the token of a new session; one that a browser had before is never taken over."""
    token = new_token()
    connection.execute(delete(session).where(session.c.expires_at <= now()))
    connection.execute(
        insert(session).values(
            token=secrets.fingerprint(token), person=who, csrf=new_token(), created_at=now(),
            expires_at=after(hours=SESSION_HOURS),
        )
    )  # fmt: skip
    return token


def new_personal_link(connection: Connection, secrets: Secrets, who: str) -> str:
    """Return the token of a link by which a person comes back as often as needed; the one before is of no use now."""
    token = new_token()
    connection.execute(delete(identity).where(identity.c.person == who, identity.c.kind == "link"))
    connection.execute(insert(identity).values(person=who, kind="link", lookup=secrets.fingerprint(token), sealed=b""))
    return token


def person_of_link(connection: Connection, secrets: Secrets, token: str) -> str | None:
    """Return whose personal link this is; None if it is nobody's."""
    here = (identity.c.lookup == secrets.fingerprint(token)) & (identity.c.kind == "link")
    who = connection.execute(select(identity.c.person).where(here)).scalar_one_or_none()
    return None if who is None else str(who)


def send_to_provider(connection: Connection, secrets: Secrets, token: str, who: str | None) -> None:
    """Keep that the browser with this token signs in at the provider; `who`: whose account is to be linked."""
    connection.execute(delete(account_sign_in).where(account_sign_in.c.expires_at <= now()))
    kept = {"token": secrets.fingerprint(token), "person": who, "expires_at": after(minutes=ACCOUNT_MINUTES)}
    connection.execute(insert(account_sign_in).values(kept))


def back_from_provider(connection: Connection, secrets: Secrets, token: str) -> Row[Any] | None:
    """Return what was kept of the browser with this token, once; None if there is nothing, or it was too long ago."""
    here = account_sign_in.c.token == secrets.fingerprint(token)
    row = connection.execute(select(account_sign_in).where(here)).one_or_none()
    connection.execute(delete(account_sign_in).where(here))
    return None if row is None or row.expires_at <= now() else row


def link_account(connection: Connection, secrets: Secrets, who: str, issuer: str, subject: str) -> None:
    """Let a person come back by an account at a provider; one that was linked before is not any more.

    Raises
    ------
    ConflictError
        If the account is somebody else's here.
    """
    if person_of_account(connection, secrets, issuer, subject) not in {None, who}:
        raise ConflictError("this account cannot be linked here")
    lookup = _account(secrets, issuer, subject)
    connection.execute(delete(identity).where(identity.c.person == who, identity.c.kind == "account"))
    connection.execute(insert(identity).values(person=who, kind="account", lookup=lookup, sealed=b""))
    append(connection, [Act("account", {"linked": True, "issuer": issuer}, who)])


def unlink_account(connection: Connection, who: str) -> None:
    """Let a person's account at a provider open nothing any more."""
    gone = connection.execute(delete(identity).where(identity.c.person == who, identity.c.kind == "account"))
    if gone.rowcount:
        append(connection, [Act("account", {"linked": False}, who)])


def with_accounts(connection: Connection, people: Collection[str]) -> set[str]:
    """Return which of some people have an account linked."""
    linked = select(identity.c.person).where(identity.c.kind == "account", identity.c.person.in_(people))
    return set(connection.execute(linked).scalars())


def person_of_account(connection: Connection, secrets: Secrets, issuer: str, subject: str) -> str | None:
    """Return whose account this is; None if it is nobody's."""
    here = (identity.c.lookup == _account(secrets, issuer, subject)) & (identity.c.kind == "account")
    who = connection.execute(select(identity.c.person).where(here)).scalar_one_or_none()
    return None if who is None else str(who)


def _account(secrets: Secrets, issuer: str, subject: str) -> bytes:
    return secrets.fingerprint(canonical(["account", issuer, subject]).decode())


def end_session(connection: Connection, secrets: Secrets, token: str) -> None:
    """End one session."""
    connection.execute(delete(session).where(session.c.token == secrets.fingerprint(token)))


def end_sessions(connection: Connection, who: str) -> None:
    """End all sessions of a person."""
    connection.execute(delete(session).where(session.c.person == who))


def session_of(connection: Connection, secrets: Secrets, token: str) -> Row[Any, Any] | None:
    """Return person and form token of a session that lasts; None if there is none."""
    live = (session.c.token == secrets.fingerprint(token)) & (session.c.expires_at > now())
    return connection.execute(select(session.c.person, session.c.csrf).where(live)).one_or_none()


def visitor_of(connection: Connection, secrets: Secrets, token: str | None) -> Visitor | None:
    """Return who has a session; None if nobody has."""
    if not token:
        return None
    row = session_of(connection, secrets, token)
    if row is None:
        return None
    roles = connection.execute(
        select(membership.c.workspace, membership.c.role).where(membership.c.person == row.person)
    ).all()
    if not roles:
        return None
    workspace = roles[0].workspace
    return Visitor(
        row.person, workspace, _roles(grant.role for grant in roles if grant.workspace == workspace), row.csrf
    )


def _roles(names: Any) -> frozenset[Role]:
    known: Collection[str] = ROLES
    return frozenset(name for name in names if name in known)
