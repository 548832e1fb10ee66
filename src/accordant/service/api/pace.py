"""Clients that are slow, on purpose or not: how long anything of a request, or of an answer, may take."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from typing import Any

from fastapi.responses import JSONResponse
from uvicorn.protocols.http.h11_impl import H11Protocol

SECONDS_TO_BEGIN = 10.0  # from the connection, or the first byte of a request, to the end of its headers
SECONDS_TO_ASK = 20.0  # for a body, beside what its size allows
SLOWEST = 2_000  # bytes of a body a second
SECONDS_TO_TAKE = 60.0  # until a piece of an answer is taken

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


class SlowClientError(Exception):
    """A body comes too slowly, or an answer is not taken."""


class Pace:
    """Middleware that ends requests whose body comes too slowly (408), and answers that nobody takes."""

    def __init__(self, app: App) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        clock = asyncio.get_running_loop().time
        began, read, begun, whole, slow = clock(), 0, False, False, False

        async def received() -> Message:
            """Receive a message within the time that its bytes may take."""
            nonlocal read, whole, slow
            if whole:  # what follows a body is its client's farewell, which may take as long as the answer does
                return await receive()
            try:
                async with asyncio.timeout_at(began + SECONDS_TO_ASK + read / SLOWEST):
                    message = await receive()
            except TimeoutError:
                slow = True
                raise SlowClientError from None
            read += len(message.get("body", b""))
            whole = not message.get("more_body", False)
            return message

        async def sent(message: Message) -> None:
            """Send a message, unless its client was too slow to ask; refuse one that takes it too slowly."""
            nonlocal begun
            if slow and not begun:  # whatever the application makes of half a body
                return
            begun = True
            try:
                async with asyncio.timeout(SECONDS_TO_TAKE):
                    await send(message)
            except TimeoutError:
                raise SlowClientError from None

        with suppress(SlowClientError):
            await self.app(scope, received, sent)
        if slow and not begun:
            refusal = JSONResponse({"detail": "the question came too slowly"}, 408, {"Connection": "close"})
            await refusal(scope, receive, send)


class TimedProtocol(H11Protocol):
    """HTTP/1.1 as uvicorn speaks it, with an end to waiting for the headers of a request."""

    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for a request, but not for ever."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Read a piece of a request."""
        before = self.cycle
        super().data_received(data)
        if self.cycle is not before:
            self._stop_waiting()
        elif self.cycle is None or self.cycle.response_complete:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Take note that nobody is there any more."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait(self) -> None:
        if self._waiting is None and not self.transport.is_closing():
            self._waiting = self.loop.call_later(SECONDS_TO_BEGIN, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None
