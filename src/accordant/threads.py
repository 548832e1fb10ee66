"""Blocks of work on several threads, and how many there may be."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

Block = TypeVar("Block")
Result = TypeVar("Result")


def on_threads(work: Callable[[Block], Result], blocks: Sequence[Block], n_threads: int) -> list[Result]:
    """Return ``[work(block) for block in blocks]``, several at a time if `work` releases the interpreter's lock.

    Parameters
    ----------
    work
        Must not depend on the order of calls.
    blocks
        What to work on.
    n_threads
        No more are started than there are blocks.
    """
    n_threads = min(n_threads, len(blocks))
    if n_threads < 2:
        return [work(block) for block in blocks]
    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(work, blocks))


_alone: ContextVar[bool] = ContextVar("one of several tasks side by side", default=False)


@contextmanager
def only_thread() -> Iterator[None]:
    """Let `free_cores` be 1 inside: the other cores are those of other tasks."""
    token = _alone.set(True)
    try:
        yield
    finally:
        _alone.reset(token)


def free_cores() -> int:
    """Return how many cores may be used here; 1 inside a worker process or thread, whose siblings use the others."""
    import multiprocessing

    if _alone.get():
        return 1
    if threading.current_thread() is not threading.main_thread():
        return 1
    if multiprocessing.parent_process() is not None or "LOKY_WORKER" in os.environ:
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
