"""What only the server knows, and a key per person that can be destroyed.

One secret of 32 bytes stands in a file beside the database or in the environment, never in the database. Everything
else is derived from it (HKDF-SHA-256, RFC 5869): the key that fingerprints of tokens are made with, the key that wraps
the keys of people, the key that links are made with, and the key that signs checkpoints.

Keys of people stand in a store of their own, which backups of the database do not hold: what a person's key sealed
cannot be read any more, wherever a copy of it lies, once the key is destroyed.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import os
import secrets as system
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from accordant.errors import InputError
from accordant.tables.output import private_file

SECRET_VARIABLE = "ACCORDANT_SECRET"  # noqa: S105 - the name of a variable
SECRET_BYTES = KEY_BYTES = 32
NONCE_BYTES = 12
TOKEN_BYTES = 24  # 192 bits: nobody guesses one


class Erased(Exception):  # noqa: N818 - a state, not a fault
    """What was sealed cannot be read, since the key of the person was destroyed."""


@dataclass(frozen=True)
class Secrets:
    """The secret of a service and what is derived from it."""

    secret: bytes

    def derived(self, purpose: str) -> bytes:
        """Return a key of 32 bytes for one purpose."""
        return HKDF(SHA256(), KEY_BYTES, None, f"accordant {purpose}".encode()).derive(self.secret)

    @cached_property
    def _fingerprints(self) -> bytes:
        return self.derived("fingerprints")

    @cached_property
    def _links(self) -> bytes:
        return self.derived("links")

    @cached_property
    def _wrapping(self) -> AESGCM:
        return AESGCM(self.derived("keys of people"))

    @cached_property
    def signing(self) -> Ed25519PrivateKey:
        """The key that signs checkpoints."""
        return Ed25519PrivateKey.from_private_bytes(self.derived("checkpoints"))

    @cached_property
    def public(self) -> bytes:
        """The 32 bytes with which anybody checks what `signing` signed."""
        return self.signing.public_key().public_bytes_raw()

    def fingerprint(self, token: str) -> bytes:
        """Return what is kept of a token, an address or a code: nobody without the secret finds it by guessing."""
        return hmac.digest(self._fingerprints, token.encode(), hashlib.sha256)

    def link_token(self, decision: str) -> str:
        """Return the token of the link to a decision; it is made anew whenever it is asked for, and kept nowhere."""
        return _text(hmac.digest(self._links, decision.encode(), hashlib.sha256)[:TOKEN_BYTES])

    def wrap(self, key: bytes, person: str) -> bytes:
        """Return a person's key as it is kept."""
        nonce = system.token_bytes(NONCE_BYTES)
        return nonce + self._wrapping.encrypt(nonce, key, person.encode())

    def unwrap(self, wrapped: bytes, person: str) -> bytes:
        """Return a person's key; raises InputError if this secret did not wrap it."""
        try:
            return self._wrapping.decrypt(wrapped[:NONCE_BYTES], wrapped[NONCE_BYTES:], person.encode())
        except InvalidTag:
            raise InputError("the keys of people were wrapped with another secret than this service has") from None


def event_key(person_key: bytes, event: str) -> bytes:
    """Return the key of one event of a person: whoever is given it can read this event and no other."""
    return hmac.digest(person_key, event.encode(), hashlib.sha256)


def seal(key: bytes, content: bytes, bound: str) -> bytes:
    """Return content that only the key opens (AES-256-GCM), bound to a name that must be said to open it."""
    nonce = system.token_bytes(NONCE_BYTES)
    return nonce + AESGCM(key).encrypt(nonce, content, bound.encode())


def unseal(key: bytes, sealed: bytes, bound: str) -> bytes:
    """Return what was sealed; raises ValueError if key, name or content are not those of `seal`."""
    try:
        return AESGCM(key).decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], bound.encode())
    except InvalidTag:
        raise ValueError(f"what is sealed for {bound} was changed, or belongs to another key") from None


def new_token() -> str:
    """Return a token that nobody guesses, as text that an address may hold."""
    return _text(system.token_bytes(TOKEN_BYTES))


def new_id() -> str:
    """Return a random identifier of 128 bits, which says nothing of whom or what it is for."""
    return system.token_hex(16)


def _text(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def read_secrets(file: Path | None, environment: Mapping[str, str] = os.environ) -> Secrets:
    """Return the secret of the environment, or of a file, which is made with a new one where there is none.

    Parameters
    ----------
    file
        Where the secret stands; it is made readable for its owner only. None if it must come from the environment.
    environment
        ``ACCORDANT_SECRET`` holds 32 bytes in base64.

    Raises
    ------
    InputError
        If there is no secret of 32 bytes.
    """
    given, where = environment.get(SECRET_VARIABLE), SECRET_VARIABLE
    if given is None:
        if file is None:
            raise InputError(f"{SECRET_VARIABLE} is not set; it holds 32 random bytes in base64")
        where = str(file)
        if not file.exists():
            private_file(file, base64.b64encode(system.token_bytes(SECRET_BYTES)) + b"\n")
        given = file.read_text(encoding="ascii", errors="replace")
    try:
        secret = base64.b64decode(given.strip(), validate=True)
    except (binascii.Error, ValueError):
        secret = b""
    if len(secret) != SECRET_BYTES:
        raise InputError(f"{where} holds no secret; allowed: {SECRET_BYTES} bytes in base64")
    return Secrets(secret)
