"""The errors of accordant, and how they find the nearest valid name.

    AccordantError                    anything this package raises on purpose
    ├── InputError (ValueError)       what was given is wrong; the command line exits with 2
    │   ├── UnknownNameError          a name that is not declared: says which are, and the nearest
    │   ├── DataError                 a file or table: empty, not a number
    │   │   └── MissingColumnError    a column that is not there
    │   ├── DataNotFoundError         no data where they were looked for
    │   ├── RewardError               a reward or expected reward outside [0, 1], or NaN
    │   ├── SpecError                 a case file or scope card with a wrong or misspelt key
    │   ├── RunFolderError            a run folder that is incomplete or was changed
    │   ├── InvalidMoveError          an agent gave no valid move, after all repairs
    │   ├── ConflictError             what is asked contradicts what is on record
    │   └── NotInLogError             a receipt does not show what it says
    └── NotFittedError (ValueError, AttributeError)   asked before `fit`; scikit-learn's too, where that is imported

Every message says which field, what was found, what is allowed, and the nearest valid name if there is one.
"""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterable
from typing import Any, Self

from pydantic import ValidationError


class AccordantError(Exception):
    """Base of everything this package raises on purpose."""


class InputError(AccordantError, ValueError):
    """What was given is wrong. The command line turns it into exit code 2."""


class UnknownNameError(InputError):
    """A name that is not declared.

    Parameters
    ----------
    kind
        What the name should name, for example ``"strategy"``.
    found
        The name as given.
    allowed
        The valid names; they are listed in the message in the given order.
    """

    def __init__(self, kind: str, found: object, allowed: Iterable[str]) -> None:
        self.kind, self.found, self.allowed = kind, found, tuple(allowed)
        super().__init__(f"unknown {kind} {found!r}; {allowed_names(self.allowed, found)}")

    def __reduce__(self) -> tuple[Any, ...]:
        """Rebuild from the arguments, not the message: errors travel between worker processes."""
        return type(self), (self.kind, self.found, self.allowed)


class DataError(InputError):
    """A file or table cannot be used: missing column, no rows, not a number."""


class MissingColumnError(DataError):
    """A column that somebody asked for and that a table does not have.

    Parameters
    ----------
    name
        The column.
    columns
        Those that are there.
    where
        Which table, for the message; empty if whoever catches the error says so.
    """

    def __init__(self, name: str, columns: Iterable[object], where: str = "") -> None:
        self.name, self.columns, self.where = name, tuple(map(str, columns)), where
        super().__init__(f"{where}: " * bool(where) + missing("column", name, self.columns))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.name, self.columns, self.where)


class DataNotFoundError(InputError):
    """No data where they were looked for; the message names every place and the simulator."""


class RewardError(InputError):
    """A reward or an expected reward is NaN or outside [0, 1]."""


class SpecError(InputError):
    """A declared file (case, scope card) has a wrong, missing or misspelt key.

    Parameters
    ----------
    detail
        What is wrong, starting with the path of the key.
    where
        What was being read; empty if the detail says so itself.
    path
        The keys that lead to what is wrong, outermost first; empty if nobody knows.
    """

    def __init__(self, detail: str, where: str = "", path: tuple[str, ...] = ()) -> None:
        self.detail, self.where, self.path = detail, where, path
        super().__init__(f"{where}: {detail}" if where else detail)

    def __reduce__(self) -> tuple[type[SpecError], tuple[str, str, tuple[str, ...]]]:
        return type(self), (self.detail, self.where, self.path)


class RunFolderError(InputError):
    """A run folder is incomplete, or its content does not match what was written."""


class InvalidMoveError(InputError):
    """An agent made no valid move: a language model after its repairs, or a person who gave up."""


class ConflictError(InputError):
    """What is asked contradicts what is on record, such as another question under a key that was used."""


class NotInLogError(InputError):
    """A receipt does not show that what it says is in the log of a service."""


class NotFittedError(AccordantError, ValueError, AttributeError):
    """Something was asked of an object before its ``fit``.

    Where scikit-learn is imported, every error of this class is one of `sklearn.exceptions.NotFittedError` too: whoever
    catches that class has imported it. So importing accordant need not.
    """

    def __new__(cls, *args: object) -> Self:
        """Return an error of both classes, as soon as there are both."""
        error: Self = super().__new__(_joint(cls), *args)
        return error

    def __reduce__(self) -> tuple[Any, ...]:
        """Rebuild from this class: another process may have imported scikit-learn, or not."""
        return NotFittedError, self.args


def _joint(own: type[NotFittedError]) -> Any:
    """Return a class that is `own` and scikit-learn's, or `own` where scikit-learn is not imported."""
    known = sys.modules.get("sklearn.exceptions")
    other = getattr(known, "NotFittedError", None)  # None while scikit-learn is being imported
    if own is not NotFittedError or other is None:
        return own
    if other not in _JOINT:
        _JOINT[other] = type(own.__name__, (own, other), {"__doc__": own.__doc__, "__module__": own.__module__})
    return _JOINT[other]


_JOINT: dict[type, type] = {}


def check_fitted(estimator: Any) -> None:
    """Raise `NotFittedError` if a scikit-learn estimator of ours is not fitted."""
    from sklearn.exceptions import NotFittedError as TheirError
    from sklearn.utils.validation import check_is_fitted

    try:
        check_is_fitted(estimator)
    except TheirError:
        raise NotFittedError(f"this {type(estimator).__name__} is not fitted; call fit first") from None


def nearest(found: object, allowed: Iterable[str]) -> str | None:
    """Return the valid name most like `found`, or None if nothing is alike (case is ignored)."""
    folded = {str(name).casefold(): name for name in allowed}
    close = difflib.get_close_matches(str(found).casefold(), folded, n=1, cutoff=0.6)
    return folded[close[0]] if close else None


def missing(kind: str, name: str, found: Iterable[str]) -> str:
    """Return the words for a key or column that is not there."""
    names = tuple(found)
    hint = nearest(name, names)
    return (
        f"{kind} {name!r} is missing; "
        + (f"did you mean it by {hint!r}? " if hint else "")
        + (f"found: {', '.join(map(str, names))}" if names else "found none")
    )


def allowed_names(allowed: Iterable[str], found: object) -> str:
    """Return ``"did you mean 'x'? valid: x, y, z"``, the tail of every message about a name."""
    names = tuple(map(str, allowed))
    hint = nearest(found, names)
    listed = ", ".join(names) if names else "none declared"
    return (f"did you mean {hint!r}? " if hint else "") + f"valid: {listed}"


def spec_error(error: ValidationError, where: str, fields: Iterable[str]) -> SpecError:
    """Turn pydantic's report on a declared object into one line a user can act on.

    Parameters
    ----------
    error
        What pydantic raised.
    where
        What was being read, for example ``"case file lending.yaml"``.
    fields
        Valid keys at the top level of the object; used for the nearest name of a misspelt key.
    """
    # a misspelt key usually leaves its field missing too; the misspelling is what the user must mend
    order = {"extra_forbidden": 0, "missing": 2}
    first = min(error.errors(include_url=False), key=lambda fault: order.get(fault["type"], 1))
    keys = tuple(map(str, first["loc"]))
    path = ".".join(keys)
    cause = first.get("ctx", {}).get("error")
    if first["type"] == "extra_forbidden":
        message = f"unknown key {path!r}; {allowed_names(fields, first['loc'][-1])}"
    elif first["type"] == "missing":
        message = f"key {path!r} is missing"
    elif isinstance(cause, InputError):
        inner = cause.detail if isinstance(cause, SpecError) else str(cause)
        message = f"{path}: {inner}" if path else inner
    else:
        message = f"{path}: {first['msg'].removeprefix('Value error, ')} (found {first['input']!r:.80})"
    more = error.error_count() - 1
    inside = cause.path if isinstance(cause, SpecError) else ()
    return SpecError(message + (f" (and {more} more)" if more else ""), where, keys + inside)
