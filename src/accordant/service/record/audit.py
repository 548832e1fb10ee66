"""Checking a whole log: every hash, link, kept block and checkpoint, and the decisions that refer to it."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, func, select
from sqlalchemy.exc import DatabaseError, NoResultFound

from accordant.errors import InputError
from accordant.naming import counted
from accordant.service.database import Database
from accordant.service.record.checkpoint import Checkpoint
from accordant.service.record.log import BLOCK, Event, canonical, full_block, read_head
from accordant.service.record.merkle import EMPTY, Frontier
from accordant.service.schema import checkpoint, decision, event, tree_block
from accordant.service.secrets import SECRET_VARIABLE, Secrets, read_secrets

ROWS = 10_000  # events read at a time


@dataclass(frozen=True)
class Audit:
    """What is found of a log.

    Attributes
    ----------
    size, root
        Of its tree, as it follows from the events.
    kinds
        How many acts of each kind.
    checkpoints
        How many hold.
    kept
        How many that stand elsewhere hold.
    fault
        What is wrong first, and where; empty if nothing is.
    seq
        Place of the first bad event; None if no single event is bad.
    """

    size: int
    root: bytes
    kinds: dict[str, int]
    checkpoints: int
    kept: int
    fault: str = ""
    seq: int | None = None

    def to_json(self) -> dict[str, Any]:
        """Return what ``audit --json`` prints: acts by kind in the plural, and what is wrong."""
        counts = {f"{kind}s": count for kind, count in sorted(self.kinds.items())}
        return {
            "decisions": 0, **counts, "events": self.size, "root": self.root.hex(), "checkpoints": self.checkpoints,
            "kept_checkpoints": self.kept, "holds": not self.fault, "fault": self.fault or None, "event": self.seq,
        }  # fmt: skip

    def words(self) -> str:
        """Return what is found, for people."""
        acts = ", ".join(counted(count, kind) for kind, count in sorted(self.kinds.items()))
        signed = counted(self.checkpoints, "signed checkpoint")
        signed += f" and {self.kept:,} kept elsewhere" if self.kept else ""
        held = f"{counted(self.size, 'event holds', 'events hold')} together, with {signed}: {acts or 'none'}"
        if not self.fault:
            return f"{held}\nroot: {self.root.hex()}"
        return f"{self.fault}\nBefore it, {held}"


def audit(connection: Connection, secrets: Secrets | None = None, kept: Sequence[Checkpoint] = ()) -> Audit:
    """Check a log from its first event to its last, in memory that does not grow with it.

    Parameters
    ----------
    connection
        Of a transaction that reads.
    secrets
        To check signatures of checkpoints; None checks roots only.
    kept
        Checkpoints that stand elsewhere: the log must begin with what they signed. Whoever owns database and secret can
        make anew everything else.
    """
    signed = {row.size: row for row in connection.execute(select(checkpoint))}
    blocks = {row.number: bytes(row.hash) for row in connection.execute(select(tree_block))}
    tree, previous, at, kinds, held, begun = Frontier(), EMPTY, "", Counter[str](), 0, 0
    elsewhere = sorted(kept, key=lambda copy: copy.size)

    def so_far(fault: str, seq: int | None = None) -> Audit:
        """Return what was read up to here, with the fault that ended it."""
        return Audit(tree.size, tree.root, dict(kinds), held, begun, fault, seq)

    while rows := connection.execute(
        select(event).where(event.c.seq >= tree.size).order_by(event.c.seq).limit(ROWS)
    ).all():
        for row in rows:
            seq = tree.size
            if row.seq != seq:
                return so_far(f"event {seq} is missing", seq)
            try:
                line = Event.of(row)
            except (ValueError, TypeError):
                return so_far(f"event {seq} cannot be read", seq)
            if canonical(line.public).decode() != row.public or line.hash != bytes(row.hash):
                return so_far(f"event {seq} is not what was recorded", seq)
            if line.previous != previous:
                return so_far(f"event {seq} does not follow the one before it", seq)
            if line.at < at:
                return so_far(f"event {seq} is earlier than the one before it", seq)
            number = tree.size // BLOCK
            if tree.size % BLOCK == BLOCK - 1 and blocks.get(number) != full_block(tree, line.hash):
                return so_far(f"the kept hash of block {number} is not that of its events", seq)
            tree, previous, at = tree.append(line.hash), line.hash, line.at
            kinds[line.kind] += 1
            if (here := signed.get(tree.size)) is not None:
                if bytes(here.root) != tree.root:
                    return so_far(f"the checkpoint of {counted(tree.size, 'event')} has another root", seq)
                public = b"" if secrets is None else secrets.public
                own = Checkpoint(here.size, here.at, tree.root, bytes(here.signature), public)
                if secrets is not None and not own.is_signed():
                    return so_far(f"the checkpoint of {counted(tree.size, 'event')} is not signed by this service", seq)
                held += 1
            while begun < len(elsewhere) and elsewhere[begun].size == tree.size:
                if fault := _disagreement(elsewhere[begun], tree.root, secrets):
                    return so_far(fault)
                begun += 1
    head = read_head(connection)
    if head.tree != tree or head.last != previous:
        return so_far(f"the log ends after {counted(tree.size, 'event')}; {head.tree.size} were recorded")
    if later := [size for size in signed if size > tree.size]:
        return so_far(f"the log has {counted(tree.size, 'event')}; {max(later)} were signed")
    if begun < len(elsewhere):
        said = f"a checkpoint that was kept elsewhere has {elsewhere[-1].size}"
        return so_far(f"the log has {counted(tree.size, 'event')}; {said}")
    if len(blocks) != tree.size // BLOCK:
        return so_far(f"{counted(len(blocks), 'block is', 'blocks are')} kept of {tree.size // BLOCK}")
    return _referred(connection, so_far("")) or so_far("")


def _disagreement(kept: Checkpoint, root: bytes, secrets: Secrets | None) -> str:
    """Return how a checkpoint that stands elsewhere disagrees with the log, empty if it does not."""
    if kept.root != root:
        said = counted(kept.size, "event is not that", "events are not those")
        return f"the first {said} of the checkpoint that was kept elsewhere"
    if secrets is not None and kept.public != secrets.public:
        return f"the checkpoint of {counted(kept.size, 'event')} that was kept elsewhere is not signed by this service"
    return ""


def _referred(connection: Connection, so_far: Audit) -> Audit | None:
    """Return what is wrong with rows of decisions beside the log; None if they are those of their events."""
    lost = connection.execute(
        select(decision.c.id, decision.c.seq)
        .outerjoin(event, event.c.seq == decision.c.seq)
        .where(event.c.seq.is_(None) | (event.c.kind != "decision"))
        .limit(1)
    ).one_or_none()
    if lost is not None:
        return _with(so_far, f"decision {lost.id} has no event in the log", lost.seq)
    recorded = so_far.kinds.get("decision", 0)
    kept = connection.execute(select(func.count()).select_from(decision)).scalar_one()
    if kept != recorded:
        return _with(so_far, f"{counted(kept, 'decision is', 'decisions are')} kept; {recorded} were recorded", None)
    said = (decision.c.id, decision.c.seq, decision.c.at, decision.c.deployment, decision.c.action)
    wanted = (
        select(*said, event.c.public, event.c.at.label("recorded_at"))
        .join(event, event.c.seq == decision.c.seq)
        .order_by(decision.c.seq)
    )
    with connection.execute(wanted, execution_options={"yield_per": ROWS}) as pairs:
        for row in pairs:
            public = json.loads(row.public)
            recorded_as = *(public.get(name) for name in ("decision", "deployment", "action")), row.recorded_at
            if recorded_as != (row.id, row.deployment, row.action, row.at):
                return _with(so_far, f"decision {row.id} is not what event {row.seq} says", row.seq)
    return None


def _with(so_far: Audit, fault: str, seq: int | None) -> Audit:
    return Audit(so_far.size, so_far.root, so_far.kinds, so_far.checkpoints, so_far.kept, fault, seq)


def audit_database(address: str, kept: Sequence[Checkpoint] = ()) -> Audit:
    """Check the record of a database, which is not changed.

    Parameters
    ----------
    address
        Its URL, or the file of an SQLite database. Signatures are checked where its secret is at hand: in the
        environment, or beside the file.
    kept
        See `audit`.

    Raises
    ------
    InputError
        If there is no such database, or it holds no record.
    """
    database = Database.there(address)
    file = database.file
    beside = None if file is None else file.with_suffix(".secret")
    at_hand = SECRET_VARIABLE in os.environ or (beside is not None and beside.is_file())
    try:
        with closing(database), database.reading() as connection:
            return audit(connection, read_secrets(beside) if at_hand else None, kept)
    except (DatabaseError, NoResultFound) as error:
        raise InputError(f"{database} holds no record of a service: {error.args[0]}") from None
