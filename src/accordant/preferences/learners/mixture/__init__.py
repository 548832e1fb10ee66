"""Hidden types of users.

mixture.py          `Mixture`, the learner: expectation maximisation
mixture_reward.py   the fitted types, and new users among them
evidence.py         what comparisons and rankings say of rewards, in one form
choosing_types.py   how many types there are, by how well new users are predicted
"""
