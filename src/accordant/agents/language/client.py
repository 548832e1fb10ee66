"""`OpenAICompatible`: asks a server that speaks the OpenAI chat-completions protocol, through pydantic-ai.

Nothing here can hang or leak: one deadline covers a whole request, answers are cut at a number of bytes, redirects are
not followed, no proxy stands between this machine and itself, the library does not retry by itself, and the key lives
in local variables alone.
"""

from __future__ import annotations

import asyncio
import email.utils
import functools
import logging
import os
import re
import ssl
import threading
import time
from collections.abc import AsyncIterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from accordant.agents.language.keys import check_address, is_loopback, readable, without_hidden_key
from accordant.agents.language.provider import Fault, FaultKind, Finish, Reply, Request
from accordant.errors import InputError

if TYPE_CHECKING:
    import httpx2
    from pydantic_ai.messages import ModelMessage, ModelResponse

PLACEHOLDER = "no-key"  # the client library insists on a key; a server without keys ignores it
GRACE = 2.0  # seconds that a request may need to notice its deadline before its thread is left behind
SAID = 200  # characters of what a server says about an error
NEWEST = ("openai.com", "azure.com")  # hosts that want the newer name of the limit of an answer; others the older
CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR")
LIBRARIES = ("openai", "httpx2", "httpcore2")
LOGGERS = (  # some are made only during the first request
    "openai",
    "openai._base_client",
    "httpx2",
    "httpcore2.connection",
    "httpcore2.http11",
    "httpcore2.http2",
    "httpcore2.proxy",
    "httpcore2.socks",
)

_PASSWORD = re.compile(r"//[^/\s]*@")

_silent: ContextVar[bool] = ContextVar("_silent", default=False)


@dataclass
class Watch:
    """What was seen of one HTTP exchange."""

    limit: int
    status: int | None = None
    retry_after: float | None = None
    encoded: bool = False
    too_long: bool = False


@dataclass(frozen=True)
class OpenAICompatible:
    """A server that speaks the OpenAI chat-completions protocol.

    Parameters
    ----------
    base_url
        Such as ``http://localhost:11434/v1``; without user, query and fragment.
    answer_bytes
        The most bytes of a response; the rest is not read.
    """

    base_url: str
    answer_bytes: int = 200_000

    def __post_init__(self) -> None:
        object.__setattr__(self, "base_url", check_address(self.base_url))

    def complete(self, request: Request, key: str | None, seconds: float) -> Reply | Fault:
        """Return the answer, or why there is none.

        Raises
        ------
        InputError
            If the extra is not installed, or certificates are needed and cannot be read.
        """
        check_installed()
        certificates = trusted() if urlsplit(self.base_url).scheme == "https" else nobody_trusted()
        answers: list[Reply | Fault] = []

        def ask() -> None:
            """Ask on a thread of its own: a notebook may already run an event loop on this one."""
            _silent.set(True)
            try:
                answers.append(asyncio.run(self._bounded(request, key, seconds, certificates)))
            except Exception as error:  # noqa: BLE001 - the loop itself may fail, such as without file descriptors
                answers.append(Fault("connection", f"nothing could be sent ({type(error).__name__})"))

        thread = threading.Thread(target=ask, daemon=True, name="language-model-request")
        thread.start()
        thread.join(seconds + GRACE)
        return answers[0] if answers else Fault("timeout", f"no answer in {seconds:g} s")

    async def _bounded(
        self, request: Request, key: str | None, seconds: float, certificates: ssl.SSLContext
    ) -> Reply | Fault:
        """Ask under one deadline for everything: connecting, sending, and the last byte of the answer."""
        watch = Watch(self.answer_bytes)
        try:
            async with asyncio.timeout(seconds):
                return _reply(await self._exchange(request, key, seconds, watch, certificates), key)
        except TimeoutError:
            return Fault("timeout", f"no answer in {seconds:g} s")
        except Exception as error:  # noqa: BLE001 - whatever a server can make the library raise is a fault
            return _fault(error, watch, key, self.base_url)

    async def _exchange(
        self, request: Request, key: str | None, seconds: float, watch: Watch, certificates: ssl.SSLContext
    ) -> ModelResponse:
        """Send one request through the library, which neither retries nor follows a redirect."""
        import httpx2
        from openai import AsyncOpenAI
        from pydantic_ai.direct import model_request
        from pydantic_ai.models.openai import OpenAIChatModel
        from pydantic_ai.profiles.openai import OpenAIModelProfile
        from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider
        from pydantic_ai.settings import ModelSettings

        settings: ModelSettings = {"seed": request.seed, "max_tokens": request.answer_tokens}
        if request.temperature is not None:
            settings["temperature"] = request.temperature
        if request.response_format is not None:
            settings["extra_body"] = {"response_format": request.response_format}
        host = urlsplit(self.base_url).hostname or ""
        async with httpx2.AsyncClient(
            timeout=seconds + GRACE,  # the deadline above comes first
            follow_redirects=False,
            verify=certificates,
            trust_env=not is_loopback(host),  # proxies are named by variables
            headers={"Accept-Encoding": "identity"},  # a small compressed answer could unfold without end
            event_hooks={"response": [_watcher(watch)]},
        ) as client:
            service = AsyncOpenAI(
                base_url=self.base_url,
                api_key=key or PLACEHOLDER,
                http_client=client,
                max_retries=0,
                timeout=seconds + GRACE,
            )
            service.organization = service.project = service.admin_api_key = None  # read from variables of their own
            provider = OpenAICompatibleProvider(name="openai-compatible", openai_client=service)
            newest = host.endswith(NEWEST)
            profile = OpenAIModelProfile(openai_chat_supports_max_completion_tokens=newest)
            model = OpenAIChatModel(request.model, provider=provider, profile=profile)
            return await model_request(model, _messages(request), model_settings=settings, instrument=False)


def check_installed() -> None:
    """Import the client library, which is not part of a time-out, and keep its loggers from writing what requests hold.

    Raises InputError if it is not installed.
    """
    try:
        import httpx2  # noqa: F401
        import openai  # noqa: F401
        import pydantic_ai.direct
        import pydantic_ai.models.openai
        import pydantic_ai.providers.openai_compatible  # noqa: F401
    except ImportError as error:
        raise InputError(
            f"a language model needs an extra that is not installed ({error.name}): pip install 'accordant[llm]'"
        ) from None
    known = (name for name in list(logging.root.manager.loggerDict) if name.partition(".")[0] in LIBRARIES)
    for name in {*LOGGERS, *known}:
        logging.getLogger(name).addFilter(silence)  # adding it again changes nothing


@functools.cache
def trusted() -> ssl.SSLContext:
    """Return the certificates that are trusted; reading them takes longer than a small request.

    Raises InputError if those cannot be read that ``SSL_CERT_FILE`` or ``SSL_CERT_DIR`` names.
    """
    import httpx2

    try:
        return httpx2.create_ssl_context()
    except OSError as error:
        named = {name: os.environ[name] for name in CERTIFICATES if os.environ.get(name)}
        where = ", ".join(f"{name}={value!r:.200}" for name, value in named.items()) or "of the system"
        raise InputError(
            f"the certificates {where} cannot be read ({error.strerror or type(error).__name__}); "
            f"allowed: a file of certificates in {CERTIFICATES[0]}, or neither variable"
        ) from None


@functools.cache
def nobody_trusted() -> ssl.SSLContext:
    """Return what stands in for certificates where nothing is encrypted."""
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def silence(record: logging.LogRecord) -> bool:
    """Let no message of the client library pass during our requests: headers of a server may echo the key."""
    return not (_silent.get() and record.levelno < logging.ERROR)


def _watcher(watch: Watch) -> Any:
    """Return the hook that sees every response before its body is read, and cuts the body at a number of bytes."""
    import httpx2

    class Cut(httpx2.AsyncByteStream):
        """A body that ends in an error if it is too long."""

        def __init__(self, stream: httpx2.AsyncByteStream) -> None:
            self.stream = stream

        async def __aiter__(self) -> AsyncIterator[bytes]:
            total = 0
            async for chunk in self.stream:
                total += len(chunk)
                if total > watch.limit:
                    watch.too_long = True
                    raise ValueError
                yield chunk

        async def aclose(self) -> None:
            await self.stream.aclose()

    async def see(response: httpx2.Response) -> None:
        """Note the status, and put the cut body in place of the body."""
        watch.status = response.status_code
        watch.retry_after = seconds_of(response.headers.get("retry-after"))
        watch.encoded = response.headers.get("content-encoding", "identity").strip().lower() not in {"", "identity"}
        if watch.encoded:
            raise ValueError
        if isinstance(response.stream, httpx2.AsyncByteStream):
            response.stream = Cut(response.stream)

    return see


def seconds_of(header: str | None) -> float | None:
    """Return how many seconds a Retry-After header asks for, at least 0; None if there is none or it is no time."""
    try:
        seconds = float(header or "nan")
    except ValueError:
        try:
            seconds = email.utils.parsedate_to_datetime(header or "").timestamp() - time.time()
        except (ValueError, TypeError, OverflowError):
            return None
    return None if seconds != seconds else max(0.0, seconds)  # noqa: PLR0124 - not a number differs from itself


def _messages(request: Request) -> list[ModelMessage]:
    """Return the conversation in the library's types."""
    from pydantic_ai.messages import ModelRequest, ModelResponse, SystemPromptPart, TextPart, UserPromptPart

    made: list[ModelMessage] = []
    for message in request.messages:
        if message.role == "assistant":
            made.append(ModelResponse(parts=[TextPart(message.text)]))
        elif message.role == "system":
            made.append(ModelRequest(parts=[SystemPromptPart(message.text)]))
        else:
            made.append(ModelRequest(parts=[UserPromptPart(message.text)]))
    return made


def _reply(response: ModelResponse, key: str | None) -> Reply:
    """Return the answer in our types, without the key."""
    from pydantic_ai.messages import TextPart

    text = "".join(part.content for part in response.parts if isinstance(part, TextPart))
    finish: Finish = "stop"
    if response.finish_reason == "length":
        finish = "length"
    elif response.finish_reason == "content_filter" or "refusal" in (response.provider_details or {}):
        finish = "refusal"
    used = response.usage
    known = used.input_tokens > 0 or used.output_tokens > 0
    return Reply(
        text=without_hidden_key(text, key),
        finish=finish,
        tokens_in=max(0, used.input_tokens) if known else None,
        tokens_out=max(0, used.output_tokens) if known else None,
        id=readable(without_hidden_key(response.provider_response_id or "", key), SAID),
    )


def _fault(error: Exception, watch: Watch, key: str | None, address: str) -> Fault:
    """Return what went wrong, in words without the key."""
    status, wait = watch.status, watch.retry_after
    if watch.too_long:
        return Fault("too_long", f"the answer is longer than {watch.limit} bytes")
    if watch.encoded:
        return Fault("malformed", "the answer is compressed, though that was not asked for")
    if status is None or (status < 300 and _lost(error)):
        return Fault("connection", f"no connection to {address}, or it was lost: {_cause(error, key)}")
    if status < 300:
        return Fault("malformed", f"the answer is no chat completion (HTTP {status})")
    if status < 400:
        return Fault("redirect", f"the server redirects (HTTP {status}); redirects are not followed")
    if status in {401, 403}:
        return Fault("credentials", f"the server refuses the key (HTTP {status})")
    kinds: Mapping[int, FaultKind] = {408: "timeout", 425: "server", 429: "limited", 501: "refused"}
    kind = kinds.get(status, "server" if status >= 500 else "refused")
    said = readable(without_hidden_key(_said(getattr(error, "body", None)), key), SAID)
    return Fault(kind, f"the server answers HTTP {status}" + (f": {said}" if said else ""), wait)


def _cause(error: BaseException, key: str | None) -> str:
    """Return what lies at the bottom of an error, without the key and without passwords of proxies."""
    while error.__cause__ is not None or (error.__context__ is not None and not error.__suppress_context__):
        error = error.__cause__ or error.__context__ or error
    said = _PASSWORD.sub("//", without_hidden_key(str(error), key))
    return readable(f"{type(error).__name__}: {said}" if said else type(error).__name__, SAID)


def _lost(error: BaseException) -> bool:
    """Return whether a connection broke, by the names that the library gives that."""
    from openai import APIConnectionError

    return isinstance(error, APIConnectionError) or isinstance(error.__cause__, APIConnectionError)


def _said(body: object) -> str:
    """Return what the body of an error says."""
    if isinstance(body, Mapping):
        inner = body.get("error", body)
        body = inner.get("message", "") if isinstance(inner, Mapping) else inner
    return body if isinstance(body, str) else ""
