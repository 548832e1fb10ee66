"""Learners: from comparisons and rankings to reward models.

learner.py          what every learner and every reward model has in common, and the registry
newton.py           how convex problems are solved
logistic.py         the convex problem that linear learners of comparisons share
contexts.py         what a reward may know of a user, beside the group
shared.py           what learners of one reward for everybody have in common
bradley_terry.py    one reward for everybody, plain or with groups weighing alike
group_robust.py     one reward for the worst group
shrinkage.py        one for every group or user, near the common one
mixture.py          hidden types of users, and mixture_reward.py what they say of each user
distributional.py   a mean and a spread for every item
plackett_luce.py    one reward for everybody, from rankings
choosing_types.py   how many hidden types there are, by how well new users are predicted
user_folds.py       folds of users, for both
evidence.py         what comparisons and rankings say of rewards, in one form for mixtures
low_rank.py         users' rewards in a space of few dimensions
meta_reweighted.py  a start from which users are reached by few records, hard ones first
random_effects.py   how users differ, and no more than held-out records show
user_effects.py     where a user stands among others, for the three of them, with effect_prior.py, user_directions.py,
                    placed_reward.py and stacking.py
distillation/       rewards of groups teach one reward for everybody
neural.py           small networks, with the extra ``torch``

Learners are made by name: ``learners.create("mixture", {"types": 3}).fit(comparisons)``.
"""

from __future__ import annotations

from accordant.preferences.learners.learner import LinearReward, PreferenceLearner, RewardModel, learners, register

create, names = learners.create, learners.names

__all__ = ["LinearReward", "PreferenceLearner", "RewardModel", "create", "names", "register"]
