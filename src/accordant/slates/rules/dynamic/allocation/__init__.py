"""Who gets how much of the say for the next user: one mechanism, one file."""

from __future__ import annotations

from accordant.slates.rules.dynamic.allocation.say import SayAllocation, register, say_allocations

__all__ = ["SayAllocation", "register", "say_allocations"]
