"""What a person could change so that another action is decided: the nearest changes that are allowed and plausible.

Actionable recourse (Ustun, Spangher and Liu 2019) in the space of observed values: only features that are declared
changeable move, only in the declared direction and within declared limits, only to values that training rows have.
Tried are changes of one, two and three features, and what every training row has in all changeable features at once.
Every change that is reported was decided again by the same policy, by itself, and is no more unlike the training rows
than the person is (`accordant.learning.novelty`): no value unseen or out of range, not far from all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from accordant.arrays import Codes, Mask, Values
from accordant.contexts import Contexts
from accordant.declaration import Declared
from accordant.errors import InputError, UnknownNameError
from accordant.explanation.contexts import Decide, Difference, Distances, Value, decided_codes, plain

Direction = Literal["up", "down", "either"]
MOST_CHANGED = 3  # features that are changed together, beside what whole training rows have
MOST_TRIED = 12_000  # changes that are decided on for one person
SHARE = MOST_TRIED // 4  # of each kind: changes of one, two and three features, and those of whole rows
FIRST_BLOCK = 64  # nearest changes that are decided on first; most answers are among them
UNDECLARED = (
    'no feature is declared changeable; a case file says under "changeable:" what a person could change, such as '
    '"Savings: up"'
)
FAR_FROM_ALL = "the person is far from all training rows, so no change can be called plausible"


class Changeable(Declared):
    """How one feature may change.

    Attributes
    ----------
    direction
        Of a number: ``up``, ``down`` or ``either``.
    low, high
        Of a number: the new value is not below, not above these.
    most
        Of a number: the largest change.
    values
        Of a text: what it may become; empty for any value of the training rows.
    """

    direction: Direction = "either"
    low: float | None = Field(default=None, allow_inf_nan=False)
    high: float | None = Field(default=None, allow_inf_nan=False)
    most: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    values: tuple[str, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _read_direction(cls, given: Any) -> Any:
        """Let a direction alone stand for the declaration."""
        return {"direction": given} if isinstance(given, str) else given

    @model_validator(mode="after")
    def _check(self) -> Self:
        numeric = self.direction != "either" or any(limit is not None for limit in (self.low, self.high, self.most))
        if self.values and numeric:
            raise InputError("values is for texts; direction, low, high and most are for numbers: declare one kind")
        if self.low is not None and self.high is not None and self.low > self.high:
            raise InputError(f"low {self.low:g} is above high {self.high:g}")
        return self

    @classmethod
    def read(cls, given: Any) -> Changeable:
        """Return a declaration, also from its direction alone or a mapping of its keys."""
        if isinstance(given, Changeable):
            return given
        if isinstance(given, str):
            return cls(direction=given)
        if isinstance(given, Mapping):
            return cls(**given)
        raise InputError(
            f"changeable: {given!r:.60} is no declaration; allowed: up, down, either, or a mapping of keys"
        )

    def allowed(self, name: str, here: Value, observed: NDArray[Any]) -> NDArray[Any]:
        """Return the observed values that a person with the value `here` may change to, shape (value,).

        Raises
        ------
        InputError
            If a text has a direction, or a number has values.
        """
        if observed.dtype != np.float64:
            if self.direction != "either" or any(limit is not None for limit in (self.low, self.high, self.most)):
                raise InputError(f"changeable: {name!r} holds texts; allowed: either, or values: [TEXT, …]")
            kept = observed[(observed != "") & (observed != here)]
            return np.unique(kept[np.isin(kept, self.values)] if self.values else kept)
        if self.values:
            raise InputError(f"changeable: {name!r} holds numbers; allowed: direction, low, high, most")
        own = float(here)
        values: NDArray[Any] = np.unique(observed[np.isfinite(observed)])
        # a missing number has neither a direction nor a size of a change: every comparison with it is false
        good = {"up": values > own, "down": values < own, "either": (values < own) | (values > own)}[self.direction]
        low, high = (-np.inf if self.low is None else self.low), (np.inf if self.high is None else self.high)
        good &= (values >= low) & (values <= high)
        if self.most is not None:
            good &= abs(values - own) <= self.most
        return values[good]


@dataclass(frozen=True)
class Change:
    """One change that leads to another action.

    Attributes
    ----------
    action
        What is decided then.
    distance
        Sum over the changed features: numbers in interquartile ranges of the training rows, a changed text counts 1.
    differences
        The changed features, the most distant first.
    """

    action: str
    distance: float
    differences: tuple[Difference, ...]


@dataclass(frozen=True)
class Recourse:
    """What a person could change.

    Attributes
    ----------
    changeable
        Features that may change.
    changes
        For every other action the nearest change that leads to it, the nearest first.
    tried
        How many changes were decided on.
    rows
        Training rows whose values were tried.
    everything
        Whether all observed values of the changeable features were tried, alone and together; otherwise evenly spaced
        ones, or at most three at a time.
    reason
        Why nothing was looked for; empty otherwise.
    """

    changeable: tuple[str, ...]
    changes: tuple[Change, ...]
    tried: int
    rows: int
    everything: bool = False
    reason: str = ""


@dataclass(frozen=True, eq=False)
class Candidates:
    """Changes to try, the nearest first.

    Attributes
    ----------
    values
        Feature to its values, the person's own first.
    apart
        Feature to their distances from the person's own.
    choices
        Positions among these values, shape (change, feature).
    distances
        Shape (change,).
    everything
        See `Recourse`.
    """

    values: Mapping[str, NDArray[Any]]
    apart: Mapping[str, Values]
    choices: Codes
    distances: Values
    everything: bool

    def contexts(self, person: Contexts, rows: slice) -> Contexts:
        """Return the changed contexts of some changes."""
        n = len(self.choices[rows])
        columns = {name: np.repeat(column, n) for name, column in person.items()}
        for f, (name, values) in enumerate(self.values.items()):
            columns[name] = values[self.choices[rows, f]]
        return Contexts(columns)

    def change(self, k: int, action: str) -> Change:
        """Return one of the changes."""
        pairs = [
            (float(self.apart[name][c]), Difference(name, plain(values[0]), plain(values[c])))
            for (name, values), c in zip(self.values.items(), self.choices[k], strict=True)
            if c
        ]
        pairs.sort(key=lambda pair: -pair[0])
        return Change(action, float(self.distances[k]), tuple(difference for _, difference in pairs))


def candidates(person: Contexts, observed: Contexts, changeable: Mapping[str, Changeable]) -> Candidates:
    """Return the changes of one person that are tried.

    Parameters
    ----------
    person
        One context.
    observed
        Training rows.
    changeable
        Feature to how it may change.
    """
    distances = Distances.of(observed, tuple(changeable))
    full = {name: changes.allowed(name, person[name][0], observed[name]) for name, changes in changeable.items()}
    full = {name: values for name, values in full.items() if len(values)}
    thin = {name: _thinned(values, SHARE // len(full)) for name, values in full.items()}
    sizes = [len(values) for values in thin.values()]
    whole = float(np.prod([size + 1.0 for size in sizes])) <= MOST_TRIED
    most = len(thin) if whole else min(MOST_CHANGED, len(thin))
    tried = [_together(sizes, members) for n in range(1, most + 1) for members in _members(sizes, n)]
    observed_together = _thinned(_of_rows(observed, thin), SHARE) if thin else np.zeros((0, 0), dtype=np.intp)
    choices = np.unique(np.concatenate([*tried, observed_together]), axis=0) if thin else observed_together
    choices = choices[(choices > 0).any(axis=1)]
    values = {name: np.concatenate([person[name][:1], allowed]) for name, allowed in thin.items()}
    apart = {name: distances.apart(name, person[name][0], column) for name, column in values.items()}
    total = np.zeros(len(choices))
    for f, gaps in enumerate(apart.values()):
        total += gaps[choices[:, f]] if len(choices) else 0.0
    order = np.lexsort(((choices > 0).sum(axis=1), total))
    everything = whole and sizes == [len(allowed) for allowed in full.values()]
    return Candidates(values, apart, choices[order], total[order], everything)


def _thinned(values: NDArray[Any], most: int) -> NDArray[Any]:
    """Return at most so many of sorted values, evenly spaced by rank, with both ends."""
    if len(values) <= most:
        return values
    return values[np.linspace(0, len(values) - 1, most).round().astype(np.intp)]


def _members(sizes: Sequence[int], n: int) -> list[tuple[int, ...]]:
    return list(combinations(range(len(sizes)), n))


def _together(sizes: Sequence[int], members: tuple[int, ...]) -> Codes:
    """Return every combination of changes of some features; on a grid if all sets of so many are more than `SHARE`."""
    combinations_of_all = float(np.prod([size + 1.0 for size in sizes]))
    points = max(2, int((SHARE / len(_members(sizes, len(members)))) ** (1 / len(members))))
    whole = combinations_of_all <= MOST_TRIED or len(members) == 1
    grids = [_thinned(np.arange(1, sizes[f] + 1), sizes[f] if whole else points) for f in members]
    choices = np.zeros((int(np.prod([len(grid) for grid in grids])), len(sizes)), dtype=np.intp)
    for f, column in zip(members, np.meshgrid(*grids, indexing="ij"), strict=True):
        choices[:, f] = column.ravel()
    return choices


def _of_rows(observed: Contexts, values: Mapping[str, NDArray[Any]]) -> Codes:
    """Return what every training row has in the changeable features, as far as a person may change to it."""
    choices = np.zeros((observed.n_contexts, len(values)), dtype=np.intp)
    for f, (name, allowed) in enumerate(values.items()):
        place = np.clip(np.searchsorted(allowed, observed[name]), 0, len(allowed) - 1)
        choices[:, f] = np.where(allowed[place] == observed[name], place + 1, 0)
    return np.unique(choices, axis=0)


def recourse(
    person: Contexts, decided: int, *, actions: Sequence[str], decide: Decide, plausible: Callable[[Contexts], Mask],
    observed: Contexts, changeable: Mapping[str, Any],
) -> Recourse:  # fmt: skip
    """Return the nearest change to every other action.

    Parameters
    ----------
    person
        One context.
    decided
        Code of the action that is decided there.
    actions
        Names of the actions.
    decide
        From contexts to decisions, as codes or names.
    plausible
        Whether each of some contexts is like the training rows, shape (context,).
    observed
        Training rows with at least the changeable features.
    changeable
        Feature to how it may change: a `Changeable`, its direction, or a mapping of its keys.

    Raises
    ------
    InputError
        If a feature is unknown or its declaration does not fit its kind.
    """
    read = {name: Changeable.read(given) for name, given in changeable.items()}
    for name in read:
        if name not in observed:
            raise UnknownNameError("feature in changeable:", name, tuple(observed))
    if not read:
        return Recourse((), (), 0, observed.n_contexts, reason=UNDECLARED)
    tried = candidates(person, observed, read)
    nearest: dict[int, Change] = {}
    start, size, names = 0, FIRST_BLOCK, tuple(actions)
    while start < len(tried.choices) and len(nearest) < len(names) - 1:
        block = slice(start, start + size)
        contexts = tried.contexts(person, block)
        codes = decided_codes(decide, contexts, names)
        new = np.flatnonzero(~np.isin(codes, [decided, *nearest]))
        good = np.zeros(len(codes), dtype=bool)
        if len(new):
            good[new] = plausible(contexts.take(new))
        for k in np.flatnonzero(good).tolist():
            code = int(codes[k])
            alone = contexts.take(slice(k, k + 1))
            if code not in nearest and int(decided_codes(decide, alone, names)[0]) == code:
                nearest[code] = tried.change(start + k, names[code])
        start, size = start + len(codes), 4 * size
    changes = tuple(sorted(nearest.values(), key=lambda change: change.distance))
    return Recourse(tuple(read), changes, min(start, len(tried.choices)), observed.n_contexts, tried.everything)


def no_recourse(changeable: Mapping[str, Any], rows: int, reason: str) -> Recourse:
    """Return that nothing was looked for, and why."""
    return Recourse(tuple(changeable), (), 0, rows, reason=reason if changeable else UNDECLARED)
