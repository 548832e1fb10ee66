"""Published runs with their pages, compared; and versions: which strategy decides under which name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Form
from fastapi.responses import Response
from sqlalchemy import Connection, func, select
from starlette.exceptions import HTTPException

from accordant.errors import InputError
from accordant.monitoring.page import render_monitored
from accordant.report.labels import readable
from accordant.runs import Run
from accordant.runs.sections.comparison import compare_runs
from accordant.service.deployments import Deployment, activate, all_deployments, deploy, retire
from accordant.service.live_monitor import monitored_version
from accordant.service.pages.visit import PageRoute, Seen, Sent, Visit, go, under_own_policy
from accordant.service.schema import decision
from accordant.service.schema import run as published

router = APIRouter(route_class=PageRoute)
ACTS: Mapping[str, str] = {"activate": "Let it decide", "retire": "Let it decide no more"}
"""What can be done with a version that is there, as buttons say it."""
MODES: Mapping[str, str] = {
    "active": "It decides from now on.",
    "shadow": "It decides silently beside the version that decides; nobody is told, and both are compared.",
}
"""How a new version begins."""


@dataclass(frozen=True)
class VersionShown:
    """A version with what it did.

    Attributes
    ----------
    version
        The version.
    decided
        How many decisions it took.
    compared, alike
        Of those decided while another decided silently beside: how many, and how many of them alike.
    """

    version: Deployment
    decided: int
    compared: int
    alike: int


@router.get("/runs")
def runs(visit: Seen) -> Response:
    """Show the published runs."""
    visitor = visit.check("see_runs")
    with visit.service.database.reading() as connection:
        rows = connection.execute(
            select(published)
            .where(published.c.workspace == visitor.workspace)
            .order_by(published.c.published_at.desc())
        ).all()
        versions = all_deployments(connection, visitor.workspace)
    return visit.page("runs.html", rows=rows, versions=versions)


@router.get("/runs/compare")
def compare(visit: Seen, first: str = "", second: str = "") -> Response:
    """Show what differs between two runs."""
    visit.check("see_runs")
    with visit.service.database.reading() as connection:
        pair = _run(visit, connection, first), _run(visit, connection, second)
    return visit.page(
        "compare.html", found=compare_runs(*pair), names=[run.case.title for run in pair],
        digests=[run.head for run in pair], readable=readable,
    )  # fmt: skip


@router.get("/runs/{digest}")
def one(visit: Seen, digest: str) -> Response:
    """Show one run: what it is for, which strategies it compared, and where it decides."""
    visitor = visit.check("see_runs")
    with visit.service.database.reading() as connection:
        run = _run(visit, connection, digest)
        versions = [version for version in all_deployments(connection, visitor.workspace) if version.run == digest]
        others = connection.execute(
            select(published).where(published.c.workspace == visitor.workspace, published.c.hash != digest)
        ).all()
    lines = [row for row in run.record.test.leaderboard if _selectable(run, row.strategy)]
    lines.sort(key=lambda row: (row.strategy != run.record.selected, -(row.score.value or 0.0)))
    return visit.page(
        "run.html", run=run, versions=versions, others=others, lines=lines, readable=readable, modes=MODES,
        name=versions[0].name if versions else run.case.name,
    )  # fmt: skip


def _selectable(run: Run, strategy: str) -> bool:
    described = run.record.strategies.get(strategy)
    return described is not None and described.selectable


@router.get("/runs/{digest}/report")
def report(visit: Seen, digest: str) -> Response:
    """Show the page of a run, which a browser gives no more than the page's own policy allows."""
    visit.check("see_runs")
    with visit.service.database.reading() as connection:
        return under_own_policy(_run(visit, connection, digest).page())


def _run(visit: Visit, connection: Connection, digest: str) -> Run:
    """Return a run that was published in the visitor's workspace; 404 if none was."""
    assert visit.visitor is not None
    here = (published.c.hash == digest) & (published.c.workspace == visit.visitor.workspace)
    if connection.execute(select(published.c.hash).where(here)).one_or_none() is None:
        raise HTTPException(404, "No such run was published here.")
    return visit.service.decider.runs.run(connection, digest)


@router.get("/deployments")
def deployments(visit: Seen) -> Response:
    """Show which versions decide, decided, or decide silently."""
    visitor = visit.check("see_runs")
    with visit.service.database.reading() as connection:
        shown = [_shown(connection, version) for version in all_deployments(connection, visitor.workspace)]
        titles = {
            row.hash: row.title
            for row in connection.execute(select(published).where(published.c.workspace == visitor.workspace))
        }
    names = list(dict.fromkeys(row.version.name for row in shown))
    return visit.page("deployments.html", shown=shown, names=names, titles=titles, readable=readable)


def _shown(connection: Connection, version: Deployment) -> VersionShown:
    mine = decision.c.deployment == version.id
    silent = mine & decision.c.shadow_action.is_not(None)

    def count(condition: object) -> int:
        """Return how many decisions meet a condition."""
        wanted = select(func.count()).select_from(decision).where(condition)  # type: ignore[arg-type]
        return int(connection.execute(wanted).scalar_one())

    return VersionShown(
        version, count(mine), count(silent), count(silent & (decision.c.action == decision.c.shadow_action))
    )


@router.get("/deployments/new")
def ask_new(visit: Seen, run: str = "", strategy: str = "", name: str = "", mode: str = "active") -> Response:
    """Show what a new version would change, before it does."""
    visitor = visit.check("deploy")
    with visit.service.database.reading() as connection:
        opened_run = _run(visit, connection, run)
        now_there = [
            version for version in all_deployments(connection, visitor.workspace) if version.name == name.strip()
        ]
    _check_new(opened_run, strategy, name, mode)
    return visit.page(
        "deploy.html", run=opened_run, strategy=strategy, name=name.strip(), mode=mode, modes=MODES,
        now_there=now_there, readable=readable,
    )  # fmt: skip


def _check_new(run: Run, strategy: str, name: str, mode: str) -> None:
    if mode not in MODES:
        raise InputError(f"mode is {mode!r}; allowed: {', '.join(MODES)}")
    if not name.strip() or len(name) > 200:
        raise InputError("a version needs a name of at most 200 letters")
    if not _selectable(run, strategy):
        raise InputError(f"{strategy!r} is no strategy of this run that may be deployed")


@router.post("/deployments/new")
def make_new(
    visit: Sent, run: Annotated[str, Form(max_length=100)] = "", strategy: Annotated[str, Form(max_length=1_000)] = "",
    name: Annotated[str, Form(max_length=300)] = "", mode: Annotated[str, Form(max_length=20)] = "active",
) -> Response:  # fmt: skip
    """Deploy a strategy of a run."""
    visitor = visit.check("deploy")
    with visit.service.database.writing() as connection:
        opened_run = _run(visit, connection, run)
        _check_new(opened_run, strategy, name, mode)
        deploy(connection, opened_run, visitor.workspace, name.strip(), strategy, shadow=mode == "shadow")
    return go("/deployments")


@router.get("/deployments/{identifier}/monitor")
def monitor(visit: Seen, identifier: str) -> Response:
    """Show whether contexts, decisions, calibration or kept promises of a version changed."""
    visitor, service = visit.check("see_statistics"), visit.service
    with service.database.snapshot() as connection:
        version = _version(connection, visitor.workspace, identifier)
        run = service.decider.runs.run(connection, version.run)
        result = monitored_version(connection, service.keys, run, version)
    return under_own_policy(render_monitored(result))


@router.get("/deployments/{identifier}/{act}")
def ask(visit: Seen, identifier: str, act: str) -> Response:
    """Show what an act would change, before it does."""
    visitor = visit.check("deploy")
    if act not in ACTS:
        raise HTTPException(404, "A version can be activated or retired.")
    with visit.service.database.reading() as connection:
        version = _version(connection, visitor.workspace, identifier)
        now_there = [other for other in all_deployments(connection, visitor.workspace) if other.name == version.name]
    return visit.page(
        "confirm.html", version=version, act=act, words=ACTS[act], now_there=now_there, readable=readable
    )  # fmt: skip


@router.post("/deployments/{identifier}/{act}")
def do(visit: Sent, identifier: str, act: str) -> Response:
    """Activate a version, the silent one or an earlier one, or retire it."""
    visitor = visit.check("deploy")
    with visit.service.database.writing() as connection:
        version = _version(connection, visitor.workspace, identifier)
        if act == "activate":
            activate(connection, version.id)
        elif act == "retire":
            retire(connection, version.id)
        else:
            raise HTTPException(404, "A version can be activated or retired.")
    return go("/deployments")


def _version(connection: Connection, workspace: str, identifier: str) -> Deployment:
    """Return a version of a workspace; 404 if there is none."""
    for version in all_deployments(connection, workspace):
        if version.id == identifier:
            return version
    raise HTTPException(404, "There is no such version.")
