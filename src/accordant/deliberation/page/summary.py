"""The answer in sentences: what was decided and what it meets, losses beside gains."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from accordant.deliberation.assessment import Emergence
from accordant.deliberation.page.charts import Dot
from accordant.deliberation.page.reading import MARKS, OneReading, called, rate, share
from accordant.deliberation.repetition import Repeated
from accordant.deliberation.result import ChoiceResult, DeliberationResult, RepeatedDeliberation
from accordant.deliberation.usage import fallbacks, moves, silent
from accordant.naming import listed
from accordant.report.scale import NOT_DEFINED, count, number, percent
from accordant.statistics import Estimate

PROTOCOLS = {
    "debate": "a debate of three rounds",
    "alternating_offers": "alternating offers",
    "mediated": "a debate with a mediator",
    "voting": "a debate followed by a vote",
}
FOUND = {
    "$ACCORDANT_DATA": "through $ACCORDANT_DATA",
    "cache": "in the cache",
    "beside the case": "beside the case file",
}  # as the JSON says where patients come from, and in words
WHY_NOT = {
    "moved_towards_others": "it did not move",
    "influence": "nobody moved",
    "contestation": "nothing was disputed",
    "overridden": "it stood firm on nobody",
    "minority_survival": "no wish was held by fewer than half of the agents",
    "grounding": "no passage was cited",
    "fallback_rate": "no move was asked for",
}  # as `accordant.deliberation.assessment.Process` says of None
BY_AGENT = {
    "hamming": ("moved on", "patients", "Patients whose joint share differs from the agent's first wish."),
    "distance": ("distance", "shares", "Sum over patients of how far the joint share is from the agent's first wish."),
    "moved_towards_others": (
        "moved towards others", "share",
        "Its moves that came nearer to another agent's first wish, over all its moves.",
    ),
    "influence": (
        "influence", "share", "Moves of other agents towards this agent's first wish, over all moves of all agents.",
    ),
    "contestation": (
        "contestation", "share",
        "Disputed patients that the agent challenged with a reason that counts, over all disputed patients.",
    ),
    "overridden": (
        "overridden", "share",
        "Disputed patients on whom the agent stood firm and was decided against, over those on whom it stood firm.",
    ),
}  # fmt: skip
ANYBODY = "Disputed patients that some agent challenged with a reason that counts, over all disputed patients."
OVERALL = {
    "minority_survival": (
        "minority survival",
        "Wishes of fewer than half of the agents that became the joint share, over all such wishes.",
    ),
    "grounding": ("grounding", "Citations of passages that had been looked up by then, over all citations."),
    "fallback_rate": (
        "fallback rate",
        "Moves that a rule made for a language model that gave no valid one, over all moves asked for.",
    ),
}  # fmt: skip
SATISFACTION = {
    "solo": (
        "first wish",
        "Utility of its first proposal by its first stated utility; below 1 it says it likes something else better.",
    ),
    "revised": ("last proposal", "Utility of its last proposal by its last stated utility."),
    "joint": ("joint", "Utility of the joint allocation by the utility that the settlement read."),
    "drift": ("drift", "Mean change of its stated utility from first to last over the alternatives."),
}  # fmt: skip


@dataclass(frozen=True)
class Spoken:
    """How often a rule stood in for a language model.

    Attributes
    ----------
    words
        In words.
    never
        Whether the model made no move of its own: nothing on the page is about it.
    """

    words: str
    never: bool


def spoken(content: DeliberationResult | RepeatedDeliberation) -> Spoken | None:
    """Return how often a rule stood in for a language model; None where no model was asked for a move."""
    replaced, asked = fallbacks(content.usage), moves(content.usage)
    if not asked:
        return None
    who = f"A language model speaks for {listed(list(content.usage))}."
    if silent(content.usage):
        words = f"{who} A rule stood in for it in all {count(asked)} moves"
        return Spoken(f"{words} (100%): what stands here was decided by rules, and says nothing about the model.", True)
    share_of = f"{count(replaced)} of {count(asked)} moves ({percent(replaced / asked)})"
    return Spoken(f"{who} A rule stood in for it in {share_of}.", never=False)


def searched(choice: ChoiceResult) -> str | None:
    """Return among what a strategy chose, where another allocation may be its choice; None where none is."""
    return None if choice.exact else f"of {count(choice.among)} allocations that a search found"


def settled(reading: OneReading) -> list[str]:
    """Return how the joint allocation was fixed."""
    decision = reading.record.settled
    rule = decision.rule
    sentences = ["All agents agreed on one proposal." if rule == "agreement" else f"It was settled by the rule {rule}."]
    if not decision.agreed:
        sentences.append("The agents did not agree: what had been declared for this case beforehand was taken.")
    if decision.time is not None:
        sentences.append(f"The rule found it at time {number(decision.time, 2)} of 1.")
    sentences.append(
        "Another allocation was as good by the rule: a tie-break decided." if decision.tied else "There was no tie."
    )
    if decision.gap is None:
        sentences.append("It is not known how much better another allocation could be by the rule.")
    elif decision.gap:
        sentences.append(f"Another allocation could be better by up to {number(decision.gap)} in the rule's own terms.")
    elif reading.record.procedure.get("options") is not None:
        sentences.append(f"Compared: {number(reading.record.procedure['options'], 0)} allocations.")
    return sentences


def judged(reading: OneReading) -> str | None:
    """Return which criteria are met and which are not, in one sentence; None without a card."""
    verdict = reading.content.verdict
    if verdict is None:
        return None
    parts = [f"{n} {standing}" for standing, n in verdict.counts.items() if n]
    heading = f"For card {verdict.card}, version {verdict.version}"
    return f"{heading}: of {len(verdict.criteria)} criteria {listed(parts)}."


def compared(emergence: Emergence) -> str:
    """Return what the joint allocation gains and loses against the better agent alone."""
    better, difference = emergence.better_solo, emergence.difference
    met = f"{len(emergence.joint)} of {len(emergence.criteria)} criteria"
    changed = f"It wins {listed(won(emergence)) or 'none'} and loses {listed(emergence.lost) or 'none'}."
    if difference == 0:
        return f"The joint allocation meets {met}, as many as {better} alone. {changed}"
    word, more = ("gain", "more") if difference > 0 else ("loss", "fewer")
    size = abs(difference)
    return f"A {word} of {size}: the joint allocation meets {met}, {size} {more} than {better} alone. {changed}"


def won(emergence: Emergence) -> list[str]:
    """Return the criteria that the joint allocation meets and the better agent alone does not."""
    return [label for label in emergence.joint if label not in emergence.solo[emergence.better_solo]]


def often(repeated: Repeated) -> list[str]:
    """Return the sentences of many deliberations."""
    lines = repeated.lines
    alone = {name: lines[f"solo {name}"].all_met.value for name in repeated.agents}
    best = max(alone, key=lambda name: -1.0 if (met := alone[name]) is None else met)
    joint, solo = (_told(lines[key].all_met) for key in ("joint", f"solo {best}"))
    random = [f"{rate(estimate).value} (level of {name})" for name, estimate in repeated.random.items()]
    search = [f"{rate(estimate).value} ({name})" for name, estimate in repeated.search.items()]
    first = f"All criteria are met by the joint allocation in {joint} of {repeated.n} scenarios"
    second = f"Against the better agent alone, the joint allocation meets more criteria in {_told(repeated.gain)}"
    third = f"A random allocation at the same concession level meets all criteria with probability {listed(random)}"
    return [
        f"{first}, and by {best} alone in {solo}.",
        f"{second} and fewer in {_told(repeated.loss)}.",
        f"{third}; an agent that searches alone at that level finds one that does in {listed(search)} of scenarios.",
    ]


def _told(estimate: Estimate) -> str:
    """Return a share with its interval."""
    cell = rate(estimate)
    return f"{cell.value} {cell.interval}".strip()


def dots(repeated: Repeated) -> list[Dot]:
    """Return every way to decide with the share in which all criteria are met, null hypotheses behind the joint one."""
    shares = {key: line.all_met for key, line in repeated.lines.items()}
    rows = [
        Dot(called(key), kind, MARKS[kind], estimate) for key, estimate in shares.items() for kind in [kind_of(key)]
    ]
    nulls = [
        Dot(words.format(name), "null", MARKS[null], estimate)
        for null, words, estimates in (
            ("random", "null 1: random, level of {}", repeated.random),
            ("search", "null 2: search by {}", repeated.search),
        )
        for name, estimate in estimates.items()
    ]
    place = next(place for place, row in enumerate(rows) if row.kind == "joint") + 1
    return [*rows[:place], *nulls, *rows[place:]]


def kind_of(key: str) -> str:
    """Return the kind of a line: ``solo``, ``revised``, ``joint``, ``disagreement`` or ``strategy``."""
    return key.partition(" ")[0]


def found_data(content: DeliberationResult | RepeatedDeliberation) -> str | None:
    """Return where data were found that no option names; None where one does, or nothing was looked for."""
    return None if content.source.found_in is None else FOUND.get(content.source.found_in)


def scarce(reading: OneReading) -> str:
    """Return what there is to allocate."""
    resources = reading.record.scenario.resources
    return listed([f"{share(resource.capacity)} units of {resource.name}" for resource in resources])


def accessed(content: DeliberationResult) -> str | None:
    """Return how access of the watched group fared, in one sentence; None where it is not defined."""
    group, restored = content.marginal, content.restored
    if group is None or content.access is None:
        return None
    joint = content.access["joint"]
    if joint is None:
        return None
    sentence = f"Access of the watched group ({group.fact} {group.value}) is {percent(joint)}"
    if restored is None:
        return sentence + "."
    if restored == 0:
        return f"{sentence}, as much as the adversarial agent alone would have given."
    word = "more" if restored > 0 else "less"
    return (
        f"{sentence}: {number(abs(100 * restored), 1)} points {word} than the adversarial agent alone would have given."
    )


@dataclass(frozen=True)
class Measured:
    """A measure with its values.

    Attributes
    ----------
    name, definition
        What it is called, and what it means in one sentence.
    values
        As text with a reason where it is not defined: one for each agent, or one for all.
    """

    name: str
    definition: str
    values: tuple[tuple[str, str], ...]


def by_agent(reading: OneReading) -> list[Measured]:
    """Return the measures that each agent has a value of."""
    values: dict[str, Mapping[str, float | None]] = {key: getattr(reading.content.process, key) for key in BY_AGENT}
    return [
        Measured(name, definition, tuple(_value(values[key][taker.name], unit, key) for taker in reading.takers))
        for key, (name, unit, definition) in BY_AGENT.items()
    ]


def overall(reading: OneReading) -> list[Measured]:
    """Return the measures of the deliberation as a whole."""
    process = reading.content.process
    anybody = Measured(
        "challenged by anybody", ANYBODY, (_value(process.contestation["anybody"], "share", "contestation"),)
    )
    return [anybody] + [
        Measured(name, definition, (_value(getattr(process, key), "share", key),))
        for key, (name, definition) in OVERALL.items()
    ]


def satisfied(reading: OneReading) -> list[Measured]:
    """Return how well each agent is served by its own standard."""
    values: dict[str, Mapping[str, float]] = {key: getattr(reading.content.satisfaction, key) for key in SATISFACTION}
    return [
        Measured(name, definition, tuple((number(values[key][taker.name]), "") for taker in reading.takers))
        for key, (name, definition) in SATISFACTION.items()
    ]


def _value(value: float | None, unit: str, key: str) -> tuple[str, str]:
    if value is None:
        return NOT_DEFINED, WHY_NOT[key]
    if unit == "share":
        return percent(value), ""
    return number(value, 0 if float(value).is_integer() else 2), ""
