"""Many contexts with few voters, or many voters in few contexts: which code suits which layout."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from accordant.compiled import Compiled

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

MANY_CONTEXTS = 32  # from here on kernels over contexts are faster than numpy over voters, and worth loading


def suited(kernel: Compiled[Parameters, Result], n_contexts: int) -> Callable[Parameters, Result]:
    """Return a kernel, or for few contexts the same function in Python, which need not be compiled or loaded."""
    return kernel if n_contexts >= MANY_CONTEXTS else kernel.python
