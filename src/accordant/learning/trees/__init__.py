"""Ensembles of decision trees, evaluated by compiled code on flat arrays.

An expected reward asks each tree about every action and outcome in the same context. The columns that say which
action and outcome are meant are then constants, so the splits on them are decided once (`sums`), the tree shrinks,
and the batch walks through what is left (`traversal`). The results are those of scikit-learn, bit for bit.

Words: the *free* columns of an ensemble vary from row to row, its *fixed* columns hold a constant; a *group* is one
choice of constants, such as one action with one outcome; the *rank* of a value is the number of thresholds of its
column that lie below it.
"""
