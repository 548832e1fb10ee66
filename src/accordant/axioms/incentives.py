"""Incentives: what a stakeholder brings about by support, absence, misreports, or alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from functools import partial
from typing import Any

import numpy as np

from accordant.arrays import Codes, Mask, Values
from accordant.axioms.axiom import Axiom, Setting, Trial, register
from accordant.axioms.invariance import orders, ranks
from accordant.axioms.outcome import RESOLUTION, Outcome, outcome_of, somewhere
from accordant.errors import UnknownNameError
from accordant.strategies.strategy import Strategy

TOGETHER = 4  # random groups of stakeholders who raise the winner together


@register("monotonicity")
class Monotonicity(Axiom):
    """If E rises for the decided action, for some stakeholders, and nothing else changes, it stays a winner.

    Judged on winners. Raised are each stakeholder's reward, and those of some groups: a little, just above the next
    better action, and to 1.
    """

    head = "monoton."
    statement = "the decided action stays a winner if its rewards rise"
    source = "Arrow 1951"

    def trials(self, setting: Setting) -> Iterator[Trial]:
        """Raise the decided action."""
        values, before, generator = setting.values, setting.before, setting.generator()
        n_stakeholders, _, n_contexts = values.shape
        columns = np.arange(n_contexts)
        old = values[:, before.codes, columns]
        groups = [[i] for i in range(n_stakeholders)]
        groups += [np.flatnonzero(generator.random(n_stakeholders) < 0.5).tolist() for _ in range(TOGETHER)]
        for group in groups:
            for raised in _raise_winner(values, old, generator):
                changed = values.copy()
                new = old.copy()
                new[group] = raised[group]
                changed[:, before.codes, columns] = new
                expected = setting.changed(changed)
                after = outcome_of(setting.rule, expected)
                judged = somewhere(new - old > RESOLUTION)
                who = ", ".join(setting.expected.stakeholders[i] for i in group)
                yield Trial(
                    judged, ~after.near[before.codes, columns], partial(_loses, setting, who), (expected, after)
                )


def _raise_winner(values: Values, old: Values, generator: np.random.Generator) -> Iterator[Values]:
    """Yield higher rewards of the decided action, shape (stakeholder, context)."""
    above = np.where(values > old[:, None], values, 1.0).min(axis=1)  # the next better action, or 1
    yield old + (1.0 - old) * np.round(generator.uniform(0.1, 0.9, size=old.shape), 2)
    yield np.minimum(1.0, above + 0.01)
    yield np.ones_like(old)


def _loses(setting: Setting, who: str, context: int) -> str:
    winner = setting.expected.actions[setting.before.codes[context]]
    return f"{winner} wins, becomes better for {who}, and no longer wins"


# parameters that may hold one number each
PER_STAKEHOLDER = ("weights", "disagreement", "ideal", "floor", "multipliers")


def without(rule: Strategy, stakeholder: int) -> Strategy:
    """Return the rule for everybody but one: parameters with one number per stakeholder lose theirs."""
    names = {field.name for field in fields(rule)}
    shorter: dict[str, Any] = {
        name: _drop_one(getattr(rule, name), stakeholder)
        for name in PER_STAKEHOLDER
        if name in names and isinstance(getattr(rule, name), tuple)
    }
    reach = getattr(rule, "training_range", None)
    if reach is not None:
        shorter["training_range"] = tuple(_drop_one(end, stakeholder) for end in reach)
    return replace(rule, **shorter) if shorter else rule


@register("participation")
class Participation(Axiom):
    """No stakeholder expects more from the decision that is taken without them than from the one taken with them.

    Judged on decisions. Put to the test where there are at least two stakeholders; a stakeholder whom the rule names
    does not stay away, and a rule whose parameters fit one number of stakeholders only is not judged.
    """

    head = "particip"
    statement = "no stakeholder would get more by staying away"
    source = "Fishburn and Brams 1983, Moulin 1988"
    about = "decisions"

    def trials(self, setting: Setting) -> Iterator[Trial]:
        """Leave out every stakeholder in turn."""
        names, values = setting.expected.stakeholders, setting.values
        columns = np.arange(setting.expected.n_contexts)
        if len(names) < 2:
            return
        for i, name in enumerate(names):
            others = [other for other in names if other != name]
            expected = setting.changed(np.delete(values, i, axis=0), stakeholders=tuple(others))
            try:
                after = outcome_of(without(setting.rule, i), expected)
            except UnknownNameError:  # the rule names this stakeholder
                continue
            gain = values[i, after.codes, columns] - values[i, setting.before.codes, columns]
            judged = np.ones(len(columns), dtype=bool)
            yield Trial(judged, gain > RESOLUTION, partial(_gains_by_absence, setting, i, after), (expected, after))

    def _inapplicable(self, setting: Setting) -> str:
        if getattr(setting.rule, "order_weights", None) is not None:
            return "its order weights are stated for this number of stakeholders only"
        return super()._inapplicable(setting)


def _drop_one(numbers: tuple[Any, ...], position: int) -> tuple[Any, ...]:
    return numbers[:position] + numbers[position + 1 :]


def _gains_by_absence(setting: Setting, i: int, after: Outcome, context: int) -> str:
    actions, row = setting.expected.actions, setting.values[i, :, context]
    here, away = setting.before.codes[context], after.codes[context]
    who = setting.expected.stakeholders[i]
    return f"{who} gets {row[here]:.3g} from {actions[here]}, and {row[away]:.3g} from {actions[away]} by staying away"


MARGIN = 0.01  # room for the order of all other actions beside an extreme report


def strict(values: Values) -> Mask:
    """Return where no stakeholder is indifferent between two actions, shape (context,)."""
    gaps = np.diff(np.sort(values, axis=1), axis=1)
    return np.asarray((gaps > RESOLUTION).all(axis=(0, 1)))


@register("strategy_proofness")
class StrategyProofness(Axiom):
    """No stakeholder's true expected reward of the decision rises if they report another row than their own.

    Judged on decisions, where no stakeholder is indifferent between two actions, as in the theorem: else even under a
    dictator the others could move the tie rule. Reports keep this too. Tried for every stakeholder: the own rewards in
    every other order, the own order stretched over [0, 1], one action at 1 with all others near 0, one action at 0 with
    all others near 1, and one action at 1 with the decided one at 0. Who could gain by some other report is
    not found.
    """

    head = "str.-pr."
    statement = "no stakeholder can raise their true reward by misreporting"
    source = "Gibbard 1973, Satterthwaite 1975"
    about = "decisions"

    def trials(self, setting: Setting) -> Iterator[Trial]:
        """Let every stakeholder try every report."""
        values, before = setting.values, setting.before
        columns = np.arange(setting.expected.n_contexts)
        judged = strict(values)
        if values.shape[1] < 2 or not judged.any():
            return
        for i in range(len(values)):
            true = values[i, before.codes, columns]
            for report in reports(values[i], before.codes, setting.generator()):
                changed = values.copy()
                changed[i] = report
                expected = setting.changed(changed)
                after = outcome_of(setting.rule, expected)
                gain = values[i, after.codes, columns] - true
                yield Trial(judged, gain > RESOLUTION, partial(_gains, setting, i, after), (expected, after))


def reports(row: Values, decided: Codes, generator: np.random.Generator) -> Iterator[Values]:
    """Yield misreports of a row, shape (action, context)."""
    n_actions = len(row)
    for order in orders(n_actions, generator):
        yield row[order]
    low, high = row.min(axis=0), row.max(axis=0)
    stretched = (row - low) / np.where(high > low, high - low, 1.0)
    yield stretched
    small = MARGIN * (1 + ranks(row)) / (1 + n_actions)
    squeezed = MARGIN + (1 - 2 * MARGIN) * stretched
    columns = np.arange(row.shape[1])
    for a in range(n_actions):
        for around, own in ((small, 1.0), (1.0 - MARGIN + small, 0.0), (squeezed, 1.0)):
            report = around.copy()
            if around is squeezed:
                report[decided, columns] = 0.0
            report[a] = own
            yield report


def _gains(setting: Setting, i: int, after: Outcome, context: int) -> str:
    actions, row = setting.expected.actions, setting.values[i, :, context]
    honest, other = setting.before.codes[context], after.codes[context]
    who = setting.expected.stakeholders[i]
    return (
        f"{who} truly gets {row[honest]:.3g} from {actions[honest]}, and {row[other]:.3g} from {actions[other]} "
        "by misreporting"
    )


def single_favourites(values: Values) -> Mask:
    """Return each stakeholder's best action where it is clearly the only one, shape (stakeholder, action, context)."""
    best = values.max(axis=1, keepdims=True)
    top = values >= best - RESOLUTION
    return np.asarray(top & (top.sum(axis=1, keepdims=True) == 1))


@register("non_dictatorship")
class NonDictatorship(Axiom):
    """There is no stakeholder whose only best action is the only winner, in every E.

    A property of a rule on all E, not on one: it is violated if on every E tried, those of the data and those with rows
    exchanged in a circle, the same stakeholder's only best action wins alone although somebody else prefers
    another. Then every context in which this was tried counts as violated. Judged on winners.
    """

    about_all = True
    head = "non-dict"
    statement = "no stakeholder always gets their best action"
    source = "Arrow 1951"

    def trials(self, setting: Setting) -> Iterator[Trial]:
        """Look for somebody who always prevails."""
        values, names = setting.values, setting.expected.stakeholders
        tried = np.zeros((len(names), setting.expected.n_contexts), dtype=bool)
        prevails = np.ones(len(names), dtype=bool)
        for shift in range(len(names)):
            turned = np.roll(values, shift, axis=0)
            outcome = outcome_of(setting.rule, setting.changed(turned)) if shift else setting.before
            opposed, alone = _find_opposed(turned) & outcome.known, _wins_alone(turned, outcome)
            tried |= opposed
            prevails &= (alone | ~opposed).all(axis=1)
        dictators = np.flatnonzero(prevails & tried.any(axis=1))
        sentence = "".join(f"{names[i]}'s best action wins in every context" for i in dictators[:1])
        here = tried[dictators[0]] if len(dictators) else np.zeros(tried.shape[1], dtype=bool)
        yield Trial(somewhere(tried), here, sentence)


def _find_opposed(values: Values) -> Mask:
    """Return where a stakeholder has one best action and it is not among somebody else's, (stakeholder, context)."""
    single = single_favourites(values)
    best = values >= values.max(axis=1, keepdims=True) - RESOLUTION
    return np.stack([somewhere(mine & ~best) for mine in single])


def _wins_alone(values: Values, outcome: Outcome) -> Mask:
    """Return where a stakeholder's only best action is the only winner, shape (stakeholder, context)."""
    return np.asarray((single_favourites(values) == outcome.winners).all(axis=1))
