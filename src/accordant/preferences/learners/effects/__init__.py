"""How users differ from what they share, for users with few records.

low_rank.py         `LowRank`: rewards in a space of few dimensions
meta_reweighted.py  `MetaReweighted`: a start from which users are reached by few records, hard ones first
random_effects.py   `RandomEffects`: how users differ, and no more than held-out records show

user_directions.py  the directions in which users differ most
user_effects.py     where users stand along them
effect_prior.py     a prior of where users stand, learned from all of them
placed_reward.py    the reward of users who stand somewhere
stacking.py         a sum of rewards that predicts held-out records best
"""
