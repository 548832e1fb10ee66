"""Greedy Monroe: every place stands for the same weight of stakeholders (Skowron, Faliszewski and Slinko 2015)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Mask, Values
from accordant.errors import InputError
from accordant.slates.candidates import Candidates
from accordant.slates.rule import register
from accordant.slates.rules.approval.approvals import ApprovalRule
from accordant.slates.rules.approval.sequential import one_by_one
from accordant.slates.slates import Slates


@register("greedy_monroe")
@dataclass(frozen=True)
class GreedyMonroe(ApprovalRule):
    """Each place goes to the item that most of the weight approves that no item stands for yet.

    The item then stands for those who approve it, in declared order, up to a quota; the last of them may be divided,
    and the rest of its weight still counts. Once nothing is left that anybody approves, what remains is filled by the
    sum of expected rewards.

    It satisfies justified representation: as long as stakeholders with 1/k of the weight approve one item and nothing
    stands for any of them, each place uses its quota up, and all quotas together are the whole weight. Proportional
    justified representation holds too if k divides the number of voters (Sánchez-Fernández et al. 2017).

    Parameters
    ----------
    whole
        False: each quota is W / k, with W the sum of weights. Only the ratios of weights matter, and each stakeholder
        may be stood for by several items, so that lists longer than the number of stakeholders are shared among all.
        The paper assumes that k divides the number of voters; then both are the same.
        True: weights are numbers of voters, whole numbers. The first W mod k quotas are ⌊W / k⌋ + 1, the others
        ⌊W / k⌋, as in abcvoting [code]. With fewer voters than places the last quotas are 0.

    Raises
    ------
    InputError
        When it is applied, if weights are not whole numbers and `whole` says that they count voters.
    """

    whole: bool = False

    def elect(self, approved: Mask, candidates: Candidates, k: int) -> Slates:
        """Return the slates of one block of users; see `ApprovalRule.elect`."""
        weights = candidates.weights
        quotas = iter((self.quotas(weights, k) / weights[weights > 0].mean()).tolist())

        def spend(power: Values, approves: Mask, counts: Values) -> Values:
            """Return what is left of each weight once the chosen item stands for its share."""
            del counts
            after, room = power.copy(), np.full(power.shape[1], next(quotas))
            for i, approving in enumerate(approves):
                share = np.where(approving, np.minimum(after[i], room), 0.0)
                after[i] -= share
                room -= share
            return after

        return one_by_one(self.label, approved, candidates, k, spend)

    def quotas(self, weights: NDArray[np.float64], k: int) -> NDArray[np.float64]:
        """Return the weight that each place stands for, the first place first, shape (k,).

        Parameters
        ----------
        weights
            Shape (stakeholder,).
        k
            Places, at least 1.

        Raises
        ------
        InputError
            If weights are to count voters and one is no whole number.
        """
        total = float(weights.sum())
        if not self.whole:
            return np.full(k, total / k)
        if (weights != np.floor(weights)).any():
            raise InputError(
                f"weights are {weights.tolist()}; allowed with whole=True: whole numbers, counts of voters"
            )
        least, more = divmod(int(total), k)
        return np.asarray(least + (np.arange(k) < more), dtype=np.float64)
