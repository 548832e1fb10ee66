"""Agents that speak for stakeholders of slates: rankings in place of declared utilities, behind a gate.

gate      what a ranker may see; ask every ranker once about every request, and keep what it said
reports   what was said, how faithful it was, what it counted as; candidates for whom not everybody has a say
sources   recorded rankings from a file, and a language model where a user asks
"""

from __future__ import annotations

from accordant.slates.proxies.gate import proxy_reports
from accordant.slates.proxies.reports import ProxyBallot, ProxyReports, ProxySummary

__all__ = ["ProxyBallot", "ProxyReports", "ProxySummary", "proxy_reports"]
