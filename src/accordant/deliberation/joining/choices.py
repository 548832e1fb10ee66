"""What strategies would have chosen where agents deliberated: the same utilities, another rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from accordant import strategies
from accordant.allocations import Allocation
from accordant.allocations.options import Options
from accordant.deliberation.assessment.alternatives import alternatives
from accordant.deliberation.assessment.ledger import EQUAL
from accordant.deliberation.joining.rewards import expected_rewards
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
    """

    allocations: Mapping[str, Allocation]
    tied: Mapping[str, bool]
    agrees: Mapping[str, bool]
    shared: Mapping[str, float]

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        return {
            label: {
                "allocation": each.to_json(),
                "tied": self.tied[label],
                "agrees": self.agrees[label],
                "shared": self.shared[label],
            }
            for label, each in self.allocations.items()
        }


def choices_by_strategy(
    deliberation: Deliberation,
    rules: Sequence[Strategy | str] = COMPARED,
    *,
    options: Options | None = None,
) -> Choices:
    """Return what strategies would have chosen from the utilities that settlement read.

    Parameters
    ----------
    deliberation
        A finished deliberation.
    rules
        Strategies or their names. Rules on pairs of actions take time that grows with the square of the options.
    options
        What is chosen among; None for all feasible allocations, or a sample where there are too many.

    Raises
    ------
    InputError
        If two rules have one label.
    """
    among = alternatives(deliberation).options if options is None else options
    made = [strategies.create(each) if isinstance(each, str) else each for each in rules]
    expected = expected_rewards([deliberation], options=among) if made else None
    allocations, tied = {}, {}
    for rule in made:
        assert expected is not None
        if rule.label in allocations:
            raise InputError(f"two rules have the label {rule.label!r}")
        decided = rule(expected)
        allocations[rule.label] = among.allocation(int(decided.codes[0]))
        tied[rule.label] = bool(decided.tied[0])
    joint = deliberation.joint
    return Choices(
        allocations, tied,
        {label: each == joint for label, each in allocations.items()},
        {label: float((abs(each.shares - joint.shares) <= EQUAL).mean()) for label, each in allocations.items()},
    )  # fmt: skip
