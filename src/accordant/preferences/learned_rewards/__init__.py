"""Signals: rewards of (context, action, outcome) that are learned from comparisons, so that a case can use them.

answers.py             comparisons of cells, read from a file and checked against the decision problem
answer_file.py         the file that an interview adds to, line by line
fitted_reward.py       features of a cell in a context, the scale [0, 1], and `FittedComparisonReward`, saved with a run
gaps.py                what answers leave open
groups.py              types that answers fall into, and groups that a file names
comparison_reward.py   `ComparisonReward`, the signal that case files call ``comparisons``
respondent.py          a language model that answers which of two cells is better
agent_reward.py        `AgentReward`, the signal that case files call ``agent``: its answers, replayed from a recording

Words used here: a *cell* is an action together with an outcome; the item that a user prefers is a cell in a context,
and both items of a record share their context.
"""

from __future__ import annotations

from accordant.preferences.learned_rewards.answers import Answers, read_answers
from accordant.preferences.learned_rewards.comparison_reward import ComparisonReward
from accordant.preferences.learned_rewards.fitted_reward import FittedComparisonReward

__all__ = ["Answers", "ComparisonReward", "FittedComparisonReward", "read_answers"]
