"""Names as people read them: ``Always Grant`` for the label ``constant:Grant``, ``Can wait`` for ``Can_wait``.

One place turns labels of strategies, and what a case calls its stakeholders, actions, outcomes, metrics and columns,
into names, for the whole record before anything is drawn or said of it, so that tables, charts and sentences agree. A
label of plain letters, such as ``maximin``, is its own name. Commands keep labels.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from accordant.report.charts.svg import clean
from accordant.report.page import breakable
from accordant.runs.record import Record

SPECIAL = re.compile(r"[:_\[]")  # a label without these is a word already
PARTS = re.compile(r"(?P<name>\w+)(?:\[(?P<parameters>.+)\])?")
KEPT = re.compile(
    r"(<(?:pre|code|style|script)\b.*?</(?:pre|code|style|script)>|<(?!wbr>)[^>]*>)", re.DOTALL
)  # and tags
LONGEST = 200  # letters of a name where it stands in a line of others
PREFIXES = {"constant": "Always {}", "stakeholder": "{} alone", "decided": "As decided by {}"}
PROPER = {
    "kalai smorodinsky": "Kalai–Smorodinsky", "nash": "Nash", "borda": "Borda", "copeland": "Copeland",
    "rawlsian": "Rawlsian", "gini": "Gini", "condorcet": "Condorcet",
    "pareto": "Pareto",
}  # fmt: skip
TOLD = ("test", "validation", "groups", "scrutiny", "selected", "selection", "notes", "warnings", "people")
"""Parts of a record that speak of strategies."""
DECLARED = ("learning", "outcome_model", "scope", "stakeholder_groups", "grid")
"""Parts that speak of what was declared only."""


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


def in_words(names: Iterable[str]) -> dict[str, str]:
    """Return name to the same in words, of names with underscores; two that would read alike keep theirs."""
    declared = set(names)
    words = {name: name.replace("_", " ").strip() for name in declared if "_" in name.strip("_ ")}
    spoken = list(words.values())
    return {name: said for name, said in words.items() if spoken.count(said) == 1 and said not in declared}


def shortened(name: str) -> str:
    """Return a name no longer than can be read."""
    return name if len(name) <= LONGEST else name[: LONGEST - 1] + "…"


def readable_names(record: Record) -> dict[str, str]:
    """Return label to name for the strategies of a record and what its case declares, where they differ.

    A name that two labels share, or that is declared for something else in the case, is not given: both keep their
    labels then.
    """
    declared = _declared(record)
    words = in_words(declared)
    labels = dict.fromkeys(
        [row.strategy for row in (*record.test.leaderboard, *record.validation.leaderboard)] + list(record.strategies)
    )
    names = {label: renamed(readable(label), words) if SPECIAL.search(label) else label for label in labels}
    given, taken = list(names.values()), declared | set(words.values())
    strategies = {
        label: name
        for label, name in names.items()
        if name != label and given.count(name) == 1 and not taken & {label, name}
    }
    return {name: said for name, said in words.items() if said not in names and name not in names} | strategies


def _declared(record: Record) -> set[str]:
    """Return what the case calls its stakeholders, actions, outcomes, metrics, attributes and features."""
    problem = record.case.problem
    labels = {who.name for who in problem.stakeholders} | set(problem.actions) | set(problem.outcome_names)
    labels |= {column.label for column in (*record.test.metrics, *record.validation.metrics)}
    labels |= {attribute.name for attribute in problem.sensitive_attributes}
    return labels | set(record.case.features)


def with_names(record: Record, names: Mapping[str, str]) -> Record:
    """Return a record that speaks by these names, in keys, values and sentences."""
    if not names:
        return record
    content, say = dict(record.content), functools.cache(functools.partial(renamed, names=names))  # most texts recur
    for part in (*TOLD, *DECLARED):
        if content.get(part) is not None:
            content[part] = _with_names(content[part], say)
    # what a strategy, a metric or a reward is registered as is no name, nor are names of files
    content["strategies"] = {names.get(label, label): about for label, about in content["strategies"].items()}
    case = dict(content["case"])
    case["problem"] = _with_names(case["problem"], say)
    case["metrics"] = {
        names.get(label, label): {**about, "parameters": _with_names(about.get("parameters", {}), say)}
        for label, about in case["metrics"].items()
    }
    sources = content.get("reward_sources") or {}
    return Record.read(
        content | {"case": case, "reward_sources": {names.get(name, name): about for name, about in sources.items()}}
    )


def text_with_names(html: str, names: Mapping[str, str]) -> str:
    """Return a page, or a part of one, whose text speaks by these names, but for what is there to be copied."""
    written = {str(form(label)): str(clean(name)) for label, name in names.items() for form in (breakable, clean)}
    return "".join(
        piece if place % 2 else renamed(piece, written) for place, piece in enumerate(KEPT.split(html))
    )  # fmt: skip


def renamed(words: str, names: Mapping[str, str]) -> str:
    """Return a text with names in place of labels; a label that is part of a longer word stays."""
    return _pattern(tuple(names)).sub(lambda match: names[match[0]], words) if names else words


@functools.lru_cache(maxsize=8)
def _pattern(labels: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(_bounded(label) for label in sorted(labels, key=len, reverse=True)))


def _bounded(label: str) -> str:
    """Return a pattern of a label that is no part of a longer word, nor of the name of a file."""
    before = r"(?<![\w/])" if label[0].isalnum() else ""
    after = r"(?!\w|\.\w)" if label[-1].isalnum() else ""
    return before + re.escape(label) + after


def _with_names(value: Any, say: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return say(value)
    if isinstance(value, Mapping):
        return {say(key): _with_names(inner, say) for key, inner in value.items()}
    if isinstance(value, Iterable):
        return [_with_names(inner, say) for inner in value]
    return value
