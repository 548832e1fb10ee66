"""Voting rules: every stakeholder's expected rewards are read as a ballot, or ballots come in directly.

    places       plurality, anti_plurality, instant_runoff, coombs, bucklin, random_dictatorship
    margins      borda, copeland, minimax, ranked_pairs, schulze, kemeny, maximal_lotteries
    grades       approval, range, majority_judgment

A rule is a pure function from arrays over ballots to scores, shape (alternative, context), such that the highest
scores are exactly the winners, and a registered class that applies it, to E (`rule(E)`) or to a `Profile`
(`rule.count(profile)`).
"""
