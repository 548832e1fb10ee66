"""Agents that speak for stakeholders of slates: rankings in place of declared utilities, behind a gate.

speaking  ask every ranker once about every request, and keep what it said
views     what a ranker may see
hearing   candidates of users for whom not everybody has a say
spoken    what was said, how faithful it was, and what it counted as
"""

from __future__ import annotations

from accordant.slates.proxies.gate import speak
from accordant.slates.proxies.reports import Spoken, SpokenBallot, Voice

__all__ = ["Spoken", "SpokenBallot", "Voice", "speak"]
