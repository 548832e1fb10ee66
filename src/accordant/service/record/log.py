"""The log: events in one order, each of which holds the hash of the one before, as leaves of one Merkle tree."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Row, bindparam, insert, select, update

from accordant.service.record.merkle import EMPTY, Frontier, Part, leaf_hash, node_hash, part_of
from accordant.service.schema import event, log_head, tree_block
from accordant.service.secrets import event_key, new_id, seal

BLOCK = 256  # leaves of a block whose hash is kept
TIME = "%Y-%m-%dT%H:%M:%S.%fZ"
# built once: building takes four times as long as carrying out
HEAD = select(log_head).where(log_head.c.one == 1)
LOCKED_HEAD = HEAD.with_for_update()
NEW_EVENTS = insert(event)
NEW_HEAD = (
    update(log_head)
    .where(log_head.c.one == 1)
    .values({name: bindparam(f"new_{name}") for name in ("size", "last", "at", "frontier")})
)


@dataclass(frozen=True)
class Act:
    """Something that happened and is to be recorded.

    Attributes
    ----------
    kind
        What: a name such as ``decision``.
    public
        JSON values that everybody may read for ever: names of things, never of people.
    person
        Whom it is about, by a random identifier; None for nobody.
    private
        JSON values that can be read as long as the person's key exists.
    key
        The person's key; needed where something is private.
    id
        Of the event.
    """

    kind: str
    public: Mapping[str, Any] = field(default_factory=dict)
    person: str | None = None
    private: Mapping[str, Any] | None = None
    key: bytes | None = None
    id: str = field(default_factory=new_id)

    def sealed(self) -> bytes:
        """Return the private part as it is kept; nothing if there is none."""
        if self.private is None:
            return b""
        assert self.key is not None
        return seal(event_key(self.key, self.id), canonical(self.private), self.id)


@dataclass(frozen=True)
class Event:
    """One line of the log.

    Attributes
    ----------
    seq
        Its place, from 0.
    id, kind, person, public, sealed
        See `Act`.
    at
        UTC; never before the event in front of it, whatever the clock says.
    previous
        Hash of the event before; of nothing for the first.
    """

    seq: int
    id: str
    at: str
    kind: str
    person: str | None
    public: Mapping[str, Any]
    sealed: bytes
    previous: bytes

    @property
    def content(self) -> bytes:
        """The bytes of its leaf; of the sealed part only the hash is inside, so that it can be checked and not read."""
        return canonical({
            "at": self.at, "id": self.id, "kind": self.kind, "person": self.person, "previous": self.previous.hex(),
            "public": self.public, "sealed": hashlib.sha256(self.sealed).hexdigest(), "seq": self.seq,
        })  # fmt: skip

    @property
    def hash(self) -> bytes:
        """The hash of its leaf."""
        return leaf_hash(self.content)

    @classmethod
    def of(cls, row: Row[Any]) -> Event:
        """Return the event of a row of the table."""
        public = json.loads(row.public)
        return cls(row.seq, row.id, row.at, row.kind, row.person, public, bytes(row.sealed), bytes(row.previous))


@dataclass(frozen=True)
class Head:
    """Where a log ends: its tree, the hash of its last event, and when that was."""

    tree: Frontier = field(default_factory=Frontier)
    last: bytes = EMPTY
    at: str = ""

    def root(self) -> bytes:
        """Return the root of the tree of all events."""
        return self.tree.root


def canonical(value: Any) -> bytes:
    """Return JSON as one sequence of bytes for one value: sorted keys, no blanks, UTF-8, no NaN."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def now() -> str:
    """Return the time in UTC as it is recorded."""
    return datetime.now(UTC).strftime(TIME)


def begin(connection: Connection) -> None:
    """Make the row that says where the log ends, if there is none."""
    if connection.execute(select(log_head.c.one)).one_or_none() is None:
        connection.execute(insert(log_head).values(one=1, size=0, last=EMPTY, at="", frontier=b""))


def read_head(connection: Connection, *, lock: bool = False) -> Head:
    """Return where the log ends; locked, nobody else appends until the transaction is over."""
    row = connection.execute(LOCKED_HEAD if lock else HEAD).one()
    return Head(Frontier.of_bytes(row.size, bytes(row.frontier)), bytes(row.last), row.at)


def append(connection: Connection, acts: Sequence[Act], at: str | None = None) -> list[Event]:
    """Record acts at the end of the log, within a transaction that writes.

    Parameters
    ----------
    connection
        From `Database.writing`; what the acts change is written through it too.
    acts
        In their order.
    at
        When; None for now. Where it lies before the last event, as when a clock was set back, the time of that is
        taken.

    Returns
    -------
    list of Event
        The events, one an act.
    """
    head = read_head(connection, lock=True)
    at = max(now() if at is None else at, head.at)
    tree, last, events, blocks = head.tree, head.last, [], []
    for act in acts:
        line = Event(tree.size, act.id, at, act.kind, act.person, act.public, act.sealed(), last)
        last = line.hash
        if tree.size % BLOCK == BLOCK - 1:
            blocks.append({"number": tree.size // BLOCK, "hash": full_block(tree, last)})
        tree = tree.append(last)
        events.append(line)
    connection.execute(NEW_EVENTS, [_row(event) for event in events])
    if blocks:
        connection.execute(insert(tree_block), blocks)
    connection.execute(
        NEW_HEAD, {"new_size": tree.size, "new_last": last, "new_at": at, "new_frontier": tree.to_bytes()}
    )
    return events


def full_block(tree: Frontier, leaf: bytes) -> bytes:
    """Return the hash of the block that a leaf makes full."""
    digest = leaf
    for part in reversed(tree.hashes[-(BLOCK - 1).bit_length() :]):
        digest = node_hash(part, digest)
    return digest


def tree_part(connection: Connection) -> Part:
    """Return the function that hashes parts of the tree, by kept blocks where a part consists of full ones."""

    def part(start: int, size: int) -> bytes:
        """Return the hash of `size` leaves from `start` on."""
        if size == 0:
            return EMPTY
        if start % BLOCK == 0 and size % BLOCK == 0:
            first = start // BLOCK
            number = tree_block.c.number
            wanted = select(tree_block.c.hash).where(number >= first, number < first + size // BLOCK).order_by(number)
        elif size > BLOCK:
            left = 1 << ((size - 1).bit_length() - 1)
            return node_hash(part(start, left), part(start + left, size - left))
        else:
            wanted = select(event.c.hash).where(event.c.seq >= start, event.c.seq < start + size).order_by(event.c.seq)
        hashes = [bytes(row.hash) for row in connection.execute(wanted)]
        return part_of(hashes)(0, len(hashes))

    return part


def _row(line: Event) -> dict[str, Any]:
    return {
        "seq": line.seq, "id": line.id, "at": line.at, "kind": line.kind, "person": line.person,
        "public": canonical(line.public).decode(), "sealed": line.sealed, "previous": line.previous, "hash": line.hash,
    }  # fmt: skip
