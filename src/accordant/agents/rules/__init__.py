"""Rule agents: moves that follow from a utility, a concession strategy and templates.

rule.py           what all of them share: how to propose, contest, answer and vote
aligned.py        the utility of an ethical framework
utility_agent.py  values that a stakeholder stated
outlook.py        what can be chosen at one moment, and how much it is liked
replies.py        how to answer on a disputed patient
citations.py      passages for the reasons of a code
"""

from __future__ import annotations

from accordant.agents.rules.aligned import AlignedAgent
from accordant.agents.rules.rule import RuleAgent
from accordant.agents.rules.utility_agent import UtilityAgent

__all__ = ["AlignedAgent", "RuleAgent", "UtilityAgent"]
