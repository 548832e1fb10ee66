"""`Streams`: everything that is watched about one run, and what it has seen so far.

    contexts      each feature, among the reference rows of the run                   exact, whatever the distribution
    decisions     actions, among those of D* on untouched rows                        exact
    handling      what is unusual or left to a person, among untouched rows           exact
    calibration   errors of f, against their mean on untouched rows with its limits   exact, if errors have one mean
    rewards       realised minus promised, likewise; also by group                    exact, if errors have one mean

Each of the five gets a fifth of α, divided evenly. Of what is compared with limits, half is spent on these
(`accordant.statistics.betting_limits`) and half on the evidence: a mean of few rows is known no better than that.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self, get_args

import numpy as np

from accordant import randomness
from accordant.arrays import AnyArray, Codes, Values
from accordant.errors import InputError
from accordant.evaluation.promise_errors import Kind
from accordant.monitoring.bets import LevelBets, MeanBets, ShapeBets
from accordant.monitoring.result import Family, RewardPoint
from accordant.monitoring.values import DecisionValues, Layout, OutcomeValues, time_texts
from accordant.monitoring.watch import GROWTH, LevelOrder, Watch
from accordant.runs.folder import Run
from accordant.runs.record import ErrorPart, PromisePart
from accordant.statistics import ReferenceRanks, RunningMean

SHARE = 1 / 5  # of α, of each family: fixed, so that what is not seen yet costs nothing later
OTHERS = "others"  # what reference rows lack
WATCHED = ("contexts", "decisions", "errors", "rewards")  # fields of `Streams` with independent streams

Key = tuple[Kind, str, str, str, str]  # of an error: kind, name, part, attribute, group
Whose = tuple[str, str, str]  # stakeholder, attribute, group
Handled = Literal["actions", "unusual", "referred"]


@dataclass(eq=False)
class RewardStream:
    """Realised and promised rewards of one stakeholder, of everybody or of a group."""

    level: float
    tolerated: tuple[float, float] | None
    mean: RunningMean = field(default_factory=RunningMean)
    promised: float = 0.0
    realised: float = 0.0
    path: list[RewardPoint] = field(default_factory=list)

    def add(self, promised: Values, realised: Values) -> None:
        """Take in rewards of outcomes in their order; NaN where none is known."""
        known = ~np.isnan(realised)
        promised, realised = promised[known], realised[known]
        while len(realised):
            due = math.ceil(self.path[-1].n * GROWTH) if self.path else 1
            step = min(len(realised), due - self.mean.n)
            self.mean.add(realised[:step], promised[:step])
            self.promised += float(promised[:step].sum())
            self.realised += float(realised[:step].sum())
            promised, realised = promised[step:], realised[step:]
            if self.mean.n == due:
                self.path.append(self.point())

    def point(self) -> RewardPoint:
        """Return realised minus promised so far, with its limits."""
        difference, low, high = (round(figure, 6) for figure in self.mean.interval(self.level))
        return RewardPoint(n=self.mean.n, difference=difference, low=low, high=high)


@dataclass(eq=False)
class Streams:
    """Everything that is watched.

    Attributes
    ----------
    alpha
        Probability with which there is ever a false alarm, at most.
    layout
        What the rows of values are about.
    actions
        Names of the actions.
    contexts
        Feature to its stream.
    decisions
        Streams of actions, of what is unusual, and of what is left to a person; those are missing for which the run
        does not tell what to compare with.
    errors, rewards
        What is looked at once outcomes are there.
    taken
        Action to how often it was taken.
    counts
        Decisions, those that are unusual, and those that are left to a person.
    """

    alpha: float
    layout: Layout
    actions: tuple[str, ...]
    contexts: dict[str, Watch]
    decisions: dict[Handled, Watch]
    errors: dict[Key, Watch]
    rewards: dict[Whose, RewardStream]
    taken: Counter[str] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, run: Run, alpha: float) -> Streams:
        """Return the streams of a run before their first record.

        Raises
        ------
        InputError
            If α is not above 0 and below 1.
        """
        if not 0 < alpha < 1:
            raise InputError(f"alpha is {alpha}; allowed: above 0 and below 1")
        promise = run.record.promise
        return cls(
            alpha,
            Layout.of(run),
            run.policy.problem.actions,
            dict(_contexts(run)),
            dict(_decisions(run)),
            dict(_errors(promise, alpha)),
            dict(_rewards(promise, run.policy.problem.stakeholder_names, alpha)),
        )

    @property
    def watches(self) -> tuple[Watch, ...]:
        """Everything that gathers evidence, family by family."""
        return (*self.contexts.values(), *self.decisions.values(), *self.errors.values())

    def shares(self, n: int) -> list[Self]:
        """Return streams that watch a part of this each, evenly; see `joined`."""
        turns, shares = itertools.cycle(range(n)), [dict[str, Any]({name: {} for name in WATCHED}) for _ in range(n)]
        for name in WATCHED:
            for key, stream in getattr(self, name).items():
                shares[next(turns)][name][key] = stream
        return [replace(self, taken=Counter(self.taken), counts=Counter(self.counts), **share) for share in shares]

    def joined(self, shares: Sequence[Self]) -> Self:
        """Return these streams after what their `shares` took in, each of them the same."""
        streams = dict[str, Any]()
        for name in WATCHED:
            parts = {key: stream for share in shares for key, stream in getattr(share, name).items()}
            streams[name] = {key: parts[key] for key in getattr(self, name)}
        return replace(shares[0], **streams)

    def decide(self, values: DecisionValues) -> None:
        """Take in decisions."""
        times = time_texts(values.times)
        for name, watch in self.contexts.items():
            watch.add(values.features[self.layout.features.index(name)], times, self.alpha)
        by_rule = np.flatnonzero(~values.referred)
        actions = values.actions[by_rule]
        handled: dict[Handled, tuple[AnyArray, Sequence[str]]] = {
            "actions": (actions, [times[k] for k in by_rule]),
            "unusual": (values.unusual, times),
            "referred": (values.referred, times),
        }
        for kind, watch in self.decisions.items():
            rows, when = handled[kind]
            watch.add(rows.astype(np.float64), when, self.alpha)
        self.taken.update(self.actions[code] for code in actions.tolist())
        self.counts.update(decisions=len(times), unusual=int(values.unusual.sum()), referred=int(values.referred.sum()))

    def follow(self, values: OutcomeValues) -> None:
        """Take in outcomes."""
        times = time_texts(values.times)
        for (kind, name, part, attribute, group), watch in self.errors.items():
            errors = values.errors[self.layout.errors.index((kind, name, part))]
            watch.add(self._of_group(errors, values, attribute, group), times, self.alpha)
        for (name, attribute, group), stream in self.rewards.items():
            place = self.layout.stakeholders.index(name)
            stream.add(values.promised[place], self._of_group(values.realised[place], values, attribute, group))
        self.counts.update(outcomes=len(times), other_promises=int(values.differs.sum()))

    def _of_group(self, numbers: Values, values: OutcomeValues, attribute: str, group: str) -> Values:
        """Return what was found of one group, NaN for all others; that of everybody if none is named."""
        if not attribute:
            return numbers
        return np.where(values.members[self.layout.groups.index((attribute, group))], numbers, np.nan)


def _contexts(run: Run) -> Iterator[tuple[str, Watch]]:
    """Yield features with their streams."""
    profile = run.policy.profile_
    share = SHARE / len(run.policy.features_)
    for name in run.policy.features_:
        reference = np.asarray(profile.reference[name])
        if name in profile.encoder.categories:
            levels = profile.encoder.categories[name]
            counts = np.bincount(reference, minlength=len(levels))
            yield name, level_watch("contexts", name, share, levels, counts, _generator(run, name))
        else:
            yield name, number_watch(name, share, reference, _generator(run, name))


def _decisions(run: Run) -> Iterator[tuple[Handled, Watch]]:
    """Yield what is decided, and for whom, with its streams."""
    promise, part = run.record.promise, run.record.unusual
    if promise is not None and any(promise.actions.values()):
        names = run.policy.problem.actions
        sizes = np.array([promise.actions.get(name, 0) for name in names])
        yield "actions", level_watch("decisions", "actions", SHARE, names, sizes, _generator(run, "decisions"))
    if part is not None:
        yield "unusual", _of_two(run, ("usual contexts", "unusual contexts"), part.rows, part.unusual)
        apart = "decisions by the rule", "decisions left to a person"
        yield "referred", _of_two(run, apart, part.rows, part.referred)


def _of_two(run: Run, names: tuple[str, str], rows: int, others: int) -> Watch:
    return share_watch(names, SHARE / 2, rows, others, _generator(run, names[1]))


def number_watch(name: str, share: float, reference: Values, generator: np.random.Generator) -> Watch:
    """Return the stream of a number, with that of reference rows."""
    return Watch("contexts", name, share, ShapeBets(), len(reference), ReferenceRanks(reference, generator))


def level_watch(
    family: Family, name: str, share: float, levels: Sequence[str], counts: Codes, generator: np.random.Generator
) -> Watch:
    """Return the stream of a category, with the number of reference rows of each level."""
    order = LevelOrder.of(counts)
    sizes = counts[order.levels]
    named = {levels[level] or "no value": int(n) for level, n in zip(order.levels, sizes, strict=True)}
    ranks = ReferenceRanks(np.repeat(np.arange(len(sizes), dtype=np.float64), sizes), generator)
    return Watch(family, name, share, LevelBets.of(named, OTHERS), int(sizes.sum()), ranks, order=order)


def share_watch(
    names: tuple[str, str], share: float, rows: int, others: int, generator: np.random.Generator
) -> Watch:  # fmt: skip
    """Return the stream of two kinds, with the number of reference rows and of those that are of the second kind."""
    reference = (np.arange(rows) >= rows - others).astype(np.float64)
    bets = LevelBets.of_two(*names, others / rows)
    return Watch("handling", names[1], share, bets, rows, ReferenceRanks(reference, generator))


def error_watch(part: ErrorPart, alphas: Sequence[float], share: float, alpha: float) -> Watch:
    """Return the stream of an error; half of its share of α is spent on the limits of its mean."""
    low, high = mean_limits(part, alphas, alpha * share / 2)
    family: Family = "rewards" if part.kind == "reward" else "calibration"
    bets = MeanBets(low, high, part.least, part.most, *_error_words(part))
    return Watch(
        family, part.name, share / 2, bets, part.n, part=part.part, attribute=part.attribute, group=part.group
    )  # fmt: skip


def _error_words(part: ErrorPart) -> tuple[str, str]:
    """Return what an error above, and one below, what untouched rows showed means."""
    if part.kind == "reward":
        return "more than promised", "less than promised"
    if part.part.endswith("%"):
        return "more often than f says", "less often than f says"
    return f"a higher {part.part} than f says", f"a lower {part.part} than f says"


def _errors(promise: PromisePart | None, alpha: float) -> Iterator[tuple[Key, Watch]]:
    """Yield errors with the streams that compare them with the limits of their means."""
    if promise is None:
        return
    for kind in get_args(Kind):
        parts = [part for part in promise.errors if part.kind == kind]
        for part in parts:
            key = (kind, part.name, part.part, part.attribute, part.group)
            yield key, error_watch(part, promise.alphas, SHARE / len(parts), alpha)


def _rewards(
    promise: PromisePart | None, stakeholders: Sequence[str], alpha: float
) -> Iterator[tuple[Whose, RewardStream]]:
    """Yield stakeholders, and their groups, with what they got and were promised."""
    alphas, errors = ((), ()) if promise is None else (promise.alphas, promise.errors)
    parts = {(part.name, part.attribute, part.group): part for part in errors if part.kind == "reward"}
    whose = dict.fromkeys([*((name, "", "") for name in stakeholders), *parts])
    for who in whose:
        tolerated = mean_limits(parts[who], alphas, alpha * SHARE / len(parts) / 2) if who in parts else None
        yield who, RewardStream(1.0 - alpha / len(whose), tolerated)


def mean_limits(part: ErrorPart, alphas: Sequence[float], alpha: float) -> tuple[float, float]:
    """Return limits that leave the mean error out with at most some probability: the whole range if there are none."""
    known = [place for place, probability in enumerate(alphas) if probability <= alpha]
    return part.limits[known[0]] if known else (part.least, part.most)


def _generator(run: Run, name: str) -> np.random.Generator:
    """Return what breaks ties in one stream."""
    return np.random.default_rng(randomness.keyed_seed(run.record.seed, f"monitor {name}"))
