"""A rule is chosen on the earlier requests and tried on the later ones, so that its gain is no lucky draw.

The cut is between two days where there are several: places fill up in the course of a day, so half a day has smaller
crowds than the day.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from accordant.errors import InputError, UnknownNameError
from accordant.evaluation.composite import Normalisation
from accordant.slates.evaluation.front import Difference, dominance, front, price
from accordant.slates.evaluation.leaderboard import leaderboard
from accordant.slates.evaluation.scores import scores
from accordant.slates.market import Served
from accordant.slates.measures import Goal, Range, SlateMeasure

Cut = Literal["between days", "inside a day"]

GOAL_WORDS: dict[Goal, str] = {"max": "more is better", "min": "less is better"}


@dataclass(frozen=True)
class HeldOutComparison:
    """What a rule gains and costs on requests that took no part in choosing it.

    Attributes of this and of `accordant.slates.result.TrialResult` are the same: `chosen` is the contender with the
    highest composite score on the earlier requests, `gain` and `price` are paired differences to the reference on the
    later ones, of the measures `gain_of` and `price_of`, and `differences` the same for every measure. `cut` is
    ``between days`` if no day has requests on both sides, ``inside a day`` if there is one day alone, so that what is
    counted by day is understated in both parts. Rules in `dominated_by` dominate it on both measures there;
    `dominators` are these, and each rule that dominates it in more than 5 % of resamples, to that share. `on_front` is
    the share in which none does; None if it has no values.
    """

    chosen: str
    reference: str
    gain_of: str
    price_of: str
    gain_goal: Goal
    price_goal: Goal
    earlier: int
    later: int
    cut: Cut
    gain: Difference
    price: Difference
    differences: Mapping[str, Difference]
    dominated_by: tuple[str, ...]
    dominators: Mapping[str, float]
    on_front: float | None

    @property
    def words(self) -> str:
        """A few sentences with every number."""
        verdict = {True: "improves", False: "worsens", None: "cannot be shown to change"}[self.gain.better]
        changes = (
            f"{self.chosen}, chosen on the first {self.earlier} requests, {verdict} {self.gain_of} on the other "
            f"{self.later}: against {self.reference} it changes by {self.gain.estimate} "
            f"({GOAL_WORDS[self.gain_goal]}), and {self.price_of} changes by {self.price.estimate} "
            f"({GOAL_WORDS[self.price_goal]})."
        )
        sentences = [changes, dominance(self.dominated_by, self.dominators, self.on_front)]
        if self.cut == "inside a day":
            sentences.append("All requests are of one day, which is cut in two, so crowds of a day are understated.")
        return " ".join(sentences)

    def to_json(self) -> dict[str, Any]:
        """Return plain values; undefined ones are None."""
        names = ("chosen", "reference", "gain_of", "price_of", "earlier", "later", "cut", "on_front", "words")
        return {name: getattr(self, name) for name in names} | {
            "gain": self.gain.to_json(),
            "price": self.price.to_json(),
            "differences": {label: difference.to_json() for label, difference in self.differences.items()},
            "dominated_by": list(self.dominated_by),
            "dominators": dict(self.dominators),
        }


def held_out_comparison(
    served_by_rule: Mapping[str, Served],
    reference: str,
    contenders: Sequence[str],
    measures: Mapping[str, SlateMeasure],
    weights: Mapping[str, float],
    *,
    gain_of: str,
    price_of: str,
    resamples: int = 1000,
    seed: int = 0,
    normalisation: Normalisation = "natural",
    ranges: Mapping[str, Range] | None = None,
) -> HeldOutComparison | None:
    """Choose among contenders on about the earlier half of requests, and report on the later ones.

    The cut is where one day ends, as near to the middle as there is such a place; the earlier one of two. With one day
    alone it is the middle.

    Parameters
    ----------
    served_by_rule
        Rule to what it showed, the reference among them.
    reference, contenders
        What gain and price are measured against, and rules that may be chosen; the reference is none of them.
    weights
        Label to its weight in the composite score by which the rule is chosen.
    gain_of, price_of
        Labels of the measures that say what it brings and what it costs.
    normalisation, ranges
        Of the composite score, see `leaderboard`.

    Returns
    -------
    None if there are fewer than two requests or no contender with a score.

    Raises
    ------
    InputError
        If a label names no measure, or the reference is among the contenders.
    UnknownNameError
        If the reference or a contender was not served.
    """
    _check(served_by_rule, reference, contenders)
    for label in (gain_of, price_of):
        if label not in measures:
            raise InputError(f"{label!r} is no measure here; allowed: {', '.join(measures)}")
    days = next(iter(served_by_rule.values())).days
    n_requests = len(days)
    if not contenders or n_requests < 2:
        return None
    middle, cut = _cut(days)
    first = {rule: served.between(0, middle) for rule, served in served_by_rule.items()}
    kinds = dict.fromkeys(served_by_rule, "")
    outside = [rule for rule in served_by_rule if rule not in contenders]
    early = scores(first, measures, resamples=0)
    chosen = leaderboard(early, kinds, weights, outside, normalisation=normalisation, ranges=ranges).best
    if chosen is None:
        return None
    second = {rule: served.between(middle, n_requests) for rule, served in served_by_rule.items()}
    late = scores(second, measures, resamples=resamples, seed=seed)
    differences = price(late, reference).rules[chosen]
    standing = next(row for row in front(late, (gain_of, price_of)).rows if row.rule == chosen)
    return HeldOutComparison(
        chosen, reference, gain_of, price_of, measures[gain_of].goal, measures[price_of].goal, middle,
        n_requests - middle, cut, differences[gain_of], differences[price_of], differences,
        standing.dominated_by, standing.dominators, standing.probability,
    )  # fmt: skip


def _check(served_by_rule: Mapping[str, Served], reference: str, contenders: Sequence[str]) -> None:
    """Stop unless all rules were served, and the reference is no contender."""
    for rule in (reference, *contenders):
        if rule not in served_by_rule:
            raise UnknownNameError("slate rule of the trial:", rule, served_by_rule)
    if reference in contenders:
        raise InputError(f"{reference} is the reference and a contender; allowed: one of the two")


def _cut(days: NDArray[np.intp]) -> tuple[int, Cut]:
    """Return how many of at least two requests are earlier, so that no day is on both sides if there are several."""
    ended = np.maximum.accumulate(days)[:-1] < np.minimum.accumulate(days[::-1])[::-1][1:]
    ends = np.flatnonzero(ended) + 1
    if not len(ends):
        return len(days) // 2, "inside a day"
    return int(ends[np.argmin(np.abs(2 * ends - len(days)))]), "between days"
