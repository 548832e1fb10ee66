"""accordant: decisions that several stakeholders with conflicting goals can live with, and why.

    learning  ─► E (ExpectedRewards) ─► strategies ─► decisions ─► evaluation, report

Import it as ``import accordant as ac``. What needs scikit-learn is imported when it is first used.
"""

from __future__ import annotations

import importlib
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
        certificates,
        deliberation,
        evaluation,
        explanation,
        metrics,
        monitoring,
        preferences,
        runs,
        slates,
        strategies,
    )
    from accordant.policy import ParticipatoryPolicy

_LAZY_CLASSES = {"ParticipatoryPolicy": "accordant.policy"}
_LAZY_ROOMS = (
    "agents",
    "allocations",
    "axioms",
    "cases",
    "certificates",
    "deliberation",
    "evaluation",
    "explanation",
    "learning",
    "metrics",
    "monitoring",
    "preferences",
    "report",
    "runs",
    "slates",
    "strategies",
    "voting",
)

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
    "certificates",
    "deliberation",
    "evaluation",
    "explanation",
    "metrics",
    "monitoring",
    "preferences",
    "runs",
    "slates",
    "split_rows",
    "strategies",
]


def __getattr__(name: str) -> Any:
    """Import a room or a class that needs scikit-learn on first use."""
    if name in _LAZY_CLASSES:
        return getattr(importlib.import_module(_LAZY_CLASSES[name]), name)
    if name in _LAZY_ROOMS:
        return importlib.import_module(f"accordant.{name}")
    raise AttributeError(f"module 'accordant' has no attribute {name!r}")
