"""Who is there: sessions in cookies, forms that nobody else can send, and what a refusal looks like.

A form is taken if the browser says that it comes from this very site (``Sec-Fetch-Site``, or ``Origin`` where a browser
does not send that) and, within a session, if it holds the session's own token. What is no browser sends neither header
and has no cookies that somebody else could use.
"""

from __future__ import annotations

import hmac
import logging
import re
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import urlsplit

from fastapi import Depends, Form, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException

from accordant.errors import ConflictError, InputError, UnknownNameError
from accordant.service.contests import open_contests
from accordant.service.database import UnreachableError
from accordant.service.identity import SESSION_HOURS, Visitor, end_session, session_of, visitor_of
from accordant.service.oidc import NotSignedInError, ProviderSilentError
from accordant.service.pages.layout import page
from accordant.service.permissions import Act, ForbiddenError, check, is_allowed
from accordant.service.secrets import Erased
from accordant.service.service import Service

logger = logging.getLogger(__name__)

SIGNED_IN, OPENED = "accordant_session", "accordant_decision"
"""Cookies: of somebody with a role, and of somebody who opened the link to a decision."""
MOST_SHOWN_OVERDUE = 1_000
POLICY = re.compile(r'http-equiv="Content-Security-Policy" content="([^"]+)"')


class SignInNeededError(Exception):
    """Nobody is signed in."""


@dataclass(frozen=True)
class Visit:
    """One request of a page.

    Attributes
    ----------
    request
        As it came.
    service
        The service.
    visitor
        Who is signed in; None for nobody.
    """

    request: Request
    service: Service
    visitor: Visitor | None

    def may(self, act: Act, state: str = "any") -> bool:
        """Return whether the visitor may do something."""
        return self.visitor is not None and is_allowed(self.visitor.roles, act, state)

    def check(self, act: Act, state: str = "any") -> Visitor:
        """Return the visitor, if that may do something.

        Raises
        ------
        SignInNeededError
            If nobody is signed in.
        ForbiddenError
            If the visitor may not.
        """
        if self.visitor is None:
            raise SignInNeededError
        check(self.visitor.roles, act, state)
        return self.visitor

    @property
    def is_demonstration(self) -> bool:
        """Return whether everybody here is invented."""
        return bool(self.request.app.state.demonstration)

    @property
    def by_account(self) -> bool:
        """Return whether people can sign in with the account of an organisation."""
        return self.request.app.state.provider is not None

    @property
    def overdue(self) -> int:
        """How many contests are late, for whoever must see that."""
        if not self.may("see_reviews"):
            return 0
        assert self.visitor is not None
        with self.service.database.reading() as connection:
            late = open_contests(connection, self.visitor.workspace, overdue=True, most=MOST_SHOWN_OVERDUE)
        return len(late)

    def page(self, template: str, status: int = 200, **content: Any) -> HTMLResponse:
        """Return a page for this visitor."""
        csrf = "" if self.visitor is None else self.visitor.csrf
        return page(template, status, visit=self, csrf=csrf, **content)


def visiting(request: Request) -> Visit:
    """Return the visit of a request, whoever comes."""
    service: Service = request.app.state.service
    token = request.cookies.get(SIGNED_IN)
    with service.database.reading() as connection:
        return Visit(request, service, visitor_of(connection, service.secrets, token))


def from_here(request: Request) -> None:
    """Refuse a form that another site sent.

    Raises
    ------
    ForbiddenError
        If it is so.
    """
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    if site is not None:
        same = site in {"same-origin", "none"}
    else:
        same = origin is None or urlsplit(origin).netloc == request.headers.get("host")
    if not same:
        raise ForbiddenError("this form was sent by another site")


def posted(
    request: Request, visit: Annotated[Visit, Depends(visiting)], csrf: Annotated[str, Form(max_length=200)] = ""
) -> Visit:
    """Return the visit of a form that the visitor sent from here."""
    from_here(request)
    if visit.visitor is None:
        raise SignInNeededError
    if not hmac.compare_digest(csrf.encode(), visit.visitor.csrf.encode()):
        raise ForbiddenError("this form is not of this session")
    return visit


Seen = Annotated[Visit, Depends(visiting)]
Sent = Annotated[Visit, Depends(posted)]


@dataclass(frozen=True)
class Opened:
    """The visit of somebody who opened the link to a decision: whom it is about, and the token of forms."""

    request: Request
    service: Service
    person: str
    csrf: str

    def page(self, template: str, status: int = 200, **content: Any) -> HTMLResponse:
        """Return a page for this person."""
        return page(template, status, visit=None, csrf=self.csrf, **content)


def opened(request: Request) -> Opened:
    """Return the visit of somebody whose session began with a link to a decision.

    Raises
    ------
    HTTPException
        404, if there is no such session.
    """
    service: Service = request.app.state.service
    token = request.cookies.get(OPENED)
    with service.database.reading() as connection:
        row = session_of(connection, service.secrets, token) if token else None
    if row is None:
        raise HTTPException(404, "Open the link to your decision again: it was not opened here, or long ago.")
    return Opened(request, service, row.person, row.csrf)


def opened_and_sent(
    request: Request, there: Annotated[Opened, Depends(opened)], csrf: Annotated[str, Form(max_length=200)] = ""
) -> Opened:
    """Return the visit of a form that the person sent from here."""
    from_here(request)
    if not hmac.compare_digest(csrf.encode(), there.csrf.encode()):
        raise ForbiddenError("this form is not of this session")
    return there


OpenedHere = Annotated[Opened, Depends(opened)]
SentByPerson = Annotated[Opened, Depends(opened_and_sent)]


def go(address: str) -> RedirectResponse:
    """Return the answer to a form that was taken: look there."""
    return RedirectResponse(address, 303)


def under_own_policy(html: str) -> Response:
    """Return a page that brings its own styles and script, and names them in its policy."""
    told = POLICY.search(html)
    policy = "default-src 'none'" if told is None else told[1].replace("&#39;", "'")
    return HTMLResponse(html, headers={"Content-Security-Policy": f"{policy}; frame-ancestors 'none'"})


def keep_session(answer: Response, request: Request, name: str, token: str, path: str = "/") -> Response:
    """Give a browser the token of a session, out of the reach of scripts and of other sites."""
    secure = request.url.scheme == "https"
    answer.set_cookie(
        name, token, max_age=SESSION_HOURS * 3600, path=path, secure=secure, httponly=True, samesite="lax"
    )
    return answer


def leave(answer: Response, visit_request: Request, service: Service, name: str, path: str = "/") -> Response:
    """End the session of a cookie, and take the cookie away."""
    if token := visit_request.cookies.get(name):
        with service.database.writing() as connection:
            end_session(connection, service.secrets, token)
    answer.delete_cookie(name, path=path)
    return answer


ELSEWHERE = "Your role here does not allow it, or the form came from elsewhere."
SILENT = "Try again in some minutes, or come in by your personal link or a code: these work without it."
DELETED = "Somebody whom this is about asked for deletion. Nothing about them can be read any more."
REFUSALS: tuple[tuple[type[Exception], int, str, str], ...] = (
    (ForbiddenError, 403, "This is not for you to do", ELSEWHERE),
    (NotSignedInError, 403, "Signing in did not work", ""),
    (ProviderSilentError, 503, "Your organisation's sign-in does not answer", SILENT),
    (Erased, 410, "This was deleted", DELETED),
    (UnreachableError, 503, "The database does not answer", "Nothing was lost. Try again in a minute."),
    (UnknownNameError, 404, "There is nothing here", ""),
    (ConflictError, 409, "This cannot be done any more", ""),
    (InputError, 422, "Something in the form cannot be used", ""),
    (RequestValidationError, 422, "Something in the form cannot be used", "A field is missing or too long."),
)  # fmt: skip
"""Errors of routes: status, heading, and what is said; where nothing is said here, the error says it."""


def refusal(request: Request, error: Exception) -> Response:
    """Return the page of an error; raises it again where it has none."""
    if isinstance(error, SignInNeededError):
        return go("/sign-in") if request.method == "GET" else refused(401, "Sign in first", "Your session has ended.")
    if isinstance(error, HTTPException):
        heading = "This comes too often" if error.status_code == 429 else "There is nothing here"
        answer = refused(error.status_code, heading, str(error.detail))
        answer.headers.update(error.headers or {})
        return answer
    for kind, status, heading, words in REFUSALS:
        if isinstance(error, kind):
            return refused(status, heading, words or f"{error}")
    raise error


def refused(status: int, heading: str, words: str) -> Response:
    """Return a page that says why there is nothing else to see."""
    return page("refusal.html", status, visit=None, csrf="", heading=heading, words=words[:1].upper() + words[1:])


class PageRoute(APIRoute):
    """A route whose refusals are pages."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return what answers."""
        handler = super().get_route_handler()

        async def answered(request: Request) -> Response:
            """Return what the route answers, or the page of a refusal."""
            try:
                return await handler(request)
            except Exception as error:  # noqa: BLE001 - raised again by `refusal` where it is none of ours
                return refusal(request, error)

        return answered
