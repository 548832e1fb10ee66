"""What ``run.json`` holds of rewards, typed: where each comes from, and the groups that people form."""

from __future__ import annotations

from pydantic import ConfigDict

from accordant.sections import Part


class RewardSource(Part):
    """Where a stakeholder's reward comes from; for a learned one also its `RewardSignal.provenance`.

    Attributes
    ----------
    kind
        ``table``, ``column``, ``set``, or the name of the registered reward.
    words
        The same as the end of a sentence about the reward: ``stated in the case's table``.
    replaces
        What it stands instead of, as a noun; empty if it replaces nothing.
    given
        Whether a file given beside the case replaced what the case declares.
    """

    model_config = ConfigDict(extra="allow", frozen=True)
    kind: str = "comparisons"
    words: str = ""
    replaces: str = ""
    given: bool = False

    @property
    def learned_from(self) -> str:
        """Name of the file from whose records it was learned; empty if it was not learned."""
        return str((self.model_extra or {}).get("file", ""))

    @property
    def sentence_end(self) -> str:
        """The words, with what it stands instead of."""
        return self.words + (f", instead of {self.replaces}" if self.replaces else "")


class GroupTried(Part):
    """How well a number of types predicts other people; see `accordant.reward_groups.TypesTried`."""

    types: int
    log_likelihood: float
    shortfall: float
    standard_error: float


class StakeholderGroup(Part):
    """A group as a stakeholder: its people, their share, and its weight in weighted rules."""

    name: str
    people: int
    share: float
    weight: float


class StakeholderGroups(Part):
    """What became of a stakeholder that a case wants split; see `accordant.runs.stakeholder_groups`.

    Attributes
    ----------
    stakeholder
        As the case declared it.
    by, weight
        ``types`` or ``group_id``; whether weight follows ``size`` or is ``equal``.
    people
        Who answered, records of weight 0 apart.
    groups
        Largest first; the stakeholder itself if it stays whole.
    tried
        Numbers of types that were compared; empty for declared groups, and where too few people answered.
    unsure
        Share of people whose most likely type has a probability below 0.8; None where no types were told apart.
    warnings
        What a reader must know of the groups.
    """

    stakeholder: str
    by: str
    weight: str
    people: int
    groups: tuple[StakeholderGroup, ...]
    tried: tuple[GroupTried, ...] = ()
    unsure: float | None = None
    warnings: tuple[str, ...] = ()

    @property
    def split(self) -> bool:
        """Whether it does not stay whole."""
        return len(self.groups) > 1

    @property
    def names(self) -> tuple[str, ...]:
        """The groups as stakeholders."""
        return tuple(group.name for group in self.groups)

    @property
    def sentences(self) -> tuple[str, ...]:
        """What was found, in sentences for terminal and report."""
        kind = "type" if self.by == "types" else "group"
        shares = ", ".join(f"{group.people} people or {group.share:.0%}" for group in self.groups)
        weights = "by size" if self.weight == "size" else "in equal parts"
        looked = f"1 {kind} among {self.people} people"
        if self.by == "types" and not self.tried:
            looked = f"nobody looked for types among its {self.people} people"
        whole = f"{self.stakeholder} stays whole: {looked}."
        parts = f"{self.stakeholder} is split into {len(self.groups)} {kind}s among {self.people} people"
        sentences = [f"{parts} ({shares}), its weight {weights}." if self.split else whole]
        if self.tried:
            sentences.append(f"Held-out log-likelihood per comparison: {'; '.join(map(_tried, self.tried))}.")
        if self.unsure:
            sentences.append(f"{self.unsure:.0%} of the people are not clearly of one type.")
        return tuple(sentences)


def _tried(trial: GroupTried) -> str:
    """Return how well a number of types predicts, in words."""
    types = f"{trial.types} type{'s' * (trial.types > 1)} {trial.log_likelihood:.4f}"
    if not trial.shortfall:
        return f"{types} (the best)"
    return f"{types} (short by {trial.shortfall:.4f}, standard error {trial.standard_error:.4f})"
