"""What strategies would have chosen where agents deliberated: the same utilities, another rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from accordant import strategies
from accordant.allocations import Allocation
from accordant.allocations.allocation import Options
from accordant.allocations.search import scaled
from accordant.deliberation.adapters.rewards import expected_rewards
from accordant.deliberation.assessment.alternatives import CLOSE, alternatives, largest_sum
from accordant.deliberation.assessment.ledger import EQUAL
from accordant.deliberation.record import Deliberation
from accordant.errors import InputError
from accordant.strategies import Strategy

COMPARED = (
    "utilitarian", "maximin", "leximin", "nash_bargaining", "kalai_smorodinsky", "compromise_programming", "debate",
    "borda", "copeland", "approval",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Choices:
    """What each strategy would have chosen from the agents' utilities.

    Attributes
    ----------
    allocations
        Label of the strategy to its allocation.
    tied
        Label to whether another allocation was as good by the strategy, so that its tie rule decided.
    agrees
        Label to whether the allocation is the joint decision.
    shared
        Label to the share of patients who have the same share of demand in both.
    exact
        Label to whether this is the choice among all feasible allocations: they were all compared, or the strategy is
        the utilitarian one, all utilities add up over patients, and no feasible allocation has a larger sum
        (`accordant.allocations.enumeration`). Otherwise another allocation, which the search did not find, may be
        chosen, and rules on pairs or ranks depend on what else was found.
    among
        How many allocations were compared.
    complete
        Whether these are all feasible ones.
    """

    allocations: Mapping[str, Allocation]
    tied: Mapping[str, bool]
    agrees: Mapping[str, bool]
    shared: Mapping[str, float]
    exact: Mapping[str, bool]
    among: int
    complete: bool

    @property
    def words(self) -> str:
        """Among what was chosen, such as ``among 1,000 allocations that a search found``."""
        if self.complete:
            return f"among all {self.among:,} feasible allocations"
        return f"among {self.among:,} allocations that a search found"

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        return {
            label: {
                "allocation": each.to_json(),
                "tied": self.tied[label],
                "agrees": self.agrees[label],
                "shared": self.shared[label],
                "exact": self.exact[label],
                "among": self.among,
                "words": self.words,
            }
            for label, each in self.allocations.items()
        }


def choices_by_strategy(
    deliberation: Deliberation, rules: Sequence[Strategy | str] = COMPARED, *, options: Options | None = None
) -> Choices:
    """Return what strategies would have chosen from the utilities that settlement read.

    Parameters
    ----------
    deliberation
        A finished deliberation.
    rules
        Strategies or their names. Rules on pairs of actions take time that grows with the square of the options.
    options
        What is chosen among; None for all feasible allocations or, where they are too many, those that a search found
        (`accordant.deliberation.assessment.alternatives`).

    Raises
    ------
    InputError
        If two rules have one label.
    """
    among = alternatives(deliberation).options if options is None else options
    made = [strategies.create(each) if isinstance(each, str) else each for each in rules]
    expected = expected_rewards([deliberation], options=among) if made else None
    allocations, tied, exact = {}, {}, {}
    for rule in made:
        assert expected is not None
        if rule.label in allocations:
            raise InputError(f"two rules have the label {rule.label!r}")
        decided = rule(expected)
        allocations[rule.label] = among.allocation(int(decided.codes[0]))
        tied[rule.label] = bool(decided.tied[0])
        exact[rule.label] = among.complete or _largest(deliberation, rule, allocations[rule.label])
    joint = deliberation.joint
    return Choices(
        allocations, tied,
        {label: each == joint for label, each in allocations.items()},
        {label: float((abs(each.shares - joint.shares) <= EQUAL).mean()) for label, each in allocations.items()},
        exact, len(among), among.complete,
    )  # fmt: skip


def _largest(deliberation: Deliberation, rule: Strategy, chosen: Allocation) -> bool:
    """Return whether a choice of the utilitarian strategy is known to have the largest sum of all allocations."""
    if rule != strategies.create("utilitarian"):
        return False
    largest = largest_sum(deliberation)
    if largest is None:
        return False
    scale = scaled(deliberation.scenario, list(deliberation.utilities.values()))
    sums = scale.of(np.array([chosen.shares, largest.shares])).sum(axis=0)
    return bool(sums[0] >= sums[1] - CLOSE)
