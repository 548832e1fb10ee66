"""Checkpoints: the size and root of the log at a time, signed (Ed25519, RFC 8032), to be kept by others too.

A chain alone proves nothing against whoever owns the database: it can be made anew from any event on. A checkpoint that
stands elsewhere cannot.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from sqlalchemy import Connection, insert, select

from accordant.errors import DataError, spec_error
from accordant.service.record.log import canonical, now, read_head
from accordant.service.schema import checkpoint
from accordant.service.secrets import Secrets
from accordant.tables.text import read_json

Hex = Annotated[str, Field(pattern="^([0-9a-f]{2})*$")]


@dataclass(frozen=True)
class Checkpoint:
    """The first `size` events of a log had this root at this time, says whoever has the key."""

    size: int
    at: str
    root: bytes
    signature: bytes
    public: bytes

    @property
    def content(self) -> bytes:
        """The bytes that are signed."""
        return _content(self.size, self.at, self.root)

    def is_signed(self) -> bool:
        """Return whether the signature is that of its public key."""
        try:
            Ed25519PublicKey.from_public_bytes(self.public).verify(self.signature, self.content)
        except (InvalidSignature, ValueError):
            return False
        return True

    def to_json(self) -> dict[str, Any]:
        """Return it as it is published; bytes in hexadecimal digits."""
        return {
            "size": self.size, "at": self.at, "root": self.root.hex(), "signature": self.signature.hex(),
            "public_key": self.public.hex(),
        }  # fmt: skip


class StrictPart(BaseModel):
    """Part of a file that somebody kept."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class CheckpointPart(StrictPart):
    """A `Checkpoint` as it is published; bytes in hexadecimal digits."""

    size: int = Field(ge=1)
    at: str
    root: Hex
    signature: Hex
    public_key: Hex

    @property
    def checkpoint(self) -> Checkpoint:
        """What it says."""
        return Checkpoint(
            self.size, self.at, *(bytes.fromhex(digits) for digits in (self.root, self.signature, self.public_key))
        )


def read_checkpoint_file(file: Path) -> Checkpoint:
    """Return the checkpoint that somebody kept, by itself or in a receipt.

    Raises
    ------
    DataError, SpecError
        If there is none in the file, or it is not what was signed.
    """
    content = read_json(file)
    inside = content.get("checkpoint", content) if isinstance(content, dict) else content
    try:
        kept = CheckpointPart.model_validate(inside)
    except ValidationError as error:
        raise spec_error(error, str(file), CheckpointPart.model_fields) from None
    if not kept.checkpoint.is_signed():
        raise DataError(f"{file}: the checkpoint is not what was signed with the key in it")
    return kept.checkpoint


def _content(size: int, at: str, root: bytes) -> bytes:
    return canonical({"at": at, "root": root.hex(), "size": size})


def sign_head(connection: Connection, secrets: Secrets) -> Checkpoint:
    """Sign where the log ends now, within a transaction that writes; the same size is signed once."""
    head = read_head(connection, lock=True)
    row = connection.execute(select(checkpoint).where(checkpoint.c.size == head.tree.size)).one_or_none()
    if row is not None:
        return Checkpoint(row.size, row.at, bytes(row.root), bytes(row.signature), secrets.public)
    at, root = max(now(), head.at), head.tree.root
    signature = secrets.signing.sign(_content(head.tree.size, at, root))
    connection.execute(insert(checkpoint).values(size=head.tree.size, at=at, root=root, signature=signature))
    return Checkpoint(head.tree.size, at, root, signature, secrets.public)
