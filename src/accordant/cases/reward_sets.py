"""Reward sets: named groups of reward signals, one per stakeholder, for cases whose rewards are formulas."""

from __future__ import annotations

from accordant.registry import Registry
from accordant.rewards import RewardSignal

reward_sets: Registry[dict[str, RewardSignal]] = Registry(
    "reward set", group="accordant.reward_sets", packages=("accordant.cases",)
)
