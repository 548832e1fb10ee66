"""Invariance: what a rule must not look at: names, order, units, zeros, or all but the order of rewards."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from accordant.arrays import Codes, Mask, Values
from accordant.axioms.axiom import Axiom, Setting, Trial, register
from accordant.axioms.outcome import RESOLUTION, outcome_of, sets_differ, somewhere

ALL_UP_TO = 4  # so many items have at most 24 orders, and all of them are tried
DRAWN = 12  # else so many random orders beside the exchanges of neighbours


def orders(n_items: int, generator: np.random.Generator) -> list[list[int]]:
    """Return orders of range(n_items) other than the given one: all, or neighbours exchanged and random ones."""
    given = list(range(n_items))
    if n_items <= ALL_UP_TO:
        return [list(order) for order in itertools.permutations(given) if list(order) != given]
    exchanged = [[*given[:k], given[k + 1], given[k], *given[k + 2 :]] for k in range(n_items - 1)]
    return exchanged + [generator.permutation(n_items).tolist() for _ in range(DRAWN)]


@register("anonymity")
class Anonymity(Axiom):
    """If stakeholders exchange their rows of E, the winners stay the same.

    Judged on winners. Only asked of rules with equal weights. Put to the test wherever the exchange changes E.
    """

    head = "anonym."
    statement = "the winners stay the same if stakeholders exchange their rewards"
    source = "May 1952"
    impartial = True

    def trials(self, setting: Setting) -> Iterator[Trial]:
        """Exchange rows: in every order for up to four stakeholders."""
        values = setting.values
        for order in orders(len(values), setting.generator()):
            changed = setting.changed(values[order])
            after = outcome_of(setting.rule, changed)
            differs = somewhere(np.abs(changed.values - values) > RESOLUTION)
            names = ", ".join(setting.expected.stakeholders[i] for i in order)
            sentence = f"the winners change if {', '.join(setting.expected.stakeholders)} take the rewards of {names}"
            yield Trial(differs, sets_differ(setting.before, after), sentence, (changed, after))


@register("neutrality")
class Neutrality(Axiom):
    """If actions exchange their columns of E, the winners move with the columns.

    Judged on winners: among equal sums the tie rule follows the declared order, and is not meant to be neutral.
    """

    head = "neutral."
    statement = "the winners move along if actions exchange their rewards"
    source = "May 1952"

    def trials(self, setting: Setting) -> Iterator[Trial]:
        """Exchange columns: in every order for up to four actions."""
        values, actions = setting.values, setting.expected.actions
        for order in orders(len(actions), setting.generator()):
            changed = setting.changed(values[:, order])
            after = outcome_of(setting.rule, changed)
            back = np.argsort(order)  # after[back[a]] is about the column that a had
            moved = replace(after, winners=after.winners[back], near=after.near[back])
            differs = somewhere(np.abs(changed.values - values) > RESOLUTION)
            names = ", ".join(actions[a] for a in order)
            sentence = f"the winners do not move along if {', '.join(actions)} take the rewards of {names}"
            yield Trial(differs, sets_differ(setting.before, moved), sentence, (changed, after))


SMALLEST_GAP = 0.01  # between two rewards of a redrawn row, before the row is scaled to [0, 1]


def trial_with_row(setting: Setting, stakeholder: int, row: Values, sentence: str) -> Trial:
    """Return the trial in which one stakeholder has another row of rewards, shape (action, context).

    The winners are to stay the same. Put to the test wherever the row changes.
    """
    values = setting.values.copy()
    values[stakeholder] = row
    expected = setting.changed(values)
    after = outcome_of(setting.rule, expected)
    judged = somewhere(np.abs(row - setting.values[stakeholder]) > RESOLUTION)
    return Trial(judged, sets_differ(setting.before, after), sentence, (expected, after))


def ranks(row: Values) -> Codes:
    """Return the place of every action in a row, 0 for the worst, the same for equal rewards, (action, context)."""
    return np.asarray((row[None] < row[:, None]).sum(axis=1))


def redrawn_in_order(row: Values, generator: np.random.Generator) -> Values:
    """Return a row with other rewards in the same order, drawn with gaps of all sizes, shape (action, context)."""
    n_actions, n_contexts = row.shape
    gaps = SMALLEST_GAP + generator.random((n_actions + 1, n_contexts)) ** 2
    levels = np.cumsum(gaps, axis=0)[:-1] / gaps.sum(axis=0)
    return np.asarray(np.take_along_axis(levels, ranks(row), axis=0))


def every_row(setting: Setting) -> Iterator[tuple[int, str, Values]]:
    """Yield number, name and row of every stakeholder."""
    for i, name in enumerate(setting.expected.stakeholders):
        yield i, name, setting.values[i]


POWERS = (0.25, 4.0)
DRAWS = 3


@register("ordinal_invariance")
class OrdinalInvariance(Axiom):
    """If one stakeholder's row is replaced by another in the same order, the winners stay the same.

    Such a row is a strictly increasing transform of the old one. Judged on winners. Tried are powers of the row, and
    rows drawn at random.
    """

    head = "ordinal"
    statement = "the winners stay the same if one stakeholder's rewards change but not their order"
    source = "Arrow 1951, Sen 1970"

    def trials(self, setting: Setting) -> Iterator[Trial]:
        """Redraw every row in its order."""
        generator = setting.generator()
        for i, name, row in every_row(setting):
            sentence = f"the winners change although {name}'s order of actions stays the same"
            rows = [redrawn_in_order(row, generator) for _ in range(DRAWS)] + [row**power for power in POWERS]
            for changed in rows:
                trial = trial_with_row(setting, i, changed, sentence)
                yield replace(trial, judged=trial.judged & clearly_ordered(row) & clearly_ordered(changed))


def clearly_ordered(row: Values) -> Mask:
    """Return where rewards in a row are either equal or clearly different, shape (context,)."""
    gaps = np.diff(np.sort(row, axis=0), axis=0)
    return np.asarray(((gaps == 0) | (gaps > RESOLUTION)).all(axis=0))


@register("scale_invariance")
class ScaleInvariance(Axiom):
    """If one stakeholder's row is multiplied by a number above 0, the winners stay the same.

    Judged on winners. Factors shrink the row, or stretch it until its best action has 1, so that E stays in [0, 1].
    """

    head = "scale"
    statement = "the winners stay the same if one stakeholder's rewards are multiplied by a number"
    source = "Nash 1950, d'Aspremont and Gevers 1977"

    def trials(self, setting: Setting) -> Iterator[Trial]:
        """Stretch every row."""
        generator = setting.generator()
        for i, name, row in every_row(setting):
            best = row.max(axis=0)
            drawn = np.round(generator.uniform(0.1, 0.9, size=best.shape), 1)
            for factor in (drawn, 1.0 / np.where(best > 0, best, 1.0)):
                sentence = f"the winners change if the rewards of {name} are multiplied by a number"
                yield trial_with_row(setting, i, np.minimum(1.0, row * factor), sentence)


@register("shift_invariance")
class ShiftInvariance(Axiom):
    """If the same number is added to one stakeholder's whole row, the winners stay the same.

    Judged on winners. The number is drawn, or takes the row down to 0 or up to 1; E stays in [0, 1].
    """

    head = "shift"
    statement = "the winners stay the same if a number is added to one stakeholder's rewards"
    source = "Nash 1950, d'Aspremont and Gevers 1977"

    def trials(self, setting: Setting) -> Iterator[Trial]:
        """Shift every row."""
        generator = setting.generator()
        for i, name, row in every_row(setting):
            down, up = -row.min(axis=0), 1.0 - row.max(axis=0)
            drawn = np.round(down + (up - down) * generator.random(down.shape), 2)
            for shift in (np.clip(drawn, down, up), down, up):
                sentence = f"the winners change if a number is added to the rewards of {name}"
                yield trial_with_row(setting, i, np.clip(row + shift, 0.0, 1.0), sentence)
