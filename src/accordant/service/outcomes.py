"""Outcomes: what came of decisions, told once each, so that promises can be compared with what followed."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, insert, select

from accordant.errors import ConflictError, DataError, UnknownNameError
from accordant.problem import DecisionProblem
from accordant.service.publication import OpenRuns
from accordant.service.record.log import Act, append
from accordant.service.schema import decision, deployment, outcome

Told = tuple[str, str | float]
"""Identifier of a decision, and the name of its outcome, or a number."""


def record_outcomes(connection: Connection, runs: OpenRuns, workspace: str, told: Sequence[Told]) -> int:
    """Record what came of decisions and return how many were new; the same told again changes nothing.

    Outcomes stand readable in the log, so only what the case of a decision declares is taken: no text about anybody.

    Raises
    ------
    UnknownNameError
        If there is no such decision in this workspace, or no such outcome.
    DataError
        If a number is told where outcomes have names, or a name or a number out of range where they are numbers.
    ConflictError
        If another outcome is on record.
    """
    acts, rows = [], []
    for identifier, actual in told:
        here = select(decision.c.person, deployment.c.run).join(deployment, deployment.c.id == decision.c.deployment)
        row = connection.execute(
            here.where(decision.c.id == identifier, deployment.c.workspace == workspace)
        ).one_or_none()
        if row is None:
            raise UnknownNameError("decision", identifier, ())
        _check(actual, runs.run(connection, row.run).case.problem)
        values = {"outcome": actual, "value": None} if isinstance(actual, str) else {"outcome": None, "value": actual}
        known = connection.execute(select(outcome).where(outcome.c.decision == identifier)).one_or_none()
        if known is not None:
            if (known.outcome, known.value) != (values["outcome"], values["value"]):
                raise ConflictError(f"decision {identifier} has another outcome on record, told at {known.at}")
            continue
        acts.append(Act("outcome", {"decision": identifier, "outcome": actual}, row.person))
        rows.append({"decision": identifier, **values})
    if acts:
        lines = append(connection, acts)
        connection.execute(
            insert(outcome),
            [{**row, "at": line.at, "seq": line.seq} for row, line in zip(rows, lines, strict=True)],
        )
    return len(acts)


def _check(actual: str | float, problem: DecisionProblem) -> None:
    """Refuse an outcome that a case does not declare."""
    if problem.continuous:
        if isinstance(actual, str):
            raise DataError(f"outcome is {actual!r:.40}; allowed: a number")
        problem.outcome_values([actual], lambda _: "outcome")
    elif not isinstance(actual, str):
        raise DataError(f"outcome is {actual!r}; allowed: one of {', '.join(problem.outcome_names)}")
    elif actual not in problem.outcome_names:
        raise UnknownNameError("outcome", actual, problem.outcome_names)
