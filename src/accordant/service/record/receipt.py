"""Receipts: a file that shows without the service that a decision, by this version, at this time, is in the log."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError
from sqlalchemy import Connection, select

from accordant.errors import DataError, NotInLogError, spec_error
from accordant.json_values import field_values
from accordant.service.record.checkpoint import CheckpointPart, Hex, StrictPart, sign_head
from accordant.service.record.log import Event, tree_part
from accordant.service.record.merkle import included_root, inclusion_proof
from accordant.service.schema import event
from accordant.service.secrets import Secrets, event_key, unseal
from accordant.tables.text import read_json

FORMAT = 1


class EventPart(StrictPart):
    """An event, with what is sealed in it."""

    seq: int = Field(ge=0)
    id: str
    at: str
    kind: str
    person: str | None
    public: dict[str, Any]
    sealed: Hex
    previous: Hex


class Receipt(StrictPart):
    """What a receipt file holds.

    Attributes
    ----------
    format
        Of the file.
    event
        What was recorded.
    key
        Opens the sealed part of this event, and no other.
    proof
        Hashes from the event to the root of the checkpoint.
    checkpoint
        What the service signed.
    """

    format: int
    event: EventPart
    key: Hex
    proof: tuple[Hex, ...] = Field(max_length=64, strict=False)
    checkpoint: CheckpointPart


@dataclass(frozen=True)
class Verified:
    """What a receipt that holds shows.

    Attributes
    ----------
    at, kind, seq
        When what was recorded, and its place in the log.
    public, private
        What was recorded.
    size
        How many events the log had when its root was signed.
    public_key
        Of whoever signed, in hexadecimal digits.
    """

    at: str
    kind: str
    seq: int
    public: Mapping[str, Any]
    private: Mapping[str, Any]
    size: int
    public_key: str

    def to_json(self) -> dict[str, Any]:
        """Return what ``verify --json`` prints."""
        return field_values(self)

    def words(self) -> str:
        """Return what it shows, for people."""
        said, answer = self.public, self.private.get("answer", {})
        lines = [f"event {self.seq} of {self.size:,} is in the log: {self.kind}, recorded at {self.at}"]
        if self.kind == "decision":
            lines.append(f"decision {said.get('decision')}: {said.get('action') or 'left to a person'}")
            lines.append(
                f"by {said.get('name')} v{said.get('version')}: {said.get('strategy')} of run {said.get('run')}"
            )
            context = self.private.get("context", {})
            lines.append("about: " + ", ".join(f"{name} {value}" for name, value in context.items()))
            lines += [f"remark: {remark}" for remark in answer.get("remarks", ())]
        lines.append(f"signed with the key {self.public_key}")
        return "\n".join(lines)


def make_receipt(connection: Connection, secrets: Secrets, identifier: str, person_key: bytes) -> Receipt:
    """Return the receipt of an event, within a transaction that writes: where the log ends is signed for it."""
    line = Event.of(connection.execute(select(event).where(event.c.id == identifier)).one())
    signed = sign_head(connection, secrets)
    proof = inclusion_proof(tree_part(connection), line.seq, signed.size)
    return Receipt(
        format=FORMAT,
        event=EventPart(
            seq=line.seq, id=line.id, at=line.at, kind=line.kind, person=line.person, public=dict(line.public),
            sealed=line.sealed.hex(), previous=line.previous.hex(),
        ),
        key=event_key(person_key, line.id).hex(),
        proof=tuple(node.hex() for node in proof),
        checkpoint=CheckpointPart(**signed.to_json()),
    )  # fmt: skip


def read_receipt(content: Any) -> Receipt:
    """Return a receipt from JSON values; raises SpecError if it is none."""
    try:
        return Receipt.model_validate(content)
    except ValidationError as error:
        raise spec_error(error, "receipt", Receipt.model_fields) from None


def read_receipt_file(file: Path) -> Receipt:
    """Return the receipt in a file; raises DataError or SpecError if there is none."""
    return read_receipt(read_json(file))


def verify_receipt(receipt: Receipt, public_key: str | None = None) -> Verified:
    """Check a receipt without the service.

    Parameters
    ----------
    receipt
        From `read_receipt`.
    public_key
        The service's, from elsewhere, in hexadecimal digits; None believes the one in the receipt.

    Raises
    ------
    NotInLogError
        If anything in it does not hold; the message says what.
    DataError
        If its format is unknown.
    """
    if receipt.format != FORMAT:
        raise DataError(f"the receipt has format {receipt.format}; this version reads format {FORMAT}")
    told, signed = receipt.event, receipt.checkpoint
    line = Event(
        told.seq, told.id, told.at, told.kind, told.person, told.public, bytes.fromhex(told.sealed),
        bytes.fromhex(told.previous),
    )  # fmt: skip
    head = signed.checkpoint
    if public_key is not None and public_key.lower() != signed.public_key:
        raise NotInLogError("the receipt was signed with another key than the service's")
    if not head.is_signed():
        raise NotInLogError("the checkpoint is not what was signed")
    try:
        reached = included_root(line.hash, line.seq, signed.size, [bytes.fromhex(node) for node in receipt.proof])
    except ValueError as error:
        raise NotInLogError(f"the proof does not fit: {error}") from None
    if reached != head.root:
        raise NotInLogError("this event is not in the log whose root was signed")
    if line.at > signed.at:
        raise NotInLogError("the event is later than the checkpoint that is to hold it")
    try:
        private = json.loads(unseal(bytes.fromhex(receipt.key), line.sealed, line.id)) if line.sealed else {}
    except ValueError as error:
        raise NotInLogError(str(error)) from None
    return Verified(line.at, line.kind, line.seq, line.public, private, signed.size, signed.public_key)
