"""What a case declares about slates: items and requests, stakeholders with their objectives, rules and measures."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from accordant.cases.files import read_part
from accordant.cases.parts import CasePart, case_parts
from accordant.cases.spec import CaseSpec
from accordant.declaration import WEIGHT_TOLERANCE, Declared, NamedOrName, PathName
from accordant.errors import InputError, SpecError, UnknownNameError
from accordant.scope import ScopeCard
from accordant.slates.objectives import SlateStakeholder


class PartySpec(Declared):
    """What a stakeholder of the case's own decision problem has to say about slates.

    Attributes
    ----------
    weight
        In rules that know weights, at least 0; None for that of the decision problem.
    floor
        The normalised utility that no list may go below, in [0, 1].
    """

    weight: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    floor: float | None = Field(default=None, ge=0, le=1)


class MeasureSpec(Declared):
    """A registered slate measure, its parameters, its weight in the composite score, and its range.

    Attributes
    ----------
    measure, weight, parameters
        Its name, its weight, and what it is made with.
    range
        The two values that count as 0 and as 1 of it, the smaller first; None for the measure's own.
    """

    measure: str
    weight: float = Field(default=0.0, ge=0, le=1)
    parameters: dict[str, Any] = Field(default_factory=dict)
    range: tuple[float, float] | None = None

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.range is not None and not -math.inf < self.range[0] < self.range[1] < math.inf:
            raise InputError(f"the range of {self.measure} is {list(self.range)}; allowed: two numbers, smaller first")
        return self


class SlateSpec(Declared):
    """Who is shown what, and who has a say.

    Either `stakeholders` declare objectives, and a loader or simulator brings items and requests; or there are neither,
    and the case's own models give E: its actions are the items, its untouched rows the requests, its stakeholders those
    who have a say.

    Attributes
    ----------
    loader
        Registered market loader; None for the case's own E.
    file
        Path of the file: beside the case file, or below a data folder.
    simulator
        Registered market simulator that stands in for missing data.
    parameters
        Of the loader and the simulator: both get those they know.
    stakeholders
        Who has a say, with objectives.
    parties
        Weights and floors of stakeholders of the case's own decision problem.
    capacity
        Item to visits per day at most; others are as the loader says, or without limit.
    close_when_full
        Whether an item is no longer shown on a day on which it has had as many visits as it takes.
    staleness
        How many batches old the state is that rules see; see `accordant.slates.market`.
    visits
        Items of a list that a user visits.
    rules
        Which rules compete; none for all.
    measures
        Columns of the leaderboard by label; weights sum to 1 and are a value judgement. none for
        `accordant.slates.evaluation.default_measures`.
    normalisation
        ``natural``: the score is the mean of measures on their ranges; ``relative``: min–max over the rules, so that it
        depends on who else is listed.
    """

    loader: str | None = None
    file: str | None = None
    simulator: str | None = None
    parameters: dict[str, Any] = Field(default_factory=dict)
    stakeholders: tuple[SlateStakeholder, ...] = ()
    parties: dict[str, PartySpec] = Field(default_factory=dict)
    capacity: dict[str, Annotated[float, Field(ge=0)]] = Field(default_factory=dict)
    close_when_full: bool = False
    staleness: int = Field(default=0, ge=0, strict=True)
    user: str | None = None
    k: int = Field(default=5, ge=1)
    visits: float = Field(default=1.0, ge=0, allow_inf_nan=False)
    rules: tuple[NamedOrName, ...] = ()
    measures: dict[str, MeasureSpec] = Field(default_factory=dict)
    normalisation: Literal["natural", "relative"] = "natural"
    scope: ScopeCard | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        for name, count in Counter(stakeholder.name for stakeholder in self.stakeholders).items():
            if count > 1:
                raise InputError(f"stakeholder {name!r} is declared {count} times")
        sources = [self.loader, self.file, self.simulator]
        if not self.stakeholders and any(sources):
            raise InputError("items come from a loader or a simulator, but no stakeholder with objectives is declared")
        if self.stakeholders and not any(sources):
            raise InputError("stakeholders declare objectives, but neither a loader nor a simulator brings items")
        if self.stakeholders and (self.loader is None) != (self.file is None):
            raise InputError("a loader needs a file, and a file a loader")
        total = sum(measure.weight for measure in self.measures.values())
        if self.measures and abs(total - 1) > WEIGHT_TOLERANCE:
            raise InputError(f"weights of measures sum to {total:g}; they divide one whole and must sum to 1")
        if self.stakeholders and self.parties:
            raise InputError(
                "parties is for stakeholders of a decision problem; declare weight and floor beside values"
            )
        if (
            self.stakeholders
            and self.user is not None
            and self.user not in [stakeholder.name for stakeholder in self.stakeholders]
        ):
            raise UnknownNameError("user", self.user, [stakeholder.name for stakeholder in self.stakeholders])
        return self


class SlateCase(Declared):
    """Slates with their name: what ``accordant slate`` runs."""

    name: PathName
    title: str
    description: str = ""
    slates: SlateSpec
    notes: tuple[str, ...] = ()


@case_parts.register("slates")
def slate_part() -> CasePart:
    """Return what the key ``slates`` of a case file may hold."""
    return CasePart(SlateSpec, SlateCase, "slates", "slate", "accordant.slates.cases")


def slates_of(case: CaseSpec) -> SlateCase:
    """Return the slates of a decision case: what it declares, or lists of its actions by the defaults."""
    declared = case.parts.get("slates", SlateSpec())
    assert isinstance(declared, SlateSpec)
    return SlateCase(name=case.name, title=case.title, description=case.description, notes=case.notes, slates=declared)


def read_slates(name_or_path: str | Path) -> tuple[SlateCase, CaseSpec | None, Path | None]:
    """Read a built-in slate case, or a YAML file: a case with ``slates``, or slates alone.

    Returns
    -------
    The slate case; the whole case if the file declares a decision problem too; and the folder beside which its data
    file is looked for (None for built-in ones).

    Raises
    ------
    SpecError
        If there is no such file, it declares no slates, or it is wrong.
    """
    part = read_part(name_or_path, "slates", SlateCase)
    if part.case is None and not part.declared.slates.stakeholders:
        raise SpecError("slates: stakeholders are missing, and no decision problem declares any", part.where)
    return part.declared, part.case, part.beside
