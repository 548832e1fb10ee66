"""What actions, outcomes, stakeholders and columns are called in a text for people, in each language."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import Field

from accordant.declaration import Declared
from accordant.explanation.contexts import Value
from accordant.languages import Language, message

YOU = message("you")


class Labels(Declared):
    """Names of one case in one language; what is not named keeps its declared name, with blanks for underscores.

    Attributes
    ----------
    title
        Of the decision.
    actions, outcomes, columns
        Name to label.
    stakeholders
        Name to label, in the form that follows "for" (German "für"): the tutors, die Bank.
    values
        Column to its values and their labels.
    appeal_route, responsible_party
        Of the scope card.
    """

    title: str = ""
    actions: dict[str, str] = Field(default_factory=dict)
    outcomes: dict[str, str] = Field(default_factory=dict)
    stakeholders: dict[str, str] = Field(default_factory=dict)
    columns: dict[str, str] = Field(default_factory=dict)
    values: dict[str, dict[str, str]] = Field(default_factory=dict)
    appeal_route: str = ""
    responsible_party: str = ""


@dataclass(frozen=True)
class LabelledNames:
    """Names by labels; the person concerned is "you".

    Attributes
    ----------
    labels
        In the language.
    spoken
        The language.
    you
        The stakeholder who is the person concerned; empty if none is.
    """

    labels: Labels
    spoken: Language
    you: str = ""

    def action(self, name: str) -> str:
        """Return what an action is called."""
        return self.labels.actions.get(name) or _readable(name)

    def mention(self, name: str) -> str:
        """Return what an action is called within a sentence, in quotation marks: labels do not bend."""
        return self.spoken.text(message("“{name}”"), name=self.action(name))

    def stakeholder(self, name: str) -> str:
        """Return what a stakeholder is called after "for"; groups of a stakeholder by its label."""
        if name == self.you:
            return self.spoken.text(YOU)
        whole, bracket, rest = name.partition(" (")
        label = self.labels.stakeholders.get(name) or self.labels.stakeholders.get(whole, "")
        return label + (bracket + rest if label and name not in self.labels.stakeholders else "") or _readable(name)

    def outcome(self, name: str) -> str:
        """Return what an outcome is called."""
        return self.labels.outcomes.get(name) or _readable(name)

    def column(self, name: str) -> str:
        """Return what a column is called."""
        return self.labels.columns.get(name) or _readable(name)

    def value(self, column: str, value: Value | None) -> str:
        """Return a value of a column as people read it."""
        if value is None or value == "":
            return self.spoken.text(message("not known"))
        known = self.labels.values.get(column, {})
        if isinstance(value, str):
            return known.get(value) or _readable(value)
        key = f"{value:g}"
        return known.get(key) or self.spoken.number(value)


def _readable(name: str) -> str:
    return " ".join(name.replace("_", " ").split()) or name
