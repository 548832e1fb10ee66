"""Pareto and Pigou–Dalton: a better, or a more even, action must not lose."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import combinations, product

import numpy as np

from accordant.arrays import Mask, Values
from accordant.axioms.axiom import Axiom, Setting, Trial, register, register_table
from accordant.axioms.outcome import RESOLUTION, outcome_of, somewhere
from accordant.statistics import dominated_by

PAIRS = 6  # more pairs of stakeholders than these, those of four, are sampled
SMALLEST = 0.005  # smallest transfer; the gain in a smooth rule grows with its square


def preferred_by_all(values: Values, other: int) -> Mask:
    """Return where E[i, other, t] > E[i, a, t] for every i, shape (action, context)."""
    return np.asarray((values[:, other, None] > values + RESOLUTION).all(axis=0))


def better_for_somebody(values: Values, other: int) -> Mask:
    """Return where E[i, other, t] ≥ E[i, a, t] for every i and > for one, shape (action, context)."""
    return np.asarray(dominated_by(values, other, RESOLUTION))


@dataclass(frozen=True)
class Pareto(Axiom):
    """An action is not among the winners if another one dominates it.

    Judged on winners: a score that puts an action level with one that dominates it has lost sight of it. The tie rule,
    which prefers the larger sum, may still never take it. Put to the test wherever some action is dominated.

    Attributes
    ----------
    dominates
        Gives the actions that one action dominates, shape (action, context), from E and the action's code.
    better
        How the other action is better: what to say of a violation; ``{}`` stands for its name.
    spares
        Whether to say so if the tie rule does not take the dominated winner.
    """

    name: str
    head: str
    statement: str
    source: str
    dominates: Callable[[Values, int], Mask]
    better: str
    spares: bool

    def trials(self, setting: Setting) -> Iterator[Trial]:
        """Compare every action with every other."""
        values, before, actions = setting.values, setting.before, setting.expected.actions
        better = [self.dominates(values, b) for b in range(len(actions))]

        def say(t: int) -> str:
            """Name the winner and the action that dominates it."""
            pairs = product(range(len(actions)), repeat=2)
            b, a = next((b, a) for b, a in pairs if better[b][a, t] and before.winners[a, t])
            spared = " (the tie rule does not take it)" if self.spares and before.codes[t] != a else ""
            return f"{actions[a]} wins although {self.better.format(actions[b])}{spared}"

        dominated = np.logical_or.reduce(better)
        yield Trial(somewhere(dominated), somewhere(dominated & before.winners), say)


register_table(
    Pareto("weak_pareto", "weak Par", "an action does not win if everybody prefers another one", "Arrow 1951",
           preferred_by_all, "everybody prefers {}", spares=False),
    Pareto("strong_pareto", "str. Par", "an action does not win if another one is better for somebody and worse for "
           "nobody", "Sen 1970", better_for_somebody, "{} is better for somebody and worse for nobody", spares=True),
)  # fmt: skip


@register("pigou_dalton")
class PigouDalton(Axiom):
    """If b is a after a transfer from a better-off to a worse-off stakeholder, then a does not win.

    The transfer is at most half of the gap, so that the two do not change places, and the sum stays the same. This is
    Dalton's strict form: a rule that is indifferent to transfers, as the utilitarian rule is, fails. Judged on winners,
    by putting b in the place of some action beside the decided one. Only asked of rules with equal weights.
    """

    head = "Pig.-Dal"
    statement = "an action does not win beside itself after a transfer from a better-off to a worse-off stakeholder"
    source = "Pigou 1912, Dalton 1920"
    impartial = True

    def trials(self, setting: Setting) -> Iterator[Trial]:
        """Put a transfer of the decided action in the place of every other action."""
        values, before, generator = setting.values, setting.before, setting.generator()
        n_stakeholders, n_actions, n_contexts = values.shape
        columns = np.arange(n_contexts)
        decided = values[:, before.codes, columns]
        pairs = list(combinations(range(n_stakeholders), 2))
        if len(pairs) > PAIRS:
            pairs = [pairs[k] for k in generator.choice(len(pairs), size=PAIRS, replace=False)]
        for first, second in pairs:
            share = np.where(generator.random(n_contexts) < 0.5, 1.0, 0.5)
            better, amount = transfer(decided, first, second, share)
            for place in range(n_actions):
                changed = values.copy()
                changed[:, place] = better
                expected = setting.changed(changed)
                after = outcome_of(setting.rule, expected)
                judged = (before.codes != place) & (amount > SMALLEST)
                say = partial(_still_wins, setting, place, (first, second))
                yield Trial(judged, after.winners[before.codes, columns], say, (expected, after))


def transfer(column: Values, first: int, second: int, share: Values) -> tuple[Values, Values]:
    """Return rewards after a transfer between two stakeholders, (stakeholder, context), and its size, (context,).

    Parameters
    ----------
    column
        Rewards of one action, shape (stakeholder, context).
    first, second
        The two stakeholders.
    share
        Share of half the gap that moves, in (0, 1], shape (context,).
    """
    amount = (column[first] - column[second]) / 2 * share
    moved = column.copy()
    moved[first] -= amount
    moved[second] += amount
    return moved, np.abs(amount)


def _still_wins(setting: Setting, place: int, pair: tuple[int, int], context: int) -> str:
    actions, names = setting.expected.actions, setting.expected.stakeholders
    winner = actions[setting.before.codes[context]]
    between = " and ".join(names[i] for i in pair)
    return (
        f"{winner} wins beside {actions[place]}, which is {winner} after a transfer that narrows the gap of {between}"
    )
