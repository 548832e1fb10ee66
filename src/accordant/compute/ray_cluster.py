"""Ray: the tasks of its core, on this machine or on a cluster. Nothing else of Ray is used.

Whoever reaches a port of Ray can run code there. Its tokens are off by default, and here a cluster without them is
refused; ``ray://local`` makes a token of its own.
"""

from __future__ import annotations

import os
import secrets
from collections import deque
from collections.abc import Callable, Generator, Sequence
from typing import Any

from accordant.compute.executor import (
    RETRIES,
    Failure,
    Item,
    LostPartError,
    Result,
    carried_out,
    executors,
)
from accordant.errors import InputError
from accordant.threads import free_cores

INSTALL = "pip install 'accordant[ray]'"
IN_FLIGHT = 4  # tasks that are handed over for each core: enough that none waits, so few that cancelling is quick

VARIABLES = {
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # what Ray will do, and warns of until then
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".",  # of a worker that ends it would tell on standard output, amid JSON
}


@executors.register("ray")
class RayCluster:
    """A cluster of Ray, or one that lives as long as the work.

    Parameters
    ----------
    place
        ``local``, or the address of the head, ``HOST:PORT``, from a machine that is a node of its cluster. Ray takes
        127.0.0.1 for the machine's own address: nodes on one machine are 127.0.0.2 and 127.0.0.3.

    Raises
    ------
    InputError
        If Ray is not installed, tokens are off, or the cluster does not answer.
    """

    def __init__(self, place: str = "local") -> None:
        local = place in ("", "local")
        os.environ.update(_token(local=local))  # Ray reads them when it is imported, and keeps what it read
        for name, value in VARIABLES.items():
            os.environ.setdefault(name, value)
        try:
            import ray
        except ImportError:
            raise InputError(f"ray:// needs Ray: {INSTALL}; allowed without it: processes:N") from None
        self._ray: Any = ray
        if ray.is_initialized():
            raise InputError("Ray is in use in this process already; end it with ray.shutdown() before")
        own = {"num_cpus": free_cores(), "include_dashboard": False} if local else {}
        try:
            self._ray.init("local" if local else place, log_to_driver=False, logging_level="ERROR", **own)
        except Exception as error:  # noqa: BLE001 - Ray raises errors of any kind
            raise InputError(f"ray://{place}: no cluster answers there: {error}") from None
        self.workers = max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def run(
        self, function: Callable[[Item], Result], items: Sequence[Item], *, retries: int = RETRIES
    ) -> Generator[tuple[int, Result | Failure], None, None]:
        """Yield results as they come; see `Executor.run`. Ray tries an item again whose worker or machine is gone."""
        ray = self._ray
        task = ray.remote(num_cpus=1, max_retries=retries, retry_exceptions=False)(carried_out)
        shared = ray.put(function)
        waiting: deque[int] = deque(range(len(items)))
        running: dict[Any, int] = {}
        try:
            while waiting or running:
                while waiting and len(running) < IN_FLIGHT * self.workers:
                    position = waiting.popleft()
                    running[task.remote(shared, items[position])] = position
                for done in ray.wait(list(running))[0]:
                    position = running.pop(done)
                    yield position, self._result(done, position)
        finally:
            for reference in running:
                ray.cancel(reference, force=True)

    def _result(self, done: Any, position: int) -> Any:
        try:
            return self._ray.get(done)
        except self._ray.exceptions.RayTaskError as error:  # the function could not be read there, as a rule
            return Failure(RuntimeError(f"item {position}: {error.cause}"))
        except self._ray.exceptions.RayError as error:
            reason = str(error).partition("\n")[0] or type(error).__name__
            return Failure(LostPartError(f"item {position} ended its worker each time it was tried: {reason}"))

    def close(self) -> None:
        """Leave the cluster; one that is local ends."""
        self._ray.shutdown()


def _token(*, local: bool) -> dict[str, str]:
    """Return the variables that make Ray ask for a token; those that are set stay.

    Raises
    ------
    InputError
        If a cluster elsewhere would be used without one.
    """
    if os.environ.get("RAY_AUTH_MODE") == "token":
        return {}
    if local:
        return {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
    raise InputError(
        "whoever reaches a port of Ray can run code there, and its tokens are off by default: start the cluster and "
        "this command with RAY_AUTH_MODE=token and the same RAY_AUTH_TOKEN"
    )
