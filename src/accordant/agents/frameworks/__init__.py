"""Ethical frameworks as utilities with hard constraints, one framework per file."""

from __future__ import annotations

from accordant.agents.frameworks.framework import Framework, Grounds, frameworks, guarded_utility

__all__ = ["Framework", "Grounds", "frameworks", "guarded_utility"]
