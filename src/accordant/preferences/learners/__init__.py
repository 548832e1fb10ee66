"""Learners: from comparisons and rankings to reward models.

learner.py          what every learner and every reward model has in common, and the registry
newton.py           how convex problems are solved
logistic.py         the convex problem that linear learners of comparisons share
contexts.py         what a reward may know of a user, beside the group
shared.py           what learners of one reward for everybody have in common
bradley_terry.py    one reward for everybody, plain or with groups weighing alike
group_robust.py     one reward for the worst group
shrinkage.py        one for every group or user, near the common one
mixture.py          hidden types of users
distributional.py   a mean and a spread for every item
plackett_luce.py    one reward for everybody, from rankings
"""
