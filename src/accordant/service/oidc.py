"""Signing in with the account of an organisation: OpenID Connect, authorization code flow with PKCE.

Who answers for accounts, the provider, is named by the environment and never by the database. It is asked for nothing
but the identifier of an account (scope ``openid``). What ties its answer to the browser that asked is derived from the
token in that browser's cookie: nobody else can say it, and nothing of it is kept.

Sources: OpenID Connect Core 1.0 (3.1.2 to 3.1.3.7) and Discovery 1.0 (4), RFC 7636 (PKCE), RFC 9207 (issuer in the
answer), RFC 9700 (what attackers do). Tokens are checked by Authlib and joserfc.
"""

from __future__ import annotations

import logging
import os
import re
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from threading import BoundedSemaphore
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from accordant.errors import AccordantError, InputError
from accordant.service.secrets import Secrets

if TYPE_CHECKING:
    from authlib.integrations.httpx_client import OAuth2Client

logger = logging.getLogger(__name__)

PREFIX = "ACCORDANT_OIDC_"
NAMES = ("ISSUER", "CLIENT_ID", "CLIENT_SECRET", "ADDRESS")
CALLBACK_PATH = "/oidc/callback"
DISCOVERY_PATH = "/.well-known/openid-configuration"
ALGORITHMS = ("RS256", "PS256", "ES256")  # never none, and never one whose key the provider's public key could be
KEY_TYPES = ("RSA", "EC")
LEEWAY = 60  # seconds that two clocks may differ
SECONDS = 5.0  # until the provider counts as silent
MOST_CALLS = 4  # at once, of a process: a silent provider holds no more threads than these
LONGEST_SUBJECT = 255  # characters, by the standard
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})  # where tests run without TLS
CODE = re.compile("[a-z_]{1,40}")  # of an error, by the standard


class ProviderSilentError(AccordantError):
    """The provider does not answer, or not as a provider does."""


class NotSignedInError(AccordantError):
    """Nobody can be signed in by what came back; the message is for the person."""


@dataclass(frozen=True)
class Proofs:
    """What ties an answer of the provider to the browser that asked.

    Attributes
    ----------
    state
        Comes back with the browser.
    nonce
        Comes back in the signed token.
    verifier
        Told when the code is exchanged; only its hash was told before.
    """

    state: str
    nonce: str
    verifier: str

    @classmethod
    def of(cls, secrets: Secrets, token: str) -> Proofs:
        """Return those of the browser whose cookie holds a token."""
        return cls(*(secrets.fingerprint(f"openid {name} {token}").hex() for name in ("state", "nonce", "verifier")))


@dataclass(frozen=True)
class Provider:
    """Who answers for accounts.

    Attributes
    ----------
    issuer
        Its name, an address; exactly what tokens say.
    client_id, client_secret
        What it knows this service by.
    address
        Of this service, as browsers know it: where they are sent back to.
    """

    issuer: str
    client_id: str
    client_secret: str = field(repr=False)
    address: str
    _calls: BoundedSemaphore = field(default_factory=lambda: BoundedSemaphore(MOST_CALLS), repr=False, compare=False)

    def sign_in_address(self, proofs: Proofs) -> str:
        """Return where a browser signs in; raises ProviderSilentError."""
        with self._asked() as client:
            endpoint = self._metadata(client)["authorization_endpoint"]
            address, _ = client.create_authorization_url(
                endpoint, state=proofs.state, code_verifier=proofs.verifier, nonce=proofs.nonce
            )
        return str(address)

    def subject(self, code: str, proofs: Proofs) -> str:
        """Exchange a code for the identifier of an account.

        Raises
        ------
        ProviderSilentError
            If the provider does not answer.
        NotSignedInError
            If it refuses the code, or its token does not hold.
        """
        with self._asked() as client:
            metadata = self._metadata(client)
            if "client_secret_post" in metadata.get("token_endpoint_auth_methods_supported", ()):
                client.token_endpoint_auth_method = "client_secret_post"  # noqa: S105 - the name of a method
            token = client.fetch_token(
                metadata["token_endpoint"], grant_type="authorization_code", code=code, code_verifier=proofs.verifier
            )
            return self._checked(token, _fetched(client, metadata["jwks_uri"])["keys"], proofs.nonce)

    @contextmanager
    def _asked(self) -> Iterator[OAuth2Client]:
        """Open a client of the provider, which follows no redirect; say in words of ours what goes wrong."""
        from authlib.integrations.httpx_client import OAuth2Client, OAuthError
        from httpx2 import HTTPError, InvalidURL
        from joserfc.errors import JoseError

        if not self._calls.acquire(blocking=False):
            raise ProviderSilentError
        try:
            with OAuth2Client(
                self.client_id, self.client_secret, scope="openid", redirect_uri=self.address + CALLBACK_PATH,
                code_challenge_method="S256", timeout=SECONDS, follow_redirects=False,
                verify=_certificates(), trust_env=urlsplit(self.issuer).hostname not in LOOPBACK,
            ) as client:  # fmt: skip
                yield client
        except (OAuthError, JoseError) as error:
            code = error.error if isinstance(error.error, str) and CODE.fullmatch(error.error) else ""
            self._log(error, code=code, claim=getattr(error, "claim", ""))
            raise NotSignedInError(
                "What your organisation's sign-in answered cannot be believed or used, so nothing was changed. "
                "Begin again; if it happens again, tell whoever runs this service."
            ) from None
        except (HTTPError, InvalidURL, OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            self._log(error)
            raise ProviderSilentError from None
        finally:
            self._calls.release()

    def _log(self, error: Exception, **told: str) -> None:
        """Log what went wrong, without anything of anybody."""
        logger.warning("signing in by an account failed", extra={"error": type(error).__name__, **told})

    def _metadata(self, client: OAuth2Client) -> dict[str, Any]:
        """Return what the provider says of itself; asked each time, so that nothing in it is old."""
        told = _fetched(client, self.issuer.rstrip("/") + DISCOVERY_PATH)
        if told["issuer"] != self.issuer:
            raise ValueError("another issuer")
        for name in ("authorization_endpoint", "token_endpoint", "jwks_uri"):
            if not _is_safe(told[name]):
                raise ValueError(name)
        return told

    def _checked(self, token: Mapping[str, Any], keys: list[dict[str, Any]], nonce: str) -> str:
        """Return the subject of a token whose signature, issuer, audience, times and nonce hold."""
        from authlib.oidc.core import CodeIDToken
        from joserfc import jwt
        from joserfc.errors import InvalidClaimError
        from joserfc.jwk import KeySet
        from joserfc.jws import JWSRegistry

        usable = [key for key in keys if key.get("kty") in KEY_TYPES and key.get("use", "sig") == "sig"]
        registry = JWSRegistry(algorithms=ALGORITHMS, strict_check_header=False)
        read = jwt.decode(token["id_token"], KeySet.import_key_set({"keys": usable}), registry=registry)
        wanted = {
            "iss": {"essential": True, "value": self.issuer}, "aud": {"essential": True, "value": self.client_id},
        }  # fmt: skip
        told = {"nonce": nonce, "client_id": self.client_id, "access_token": token.get("access_token")}
        claims = CodeIDToken(read.claims, read.header, wanted, told)
        claims.validate(leeway=LEEWAY)
        subject = str(claims["sub"])
        if len(subject) > LONGEST_SUBJECT:
            raise InvalidClaimError("sub")
        return subject


@cache
def _certificates() -> ssl.SSLContext:
    """Return the certificates that are trusted, read once; raises OSError."""
    from httpx2 import create_ssl_context

    return create_ssl_context()


def _fetched(client: OAuth2Client, address: str) -> dict[str, Any]:
    """Return the JSON object at an address, which is told no token; raises HTTPError or ValueError."""
    answer = client.request("GET", address, withhold_token=True)
    answer.raise_for_status()
    told = answer.json()
    if answer.status_code != 200 or not isinstance(told, dict):
        raise ValueError("no object")
    return told


def _is_safe(address: str) -> bool:
    """Return whether nobody reads what is sent to an address."""
    parts = urlsplit(address)
    return bool(parts.hostname) and (
        parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK)
    )  # fmt: skip


def read_provider(environment: Mapping[str, str] = os.environ) -> Provider | None:
    """Return the provider that the environment names; None if it names none.

    Parameters
    ----------
    environment
        ``ACCORDANT_OIDC_ISSUER``, ``…_CLIENT_ID``, ``…_CLIENT_SECRET`` and ``…_ADDRESS``; each may stand in a file
        instead, which the same name with ``_FILE`` at its end names.

    Raises
    ------
    InputError
        If one is missing, unreadable or no address, or the extra is not installed.
    """
    values = {name: _value(environment, PREFIX + name) for name in NAMES}
    if not any(values.values()):
        return None
    missing = [PREFIX + name for name, value in values.items() if not value]
    if missing:
        raise InputError(f"{', '.join(missing)} missing; all of {', '.join(PREFIX + name for name in NAMES)}, or none")
    for name in ("ISSUER", "ADDRESS"):
        parts = urlsplit(values[name])
        if not _is_safe(values[name]) or parts.query or parts.fragment or parts.username is not None:
            raise InputError(f"{PREFIX}{name} is {values[name]!r}; allowed: https://HOST, with a path if need be")
    try:
        import authlib.oidc.core  # noqa: F401
        import httpx2  # noqa: F401
    except ModuleNotFoundError as error:
        raise InputError(f"signing in by accounts needs {error.name}: pip install 'accordant[oidc]'") from None
    return Provider(
        values["ISSUER"], values["CLIENT_ID"], values["CLIENT_SECRET"], values["ADDRESS"].rstrip("/")
    )  # fmt: skip


def _value(environment: Mapping[str, str], name: str) -> str:
    """Return the value of a variable, or what stands in the file that it names."""
    file = environment.get(f"{name}_FILE")
    if not file:
        return environment.get(name, "").strip()
    try:
        return Path(file).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "no text"
        raise InputError(f"{name}_FILE: {file} cannot be read ({reason})") from None
