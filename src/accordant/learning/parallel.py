"""Independent fits side by side, each with one thread inside."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from accordant.errors import InputError

Result = TypeVar("Result")

logger = logging.getLogger(__name__)

SECONDS_BETWEEN_LINES = 2.0


def run_all(tasks: Sequence[Callable[[], Result]], n_jobs: int, doing: str) -> list[Result]:
    """Run tasks on `n_jobs` threads, return their results in order, and log how far they are now and then.

    Threads suffice because the estimators release the interpreter lock while they fit. Inner pools are
    held at one thread: histogram boosting on small data slows down by orders of magnitude otherwise.
    """

    def alone(task: Callable[[], Result]) -> Result:
        with threadpool_limits(1, user_api="openmp"):  # OpenMP keeps its limit per calling thread
            return task()

    if n_jobs == 0:
        raise InputError("n_jobs is 0; allowed: a number of threads, or -1 for all")
    with threadpool_limits(1):
        arriving = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")(
            delayed(alone)(task) for task in tasks
        )
        results, last = [], time.monotonic()
        for result in arriving:
            results.append(result)
            if time.monotonic() - last > SECONDS_BETWEEN_LINES:
                last = time.monotonic()
                logger.info("%s: %d of %d", doing, len(results), len(tasks))
    return results
