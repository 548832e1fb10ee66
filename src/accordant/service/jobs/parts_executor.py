"""The queue of jobs as an executor: parts outlive the command that asked for them, and any number of workers come.

A part is a job of the kind ``part``: `accordant work --parts` takes it, keeps its lease while it works, and whoever
comes next takes it if the worker is gone.
"""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast

from sqlalchemy import select

from accordant.compute.executor import RETRIES, Failure, Item, LostPartError, Result, executors
from accordant.compute.tasks import Task
from accordant.errors import ConflictError, InputError
from accordant.service.jobs.kinds import PART
from accordant.service.jobs.queue import ENDED, add, cancel
from accordant.service.schema import job
from accordant.service.service import open_service

IN_FLIGHT = 64  # parts that wait at a time, so that few are to be cancelled
POLL_SECONDS = 0.2


@executors.register("queue")
class Queue:
    """The jobs of a service, which `accordant work --parts` carries out.

    Parameters
    ----------
    place
        Address of the database, see `accordant.service.database.Database.of`. Workers are on machines that see the same
        files under the same names.
    """

    workers = IN_FLIGHT

    def __init__(self, place: str) -> None:
        self._service = open_service(place)

    def run(
        self, function: Callable[[Item], Result], items: Sequence[Item], *, retries: int = RETRIES
    ) -> Iterator[tuple[int, Result | Failure]]:
        """Yield results as they come; see `Executor.run`. How often a part is tried again is the queue's.

        Raises
        ------
        InputError
            If the function is no task that can be told in JSON.
        """
        del retries
        if not isinstance(function, Task):
            raise InputError(
                "a queue takes what can be told in JSON: recommend, certify, evaluate and study; allowed for others: "
                "processes:N, ray://, dask://"
            )
        waiting, asked = deque(range(len(items))), dict[str, int]()
        try:
            while waiting or asked:
                while waiting and len(asked) < IN_FLIGHT:
                    position = waiting.popleft()
                    asked[self._ask(function, cast("Mapping[str, Any]", items[position]))] = position
                ended = self._ended(tuple(asked))
                for identifier, result in ended:
                    yield asked.pop(identifier), cast("Result | Failure", result)
                if not ended:
                    time.sleep(POLL_SECONDS)
        finally:
            for identifier in asked:
                self._cancel(identifier)

    def _ask(self, task: Task, item: Mapping[str, Any]) -> str:
        wanted = {"task": task.name, "options": dict(task.options), "item": dict(item)}
        with self._service.database.writing() as connection:
            return add(connection, self._service.workspace, PART, wanted)

    def _ended(self, identifiers: Sequence[str]) -> list[tuple[str, Any]]:
        with self._service.database.reading() as connection:
            rows = connection.execute(select(job).where(job.c.id.in_(identifiers), job.c.state.in_(ENDED))).all()
        return [(row.id, json.loads(row.result) if row.state == "done" else _failure(row)) for row in rows]

    def _cancel(self, identifier: str) -> None:
        try:
            with self._service.database.writing() as connection:
                cancel(connection, identifier)
        except ConflictError:  # it ended meanwhile
            return

    def close(self) -> None:
        """Close connections; workers go on."""
        self._service.close()


def _failure(row: Any) -> Failure:
    """Return why a part did not end well."""
    kind, _, words = str(row.error or row.state).partition(": ")
    return Failure(InputError(words) if words else LostPartError(f"the part ended as {row.state}: {kind}"))
