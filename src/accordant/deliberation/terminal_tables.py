"""The tables that ``accordant deliberate`` prints after a transcript, and over many scenarios."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from accordant.deliberation.assessment import Emergence, FlipTest, Movement, RandomNull, SearchNull, Verdict
from accordant.deliberation.repetition import Repeated
from accordant.deliberation.result import (
    DeliberationResult,
    RecordResult,
    RegretsResult,
    RepeatedDeliberation,
    SettledResult,
)
from accordant.deliberation.usage import Usage, silent
from accordant.statistics import Estimate
from accordant.terminal import PlainConsole
from accordant.terminal_table import FittedTable

WIDTH = 160  # columns of what is piped somewhere
MOST_MOVES = 24  # lines of the ledger that the terminal shows; all are in the JSON and on the page
HELD = {True: "+", False: "-", None: "?"}  # whether an allocation meets a criterion; None where it is not defined
MARKS = {"met": "met", "not met": "NOT MET", "not defined": "not defined", "no threshold": "no threshold"}


def print_one(content: DeliberationResult, page: Path | None) -> None:
    """Print how it was settled, the verdict, who moved, emergence with its null hypotheses, and what to mind."""
    console = PlainConsole(width=WIDTH)
    _lines(console, _silence(content))
    console.print()
    console.print(_settlement(content.deliberation.settled))
    console.print(f"hash of the transcript: {content.hash}")
    console.print()
    console.print(_side_table(content))
    console.print(_ledger_table(content.ledger))
    console.print(_regret_table(content.regrets))
    for title, sentences in (
        ("verdict", _verdict(content.verdict)),
        ("emergence", _emergence(content.emergence)),
        ("watched", _watched(content)),
        ("beside it", _beside(content)),
        ("language model", _spent(content.usage)),
        ("mind", content.warnings),
    ):
        _section(console, title, sentences)
    console.print()
    console.print(content.deliberation.disclaimer)
    if page is not None:
        console.print(f"page: {page}")


def _section(console: PlainConsole, title: str, sentences: Sequence[str]) -> None:
    """Print sentences below their title; nothing if there are none."""
    if sentences:
        console.print()
        _lines(console, [f"{title}:", *(f"- {sentence}" for sentence in sentences)])


def print_many(content: RepeatedDeliberation, page: Path | None) -> None:
    """Print the table over scenarios with intervals and null hypotheses."""
    console, repeated = PlainConsole(width=WIDTH), content.repeated
    _lines(console, _silence(content))
    console.print()
    console.print(_repeated_table(content))
    for title, sentences in (
        ("emergence (gains and losses count alike)", _often_emerged(repeated)),
        ("null hypotheses", _often_nulls(repeated)),
        ("watched", _often_watched(repeated)),
        ("language model", _spent(content.usage)),
        ("mind", content.warnings),
    ):
        _section(console, title, sentences)
    if page is not None:
        console.print(f"page: {page}")


def _lines(console: PlainConsole, lines: Sequence[str]) -> None:
    for line in lines:
        console.print(line)


def _silence(content: DeliberationResult | RepeatedDeliberation) -> Sequence[str]:
    """Return the warning that rules made every move, if they did in place of a language model."""
    return content.warnings[:1] if silent(content.usage) else ()


def _spent(usage: Usage) -> list[str]:
    """Return what the language model did for each agent."""
    return [
        f"{name}: {counts.get('moves', 0)} moves, {counts.get('fallbacks', 0)} of them by a rule; "
        f"{counts.get('calls', 0)} requests, {counts.get('tokens_in', 0) + counts.get('tokens_out', 0)} tokens, "
        f"{counts.get('repairs', 0)} repairs"
        for name, counts in usage.items()
    ]


def _often_emerged(repeated: Repeated) -> list[str]:
    words = {
        "strict": "the joint allocation meets all criteria, no agent alone does",
        "novel_set": "it meets a set of criteria that no agent alone contains",
        "gain": "it meets more criteria than the better agent alone",
        "loss": "it meets fewer",
        "difference": "criteria that it meets minus those that the better agent alone meets, on average",
        "agreed": "the agents agreed; elsewhere the disagreement allocation was taken",
    }
    return [f"{name.replace('_', ' ')}: {_estimate(getattr(repeated, name))}: {said}" for name, said in words.items()]


def _often_nulls(repeated: Repeated) -> list[str]:
    random = [
        f"a random allocation that concedes as much from {name} meets all criteria: {_estimate(estimate)}, "
        f"defined in {estimate.n} of {repeated.n} scenarios"
        for name, estimate in repeated.random.items()
    ]
    search = [
        f"a search by {name} alone over the same allocations meets all: {_estimate(estimate)}"
        for name, estimate in repeated.search.items()
    ]
    return [*random, *search]


def _often_watched(repeated: Repeated) -> list[str]:
    if repeated.restored is None:
        return []
    return [
        f"restored access of the watched group: {_estimate(repeated.restored)}",
        *(
            _converted(name, _estimate(estimate), _estimate(repeated.approach[name]))
            for name, estimate in repeated.conversion.items()
        ),
    ]


def _converted(name: str, conversion: str, approach: str) -> str:
    """Return how far the adversarial agent went, and whether that was nearer to another."""
    return (
        f"conversion against {name}: {conversion}, how far the adversarial agent went in any direction, over its "
        f"first distance from {name}; approach to {name}: {approach} (1: all the way, 0: no nearer, below 0: farther)"
    )


def _settlement(settled: SettledResult) -> str:
    moment = "" if settled.time is None else f" at t = {settled.time:.2f}"
    tied = ", tied with another" if settled.tied else ""
    gap = f", gap at most {settled.gap:.3g}" if settled.gap else ""
    gap = ", no bound on what a search missed" if settled.gap is None else gap
    who = ", ".join(settled.allocation) or "nobody"
    if not settled.agreed:
        return f"no agreement by {settled.rule}{tied}: the disagreement allocation: {who}"
    return f"joint allocation, by {settled.rule}{moment}{tied}{gap}: {who}"


def _side_table(content: DeliberationResult) -> FittedTable:
    """Return the criteria of every allocation side by side."""
    table = FittedTable("Allocations side by side")
    labels = list(next(iter(content.sides.values()), {}))
    table.add("allocation", name=True)
    table.add("served")
    if content.access is not None and content.marginal is not None:
        table.add(f"access of {content.marginal.fact} {content.marginal.value}", number=True)
    for label in labels:
        table.add(_short(label), number=True)
    for name, row in content.sides.items():
        served = _allocation(content.deliberation, name)
        access = [] if content.access is None else [_number(content.access[name])]
        cells = [f"{_number(row[label].value)} {HELD[row[label].met]}" for label in labels]
        table.add_row(name, served, *access, *cells)
    table.caption = "+ meets the criterion of the scope card, - does not, ? it is not defined" if labels else None
    return table


def _allocation(record: RecordResult, name: str) -> str:
    if name == "joint":
        return ", ".join(record.settled.allocation)
    kind, _, agent = name.partition(" ")
    return ", ".join({"solo": record.solo, "revised": record.revised}[kind][agent])


def _ledger_table(ledger: Sequence[Movement]) -> FittedTable:
    """Return who moved on which patient."""
    moves = [move for move in ledger if move.conceded_to or move.yielded_to or move.void]
    table = FittedTable("Ledger: who moved on whom")
    heads = ("agent", "patient", "solo", "revised", "joint", "conceded to", "yielded to", "reply", "reason", "void")
    for name in heads:
        table.add(name)
    for move in moves[:MOST_MOVES]:
        table.add_row(
            move.agent, move.patient, *(f"{share:g}" for share in (move.solo, move.revised, move.joint)),
            ", ".join(move.conceded_to), ", ".join(move.yielded_to), move.reply or "",
            " ".join([move.code or "", *move.passages]).strip(), "; ".join(move.void),
        )  # fmt: skip
    if len(moves) > MOST_MOVES:
        table.caption = f"and {len(moves) - MOST_MOVES} more in the JSON and on the page"
    return table


def _regret_table(regrets: RegretsResult) -> FittedTable:
    """Return the regret of every allocation under every framework."""
    table = FittedTable("Regret of each allocation under each framework (0 best, 1 worst)")
    table.add("allocation", name=True)
    for name in regrets.frameworks:
        table.add(name, number=True)
    for name, row in zip(regrets.allocations, regrets.regrets, strict=True):
        table.add_row(name, *(_number(value) for value in row))
    columns = zip(regrets.frameworks, regrets.followed, zip(*regrets.regrets, strict=True), strict=True)
    indifferent = [name for name, agents, column in columns if not agents and not any(column)]
    if indifferent and any(row != regrets.regrets[0] for row in regrets.regrets):
        table.caption = f"{', '.join(indifferent)}: indifferent between these, or draws lots that nobody drew here"
    return table


def _verdict(verdict: Verdict | None) -> list[str]:
    if verdict is None:
        return ["none: the case has no scope card"]
    lines = [
        f"{criterion.metric} {_number(criterion.value)}, threshold {_number(criterion.threshold)}: "
        f"{MARKS[criterion.standing]} (chosen by {criterion.chosen_by or 'nobody named'})"
        for criterion in verdict.criteria
    ]
    return [*lines, f"{verdict.heading}; the card's hash is {verdict.card_hash[:12]}"]


def _emergence(emergence: Emergence | None) -> list[str]:
    if emergence is None:
        return []
    best, met = emergence.better_solo, len(emergence.joint)
    against = f"{best} alone {len(emergence.solo[best])}: {emergence.difference:+d}"
    return [
        f"the joint allocation meets {met} of {len(emergence.criteria)} criteria, {against}",
        f"strict: {_yes(emergence.strict)}; novel set: {_yes(emergence.novel_set)}",
        *map(_random_null, emergence.random),
        *map(_search_null, emergence.search),
    ]


def _random_null(null: RandomNull) -> str:
    chance = f"meets all with probability {_number(null.all_met)}, {_number(null.mean_met)} on average"
    counted = f"eligible {'allocations' if null.exact else 'draws'}: {null.eligible}"
    return f"null, a random allocation that concedes as much from {null.agent} ({counted}): {chance}"


def _search_null(null: SearchNull) -> str:
    everything = ", all of them" if null.all_met else ""
    return f"null, a search by {null.agent} alone over the same allocations: meets {null.most_met}{everything}"


def _watched(content: DeliberationResult) -> list[str]:
    lines = []
    if content.restored is not None:
        lines.append(f"restored access of the watched group: {content.restored:+.3f}")
    lines += [
        _converted(name, _number(value), _number(content.approach[name])) for name, value in content.conversion.items()
    ]
    return lines if content.flips is None else [*lines, _flipped(content.flips)]


def _flipped(flips: FlipTest) -> str:
    """Return what permuting protected facts changed, or that it permuted nothing."""
    facts = ", ".join(flips.facts)
    if flips.empty:
        return f"flip test of {facts}: empty, no permutation gave anybody other facts"
    rates = ", ".join(f"{name} {_number(estimate.value)}" for name, estimate in flips.rates.items())
    return (
        f"flip test of {facts}: permuting touched {flips.touched:.3f} of the patients; "
        f"share of patients whose grant changed: {rates}"
    )


def _beside(content: DeliberationResult) -> list[str]:
    choices = content.choices
    alike = [name for name, choice in choices.items() if choice.agrees]
    lines = [f"strategies on the same utilities that choose the joint allocation: {', '.join(alike) or 'none'}"]
    searched = [name for name, choice in choices.items() if not choice.exact]
    if searched:
        lines.append(f"{', '.join(searched)} chose {choices[searched[0]].words}; a better allocation may exist")
    lines += [f"{name} chooses {', '.join(choice.allocation)}" for name, choice in choices.items() if not choice.agrees]
    if content.order is None:
        return [*lines, "no flip test and no other order: a person or a language model is not asked again"]
    return [*lines, f"patients treated differently in another order of the agents: {max(content.order.changed)}"]


def _repeated_table(content: RepeatedDeliberation) -> FittedTable:
    """Return shares of scenarios that meet criteria and, where a group is watched, its mean access last."""
    repeated, marginal = content.repeated, content.marginal
    rule = repeated.settle + _inside(repeated.settle_parameters)
    table = FittedTable(f"{repeated.n} scenarios, settled by {rule}: share that meets the criteria")
    table.add("allocation", name=True)
    table.add("all met (95% interval)", name=True)
    table.add("among the best")
    for label in repeated.criteria:
        table.add(_short(label), number=True)
    if marginal is not None:
        table.add(f"mean access of {marginal.fact} {marginal.value}", number=True)
    for name, line in repeated.lines.items():
        access = [] if line.access is None else [_number(line.access.value)]
        table.add_row(
            name, _estimate(line.all_met), {True: "yes", False: "no", None: "-"}[line.among_best],
            *(_number(line.met[label].value) for label in repeated.criteria), *access,
        )  # fmt: skip
    return table


def _inside(parameters: Mapping[str, Any]) -> str:
    """Return parameters as they are written on the command line, or nothing."""
    return f"[{', '.join(f'{name}={value}' for name, value in parameters.items())}]" if parameters else ""


def _short(label: str) -> str:
    """Return a criterion without the parameters of its measure."""
    name, _, rest = label.partition("(")
    return f"{name} {rest.partition(') ')[2]}".strip() if rest else label


def _estimate(estimate: Estimate) -> str:
    if estimate.value is None:
        return "not defined"
    limits = "" if estimate.low is None else f" ({estimate.low:.3f} to {estimate.high:.3f})"
    return f"{estimate.value:.3f}{limits}"


def _number(value: float | None) -> str:
    return "not defined" if value is None else f"{value:.3f}"


def _yes(value: bool) -> str:
    return "yes" if value else "no"
