"""Runs: a case carried out once, written to a folder once, and read by everyone."""

from __future__ import annotations

from accordant.runs.execution import RunOptions, carry_out
from accordant.runs.folder import Run, read_run, write_run

__all__ = ["Run", "RunOptions", "carry_out", "read_run", "write_run"]
