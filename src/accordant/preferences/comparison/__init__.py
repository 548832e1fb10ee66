"""Comparing learners on one preference file: what is read, how it is split, who is in which group, what is measured.

sources.py           which kind of file something is, its records, and what is declared about them
record_split.py      which records are learned from and which are judged by; one seed for everything
methods.py           learners and their controls, with one scale for features and one ridge for all
measurements.py      metrics with intervals on the same resamples of users, and tests against the pooled reward
conclusions.py       what follows, in plain sentences
opposed_groups.py    groups of nearly equal size that want opposite things
record_columns.py    what columns say of records beyond what learners read: agreement with a false stance, and when
agreement.py         whether rewards push responses that agree with false stances
over_time.py         whether preferences changed while the records were made
"""

from __future__ import annotations

from accordant.preferences.comparison.sources import SourceOptions

__all__ = ["SourceOptions"]
