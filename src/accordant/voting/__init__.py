"""Voting: ballots as arrays, the rules that count them, and budgets that are spent by them.

ballots    `Profile`: rankings with ties and gaps, weights, and grades or approvals where ballots carry them;
           `Ranking`: the order in which one voter puts items for one user;
           `Election`: projects with costs, a budget, and what each voter would have of each project
preflib    files in the format of PrefLib
pabulib    files of participatory budgets in the format of Pabulib
rules/     one winner of a profile, or of E
budgets/   projects that are funded, in exact fractions
"""

from accordant.voting.ballots import Election, Profile, Ranking
from accordant.voting.pabulib import read_pabulib
from accordant.voting.preflib import read_preflib

__all__ = ["Election", "Profile", "Ranking", "read_pabulib", "read_preflib"]
