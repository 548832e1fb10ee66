"""Names of strategies as people read them: ``Always Grant`` for the label ``constant:Grant``.

One place turns labels into names, for the whole record before anything is drawn or said of it, so that tables, charts
and sentences agree. A label of plain letters, such as ``maximin``, is its own name.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from typing import Any

from accordant.runs.record import Record

SPECIAL = re.compile(r"[:_\[]")  # a label without these is a word already
PARTS = re.compile(r"(?P<name>\w+)(?:\[(?P<parameters>.+)\])?")
LONGEST = 200  # letters of a name where it stands in a line of others
PREFIXES = {"constant": "Always {}", "stakeholder": "{} alone"}
PROPER = {
    "kalai smorodinsky": "Kalai–Smorodinsky", "nash": "Nash", "borda": "Borda", "copeland": "Copeland",
    "rawlsian": "Rawlsian", "gini": "Gini", "condorcet": "Condorcet",
}  # fmt: skip
TOLD = ("test", "validation", "groups", "scrutiny", "selected", "selection", "notes", "warnings", "people")
"""Parts of a record that speak of strategies; what was declared keeps its labels."""


def readable(label: str) -> str:
    """Return the name of a strategy in words.

    Parameters
    ----------
    label
        As in the record: ``constant:Grant``, ``stakeholder:Bank``, ``nash_bargaining[status_quo]``.
    """
    prefix, colon, rest = label.partition(":")
    if colon and rest and prefix in PREFIXES:
        return PREFIXES[prefix].format(rest)
    parts = PARTS.fullmatch(label)
    if parts is None:
        return label
    name = parts["name"].replace("_", " ").strip() or label
    for word, proper in PROPER.items():
        name = re.sub(rf"\b{word}\b", proper, name)
    return f"{name} ({parts['parameters'].replace('_', ' ')})" if parts["parameters"] else name


def shortened(name: str) -> str:
    """Return a name no longer than can be read."""
    return name if len(name) <= LONGEST else name[: LONGEST - 1] + "…"


def readable_names(record: Record) -> dict[str, str]:
    """Return label to name for the strategies of a record, where they differ.

    A name that two labels share, or that is declared for something else in the case, is not given: both keep their
    labels then.
    """
    problem = record.case.problem
    declared = {each.name for each in problem.stakeholders} | set(problem.actions)
    declared |= {column.label for column in (*record.test.metrics, *record.validation.metrics)}
    declared |= {each.name for each in problem.sensitive_attributes}
    labels = dict.fromkeys(
        [row.strategy for row in (*record.test.leaderboard, *record.validation.leaderboard)] + list(record.strategies)
    )
    names = {label: readable(label) if SPECIAL.search(label) else label for label in labels}
    given = list(names.values())
    return {
        label: name
        for label, name in names.items()
        if name != label and given.count(name) == 1 and not declared & {label, name}
    }


def with_names(record: Record, names: Mapping[str, str]) -> Record:
    """Return a record that speaks of strategies by their names, in keys, values and sentences."""
    if not names:
        return record
    content = dict(record.content)
    for part in TOLD:
        if content.get(part) is not None:
            content[part] = _with_names(content[part], names)
    # what a strategy is registered as, and its parameters, are no names
    content["strategies"] = {names.get(label, label): about for label, about in content["strategies"].items()}
    return Record.read(content)


def renamed(words: str, names: Mapping[str, str]) -> str:
    """Return a text with names in place of labels; a label that is part of a longer word stays."""
    return _pattern(tuple(names)).sub(lambda found: names[found[0]], words) if names else words


@functools.lru_cache(maxsize=8)
def _pattern(labels: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(_bounded(label) for label in sorted(labels, key=len, reverse=True)))


def _bounded(label: str) -> str:
    """Return a pattern of a label that is no part of a longer word."""
    before = r"(?<!\w)" if label[0].isalnum() else ""
    after = r"(?!\w)" if label[-1].isalnum() else ""
    return before + re.escape(label) + after


def _with_names(value: Any, names: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return renamed(value, names)
    if isinstance(value, Mapping):
        return {renamed(key, names): _with_names(inner, names) for key, inner in value.items()}
    if isinstance(value, Iterable):
        return [_with_names(inner, names) for inner in value]
    return value
