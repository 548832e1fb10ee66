"""An explanation in plain words: every number is read from the result and written by `shown`."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_FLOOR

from accordant.certificates.method import Fixed
from accordant.explanation.counterfactuals import would_change
from accordant.explanation.misreports import Misreport
from accordant.explanation.phrases import shown
from accordant.explanation.result import Comparison, Findings
from accordant.naming import listed

LEVEL = 1e-12  # gains this small are rounding
TOPICS = ("decides", "traded", "change", "sure")
FLAGS = {
    "no_agreement": "No action leaves everybody better off than the disagreement point, so the tie rule decided.",
    "irrational": "Every alternative leaves somebody below the status quo.",
    "floored": "An expected reward lies below the floor of the rule, and the floor counted in its place.",
    "floor_unmet": "No action satisfies all constraints.",
    "changed": "Constraints changed the decision: the rule alone would choose another action.",
    "randomised": "The decision in this context is drawn.",
    "condorcet_winner_exists": "One action beats every other one by a majority.",
}


def sentences_by_topic(explained: Findings) -> dict[str, tuple[str, ...]]:
    """Return sentences on what decides, what was traded off, what would change it, and how sure that is."""
    said = (_decides(explained), _traded(explained), would_change(explained), _sure(explained))
    return dict(zip(TOPICS, map(tuple, said), strict=True))


def _decides(explained: Findings) -> list[str]:
    choice, actions = explained.choice, explained.actions
    said = [f"{explained.rule} decides {choice.action}."]
    if len(actions) > 1 and explained.misreports[0].method == Fixed.words:
        said.append("It does not read expected rewards.")
    if choice.scores is None:
        said.append("It gives no scores to actions.")
    elif choice.margin is not None:
        own, other = (choice.scores[actions.index(name)] for name in (choice.action, choice.runner_up))
        said.append(
            f"Its score is {shown(own)}; the runner-up {choice.runner_up} has {shown(other)}, "
            f"a difference of {shown(choice.margin)} in the unit of the rule."
        )
    if choice.tied:
        said.append(
            "Another action has the same score: the higher sum of expected rewards decided, then the declared order."
        )
    if choice.probabilities is not None:
        drawn = [f"{name} {shown(p)}" for name, p in zip(actions, choice.probabilities, strict=True)]
        said.append(f"The action is drawn, with these probabilities: {', '.join(drawn)}.")
    said += [FLAGS.get(name, f"The decision carries the flag {name}.") for name in choice.flags]
    return said + _points(explained)


def _points(explained: Findings) -> list[str]:
    words = {
        "disagreement": "Gains are measured from {}.",
        "ideal": "The best that counts is {}.",
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
