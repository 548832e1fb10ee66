"""What all pages of a service share: templates, one sheet of styles by its hash, and how times are written."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from functools import cache
from typing import Any

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, Response

from accordant import __version__
from accordant.json_values import json_value
from accordant.languages import Language, language, message
from accordant.report.explanation import letters
from accordant.report.page import Page
from accordant.service.record.log import TIME

router = APIRouter()
YEAR = 31_536_000  # seconds for which a browser keeps styles, whose address changes with them
MONTHS = (
    message("January"), message("February"), message("March"), message("April"), message("May"), message("June"),
    message("July"), message("August"), message("September"), message("October"), message("November"),
    message("December"),
)  # fmt: skip


def _time(at: str) -> datetime:
    return datetime.strptime(at, TIME).replace(tzinfo=UTC)


def moment(at: str) -> str:
    """Return a recorded time for people who work here."""
    return f"{_time(at):%-d %b %Y, %H:%M} UTC"


def day(at: str, spoken: Language | None = None) -> str:
    """Return the day of a recorded time, in a language."""
    spoken, when = spoken or language("en"), _time(at)
    month = spoken.text(MONTHS[when.month - 1])
    return spoken.text(message("{day} {month} {year}"), day=when.day, month=month, year=when.year)


def due(at: str) -> str:
    """Return how long it is until a time, or since."""
    days = (_time(at) - datetime.now(UTC)).total_seconds() / 86_400
    if days < 0:
        return f"{max(1, round(-days))} {'day' if round(-days) <= 1 else 'days'} overdue"
    left = round(days)
    return "today" if days < 1 else f"in {left} {'day' if left == 1 else 'days'}"


def pretty(values: Any) -> str:
    """Return JSON values as lines."""
    return json.dumps(values, indent=1, ensure_ascii=False, sort_keys=True)


PAGE = Page(
    "accordant.service.pages", "service.css",
    filters={"moment": moment, "day": day, "due": due, "pretty": pretty},
    names={"version": __version__},
)  # fmt: skip


@cache
def styles() -> tuple[str, str]:
    """Return the sheet of styles of all pages, and the address that names its content."""
    text = f"{letters.PAGE.sheets}\n{PAGE.own_style}"
    return text, f"/static/{hashlib.sha256(text.encode()).hexdigest()[:16]}.css"


@router.get("/static/{name}.css")
def sheet(name: str) -> Response:
    """Return the sheet of styles."""
    text, address = styles()
    if address != f"/static/{name}.css":
        return Response(status_code=404)
    return Response(text, media_type="text/css", headers={"Cache-Control": f"public, max-age={YEAR}, immutable"})


def page(template: str, status: int = 200, **content: Any) -> HTMLResponse:
    """Return a page; its forms say where they come from, and links to other sites do not."""
    html = PAGE.linked(template, styles=styles()[1], **content)
    return HTMLResponse(html, status, {"Referrer-Policy": "same-origin"})


def download(values: Any, name: str) -> Response:
    """Return JSON values as a file to keep."""
    text = json.dumps(json_value(values), indent=1, ensure_ascii=False, allow_nan=False)
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(f"{text}\n", media_type="application/json", headers=headers)
