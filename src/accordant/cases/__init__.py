"""Cases: decision problems with their data, rewards, metrics and simulators, each declared in one YAML file."""

from __future__ import annotations

from accordant.cases.spec import CaseSpec, built_in_cases, read_case

__all__ = ["CaseSpec", "built_in_cases", "read_case"]
