"""Ethical frameworks as utilities with hard constraints, one framework per file."""

from __future__ import annotations

from accordant.agents.frameworks.framework import Framework, frameworks

__all__ = ["Framework", "frameworks"]
