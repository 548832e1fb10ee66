"""What would have changed a decision, in plain words: the person, stakeholders, expected rewards, weights, contexts."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR

from accordant.explanation.contexts import ContextChanges, Difference, Neighbour
from accordant.explanation.misreports import Misreport
from accordant.explanation.recourse import Recourse
from accordant.explanation.result import Findings, PivotalHere
from accordant.explanation.value_text import capital, decimals_for, shown, value_text
from accordant.explanation.weights import NewWeights
from accordant.naming import listed

ABSENT = {"dropped": "without {who}", "neutralised": "if {who} had no preference"}
QUESTIONS = ABSENT | {"doubled": "with twice the weight of {who}", "halved": "with half the weight of {who}"}


def would_change(explained: Findings) -> list[str]:
    """Say whose absence, which expected rewards, weights or contexts would have led to another decision."""
    return [
        *_changes(explained.recourse), *_who_is_pivotal(explained), *_moves(explained), *_weights(explained),
        *_other_contexts(explained.context),
    ]  # fmt: skip


def _changes(recourse: Recourse | None) -> list[str]:
    """Say what the person could change; every change was decided again."""
    if recourse is None:
        return []
    if recourse.reason:
        return [f"What the person could change was not looked for: {recourse.reason}."]
    features = listed(recourse.changeable)
    if not recourse.changes:
        how = "all values" if recourse.everything else f"{recourse.tried} changes"
        return [
            f"Of {features}, {how} that training rows have were tried: no plausible change leads to another action."
        ]
    said = []
    for change in recourse.changes:
        parts = [
            f"{difference.feature} were {value_text(difference.there)} (here {value_text(difference.here)})"
            for difference in change.differences
        ]
        far = shown(change.distance)
        said.append(f"If {listed(parts)}, {change.action} would be decided: {far} interquartile ranges away.")
    return [
        *said,
        f"Only {features} may change. Of texts, a change counts 1.",
        "Each change was decided again by the same policy, and is no more unlike the training rows than the person is.",
    ]


def _who_is_pivotal(explained: Findings) -> list[str]:
    said = []
    for pivotal in explained.pivotal:
        for action in explained.actions:
            ways = [
                QUESTIONS[name].format(who=pivotal.who)
                for name in QUESTIONS
                if pivotal.changes[name] and pivotal.actions[name] == action
            ]
            if ways:
                said.append(f"{capital(listed(ways, 'or'))}, {action} would be decided.")
    if not any(stakeholder.changes[question] for stakeholder in explained.pivotal for question in ABSENT):
        asked = [stakeholder.who for stakeholder in explained.pivotal if _both_asked(stakeholder)]
        if asked:
            whoever = "one of them" if len(asked) > 1 else "it"
            said.append(f"The same is decided without {listed(asked, 'or')}, and if {whoever} had no preference.")
    return said


def _both_asked(pivotal: PivotalHere) -> bool:
    return all(pivotal.changes[question] is not None for question in ABSENT)


def _moves(explained: Findings) -> list[str]:
    """Say how far E may move: for everybody together, for each stakeholder, and who cannot change anything."""
    everybody, *alone = explained.misreports
    if everybody.safe is None:
        return [f"How far expected rewards may move is not known: {everybody.method}."]
    if everybody.never:
        return ["Nothing that stakeholders could report, from 0 to 1, would change the decision."]
    powerless = [misreport.who for misreport in alone if misreport.never and misreport.who is not None]
    said = [_misreport(misreport) for misreport in explained.misreports if not misreport.never]
    if powerless:
        said.append(
            f"Nothing that {listed(powerless, 'or')} alone could report, from 0 to 1, would change the decision."
        )
    return said


def _misreport(misreport: Misreport) -> str:
    assert misreport.safe is not None
    whose = "all expected rewards" if misreport.who is None else f"the expected rewards of {misreport.who} alone"
    if misreport.nothing_certified:
        if misreport.changed_at is None:
            return f"For changes of {whose}, nothing is certified, and no change that alters the decision is known."
        return (
            f"For changes of {whose}, nothing is certified; by {shown(misreport.changed_at, ROUND_CEILING)} they can "
            f"change so that {misreport.action} wins."
        )
    if misreport.at_once:
        return f"However little {whose} may change, {misreport.action} can win."
    stays = f"If {whose} change by at most {shown(misreport.safe, ROUND_FLOOR)} each, the decision stays"
    if misreport.changed_at is None:
        return f"{stays}; no larger change that alters it is known, and none is ruled out."
    if misreport.exact:
        return f"{stays}; just beyond, {misreport.action} can win."
    return (
        f"{stays}; by {shown(misreport.changed_at, ROUND_CEILING)}, {misreport.action} can win; "
        "between the two it is not known."
    )


def _weights(explained: Findings) -> list[str]:
    weights = explained.weights
    if weights.method == "none":
        return [f"Other weights were not looked for: {weights.reason}."]
    if not weights.found:
        return [f"{no_weights(weights.method, proven=weights.proven)}."]
    return [_new_weights(explained, change) for change in weights.found]


def no_weights(method: str, *, proven: bool) -> str:
    """Return words for weights that were looked for and not found."""
    if proven:
        return "No other weights above 0 for the same stakeholders would lead to another decision"
    if method == "exact":
        return "No other weights were found that would lead to another decision"
    return "On a grid of shares, no weights were found that would lead to another decision"


def _new_weights(explained: Findings, change: NewWeights) -> str:
    digits = decimals_for(change.moved)
    shares = listed([
        f"{name} {shown(s, digits=max(digits, decimals_for(s)))}"
        for name, s in zip(explained.stakeholders, change.shares, strict=True)
    ])  # fmt: skip
    if change.direction == "shift":
        return (
            f"The smallest shift of weight that changes the decision is {shown(change.moved, ROUND_CEILING)} "
            f"of all weight: with {shares}, {change.action} would be decided."
        )
    assert change.who is not None and explained.weights.shares is not None  # noqa: PT018 - narrows both
    i = explained.stakeholders.index(change.who)
    beyond = ROUND_CEILING if change.direction == "more" else ROUND_FLOOR
    exact = "" if explained.weights.method == "exact" else " (the first change seen on a grid)"
    new, old = change.shares[i], explained.weights.shares[i]
    digits = decimals_for(new - old, new, 1.0 - new)  # never written like the old one, or like none or all
    return (
        f"With {change.direction} weight for {change.who}, {shown(new, beyond, digits)} of all weight in place of "
        f"{shown(old, digits=digits)}, {change.action} would be decided{exact}."
    )


def _other_contexts(changes: ContextChanges | None) -> list[str]:
    if changes is None:
        return []
    if changes.reason:
        return [f"Other contexts were not looked for: {changes.reason}."]
    said = [
        f"Other contexts were looked for among {contexts_given(changes.observed)}: {_differently(changes.differently)}."
    ]
    if changes.nearest is not None:
        differences = listed([_difference(difference) for difference in changes.nearest.differences])
        said.append(
            f"The nearest of them, at distance {shown(changes.nearest.distance)}, gets {changes.nearest.action}; "
            f"it differs in {differences or 'no feature that was compared'}."
        )
    said += [_single(neighbour) for neighbour in changes.single]
    if not changes.single:
        said.append(
            f"No value that a single feature has among {contexts_given(changes.observed)} would lead to another "
            "decision."
        )
    if changes.thinned:
        said.append(f"Of {listed(changes.thinned)}, evenly spaced values were tried.")
    if changes.nearest is not None or changes.single:
        said.append("These are associations of the models with what was observed, not causes.")
    return said


def contexts_given(observed: int) -> str:
    """Return words for the contexts that were looked among."""
    return "the 1 observed context given" if observed == 1 else f"the {observed} observed contexts given"


def _differently(contexts: int) -> str:
    if contexts == 0:
        return "none is decided differently"
    return f"{contexts} {'is' if contexts == 1 else 'are'} decided differently"


def _single(neighbour: Neighbour) -> str:
    return f"With {_difference(neighbour.differences[0])} and all else equal, {neighbour.action} would be decided."


def _difference(difference: Difference) -> str:
    return f"{difference.feature} {value_text(difference.there)} in place of {value_text(difference.here)}"
