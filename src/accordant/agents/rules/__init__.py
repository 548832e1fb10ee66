"""Rule agents: moves that follow from a utility, a concession strategy and templates.

rule.py             how to propose, contest, answer and vote; utilities that a stakeholder stated
framework_agent.py  the utility of an ethical framework, and passages for its reasons
outlook.py          what can be chosen at one moment, how much it is liked, how to answer
"""

from __future__ import annotations

from accordant.agents.rules.framework_agent import AlignedAgent
from accordant.agents.rules.rule import RuleAgent, UtilityAgent

__all__ = ["AlignedAgent", "RuleAgent", "UtilityAgent"]
