"""`Measure`: what a rule's scores measure, in words, with values that mean something beside each other."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from accordant.arrays import Values
from accordant.strategies.strategy import Strategy

NOTHING = 1e-300  # a product below it stands for none: rules of bargaining count it as the smallest number above 0
REWARDS = "Expected rewards run from 0, the worst for a stakeholder, to 1, the best."
"""Said once where expected rewards are first mentioned."""


@dataclass(frozen=True)
class Measure:
    """What a rule compares actions by.

    Attributes
    ----------
    words
        What is measured, such as ``the smallest expected reward``.
    values
        Of each action, shape (action,); None where an action has none, for example because it is ruled out.
    less
        Whether less is better.
    """

    words: str
    values: tuple[float | None, ...]
    less: bool = False


def _same(scores: Values) -> Values:
    return scores


def _exp(scores: Values) -> Values:
    products = np.exp(scores)
    return np.where(products < NOTHING, 0.0, products)


_PRODUCT, _SUM = "the product of {} (weights as exponents)", "the sum of expected rewards, each times what it counts"
_EQUAL = "the expected reward that, given to everybody alike, would be as good"
MEASURES: Mapping[str, tuple[str, Callable[[Values], Values]]] = {
    "utilitarian": ("the weighted mean of expected rewards", _same),
    "relative_utilitarian": ("the weighted mean of what each gets between its worst (0) and its best (1)", _same),
    "maximin": ("the smallest expected reward", _same),
    "hurwicz": ("the largest and the smallest expected reward, weighed against each other", _same),
    "generalised_gini": ("the sum of expected rewards, weighted from the worst-off to the best-off", _same),
    "sufficientarian": ("the share of weight that gets what counts as enough", _same),
    "nash_social_welfare": (_PRODUCT.format("expected rewards"), _exp),
    "alpha_fairness": (_EQUAL, _same),
    "atkinson": (_EQUAL, _same),
    "nash_bargaining": (_PRODUCT.format("gains over the disagreement point"), _exp),
    "egalitarian_equivalent": ("the smallest gain over the disagreement point", _same),
    "kalai_smorodinsky": ("the smallest part of a possible gain (0 none, 1 all of it)", _same),
    "compromise_programming": ("the distance to what would be best for each", np.negative),
    "minimax_regret": ("the most that anybody misses of their best", np.negative),
    "population_maximin": (_SUM, _same),
    "population_leximin": (_SUM, _same),
    "population_nash": (_SUM, _same),
    "plurality": ("votes for first place", _same),
    "anti_plurality": ("votes for last place", np.negative),
    "borda": ("points by rank", _same),
    "approval": ("approvals", _same),
    "range": ("the sum of grades", _same),
    "copeland": ("votes of two that it wins, less those that it loses", _same),
    "minimax": ("the clearest defeat in a vote of two", np.negative),
    "stakeholder": ("the expected reward of the one stakeholder that decides", _same),
}
"""Rules whose scores have a meaning of their own to what they measure, and how scores become it; others give places."""
LESS = frozenset({"compromise_programming", "minimax_regret", "anti_plurality", "minimax"})


def measure(rule: Strategy, scores: Sequence[float] | None) -> Measure | None:
    """Return what a rule compared actions by; None where its scores are places, rounds, or not known here.

    Parameters
    ----------
    rule
        The rule.
    scores
        Of each action, shape (action,).
    """
    inner: Any = rule
    if rule.name == "constrained":
        return measure(inner.terms.rule, scores)
    if rule.name == "population_by_group":
        return measure(inner.inner, scores)
    if scores is None or rule.name not in MEASURES:
        return None
    words, change = MEASURES[rule.name]
    values = change(np.asarray(scores, dtype=np.float64))
    shown = tuple(float(value) + 0.0 if np.isfinite(value) else None for value in values)
    return Measure(words, shown, rule.name in LESS)
