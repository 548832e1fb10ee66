"""Array functions that are compiled on first use.

A kernel is an ordinary Python function of arrays and numbers with explicit loops; its first call compiles it
with numba and keeps the machine code on disk, so that later processes only load it. Importing a module that
defines kernels imports nothing heavy.

Compiling turns the module's constants into parts of the machine code. numba compiles again when the kernel's own file
changes, but not when a constant does that the file imports; so the values of all constants that a kernel reads belong
to the key under which its machine code is kept.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
from collections.abc import Callable, Iterator
from types import CodeType, ModuleType
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


def kept_in(kernel: Compiled[Any, Any]) -> str | None:
    """Return the folder with the machine code of a kernel that ran; None where no folder can be written."""
    machine: Any = kernel._machine  # noqa: SLF001 - this module's own
    place = None if machine is None else getattr(machine._cache, "cache_path", None)  # noqa: SLF001
    return None if place is None else str(place)


def compiled(function: Callable[Parameters, Result]) -> Compiled[Parameters, Result]:
    """Mark a function as a kernel.

    The rules of IEEE arithmetic are kept (no reassociation, no fused multiply-add), so that a kernel gives the same
    bytes as the same loop in Python; a division by zero gives inf or NaN, as in numpy.
    """
    return Compiled(function)


def constants_key(function: Callable[..., Any]) -> str:
    """Return a hash of all global values that a kernel reads, also through modules (``module.NAME``).

    Functions and types count by their names, numbers, texts, tuples and arrays by their values.
    """
    scope, names = function.__globals__, sorted(set(_names(function.__code__)))
    modules = [(name, scope[name]) for name in names if isinstance(scope.get(name), ModuleType)]
    values = {name: _content(scope[name]) for name in names if name in scope}
    for name, module in modules:
        values |= {f"{name}.{key}": _content(getattr(module, key)) for key in names if hasattr(module, key)}
    return hashlib.sha256(repr(sorted(values.items())).encode()).hexdigest()


def _names(code: CodeType) -> Iterator[str]:
    """Give the global names and attributes that a function and the functions inside it read."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _content(value: Any) -> str:
    """Return a text that differs where constants differ; an array's shows all of its bytes."""
    if isinstance(value, tuple):
        return f"({', '.join(map(_content, value))})"
    if isinstance(value, ModuleType) or callable(value):
        return str(getattr(value, "__qualname__", type(value).__qualname__))
    if hasattr(value, "tobytes"):
        return f"{value.dtype}{value.shape}{hashlib.sha256(value.tobytes()).hexdigest()}"
    return repr(value)


def _machine_code(function: Callable[..., Any]) -> Callable[..., Any]:
    import numba

    options = {"nogil": True, "error_model": "numpy"}
    made: Callable[..., Any] = numba.njit(**options)(function)
    with contextlib.suppress(RuntimeError):  # where neither the package nor the user's cache can be written
        made._cache = _kept(function)  # type: ignore[attr-defined]  # noqa: SLF001  # njit(cache=True) with a longer key
    return made


def _kept(function: Callable[..., Any]) -> Any:
    """Return where machine code of a kernel is kept: a file of numba's cache whose keys hold the constants too."""
    from numba.core.caching import FunctionCache

    constants = constants_key(function)

    class Kept(FunctionCache):  # type: ignore[misc]
        def _index_key(self, *signature: Any) -> tuple[Any, ...]:
            return (*super()._index_key(*signature), constants)

    return Kept(function)
