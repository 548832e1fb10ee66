"""Learners: from comparisons and rankings to reward models.

learner.py          what every learner and every reward model has in common, and the registry
logistic.py         logistic regression on margins, and Newton's method for problems like it
shared_items.py     how much records that share items say together, and folds that share none
user_contexts.py    what a reward may know of a user beside the group

bradley_terry.py    one reward for everybody: plain, with groups weighing alike, for the worst group
distributional.py   a mean and a spread for every item
plackett_luce.py    one reward for everybody, from rankings
shrinkage.py        a reward for every group or user, near the common one
neural.py           small networks, with the extra ``torch``

Hidden types of users: `mixture.py`, and how many there are (`number_of_types.py`).

How users differ from what they share, for users with few records: `low_rank.py` (rewards in a space of few dimensions),
`meta_reweighting.py` (a start from which users are reached by few records, hard ones first) and `random_effects.py`
(users differ no more than held-out records show). They stand on `user_effects.py` (the directions in which users differ
most, and where users stand along them) and `effect_prior.py` (a prior of where users stand; sums of rewards).

A reward for each group teaches one for everybody, which is never told a group: `pareto_distillation.py`, with the
`specialists.py` of groups and `supervision.py`, how a teacher's margins enter the loss. Designed from the abstract of
Zhao et al. (arXiv 2606.07988): the two steps are theirs, every formula of these modules is ours.

Learners are made by name: ``learners.create("mixture", {"types": 3}).fit(comparisons)``.
"""

from __future__ import annotations

from accordant.preferences.learners.learner import LinearReward, PreferenceLearner, RewardModel, learners, register

create, names = learners.create, learners.names

__all__ = ["LinearReward", "PreferenceLearner", "RewardModel", "create", "names", "register"]
