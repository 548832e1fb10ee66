"""Tasks that are told in JSON: a registered name, options, and an item; so that a queue can hold them safely."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from accordant.registry import Registry

Told = dict[str, Any]
"""JSON values by name."""

tasks: Registry[Told] = Registry(
    "task",
    group="accordant.tasks",
    packages=("accordant.runs.datasets", "accordant.studies", "accordant.monitoring", "accordant.slates"),
)
"""Name of a task to the function (options, item) that carries it out; both, and what it returns, are JSON."""


@dataclass(frozen=True)
class Task:
    """A registered task with its options, which is called with an item.

    Attributes
    ----------
    name
        Of the task.
    options
        What all items have in common.
    """

    name: str
    options: Mapping[str, Any]

    def __call__(self, item: Mapping[str, Any]) -> Told:
        """Return what comes of an item."""
        perform: Callable[[Told, Told], Told] = tasks.factory(self.name)
        return perform(dict(self.options), dict(item))
