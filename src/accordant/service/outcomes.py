"""Outcomes: what came of decisions, told once each, so that promises can be compared with what followed."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, insert, select

from accordant.errors import ConflictError, UnknownNameError
from accordant.service.record.log import Act, append
from accordant.service.schema import decision, deployment, outcome

Told = tuple[str, str | float]
"""Identifier of a decision, and the name of its outcome, or a number."""


def record_outcomes(connection: Connection, workspace: str, told: Sequence[Told]) -> int:
    """Record what came of decisions and return how many were new; the same told again changes nothing.

    Raises
    ------
    UnknownNameError
        If there is no such decision in this workspace.
    ConflictError
        If another outcome is on record.
    """
    acts, rows = [], []
    for identifier, found in told:
        here = select(decision.c.person).join(deployment, deployment.c.id == decision.c.deployment)
        row = connection.execute(
            here.where(decision.c.id == identifier, deployment.c.workspace == workspace)
        ).one_or_none()
        if row is None:
            raise UnknownNameError("decision", identifier, ())
        values = {"outcome": found, "value": None} if isinstance(found, str) else {"outcome": None, "value": found}
        known = connection.execute(select(outcome).where(outcome.c.decision == identifier)).one_or_none()
        if known is not None:
            if (known.outcome, known.value) != (values["outcome"], values["value"]):
                raise ConflictError(f"decision {identifier} has another outcome on record, told at {known.at}")
            continue
        acts.append(Act("outcome", {"decision": identifier, "outcome": found}, row.person))
        rows.append({"decision": identifier, **values})
    if acts:
        lines = append(connection, acts)
        connection.execute(
            insert(outcome),
            [{**row, "at": line.at, "seq": line.seq} for row, line in zip(rows, lines, strict=True)],
        )
    return len(acts)
