"""Whether the process lives, and whether it can decide."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from sqlalchemy import select
from sqlalchemy.exc import DBAPIError

from accordant.service.database import UnreachableError
from accordant.service.schema import log_head

router = APIRouter(include_in_schema=False)


@router.get("/live")
def live() -> dict[str, bool]:
    """Say that the process answers."""
    return {"live": True}


@router.get("/ready")
def ready(request: Request, response: Response) -> dict[str, bool]:
    """Say whether the database answers."""
    try:
        with request.app.state.service.database.reading() as connection:
            connection.execute(select(log_head.c.size)).scalar_one()
    except (DBAPIError, UnreachableError):
        response.status_code = 503
        return {"ready": False}
    return {"ready": True}
