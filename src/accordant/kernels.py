"""Array functions that are compiled on first use.

A kernel is an ordinary Python function of arrays and numbers with explicit loops; its first call compiles it
with numba and keeps the machine code on disk, so that later processes only load it. Importing a module that
defines kernels imports nothing heavy.

Compiling turns the module's constants, and the functions that a kernel calls, into parts of the machine code. numba
compiles again when the kernel's own file changes, but not when something does that the file imports; so the values of
all constants that a kernel reads, and the code of all functions that it calls, belong to the key under which its
machine code is kept.

Loading numba takes longer than a few thousand numbers in plain Python. A kernel of floats that is marked `light` runs
as it was written until so much has been spent (the ski-rental rule: never more than twice the cheaper of both).
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, Generic, ParamSpec, TypeVar

import numpy as np

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

FIRST_NUMBERS = 20_000  # numbers that kernels may read in plain Python, together: some 0.1 s, as long as numba loads


class Compiled(Generic[Parameters, Result]):
    """A kernel; calling it runs machine code without the interpreter's lock.

    Attributes
    ----------
    python
        The function as it was written, for tests and readers.
    light
        Whether the first few numbers are left to plain Python.
    """

    numbers_left = FIRST_NUMBERS

    def __init__(self, function: Callable[Parameters, Result], *, light: bool = False) -> None:
        self.python, self.light = function, light
        self._work_without = 0.0
        self._machine: Callable[Parameters, Result] | None = None
        functools.update_wrapper(self, function)

    def __call__(self, *args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        """Run the machine code, compiling it first if need be."""
        if self._machine is None:
            if self.light and self._affordable(args):
                with np.errstate(all="ignore"):
                    return self.python(*args, **kwargs)
            self._machine = _machine_code(self.python)
        return self._machine(*args, **kwargs)

    def is_due(self, work: float, cost: float) -> bool:
        """Whether to call it rather than a slower way: its machine code is at hand, or as much was done as it costs.

        Parameters
        ----------
        work
            What is to be done now; it is added to what was done the other way.
        cost
            Work done the other way from which compiling costs no more than it would have saved (ski rental).
        """
        if self._machine is None and not self._kept_before:
            self._work_without += work
            return self._work_without >= cost
        return True

    @functools.cached_property
    def _kept_before(self) -> bool:
        """Whether another process left machine code of it on disk."""
        with contextlib.suppress(RuntimeError):
            return bool(_kept(self.python).is_any_kept())
        return False

    @staticmethod
    def _affordable(args: tuple[Any, ...]) -> bool:
        """Whether plain Python may still do this, and take it from what is left."""
        numbers = max((value.size for value in args if isinstance(value, np.ndarray)), default=0)
        if numbers > Compiled.numbers_left:
            return False
        Compiled.numbers_left -= numbers
        return True


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


def light(function: Callable[Parameters, Result]) -> Compiled[Parameters, Result]:
    """Mark a function as a kernel that plain Python may run on few numbers: one that calculates with floats alone."""
    return Compiled(function, light=True)


def compiled_text(
    name: str, parameters: str, lines: Sequence[str], scope: Mapping[str, Any], file: str
) -> Compiled[..., Any]:
    """Return a light kernel that a template wrote.

    Parameters
    ----------
    name
        Of the function, different for different texts of one file.
    parameters
        Of the function, separated by commas.
    lines
        Its body.
    scope
        What it reads and calls by name; functions become part of the machine code.
    file
        The module with the template, beside which machine code is kept.
    """
    text = "\n    ".join([f"def {name}({parameters}):", *lines])
    names: dict[str, Any] = {**scope, "__name__": __name__}
    exec(compile(text, file, "exec"), names)  # noqa: S102  # a text of our own: names of users do not reach it
    return Compiled(names[name], light=True)


def constants_key(function: Callable[..., Any]) -> str:
    """Return a hash of a kernel's code and of all that it reads: global values, also ``module.NAME``, and its closure.

    Numbers, texts, tuples and arrays count by their values, functions by their code and what that reads, types by name.
    """
    return hashlib.sha256(repr((_code(function.__code__), _read_by(function))).encode()).hexdigest()


def _read_by(function: Callable[..., Any]) -> list[tuple[str, str]]:
    """Return the names that a function reads with what they stand for."""
    code: CodeType = function.__code__
    scope, names = function.__globals__, sorted(set(_names(code)))
    modules = [(name, scope[name]) for name in names if isinstance(scope.get(name), ModuleType)]
    values = {name: _content(scope[name], function) for name in names if name in scope}
    for name, module in modules:
        values |= {f"{name}.{key}": _content(getattr(module, key), function) for key in names if hasattr(module, key)}
    cells = zip(code.co_freevars, function.__closure__ or (), strict=True)
    values |= {f"closure {name}": _content(cell.cell_contents, function) for name, cell in cells}
    return sorted(values.items())


def _names(code: CodeType) -> Iterator[str]:
    """Give the global names and attributes that a function and the functions inside it read."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _content(value: Any, reader: Callable[..., Any]) -> str:
    """Return a text that differs where constants differ; an array's shows all of its bytes, a function's its code."""
    if isinstance(value, tuple):
        return f"({', '.join(_content(part, reader) for part in value)})"
    if isinstance(value, FunctionType) and value is not reader and _is_part(value):
        return f"{value.__qualname__} {_code(value.__code__)} {_read_by(value)}"
    if isinstance(value, ModuleType) or callable(value):
        return str(getattr(value, "__qualname__", type(value).__qualname__))
    if hasattr(value, "tobytes"):
        return f"{value.dtype}{value.shape}{hashlib.sha256(value.tobytes()).hexdigest()}"
    return repr(value)


def _code(code: CodeType) -> str:
    """Return a text that differs where functions do."""
    constants = [_code(value) if isinstance(value, CodeType) else repr(value) for value in code.co_consts]
    return f"{code.co_code.hex()} {constants} {code.co_names} {code.co_varnames}"


def _is_part(value: Any) -> bool:
    """Whether a function is one that kernels are made of, in plain Python; what numpy brings is none."""
    return isinstance(value, FunctionType) and not value.__module__.startswith("numpy")


OPTIONS = {"nogil": True, "error_model": "numpy"}


def _machine_code(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function compiled, and those that it calls with it."""
    import numba

    made: Callable[..., Any] = numba.njit(**OPTIONS)(_with_compiled_parts(function, numba.njit(**OPTIONS)))
    with contextlib.suppress(RuntimeError):  # where neither the package nor the user's cache can be written
        made._cache = _kept(function)  # type: ignore[attr-defined]  # noqa: SLF001  # njit(cache=True) with a longer key
    return made


def _with_compiled_parts(function: Any, compile_part: Callable[..., Any]) -> Any:
    """Return a function whose globals hold the functions that it calls in machine code."""
    scope = function.__globals__
    parts = {name for name in _names(function.__code__) if _is_part(scope.get(name)) and scope[name] is not function}
    if not parts:
        return function
    compiled_parts = {name: compile_part(_with_compiled_parts(scope[name], compile_part)) for name in parts}
    again = FunctionType(
        function.__code__, scope | compiled_parts, function.__name__, function.__defaults__, function.__closure__
    )
    again.__qualname__, again.__module__ = function.__qualname__, function.__module__
    return again


def _kept(function: Callable[..., Any]) -> Any:
    """Return where machine code of a kernel is kept: files of numba's cache whose keys hold the constants too.

    That is beside the module, or in the user's cache where nothing can be written there; what was kept beside the
    module when the package was installed is then read all the same.
    """
    from numba.core import caching

    in_tree: Any = getattr(caching, "InTreeCacheLocator", None) or caching._InTreeCacheLocator  # noqa: SLF001 - its name before 0.62
    constants = constants_key(function)

    class Beside(in_tree):  # type: ignore[misc]
        """The folder beside a module, which is read and never made."""

        def ensure_cache_path(self) -> None:
            """Raise `FileNotFoundError` where nothing was kept beside the module."""
            if not Path(self.get_cache_path()).is_dir():
                raise FileNotFoundError

    class BesideModule(caching.CompileResultCacheImpl):  # type: ignore[misc]
        """How machine code beside a module is found."""

        _locator_classes = (Beside,)

    class Kept(caching.FunctionCache):  # type: ignore[misc]
        """Machine code under keys that hold the constants that a kernel reads."""

        def _index_key(self, *signature: Any) -> tuple[Any, ...]:
            return (*super()._index_key(*signature), constants)

        def is_any_kept(self) -> bool:
            """Whether anything was kept for these constants, whatever the types."""
            if any(key[-1] == constants for key in self._cache_file._load_index()):  # noqa: SLF001 - as below
                return True
            with contextlib.suppress(RuntimeError):
                return type(self) is Kept and Installed(function).is_any_kept()
            return False

        def load_overload(self, *asked: Any) -> Any:
            """Return what was kept for these types, here or beside the module; None if nothing was."""
            overload = super().load_overload(*asked)
            if overload is None and type(self) is Kept:
                with contextlib.suppress(RuntimeError):
                    overload = Installed(function).load_overload(*asked)
            return overload

    class Installed(Kept):
        """What was kept beside the module when the package was installed."""

        _impl_class = BesideModule

    return Kept(function)
