"""Joining deliberation with E and strategies.

debate_strategy.py    the bargain of a debate as a strategy on E, under the name ``debate``
rewards.py            E from what agents state
choices.py            what strategies would have chosen from the same utilities
"""

from __future__ import annotations

from accordant.deliberation.adapters.choices import COMPARED, Choices, choices_by_strategy
from accordant.deliberation.adapters.debate_strategy import Debate
from accordant.deliberation.adapters.rewards import expected_rewards, names_of, patient_rewards

__all__ = ["COMPARED", "Choices", "Debate", "choices_by_strategy", "expected_rewards", "names_of", "patient_rewards"]
