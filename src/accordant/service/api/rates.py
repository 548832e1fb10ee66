"""How often somebody may ask: token buckets (after Turner, 1986) for addresses and clients, in the process.

A bucket holds some tokens, each question takes one, and they come back at a steady rate. A client whose key was good
before has a bucket of its own; everybody else shares that of the address.
"""

from __future__ import annotations

import hashlib
import ipaddress
import math
import time
from collections import OrderedDict
from dataclasses import dataclass, field

from fastapi.responses import JSONResponse

from accordant.service.api.pace import App, Message, Receive, Scope, Send

MOST_BUCKETS = 100_000  # that are kept, those used last
REFUSED = {401, 403, 404, 410}  # answers to those who guess


@dataclass(frozen=True)
class Rate:
    """How many questions at once, and how many a second in the long run."""

    burst: float
    second: float


STRANGERS = Rate(300, 30)
KNOWN = Rate(4_000, 2_000)


@dataclass(eq=False)
class Buckets:
    """Token buckets by name.

    Attributes
    ----------
    rate
        Of each.
    """

    rate: Rate
    _buckets: OrderedDict[bytes, tuple[float, float]] = field(default_factory=OrderedDict)

    def seconds_to_wait(self, name: bytes, at: float) -> float:
        """Return how long until a token is there; 0 if one is."""
        missing = 1 - self._tokens(name, at)
        return max(missing / self.rate.second, 0.0)

    def take(self, name: bytes, at: float) -> None:
        """Take a token, of those that are there or that will be."""
        self._buckets[name] = (max(self._tokens(name, at) - 1, -self.rate.burst), at)
        self._buckets.move_to_end(name)
        if len(self._buckets) > MOST_BUCKETS:
            self._buckets.popitem(last=False)

    def __contains__(self, name: bytes) -> bool:
        return name in self._buckets

    def _tokens(self, name: bytes, at: float) -> float:
        tokens, then = self._buckets.get(name, (self.rate.burst, at))
        return min(self.rate.burst, tokens + max(at - then, 0.0) * self.rate.second)


class Rates:
    """Middleware that refuses (429) what comes too often, and says when to come again."""

    def __init__(self, app: App, strangers: Rate = STRANGERS, known: Rate = KNOWN) -> None:
        self.app, self.strangers, self.known = app, Buckets(strangers), Buckets(known)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        at, address, credential = time.monotonic(), _address(scope), _credential(scope)
        buckets, name = self.strangers, address
        if credential is not None and credential in self.known:
            buckets, name = self.known, credential
        wait = buckets.seconds_to_wait(name, at)
        if wait > 0:
            refusal = JSONResponse(
                {"detail": "this comes too often; wait, then ask again"}, 429, {"Retry-After": str(math.ceil(wait))}
            )
            await refusal(scope, receive, send)
            return
        buckets.take(name, at)

        async def watched(message: Message) -> None:
            """Count a refusal against its address, or a credential that was accepted as known, and send the message."""
            if message["type"] == "http.response.start":
                if message["status"] in REFUSED:
                    self.strangers.take(address, at)
                elif credential is not None and scope.get("state", {}).get("client") is not None:
                    self.known.take(credential, at)
            await send(message)

        await self.app(scope, receive, watched if buckets is self.strangers else send)


def _address(scope: Scope) -> bytes:
    """Return where a request comes from; of IPv6 the network, since one subscriber has all of its addresses."""
    host = (scope.get("client") or ("",))[0]
    try:
        given = ipaddress.ip_address(host)
    except ValueError:
        return host.encode()
    return given.packed[:8] if given.version == 6 else given.packed


def _credential(scope: Scope) -> bytes | None:
    """Return the hash of the key that comes with a request; None if there is none."""
    given = next((value for name, value in scope["headers"] if name == b"authorization"), None)
    return None if given is None else hashlib.sha256(given).digest()
