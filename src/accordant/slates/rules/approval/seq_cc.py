"""Greedy approval Chamberlin-Courant: as many stakeholders as possible approve at least one item of the list."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from accordant.arrays import Mask, Values
from accordant.slates.candidates import Candidates
from accordant.slates.rule import register
from accordant.slates.rules.approval.approvals import ApprovalRule
from accordant.slates.rules.approval.sequential import one_by_one
from accordant.slates.slates import Slates


@register("seq_cc")
@dataclass(frozen=True)
class SequentialCC(ApprovalRule):
    """Each place goes to the item that the highest weight of stakeholders without an approved item so far approves.

    The list covers at least 1 − 1/e of the weight that a list of k items can cover (Lu and Boutilier 2011 for this
    rule; Nemhauser, Wolsey and Fisher 1978). It satisfies justified representation (Aziz et al. 2017, greedy approval
    voting): of stakeholders with 1/k of the weight who all approve one item, one approves an item of the list. Once
    everybody who approves anything is covered, what remains is filled by the sum of expected rewards.
    """

    def elect(self, approved: Mask, candidates: Candidates, k: int) -> Slates:
        """Return the slates of one block of users; see `ApprovalRule.elect`."""

        def spend(power: Values, approves: Mask, counts: Values) -> Values:
            """Return w_i where i approves nothing so far, and 0 elsewhere."""
            del counts
            return np.where(approves, 0.0, power)

        return one_by_one(self.label, approved, candidates, k, spend)
