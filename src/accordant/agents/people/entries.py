"""What the lines mean that a person enters."""

from __future__ import annotations

import math
from typing import get_args

from accordant.agents.moves import Answering, Proposal, Reason, Reply
from accordant.agents.rules.utility_agent import stated_utility
from accordant.agents.view import View
from accordant.allocations import Allocation
from accordant.errors import InputError, UnknownNameError

KINDS: tuple[Answering, ...] = get_args(Answering)
WITH_REASON = ("challenge", "justify")


def read_proposal(view: View, line: str) -> Proposal:
    """Return the proposal that a line stands for.

    Ids of patients, the most important first. An id alone grants the whole demand; ``resource=units`` after it grants
    that much of that resource and nothing of those not named. Of n patients the first named is worth 1, the next
    (n − 1)/n, and so on; who is not named is worth 0.

    Raises
    ------
    InputError
        If the line cannot be read or the allocation is not feasible.
    """
    granted: dict[str, dict[str, float]] = {}
    for word in line.replace(",", " ").split():
        name, equals, units = word.partition("=")
        if equals and not granted:
            raise InputError(f"{word!r} comes before any patient; allowed: a patient, then resource=units")
        if equals:
            granted[next(reversed(granted))][name] = _number(units, word)
        elif name in granted:
            raise InputError(f"patient {name!r} is named twice")
        else:
            view.scenario.index(name)
            granted[name] = {}
    named = {name: units or _demand(view, name) for name, units in granted.items()}
    allocation = Allocation.of(view.scenario, named)
    n = len(view.scenario.ids)
    utility = stated_utility(view.scenario, {name: (n - place) / n for place, name in enumerate(granted)})
    reasons = [
        Reason(name, "stated", text=f"named in place {place} of {len(granted)}")
        for place, name in enumerate(granted, start=1)
        if name in allocation.patients
    ]
    return Proposal(allocation, utility, tuple(reasons))


def read_reply(patient: str, line: str) -> Reply:
    """Return the reply on a disputed patient: its kind, and the text of a reason behind it.

    Raises
    ------
    InputError
        If there is no such kind, or a reason is missing.
    """
    word, _, text = line.partition(" ")
    kind = next((each for each in KINDS if each == word), None)
    if kind is None:
        raise UnknownNameError("answer", word, KINDS)
    if text.strip():
        return Reply(patient, kind, Reason(patient, "stated", text=text.strip()))
    if kind in WITH_REASON:
        raise InputError(f"{kind!r} needs a reason behind it, such as: {kind} waits the longest")
    return Reply(patient, kind)


def read_accepted(view: View, line: str) -> str | None:
    """Return whose proposal is accepted; None for an empty line, which counters.

    Raises
    ------
    UnknownNameError
        If nobody of that name has a proposal.
    """
    if not line:
        return None
    if line not in view.others:
        raise UnknownNameError("agent", line, sorted(view.others))
    return line


def read_ranking(view: View, line: str) -> tuple[int, ...]:
    """Return positions of candidates, best first, from their numbers, which start at 1.

    Raises
    ------
    InputError
        If not every number is there exactly once.
    """
    words = line.replace(",", " ").split()
    n = len(view.candidates)
    if sorted(words) != sorted(str(number) for number in range(1, n + 1)):
        raise InputError(f"ranking is {line!r}; allowed: each number from 1 to {n} once")
    return tuple(int(word) - 1 for word in words)


def _demand(view: View, patient: str) -> dict[str, float]:
    """Return the units that a patient demands of each resource."""
    portions = view.scenario.demand[view.scenario.index(patient)]
    return {each.name: float(n * each.portion) for each, n in zip(view.scenario.resources, portions, strict=True)}


def _number(units: str, word: str) -> float:
    """Return a number of units, or say in which word it is none."""
    try:
        found = float(units)
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        raise InputError(f"{word!r} grants {units!r} units; allowed: a number")
    return found
