"""Array functions that are compiled on first use.

A kernel is an ordinary Python function of arrays and numbers with explicit loops; its first call compiles it
with numba and keeps the machine code on disk, so that later processes only load it. Importing a module that
defines kernels imports nothing heavy.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Generic, ParamSpec, TypeVar

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


class Compiled(Generic[Parameters, Result]):
    """A kernel; calling it runs machine code without the interpreter's lock.

    Attributes
    ----------
    python
        The function as it was written, for tests and readers.
    """

    def __init__(self, function: Callable[Parameters, Result]) -> None:
        self.python = function
        self._machine: Callable[Parameters, Result] | None = None
        functools.update_wrapper(self, function)

    def __call__(self, *args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        """Run the machine code, compiling it first if need be."""
        if self._machine is None:
            self._machine = _machine_code(self.python)
        return self._machine(*args, **kwargs)


def compiled(function: Callable[Parameters, Result]) -> Compiled[Parameters, Result]:
    """Mark a function as a kernel.

    The rules of IEEE arithmetic are kept (no reassociation, no fused multiply-add), so that a kernel gives the same
    bytes as the same loop in Python; a division by zero gives inf or NaN, as in numpy.
    """
    return Compiled(function)


def _machine_code(function: Callable[..., Any]) -> Callable[..., Any]:
    import numba

    options = {"nogil": True, "error_model": "numpy"}
    try:
        made: Callable[..., Any] = numba.njit(cache=True, **options)(function)
    except RuntimeError:  # neither the package nor the user's cache can be written
        made = numba.njit(**options)(function)
    return made
