"""An explanation in plain words: every number is read from the result and written by `shown`."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_FLOOR

from accordant.certificates.method import Fixed
from accordant.explanation.counterfactual_sentences import would_change
from accordant.explanation.misreports import Misreport
from accordant.explanation.person import Forecast, Trait
from accordant.explanation.reasons.measures import REWARDS
from accordant.explanation.result import Comparison, Findings
from accordant.explanation.value_text import MOST_DIGITS, capital, decimals_for, shown, value_text
from accordant.naming import listed

HEADINGS = {  # of sentences, by topic
    "decides": "The decision",
    "traded": "What it traded off",
    "change": "What would have changed it",
    "sure": "How sure it is",
}


LEVEL = 1e-12  # gains this small are rounding
TOPICS = ("decides", "person", "traded", "change", "sure")
FLAGS = {
    "no_agreement": "No action leaves everybody better off than the disagreement point, so the tie rule decided.",
    "irrational": "Every alternative leaves somebody below the status quo.",
    "floored": "An expected reward lies below the floor of the rule, and the floor counted in its place.",
    "floor_unmet": "No action satisfies all constraints.",
    "group_unseen": "No training context belongs to this group, so what all of them together say decided.",
    "changed": "Constraints changed the decision: the rule alone would choose another action.",
    "randomised": "The decision in this context is drawn.",
    "condorcet_winner_exists": "One action beats every other one by a majority.",
}


def sentences_by_topic(explained: Findings) -> dict[str, tuple[str, ...]]:
    """Return sentences by topic: what decides, the person if a policy told, what was traded off, changes, how sure."""
    said = (_decides(explained), _person(explained), _traded(explained), would_change(explained), _sure(explained))
    texts = dict(zip(TOPICS, map(tuple, said), strict=True))
    return texts if explained.person is not None else {topic: texts[topic] for topic in TOPICS if topic != "person"}


def _person(explained: Findings) -> list[str]:
    """Say how usual each value is, and what is likely to follow from each action."""
    person = explained.person
    if person is None:
        return []
    return [*map(_trait, person.traits), *_forecast(explained, person.forecast)]


def _trait(trait: Trait) -> str:
    same = f"{shown(trait.same)} of {trait.rows} training rows have the same"
    if trait.below is None:
        return f"{capital(trait.feature)} is {value_text(trait.value)}: {same}."
    less = f"{shown(trait.below)} of {trait.rows} training rows have less"
    return f"{capital(trait.feature)} is {value_text(trait.value)}: {less}, {shown(trait.same)} the same."


BASES = {
    "calibrated": (
        "These are probabilities of an outcome model that was calibrated, or chosen, on rows that it had not seen."
    ),
    "checked": (
        "The outcome model was not calibrated; on the untouched rows its mean probabilities "
        "agree with the shares that were observed."
    ),
    "uncalibrated": "The outcome model is not calibrated, so no probabilities of outcomes are given.",
}


def _forecast(explained: Findings, forecast: Forecast) -> list[str]:
    said = [] if forecast.depends_on_action else ["The forecast of the outcome does not depend on the action."]
    if forecast.means is not None:
        return [*said, *(_level(forecast, a, action) for a, action in enumerate(explained.actions))]
    if forecast.probabilities is None:
        return [BASES[forecast.basis]]
    rows = forecast.probabilities if forecast.depends_on_action else forecast.probabilities[:1]
    for action, shares in zip(explained.actions, rows, strict=False):
        likely = [f"{name} {shown(share)}" for name, share in zip(forecast.outcomes, shares, strict=True)]
        under = f"After {action}" if forecast.depends_on_action else "Whatever is done"
        said.append(f"{under}, outcomes are likely with these probabilities: {', '.join(likely)}.")
    return [*said, BASES[forecast.basis]]


def _level(forecast: Forecast, a: int, action: str) -> str:
    assert forecast.means is not None
    unit = f" {forecast.unit}" if forecast.unit else ""
    mean = f"After {action}, {forecast.name} is {shown(forecast.means[a])}{unit} on average"
    if forecast.low is None or forecast.high is None or forecast.level is None:
        return f"{mean}."
    ends = f"from {shown(forecast.low[a])} to {shown(forecast.high[a])}"
    return f"{mean}; with probability {shown(forecast.level)} it is {ends}."


def _decides(explained: Findings) -> list[str]:
    choice, actions = explained.choice, explained.actions
    said = [explained.reason.sentence()]
    if len(actions) > 1 and explained.misreports[0].method == Fixed.words:
        said.append("It does not read expected rewards.")
    said += _measured(explained)
    if choice.tied:
        said.append(
            "Another action has the same score: the higher sum of expected rewards decided, then the declared order."
        )
    if choice.probabilities is not None:
        drawn = [f"{name} {shown(p)}" for name, p in zip(actions, choice.probabilities, strict=True)]
        said.append(f"The action is drawn, with these probabilities: {', '.join(drawn)}.")
    said += [FLAGS.get(name, f"The decision carries the flag {name}.") for name in choice.flags]
    return said + _points(explained)


def _measured(explained: Findings) -> list[str]:
    """Say what the rule compares, and the two values that decided."""
    choice, measure = explained.choice, explained.measure
    if choice.scores is None:
        return [f"The rule {explained.rule} gives no scores to actions."]
    if measure is None or not choice.runner_up:
        return [f"The rule is {explained.rule}."]
    own, other = (measure.values[explained.actions.index(name)] for name in (choice.action, choice.runner_up))
    if own is None or other is None:
        return [f"The rule {explained.rule} compares {measure.words}."]
    digits = min(decimals_for(own - other), MOST_DIGITS)
    compared = f"{shown(own, digits=digits)}, against {shown(other, digits=digits)} of the runner-up {choice.runner_up}"
    better = "less is better" if measure.less else "more is better"
    rewards = [REWARDS] if "reward" in measure.words else []
    return [f"The rule {explained.rule} compares {measure.words} ({better}): {compared}.", *rewards]


def _points(explained: Findings) -> list[str]:
    words = {
        "disagreement": "Gains are measured from {}.",
        "ideal": "The best that counts is {}.",
        "multipliers": "An expected reward counts {}, in place of 1: so the policy is best over all training contexts.",
        "below_floor": "The decision falls below what was asked for by {}.",
    }
    said = []
    for name, values in explained.points.items():
        some = [
            f"{shown(value)} for {who}"
            for who, value in zip(explained.stakeholders, values, strict=True)
            if name != "below_floor" or value > 0
        ]
        if some:
            said.append(words[name].format(listed(some)))
    return said


def _traded(explained: Findings) -> list[str]:
    decision = explained.choice.action
    content = [favourite.who for favourite in explained.favourites if decision in favourite.equals]
    said = []
    if content:
        said.append(f"Alone, {listed(content)} would have chosen {decision} too{_or_equal(explained, content)}.")
    for action in explained.actions:
        others = [
            favourite.who
            for favourite in explained.favourites
            if favourite.action == action and decision not in favourite.equals
        ]
        if others:
            said.append(f"Alone, {listed(others)} would have chosen {action}.")
    relevant = [
        comparison for comparison in explained.comparisons if comparison.runner_up or _wanted(explained, comparison)
    ]
    return said + [_compared(explained, comparison) for comparison in relevant]


def _or_equal(explained: Findings, content: Sequence[str]) -> str:
    level = any(len(favourite.equals) > 1 for favourite in explained.favourites if favourite.who in content)
    return " or something equally good to them" if level else ""


def _wanted(explained: Findings, comparison: Comparison) -> bool:
    return any(
        favourite.action == comparison.action and explained.choice.action not in favourite.equals
        for favourite in explained.favourites
    )


def _compared(explained: Findings, comparison: Comparison) -> str:
    who = "the runner-up " if comparison.runner_up else ""
    gains = []
    for name, gain in zip(explained.stakeholders, comparison.gains, strict=True):
        more = "as much" if abs(gain) <= LEVEL else f"{shown(abs(gain))} {'more' if gain > 0 else 'less'}"
        gains.append(f"{name} {more}")
    return f"Instead of {who}{comparison.action} it gives {listed(gains)} expected reward."


def _sure(explained: Findings) -> list[str]:
    everybody = explained.misreports[0]
    said = []
    if explained.choice.tied:
        said.append("The decision is a close call: it hangs on how ties are broken.")
    if everybody.safe is None:
        return said
    if not everybody.never and not everybody.nothing_certified and not everybody.at_once:
        most = shown(everybody.safe, ROUND_FLOOR)
        said.append(f"Errors of at most {most} in each of the expected rewards would not have changed the decision.")
    unknown = [_who(misreport) for misreport in explained.misreports if misreport.nothing_certified]
    if unknown:
        said.append(f"Nothing is certified about changes of the expected rewards of {listed(unknown)}.")
    bounded = [
        _who(misreport) for misreport in explained.misreports if not misreport.exact and not misreport.nothing_certified
    ]
    if bounded:
        who = listed(bounded)
        said.append(f"How far expected rewards may move is a certified lower bound for {who}; more may be safe too.")
    else:
        said.append(
            "How far expected rewards may move is exact: just beyond, a change is known to alter it, or none does."
        )
    return said


def _who(misreport: Misreport) -> str:
    return misreport.who or "everybody together"
