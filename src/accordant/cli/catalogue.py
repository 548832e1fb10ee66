"""What is there: strategies, metrics, and data files."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from accordant.cases.files import built_in_cases, built_in_files, find_file, read_case, read_part
from accordant.cases.parts import case_parts
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


def built_in() -> list[dict[str, Any]]:
    """Return every built-in case: what it is about, the command that runs it, the data it wants, and its simulator."""
    rows = [
        {
            "case": name, "title": case.title, "command": f"accordant run {name}", "data": case.data.file,
            "simulator": None if case.simulator is None else case.simulator.name,
        }
        for name, case in ((name, read_case(name)[0]) for name in built_in_cases())
    ]  # fmt: skip
    for key in case_parts:
        part = case_parts.create(key)
        for name in built_in_files(part.cases):
            alone = read_part(name, key, part.alone).declared
            declared = getattr(alone, key)
            rows.append({
                "case": name, "title": getattr(alone, "title", ""), "command": f"accordant {part.command} {name}",
                "data": getattr(declared, "file", None), "simulator": getattr(declared, "simulator", None),
            })  # fmt: skip
    return sorted(rows, key=lambda row: str(row["case"]))


def data_files() -> list[dict[str, Any]]:
    """Return the file that each built-in case needs, and where it is."""
    rows = []
    for name in built_in_cases():
        case, beside = read_case(name)
        try:
            file = None if case.data.file is None else find_file(case.data.file, None, beside)
            where = str(file) if file else "not found: runs on its simulator"
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
