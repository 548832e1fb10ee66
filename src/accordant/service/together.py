"""`Together`: what many threads want done, done by whichever of them comes first, for all that wait at that moment.

A transaction takes as long for ten decisions as for one: it waits for the disk. Who arrives while one is under way is
taken along by the next.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Generic, TypeVar, cast

Item = TypeVar("Item")
Result = TypeVar("Result")
MOST = 256  # items at a time: nobody waits for an endless transaction


@dataclass(eq=False)
class _Waiting(Generic[Item, Result]):
    item: Item
    done: bool = False
    result: Result | None = None
    error: BaseException | None = None


@dataclass(frozen=True, eq=False)
class Together(Generic[Item, Result]):
    """Work for many at once.

    Attributes
    ----------
    work
        From items to one result each, in their order; whatever it raises, all of these items get.
    """

    work: Callable[[Sequence[Item]], Sequence[Result]]
    _waiting: list[_Waiting[Item, Result]] = field(default_factory=list)
    _queue: Lock = field(default_factory=Lock)
    _working: Lock = field(default_factory=Lock)

    def __call__(self, item: Item) -> Result:
        """Return the result for one item, together with those of other threads."""
        mine: _Waiting[Item, Result] = _Waiting(item)
        with self._queue:
            self._waiting.append(mine)
        while not mine.done:
            with self._working:
                if not mine.done:
                    self._work_off()
        if mine.error is not None:
            raise mine.error
        return cast("Result", mine.result)

    def _work_off(self) -> None:
        with self._queue:
            batch = self._waiting[:MOST]
            del self._waiting[:MOST]
        try:
            for each, result in zip(batch, self.work([each.item for each in batch]), strict=True):
                each.result = result
        except BaseException as error:  # noqa: BLE001 - each thread raises it for itself
            for each in batch:
                each.error = error
        for each in batch:
            each.done = True
