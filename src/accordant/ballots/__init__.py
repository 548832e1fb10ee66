"""Ballots: what voters said, as arrays.

    profile    rankings with ties and gaps, weights, and grades or approvals where ballots carry them
    preflib    files in the format of PrefLib

Counting them is the business of the voting rules in `accordant.strategies.voting`.
"""

from accordant.ballots.preflib import read_preflib
from accordant.ballots.profile import Profile

__all__ = ["Profile", "read_preflib"]
