"""Proportionality: whether a list gives every group of stakeholders that agrees what its weight entitles it to.

A group is worth ℓ places if its weight is at least ℓ·W/k, W being the weight of everybody and k the places of the list
(with weights 1: ℓ·n/k stakeholders). S is the list, A_i what i approves.

| axiom | a group worth ℓ places … | … must have | source | work |
|---|---|---|---|---|
| ``jr`` | that agrees on an item, ℓ = 1 | a member who approves an item of S | Aziz et al. 2017 | polynomial |
| ``pjr`` | that agrees on ℓ items | ℓ items of S that some member approves | Sánchez-Fernández et al. 2017 | 2ⁿ |
| ``ejr`` | that agrees on ℓ items | a member who approves ℓ items of S | Aziz et al. 2017 | 2ⁿ |
| ``ejr_plus`` | that agrees on an item outside S | a member who approves ℓ of S | Brill and Peters 2023 | polynomial |

EJR+ implies EJR, EJR implies PJR, PJR implies JR. Weights in the place of numbers of voters are ours: a stakeholder of
weight 2 counts as two who approve the same. Who has weight 0 is in no group.

`check` says of one list whether an axiom holds, and names the group that is wronged; `violations` says of many lists at
once which break it.
"""

from accordant.slates.proportionality.batches import violations
from accordant.slates.proportionality.verdict import AXIOMS, Axiom, Verdict, check
from accordant.slates.proportionality.witness import Witness

__all__ = ["AXIOMS", "Axiom", "Verdict", "Witness", "check", "violations"]
