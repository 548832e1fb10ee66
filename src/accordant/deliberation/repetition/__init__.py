"""Repetition: the same debate on many scenarios, reported as shares and means with intervals.

trial.py  one scenario, one debate, everything that is measured
table.py  many of them, with null hypotheses and other ways to decide beside the joint decision
"""

from __future__ import annotations

from accordant.deliberation.repetition.table import BESIDE, Line, Repeated, repeat
from accordant.deliberation.repetition.trial import Row, Study, Trial

__all__ = ["BESIDE", "Line", "Repeated", "Row", "Study", "Trial", "repeat"]
