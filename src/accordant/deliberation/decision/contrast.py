"""What is at stake between a decision and another action: the knowledge bases of a dialogue, with words for them.

[ours] A stakeholder asks why the decision was taken rather than the action that it would have chosen alone (people ask
contrastive questions: Miller 2019). Who answers speaks for the strategy of the run, and knows what the explanation of
the run found; who asks sees its own expected rewards alone. What is at stake for a stakeholder is the difference of its
expected rewards, times its share of the weights: what a formula that says so weighs.

    prefer            the decision rather than the other action
    gain_i            the decision gives i more than the other action
    decided           the strategy decides so; a premise only where nobody gains
    gain_… -> prefer  by the score of the strategy
    gain_i -> ¬most   i, who has most at stake of those who gain, has more than who asks
    loss              the other action gives more to who asks
    most              nobody has more at stake than who asks: an assumption, of somebody who does not see others
    loss & most -> ¬prefer
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from accordant.deliberation.dialogue import KnowledgeBase, Literal, Rule
from accordant.deliberation.dialogue.knowledge import Formula
from accordant.explanation import Explanation
from accordant.explanation.result import Favourite
from accordant.explanation.sentences import LEVEL
from accordant.explanation.value_text import decimals_for, shown
from accordant.strategies.selection import TIE_TOLERANCE

PREFER, DECIDED, LOSS, MOST = map(Literal, ("prefer", "decided", "loss", "most"))
FIRM = 2.0  # weight of what is on record: more than all that can be at stake, which is 1 at most
NEXT_TO_NOTHING = 1e-9  # weight of what does not count in the scale, for weights are above 0


@dataclass(frozen=True, eq=False)
class Contrast:
    """The two bases of a dialogue between the strategy of a run and a stakeholder.

    Attributes
    ----------
    who, rule
        Who asks, and the label of the strategy that answers.
    decision, other
        The action that was decided, and the one that is asked about.
    explainer, explainee
        What the two know.
    words
        Formula to a phrase; literals and their complements, and rules.
    """

    who: str
    rule: str
    decision: str
    other: str
    explainer: KnowledgeBase
    explainee: KnowledgeBase
    words: Mapping[Formula, str]


def contrast(explained: Explanation, who: str, weights: Sequence[float]) -> Contrast:
    """Return what a stakeholder and the strategy of a run know of a decision.

    Parameters
    ----------
    explained
        The explanation of the decision, of two actions or more.
    who
        The stakeholder that asks.
    weights
        Of all stakeholders in the run, at least 0, their sum above 0.
    """
    other = _other(explained, explained.favourites[explained.stakeholders.index(who)])
    gains = next(comparison.gains for comparison in explained.comparisons if comparison.action == other)
    shares = np.asarray(weights, dtype=np.float64) / np.sum(weights)
    stakes = dict(zip(explained.stakeholders, (np.asarray(gains) * shares).tolist(), strict=True))
    gained = {name: Literal(f"gain_{i}") for i, name in enumerate(explained.stakeholders) if gains[i] > LEVEL}
    own = gains[explained.stakeholders.index(who)]
    at_stake = max(-stakes[who], NEXT_TO_NOTHING)
    reasons = tuple(gained.values()) or (DECIDED,)
    counts = Rule(reasons, PREFER)
    held: dict[Formula, float] = {counts: FIRM} | {
        literal: max(stakes[name], NEXT_TO_NOTHING) for name, literal in gained.items()
    }
    if not gained:
        held[DECIDED] = NEXT_TO_NOTHING
    asks: dict[Formula, float] = {gained[who]: FIRM} if who in gained else {}
    words = _words(explained, other, who, gains, gained) | {counts: _score(explained, other)}
    if own < -LEVEL:
        objection = Rule((LOSS, MOST), PREFER.complement)
        asks |= {LOSS: FIRM, MOST: at_stake, objection: at_stake}
        words[objection] = f"whoever has most at stake is to decide between {explained.choice.action} and {other}"
        held[LOSS] = FIRM
        most = max(gained, key=stakes.__getitem__, default=who)
        if stakes[most] > at_stake:
            rule = Rule((gained[most],), MOST.complement)
            held[rule] = FIRM
            words[rule] = f"this is more than {who} has at stake{_counted(weights)}"
        else:
            held[MOST] = FIRM
    used = {literal.atom for formula in (*held, *asks) for literal in (*formula.body, formula.head)}
    words = {formula: said for formula, said in words.items() if formula.head.atom in used}
    return Contrast(who, explained.rule, explained.choice.action, other, _base(held), _base(asks), words)


def _base(held: Mapping[Formula, float]) -> KnowledgeBase:
    return KnowledgeBase(tuple(held), held)


def _other(explained: Explanation, favourite: Favourite) -> str:
    """Return the action that a stakeholder asks about: its favourite, or else what came closest to the decision."""
    decision = explained.choice.action
    if decision not in favourite.equals:
        return favourite.action
    favourites = [best.action for best in explained.favourites if decision not in best.equals]
    others = [explained.choice.runner_up, *favourites, *explained.actions]
    return next(action for action in others if action and action != decision)


def _words(
    explained: Explanation, other: str, who: str, gains: Sequence[float], gained: Mapping[str, Literal]
) -> dict[Formula, str]:
    decision = explained.choice.action
    own = gains[explained.stakeholders.index(who)]
    words: dict[Formula, str] = {
        PREFER: f"{decision} rather than {other}",
        PREFER.complement: f"{other} rather than {decision}",
        DECIDED: f"{explained.rule} decides {decision}, which gives nobody more expected reward than {other}",
        LOSS: f"{other} gives {who} {shown(abs(own))} more expected reward than {decision}",
        MOST: f"nobody has more at stake than {who}",
        MOST.complement: f"somebody has more at stake than {who}",
    }
    for name, literal in gained.items():
        gain = shown(gains[explained.stakeholders.index(name)])
        words[literal] = f"{decision} gives {name} {gain} more expected reward than {other}"
    return words


def _score(explained: Explanation, other: str) -> str:
    """Say what the rule makes of the two actions."""
    choice, rule = explained.choice, explained.rule
    places = [explained.actions.index(name) for name in (choice.action, other)]
    if choice.probabilities is not None:
        chances = [shown(choice.probabilities[place]) for place in places]
        return f"by {rule}, which draws {choice.action} with probability {chances[0]} and {other} with {chances[1]}"
    if choice.scores is None:
        return f"by {rule}, which gives no scores, that decides"
    own, their = (choice.scores[place] for place in places)
    if not math.isfinite(own):
        return f"by {rule}, which finds nothing that everybody gains from, the order of ties decides"
    if not math.isfinite(their):
        return f"by {rule}, which leaves {other} out here, that decides"
    digits = decimals_for(own - their)
    if choice.tied and abs(own - their) <= TIE_TOLERANCE * max(1.0, abs(own)):
        return f"by {rule}, which scores both {shown(own)}, the higher sum, then the declared order decides"
    scores = f"{choice.action} {shown(own, digits=digits)} and {other} {shown(their, digits=digits)}"
    return f"by {rule}, which scores {scores}, that decides"


def _counted(weights: Sequence[float]) -> str:
    return "" if len(set(weights)) == 1 else ", counted with the weights of the run"
