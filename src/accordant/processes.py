"""Tasks side by side in copies of this process, which read its memory without a copy of their own.

A forest is built tree by tree, and histogram boosting split by split, mostly under the interpreter's lock: threads gain
little. A forked worker inherits data, imports and tasks; results come back pickled. Forking is safe only while this
process runs a single Python thread, on Linux; elsewhere, and in workers, `forks_here` says no and callers use threads.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import pickle
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

Result = TypeVar("Result")

_tasks: Sequence[Callable[[], Any]] = ()
"""What workers that are forked now are to do; a worker is told a number only."""


def forks_here() -> bool:
    """Return whether work may be given to forked processes."""
    alone = threading.active_count() == 1 and multiprocessing.parent_process() is None
    return sys.platform == "linux" and alone and "LOKY_WORKER" not in os.environ


def on_processes(tasks: Sequence[Callable[[], Result]], n_jobs: int) -> Iterator[Result]:
    """Yield the results of tasks in order, from `n_jobs` forked workers.

    A task that raises, or whose worker was ended (for want of memory, as a rule), is carried out here, so that its
    error is raised here, whole.

    Parameters
    ----------
    tasks
        Must not depend on each other or on the order of calls; results can be pickled.
    n_jobs
        Number of workers, at least 1.
    """
    global _tasks  # noqa: PLW0603 - the one way to hand a forked worker what cannot be pickled
    _tasks = tasks
    try:
        context = multiprocessing.get_context("fork")
        with ProcessPoolExecutor(n_jobs, mp_context=context, initializer=_quiet) as pool:
            with warnings.catch_warnings():  # libraries' sleeping threads count as threads, and are not copied
                warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
                futures = [pool.submit(_numbered, number) for number in range(len(tasks))]
            for task, future in zip(tasks, futures, strict=True):
                try:
                    done, content = future.result()
                except BrokenProcessPool:
                    done, content = False, b""
                yield pickle.loads(content) if done else task()  # noqa: S301 - from our own worker, through a pipe
    finally:
        _tasks = ()


def through_pickle(result: Result) -> Result:
    """Return a copy as a worker would send it: what parts of it are one object then does not depend on where it ran.

    What cannot be pickled, such as an estimator with a function in it, is returned as it is.
    """
    try:
        copied: Result = pickle.loads(pickle.dumps(result, pickle.HIGHEST_PROTOCOL))  # noqa: S301 - its own bytes
    except Exception:  # noqa: BLE001 - of any kind, by what the estimator is made of
        return result
    return copied


def cpu_seconds() -> float:
    """Return the CPU seconds, user and system, of this process and of workers that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def _quiet() -> None:
    logging.disable(logging.CRITICAL)  # progress is told by the process that waits


def _numbered(number: int) -> tuple[bool, bytes]:
    try:
        return True, pickle.dumps(_tasks[number](), pickle.HIGHEST_PROTOCOL)
    except Exception:  # noqa: BLE001 - it is raised again where it can be told
        return False, b""
