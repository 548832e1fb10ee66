"""The page of served slates: what every rule showed, what it brings to whom, and what it costs."""

from __future__ import annotations

from accordant.slates.page.render import render_slates

__all__ = ["render_slates"]
