"""Service days: consecutive requests that share what items can take."""

from __future__ import annotations

from collections.abc import Iterator

from accordant.errors import InputError


def service_days(n_requests: int, per_day: int, batch: int, key: str = "per_day") -> Iterator[tuple[int, slice]]:
    """Yield a day and consecutive requests: batches of at most a size, none of which reaches into the next day.

    Parameters
    ----------
    n_requests
        In the order of time.
    per_day, batch
        At least 1.
    key
        What a case calls `per_day`, for messages.

    Raises
    ------
    InputError
        If a number is no whole number of at least 1.
    """
    for name, number in ((key, per_day), ("batch", batch)):
        if isinstance(number, bool) or not isinstance(number, int) or number < 1:
            raise InputError(f"{name} is {number!r}; allowed: a whole number of at least 1")
    for day, first in enumerate(range(0, n_requests, per_day)):
        last = min(first + per_day, n_requests)
        for start in range(first, last, batch):
            yield day, slice(start, min(start + batch, last))
