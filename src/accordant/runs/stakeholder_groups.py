"""Splitting a stakeholder into the groups that its people form: from the case as declared to the case that is run.

    groups: {Applicant: {by: types, most: 4, least: 5, weight: size}}

``Applicant`` becomes ``Applicant (type 1)``, ``Applicant (type 2)``, … in the order of their number of people. Each has
a reward that is learned from the answers of its own people, and a part of the weight. This happens once, before
anything is learned; whoever reads a run finds the stakeholders that it has.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from accordant.cases.preference_sources import at_key, entry_of
from accordant.cases.spec import CaseSpec, GroupSpec
from accordant.errors import InputError, SpecError
from accordant.problem import Stakeholder
from accordant.reward_groups import RewardGroups
from accordant.runs.record import GroupTried, StakeholderGroup, StakeholderGroups
from accordant.runs.reward_sources import located_signals

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class SplitCase:
    """A case in which stakeholders are split.

    Attributes
    ----------
    case
        As it is run; it declares no groups any more.
    parts
        What the record says of each stakeholder that was to be split.
    files
        Stakeholder as it was declared to the file that was given for it.
    """

    case: CaseSpec
    parts: tuple[StakeholderGroups, ...]
    files: Mapping[str, str]

    @property
    def declared_names(self) -> dict[str, str]:
        """What the case declared for each stakeholder of the case that is run."""
        names = {name: name for name in self.case.problem.stakeholder_names}
        return names | {name: part.stakeholder for part in self.parts for name in part.names}

    @property
    def preferences(self) -> dict[str, str]:
        """Stakeholder of the case that is run to the file that was given for it, or for what it is a group of."""
        declared = self.declared_names.items()
        return {name: self.files[original] for name, original in declared if original in self.files}


@contextmanager
def naming_groups(parts: Iterable[StakeholderGroups]) -> Iterator[None]:
    """Say of every error inside about a stakeholder that is no more what it was split into."""
    try:
        yield
    except InputError as error:
        for part in parts:
            if part.split and f"{part.stakeholder!r}; " in str(error):
                words = f"{error} ({part.stakeholder!r} was split into {', '.join(part.names)})"
                raise SpecError(words, path=getattr(error, "path", ())) from None
        raise


def with_groups(case: CaseSpec, beside: Path | None, data: str | None, files: Mapping[str, str]) -> SplitCase:
    """Return the case with each stakeholder that it declares under ``groups`` split into them.

    Parameters
    ----------
    case
        From `accordant.runs.reward_sources.with_preferences`.
    beside, data, files
        As for `accordant.runs.reward_sources.located_signals`.

    Raises
    ------
    SpecError
        If the reward of such a stakeholder is not learned from several people, or they cannot be divided so.
    """
    if not case.groups:
        return SplitCase(case, (), files)
    signals = located_signals(case, beside, data, files)
    split: dict[str, RewardGroups] = {}
    for name, spec in case.groups.items():
        logger.info("looking at the groups that the people of %s form", name)
        with at_key("groups", name), _about(name):
            split[name] = signals[name].groups_of_people(case.problem, by=spec.by, most=spec.most, least=spec.least)
    parts = {name: _part(case, name, split[name]) for name in split}
    if not any(part.split for part in parts.values()):
        return SplitCase(case.replace(groups={}), tuple(parts.values()), files)
    stakeholders: list[Stakeholder] = []
    rewards: dict[str, Any] = {}
    for stakeholder in case.problem.stakeholders:
        name = stakeholder.name
        entry = entry_of(case.rewards, name, case.problem.stakeholder_names)
        part = parts.get(name)
        if part is None or not part.split:
            stakeholders.append(stakeholder)
            rewards[name] = entry
            continue
        for member, group in zip(part.groups, split[name].groups, strict=True):
            stakeholders.append(_stakeholder(stakeholder, member, part.people))
            rewards[member.name] = {**entry, **group.entry}
    problem = case.problem.replace(stakeholders=tuple(stakeholders))
    expanded = case.replace(problem=problem, rewards=rewards, groups={})
    return SplitCase(expanded, tuple(parts.values()), files)


def _part(case: CaseSpec, name: str, groups: RewardGroups) -> StakeholderGroups:
    """Return what the record says of one stakeholder."""
    spec: GroupSpec = case.groups[name]
    stakeholder = next(who for who in case.problem.stakeholders if who.name == name)
    people = sum(group.people for group in groups.groups)
    n_groups = len(groups.groups)
    return StakeholderGroups(
        stakeholder=name,
        by=spec.by,
        weight=spec.weight,
        people=people,
        groups=tuple(
            StakeholderGroup(
                name=f"{name} ({group.name})" if n_groups > 1 else name,
                people=group.people,
                share=group.people / people,
                weight=stakeholder.weight * (group.people / people if spec.weight == "size" else 1 / n_groups),
            )
            for group in groups.groups
        ),
        tried=tuple(GroupTried(**asdict(trial)) for trial in groups.tried),
        unsure=groups.unsure,
        warnings=groups.warnings,
    )


def _stakeholder(whole: Stakeholder, group: StakeholderGroup, people: int) -> Stakeholder:
    """Return a group as a stakeholder."""
    words = f"{group.people} of the {people} people who answered for {whole.name}."
    return whole.replace(name=group.name, weight=group.weight, description=f"{whole.description} {words}".strip())


@contextmanager
def _about(name: str) -> Iterator[None]:
    """Say of every error inside which stakeholder was to be split."""
    try:
        yield
    except InputError as error:
        raise InputError(f"groups of {name!r}: {error}") from None
