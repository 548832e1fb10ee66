"""An explanation in plain words: every number is read from the result and written by `shown`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal

from accordant.certificates.method import Fixed
from accordant.explanation.contexts import ContextChanges, Difference, Neighbour, Value
from accordant.explanation.misreports import Misreport
from accordant.explanation.person import Forecast, Trait
from accordant.explanation.reasons.measures import REWARDS
from accordant.explanation.recourse import Recourse
from accordant.explanation.result import Comparison, Findings, PivotalHere
from accordant.explanation.weights import NewWeights
from accordant.naming import listed

MINUS = "\N{MINUS SIGN}"
MOST_DIGITS = 12  # decimals beyond which two values that a rule compares are level
SMALL = 0.001  # below this three decimals would show too little
HEADINGS = {  # of sentences, by topic
    "decides": "The decision",
    "traded": "What it traded off",
    "change": "What would have changed it",
    "sure": "How sure it is",
}


def shown(value: float, rounding: str = ROUND_HALF_EVEN, digits: int | None = None) -> str:
    """Return a number as every sentence writes it: three decimals, or two digits if it is smaller than 0.001.

    Parameters
    ----------
    value
        A finite number.
    rounding
        Of `decimal`: what holds up to a number must be rounded down, what holds from it on must be rounded up.
    digits
        Decimals; None for as many as the number itself needs.
    """
    digits = decimals_for(value) if digits is None else digits
    rounded = Decimal(repr(float(value))).quantize(Decimal(1).scaleb(-digits), rounding=rounding)
    return f"{MINUS if rounded < 0 else ''}{abs(rounded):f}"


def decimals_for(*differences: float) -> int:
    """Return the decimals that show the smallest difference: three, or those of two digits if it is below 0.001."""
    size = min((abs(each) for each in differences if each), default=1.0)
    return 3 if size >= SMALL else 1 - math.floor(math.log10(size))


def capital(words: str) -> str:
    """Return words with a capital first letter."""
    return words[:1].upper() + words[1:]


ABSENT = {"dropped": "without {who}", "neutralised": "if {who} had no preference"}
QUESTIONS = ABSENT | {"doubled": "with twice the weight of {who}", "halved": "with half the weight of {who}"}


def would_change(explained: Findings) -> list[str]:
    """Say whose absence, which expected rewards, weights or contexts would have led to another decision."""
    return [
        *_changes(explained.recourse), *_who_is_pivotal(explained), *_moves(explained), *_weights(explained),
        *_other_contexts(explained.context),
    ]  # fmt: skip


def _changes(found: Recourse | None) -> list[str]:
    """Say what the person could change; every change was decided again."""
    if found is None:
        return []
    if found.reason:
        return [f"What the person could change was not looked for: {found.reason}."]
    features = listed(found.changeable)
    if not found.changes:
        how = "all values" if found.everything else f"{found.tried} changes"
        return [
            f"Of {features}, {how} that training rows have were tried: no plausible change leads to another action."
        ]
    said = []
    for change in found.changes:
        parts = [f"{each.feature} were {_value(each.there)} (here {_value(each.here)})" for each in change.differences]
        far = shown(change.distance)
        said.append(f"If {listed(parts)}, {change.action} would be decided: {far} interquartile ranges away.")
    return [
        *said,
        f"Only {features} may change. Of texts, a change counts 1.",
        "Each change was decided again by the same policy, and is no more unlike the training rows than the person is.",
    ]


def _who_is_pivotal(explained: Findings) -> list[str]:
    said = []
    for each in explained.pivotal:
        for action in explained.actions:
            ways = [
                QUESTIONS[name].format(who=each.who)
                for name in QUESTIONS
                if each.changes[name] and each.actions[name] == action
            ]
            if ways:
                said.append(f"{capital(listed(ways, 'or'))}, {action} would be decided.")
    if not any(each.changes[question] for each in explained.pivotal for question in ABSENT):
        asked = [each.who for each in explained.pivotal if _both_asked(each)]
        if asked:
            whoever = "one of them" if len(asked) > 1 else "it"
            said.append(f"The same is decided without {listed(asked, 'or')}, and if {whoever} had no preference.")
    return said


def _both_asked(each: PivotalHere) -> bool:
    return all(each.changes[question] is not None for question in ABSENT)


def _moves(explained: Findings) -> list[str]:
    """Say how far E may move: for everybody together, for each stakeholder, and who cannot change anything."""
    everybody, *alone = explained.misreports
    if everybody.safe is None:
        return [f"How far expected rewards may move is not known: {everybody.method}."]
    if everybody.never:
        return ["Nothing that stakeholders could report, from 0 to 1, would change the decision."]
    powerless = [each.who for each in alone if each.never and each.who is not None]
    said = [_misreport(each) for each in explained.misreports if not each.never]
    if powerless:
        said.append(
            f"Nothing that {listed(powerless, 'or')} alone could report, from 0 to 1, would change the decision."
        )
    return said


def _misreport(each: Misreport) -> str:
    assert each.safe is not None
    whose = "all expected rewards" if each.who is None else f"the expected rewards of {each.who} alone"
    if each.nothing_certified:
        if each.changed_at is None:
            return f"For changes of {whose}, nothing is certified, and no change that alters the decision is known."
        return (
            f"For changes of {whose}, nothing is certified; by {shown(each.changed_at, ROUND_CEILING)} they can "
            f"change so that {each.action} wins."
        )
    if each.at_once:
        return f"However little {whose} may change, {each.action} can win."
    stays = f"If {whose} change by at most {shown(each.safe, ROUND_FLOOR)} each, the decision stays"
    if each.changed_at is None:
        return f"{stays}; no larger change that alters it is known, and none is ruled out."
    if each.exact:
        return f"{stays}; just beyond, {each.action} can win."
    return (
        f"{stays}; by {shown(each.changed_at, ROUND_CEILING)}, {each.action} can win; between the two it is not known."
    )


def _weights(explained: Findings) -> list[str]:
    weights = explained.weights
    if weights.method == "none":
        return [f"Other weights were not looked for: {weights.reason}."]
    if not weights.found:
        return [f"{no_weights(weights.method, proven=weights.proven)}."]
    return [_new_weights(explained, each) for each in weights.found]


def no_weights(method: str, *, proven: bool) -> str:
    """Return words for weights that were looked for and not found."""
    if proven:
        return "No other weights above 0 for the same stakeholders would lead to another decision"
    if method == "exact":
        return "No other weights were found that would lead to another decision"
    return "On a grid of shares, no weights were found that would lead to another decision"


def _new_weights(explained: Findings, each: NewWeights) -> str:
    digits = decimals_for(each.moved)
    shares = listed([
        f"{name} {shown(s, digits=max(digits, decimals_for(s)))}"
        for name, s in zip(explained.stakeholders, each.shares, strict=True)
    ])  # fmt: skip
    if each.direction == "shift":
        return (
            f"The smallest shift of weight that changes the decision is {shown(each.moved, ROUND_CEILING)} "
            f"of all weight: with {shares}, {each.action} would be decided."
        )
    assert each.who is not None and explained.weights.shares is not None  # noqa: PT018 - narrows both
    i = explained.stakeholders.index(each.who)
    beyond = ROUND_CEILING if each.direction == "more" else ROUND_FLOOR
    exact = "" if explained.weights.method == "exact" else " (the first change seen on a grid)"
    new, old = each.shares[i], explained.weights.shares[i]
    digits = decimals_for(new - old, new, 1.0 - new)  # never written like the old one, or like none or all
    return (
        f"With {each.direction} weight for {each.who}, {shown(new, beyond, digits)} of all weight in place of "
        f"{shown(old, digits=digits)}, {each.action} would be decided{exact}."
    )


def _other_contexts(found: ContextChanges | None) -> list[str]:
    if found is None:
        return []
    if found.reason:
        return [f"Other contexts were not looked for: {found.reason}."]
    said = [
        f"Other contexts were looked for among {contexts_given(found.observed)}: {_differently(found.differently)}."
    ]
    if found.nearest is not None:
        differences = listed([_difference(each) for each in found.nearest.differences])
        said.append(
            f"The nearest of them, at distance {shown(found.nearest.distance)}, gets {found.nearest.action}; "
            f"it differs in {differences or 'no feature that was compared'}."
        )
    said += [_single(each) for each in found.single]
    if not found.single:
        said.append(
            f"No value that a single feature has among {contexts_given(found.observed)} would lead to another decision."
        )
    if found.thinned:
        said.append(f"Of {listed(found.thinned)}, evenly spaced values were tried.")
    if found.nearest is not None or found.single:
        said.append("These are associations of the models with what was observed, not causes.")
    return said


def contexts_given(observed: int) -> str:
    """Return words for the contexts that were looked among."""
    return "the 1 observed context given" if observed == 1 else f"the {observed} observed contexts given"


def _differently(contexts: int) -> str:
    if contexts == 0:
        return "none is decided differently"
    return f"{contexts} {'is' if contexts == 1 else 'are'} decided differently"


def _single(each: Neighbour) -> str:
    return f"With {_difference(each.differences[0])} and all else equal, {each.action} would be decided."


def _difference(each: Difference) -> str:
    return f"{each.feature} {_value(each.there)} in place of {_value(each.here)}"


def _value(value: Value | None) -> str:
    if value is None:
        return "missing"
    if isinstance(value, str):
        return value or "an empty text"
    text = f"{value:.0f}" if float(value).is_integer() else f"{value:.4g}"
    return text.replace("-", MINUS)


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
    found = dict(zip(TOPICS, map(tuple, said), strict=True))
    return found if explained.person is not None else {topic: found[topic] for topic in TOPICS if topic != "person"}


def _person(explained: Findings) -> list[str]:
    """Say how usual each value is, and what is likely to follow from each action."""
    person = explained.person
    if person is None:
        return []
    return [*map(_trait, person.traits), *_forecast(explained, person.forecast)]


def _trait(trait: Trait) -> str:
    same = f"{shown(trait.same)} of {trait.rows} training rows have the same"
    if trait.below is None:
        return f"{capital(trait.feature)} is {_value(trait.value)}: {same}."
    less = f"{shown(trait.below)} of {trait.rows} training rows have less"
    return f"{capital(trait.feature)} is {_value(trait.value)}: {less}, {shown(trait.same)} the same."


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


def _forecast(explained: Findings, found: Forecast) -> list[str]:
    said = [] if found.depends_on_action else ["The forecast of the outcome does not depend on the action."]
    if found.means is not None:
        return [*said, *(_level(found, a, action) for a, action in enumerate(explained.actions))]
    if found.probabilities is None:
        return [BASES[found.basis]]
    rows = found.probabilities if found.depends_on_action else found.probabilities[:1]
    for action, shares in zip(explained.actions, rows, strict=False):
        likely = [f"{name} {shown(share)}" for name, share in zip(found.outcomes, shares, strict=True)]
        under = f"After {action}" if found.depends_on_action else "Whatever is done"
        said.append(f"{under}, outcomes are likely with these probabilities: {', '.join(likely)}.")
    return [*said, BASES[found.basis]]


def _level(found: Forecast, a: int, action: str) -> str:
    assert found.means is not None
    unit = f" {found.unit}" if found.unit else ""
    mean = f"After {action}, {found.name} is {shown(found.means[a])}{unit} on average"
    if found.low is None or found.high is None or found.level is None:
        return f"{mean}."
    ends = f"from {shown(found.low[a])} to {shown(found.high[a])}"
    return f"{mean}; with probability {shown(found.level)} it is {ends}."


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
    content = [each.who for each in explained.favourites if decision in each.equals]
    said = []
    if content:
        said.append(f"Alone, {listed(content)} would have chosen {decision} too{_or_equal(explained, content)}.")
    for action in explained.actions:
        others = [each.who for each in explained.favourites if each.action == action and decision not in each.equals]
        if others:
            said.append(f"Alone, {listed(others)} would have chosen {action}.")
    relevant = [each for each in explained.comparisons if each.runner_up or _wanted(explained, each)]
    return said + [_compared(explained, each) for each in relevant]


def _or_equal(explained: Findings, content: Sequence[str]) -> str:
    level = any(len(each.equals) > 1 for each in explained.favourites if each.who in content)
    return " or something equally good to them" if level else ""


def _wanted(explained: Findings, comparison: Comparison) -> bool:
    return any(
        each.action == comparison.action and explained.choice.action not in each.equals for each in explained.favourites
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
    unknown = [_who(each) for each in explained.misreports if each.nothing_certified]
    if unknown:
        said.append(f"Nothing is certified about changes of the expected rewards of {listed(unknown)}.")
    bounded = [_who(each) for each in explained.misreports if not each.exact and not each.nothing_certified]
    if bounded:
        who = listed(bounded)
        said.append(f"How far expected rewards may move is a certified lower bound for {who}; more may be safe too.")
    else:
        said.append(
            "How far expected rewards may move is exact: just beyond, a change is known to alter it, or none does."
        )
    return said


def _who(each: Misreport) -> str:
    return each.who or "everybody together"
