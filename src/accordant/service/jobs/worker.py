"""The worker: claims one job after the other, keeps its lease while it works, and stops where it is told to."""

from __future__ import annotations

import logging
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from accordant.errors import InputError
from accordant.service.database import UnreachableError
from accordant.service.jobs.kinds import KINDS, PART, StoppedError, Task, wanted_of
from accordant.service.jobs.parts import forget
from accordant.service.jobs.queue import LEASE_SECONDS, Lease, LeaseLostError, claim, give_up, release
from accordant.service.secrets import Erased
from accordant.service.service import Service

logger = logging.getLogger(__name__)

BEAT_SECONDS = LEASE_SECONDS / 6
POLL_SECONDS = 1.0


@dataclass(eq=False)
class Worker:
    """One worker.

    Attributes
    ----------
    service
        Where it finds jobs.
    cases
        See `Task`.
    parts
        Whether it takes parts of larger work too, which read and write the files that they name.
    stopping
        Set it to let the worker stop after the step that it is doing.
    """

    service: Service
    cases: Path | None = None
    parts: bool = False
    stopping: threading.Event = field(default_factory=threading.Event)

    def run(self, *, until_idle: bool = False) -> int:
        """Work until told to stop, or until nothing waits; return how many jobs were begun."""
        begun = 0
        while not self.stopping.is_set():
            try:
                lease = claim(self.service.database, tuple(kind for kind in KINDS if self.parts or kind != PART))
                if lease is None:
                    forget(self.service.database, self.service.keys)
            except UnreachableError:
                if until_idle:
                    raise
                logger.warning("the database does not answer")
                lease = None
            if lease is not None:
                begun += 1
                self.work(lease)
            elif until_idle:
                break
            else:
                self.stopping.wait(POLL_SECONDS)
        return begun

    def work(self, lease: Lease) -> None:
        """Do one job, and record how it ended."""
        started = time.monotonic()
        task = Task(self.service, lease, self.cases, self.stopping)
        _, carried_out = KINDS[lease.kind]
        ending = "done"
        error: Exception | None = None
        try:
            with _beating(task):
                carried_out(task, wanted_of(lease.kind, lease.payload))
        except LeaseLostError:
            ending = "lost"
        except StoppedError:
            ending = "released"
        except UnreachableError as gone:
            ending, error = "failed", gone
        except (InputError, Erased) as wrong:
            ending, error = "refused", wrong
        except Exception as fault:  # noqa: BLE001 - whatever it is, the job is tried again or ends as failed
            ending, error = "failed", fault
        self._ended(lease, ending, error)
        seconds = round(time.monotonic() - started, 3)
        logger.info("job", extra={"job": lease.job, "kind": lease.kind, "ending": ending, "seconds": seconds})

    def _ended(self, lease: Lease, ending: str, error: Exception | None) -> None:
        """Record how a try ended; where the database is gone, the lease ends by itself."""
        try:
            if ending == "released":
                with self.service.database.writing() as connection:
                    release(connection, lease)
            elif error is not None:
                with self.service.database.writing() as connection:
                    give_up(connection, lease, _words(lease, error), again=ending == "failed")
            forget(self.service.database, self.service.keys)
        except (LeaseLostError, UnreachableError):
            logger.warning("job", extra={"job": lease.job, "kind": lease.kind, "ending": "lost"})


def _words(lease: Lease, error: Exception) -> str:
    """Return what is kept of an error: messages about a case are no data of people, those about contexts may be."""
    kind = type(error).__name__
    return f"{kind}: {error}" if lease.kind in {"run", "study", PART} and isinstance(error, InputError) else kind


@contextmanager
def _beating(task: Task) -> Iterator[None]:
    """Keep a lease while the block works, from a thread of its own."""
    over = threading.Event()

    def beat() -> None:
        """Keep the lease from time to time, until the work is over or the lease is lost."""
        while not over.wait(BEAT_SECONDS):
            try:
                task.beat()
            except LeaseLostError:
                task.lost.set()
                return
            except Exception as error:  # noqa: BLE001 - one beat may fail; the lease outlasts several
                logger.warning("a lease could not be kept: %s", type(error).__name__)

    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def run_worker(service: Service, cases: Path | None, *, until_idle: bool, parts: bool = False) -> int:
    """Work until the process is told to end (SIGTERM, SIGINT), or nothing waits; return how many jobs were begun.

    Raises
    ------
    InputError
        If the folder of cases is none.
    """
    if cases is not None and not cases.is_dir():
        raise InputError(f"{cases} is no folder; allowed: a folder with case files")
    worker = Worker(service, cases, parts)
    for told in (signal.SIGTERM, signal.SIGINT):
        signal.signal(told, lambda *_: worker.stopping.set())
    try:
        return worker.run(until_idle=until_idle)
    finally:
        service.decider.runs.close()
