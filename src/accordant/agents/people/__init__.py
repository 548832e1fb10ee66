"""People: an agent that shows the view at a terminal and asks for the move."""

from __future__ import annotations

from accordant.agents.people.human import HumanAgent

__all__ = ["HumanAgent"]
