"""What operators see: numbers for Prometheus at ``/metrics``, and one line of log for each answer.

Both name routes and never paths, since links to decisions are secrets.
"""

from __future__ import annotations

import hmac
import ipaddress
import logging
import os
import time
from collections.abc import Iterator
from typing import Any

from fastapi import APIRouter, HTTPException, Request, Response
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector
from sqlalchemy import func, select
from sqlalchemy.exc import DBAPIError

from accordant.service.api.pace import App, Message, Receive, Scope, Send
from accordant.service.database import UnreachableError
from accordant.service.record.log import now
from accordant.service.schema import contest, job, log_head
from accordant.service.service import Service

logger = logging.getLogger(__name__)

TOKEN_VARIABLE = "ACCORDANT_METRICS_TOKEN"  # noqa: S105 - the name of a variable
FOLDER_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"  # where several processes count together, see prometheus_client
FORWARDED = ("forwarded", "x-forwarded-for", "x-real-ip")  # whoever comes through a proxy is not from here
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
SECONDS = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)

router = APIRouter(include_in_schema=False)


class Stored(Collector):
    """Numbers that stand in the database, read when somebody looks."""

    def __init__(self, service: Service) -> None:
        self.service = service

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yield them; none but the first where the database does not answer."""
        try:
            with self.service.database.reading() as connection:
                size = connection.execute(select(log_head.c.size)).scalar_one()
                states = connection.execute(select(job.c.state, func.count()).group_by(job.c.state)).all()
                waiting = select(func.count()).select_from(contest).where(contest.c.state == "open")
                counts = {
                    "accordant_open_contests": connection.execute(waiting).scalar_one(),
                    "accordant_overdue_contests": connection.execute(
                        waiting.where(contest.c.due_at < now())
                    ).scalar_one(),
                }
        except (DBAPIError, UnreachableError):
            yield GaugeMetricFamily("accordant_database_up", "Whether the database answers.", 0)
            return
        yield GaugeMetricFamily("accordant_database_up", "Whether the database answers.", 1)
        yield GaugeMetricFamily("accordant_log_events", "Events in the log.", size)
        for name, count in counts.items():
            yield GaugeMetricFamily(name, "What people are to answer.", count)
        jobs = GaugeMetricFamily("accordant_jobs", "Jobs by state.", labels=["state"])
        for state, count in states:
            jobs.add_metric([state], count)
        yield jobs


class Metrics:
    """What this process counts.

    Attributes
    ----------
    registry, stored
        Of this process, and of the database.
    requests, seconds
        By method, route and status; by route.
    """

    def __init__(self, service: Service) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter("accordant_requests", "Answers.", ["method", "route", "status"], registry=self.registry)
        self.seconds = Histogram(
            "accordant_request_seconds", "Time to an answer.", ["route"], buckets=SECONDS, registry=self.registry
        )
        self.stored = CollectorRegistry()
        self.stored.register(Stored(service))

    def text(self) -> bytes:
        """Return the numbers of all processes as Prometheus reads them."""
        counted = self.registry
        if FOLDER_VARIABLE in os.environ:
            counted = CollectorRegistry()
            MultiProcessCollector(counted)  # type: ignore[no-untyped-call]
        return generate_latest(counted) + generate_latest(self.stored)


class Observation:
    """Middleware that counts and logs every answer."""

    def __init__(self, app: App, metrics: Metrics) -> None:
        self.app, self.metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started, status = time.perf_counter(), 500

        async def seen(message: Message) -> None:
            """Note the status of an answer that is sent."""
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, seen)
        finally:
            seconds = time.perf_counter() - started
            route = str(getattr(scope.get("route"), "path", "none"))
            method = scope["method"] if scope["method"] in METHODS else "other"
            self.metrics.requests.labels(method, route, str(status)).inc()
            self.metrics.seconds.labels(route).observe(seconds)
            told: dict[str, Any] = {"method": method, "route": route, "status": status, "seconds": round(seconds, 6)}
            logger.info("answer", extra=told | {"client": scope.get("state", {}).get("client")})


@router.get("/metrics")
def metrics(request: Request) -> Response:
    """Return the numbers to whoever is on this machine or, where ``ACCORDANT_METRICS_TOKEN`` is set, has it."""
    if not _may_look(request):
        raise HTTPException(404, "Not Found")
    return Response(request.app.state.metrics.text(), media_type=CONTENT_TYPE_LATEST)


def _may_look(request: Request) -> bool:
    token = os.environ.get(TOKEN_VARIABLE)
    if token:
        given = request.headers.get("authorization", "").encode()
        return hmac.compare_digest(given, f"Bearer {token}".encode())
    if request.client is None or any(name in request.headers for name in FORWARDED):
        return False
    try:
        return ipaddress.ip_address(request.client.host).is_loopback
    except ValueError:
        return False
