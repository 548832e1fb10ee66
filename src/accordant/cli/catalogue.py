"""What is there: strategies, metrics, and data files."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from accordant.cases.files import built_in_cases, find_file, read_case
from accordant.errors import DataNotFoundError
from accordant.metrics import metrics
from accordant.strategies import strategies


def registered_strategies() -> list[dict[str, Any]]:
    """Return name, kind, other names, parameters with defaults, and a summary of every strategy."""
    return [
        {
            "strategy": name,
            "kind": getattr(strategies.factory(name), "kind", ""),
            "also": ", ".join(strategies.aliases(name)),
            "parameters": _parameters(strategies.factory(name)),
            "summary": strategies.about(name),
        }
        for name in strategies
    ]


def registered_metrics() -> list[dict[str, Any]]:
    """Return name, goal, other names, parameters with defaults, and a summary of every metric."""
    return [
        {
            "metric": name,
            "goal": goal if isinstance(goal := getattr(metrics.factory(name), "goal", ""), str) else "by parameter",
            "also": ", ".join(metrics.aliases(name)),
            "parameters": _parameters(metrics.factory(name)),
            "summary": metrics.about(name),
        }
        for name in metrics
    ]


def data_files() -> list[dict[str, Any]]:
    """Return the file that each built-in case needs, and where it is."""
    rows = []
    for name in built_in_cases():
        case, beside = read_case(name)
        try:
            found = None if case.data.file is None else find_file(case.data.file, None, beside)
            where = str(found) if found else "not found: runs on its simulator"
        except DataNotFoundError as error:
            where = str(error)
        rows.append({"case": name, "file": case.data.file, "found": where})
    return rows


def _parameters(factory: Callable[..., Any]) -> dict[str, str]:
    signature = inspect.signature(factory)
    return {
        name: "required" if parameter.default is inspect.Parameter.empty else repr(parameter.default)
        for name, parameter in signature.parameters.items()
    }
