"""Ethical frameworks as utilities with hard constraints.

framework.py    what every framework has in common, and their registry
welfarist.py    those that look at outcomes only: utilitarian, prioritarian, sufficientarian, rawlsian
claims.py       those of claims and procedures: care, egalitarian, libertarian, rights
"""

from __future__ import annotations

from accordant.agents.frameworks.framework import Framework, Grounds, frameworks, guarded_utility

__all__ = ["Framework", "Grounds", "frameworks", "guarded_utility"]
