"""`Together`: what many threads want done, done by whichever of them comes first, for all that wait at that moment.

A transaction takes as long for ten decisions as for one: it waits for the disk. Who arrives while one is under way is
taken along by the next.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from threading import Event, Lock
from typing import Generic, TypeVar, cast

Item = TypeVar("Item")
Result = TypeVar("Result")
MOST = 2_000  # weight of what is done at a time: nobody waits for an endless transaction


@dataclass(eq=False)
class _Waiting(Generic[Item, Result]):
    item: Item
    turn: Event = field(default_factory=Event)
    leads: bool = False
    result: Result | None = None
    error: BaseException | None = None


@dataclass(eq=False)
class Together(Generic[Item, Result]):
    """Work for many at once.

    Attributes
    ----------
    work
        From items to one result each, in their order; whatever it raises, all of these items get.
    weight
        How much work an item is.
    """

    work: Callable[[Sequence[Item]], Sequence[Result]]
    weight: Callable[[Item], int]
    _waiting: list[_Waiting[Item, Result]] = field(default_factory=list)
    _queue: Lock = field(default_factory=Lock)
    _busy: bool = False

    def __call__(self, item: Item) -> Result:
        """Return the result for one item, together with those of other threads."""
        mine: _Waiting[Item, Result] = _Waiting(item)
        with self._queue:
            self._waiting.append(mine)
            if not self._busy:
                self._busy = mine.leads = True
                mine.turn.set()
        mine.turn.wait()
        if mine.leads:
            try:
                self._work_off()
            finally:
                self._hand_over()
        if mine.error is not None:
            raise mine.error
        return cast("Result", mine.result)

    def _work_off(self) -> None:
        """Do what waits, beginning with the item of the thread that leads."""
        with self._queue:
            weights = accumulate(self.weight(waiter.item) for waiter in self._waiting)
            count = max(1, sum(1 for total in weights if total <= MOST))
            batch = self._waiting[:count]
            del self._waiting[:count]
        try:
            for waiter, result in zip(batch, self.work([waiter.item for waiter in batch]), strict=True):
                waiter.result = result
        except BaseException as error:  # noqa: BLE001 - each thread raises it for itself
            for waiter in batch:
                waiter.error = error
        for waiter in batch:
            waiter.turn.set()

    def _hand_over(self) -> None:
        """Let the next that waits lead, if anybody does."""
        with self._queue:
            self._busy = bool(self._waiting)
            if self._waiting:
                self._waiting[0].leads = True
                self._waiting[0].turn.set()
