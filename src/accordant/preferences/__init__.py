"""Preferences: what people want, learned from what they choose.

records.py                        comparisons, rankings and ratings of items by users
support.py                        how many others share a preference, per record and per user: counted or predicted
groups.py                         majority and minority among users or records
texts.py                          comparisons of texts, before encoding.py turns them into features
readers/                          preference data from files
learners/                         from records to reward models
measures/                         how well a reward model serves each user and each group
comparison/                       learners on one file, side by side
drift/                            rewards followed through time, and alarms when they change
learned_rewards/                  rewards of a decision problem, learned from comparisons
normal_belief.py                  what is believed about a linear reward: a normal distribution
elicitation/                      which comparison to ask next, until the decision is settled
policy_optimisation/              what to choose once rewards of several groups are known
networks.py, network_training.py  small networks with the extra ``torch``, and when their training stops
synthetic.py                      worlds with known truth
interview.py                      one stakeholder of a case is asked
section.py, page/                 a comparison of learners as a typed result, and its page

Words used here: an *item* is whatever is compared, with its features; a *user* prefers the *chosen* item of a record to
the *rejected* one; the *margin* of a reward model on a record is the reward of the chosen item less that of the
rejected one; the *support rate* of a record is the share of other users with the same preference.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from accordant.preferences import learners, measures, policy_optimisation, readers
    from accordant.preferences.records import Comparisons, Rankings, Ratings
    from accordant.preferences.support import SupportRates, support_rates

_PARTS = {
    "Comparisons": "records", "Rankings": "records", "Ratings": "records", "SupportRates": "support",
    "support_rates": "support",
}  # fmt: skip
_LAZY_ROOMS = (
    "comparison", "drift", "elicitation", "groups", "learners", "measures", "policy_optimisation", "readers",
    "synthetic",
)  # fmt: skip

__all__ = [
    "Comparisons", "Rankings", "Ratings", "SupportRates", "learners", "measures", "policy_optimisation", "readers",
    "support_rates",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Import a part of this room on first use."""
    if name in _PARTS:
        return getattr(importlib.import_module(f"accordant.preferences.{_PARTS[name]}"), name)
    if name in _LAZY_ROOMS:
        return importlib.import_module(f"accordant.preferences.{name}")
    raise AttributeError(f"module 'accordant.preferences' has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return everything that is public, imported or not."""
    return sorted({*__all__, *_LAZY_ROOMS})
