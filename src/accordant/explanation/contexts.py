"""The smallest change of a context, within what was observed, that goes with another decision.

Only observed contexts, and observed values of single features, are tried: nothing is said about people who are unlike
anybody seen. What is found are associations of the models that made E, not causes: it does not say that a person who
changed a feature would be treated so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Codes, Values
from accordant.contexts import Contexts
from accordant.errors import InputError, UnknownNameError

Value = float | str


@dataclass(frozen=True)
class Difference:
    """One feature of a context and what it is elsewhere; a missing number is None."""

    feature: str
    here: Value | None
    there: Value | None


@dataclass(frozen=True)
class Neighbour:
    """A context that is decided differently.

    Attributes
    ----------
    action
        What is decided there.
    distance
        Mean over features of their distances, see `Distances`.
    differences
        Features in which it differs, the most distant first.
    row
        Position among the observed contexts; None if no such context was observed as a whole.
    """

    action: str
    distance: float
    differences: tuple[Difference, ...]
    row: int | None = None


@dataclass(frozen=True)
class ContextChanges:
    """What other contexts would have led to another decision.

    Attributes
    ----------
    observed
        How many contexts were looked through.
    differently
        How many of them are decided differently.
    nearest
        The nearest of these; None if there is none.
    single
        The nearest observed value of each single feature with which this context would be decided differently, nearest
        first; features with none are missing.
    features
        Features that were changed.
    thinned
        Features with more than 200 observed values, of which evenly spaced ones were tried.
    reason
        Why nothing was looked for; empty otherwise.
    """

    observed: int
    differently: int
    nearest: Neighbour | None
    single: tuple[Neighbour, ...]
    features: tuple[str, ...]
    thinned: tuple[str, ...] = ()
    reason: str = ""


def plain(value: Any) -> Value | None:
    """Return a value of a feature for JSON: a missing number is None."""
    if isinstance(value, str):
        return str(value)
    return None if np.isnan(value) else float(value)


@dataclass(frozen=True, eq=False)
class Distances:
    """Distances between contexts feature by feature (Gower 1971), with numbers in units of their interquartile range.

    Numbers: |x − y| / IQR; if that is 0 the standard deviation takes its place, and if that is 0 too, any difference
    counts 1. Texts: 1 if they differ. A missing value differs from any other by 1. (Gower divides by the range, which
    one outlier may stretch; the interquartile range is this package's choice.)

    Attributes
    ----------
    scales
        Feature to unit of its numbers; None for texts.
    """

    scales: dict[str, float | None]

    @classmethod
    def of(cls, observed: Contexts, features: Sequence[str]) -> Distances:
        """Take units from observed contexts."""
        return cls({name: _scale(observed[name]) for name in features})

    def apart(self, name: str, here: Value, there: NDArray[Any]) -> Values:
        """Return how far some values of one feature are from a value, shape (value,)."""
        scale = self.scales[name]
        if scale is None:
            return np.asarray(there != here, dtype=np.float64)
        gap = np.abs(there - here) / scale if scale > 0 else np.asarray(there != here, dtype=np.float64)
        missing = np.isnan(there)
        return np.asarray(np.where(missing | np.isnan(here), missing != np.isnan(here), gap), dtype=np.float64)


def _scale(values: NDArray[Any]) -> float | None:
    if values.dtype != np.float64:
        return None
    known = values[np.isfinite(values)]
    if not len(known):
        return 0.0
    lower, upper = np.quantile(known, (0.25, 0.75))
    return float(upper - lower) or float(known.std())


Decide = Callable[[Contexts], Any]

MOST_VALUES = 200  # observed values of one feature that are tried; more are thinned to evenly spaced ranks


@dataclass(frozen=True, eq=False)
class Support:
    """Observed contexts with how they are decided.

    Attributes
    ----------
    observed
        Contexts.
    decide
        From contexts to decisions, as codes of `actions` or as their names.
    features
        Columns that may be changed.
    actions
        Names of the actions.
    codes
        Decisions in the observed contexts, shape (context,).
    distances
        How far contexts are apart.
    """

    observed: Contexts
    decide: Decide
    features: tuple[str, ...]
    actions: tuple[str, ...]
    codes: Codes
    distances: Distances

    @classmethod
    def of(
        cls, observed: Any, decide: Decide, actions: Sequence[str], features: Sequence[str] | None = None
    ) -> Support:
        """Decide in the observed contexts.

        Raises
        ------
        InputError
            If there are none, a feature is not among their columns, or decisions are no actions.
        """
        contexts = Contexts.of(observed)
        names = tuple(contexts) if features is None else tuple(features)
        distances = Distances.of(contexts, names)
        if not contexts.n_contexts:
            raise InputError("observed contexts are empty; the nearest one with another decision needs at least one")
        codes = decided_codes(decide, contexts, tuple(actions))
        return cls(contexts, decide, names, tuple(actions), codes, distances)

    def changes(self, context: Contexts, decided: int) -> ContextChanges:
        """Return what other contexts are decided differently from one context.

        Parameters
        ----------
        context
            One context.
        decided
            Code of the action that is decided there.

        Raises
        ------
        InputError
            If `decide` decides otherwise there: then it is not what the explanation is about.
        """
        again = int(decided_codes(self.decide, context, self.actions)[0])
        if again != decided:
            raise InputError(
                f"decide chooses {self.actions[again]!r} where {self.actions[decided]!r} is to be explained; "
                "give the function that led to this decision"
            )
        single, thinned = self._single(context, decided)
        different = np.flatnonzero(self.codes != decided)
        return ContextChanges(
            self.observed.n_contexts, len(different), self._nearest(context, different), single, self.features, thinned
        )

    def _nearest(self, context: Contexts, rows: Codes) -> Neighbour | None:
        if not len(rows):
            return None
        apart = np.array(
            [self.distances.apart(name, context[name][0], self.observed[name][rows]) for name in self.features]
        )
        distance = apart.mean(axis=0)
        best = int(distance.argmin())
        order = [int(f) for f in np.argsort(-apart[:, best], kind="stable") if apart[f, best] > 0]
        row = int(rows[best])
        names = [self.features[f] for f in order]
        differences = tuple(
            Difference(name, plain(context[name][0]), plain(self.observed[name][row])) for name in names
        )
        return Neighbour(self.actions[self.codes[row]], float(distance[best]), differences, row)

    def _single(self, context: Contexts, decided: int) -> tuple[tuple[Neighbour, ...], tuple[str, ...]]:
        """Change one feature at a time to observed values, all in one call of `decide`."""
        tried, thinned = [], []
        for name in self.features:
            values = np.unique(self.observed[name])
            if len(values) > MOST_VALUES:
                values = values[np.linspace(0, len(values) - 1, MOST_VALUES).round().astype(np.intp)]
                thinned.append(name)
            apart = self.distances.apart(name, context[name][0], values)
            order = np.argsort(apart, kind="stable")
            tried.append((name, values[order[apart[order] > 0]], apart[order[apart[order] > 0]]))
        sizes = [len(values) for _, values, _ in tried]
        if not sum(sizes):
            return (), tuple(thinned)
        columns = {name: np.repeat(column, sum(sizes)) for name, column in context.items()}
        ends = np.cumsum(sizes)
        for (name, values, _), end in zip(tried, ends, strict=True):
            column = columns[name] if values.dtype == np.float64 else columns[name].astype(object)
            column[end - len(values) : end] = values
            columns[name] = column
        codes = decided_codes(self.decide, Contexts(columns), self.actions)
        neighbours = []
        for (name, values, apart), end in zip(tried, ends, strict=True):
            flips = np.flatnonzero(codes[end - len(values) : end] != decided)
            if len(flips):
                k = int(flips[0])
                action = self.actions[codes[end - len(values) + k]]
                change = Difference(name, plain(context[name][0]), plain(values[k]))
                neighbours.append(Neighbour(action, float(apart[k]) / len(self.features), (change,)))
        return tuple(sorted(neighbours, key=lambda neighbour: neighbour.distance)), tuple(thinned)


def decided_codes(decide: Decide, contexts: Contexts, actions: tuple[str, ...]) -> Codes:
    """Return decisions as codes, shape (context,); they may come as codes or as names of actions.

    Raises
    ------
    InputError
        If there is not one per context, or one is no action.
    """
    decisions = np.asarray(decide(contexts))
    if decisions.shape != (contexts.n_contexts,):
        raise InputError(
            f"decide gave shape {decisions.shape}; allowed: one action per context, {(contexts.n_contexts,)}"
        )
    if decisions.dtype.kind in "iu":
        if len(decisions) and not (decisions.min() >= 0 and decisions.max() < len(actions)):
            raise InputError(f"decide gave a code outside 0 to {len(actions) - 1}")
        return decisions.astype(np.intp)
    position = {name: code for code, name in enumerate(actions)}
    unknown = [name for name in dict.fromkeys(map(str, decisions.tolist())) if name not in position]
    if unknown:
        raise UnknownNameError("action from decide:", unknown[0], actions)
    return np.array([position[str(name)] for name in decisions.tolist()], dtype=np.intp)
