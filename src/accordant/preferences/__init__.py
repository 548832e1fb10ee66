"""Preferences: what people want, learned from what they choose.

records.py    comparisons, rankings and ratings of items by users
support.py    how many others share a preference, per record and per user
texts.py      comparisons of texts, before encoding.py turns them into features
readers/      preference data from files
learners/     from records to reward models
measures/     how well a reward model serves each user and each group
acting/       what to choose once rewards of several groups are known

Words used here: an *item* is whatever is compared, with its features; a *user* prefers the *chosen* item of a record to
the *rejected* one; the *margin* of a reward model on a record is the reward of the chosen item less that of the
rejected one; the *support rate* of a record is the share of other users with the same preference.
"""

from __future__ import annotations

from accordant.preferences.records import Comparisons, Rankings, Ratings
from accordant.preferences.support import SupportRates, support_rates

__all__ = ["Comparisons", "Rankings", "Ratings", "SupportRates", "support_rates"]
