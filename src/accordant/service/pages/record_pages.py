"""The log and its proofs, for whoever audits; figures that everybody may see."""

from __future__ import annotations

import json
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request
from fastapi.responses import Response
from sqlalchemy import func, select
from starlette.exceptions import HTTPException

from accordant.errors import InputError
from accordant.service.pages.layout import download
from accordant.service.pages.visit import PageRoute, Seen, Sent, Visit, go
from accordant.service.public_figures import LEAST, STEP, statistics
from accordant.service.record.audit import Audit, audit
from accordant.service.record.checkpoint import Checkpoint, sign_head
from accordant.service.record.log import Event, read_head, tree_part
from accordant.service.record.merkle import inclusion_proof
from accordant.service.schema import checkpoint, event
from accordant.service.service import Service

router = APIRouter(route_class=PageRoute)
EVENTS_SHOWN, CHECKPOINTS_SHOWN = 50, 20
Place = Annotated[int, Path(ge=0, lt=2**63)]  # what a database can count to
MOST_CHECKED = 200_000  # events that are checked while a browser waits; longer logs by the command


@router.get("/log")
def log(visit: Seen, kind: str = "", before: int = 2**53) -> Response:
    """Show what happened, the latest first."""
    visit.check("read_log")
    return _shown(visit, kind, before, None)


@router.post("/log/check")
def check(visit: Sent) -> Response:
    """Check the whole log, and show what was found."""
    visit.check("read_log")
    service = visit.service
    with service.database.reading() as connection:
        size = read_head(connection).tree.size
        if size > MOST_CHECKED:
            raise InputError(f"the log has {size:,} events; use the command: accordant audit DATABASE")
        log_audit = audit(connection, service.secrets)
    return _shown(visit, "", 2**53, log_audit)


@router.post("/log/sign")
def sign(visit: Sent) -> Response:
    """Sign where the log ends now."""
    visit.check("read_log")
    with visit.service.database.writing() as connection:
        sign_head(connection, visit.service.secrets)
    return go("/log#checkpoints")


def _shown(visit: Visit, kind: str, before: int, log_audit: Audit | None) -> Response:
    service = visit.service
    with service.database.reading() as connection:
        kinds = connection.execute(
            select(event.c.kind, func.count()).group_by(event.c.kind).order_by(event.c.kind)
        ).all()
        wanted = select(event).where(event.c.seq < before).order_by(event.c.seq.desc()).limit(EVENTS_SHOWN)
        rows = connection.execute(wanted.where(event.c.kind == kind) if kind else wanted).all()
        signed = connection.execute(
            select(checkpoint).order_by(checkpoint.c.size.desc()).limit(CHECKPOINTS_SHOWN)
        ).all()
        head = read_head(connection)
    events = [(Event.of(row), bytes(row.hash)) for row in rows]
    return visit.page(
        "log.html", kinds=kinds, kind=kind, events=events, signed=signed, head=head, found=log_audit,
        more=events[-1][0].seq if len(events) == EVENTS_SHOWN else None, public=service.secrets.public.hex(),
    )  # fmt: skip


@router.get("/log/checkpoints/{size}.json")
def signed_root(visit: Seen, size: Place) -> Response:
    """Give a checkpoint, to be kept elsewhere."""
    visit.check("read_log")
    with visit.service.database.reading() as connection:
        row = connection.execute(select(checkpoint).where(checkpoint.c.size == size)).one_or_none()
    if row is None:
        raise HTTPException(404, "No checkpoint was signed at this size.")
    kept = Checkpoint(row.size, row.at, bytes(row.root), bytes(row.signature), visit.service.secrets.public)
    return download(kept.to_json(), f"checkpoint-{size}.json")


@router.get("/log/{seq}")
def one(visit: Seen, seq: Place) -> Response:
    """Show one event, and how it is known to be in the log."""
    visit.check("read_log")
    service = visit.service
    with service.database.reading() as connection:
        row = connection.execute(select(event).where(event.c.seq == seq)).one_or_none()
        if row is None:
            raise HTTPException(404, "The log has no such event.")
        line, head = Event.of(row), read_head(connection)
        proof = inclusion_proof(tree_part(connection), seq, head.tree.size)
    shown: dict[str, Any] = json.loads(line.content)
    return visit.page(
        "event.html", line=line, content=shown, proof=[node.hex() for node in proof], head=head,
        digest=bytes(row.hash).hex(),
    )  # fmt: skip


@router.get("/figures")
def figures(request: Request, visit: Seen) -> Response:
    """Show public figures to everybody."""
    service: Service = request.app.state.service
    with service.database.reading() as connection:
        public_figures = statistics(connection, service.workspace)
    return visit.page("figures.html", found=public_figures, step=STEP, least=LEAST)
