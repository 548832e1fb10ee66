# ruff: noqa: E501, INP001, T201 - a script beside its pages: it prints, and its long lines are text
"""Write strategies.md and metrics.md from the registries and docstrings.

python docs/reference/generate.py          # write both files beside this script
python docs/reference/generate.py --check  # exit 1 if they are out of date
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from accordant.cli.catalogue import registered_metrics, registered_strategies
from accordant.metrics import metrics
from accordant.strategies import strategies

HERE = Path(__file__).parent
SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.MULTILINE)
INTRODUCTIONS = {
    "strategies.md": (
        "# Strategies\n\n"
        "Made from the registry by `python docs/reference/generate.py`; `accordant strategies` prints the short list.\n"
        "A strategy is used by its name: in a case file under `strategies:`, in Python as "
        '`ac.strategies.create("maximin")`.\n\n'
        "*Candidate*: belongs to the set over which metrics are normalised and stands in the ranking. *Selectable*: may "
        "become the selected strategy D*. See [the decision](../decisions/0002-candidates-and-selectable.md).\n"
    ),
    "metrics.md": (
        "# Metrics\n\n"
        "Made from the registry by `python docs/reference/generate.py`; `accordant metrics` prints the short list.\n"
        "A metric is used by its name: in a case file under `metrics:`, in Python as "
        '`ac.metrics.create("accuracy")`.\n\n'
        "A value that is not defined (an empty group, nobody treated) is `null`; the few\npublished definitions that put 0 there say so. "
        "See [how to choose and weigh metrics](../how-to/choose-and-weigh-metrics.md).\n"
    ),
}


def sections(documentation: str) -> dict[str, str]:
    """Return the sections of a numpy docstring; the text before the first one has the empty name."""
    parts = SECTION.split(documentation)
    return {"": parts[0].strip(), **dict(zip(parts[1::2], (part.strip("\n") for part in parts[2::2]), strict=True))}


def parameter_texts(factory: Callable[..., Any]) -> dict[str, str]:
    """Return what the docstrings of a class and its bases say about each parameter."""
    found: dict[str, str] = {}
    for base in reversed(inspect.getmro(factory) if inspect.isclass(factory) else (factory,)):
        text = sections(inspect.cleandoc(base.__doc__ or "")).get("Parameters", "")
        for names, words in re.findall(r"^(\S.*)\n((?:[ ]+.*\n?|\n)*)", text, re.MULTILINE):
            found.update(dict.fromkeys((name.strip() for name in names.split(",")), " ".join(words.split())))
    return found


def entry(name: str, record: dict[str, Any], factory: Callable[..., Any], facts: list[str]) -> str:
    """Return the section of one registered object."""
    if record["also"]:
        facts = [*facts, "also known as " + ", ".join(f"`{alias}`" for alias in record["also"].split(", "))]
    lines = [f"## {name}\n", "; ".join(facts) + ".\n"]
    if "strategy" in record:  # the module's first line says the idea and its source
        lines.append("*" + (inspect.getmodule(factory).__doc__ or "").partition("\n")[0] + "*\n")  # type: ignore[union-attr]
    lines.append(sections(inspect.getdoc(factory) or "")[""] + "\n")
    if record["parameters"]:
        texts = parameter_texts(factory)
        lines += ["| parameter | default | meaning |", "|---|---|---|"]
        for key, default in record["parameters"].items():
            shown = default if default == "required" else f"`{default}`"
            meaning = texts.get(key, "").replace("|", "\\|")
            lines.append(f"| `{key}` | {shown} | {meaning} |")
        lines.append("")
    return "\n".join(lines)


def strategy_facts(factory: Any) -> list[str]:
    """Return kind and standing of a strategy."""
    standing = [word if getattr(factory, word) else f"not {word}" for word in ("candidate", "selectable")]
    return [f"Kind: {factory.kind}", *standing]


def metric_facts(record: dict[str, Any], factory: Any) -> list[str]:
    """Return the goal of a metric, what it is computed from, and the case it belongs to."""
    bases = {base.__name__ for base in inspect.getmro(factory)}
    module = factory.__module__.split(".")
    facts = [f"Goal: {record['goal']}", "from counts" if "CountMetric" in bases else "from sums over contexts"]
    return [*facts, f"for the {module[2]} case"] if module[1] == "cases" else facts


def pages() -> dict[str, str]:
    """Return the content of both files."""
    rules = [
        entry(r["strategy"], r, f := strategies.factory(r["strategy"]), strategy_facts(f))
        for r in registered_strategies()
    ]
    numbers = [
        entry(r["metric"], r, f := metrics.factory(r["metric"]), metric_facts(r, f)) for r in registered_metrics()
    ]
    found = {"strategies.md": rules, "metrics.md": numbers}
    return {name: "\n".join([INTRODUCTIONS[name], *entries]).rstrip() + "\n" for name, entries in found.items()}


def main() -> int:
    """Write the files, or compare them."""
    outdated = [
        name
        for name, text in pages().items()
        if not (HERE / name).is_file() or (HERE / name).read_text("utf-8") != text
    ]
    if "--check" in sys.argv:
        print("out of date: " + ", ".join(outdated) if outdated else "up to date")
        return 1 if outdated else 0
    for name in outdated:
        (HERE / name).write_text(pages()[name], encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
