"""accordant: decisions that several stakeholders with conflicting goals can live with, and why.

    learning  ─► E (ExpectedRewards) ─► strategies ─► decisions ─► evaluation, report

Import it as ``import accordant as ac``. What needs scikit-learn is imported when it is first used.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

from accordant.contexts import Contexts, Log
from accordant.decisions import Decisions
from accordant.errors import (
    AccordantError,
    DataError,
    DataNotFoundError,
    InputError,
    NotFittedError,
    RewardError,
    RunFolderError,
    SpecError,
    UnknownNameError,
)
from accordant.problem import ContinuousOutcome, DecisionProblem, SensitiveAttribute, Stakeholder
from accordant.rewards import ClippedReward, FunctionReward, ObservedReward, RewardSignal, TableReward
from accordant.scope import ScopeCard
from accordant.split import Split, split_rows
from accordant.utilities import ExpectedRewards

if TYPE_CHECKING:
    from accordant import (
        agents,
        allocations,
        axioms,
        cases,
        certificates,
        compute,
        deliberation,
        evaluation,
        explanation,
        metrics,
        monitoring,
        preferences,
        runs,
        slates,
        strategies,
        voting,
    )
    from accordant.policy import ParticipatoryPolicy
    from accordant.runs.folder import read_run
    from accordant.scorers import policy_scorer

_LAZY_PARTS = {
    "ParticipatoryPolicy": "accordant.policy",
    "policy_scorer": "accordant.scorers",
    "read_run": "accordant.runs.folder",
}
_INNER_ROOMS = ("learning", "report")  # reachable too, but what they hold may change without notice

__version__ = "0.1.0"

__all__ = [
    "AccordantError",
    "ClippedReward",
    "Contexts",
    "ContinuousOutcome",
    "DataError",
    "DataNotFoundError",
    "DecisionProblem",
    "Decisions",
    "ExpectedRewards",
    "FunctionReward",
    "InputError",
    "Log",
    "NotFittedError",
    "ObservedReward",
    "ParticipatoryPolicy",
    "RewardError",
    "RewardSignal",
    "RunFolderError",
    "ScopeCard",
    "SensitiveAttribute",
    "SpecError",
    "Split",
    "Stakeholder",
    "TableReward",
    "UnknownNameError",
    "agents",
    "allocations",
    "axioms",
    "cases",
    "certificates",
    "compute",
    "deliberation",
    "evaluation",
    "explanation",
    "metrics",
    "monitoring",
    "policy_scorer",
    "preferences",
    "read_run",
    "runs",
    "slates",
    "split_rows",
    "strategies",
    "voting",
]


def __getattr__(name: str) -> Any:
    """Import a room, or what needs scikit-learn, on first use."""
    if name in _LAZY_PARTS:
        return getattr(importlib.import_module(_LAZY_PARTS[name]), name)
    if name in __all__ or name in _INNER_ROOMS:
        return importlib.import_module(f"accordant.{name}")
    # with these two Python itself names the nearest of `dir`
    raise AttributeError(f"module 'accordant' has no attribute {name!r}", name=name, obj=sys.modules[__name__])


def __dir__() -> list[str]:
    """Return everything that is public, imported or not."""
    return sorted({*__all__, *_INNER_ROOMS, *(name for name in globals() if name.startswith("__"))})
