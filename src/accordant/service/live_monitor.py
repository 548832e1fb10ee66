"""Watching a version: its decisions and outcomes from the record, as `accordant monitor` reads them from logs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from itertools import groupby
from typing import Any

from sqlalchemy import Connection, select

from accordant.errors import InputError
from accordant.json_values import finite
from accordant.monitoring.monitors import Outcome
from accordant.monitoring.result import Monitored
from accordant.monitoring.section import monitor
from accordant.runs import Run
from accordant.runs.decision_log import DecisionLine
from accordant.service.answers import typed_rows
from accordant.service.database import KeyStore
from accordant.service.deployments import Deployment
from accordant.service.schema import decision, event, outcome
from accordant.service.secrets import Erased, event_key, unseal

ROWS = 500  # decisions read at a time


def monitored_version(connection: Connection, keys: KeyStore, run: Run, version: Deployment) -> Monitored:
    """Return what the decisions of a version show, and what followed them.

    Parameters
    ----------
    connection
        Of one moment, from `Database.snapshot`.
    keys
        Of people; who was erased is left out.
    run, version
        What decides.

    Raises
    ------
    InputError
        If the version takes another strategy than the run selected, of which nothing was promised; or if nothing was
        decided yet.
    """
    if version.strategy != run.policy.selected_:
        raise InputError(f"{version.label} takes {version.strategy}; what is watched is what the run selected")
    return monitor(run, _lines(connection, keys, run, version), list(_outcomes(connection, version)))


def _lines(connection: Connection, keys: KeyStore, run: Run, version: Deployment) -> Iterator[DecisionLine]:
    """Yield the decisions of a version in their order."""
    wanted = (
        select(
            decision.c.id, decision.c.person, decision.c.at, decision.c.seq, event.c.id.label("event"), event.c.sealed
        )
        .join(event, event.c.seq == decision.c.seq)
        .where(decision.c.deployment == version.id)
        .order_by(decision.c.seq)
        .limit(ROWS)
    )
    after = -1
    while rows := connection.execute(wanted.where(decision.c.seq > after)).all():
        after = rows[-1].seq
        read = [(row, private) for row in rows if (private := _private(keys, row)) is not None]
        for _, alike in groupby(read, key=lambda pair: _kinds(pair[1]["context"])):
            some = list(alike)
            contexts = typed_rows(run, [private["context"] for _, private in some])
            for t, (row, private) in enumerate(some):
                cells = {name: contexts[name][t] for name in run.policy.features_}
                yield _line(run, row, private["answer"], cells)


def _kinds(context: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    """Return what contexts must share to be typed together."""
    return tuple((name, type(value).__name__) for name, value in context.items())


def _private(keys: KeyStore, row: Any) -> dict[str, Any] | None:
    try:
        content = unseal(event_key(keys.key(row.person), row.event), bytes(row.sealed), row.event)
    except Erased:
        return None
    private: dict[str, Any] = json.loads(content)
    return private


def _line(run: Run, row: Any, answer: dict[str, Any], cells: dict[str, Any]) -> DecisionLine:
    return DecisionLine(
        time=datetime.fromisoformat(row.at), run=run.manifest.sha256, row=row.id,
        context={name: cell or None if isinstance(cell, str) else finite(float(cell)) for name, cell in cells.items()},
        expected_rewards=answer["expected_rewards"], action=answer["action"], runner_up=answer["runner_up"],
        margin=answer["margin"], remarks=tuple(answer["remarks"]), referral=answer["action"] is None,
    )  # fmt: skip


def _outcomes(connection: Connection, version: Deployment) -> Iterator[Outcome]:
    """Yield what followed, in the order in which it became known."""
    wanted = (
        select(outcome.c.decision, outcome.c.outcome, outcome.c.value)
        .join(decision, decision.c.id == outcome.c.decision)
        .where(decision.c.deployment == version.id)
        .order_by(outcome.c.seq)
    )
    for row in connection.execute(wanted):
        yield Outcome(row.decision, row.value if row.outcome is None else row.outcome, where=f"decision {row.decision}")
