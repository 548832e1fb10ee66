"""Attacks: searches for misreports that change decisions, to set beside what certificates say cannot be done.

    random_attack(rule, E, threat, tries=…, generator=…)       random corners and points of the box
    coordinate_attack(rule, E, threat, generator=…)            entry by entry towards each action, from several starts

What they find is attained; what they do not find may still be possible. They work for every strategy, also for those of
which nothing is known and for those that decide a whole batch at once, whose batch is then attacked as a whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from accordant.arrays import Codes, Integers, Mask, Values
from accordant.certificates.reports import Known, Reports, honest_block
from accordant.certificates.threat import Threat
from accordant.errors import InputError
from accordant.strategies.block import Workspace
from accordant.strategies.block_decisions import ContextRule
from accordant.strategies.strategy import Strategy
from accordant.utilities import ExpectedRewards

Try = tuple[Values, Integers]  # reports and the decisions on them

STYLES = 4  # ways to draw reports at random
RESTARTS = 3  # starts of the coordinate search: the action at its best, honest reports, a random corner
LOWEST = -1e300  # what a score of −inf counts as: leads are differences
SWEEPS = 2  # times it goes through all entries from each start


@dataclass(frozen=True, eq=False)
class Attack:
    """What a search for misreports found.

    Attributes
    ----------
    rule
        The rule.
    expected
        E, clipped into the box of the threat.
    threat
        Who misreported, by how much.
    decided
        The decisions on E, shape (context,).
    won
        Actions that some report made win, and the decision itself, shape (action, context).
    tries
        Reports that were tried in each context.
    reports
        The reports that made each action win, shape (action, stakeholder, action, context); E where none did. For rules
        that decide a whole batch at once None.
    batches
        All tries, for rules that decide a whole batch at once.
    """

    rule: Strategy
    expected: ExpectedRewards
    threat: Threat
    decided: Integers
    won: Mask
    tries: int
    reports: Values | None
    batches: tuple[Try, ...] = ()

    @property
    def changed(self) -> Mask:
        """Where the decision was changed, shape (context,)."""
        return np.asarray(self.won.sum(axis=0) > 1)

    def witness(self, codes: Integers) -> ExpectedRewards:
        """Return expected rewards within the threat on which the rule chooses the given action in every context.

        Raises
        ------
        InputError
            If no report was found that makes one of the actions win, or, for a rule that decides a whole batch at
            once, no single batch of reports that makes all of them win.
        """
        codes, columns = np.asarray(codes, dtype=np.intp), np.arange(self.expected.n_contexts)
        if self.reports is None:
            batch = next((values for values, chosen in self.batches if np.array_equal(chosen, codes)), None)
            if batch is None:
                raise InputError("no batch of reports was found on which the rule chooses these actions")
            return self._reported(batch)
        missing = np.flatnonzero(~self.won[codes, columns])
        if len(missing):
            raise InputError(f"no report was found that makes action {codes[missing[0]]} win in context {missing[0]}")
        return self._reported(np.moveaxis(self.reports[codes, :, :, columns], 0, -1))

    def metric(self, table: Values) -> AttackedMetric:
        """Return the smallest and the largest value of a metric that reports led to.

        Parameters
        ----------
        table
            What each action adds to the metric in each context, θ of shape (action, context); sums are reported.

        Raises
        ------
        InputError
            If the table has another shape.
        """
        table = np.asarray(table, dtype=np.float64)
        if table.shape != self.won.shape:
            raise InputError(f"the table has shape {table.shape}; allowed: (action, context), here {self.won.shape}")
        columns = np.arange(self.won.shape[1])
        if self.reports is None:
            chosen = [codes for _, codes in self.batches] + [self.decided]
            sums = np.array([table[codes, columns].sum() for codes in chosen])
            low, high = chosen[int(sums.argmin())], chosen[int(sums.argmax())]
        else:
            low = np.where(self.won, table, np.inf).argmin(axis=0)
            high = np.where(self.won, table, -np.inf).argmax(axis=0)
        honest, least, most = (float(table[codes, columns].sum()) for codes in (self.decided, low, high))
        return AttackedMetric(honest, least, most, np.asarray(low), np.asarray(high))

    def _reported(self, values: Values) -> ExpectedRewards:
        return ExpectedRewards(values, stakeholders=self.expected.stakeholders, actions=self.expected.actions)


@dataclass(frozen=True, eq=False)
class AttackedMetric:
    """A sum over contexts on honest reports, and what attacks made of it.

    Attributes
    ----------
    honest
        On honest reports.
    low, high
        Smallest and largest value that was found.
    low_codes, high_codes
        The decisions that gave them, shape (context,), for `Attack.witness`.
    """

    honest: float
    low: float
    high: float
    low_codes: Integers
    high_codes: Integers

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {"honest": self.honest, "low": self.low, "high": self.high}


def random_attack(
    rule: Strategy, expected: ExpectedRewards, threat: Threat, *, tries: int, generator: np.random.Generator,
    known: Known | None = None,
) -> Attack:  # fmt: skip
    """Try the report that favours each action most, then random ones.

    Random reports are, by turns, corners of the box, points in it, mixtures of corners and honest rewards, and points
    with one action at its highest.

    Parameters
    ----------
    rule
        Any strategy.
    expected
        E.
    threat
        Who may misreport, by how much.
    tries
        Reports to try in every context, at least 1.
    generator
        Source of the random reports.
    known
        What the rule reads beside E.

    Raises
    ------
    InputError
        If there are no tries.
    """
    if tries < 1:
        raise InputError(f"an attack of {tries} tries; allowed: at least 1")
    finder = _Finder(rule, expected, threat, known)
    reports = finder.reports
    for number in range(tries if finder.useful else 0):
        if number < reports.n_actions:
            finder.put(reports.promoting(number))
        else:
            finder.put(_draw_reports(reports, number % STYLES, generator))
    return finder.attack()


def coordinate_attack(
    rule: Strategy, expected: ExpectedRewards, threat: Threat, *, generator: np.random.Generator,
    restarts: int = RESTARTS, sweeps: int = SWEEPS, known: Known | None = None,
) -> Attack:  # fmt: skip
    """Move one entry after the other to an end or the middle of its interval if that helps an action.

    An entry stays moved where the action's lead in score does not shrink; where a rule has no scores, where the action
    wins. This is done for every action and from several starts.

    Parameters
    ----------
    rule, expected, threat, known
        As for `random_attack`.
    generator
        Source of random starts and of the order of entries.
    restarts, sweeps
        Starts for every action, and times all entries are gone through from each, both at least 1.

    Raises
    ------
    InputError
        If there is no start or no sweep.
    """
    if restarts < 1 or sweeps < 1:
        raise InputError(f"an attack of {restarts} starts with {sweeps} sweeps; allowed: at least 1 each")
    finder = _Finder(rule, expected, threat, known)
    for action in range(finder.reports.n_actions if finder.useful else 0):
        for start in range(restarts):
            where = finder.open_to(action)
            if len(where):
                _climb(finder, action, where, start, sweeps, generator)
    return finder.attack()


def _climb(finder: _Finder, action: int, where: Codes, start: int, sweeps: int, generator: np.random.Generator) -> None:
    """Search for one action from one start, in some contexts."""
    reports = finder.reports if len(where) == finder.won.shape[1] else finder.reports.take(where)
    if start == 0:
        values = reports.promoting(action)
    else:
        values = reports.honest.values.copy() if start == 1 else _draw_reports(reports, 0, generator)
    lead = finder.put(values, where, reports, action)
    entries = [(i, a) for i in np.flatnonzero(reports.members) for a in range(reports.n_actions)]
    for _ in range(sweeps):
        for entry in generator.permutation(len(entries)):
            i, a = entries[entry]
            low, high = reports.lowest[i, a], reports.highest[i, a]
            for level in (low, (low + high) / 2, high):
                trial = values.copy()
                trial[i, a] = level
                reached = finder.put(trial, where, reports, action)
                better = reached >= lead
                values[i, a], lead = np.where(better, level, values[i, a]), np.where(better, reached, lead)


def _draw_reports(reports: Reports, style: int, generator: np.random.Generator) -> Values:
    """Return random reports, shape (stakeholder, action, context); entries of who does not misreport stay."""
    low, high, honest = reports.lowest, reports.highest, reports.honest.values
    if style == 0:
        return np.asarray(np.where(generator.random(low.shape) < 0.5, low, high))
    inside = np.clip(low + generator.random(low.shape) * (high - low), low, high)
    if style == 1:
        return inside
    if style == 2:  # mixtures of corners and honest rewards
        place = generator.integers(0, 3, low.shape)
        return np.asarray(np.where(place == 0, low, np.where(place == 1, high, honest)))
    favoured = generator.integers(0, reports.n_actions, reports.n_contexts)
    return np.asarray(np.where(np.arange(reports.n_actions)[:, None] == favoured, high, inside))


class _Finder:
    """Tries reports and remembers what won."""

    def __init__(self, rule: Strategy, expected: ExpectedRewards, threat: Threat, known: Known | None) -> None:
        self.rule, self.threat = rule, threat
        self.expected = threat.honest(expected)
        everything = slice(0, self.expected.n_contexts)
        block = honest_block(self.expected, everything, Workspace(), Workspace())
        self.reports = Reports.of(block, threat, beside=partial((known or Known()).arguments, everything))
        self.batch = rule.whole_batch
        self.useful = bool(self.expected.n_contexts) and not bool(self.reports.idle.all())
        n_actions, n_contexts = self.reports.n_actions, self.reports.n_contexts
        self.decided = self.reports.choose(rule, block.values) if n_contexts else np.zeros(0, dtype=np.int8)
        self.won = np.asarray(np.arange(n_actions)[:, None] == self.decided)
        self.winning = None if self.batch else np.repeat(block.values[None], n_actions, axis=0)
        self.batches: list[Try] = []
        self.tries = 0

    def open_to(self, action: int) -> Codes:
        """Return contexts in which an action has not won yet; all, for a rule that decides a whole batch at once."""
        missing = np.flatnonzero(~self.won[action])
        return np.arange(self.won.shape[1]) if self.batch and len(missing) else missing

    def put(
        self, values: Values, where: Codes | None = None, reports: Reports | None = None, action: int | None = None
    ) -> Values:
        """Try reports in some contexts, all by default; return the lead of an action where it is asked for.

        Parameters
        ----------
        values
            The reports, shape (stakeholder, action, context).
        where, reports
            The contexts, and what may be reported in them.
        action
            Position of the action.
        """
        where = np.arange(self.won.shape[1]) if where is None else where
        self.tries += 1
        reports = self.reports if reports is None else reports
        codes = np.asarray(reports.choose(self.rule, values)).copy()
        new = ~self.won[codes, where]
        if self.winning is None:
            self.batches.append((values.copy(), codes))
        else:
            self.winning[codes[new], :, :, where[new]] = np.moveaxis(values[:, :, new], -1, 0)
        self.won[codes[new], where[new]] = True
        return np.zeros(0) if action is None else self._lead(reports, values, codes, action)

    def attack(self) -> Attack:
        """Return what was found."""
        return Attack(
            self.rule, self.expected, self.threat, self.decided, self.won, self.tries, self.winning, tuple(self.batches)
        )

    def _lead(self, reports: Reports, values: Values, codes: Integers, action: int) -> Values:
        """Return by how much an action's score is ahead of all others; where there are no scores, whether it wins."""
        wins: Values = (codes == action).astype(np.float64)
        if not isinstance(self.rule, ContextRule):
            return wins
        scores: Values = np.maximum(reports.scores(self.rule, values), LOWEST)
        others = np.delete(scores, action, axis=0)
        return wins if not len(others) else np.asarray(scores[action] - others.max(axis=0))
