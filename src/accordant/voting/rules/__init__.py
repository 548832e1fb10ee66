"""Voting rules: every stakeholder's expected rewards are read as a ballot, or ballots come in directly.

    positional           plurality, anti_plurality, borda, bucklin, random_dictatorship
    elimination          instant_runoff, coombs
    pairwise             copeland, minimax, schulze, ranked_pairs; kemeny and maximal_lotteries have a module each
    graded               approval, range, majority_judgment

A rule is a pure function from arrays over ballots to scores, shape (alternative, context), such that the highest
scores are exactly the winners, and a registered class that applies it, to E (`rule(E)`) or to a `Profile`
(`rule.count(profile)`).

Shapes everywhere: `ranks` (smaller is better), `grades` and `approvals` (voter, alternative, context), `weights`
(voter,), `margins` (a, b, context), scores and probabilities (alternative, context).
"""
