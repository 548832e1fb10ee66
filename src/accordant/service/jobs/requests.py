"""Asking for jobs, on behalf of somebody who is signed in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from accordant.service.identity import Visitor
from accordant.service.jobs.kinds import wanted_of
from accordant.service.jobs.parts import receive
from accordant.service.jobs.queue import add, begin_waiting
from accordant.service.service import Service


def ask(service: Service, visitor: Visitor, kind: str, wanted: dict[str, Any]) -> str:
    """Ask for a run or a study to be carried out, and return the identifier of the job.

    Raises
    ------
    SpecError
        If anything of what is wanted cannot be used; see `RunWanted` and `StudyWanted`.
    """
    checked = wanted_of(kind, wanted)
    with service.database.writing() as connection:
        return add(connection, visitor.workspace, kind, checked.model_dump(), person=visitor.person)


def ask_redecisions(service: Service, visitor: Visitor, origin: str, alike: Sequence[str], reasons: str) -> str:
    """Ask for like cases to be changed as one was, and return the identifier of the job.

    Parameters
    ----------
    service, visitor
        Who asks, and where.
    origin, alike
        See `RedecisionsWanted`.
    reasons
        For the persons concerned; sealed until the job is over.
    """
    checked = wanted_of("redecisions", {"origin": origin, "alike": list(dict.fromkeys(alike))})
    payload = checked.model_dump()
    with service.database.writing() as connection:
        identifier = add(
            connection, visitor.workspace, "redecisions", payload, person=visitor.person, receiving=True
        )  # fmt: skip
    receive(service.database, service.keys, identifier, 0, [{"reasons": reasons}])
    with service.database.writing() as connection:
        begin_waiting(connection, identifier, len(payload["alike"]), b"")
    return identifier
