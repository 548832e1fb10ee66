"""Comparing learners on one preference file: what is read, how it is split, who is in which group, what is measured.

format_detection.py  which kind of file something is, by its content
sources.py           its records, with what is declared about them
record_split.py      which records are learned from and which are judged by
standardisation.py   one scale for features, from the records that are learned from
tuning.py            one ridge for all methods, chosen for the pooled reward
group_assignment.py  majority, minority and support, from the records that are learned from
methods.py           learners and their controls
measurements.py      metrics with intervals on the same resamples, and tests against the pooled reward
statistics.py        the metrics, on many resamples at once
conclusions.py       what is found, in plain sentences
randomness.py        one seed for everything
"""

from __future__ import annotations

from accordant.preferences.comparison.format_detection import SIGNS, kind_of
from accordant.preferences.comparison.group_assignment import Groups, groups_of
from accordant.preferences.comparison.measurements import Measured, Metric, measure
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
from accordant.preferences.comparison.sources import Source, SourceOptions, read_source
from accordant.preferences.comparison.statistics import GOALS

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
