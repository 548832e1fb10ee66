"""The first screen: the result of a run in plain words, each with the fold that holds the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from accordant.naming import listed
from accordant.report.charts.svg import clean
from accordant.report.distribution import rewards_by_stakeholder
from accordant.report.page import sentence, strong
from accordant.report.reading import Line, Reading
from accordant.report.scale import Cell, interval, number
from accordant.report.scrutiny import Findings, findings
from accordant.report.statements import CHANGES, MOST_METRICS, Statement, changes, decided, rules_named, sureness
from accordant.report.summary import Answer, Check, answer, checks
from accordant.report.use import may_be_used
from accordant.runs.record import Column, Record

COMPARED = {"logged": "what was done", "utilitarian": "highest sum"}
"""Registered name of what the selected strategy is compared with, to why; the best constant action comes last."""


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
    rules: Statement | None  # what rules do that the page has named so far; None where their names say it
    comparison: Comparison | None  # None if no strategy was selected, or no reward is known
    unseen: tuple[str, ...]  # what the page does not show
    alarms: tuple[tuple[str, str], ...]  # what a reader must know before all else: in a word, and in a sentence


def in_short(record: Record) -> tuple[tuple[str, str], ...]:
    """Return the first screen as titles with plain texts: what was decided, who gains, how sure, and whether to use it.

    What would change it is left to the page.
    """
    reading = Reading.named(record)
    screen = overview(reading, answer(reading), findings(reading), checks(reading), frozenset())
    texts = {
        statement.title: statement.words.striptags() for statement in screen.statements if statement.title != CHANGES
    }
    decided_title, *others = texts
    told = [(decided_title, texts[decided_title])]
    if screen.comparison is not None:
        against = " ".join(sentence.striptags() for sentence in screen.comparison.sentences)
        told.append(("Who gains and who loses", f"{against} {screen.comparison.caution}"))
    return (*told, *((title, texts[title]) for title in others))


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
    comparison = _comparison(reading)
    statements = [decided(reading, answer), sureness(reading, answer, findings)]
    if findings is not None:
        statements.append(changes(findings))
    statements.append(Statement("May I use it?", may_be_used(reading, answer, checks), (("scope", "scope card"),)))
    compared = () if comparison is None else comparison.sentences
    named = rules_named(reading, [*(statement.words for statement in statements), *compared])
    return Overview(tuple(statements), named, comparison, _unseen(reading, findings, asked), _alarms(reading))


def _comparison(reading: Reading) -> Comparison | None:
    """Return mean rewards of the selected strategy beside those of the log, the utilitarian rule, the best constant."""
    line = reading.selected
    if line is None:
        return None
    others = [(reading.registered(name), words) for name, words in COMPARED.items()]
    others.append((reading.find(reading.record.test.best_constant), "best constant"))
    heads = [(line, "selected")]
    heads += [(other, words) for other, words in others if other is not None and other.name != line.name]
    means = {rule.name: [share.value for share in shares] for rule, shares in rewards_by_stakeholder(reading)}
    names = [stakeholder.name for stakeholder in reading.stakeholders]
    if all(value is None for value in means[line.name]):
        return None
    rows = tuple(
        (name, tuple(_cell(reading, head, name, means[head.name][k]) for head, _ in heads))
        for k, name in enumerate(names)
    )
    scrutiny = reading.record.scrutiny
    gains = None if scrutiny is None else scrutiny.gains
    sentences = tuple(
        clean(gains.sentence) if gains and gains.other == other.name else _against(line, other, words, names, means)
        for other, words in heads[1:]
    )
    caution = (
        "Other differences are means, and not tested."
        if gains
        else "These are means: none of the differences is tested."
    )
    return Comparison(tuple(heads), rows, sentences, caution)


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
    guessed = reading.guessed
    if not guessed:
        said.append("Rewards are stated or learned; nobody's satisfaction was measured.")
    elif len(guessed) < len(reading.stakeholders):
        said.append("Other rewards are stated or learned; nobody's satisfaction was measured.")
    return tuple(said)


def _alarms(reading: Reading) -> tuple[tuple[str, str], ...]:
    """Return why the whole page is preliminary."""
    said = []
    if reading.record.learning.effort == "quick":
        quick = "Simple models, few folds and resamples, less scrutiny. Run it without --quick before you rely on it."
        said.append(("This is a quick look", quick))
    if guessed := reading.guessed:
        nobody = f"Nobody has said yet what {listed(guessed)} {'wants' if len(guessed) == 1 else 'want'}"
        said.append(("Rewards are guesses", f"{nobody}: the numbers are made up, and all that follows rests on them."))
    return tuple(said)


CHAPTERS = {"talks": "a debate", "lists": "lists", "person": "why one person's decision was taken"}


def metric_influences(columns: list[Column]) -> str:
    """Return the metrics that differences between scores come from, the most important first."""
    parts = sorted((column for column in columns if column.influence > 0), key=lambda column: -column.influence)
    return listed([f"{column.label} ({number(100 * column.influence, 0)}%)" for column in parts[:MOST_METRICS]])
