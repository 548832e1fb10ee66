"""`PersonExplanation`: what a letter says, in parts; and to whom."""

from __future__ import annotations

from dataclasses import dataclass, field

from accordant.explanation.labels import Labels
from accordant.sections import Part


class Wish(Part):
    """What somebody wanted, and what the decision is for them, in words."""

    who: str
    best: str
    decision: str


class Known(Part):
    """One fact that was used: what it is, its value, and how usual it is."""

    name: str
    value: str
    usual: str


class PersonExplanation(Part):
    """A decision in plain words.

    Attributes
    ----------
    language
        Its code.
    title
        What was decided about.
    decision
        The action, as it is called; empty if somebody is still to decide.
    decided
        The same as a sentence.
    reason
        Why, in one sentence; empty where no rule decided.
    expected
        What is likely to follow, in sentences, with calibrated figures only.
    changes
        What would change the decision, in sentences; each change was decided again.
    wishes
        Who wanted what.
    sure
        How sure this is, in sentences.
    known
        The facts that were used.
    objection
        How to object, in sentences.
    source
        Which run and row.
    """

    language: str
    title: str
    decision: str
    decided: str
    reason: str
    expected: tuple[str, ...]
    changes: tuple[str, ...]
    wishes: tuple[Wish, ...]
    sure: tuple[str, ...]
    known: tuple[Known, ...]
    objection: tuple[str, ...]
    source: str


@dataclass(frozen=True)
class Addressee:
    """To whom a decision is explained, and with what words of the case.

    Attributes
    ----------
    person
        The stakeholder who is the person concerned; empty if the case names none.
    labels
        Language to what things are called in it.
    title
        Of the case.
    appeal_route, responsible_party
        From the scope card.
    favourable
        Actions that are good for the person, if the case names them.
    source
        Which run the decision is from.
    simulated
        Whether the rule was learned from simulated rows.
    """

    person: str = ""
    labels: dict[str, Labels] = field(default_factory=dict)
    title: str = ""
    appeal_route: str = ""
    responsible_party: str = ""
    favourable: tuple[str, ...] = ()
    source: str = ""
    simulated: bool = False
