"""Learners: from comparisons and rankings to reward models.

learner.py          what every learner and every reward model has in common, and the registry
solving/            how convex problems are solved
users/              what records say of users, and of how much: contexts, records that share items, folds

bradley_terry.py    one reward for everybody, plain or with groups weighing alike
group_robust.py     one reward for the worst group
distributional.py   a mean and a spread for every item
plackett_luce.py    one reward for everybody, from rankings
shared.py           what learners of one reward for everybody have in common
shrinkage.py        a reward for every group or user, near the common one
mixture/            hidden types of users, and how many there are
effects/            how users differ: low rank, meta-reweighted, random effects
distillation/       rewards of groups teach one reward for everybody
neural.py           small networks, with the extra ``torch``

Learners are made by name: ``learners.create("mixture", {"types": 3}).fit(comparisons)``.
"""

from __future__ import annotations

from accordant.preferences.learners.learner import LinearReward, PreferenceLearner, RewardModel, learners, register

create, names = learners.create, learners.names

__all__ = ["LinearReward", "PreferenceLearner", "RewardModel", "create", "names", "register"]
