"""Deployments: which strategy of which run decides under a name, since when, and what decides silently beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Connection, Row, bindparam, insert, select, update

from accordant.errors import InputError, UnknownNameError
from accordant.runs import Run
from accordant.service.record.log import Act, append, now
from accordant.service.schema import deployment
from accordant.service.secrets import new_id

State = Literal["active", "shadow", "retired"]
LIVE = select(deployment).where(deployment.c.workspace == bindparam("where"), deployment.c.state != "retired")


@dataclass(frozen=True)
class Deployment:
    """One version under a name.

    Attributes
    ----------
    id
        Of this version.
    workspace, name, version
        Under which name it decides, and as which version of it, from 1.
    run, strategy
        The hash of a published run, and the label of a strategy in it.
    state
        ``active``: it decides; ``shadow``: it decides too, and nobody is told; ``retired``: it decided once.
    """

    id: str
    workspace: str
    name: str
    version: int
    run: str
    strategy: str
    state: State

    @classmethod
    def of(cls, row: Row[Any]) -> Deployment:
        """Return the deployment of a row."""
        return cls(row.id, row.workspace, row.name, row.version, row.run, row.strategy, row.state)

    @property
    def label(self) -> str:
        """Name and version as they are shown."""
        return f"{self.name} v{self.version}"

    @property
    def public(self) -> dict[str, Any]:
        """What the log says of it."""
        return {
            "deployment": self.id, "name": self.name, "version": self.version, "run": self.run,
            "strategy": self.strategy,
        }  # fmt: skip


def all_deployments(connection: Connection, workspace: str) -> list[Deployment]:
    """Return all versions of a workspace, the newest first."""
    rows = select(deployment).where(deployment.c.workspace == workspace)
    return [Deployment.of(row) for row in connection.execute(rows.order_by(deployment.c.name, -deployment.c.version))]


def deploy(
    connection: Connection, run: Run, workspace: str, name: str, strategy: str | None = None, *, shadow: bool = False
) -> Deployment:
    """Let a strategy of a published run decide under a name; what decided there before is retired.

    The version that is in that place already, and the same, stays.

    Parameters
    ----------
    connection
        From `Database.writing`.
    run
        The run, published.
    workspace, name
        Where.
    strategy
        Label; None for the one that the run selected.
    shadow
        Whether it decides silently beside the active version.

    Raises
    ------
    UnknownNameError
        If the run has no such strategy that decides for new people.
    InputError
        If the strategy decides about all contexts of a batch together, or the run selected none.
    """
    policy = run.policy
    rule = policy.strategy(strategy or policy.selected_)
    if rule.whole_batch:
        raise InputError(
            f"{rule.label} decides about all rows of a file together; allowed: a strategy that decides about each"
        )
    place: State = "shadow" if shadow else "active"
    versions = [version for version in all_deployments(connection, workspace) if version.name == name]
    there = next((version for version in versions if version.state == place), None)
    if there is not None and (there.run, there.strategy) == (run.head, rule.label):
        return there
    if shadow and not any(version.state == "active" for version in versions):
        raise InputError(f"nothing decides as {name!r} yet, so nothing can decide silently beside it")
    number = 1 + max((version.version for version in versions), default=0)
    made = Deployment(new_id(), workspace, name, number, run.head, rule.label, place)
    if there is not None:
        _set_state(connection, there.id, "retired")
    connection.execute(
        insert(deployment).values(
            id=made.id, workspace=workspace, name=name, version=number, run=run.head, strategy=rule.label,
            state=place, created_at=now(),
        )
    )  # fmt: skip
    append(connection, [Act("deployment", {**made.public, "state": place})])
    return made


def activate(connection: Connection, identifier: str) -> Deployment:
    """Let a version decide under its name, the shadow or an earlier one; what decided before is retired.

    Raises
    ------
    UnknownNameError
        If there is no such version.
    """
    row = connection.execute(select(deployment).where(deployment.c.id == identifier)).one_or_none()
    if row is None:
        raise UnknownNameError("deployment", identifier, connection.execute(select(deployment.c.id)).scalars())
    wanted = Deployment.of(row)
    if wanted.state == "active":
        return wanted
    for other in all_deployments(connection, wanted.workspace):
        if other.name == wanted.name and other.state == "active":
            _set_state(connection, other.id, "retired")
    _set_state(connection, wanted.id, "active")
    append(connection, [Act("activation", {**wanted.public, "state": "active"})])
    return Deployment.of(connection.execute(select(deployment).where(deployment.c.id == identifier)).one())


def retire(connection: Connection, identifier: str) -> None:
    """Let a version decide no more."""
    row = connection.execute(select(deployment).where(deployment.c.id == identifier)).one_or_none()
    if row is None:
        raise UnknownNameError("deployment", identifier, connection.execute(select(deployment.c.id)).scalars())
    if row.state != "retired":
        _set_state(connection, identifier, "retired")
        append(connection, [Act("retirement", Deployment.of(row).public)])


def deciding(connection: Connection, workspace: str, name: str | None) -> tuple[Deployment, Deployment | None]:
    """Return the version that decides under a name, and the one that decides silently beside it.

    Parameters
    ----------
    connection
        Any.
    workspace, name
        Where; None if there is only one name.

    Raises
    ------
    UnknownNameError
        If nothing decides under the name.
    InputError
        If no name is given and several decide, or none.
    """
    live = [Deployment.of(row) for row in connection.execute(LIVE, {"where": workspace})]
    names = sorted({version.name for version in live if version.state == "active"})
    if name is None:
        if len(names) != 1:
            raise InputError(f"deployment is not named; allowed: {', '.join(names) if names else 'none is active'}")
        name = names[0]
    if name not in names:
        raise UnknownNameError("deployment", name, names)
    versions = {version.state: version for version in live if version.name == name}
    return versions["active"], versions.get("shadow")


def _set_state(connection: Connection, identifier: str, state: State) -> None:
    connection.execute(update(deployment).where(deployment.c.id == identifier).values(state=state))
