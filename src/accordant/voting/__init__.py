"""Voting: ballots as arrays, the rules that count them, and budgets that are spent by them.

profile    rankings with ties and gaps, weights, and grades or approvals where ballots carry them
preflib    files in the format of PrefLib
pabulib    files of participatory budgets in the format of Pabulib
election   projects with costs, a budget, and what each voter would have of each project
ranking    the order in which one voter puts items for one user
rules/     one winner of a profile, or of E: one rule, one file
budgets/   projects that are funded, in exact fractions
"""

from accordant.voting.ballots import Election, Profile, Ranking
from accordant.voting.pabulib import read_pabulib
from accordant.voting.preflib import read_preflib

__all__ = ["Election", "Profile", "Ranking", "read_pabulib", "read_preflib"]
