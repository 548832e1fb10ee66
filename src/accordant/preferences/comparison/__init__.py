"""Comparing learners on one preference file: what is read, how it is split, who is in which group, what is measured.

sources.py           which kind of file something is, its records, and what is declared about them
record_split.py      which records are learned from and which are judged by; one seed for everything
methods.py           learners and their controls, with one scale for features and one ridge for all
measurements.py      metrics with intervals on the same resamples of users, and tests against the pooled reward
conclusions.py       what follows, in plain sentences
"""

from __future__ import annotations

from accordant.preferences.comparison.sources import SourceOptions

__all__ = ["SourceOptions"]
