"""The queue of jobs as an executor: parts outlive the command that asked for them, and any number of workers come.

A part is a job of the kind ``part``: `accordant work --parts` takes it, keeps its lease while it works, and whoever
comes next takes it if the worker is gone.
"""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from accordant.compute.executor import RETRIES, Failure, Item, LostPartError, Result, executors
from accordant.compute.tasks import Task
from accordant.errors import ConflictError, InputError

if TYPE_CHECKING:  # the registry of executors knows this one where the service is not installed, too
    from accordant.service.service import Service

IN_FLIGHT = 64  # parts that wait at a time, so that few are to be cancelled
POLL_SECONDS = 0.2
INSTALL = "pip install 'accordant[serve]'"


@executors.register("queue")
class Queue:
    """The jobs of a service, which `accordant work --parts` carries out.

    Parameters
    ----------
    place
        Address of the database, see `accordant.service.database.Database.of`. Workers are on machines that see the same
        files under the same names.

    Raises
    ------
    InputError
        If the service is not installed, or there is no such database.
    """

    workers = IN_FLIGHT

    def __init__(self, place: str = "") -> None:
        if not place:
            raise InputError("queue:// names no database; allowed: queue://DATABASE, such as queue://sqlite:///FILE")
        try:
            from accordant.service.service import open_service
        except ModuleNotFoundError as error:
            raise InputError(
                f"queue:// needs the service, which needs {error.name}: {INSTALL}; allowed without it: processes:N"
            ) from None
        self._service: Service = open_service(place)

    def run(
        self, function: Callable[[Item], Result], items: Sequence[Item], *, retries: int = RETRIES
    ) -> Generator[tuple[int, Result | Failure], None, None]:
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
        from accordant.service.jobs.kinds import PART
        from accordant.service.jobs.queue import add

        wanted = {"task": task.name, "options": dict(task.options), "item": dict(item)}
        with self._service.database.writing() as connection:
            return add(connection, self._service.workspace, PART, wanted)

    def _ended(self, identifiers: Sequence[str]) -> list[tuple[str, Any]]:
        from sqlalchemy import select

        from accordant.service.jobs.queue import ENDED
        from accordant.service.schema import job

        with self._service.database.reading() as connection:
            rows = connection.execute(select(job).where(job.c.id.in_(identifiers), job.c.state.in_(ENDED))).all()
        return [(row.id, json.loads(row.result) if row.state == "done" else _failure(row)) for row in rows]

    def _cancel(self, identifier: str) -> None:
        from accordant.service.jobs.queue import cancel

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
