"""Cases: decision problems with their data, rewards, metrics and simulators, each declared in one YAML file."""

from __future__ import annotations

from accordant.cases.files import built_in_cases, read_case
from accordant.cases.spec import CaseSpec

__all__ = ["CaseSpec", "built_in_cases", "read_case"]
