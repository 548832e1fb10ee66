"""Spend a budget on projects that people voted for: rules, and who is served by what they fund.

Vocabulary
----------
project, cost, budget
    What can be funded, at which price, from how much money in all. Whole projects are funded, or not at all.
votes, score
    How many voters gave a project anything, and the sum of what they gave it; both with the weights of voters.
price
    What a voter pays for one unit of utility from a project, if she can pay that much.
exhaustive
    No project that somebody voted for could still be funded with what is left.

    rule            the base of all rules, their registry, what they return; ballots in whole numbers
    voter_budgets   the exact prices of the Method of Equal Shares, and how far they are affine in the voters' money
    equal_shares    the Method of Equal Shares, with its purchases in floating point as long as nothing is close
    sequential      rules that take one project after the other: greedy, seq_phragmen
    reach           who is served, and who gains by another rule

All rules calculate exactly: money is counted in whole numbers and divided in fractions. Floating point only sorts out
what is far from even. Projects without a vote are never funded. Projects that cost nothing and have votes are funded
first.
"""

from __future__ import annotations

from accordant.voting.budgets.reach import Gain, Reach, gain, reach
from accordant.voting.budgets.rule import BudgetRule, Funded, budget_rules, register

__all__ = ["BudgetRule", "Funded", "Gain", "Reach", "budget_rules", "gain", "reach", "register"]
