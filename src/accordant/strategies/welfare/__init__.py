"""Welfare rules: Φ weighs the expected rewards of all stakeholders as they are.

utilitarian, relative_utilitarian                     sums
maximin, leximin, hurwicz                             the worst-off, the best-off
nash_social_welfare, alpha_fairness, atkinson         power means between the two
generalised_gini                                      weights by rank (OWA)
sufficientarian                                       how many are above a floor
"""
