"""Consistency of choices: what other actions, and majorities between two, may change."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import combinations

import numpy as np

from accordant.arrays import Codes, Mask, Values
from accordant.axioms.axiom import Axiom, Setting, Trial, register
from accordant.axioms.outcome import NEAR, outcome_of, somewhere
from accordant.errors import UnknownNameError


@register("choice_independence")
class ChoiceIndependence(Axiom):
    """If an action other than the decided one is taken away, the decision stays the same.

    Nash's independence of irrelevant alternatives, Sen's property α, on a finite set of actions. Judged on decisions:
    the tie rule itself does not depend on what is taken away. Put to the test from three actions on; an action that the
    rule names, such as a status quo, is not taken away.
    """

    head = "ch. ind."
    statement = "the decision stays the same if an action that was not chosen is taken away"
    source = "Nash 1950, Chernoff 1954"
    about = "decisions"

    def trials(self, setting: Setting) -> Iterator[Trial]:
        """Take away every action in turn."""
        actions, codes = setting.expected.actions, setting.before.codes
        if len(actions) < 3:
            return
        for removed, name in enumerate(actions):
            kept = np.delete(np.arange(len(actions)), removed)
            expected = setting.changed(setting.values[:, kept], actions=tuple(actions[a] for a in kept))
            try:
                after = outcome_of(setting.rule, expected)
            except UnknownNameError:  # the rule names this action
                continue
            now = kept[after.codes]
            yield Trial(codes != removed, now != codes, partial(_changed, setting, now, name), (expected, after))


def _changed(setting: Setting, now: Codes, removed: str, context: int) -> str:
    actions = setting.expected.actions
    return f"without {removed} the decision is {actions[now[context]]}, not {actions[setting.before.codes[context]]}"


PAIRS = 6  # more pairs than these, those of four actions, are sampled


@register("pairwise_independence")
class PairwiseIndependence(Axiom):
    """If the columns of two actions stay as they are, so does their order by score, whatever the others become.

    Arrow's independence of irrelevant alternatives in the form for rewards (Sen 1970): equal rewards, not only equal
    orders, are required to stay. Together with ordinal invariance it is Arrow's own condition. Judged on the ranking
    of all actions by score; put to the test from three actions on.
    """

    head = "pair ind"
    statement = "the order of two actions does not depend on the rewards of others"
    source = "Arrow 1951"
    about = "ranking"

    def trials(self, setting: Setting) -> Iterator[Trial]:
        """Replace the columns of all other actions."""
        values, actions, generator = setting.values, setting.expected.actions, setting.generator()
        pairs = list(combinations(range(len(actions)), 2))
        if len(actions) < 3:
            return
        if len(pairs) > PAIRS:
            pairs = [pairs[k] for k in generator.choice(len(pairs), size=PAIRS, replace=False)]
        for first, second in pairs:
            for replaced in _replacements(values, generator):
                replaced[:, [first, second]] = values[:, [first, second]]
                expected = setting.changed(replaced)
                after = outcome_of(setting.rule, expected)
                if after.scores is None:
                    continue
                old, new = setting.before.order(first, second), after.order(first, second)
                judged = ~np.isnan(old) & ~np.isnan(new)
                pair = f"{actions[first]} and {actions[second]}"
                sentence = f"the order of {pair} changes although only rewards of other actions changed"
                yield Trial(judged, old != new, sentence, (expected, after))


def _replacements(values: Values, generator: np.random.Generator) -> Iterator[Values]:
    """Yield other rewards for every action, shape (stakeholder, action, context)."""
    yield np.round(generator.random(values.shape), 2)
    yield generator.integers(0, 2, size=values.shape).astype(np.float64)
    yield values[:, :, ::-1].copy()  # those of another context


def condorcet_winners(values: Values) -> Mask:
    """Return the action that more stakeholders prefer to each other action than the reverse, shape (action, context).

    At most one per context; stakeholders count alike, and the indifferent do not count.
    """
    winners = np.ones(values.shape[1:], dtype=bool)
    for a in range(values.shape[1]):
        for b in range(values.shape[1]):
            difference = values[:, a] - values[:, b]
            if a != b:
                winners[a] &= (difference > NEAR).sum(axis=0) > (difference < -NEAR).sum(axis=0)
    return winners


@register("condorcet_consistency")
class CondorcetConsistency(Axiom):
    """If one action beats every other by simple majority, it is the only winner.

    Judged on winners. Put to the test wherever there is such an action.
    """

    head = "Condorc."
    statement = "an action that beats every other by majority wins alone"
    source = "Condorcet 1785, Fishburn 1977"

    def trials(self, setting: Setting) -> Iterator[Trial]:
        """Look for the majority's action."""
        before, favourites = setting.before, condorcet_winners(setting.values)
        exists = somewhere(favourites) & (len(favourites) > 1)
        wrong = somewhere(before.winners & ~favourites) | ~somewhere(before.near & favourites)
        yield Trial(exists, wrong, partial(_passed_over, setting, favourites.argmax(axis=0)))


def _passed_over(setting: Setting, favourites: Codes, context: int) -> str:
    actions, favourite = setting.expected.actions, setting.expected.actions[favourites[context]]
    winners = [name for name, wins in zip(actions, setting.before.winners[:, context], strict=True) if wins]
    others = [name for name in winners if name != favourite]
    verb = "win" if len(others) > 1 else "wins"
    return f"{favourite} beats every other action by majority, yet {', '.join(others)} {verb}"
