"""Signals: rewards of (context, action, outcome) that are learned from comparisons, so that a case can use them.

answers.py             a file of comparisons of cells, checked against the decision problem
cells.py               features of a cell in a context
scale.py               from learned rewards, known up to a constant, to [0, 1]
identification.py      what the comparisons leave open, in sentences
fitted_reward.py       `FittedComparisonReward`, what is saved with a run
comparison_reward.py   `ComparisonReward`, the signal that case files call ``comparisons``

Words used here: a *cell* is an action together with an outcome; the item that a user prefers is a cell in a context,
and both items of a record share their context.
"""

from __future__ import annotations

from accordant.preferences.learned_rewards.answers import Answers, read_answers
from accordant.preferences.learned_rewards.comparison_reward import ComparisonReward
from accordant.preferences.learned_rewards.fitted_reward import FittedComparisonReward

__all__ = ["Answers", "ComparisonReward", "FittedComparisonReward", "read_answers"]
