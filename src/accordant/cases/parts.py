"""Parts of a case: what a wing declares in a case file beside the decision problem, under a key of its own.

A wing registers its part in its module ``case``; the spine imports none of them, and names their modules here only::

    case_parts.register("slates")(lambda: CasePart(SlateSpec, SlateCase, "slates", "slate", "accordant.slates.cases"))
"""

from __future__ import annotations

from dataclasses import dataclass

from accordant.declaration import Declared
from accordant.registry import Registry
from accordant.rewards import RewardSignal


@dataclass(frozen=True)
class CasePart:
    """What may stand under one key of a case file.

    Attributes
    ----------
    declared
        The type of what stands there.
    alone
        The type of a file that declares this part and no decision problem.
    described
        What it is called in messages.
    command
        The command that carries it out.
    cases
        The package with the built-in files that declare this part alone, in folders.
    """

    declared: type[Declared]
    alone: type[Declared]
    described: str
    command: str
    cases: str


case_parts: Registry[CasePart] = Registry(
    "part of a case", group="accordant.case_parts", packages=("accordant.deliberation.case", "accordant.slates.case")
)


reward_sets: Registry[dict[str, RewardSignal]] = Registry(
    "reward set", group="accordant.reward_sets", packages=("accordant.cases",)
)
