"""Comparing learners on one preference file: what is read, how it is split, who is in which group, what is measured.

sources.py           which kind of file something is, its records, and what is declared about them
record_split.py      which records are learned from and which are judged by; one seed for everything
methods.py           learners and their controls, with one scale for features and one ridge for all
group_assignment.py  majority, minority and support, from the records that are learned from
measurements.py      metrics with intervals on the same resamples of users, and tests against the pooled reward
conclusions.py       what follows, in plain sentences
"""

from __future__ import annotations

from accordant.preferences.comparison.group_assignment import Groups, groups_of
from accordant.preferences.comparison.measurements import GOALS, Measured, Metric, measure
from accordant.preferences.comparison.methods import (
    CONTROLS,
    LENGTH,
    POOLED,
    Fitted,
    Method,
    Skipped,
    chosen_methods,
    fit_methods,
    labels_of,
    margins_of,
)
from accordant.preferences.comparison.record_split import Split, split_records
from accordant.preferences.comparison.sources import SIGNS, Source, SourceOptions, kind_of, read_source

__all__ = [
    "CONTROLS",
    "GOALS",
    "LENGTH",
    "POOLED",
    "SIGNS",
    "Fitted",
    "Groups",
    "Measured",
    "Method",
    "Metric",
    "Skipped",
    "Source",
    "SourceOptions",
    "Split",
    "chosen_methods",
    "fit_methods",
    "groups_of",
    "kind_of",
    "labels_of",
    "margins_of",
    "measure",
    "read_source",
    "split_records",
]
