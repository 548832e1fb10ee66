"""`trial`: a rule is chosen on the earlier requests and tried on the later ones, so that its gain is no lucky draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from accordant.errors import InputError, UnknownNameError
from accordant.evaluation.slates.board import limits
from accordant.evaluation.slates.front import front
from accordant.evaluation.slates.leaderboard import leaderboard
from accordant.evaluation.slates.pricing import Difference, price
from accordant.evaluation.slates.scoring import scores
from accordant.slates.measures import SlateMeasure
from accordant.slates.serving import Served


@dataclass(frozen=True)
class Trial:
    """What a rule gains and costs on requests that took no part in choosing it.

    Attributes
    ----------
    chosen
        The contender with the highest composite score on the earlier requests.
    reference
        What it is compared with.
    gain_of, price_of
        Labels of the measures.
    earlier, later
        Numbers of requests.
    gain, price
        Paired differences to the reference on the later requests, with intervals.
    differences
        The same for every measure, by label.
    dominated_by
        Rules that dominate it on both measures on the later requests.
    on_front
        Share of resamples in which no rule dominates it there; None if it has no values.
    """

    chosen: str
    reference: str
    gain_of: str
    price_of: str
    earlier: int
    later: int
    gain: Difference
    price: Difference
    differences: Mapping[str, Difference]
    dominated_by: tuple[str, ...]
    on_front: float | None

    @property
    def words(self) -> str:
        """One sentence or two, with every number."""
        gain, cost = self.gain.estimate, self.price.estimate
        front_words = (
            "No rule dominates it there." if not self.dominated_by else f"There {self.dominated_by[0]} dominates it."
        )
        verdict = {True: "improves", False: "worsens", None: "cannot be shown to change"}[self.gain.better]
        return (
            f"{self.chosen}, chosen on the first {self.earlier} requests, {verdict} {self.gain_of} on the other "
            f"{self.later} by {gain} against {self.reference}; {self.price_of} changes by {cost}. {front_words}"
        )

    def to_json(self) -> dict[str, Any]:
        """Return plain values; undefined ones are None."""
        return {
            "chosen": self.chosen,
            "reference": self.reference,
            "gain_of": self.gain_of,
            "price_of": self.price_of,
            "earlier": self.earlier,
            "later": self.later,
            "gain": limits(self.gain.estimate) | {"better": self.gain.better},
            "price": limits(self.price.estimate) | {"better": self.price.better},
            "differences": {
                label: limits(each.estimate) | {"better": each.better} for label, each in self.differences.items()
            },
            "dominated_by": list(self.dominated_by),
            "on_front": self.on_front,
            "words": self.words,
        }


def trial(
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
) -> Trial | None:
    """Choose among contenders on the earlier half of requests, and report on the later half.

    Parameters
    ----------
    served_by_rule
        Rule to what it showed, the reference among them.
    reference
        The rule that the gain and the price are measured against.
    contenders
        Rules that may be chosen; the reference is none of them.
    measures
        Label to measure, with both labels below.
    weights
        Label to its weight in the composite score by which the rule is chosen.
    gain_of, price_of
        The measures that say what it brings and what it costs.
    resamples, seed
        Of users, for intervals.

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
    for rule in (reference, *contenders):
        if rule not in served_by_rule:
            raise UnknownNameError("slate rule of the trial:", rule, served_by_rule)
    if reference in contenders:
        raise InputError(f"{reference} is the reference and a contender; allowed: one of the two")
    for label in (gain_of, price_of):
        if label not in measures:
            raise InputError(f"{label!r} is no measure here; allowed: {', '.join(measures)}")
    if not contenders:
        return None
    n_requests = len(next(iter(served_by_rule.values())).users)
    middle = n_requests // 2
    if middle < 1:
        return None
    first = {rule: served.between(0, middle) for rule, served in served_by_rule.items()}
    kinds = dict.fromkeys(served_by_rule, "")
    outside = [rule for rule in served_by_rule if rule not in contenders]
    chosen = leaderboard(scores(first, measures, resamples=0), kinds, weights, outside).best
    if chosen is None:
        return None
    second = {rule: served.between(middle, n_requests) for rule, served in served_by_rule.items()}
    late = scores(second, measures, resamples=resamples, seed=seed)
    found = price(late, reference).rules[chosen]
    standing = next(row for row in front(late, (gain_of, price_of)).rows if row.rule == chosen)
    return Trial(
        chosen, reference, gain_of, price_of, middle, n_requests - middle, found[gain_of], found[price_of], found,
        standing.dominated_by, standing.probability,
    )  # fmt: skip
