"""Learners: from comparisons to reward models.

logistic.py         the convex problem that linear learners share, with exact gradients and curvature
learner.py          what every learner and every reward model has in common, and the registry
bradley_terry.py    one reward for everybody
"""
