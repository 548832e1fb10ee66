"""Sequential Proportional Approval Voting: every further item that a stakeholder approves counts less (Thiele 1895)."""

from __future__ import annotations

from dataclasses import dataclass

from accordant.arrays import Mask, Values
from accordant.slates.candidates import Candidates
from accordant.slates.rule import register
from accordant.slates.rules.approval.approvals import ApprovalRule
from accordant.slates.rules.approval.sequential import one_by_one
from accordant.slates.rules.weights import even_weights
from accordant.slates.slates import Slates


@register("seq_pav")
@dataclass(frozen=True)
class SequentialPAV(ApprovalRule):
    """Each place goes to the item with the highest Σ_i w_i / (1 + a_i) over those who approve it.

    a_i is how many items of the list so far i approves. The list has at least 1 − 1/e of the highest PAV score
    Σ_i w_i (1 + 1/2 + … + 1/a_i) that a list of k items can have (Nemhauser, Wolsey and Fisher 1978). It need not
    satisfy justified representation (Aziz et al. 2017).
    """

    def elect(self, approved: Mask, candidates: Candidates, k: int) -> Slates:
        """Return the slates of one block of users; see `ApprovalRule.elect`."""
        weights = even_weights(candidates.weights)[:, None]

        def spend(power: Values, approves: Mask, counts: Values) -> Values:
            """Return w_i / (1 + a_i)."""
            del power, approves
            return weights / (1.0 + counts)

        return one_by_one(self.label, approved, candidates, k, spend)
