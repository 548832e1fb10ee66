"""Executors of this machine: this process, its threads, or processes beside it."""

from __future__ import annotations

import logging
import multiprocessing
import os
import pickle
import sys
import threading
import warnings
from collections import deque
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.connection import wait as wait_for
from typing import Any

from threadpoolctl import threadpool_limits

from accordant.compute.executor import (
    RETRIES,
    Failure,
    Item,
    LostPartError,
    Result,
    carried_out,
    count_of,
    executors,
)
from accordant.errors import InputError
from accordant.threads import free_cores


@executors.register("here")
class Here:
    """The process itself, one item after another."""

    workers = 1

    def __init__(self, place: str = "") -> None:
        if place:
            raise InputError(f"here:{place}: here takes one item after the other; allowed: here, or processes:N")

    def run(
        self, function: Callable[[Item], Result], items: Sequence[Item], *, retries: int = RETRIES
    ) -> Generator[tuple[int, Result | Failure], None, None]:
        """Yield results in order; see `Executor.run`."""
        del retries
        for position, item in enumerate(items):
            yield position, through_pickle(carried_out(function, item))

    def close(self) -> None:
        """Do nothing."""


@executors.register("threads")
class Threads:
    """Threads of this process, for work that releases the interpreter's lock, or where nothing can be pickled.

    Parameters
    ----------
    place
        How many; one per core by default.
    """

    def __init__(self, place: str = "") -> None:
        self.workers = count_of(place, free_cores(), "threads")

    def run(
        self, function: Callable[[Item], Result], items: Sequence[Item], *, retries: int = RETRIES
    ) -> Generator[tuple[int, Result | Failure], None, None]:
        """Yield results as they come; see `Executor.run`."""
        del retries
        waiting = deque(range(len(items)))
        running: dict[Future[Any], int] = {}
        with threadpool_limits(1), ThreadPoolExecutor(self.workers) as pool:  # each restores what another has set
            while waiting or running:
                while waiting and len(running) < self.workers:
                    position = waiting.popleft()
                    running[pool.submit(carried_out, function, items[position])] = position
                for done in wait(running, return_when=FIRST_COMPLETED).done:
                    yield running.pop(done), through_pickle(done.result())

    def close(self) -> None:
        """Do nothing; threads end with the work."""


@dataclass(eq=False)
class _Worker:
    """A process that carries out one item at a time, and the end of the pipe to it.

    Attributes
    ----------
    process, pipe
        The worker.
    item
        Position of what it works on; None while it is free.
    """

    process: Any
    pipe: Connection
    item: int | None = None


@executors.register("processes")
class Processes:
    """Processes beside this one; on Linux they are forked and read its memory without a copy of their own.

    Forking is safe only while a process runs a single Python thread; otherwise new interpreters are started, for which
    the function is pickled.

    Parameters
    ----------
    place
        How many; one per core by default.
    """

    def __init__(self, place: str = "") -> None:
        self.workers = count_of(place, free_cores(), "processes")

    def run(
        self, function: Callable[[Item], Result], items: Sequence[Item], *, retries: int = RETRIES
    ) -> Generator[tuple[int, Result | Failure], None, None]:
        """Yield results as they come; see `Executor.run`.

        A worker that was ended is replaced; the item that it had is tried again, and no other. Within a task, which may
        start no processes, the items are carried out one after the other.
        """
        if multiprocessing.current_process().daemon:
            yield from Here().run(function, items)
            return
        waiting, tries = deque(range(len(items))), [0] * len(items)
        team: list[_Worker] = []
        try:
            while waiting or any(worker.item is not None for worker in team):
                while waiting and len(team) < min(self.workers, len(items)):
                    team.append(_started(function, items, team))
                for worker in team:
                    if worker.item is None and waiting:
                        worker.item = waiting.popleft()
                        with suppress(OSError):  # it was ended, which is seen below
                            worker.pipe.send(worker.item)
                busy = {worker.pipe: worker for worker in team if worker.item is not None}
                for pipe in wait_for(list(busy)):
                    worker = busy[pipe]  # type: ignore[index]
                    position = worker.item
                    assert position is not None
                    worker.item = None
                    try:
                        told = worker.pipe.recv_bytes()
                    except (EOFError, OSError):
                        team.remove(worker)
                        _end(worker)
                        tries[position] += 1
                        if tries[position] > retries:
                            words = f"item {position} ended its worker {tries[position]} times"
                            yield position, Failure(LostPartError(f"{words}; is there enough memory?"))
                        else:
                            waiting.append(position)
                    else:
                        yield position, _unpickled(told)
        finally:
            for worker in team:
                _end(worker)

    def close(self) -> None:
        """Do nothing; processes end with the work."""


def forks_here() -> bool:
    """Return whether this process may be forked: on Linux, while it runs a single thread and is no worker itself."""
    alone = threading.active_count() == 1 and multiprocessing.parent_process() is None
    return sys.platform == "linux" and alone and "LOKY_WORKER" not in os.environ


def through_pickle(result: Result) -> Result:
    """Return a copy as a worker would send it: what parts of it are one object then does not depend on where it ran.

    What cannot be pickled, such as an estimator with a function in it, is returned as it is; a failure as well, with
    where it happened.
    """
    if isinstance(result, Failure):
        return result
    try:
        copied: Result = pickle.loads(pickle.dumps(result, pickle.HIGHEST_PROTOCOL))  # noqa: S301 - its own bytes
    except Exception:  # noqa: BLE001 - of any kind, by what the estimator is made of
        return result
    return copied


def cpu_seconds() -> float:
    """Return the CPU seconds, user and system, of this process and of workers that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


_start_lock = threading.Lock()  # libraries that prepare for a fork, such as filelock, refuse another meanwhile


def _started(function: Callable[[Any], Any], items: Sequence[Any], team: Sequence[_Worker]) -> _Worker:
    """Return a new worker."""
    context = multiprocessing.get_context("fork" if forks_here() else "spawn")
    ours, theirs = context.Pipe()
    inherited = [worker.pipe for worker in team] + [ours] if context.get_start_method() == "fork" else []
    process = context.Process(  # type: ignore[attr-defined]
        target=_serve, args=(theirs, function, items, inherited), daemon=True
    )
    with warnings.catch_warnings():  # libraries' sleeping threads count as threads, and are not copied
        warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
        try:
            with _start_lock:
                process.start()
        except (pickle.PicklingError, AttributeError, TypeError) as error:  # by what the function is made of
            raise InputError(
                f"processes: beside other threads workers are not forked, and the work cannot be sent to another "
                f"process: {error}; allowed: threads:N, here"
            ) from None
    theirs.close()
    return _Worker(process, ours)


def _serve(
    pipe: Connection, function: Callable[[Any], Any], items: Sequence[Any], inherited: Sequence[Connection]
) -> None:
    """Carry out items by their positions until the other end of the pipe is closed."""
    for other in inherited:  # copies would keep the pipes of others open after their owner is gone
        other.close()
    logging.disable(logging.CRITICAL)  # progress is told by the process that waits
    with suppress(EOFError, OSError, KeyboardInterrupt):
        while True:
            position = pipe.recv()
            pipe.send_bytes(_pickled(carried_out(function, items[position])))


def _pickled(result: Any) -> bytes:
    """Return the bytes of a result, or those of the failure to make them."""
    try:
        return pickle.dumps(result, pickle.HIGHEST_PROTOCOL)
    except Exception as error:  # noqa: BLE001 - of any kind, by what the result is made of
        return pickle.dumps(Failure(RuntimeError(f"the result cannot be sent: {error}")))


def _unpickled(told: bytes) -> Any:
    """Return the result that a worker sent, or the failure to read it."""
    try:
        return pickle.loads(told)  # noqa: S301 - of our own worker
    except Exception as error:  # noqa: BLE001 - of any kind, by what the result is made of
        return Failure(RuntimeError(f"the result cannot be sent: {error}"))


def _end(worker: _Worker) -> None:
    """End a worker, whatever it does."""
    worker.pipe.close()
    worker.process.kill()
    worker.process.join()
    worker.process.close()
