"""`Findings`: why one decision was taken, typed; everything that is said about the decision is read from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from accordant.explanation.contexts import ContextChanges
from accordant.explanation.misreports import Misreport
from accordant.explanation.person import Person
from accordant.explanation.reasons import Measure, Reason
from accordant.explanation.recourse import Recourse
from accordant.explanation.weights import WeightChanges
from accordant.json_values import json_value

Row = tuple[float, ...]


@dataclass(frozen=True)
class Choice:
    """What was decided, and how close it was.

    Attributes
    ----------
    action
        The action.
    tied
        Whether another action had the same score.
    scores
        Score of each action, in the rule's own unit; None for a rule without scores. −inf: no agreement, or ruled out.
    runner_up
        The action with the next best score; empty for a rule without scores.
    margin
        Score of the decision minus that of the runner-up; None where there is no finite one.
    probabilities
        Probability of each action if the rule draws; None otherwise.
    flags
        What else must be known: names of flags of `Decisions` that are raised.
    """

    action: str
    tied: bool
    scores: Row | None
    runner_up: str
    margin: float | None
    probabilities: Row | None
    flags: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return plain values; a score of −inf is null."""
        values: dict[str, Any] = json_value(asdict(self) | {"runner_up": self.runner_up or None})
        return values


@dataclass(frozen=True)
class Favourite:
    """What one stakeholder would have chosen alone.

    Attributes
    ----------
    who
        The stakeholder.
    action
        Its favourite; ties go to the sum over all stakeholders, then to declared order.
    equals
        All actions that are worth as much to it, with the favourite.
    gains
        What each stakeholder would have gained (below 0: lost) if that had been decided, shape (stakeholder,).
    """

    who: str
    action: str
    equals: tuple[str, ...]
    gains: Row


@dataclass(frozen=True)
class Comparison:
    """What the decision gave each stakeholder against another action.

    Attributes
    ----------
    action
        The other action.
    gains
        Expected reward of the decision minus that of the other action, shape (stakeholder,); below 0 is a loss.
    runner_up
        Whether it is the runner-up.
    favourite_of
        Stakeholders who would have chosen it alone.
    """

    action: str
    gains: Row
    runner_up: bool
    favourite_of: tuple[str, ...]


@dataclass(frozen=True)
class PivotalHere:
    """Whether one stakeholder is pivotal in this context.

    Attributes
    ----------
    who
        The stakeholder.
    actions
        ``dropped``, ``neutralised``, ``doubled``, ``halved`` to the action that would be decided; None where the
        question means nothing.
    changes
        The same to whether that is another action than the decision; None likewise.
    reasons
        Why a question means nothing, for those that do not.
    """

    who: str
    actions: Mapping[str, str | None]
    changes: Mapping[str, bool | None]
    reasons: Mapping[str, str]


@dataclass(frozen=True)
class Findings:
    """Why one decision was taken and what would have changed it, in numbers and names.

    Attributes
    ----------
    row
        Position of the context in E.
    rule
        Label of the rule.
    stakeholders, actions
        Names.
    expected
        E in this context, shape (stakeholder, action).
    choice
        What was decided.
    reason
        What decided, see `Reason.sentence`.
    measure
        What the rule compares actions by; None where its scores are places or not known.
    points
        Where the rule measures from: ``disagreement`` and ``ideal``, and how far below a floor the decision leaves
        somebody, ``below_floor``; each of shape (stakeholder,). Empty for rules that have none.
    favourites
        What each stakeholder would have chosen alone.
    comparisons
        The decision against every other action.
    pivotal
        Whose absence, silence or weight would have changed it.
    misreports
        The smallest change of E that would have: for everybody together, then for each stakeholder alone.
    weights
        The smallest change of stakeholder weights that would have.
    context
        The nearest contexts with another decision; None if they were not asked for.
    person
        The person whom the decision is about; None without a policy.
    recourse
        What this person could change so that another action is decided; None without a policy.
    """

    row: int
    rule: str
    stakeholders: tuple[str, ...]
    actions: tuple[str, ...]
    expected: tuple[Row, ...]
    choice: Choice
    reason: Reason
    measure: Measure | None
    points: Mapping[str, Row]
    favourites: tuple[Favourite, ...]
    comparisons: tuple[Comparison, ...]
    pivotal: tuple[PivotalHere, ...]
    misreports: tuple[Misreport, ...]
    weights: WeightChanges
    context: ContextChanges | None = None
    person: Person | None = None
    recourse: Recourse | None = None

    def values(self) -> dict[str, Any]:
        """Return plain values without sentences."""
        own = {"choice": self.choice.to_json(), "misreports": [misreport.to_json() for misreport in self.misreports]}
        values: dict[str, Any] = json_value(asdict(self) | own)
        return values
