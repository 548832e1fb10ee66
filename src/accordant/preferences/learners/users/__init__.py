"""What records say of users, and of how much.

contexts.py       what a reward may know of a user, beside the group
shared_items.py   how much the records of one user say together, where they share items
item_folds.py     folds of each user's records that share no item
user_folds.py     folds of users
"""
