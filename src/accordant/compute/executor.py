"""`Executor`: a function over items, results as they come; and who carries out what is asked for without naming one."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol, TypeVar

from threadpoolctl import threadpool_limits

from accordant.errors import AccordantError, InputError
from accordant.registry import Registry
from accordant.threads import only_thread

Item = TypeVar("Item")
Result = TypeVar("Result")

RETRIES = 2
"""How often an item is tried again whose worker was ended: for want of memory, as a rule, or with its machine."""


class LostPartError(AccordantError):
    """A part of the work ended its worker each time that it was tried."""


@dataclass(frozen=True)
class Failure:
    """What is given instead of a result: the error of the function, or `LostPartError`."""

    error: Exception


class Executor(Protocol):
    """Carries out a function on items, several at a time.

    Functions and items must not depend on each other or on the order of calls, can be pickled, and may be carried out
    more than once. A queue takes only `accordant.compute.tasks.Task` with items that are JSON.

    Attributes
    ----------
    workers
        How many items are worked on at a time.
    """

    @property
    def workers(self) -> int:
        """How many items are worked on at a time."""

    def run(
        self, function: Callable[[Item], Result], items: Sequence[Item], *, retries: int = RETRIES
    ) -> Generator[tuple[int, Result | Failure], None, None]:
        """Yield the position of each item with its result, or its failure, as they come.

        Closing the generator cancels what is not begun.

        Parameters
        ----------
        function
            Is handed over once, however many items there are; data that all items need belong to it.
        items
            What to call it with.
        retries
            How often an item is tried again whose worker was ended. An error of the function is not tried again.
        """

    def close(self) -> None:
        """Give up what the executor holds."""


executors: Registry[Executor] = Registry(
    "executor", group="accordant.executors", packages=("accordant.compute", "accordant.service.jobs.parts_executor")
)
"""What stands before the colon of an address, such as ``processes:8`` or ``ray://local``, to its executor."""


def open_executor(address: str) -> Executor:
    """Return the executor of an address.

    Parameters
    ----------
    address
        ``here``, ``threads:N``, ``processes:N``, ``ray://local``, ``ray://HOST:PORT``, ``dask://HOST:PORT``,
        ``queue://DATABASE`` or what others registered.

    Raises
    ------
    InputError
        If there is no such executor, it is not installed, or it does not answer.
    """
    kind, _, place = address.partition(":")
    return executors.create(kind, {"place": place.removeprefix("//")})


_chosen: ContextVar[Executor | None] = ContextVar("executor", default=None)


@contextmanager
def compute(on: str | Executor) -> Iterator[Executor]:
    """Carry out fits, studies and comparisons inside the block on an executor.

    Parameters
    ----------
    on
        An address, see `open_executor`: what it opens is closed at the end. Or an executor, which stays open.

    Raises
    ------
    InputError
        See `open_executor`.
    """
    executor = open_executor(on) if isinstance(on, str) else on
    token = _chosen.set(executor)
    try:
        yield executor
    finally:
        _chosen.reset(token)
        if isinstance(on, str):
            executor.close()


def chosen() -> Executor | None:
    """Return the executor of the innermost block of `compute`; None outside."""
    return _chosen.get()


def in_order(arriving: Generator[tuple[int, Result | Failure], None, None]) -> Iterator[Result]:
    """Yield results in the order of their items; raise the error of the first that failed, and cancel the others."""
    waiting: dict[int, Result] = {}
    wanted = 0
    with closing(arriving):
        for position, result in arriving:
            if isinstance(result, Failure):
                raise result.error
            waiting[position] = result
            while wanted in waiting:
                yield waiting.pop(wanted)
                wanted += 1


def carried_out(function: Callable[[Item], Result], item: Item) -> Result | Failure:
    """Return the result for an item with all inner pools held at one thread; its error as one that can be sent."""
    token = _chosen.set(None)  # a forked worker knows what was chosen, and may not hand work on
    try:
        with only_thread(), threadpool_limits(1):
            return function(item)
    except Exception as error:  # noqa: BLE001 - it is raised where somebody waits for the result
        return Failure(_sendable(error))
    finally:
        _chosen.reset(token)


def _sendable(error: Exception) -> Exception:
    """Return an error that survives pickling: itself, or one of its kind with its message."""
    with suppress(Exception):  # of any kind, by what the error is made of
        if isinstance(pickle.loads(pickle.dumps(error)), type(error)):  # noqa: S301 - its own bytes
            return error
    message = str(error)
    if isinstance(error, InputError):
        return InputError(message)
    return (
        AccordantError(message)
        if isinstance(error, AccordantError)
        else RuntimeError(f"{type(error).__name__}: {message}")
    )


def count_of(place: str, otherwise: int, address: str) -> int:
    """Return the number that an address names, such as 8 of ``processes:8``."""
    if not place:
        return otherwise
    if not place.isdecimal() or int(place) < 1:
        raise InputError(f"{address}:{place}: allowed: a number of workers, at least 1")
    return int(place)
