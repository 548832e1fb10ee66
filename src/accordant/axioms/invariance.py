"""Invariance: what a rule must not look at: names, order, units, zeros, or all but the order of rewards."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from accordant.arrays import Codes, Mask, Values
from accordant.axioms.axiom import Axiom, Setting, Trial, register_table
from accordant.axioms.outcome import RESOLUTION, outcome_of, sets_differ, somewhere

ALL_UP_TO = 4  # so many items have at most 24 orders, and all of them are tried
DRAWN = 12  # else so many random orders beside the exchanges of neighbours
SMALLEST_GAP = 0.01  # between two rewards of a redrawn row, before the row is scaled to [0, 1]
POWERS = (0.25, 4.0)  # of a row, which keep its order
DRAWS = 3  # random rows in the same order


def orders(n_items: int, generator: np.random.Generator) -> list[list[int]]:
    """Return orders of range(n_items) other than the given one: all, or neighbours exchanged and random ones."""
    given = list(range(n_items))
    if n_items <= ALL_UP_TO:
        return [list(order) for order in itertools.permutations(given) if list(order) != given]
    exchanged = [[*given[:k], given[k + 1], given[k], *given[k + 2 :]] for k in range(n_items - 1)]
    return exchanged + [generator.permutation(n_items).tolist() for _ in range(DRAWN)]


@dataclass(frozen=True)
class ExchangeInvariance(Axiom):
    """If stakeholders exchange their rows of E, or actions their columns, the winners stay the same, or move along.

    Judged on winners: among equal sums the tie rule follows the declared order of actions, and is not meant to be
    neutral. Tried in every order for up to four; put to the test wherever the exchange changes E.

    Attributes
    ----------
    axis
        0 exchanges stakeholders, 1 actions.
    verb
        What winners do that should not.
    """

    name: str
    head: str
    statement: str
    source: str
    axis: int
    verb: str
    impartial: bool

    def trials(self, setting: Setting) -> Iterator[Trial]:
        """Exchange rows or columns."""
        values, named = setting.values, (setting.expected.stakeholders, setting.expected.actions)[self.axis]
        for order in orders(len(named), setting.generator()):
            changed = setting.changed(values.take(order, axis=self.axis))
            after = moved = outcome_of(setting.rule, changed)
            if self.axis == 1:
                back = np.argsort(order)  # after[back[a]] is about the column that a had
                moved = replace(after, winners=after.winners[back], near=after.near[back])
            differs = somewhere(np.abs(changed.values - values) > RESOLUTION)
            sentence = f"the winners {self.verb} if {', '.join(named)} take the rewards of "
            sentence += ", ".join(named[k] for k in order)
            yield Trial(differs, sets_differ(setting.before, moved), sentence, (changed, after))


@dataclass(frozen=True)
class RowInvariance(Axiom):
    """If one stakeholder's row of E changes in a way that is not to matter, the winners stay the same.

    Judged on winners. Put to the test wherever the row changes; rows stay in [0, 1].

    Attributes
    ----------
    rows
        Gives changed rows, shape (action, context), from the row and a generator.
    sentence
        What to say of a violation; ``{}`` stands for the stakeholder.
    clear
        Whether only rows are judged whose rewards are either equal or clearly different, before and after.
    """

    name: str
    head: str
    statement: str
    source: str
    rows: Callable[[Values, np.random.Generator], Iterator[Values]]
    sentence: str
    clear: bool = False

    def trials(self, setting: Setting) -> Iterator[Trial]:
        """Change every row."""
        generator = setting.generator()
        for i, name in enumerate(setting.expected.stakeholders):
            row = setting.values[i]
            for changed in self.rows(row, generator):
                values = setting.values.copy()
                values[i] = changed
                expected = setting.changed(values)
                after = outcome_of(setting.rule, expected)
                judged = somewhere(np.abs(changed - row) > RESOLUTION)
                if self.clear:
                    judged &= clearly_ordered(row) & clearly_ordered(changed)
                yield Trial(judged, sets_differ(setting.before, after), self.sentence.format(name), (expected, after))


def stretch_row(row: Values, generator: np.random.Generator) -> Iterator[Values]:
    """Give a row multiplied by a drawn number below 1, and by the one that takes its best action to 1."""
    best = row.max(axis=0)
    for factor in (np.round(generator.uniform(0.1, 0.9, size=best.shape), 1), 1.0 / np.where(best > 0, best, 1.0)):
        yield np.minimum(1.0, row * factor)


def shift_row(row: Values, generator: np.random.Generator) -> Iterator[Values]:
    """Give a row plus a drawn number, and plus those that take it down to 0 and up to 1."""
    down, up = -row.min(axis=0), 1.0 - row.max(axis=0)
    drawn = np.round(down + (up - down) * generator.random(down.shape), 2)
    for shift in (np.clip(drawn, down, up), down, up):
        yield np.clip(row + shift, 0.0, 1.0)


def redraw_row(row: Values, generator: np.random.Generator) -> Iterator[Values]:
    """Give strictly increasing transforms of a row: drawn at random, and powers."""
    yield from [redraw_in_order(row, generator) for _ in range(DRAWS)]
    yield from (row**power for power in POWERS)


def ranks(row: Values) -> Codes:
    """Return the place of every action in a row, 0 for the worst, the same for equal rewards, (action, context)."""
    return np.asarray((row[None] < row[:, None]).sum(axis=1))


def redraw_in_order(row: Values, generator: np.random.Generator) -> Values:
    """Return a row with other rewards in the same order, drawn with gaps of all sizes, shape (action, context)."""
    n_actions, n_contexts = row.shape
    gaps = SMALLEST_GAP + generator.random((n_actions + 1, n_contexts)) ** 2
    levels = np.cumsum(gaps, axis=0)[:-1] / gaps.sum(axis=0)
    return np.asarray(np.take_along_axis(levels, ranks(row), axis=0))


def clearly_ordered(row: Values) -> Mask:
    """Return where rewards in a row are either equal or clearly different, shape (context,)."""
    gaps = np.diff(np.sort(row, axis=0), axis=0)
    return np.asarray(((gaps == 0) | (gaps > RESOLUTION)).all(axis=0))


UNITS = "Nash 1950, d'Aspremont and Gevers 1977"
register_table(
    ExchangeInvariance("anonymity", "anonym.", "the winners stay the same if stakeholders exchange their rewards",
                       "May 1952", 0, "change", impartial=True),
    ExchangeInvariance("neutrality", "neutral.", "the winners move along if actions exchange their rewards",
                       "May 1952", 1, "do not move along", impartial=False),
    RowInvariance("scale_invariance", "scale",
                  "the winners stay the same if one stakeholder's rewards are multiplied by a number", UNITS,
                  stretch_row, "the winners change if the rewards of {} are multiplied by a number"),
    RowInvariance("shift_invariance", "shift",
                  "the winners stay the same if a number is added to one stakeholder's rewards", UNITS,
                  shift_row, "the winners change if a number is added to the rewards of {}"),
    RowInvariance("ordinal_invariance", "ordinal",
                  "the winners stay the same if one stakeholder's rewards change but not their order",
                  "Arrow 1951, Sen 1970", redraw_row,
                  "the winners change although {}'s order of actions stays the same", clear=True),
)  # fmt: skip
