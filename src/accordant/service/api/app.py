"""The application: its routes, what every answer carries, how large a question may be, and what errors look like."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import asynccontextmanager, suppress
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException

from accordant import __version__
from accordant.errors import ConflictError, InputError, UnknownNameError
from accordant.service import pages
from accordant.service.api import decisions, health, jobs, observation
from accordant.service.api.pace import Pace
from accordant.service.api.rates import Rates
from accordant.service.clients import KnownClients
from accordant.service.database import UnreachableError
from accordant.service.oidc import Provider
from accordant.service.pages import oidc
from accordant.service.pages.visit import refusal
from accordant.service.secrets import Erased
from accordant.service.service import Service

logger = logging.getLogger(__name__)

MOST_BYTES = 2**23  # of the body of a question
MOST_BYTES_OF = {"/v1/jobs/decisions": 2**30}  # where a body is read piece by piece, and never held whole
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "no-referrer",  # links to decisions are secrets
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


def make_app(service: Service, *, demonstration: bool = False, provider: Provider | None = None) -> FastAPI:
    """Return the application of a service.

    Parameters
    ----------
    service
        What it answers for.
    demonstration
        Whether its pages say that everybody is invented.
    provider
        Of the accounts by which people may sign in; without one there is no such route.
    """

    @asynccontextmanager
    async def lifetime(_app: FastAPI) -> Any:
        yield
        service.close()

    app = FastAPI(
        title="accordant", version=__version__, lifespan=lifetime, docs_url=None, redoc_url=None,
        openapi_url="/v1/openapi.json",
    )  # fmt: skip
    app.state.service, app.state.demonstration, app.state.provider = service, demonstration, provider
    app.state.known_clients = KnownClients(service.secrets)
    app.include_router(health.router)
    app.include_router(decisions.router)
    app.include_router(pages.router)
    if provider is not None:
        app.include_router(oidc.router)
    app.include_router(jobs.router)
    app.include_router(observation.router)
    app.add_middleware(Pace)
    app.add_middleware(Rates)
    app.add_middleware(Boundary)
    app.state.metrics = observation.Metrics(service)
    app.add_middleware(observation.Observation, metrics=app.state.metrics)
    for kind, answer in ANSWERS.items():
        app.add_exception_handler(kind, answer)
    return app


class Boundary:
    """What stands around every route: headers on every answer, and an end to what is read."""

    def __init__(self, app: Callable[[Scope, Receive, Send], Awaitable[None]]) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        read, begun, over = 0, False, False
        most = MOST_BYTES_OF.get(scope["path"], MOST_BYTES)

        async def bounded() -> Message:
            """Receive a message; refuse once more bytes came than are taken."""
            nonlocal read, over
            message = await receive()
            read += len(message.get("body", b""))
            if read > most:
                over = True
                raise TooLargeError
            return message

        async def headed(message: Message) -> None:
            """Send a message with the headers of every answer, unless it answers a body that was refused."""
            nonlocal begun
            if over and not begun:  # whatever the application makes of the body that it could not read to its end
                return
            if message["type"] == "http.response.start":
                begun = True
                present = {name.lower() for name, _ in message["headers"]}
                message["headers"] = [
                    *message["headers"],
                    *((name.lower().encode(), value.encode()) for name, value in HEADERS.items()
                      if name.lower().encode() not in present),
                ]  # fmt: skip
            await send(message)

        try:
            declared = int(dict(scope["headers"]).get(b"content-length", b"0") or 0)
        except ValueError:
            declared = most + 1
        refusal = _error(413, f"a question has at most {most:,} bytes", Connection="close")
        if dict(scope["headers"]).get(b"content-encoding", b"identity").strip().lower() not in {b"", b"identity"}:
            await _error(415, "a body is read as it is, and never unpacked")(scope, receive, headed)
            return
        if not 0 <= declared <= most:
            await refusal(scope, receive, headed)
            return
        with suppress(TooLargeError):
            await self.app(scope, bounded, headed)
        if over and not begun:
            over = False
            await refusal(scope, receive, headed)


class TooLargeError(Exception):
    """A body goes on beyond what is read."""


def _error(status: int, detail: Any, **headers: str) -> JSONResponse:
    return JSONResponse({"detail": detail}, status, headers)


async def _wrong(_request: Request, error: Exception) -> Response:
    return _error(422, str(error))


async def _invalid(_request: Request, error: Exception) -> Response:
    """Say where a body is not what is asked for, without repeating what stood there."""
    assert isinstance(error, RequestValidationError)
    faults = [{"where": list(fault["loc"]), "what": fault["msg"]} for fault in error.errors()]
    return _error(422, faults)


async def _conflict(_request: Request, error: Exception) -> Response:
    return _error(409, str(error))


async def _erased(_request: Request, _gone: Exception) -> Response:
    return _error(410, "somebody whom this is about was erased")


async def _unreachable(_request: Request, error: Exception) -> Response:
    logger.error("%s", error)
    return _error(503, "the database does not answer; ask again with the same Idempotency-Key", **{"Retry-After": "5"})


async def _stopped(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if "text/html" in request.headers.get("accept", "") and not request.url.path.startswith("/v1/"):
        return refusal(request, error)
    return _error(error.status_code, error.detail, **dict(error.headers or {}))


ANSWERS: dict[type[Exception], Callable[[Request, Exception], Awaitable[Response]]] = {
    InputError: _wrong,
    UnknownNameError: _wrong,
    ConflictError: _conflict,
    Erased: _erased,
    UnreachableError: _unreachable,
    RequestValidationError: _invalid,
    HTTPException: _stopped,
}
