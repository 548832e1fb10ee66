"""The thoughts of the first screen: what was decided, how sure that is, what would change it, and rules named there."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from markupsafe import Markup

from accordant.naming import counted, listed
from accordant.report.charts.svg import clean
from accordant.report.page import sentence, strong
from accordant.report.reading import Line, Reading
from accordant.report.rules import about
from accordant.report.scale import count, number, percent
from accordant.report.scrutiny import Findings
from accordant.report.summary import Answer

MOST_ACTIONS = 3  # actions in a sentence on what is decided
MOST_METRICS = 3  # metrics in a sentence on the score
FORMULA = re.compile(r",\s(?:[^,\[]*\[|[∏Σ]).*")  # at the end of what a rule does; the part on rules has it
UNITS = re.compile(r";|\.\s")  # what follows says how scores are measured, which does not matter here
ASIDE = re.compile(r" \([^)]* if sampling error is left aside\)")  # the part on hidden reasons has it
ALIKE = re.compile(r" \(\d+ others? with equal values\)")  # the part on weights has them
LEAST_SHARE = 0.05  # percent of rows; less would be written as 0.0%
CHANGES = "What would change it"
MEANT = {
    "the disagreement point": "what each gets without agreement",
    "the ideal point": "the best that each could get",
}  # terms that the part on rules explains
PLAIN = ("constant", "logged", "stakeholder")  # registered rules whose names say what they do


@dataclass(frozen=True)
class Statement:
    """One thought of the first screen.

    Attributes
    ----------
    title
        What it is about.
    words
        What was found.
    places
        Folds that hold the rest: identifier, and how the link to it is called.
    """

    title: str
    words: Markup
    places: tuple[tuple[str, str], ...]


def decided(reading: Reading, answer: Answer) -> Statement:
    """Say what was selected, what it does, which actions it takes, which were taken before, and by which score."""
    line, words = reading.selected, [answer.chosen]
    if line is not None:
        score = sentence(f"The score, a value judgement, is {_score_made(reading)}.")
        words = [sentence(strong(line.name), "."), *_described(reading, line), *_taken(reading, line), *words, score]
    return Statement("What was decided", Markup(" ").join(words), (("rules", "every rule"),))


def _described(reading: Reading, line: Line) -> list[Markup]:
    """Say whom a strategy consults, and what its rule does where neither that nor its name says it."""
    what, consults = _said(reading, line), reading.record.selection.consults
    plain = bool(consults) and _registered_as(reading, line) in PLAIN
    rule = [] if plain or not what else [sentence("The rule: ", what[0].lower() + what[1:])]
    return [*([clean(consults)] if consults else []), *rule]


def _score_made(reading: Reading) -> str:
    """Say what the composite score is made of."""
    weighted = sorted(reading.weighted, key=lambda column: -column.weight)
    if len(weighted) == 1:
        return f"the metric {weighted[0].label}"
    named = [f"{column.label} ({percent(column.weight)})" for column in weighted[:MOST_METRICS]]
    more = len(weighted) - MOST_METRICS
    named += [
        f"{counted(more, 'more metric')} ({percent(sum(column.weight for column in weighted[MOST_METRICS:]))})"
    ] * (more > 0)
    return f"a weighted mean of {listed(named)}"


def _taken(reading: Reading, line: Line) -> list[Markup]:
    """Say which actions are taken in how many of the untouched rows, and which were taken before."""
    phrase = _actions(reading, line)
    if not phrase:
        return []
    logged = reading.registered("logged")
    before = "" if logged is None or logged == line else _actions(reading, logged)
    told = f"It takes {phrase} of the {count(reading.record.test.n)} untouched rows"
    if logged is None or not before:
        return [sentence(f"{told}.")]
    if before != phrase:
        return [sentence(f"{told}; what was done: {before}.")]
    return [sentence(f"{told}; what was done has the same shares{_differing(reading, line, logged)}.")]


def _differing(reading: Reading, line: Line, other: Line) -> str:
    """Say in how many rows two strategies with the same shares of actions differ; empty if it is not known, or none."""
    people = reading.record.people
    if people is None or not people.rows or not {line.name, other.name} <= set(people.decisions):
        return ""
    pairs = zip(people.decisions[line.name], people.decisions[other.name], strict=True)
    share = sum(mine != theirs for mine, theirs in pairs) / len(people.rows)
    about = "" if len(people.rows) == people.n else "about "
    return f", but differs in {about}{percent(share)} of the rows" if share else ""


def _actions(reading: Reading, line: Line) -> str:
    """Return the shares of the actions of a strategy, largest first; empty if they are not known."""
    shares, whole = _action_shares(reading, line)
    ordered = sorted(shares.items(), key=lambda pair: -pair[1])
    named = [f"{action} in {percent(share / 100)}" for action, share in ordered[:MOST_ACTIONS] if share >= LEAST_SHARE]
    others = sum(share for _, share in ordered[MOST_ACTIONS:])
    named += [f"others in {percent(others / 100)}"] * (others >= LEAST_SHARE and bool(named))
    return f"{'' if whole else 'about '}{listed(named)}" if named else ""


def _action_shares(reading: Reading, line: Line) -> tuple[dict[str, float], bool]:
    """Return action to percentage of the untouched rows, as metrics have it or as rows do, and whether of all rows."""
    record, shares = reading.record, dict[str, float]()
    actions = record.case.problem.actions
    for label, metric in record.case.metrics.items():
        value = line.value(label) if metric.metric == "share_of_action" and label in line.row.metrics else None
        if value is not None:
            scale = 1.0 if metric.parameters.get("percent") else 100.0
            shares[str(metric.parameters.get("action"))] = scale * value
    missing = [action for action in actions if action not in shares]
    if not missing:
        return shares, True
    if shares and len(missing) == 1:
        return shares | {missing[0]: max(0.0, 100.0 - sum(shares.values()))}, True
    people = record.people
    if people is None or line.name not in people.decisions or not people.rows:
        return {}, True
    counts = Counter(people.decisions[line.name])
    return (
        {action: 100.0 * counts[code] / len(people.rows) for code, action in enumerate(actions)},
        len(people.rows) == people.n,
    )


def sureness(reading: Reading, answer: Answer, findings: Findings | None) -> Statement:
    """Say whether the untouched rows tell the selected strategy from the best, its scores, and what stays hidden."""
    hidden = None if findings is None else findings.confounding
    hidden_said = [] if hidden is None else [clean(ASIDE.sub("", text)) for text in hidden.sentences[:1]]
    hidden_place = () if hidden is None else (("confounding", "hidden reasons"),)
    words = Markup(" ").join([*_verdict(reading, answer), *answer.scores, *hidden_said])
    return Statement(
        "How sure that is", words, (("leaderboard", "leaderboard"), ("validation", "selection"), *hidden_place)
    )


def _verdict(reading: Reading, answer: Answer) -> list[Markup]:
    """Return the shortest answer to how sure it is."""
    line = reading.selected
    if line is None:
        return []
    ranked = [rival for rival in reading.shown if rival.candidate and rival.row.score.value is not None]
    alike = sum(bool(rival.row.among_best) for rival in ranked if rival != line)
    best = among = ""
    if ranked and not ranked[0].selected and not answer.verdict:
        best = f", {ranked[0].name} with the highest score, {number(ranked[0].row.score.value)}"
        among = ", among them"
    if line.row.among_best is None:
        words = "Not known: it was not compared with the others."
    elif not line.row.among_best:
        words = f"It is shown not to be the best: others score higher{best}{among}."
    elif answer.verdict:
        told = f", and the rows do not tell it from {counted(alike, 'other')}" if alike else ""
        words = f"No gain from deciding case by case is seen{told}."
    elif not alike:
        words = "It is shown to be the best of those compared."
    else:
        best += among * (alike > 1)
        words = f"It may be the best: the rows do not tell it from {counted(alike, 'other')}{best}."
    return [strong(words)]


def changes(findings: Findings) -> Statement:
    """Say what would change the result: weights, a preference that is not there, and misreports."""
    weighed, deciders, trust = findings.weighed, findings.deciders, findings.trust
    border = weighed.sentences[-1:] if weighed else ()
    border = tuple(Markup(ALIKE.sub("", text)) for text in border)  # noqa: S704 - markup before, and less of it
    words = Markup(" ").join([*border, *deciders.sentences[:1], *trust.sentences[:1]])
    return Statement(CHANGES, words, (("weights", "weights"), ("deciders", "who decides"), ("trust", "misreports")))


def rules_named(reading: Reading, texts: Iterable[Markup]) -> Statement | None:
    """Say what each rule does that texts name, but for the selected one and those whose names say it."""
    names = {line.name: line for line in reading.lines}
    ordered = sorted(names, key=len, reverse=True)
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, ordered))})(?!\w)") if ordered else None
    if pattern is None:
        return None
    text = " ".join(words.striptags() for words in texts)
    lines = [names[name] for name in dict.fromkeys(pattern.findall(text))]
    told = [
        sentence(strong(line.name), ": ", what[0].lower() + what[1:])
        for line in lines
        if not line.selected and _registered_as(reading, line) not in PLAIN and (what := _said(reading, line))
    ]
    return Statement("Other rules named here", Markup(" ").join(told), ()) if told else None


def _said(reading: Reading, line: Line) -> str:
    """Return what a rule does, in one sentence without formula and units; empty if nothing registered says it."""
    what = UNITS.split(FORMULA.sub("", about(reading, line)))[0]
    for term, meaning in MEANT.items():
        what = what.replace(term, meaning)
    return f"{what.rstrip('.')}." if what else ""


def _registered_as(reading: Reading, line: Line) -> str:
    part = reading.record.strategies.get(line.name)
    return "" if part is None else part.name
