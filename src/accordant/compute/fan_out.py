"""`run_all`: independent tasks of one piece of work, side by side, their results in the order of the tasks."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from functools import partial
from typing import TypeVar

from threadpoolctl import threadpool_limits

from accordant.compute.executor import Failure, chosen, in_order
from accordant.compute.local import Processes, Threads, forks_here, through_pickle
from accordant.errors import InputError
from accordant.progress import steps
from accordant.threads import free_cores

Result = TypeVar("Result")


def run_all(
    tasks: Sequence[Callable[[], Result]], n_jobs: int, doing: str, *, first_here: bool = False
) -> list[Result]:
    """Run tasks on `n_jobs` processes, return their results in order, and tell how far they are.

    Inside `accordant.compute` they go to the executor that was chosen. Where processes cannot be forked, threads do the
    same. Inner pools are held at one thread: histogram boosting on small data slows down by orders of magnitude
    otherwise. The results are the same wherever they were made.

    With `first_here` this process does the first task, and then shares the others out: libraries and machine code that
    all of them load, and this process later too, are there in every worker that is forked from it.
    """
    if n_jobs == 0:
        raise InputError("n_jobs is 0; allowed: a number of jobs, or -1 for all cores")
    jobs = min(n_jobs if n_jobs > 0 else free_cores(), len(tasks))
    with threadpool_limits(1):
        results = list[Result]()
        with steps(doing, len(tasks)) as advance:
            if first_here and tasks:
                results.append(through_pickle(tasks[0]()))
                advance()
            for result in _arriving(tasks[len(results) :], jobs):
                results.append(result)
                advance()
    return results


def _arriving(tasks: Sequence[Callable[[], Result]], jobs: int) -> Iterator[Result]:
    """Yield results in order, of which parts are one object or not as if each had come from another process."""
    executor, numbered = chosen(), partial(_numbered, tasks)  # what tasks have in common is handed over once
    if executor is not None:
        return in_order(executor.run(numbered, range(len(tasks))))
    if users_backend():
        from joblib import Parallel, delayed

        results = Parallel(n_jobs=jobs)(delayed(task)() for task in tasks)  # not all can give results one by one
        return map(through_pickle, results)
    if jobs < 2:
        return (through_pickle(task()) for task in tasks)
    local = Processes(str(jobs)) if forks_here() else Threads(str(jobs))
    return in_order(_mended(local.run(numbered, range(len(tasks)), retries=0), tasks))


def _mended(
    arriving: Generator[tuple[int, Result | Failure], None, None], tasks: Sequence[Callable[[], Result]]
) -> Generator[tuple[int, Result], None, None]:
    """Yield results, and carry out here what failed elsewhere: its error is raised whole, and too little memory for
    several at a time may do for one.
    """
    with closing(arriving):
        for position, result in arriving:
            yield position, through_pickle(tasks[position]()) if isinstance(result, Failure) else result


def _numbered(tasks: Sequence[Callable[[], Result]], number: int) -> Result:
    return tasks[number]()


def users_backend() -> bool:
    """Return whether a user chose a backend of joblib, such as that of Ray or Dask, by ``parallel_config``."""
    if "joblib.parallel" not in sys.modules:
        return False
    from joblib.parallel import get_active_backend

    backend, _ = get_active_backend()
    return not type(backend).__module__.startswith("joblib.")
