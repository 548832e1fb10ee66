"""Public statistics: what was decided how often, never about fewer than a minimum, and never one decision at a time.

Figures are those of the first `STEP`, 2 `STEP`, … decisions of a name, so two of them that follow each other differ by
`STEP` decisions at least: nobody learns one decision by subtracting. Actions that are too rare are told together, and
counts of contests as the next lower multiple of `LEAST`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from accordant.service.record.log import now
from accordant.service.schema import contest, decision, deployment

STEP = 20  # decisions by which figures grow
LEAST = 5  # in a figure
UNDECIDED = "left to a person"


@dataclass(frozen=True)
class NameStatistics:
    """What was decided under one name.

    Attributes
    ----------
    name
        Of the deployment.
    counted
        How many decisions the figures are about, a multiple of `STEP`; 0 if there are too few.
    actions
        Names of actions, those that are told together in one, and how often each was decided.
    contested, open, overdue, upheld, changed, remitted
        Contests, each as the next lower multiple of `LEAST`.
    """

    name: str
    counted: int
    actions: tuple[tuple[tuple[str, ...], int], ...]
    contested: int
    open: int
    overdue: int
    upheld: int
    changed: int
    remitted: int


def statistics(connection: Connection, workspace: str) -> list[NameStatistics]:
    """Return public figures of a workspace, by name of deployment."""
    names = connection.execute(
        select(deployment.c.name).where(deployment.c.workspace == workspace).distinct().order_by(deployment.c.name)
    ).scalars()
    return [_of(connection, workspace, name) for name in names.all()]


def _of(connection: Connection, workspace: str, name: str) -> NameStatistics:
    here = (deployment.c.workspace == workspace) & (deployment.c.name == name)
    among = select(decision.c.action, decision.c.seq).join(deployment, deployment.c.id == decision.c.deployment)
    total = connection.execute(
        select(func.count())
        .select_from(decision)
        .join(deployment, deployment.c.id == decision.c.deployment)
        .where(here)
    ).scalar_one()
    counted = total - total % STEP
    first = among.where(here).order_by(decision.c.seq).limit(counted).subquery()
    counts = {
        action or UNDECIDED: count
        for action, count in connection.execute(select(first.c.action, func.count()).group_by(first.c.action))
    }
    states, late = _contests(connection, here)
    rounded = {state: count - count % LEAST for state, count in states.items()}
    return NameStatistics(
        name, counted, told_together(counts), _floor(states.total()), rounded.get("open", 0), _floor(late),
        rounded.get("upheld", 0), rounded.get("changed", 0), rounded.get("remitted", 0),
    )  # fmt: skip


def _contests(connection: Connection, here: object) -> tuple[Counter[str], int]:
    """Return how many contests are in each state, and how many are late."""
    rows = connection.execute(
        select(contest.c.state, contest.c.due_at)
        .join(decision, decision.c.id == contest.c.decision)
        .join(deployment, deployment.c.id == decision.c.deployment)
        .where(here, contest.c.kind == "contest")  # type: ignore[arg-type]
    ).all()
    at = now()
    return Counter(row.state for row in rows), sum(row.state == "open" and row.due_at < at for row in rows)


def _floor(count: int) -> int:
    return count - count % LEAST


def told_together(counts: dict[str, int]) -> tuple[tuple[tuple[str, ...], int], ...]:
    """Return counts, the most frequent first; the rarest are told together until there are `LEAST` of them or more."""
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    rare: list[str] = []
    together = 0
    while ordered and (ordered[-1][1] < LEAST or 0 < together < LEAST):
        name, count = ordered.pop()
        rare.insert(0, name)
        together += count
    groups = [((name,), count) for name, count in ordered]
    return (*groups, (tuple(rare), together)) if rare else tuple(groups)
