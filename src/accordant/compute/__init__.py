"""Where independent work is carried out: in this process, on processes, or on a cluster.

    with ac.compute("ray://10.0.0.1:6379"):
        policy.fit(X, actions=..., outcomes=..., rewards=...)

`Executor` is the one seam: it maps a function over items and gives results as they come. Results are the same bytes
wherever they were made, because no task knows where it runs: seeds belong to the item, inner threads are held at one,
and whoever reduces does so in the order of items. `Ledger` keeps what parts of a larger job are done, in a file.
"""

import sys
from types import ModuleType

from accordant.compute.executor import (
    Executor,
    Failure,
    LostPartError,
    chosen,
    compute,
    executors,
    in_order,
    open_executor,
)

__all__ = ["Executor", "Failure", "LostPartError", "chosen", "compute", "executors", "in_order", "open_executor"]


class _Room(ModuleType):
    """A room that is called as its function `compute` is: users write ``with ac.compute("processes:4"):``."""

    __call__ = staticmethod(compute)


sys.modules[__name__].__class__ = _Room
