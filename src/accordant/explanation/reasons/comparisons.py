"""What each family of rules compares between its decision and the runner-up, as a `Reason`.

A function of this module is asked only where the rule's score of the decision is higher than that of the runner-up by
more than rounding, and every reason that it gives is then true of E.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from accordant.arrays import Mask, Values
from accordant.explanation.reasons.contrast import SAME, Contrast
from accordant.explanation.reasons.sentences import Reason
from accordant.strategies.power_means import FLOOR
from accordant.strategies.reference_points import INDIFFERENT

FRACTIONS = {"tenth": 0.1, "quarter": 0.25, "half": 0.5}
"""Kinds of sentences on sums to what share of the gain the loss lies below."""


def _parties(
    s: Contrast, terms: Values, how: tuple[str, ...]
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    gainers, losers = terms > SAME, terms < -SAME
    together = ("together",) if gainers.sum() > 1 or losers.sum() > 1 else ()
    return s.names(gainers), s.names(losers), together + how


def _sum(s: Contrast, terms: Values, how: tuple[str, ...], *, larger: str = "") -> Reason:
    """Compare what some gain with what others lose; `terms` add up to more than 0, shape (stakeholder,).

    `larger`: the kind of sentence where somebody loses; empty for those that say by how much.
    """
    gainers, losers, counted = _parties(s, terms, how)
    gain, loss = float(terms[terms > 0].sum()), float(abs(terms[terms < 0].sum()))
    if not losers:
        uncounted = s.names(s.say & (_difference(s) < -SAME))  # whom the rule gives no price, or too little to matter
        if uncounted:
            return s.against("uncounted", gain, loss, counted, gainers=gainers, losers=uncounted)
        return s.against("no_loss", gain, loss, gainers=gainers, losers=losers)
    kind = larger or next((name for name, share in FRACTIONS.items() if loss < share * gain - SAME), "smaller")
    return s.against(kind, gain, loss, counted, gainers=gainers, losers=losers)


def _difference(s: Contrast) -> Values:
    return np.asarray(s.rewards[:, s.action] - s.rewards[:, s.other])


def _weighted_sum(s: Contrast) -> Reason:
    difference = _difference(s)
    return _sum(s, s.weights * difference, s.weighted(s.say & (abs(difference) > SAME)))


def _priced_sum(s: Contrast) -> Reason:
    """Rules for the whole policy: a weighted sum with multipliers of their fit."""
    multipliers = np.asarray(s.decisions.quantities["multipliers"], dtype=np.float64)
    column = multipliers[:, s.at if multipliers.shape[1] == s.decisions.n_contexts else 0]
    return _sum(s, s.weights * column * _difference(s), ("policy",))


def _relative_sum(s: Contrast) -> Reason:
    rule: Any = s.rule
    low, high = rule.disagreement_point(s.block)[:, 0], rule.ideal_point(s.block)[:, 0]
    return _scaled_sum(s, np.asarray(low), np.asarray(high))


def _scaled_sum(s: Contrast, low: Values, high: Values, least: float = INDIFFERENT) -> Reason:
    room = high - low
    scaled = np.where(room > least, _difference(s) / np.where(room > least, room, 1.0), 0.0)
    return _sum(s, s.weights * scaled, ("relative", *s.weighted(s.say & (abs(scaled) > SAME))))


def _range(s: Contrast) -> Reason:
    rule: Any = s.rule
    if not rule.normalised:
        return _weighted_sum(s)
    return _scaled_sum(s, s.rewards.min(axis=1), s.rewards.max(axis=1), s.block.tolerance)


def _extreme(s: Contrast, values: Values, kind: str, how: tuple[str, ...] = ()) -> Reason:
    """Compare the smallest of the values of those with a say, shape (stakeholder, action); names whose it is."""
    lowest = [int(np.where(s.say, values[:, a], np.inf).argmin()) for a in (s.action, s.other)]
    better, worse = (float(values[i, a]) for i, a in zip(lowest, (s.action, s.other), strict=True))
    own, others = ((s.block.stakeholders[i],) for i in lowest)
    if own == others:
        kind += "_same"
    return s.against(kind, better, worse, how, worst=own, worst_other=others)


def _worst(s: Contrast) -> Reason:
    return _extreme(s, s.rewards, "worst")


def _best(s: Contrast) -> Reason:
    most = [int(np.where(s.say, s.rewards[:, a], -np.inf).argmax()) for a in (s.action, s.other)]
    better, worse = (float(s.rewards[i, a]) for i, a in zip(most, (s.action, s.other), strict=True))
    own, others = ((s.block.stakeholders[i],) for i in most)
    return s.against("best", better, worse, best=own, best_other=others)


def _leximin(s: Contrast) -> Reason:
    orders = [np.argsort(np.where(s.say, s.rewards[:, a], np.inf), kind="stable") for a in (s.action, s.other)]
    for rank, (i, j) in enumerate(zip(*orders, strict=True)):
        better, worse = float(s.rewards[i, s.action]), float(s.rewards[j, s.other])
        if abs(better - worse) > s.block.tolerance:
            own, others = (s.block.stakeholders[i],), (s.block.stakeholders[j],)
            if not rank:
                return _worst(s)
            return s.against("next_worst", better, worse, worst=own, worst_other=others)
    return _score(s)


def _hurwicz(s: Contrast) -> Reason:
    rule: Any = s.rule
    if rule.optimism in (0, 1):
        return _best(s) if rule.optimism else _worst(s)
    ranked = np.argsort(np.where(s.say, s.rewards[:, s.action], np.nan), kind="stable")[: int(s.say.sum())]
    ends = tuple((s.block.stakeholders[i],) for i in (ranked[0], ranked[-1]))
    return _by_score(s, "mixture", worst=ends[0], best=ends[1])


def _ranked(s: Contrast) -> Reason:
    rule: Any = s.rule
    given = rule.order_weights
    falling = given is None or all(a >= b for a, b in pairwise(given))
    return _by_score(s, "ranked_equal" if falling else "ranked")


def _enough(s: Contrast) -> Reason:
    rule: Any = s.rule
    floors = np.broadcast_to(np.asarray(rule.floor, dtype=np.float64), s.weights.shape) - s.block.tolerance
    reached = (s.rewards >= floors[:, None]) & s.say[:, None]
    own, others = s.names(reached[:, s.action]), s.names(reached[:, s.other])
    weight = s.weights @ reached
    how = s.weighted(s.say)
    return s.against("enough", weight[s.action], weight[s.other], how, reached=own, reached_other=others)


def _proportion(s: Contrast) -> Reason:
    logs = np.log(np.maximum(s.rewards, FLOOR))
    terms = s.weights * (logs[:, s.action] - logs[:, s.other])
    return _sum(s, terms, s.weighted(s.say & (abs(terms) > SAME)), larger="proportion")


def _power_mean(s: Contrast) -> Reason:
    rule: Any = s.rule
    aversion = float(rule.alpha if s.rule.name == "alpha_fairness" else rule.aversion)
    special = {0.0: _weighted_sum, 1.0: _proportion, np.inf: _worst}
    return special[aversion](s) if aversion in special else _by_score(s, "equivalent", s.weighted(s.say))


def _start(s: Contrast) -> dict[str, str | tuple[str, ...]]:
    """Return the words for where a rule measures gains from."""
    rule: Any = s.rule
    mode = rule.disagreement if isinstance(rule.disagreement, str) else "declared"
    return {"start": mode, "status_quo": rule.status_quo or ""}


def _gains(s: Contrast) -> Values:
    """Return gains over the disagreement point, shape (stakeholder, action)."""
    rule: Any = s.rule
    return np.asarray(s.rewards - rule.disagreement_point(s.block)[:, :1])


def _from_start(s: Contrast, reason: Reason) -> Reason:
    return Reason(
        reason.kind, reason.action, reason.other, reason.who, _start(s), reason.how, reason.better, reason.worse
    )


def _left_below(s: Contrast) -> Reason | None:
    """Return that the runner-up leaves somebody below the status quo, where it does and the decision does not."""
    rule: Any = s.rule
    below = (_gains(s) < -INDIFFERENT) & s.say[:, None]
    if rule.disagreement != "status_quo" or below[:, s.action].any() or not below[:, s.other].any():
        return None
    least = np.where(s.say[:, None], _gains(s), np.inf).min(axis=0)
    who = s.names(below[:, s.other])
    return _from_start(s, s.against("below_start", least[s.action], least[s.other], who=who))


def _nash_bargaining(s: Contrast) -> Reason:
    gains, say = _gains(s), s.say
    nothing = (gains <= INDIFFERENT) & say[:, None]
    if below := _left_below(s):
        return below
    if nothing[:, s.other].any():
        least = np.where(say[:, None], gains, np.inf).min(axis=0)
        who = s.names(nothing[:, s.other])
        return _from_start(s, s.against("only_gain", least[s.action], least[s.other], who=who))
    own, others = (np.where(say, gains[:, a], 1.0) for a in (s.action, s.other))
    terms = s.weights * (np.log(own) - np.log(others))
    how = s.weighted(say & (abs(terms) > SAME))
    return _from_start(s, _sum(s, terms, how, larger="proportion_of_gain"))


def _egalitarian(s: Contrast) -> Reason:
    if below := _left_below(s):
        return below
    scale = np.where(s.say, s.weights * s.say.sum(), 1.0)[:, None]
    return _from_start(s, _extreme(s, _gains(s) / scale, "least_gain", s.weighted(s.say)))


def _kalai_smorodinsky(s: Contrast) -> Reason:
    if below := _left_below(s):
        return below
    rule: Any = s.rule
    room = (rule.ideal_point(s.block)[:, 0] - rule.disagreement_point(s.block)[:, 0])[:, None]
    able = room > INDIFFERENT
    return _extreme(s, np.where(able, _gains(s) / np.where(able, room, 1.0), np.inf), "least_share")


def _distance(s: Contrast) -> Reason:
    rule: Any = s.rule
    declared = () if rule.ideal == "context" else ("declared",)
    if np.isinf(rule.exponent) and not rule.two_sided:
        short = np.maximum(0.0, rule.ideal_point(s.block)[:, :1] - s.rewards) * s.weights[:, None]
        return _extreme_missed(s, np.asarray(short), declared)
    return _by_score(s, "distance", (*declared, *s.weighted(s.say)))


def _regret(s: Contrast) -> Reason:
    return _extreme_missed(s, (s.rewards.max(axis=1, keepdims=True) - s.rewards) * s.weights[:, None])


def _extreme_missed(s: Contrast, missed: Values, how: tuple[str, ...] = ()) -> Reason:
    extreme = _extreme(s, -missed, "least_missed", (*how, *s.weighted(s.say)))
    return s.against(extreme.kind, extreme.better or 0.0, extreme.worse or 0.0, extreme.how, **extreme.who)


def _debate(s: Contrast) -> Reason:
    return _by_score(s, "accepted")


def _majorities(kind: str) -> Callable[[Contrast], Reason]:
    """Return the reason of a rule on votes of two: one action beats all, or what the rule says else."""

    def reason(s: Contrast) -> Reason:
        """Compare one by one, or by the score."""
        margins = [_margin(s, b) for b in range(s.rewards.shape[1]) if b != s.action]
        if min(margins) > SAME:
            return s.against("majorities", min(margins), 0.0, s.weighted(s.say))
        return _by_score(s, kind)

    return reason


def _margin(s: Contrast, other: int) -> float:
    """Return the share of weight that prefers the decision to another action, less that which prefers the other."""
    tolerance = s.block.tolerance
    ranks = [_rank(s, a, tolerance) for a in (s.action, other)]
    return float(s.weights @ np.sign(ranks[1] - ranks[0]))


def _rank(s: Contrast, action: int, tolerance: float) -> Values:
    """Return how many actions each stakeholder puts above one, shape (stakeholder,)."""
    above: Mask = s.rewards - s.rewards[:, [action]] > tolerance
    return np.asarray(above.sum(axis=1), dtype=np.float64)


def _by_score(s: Contrast, kind: str, how: tuple[str, ...] = (), **who: tuple[str, ...]) -> Reason:
    """Return a reason whose numbers are the rule's own scores."""
    assert s.scores is not None
    return s.against(kind, s.scores[s.action], s.scores[s.other], how, **who)


def _vote(kind: str) -> Callable[[Contrast], Reason]:
    def reason(s: Contrast) -> Reason:
        """Compare by the score."""
        return _by_score(s, kind, s.weighted(s.say))

    return reason


def _score(s: Contrast) -> Reason:
    """Rules that are not known here: their score."""
    assert s.scores is not None
    actions = s.block.actions
    return Reason(
        "score", actions[s.action], actions[s.other], words={"rule": s.rule.label},
        better=float(s.scores[s.action]), worse=float(s.scores[s.other]),
    )  # fmt: skip


def _alone(s: Contrast) -> Reason:
    rule: Any = s.rule
    i = s.block.stakeholders.index(rule.stakeholder)
    return s.against("alone", s.rewards[i, s.action], s.rewards[i, s.other], who=(rule.stakeholder,))


COMPARISONS: dict[str, Callable[[Contrast], Reason]] = {
    "utilitarian": _weighted_sum,
    "relative_utilitarian": _relative_sum,
    "range": _range,
    "population_maximin": _priced_sum,
    "population_leximin": _priced_sum,
    "population_nash": _priced_sum,
    "maximin": _worst,
    "leximin": _leximin,
    "hurwicz": _hurwicz,
    "generalised_gini": _ranked,
    "sufficientarian": _enough,
    "nash_social_welfare": _proportion,
    "alpha_fairness": _power_mean,
    "atkinson": _power_mean,
    "nash_bargaining": _nash_bargaining,
    "egalitarian_equivalent": _egalitarian,
    "kalai_smorodinsky": _kalai_smorodinsky,
    "compromise_programming": _distance,
    "minimax_regret": _regret,
    "debate": _debate,
    "stakeholder": _alone,
    "plurality": _vote("firsts"),
    "anti_plurality": _vote("lasts"),
    "borda": _vote("points"),
    "bucklin": _vote("bucklin"),
    "instant_runoff": _vote("runoff"),
    "coombs": _vote("coombs"),
    "approval": _vote("approved"),
    "majority_judgment": _vote("middle"),
    "copeland": _majorities("victories"),
    "minimax": _majorities("worst_defeat"),
    "schulze": _majorities("chains"),
    "ranked_pairs": _majorities("locked"),
    "kemeny": _majorities("agreement"),
}
"""What a rule compares, by its registered name; `_score` for all others."""


def compared(s: Contrast) -> Reason:
    """Return the reason why the score of the decision is higher than that of the runner-up."""
    return COMPARISONS.get(s.rule.name, _score)(s)
