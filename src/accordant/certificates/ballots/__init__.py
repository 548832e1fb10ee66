"""Reachable sets of voting rules: which ballots members could hand in, and who wins with each combination of them.

A box of rewards allows finitely many ballots. For every profile of them the winners are counted once, and tied winners
are told apart by the sums that the rewards behind these ballots can have.
"""
