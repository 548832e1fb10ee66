"""The first screen: the result of a run in plain words, each with the fold that holds the rest."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from accordant.naming import listed
from accordant.report.charts.svg import clean
from accordant.report.distribution import rewards_by_stakeholder
from accordant.report.page import sentence, strong
from accordant.report.reading import Line, Reading
from accordant.report.rules import about
from accordant.report.scale import Cell, interval, number, percent
from accordant.report.scrutiny import Findings
from accordant.report.summary import Answer, Check
from accordant.report.use import may_be_used
from accordant.runs.record import Column

MOST_ACTIONS = 3  # actions in a sentence on what is decided
FORMULA = re.compile(r",\s[^,\[]*\[.*")  # at the end of what a rule does; the part on rules has it
LEAST_SHARE = 0.05  # percent of rows; less would be written as 0.0%
COMPARED = ("utilitarian", "logged")  # registered names of what the selected strategy is compared with, and why:
# the sum of all rewards, and what was done before; the best constant action comes third


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


@dataclass(frozen=True)
class Comparison:
    """Mean rewards of the selected strategy beside those of others.

    Attributes
    ----------
    heads
        The selected strategy, then the others with what each stands for.
    rows
        Stakeholder to one cell per strategy.
    sentences
        Whose mean is higher and lower under the selected one, a sentence for each other; with intervals against the
        one that the record tests it against.
    caution
        What a reader must know of the differences.
    """

    heads: tuple[tuple[Line, str], ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]
    sentences: tuple[Markup, ...]
    caution: str


@dataclass(frozen=True)
class Overview:
    """What a reader learns without opening anything."""

    statements: tuple[Statement, ...]
    comparison: Comparison | None  # None if no strategy was selected, or no reward is known
    unseen: tuple[str, ...]  # what the page does not show


def overview(
    reading: Reading, answer: Answer, findings: Findings | None, checks: Sequence[Check], asked: frozenset[str]
) -> Overview:
    """Return what stands on the first screen.

    Parameters
    ----------
    reading
        The run.
    answer, findings, checks
        What is said of its result, of its scrutiny, and of the criteria of its scope card.
    asked
        Chapters that sections fill which were added to the run.
    """
    statements = [
        Statement("What was decided", _decided(reading, answer), (("rules", "every rule"),)),
        _sureness(answer, findings),
    ]
    if findings is not None:
        statements.append(_decider(findings))
    statements.append(Statement("May I use it?", may_be_used(reading, answer, checks), (("scope", "scope card"),)))
    return Overview(tuple(statements), _comparison(reading), _unseen(reading, findings, asked))


def _decided(reading: Reading, answer: Answer) -> Markup:
    """Say what was selected, what that rule does, and which actions it takes."""
    line = reading.selected
    if line is None:
        return answer.chosen
    what = about(reading, line)
    what = FORMULA.sub("", what)
    does = sentence(" The rule: ", clean(what[0].lower() + what[1:]), "" if what.endswith(".") else ".") if what else ""
    shares = sorted(_action_shares(reading, line), reverse=True)
    named = [(share, action) for share, action in shares[:MOST_ACTIONS] if share >= LEAST_SHARE]
    taken = listed([f"{action} in {percent(share / 100)}" for share, action in named])
    other = "" if len(shares) >= len(reading.record.case.problem.actions) else "; other actions are not measured"
    return sentence(answer.chosen, does, f" It takes {taken} of the untouched rows{other}." if taken else "")


def _action_shares(reading: Reading, line: Line) -> list[tuple[float, str]]:
    """Return percentages of the actions whose shares the case measures."""
    found = []
    for label, metric in reading.record.case.metrics.items():
        if metric.metric == "share_of_action" and label in line.row.metrics:
            value = line.value(label)
            scale = 1.0 if metric.parameters.get("percent") else 100.0
            if value is not None:
                found.append((scale * value, str(metric.parameters.get("action"))))
    return found


def _sureness(answer: Answer, findings: Findings | None) -> Statement:
    """Return whether the untouched rows tell the selected strategy from the best, its scores, and what stays hidden."""
    hidden = None if findings is None else findings.confounding
    hidden_said = [] if hidden is None else [clean(each) for each in hidden.sentences[:1]]
    hidden_place = () if hidden is None else (("confounding", "hidden reasons"),)
    words = Markup(" ").join([*answer.scores[-1:], *answer.scores[:-1], *hidden_said])
    return Statement(
        "How sure that is", words, (("leaderboard", "leaderboard"), ("validation", "selection"), *hidden_place)
    )


def _decider(findings: Findings) -> Statement:
    """Return what decides the result: the nearest border of the weights, whose preference, and what it withstands."""
    weighed, deciders, trust = findings.weighed, findings.deciders, findings.trust
    border = weighed.sentences[-1:] if weighed else ()
    words = Markup(" ").join([*border, *deciders.sentences[:1], *trust.sentences[:1]])
    return Statement(
        "What decides it", words, (("weights", "weights"), ("deciders", "who decides"), ("trust", "misreports"))
    )


def _comparison(reading: Reading) -> Comparison | None:
    """Return mean rewards of the selected strategy beside those of the utilitarian rule, the log, the best constant."""
    line = reading.selected
    if line is None:
        return None
    others = [(_registered(reading, name), words) for name, words in zip(COMPARED, ("", "what was done"), strict=True)]
    others.append((reading.find(reading.record.test.best_constant), "best constant"))
    heads = [(line, "selected")]
    heads += [(each, words) for each, words in others if each is not None and each.name != line.name]
    means = {each.name: [share.value for share in shares] for each, shares in rewards_by_stakeholder(reading)}
    names = [each.name for each in reading.stakeholders]
    if all(value is None for value in means[line.name]):
        return None
    rows = tuple(
        (name, tuple(_cell(reading, each, name, means[each.name][k]) for each, _ in heads))
        for k, name in enumerate(names)
    )
    scrutiny = reading.record.scrutiny
    gains = None if scrutiny is None else scrutiny.gains
    sentences = tuple(
        clean(gains.sentence) if gains and gains.other == each.name else _against(line, each, words, names, means)
        for each, words in heads[1:]
    )
    caution = (
        "Other differences are means, and not tested."
        if gains
        else "These are means: none of the differences is tested."
    )
    return Comparison(tuple(heads), rows, sentences, caution)


def _registered(reading: Reading, name: str) -> Line | None:
    """Return the first line whose rule is registered under a name."""
    parts = reading.record.strategies
    return next((each for each in reading.lines if each.name in parts and parts[each.name].name == name), None)


def _cell(reading: Reading, line: Line, stakeholder: str, mean: float | None) -> Cell:
    """Return a mean reward, with its interval where a metric of the case measures it."""
    if mean is None:
        return Cell("–")
    for label, metric in reading.record.case.metrics.items():
        of = metric.metric == "stakeholder_reward" and metric.parameters.get("stakeholder") == stakeholder
        figures = line.row.metrics.get(label) if of else None
        if figures is not None and figures.value is not None:
            return Cell(number(figures.value), interval(figures.low, figures.high))
    return Cell(number(mean))


def _against(line: Line, other: Line, words: str, names: list[str], means: dict[str, list[float | None]]) -> Markup:
    """Say whose mean reward is higher under one strategy than under another, as both are written."""
    told: dict[str, list[str]] = {"higher for": [], "lower for": [], "equal for": []}
    for name, mine, theirs in zip(names, means[line.name], means[other.name], strict=True):
        if mine is not None and theirs is not None:
            equal = number(mine) == number(theirs)
            told["equal for" if equal else "higher for" if mine > theirs else "lower for"].append(name)
    whole = len(names) > 1
    parts = [
        f"{word} {'everybody' if whole and len(group) == len(names) else listed(group)}"
        for word, group in told.items()
        if group
    ]
    what = f" ({words})" if words else ""
    return sentence("Against ", strong(other.name), f"{what}: {', '.join(parts) or 'not known'}.")


def _unseen(reading: Reading, findings: Findings | None, asked: frozenset[str]) -> tuple[str, ...]:
    """Return what a reader must not take from the page."""
    record = reading.record
    said = []
    if not record.learning.action_aware:
        said.append("Outcomes are assumed not to depend on the action, which the data cannot test.")
    elif findings is not None and findings.confounding is not None:
        said.append("What would have followed other actions is estimated, not seen.")
    if record.test.resamples:
        said.append("Intervals leave out how training would vary.")
    if findings is None:
        said.append("Certificates, conflicts and weights were not looked at.")
    open_chapters = [words for chapter, words in CHAPTERS.items() if chapter not in asked]
    if open_chapters:
        said.append(f"Not asked of this run yet: {listed(open_chapters)}.")
    said.append("Rewards are stated or learned; nobody's satisfaction was measured.")
    return tuple(said)


CHAPTERS = {"talks": "a debate", "lists": "lists", "person": "why one person's decision was taken"}


def metric_influences(columns: list[Column]) -> str:
    """Return the metrics that differences between scores come from, the most important first."""
    parts = sorted((column for column in columns if column.influence > 0), key=lambda column: -column.influence)
    return listed([f"{column.label} ({number(100 * column.influence, 0)}%)" for column in parts[:MOST_ACTIONS]])
