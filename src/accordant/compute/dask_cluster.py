"""Dask: the futures of its scheduler, on this machine or on a cluster."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any

from accordant.compute.executor import RETRIES, Failure, Item, LostPartError, Result, carried_out, executors
from accordant.errors import InputError
from accordant.threads import free_cores

INSTALL = "pip install 'accordant[dask]'"
SECONDS_TO_CONNECT = 30


@executors.register("dask")
class DaskCluster:
    """A scheduler of Dask, or one that lives as long as the work.

    Parameters
    ----------
    place
        ``local``, or the address of the scheduler, ``HOST:PORT``.

    Raises
    ------
    InputError
        If Dask is not installed, or no scheduler answers.
    """

    def __init__(self, place: str = "local") -> None:
        try:
            import distributed
        except ImportError:
            raise InputError(f"dask:// needs Dask: {INSTALL}; allowed without it: processes:N") from None
        self._distributed: Any = distributed
        local = place in ("", "local")
        own: dict[str, Any] = {"n_workers": free_cores(), "threads_per_worker": 1, "dashboard_address": None}
        try:
            self._cluster = self._distributed.LocalCluster(host="127.0.0.1", **own) if local else None
            self._client = self._distributed.Client(
                self._cluster or place, timeout=SECONDS_TO_CONNECT, set_as_default=False
            )
        except OSError as error:
            raise InputError(f"dask://{place}: no scheduler answers there: {error}") from None
        self.workers = max(1, sum(self._client.nthreads().values()))

    def run(
        self, function: Callable[[Item], Result], items: Sequence[Item], *, retries: int = RETRIES
    ) -> Generator[tuple[int, Result | Failure], None, None]:
        """Yield results as they come; see `Executor.run`. How often a worker may end for an item is the scheduler's.

        It blames all items that a worker held when it ended. So who is blamed is tried again alone, once the others are
        done.
        """
        del retries
        client, blamed = self._client, list[int]()
        shared = client.submit(_itself, function, pure=False)  # what is scattered is lost with the workers that hold it
        futures = {client.submit(carried_out, shared, item, pure=False): k for k, item in enumerate(items)}
        try:
            for done in self._distributed.as_completed(futures, loop=client.loop):
                position = futures.pop(done)  # a result that nobody holds is not made again when its worker ends
                result = self._result(done, position)
                if isinstance(result, Failure) and isinstance(result.error, LostPartError):
                    blamed.append(position)
                else:
                    yield position, result
            for position in blamed:
                yield position, self._result(client.submit(carried_out, shared, items[position], pure=False), position)
        finally:
            client.cancel(list(futures))

    def _result(self, done: Any, position: int) -> Any:
        try:
            return done.result()
        except self._distributed.KilledWorker:
            return Failure(LostPartError(f"item {position} ended its worker each time it was tried"))
        except Exception as error:  # noqa: BLE001 - it is raised where somebody waits for the result
            return Failure(error)
        finally:
            done.release()

    def close(self) -> None:
        """Leave the cluster; one that is local ends."""
        self._client.close()
        if self._cluster is not None:
            self._cluster.close()


def _itself(function: Callable[[Item], Result]) -> Callable[[Item], Result]:
    return function
