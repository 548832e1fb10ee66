"""What the pages of talks call facts, criteria, rules and strategies, in words; JSON and commands keep labels."""

from __future__ import annotations

import re
from collections.abc import Iterable

from accordant.deliberation.decision.dialogue_result import DecisionDialogue
from accordant.deliberation.decision.result import DecisionDebate
from accordant.deliberation.result import (
    BallotTurn,
    ContestationTurn,
    DeliberationResult,
    RecordResult,
    RepeatedDeliberation,
)
from accordant.report.labels import SPECIAL, in_words, readable, renamed

FACTS = {"p_with": "chance with the grant", "p_without": "chance without it"}
"""Facts of `accordant.allocations.Scenario` whose names are no words."""
NAME = re.compile(r"\w+\(?")  # at the start of the label of a criterion, before parameters and threshold


def deliberation_names(content: DeliberationResult | RepeatedDeliberation) -> dict[str, str]:
    """Return label to name in words of what the page of a deliberation, or of many, is about."""
    if isinstance(content, RepeatedDeliberation):
        criteria = content.repeated.lines["joint"].met
        return _names(_metrics(criteria), (*content.repeated.agrees, *content.repeated.agents))
    declared = {*_said(content.deliberation), *_metrics(content.sides.get("joint", ()))}
    for facts in content.regrets.missing.values():
        declared.update(facts)
    if content.verdict is not None:
        declared.update(criterion.metric for criterion in content.verdict.criteria)
    agents = [agent.name for agent in content.deliberation.agents]
    return _names(declared, (*content.choices, *content.regrets.frameworks, *agents))


def decision_names(content: DecisionDebate | DecisionDialogue) -> dict[str, str]:
    """Return label to name in words of what a page on a decision of a run is about."""
    rows = content.rows if isinstance(content, DecisionDebate) else (content.row,)
    declared = {*content.stakeholders, *content.actions, *(name for row in rows for name in row.context)}
    if isinstance(content, DecisionDebate):
        declared |= _said(content.deliberation)
    return _names(declared, (content.run.selected, *(label for row in rows for label in row.decisions)))


def _said(record: RecordResult) -> set[str]:
    """Return names of facts, codes of reasons, and rules of a record."""
    names = {fact for patient in record.scenario.patients for fact in patient.facts}
    names |= {record.settled.rule, *record.procedure}
    for turn in (*record.turns, *record.asides):
        if not isinstance(turn, BallotTurn):
            names |= {reason.code for reason in turn.proposal.reasons}
        if isinstance(turn, ContestationTurn):
            names |= {reply.reason.code for reply in turn.replies if reply.reason is not None}
    return names


def _metrics(labels: Iterable[str]) -> set[str]:
    """Return the names of metrics in labels of criteria, and those that a bracket follows with it too."""
    starts = {match[0] for label in labels if (match := NAME.match(label))}
    return starts | {start.rstrip("(") for start in starts}


def _names(declared: Iterable[str], rules: Iterable[str]) -> dict[str, str]:
    """Return label to name: of what is declared, and of strategies, frameworks and agents."""
    declared = set(declared)
    words = {label: said.replace("(", " (") for label, said in in_words(declared).items()}
    words |= {fact: said for fact, said in FACTS.items() if fact in declared}
    return words | {label: renamed(readable(label), words) for label in rules if SPECIAL.search(label)}
