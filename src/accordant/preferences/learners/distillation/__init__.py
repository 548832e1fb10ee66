"""PAFO-style distillation: a reward for each group teaches one reward for everybody, which is never told a group.

Designed from the abstract of Zhao et al. (arXiv 2606.07988): the two steps are theirs, every formula here is ours.

group_assignment.py  which group each training record is taught in
specialists.py       a reward for each group, between the pooled one and its own best
supervision.py       how a teacher's margins enter the loss, and where
lesson.py            what losses, gates and weights share: groups, pooled reward, specialists, untaught controls
reward.py            `DistilledReward`: the unified reward, with its controls and specialists
pareto.py            `ParetoDistillation`, the learner
"""
