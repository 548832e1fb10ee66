"""Docstrings of the package, numpy sections and all, as Markdown for MyST."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any, get_type_hints

HEADING = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.MULTILINE)
CODE = re.compile(r"(``.+?``|`[^`\n]+`)", re.DOTALL)
TERM = re.compile(r"^(\S.*)\n((?:[ ]+.*\n?|\n)*)", re.MULTILINE)
LISTED = re.compile(r"^\S.*? {2,}\S", re.MULTILINE)
DOTTED = re.compile(r"accordant(\.\w+)+")


class _Verbatim:
    """What a signature shows as it stands: an annotation that is a string, a default without its address."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def sections(docstring: str) -> dict[str, str]:
    """Return the sections of a numpy docstring; the text before the first one has the empty name."""
    parts = HEADING.split(inspect.cleandoc(docstring))
    return {"": parts[0].strip(), **dict(zip(parts[1::2], (part.strip("\n") for part in parts[2::2]), strict=True))}


def terms(section: str) -> list[tuple[str, str]]:
    """Return what a section of names says: each line of names, with the text indented below it."""
    return [(names.strip(), inspect.cleandoc(f"\n{text}").strip()) for names, text in TERM.findall(section)]


def inline(text: str) -> str:
    """Return a passage as Markdown: names in backticks stay code, those of the package become links, tags are text."""
    pieces = CODE.split(text)
    for at, piece in enumerate(pieces):
        if at % 2 == 0:
            plain = re.sub(r"<(?=[\w/!?])", "&lt;", piece).replace("*", r"\*")
            plain = re.sub(r"\\\*(\w[^*\n]*?)\\\*", r"*\1*", plain)  # what is meant as emphasis
            pieces[at] = re.sub(r"^(\s*)([+#>=])(?=\s)", r"\1\\\2", plain, flags=re.MULTILINE)
        else:
            name = " ".join(piece.strip("`").split())
            pieces[at] = f"{{py:obj}}`{name}`" if DOTTED.fullmatch(name) else f"`{name}`"
    return "".join(pieces)


def paragraphs(text: str) -> str:
    """Return text as Markdown; what is indented, or stands in columns, becomes a block."""
    blocks: list[str] = []
    lines: list[str] = []
    for block in re.split(r"\n\s*\n", text):
        indented = bool(block.strip()) and all(line.startswith("    ") for line in block.splitlines())
        in_columns = len(LISTED.findall(block)) >= max(2, block.strip().count("\n"))  # names with what they hold
        if indented or in_columns:
            lines.append(block)
            continue
        if lines:
            blocks.append(_fenced(lines))
            lines = []
        words = re.sub(r"\s*::\s*$", ":", block) if block.strip() != "::" else ""
        blocks.append(inline(words))
    if lines:
        blocks.append(_fenced(lines))
    return "\n\n".join(block for block in blocks if block)


def _fenced(blocks: list[str]) -> str:
    return "```text\n" + inspect.cleandoc("\n" + "\n\n".join(blocks)) + "\n```"


def markdown(docstring: str | None, leave_out: tuple[str, ...] = ()) -> str:
    """Return a docstring as Markdown: its text, then a list of names and meanings for each section."""
    if not docstring:
        return ""
    found = []
    for heading, body in sections(docstring).items():
        if heading in leave_out:
            continue
        if not heading:
            found.append(paragraphs(body))
        elif re.search(r"^\S.*\n[ ]+\S", body, re.MULTILINE):
            found.append(f"**{heading}**")
            found += [definition(f"`{names}`", paragraphs(text)) for names, text in terms(body)]
        else:
            found.append(f"**{heading}**\n\n{paragraphs(body)}")
    return "\n\n".join(found)


def definition(term: str, text: str) -> str:
    """Return one entry of a definition list."""
    return f"{term}\n:   " + (text or "…").replace("\n", "\n    ")


def summary(thing: Any) -> str:
    """Return the first sentence of a docstring as Markdown on one line."""
    first = sections(inspect.getdoc(thing) or "")[""].split("\n\n")[0]
    return inline(" ".join(first.split()).removesuffix("::"))


def meanings(docstring: str) -> dict[str, str]:
    """Return what a docstring says about each attribute and parameter, on one line of Markdown."""
    said = sections(docstring)
    named = terms(said.get("Attributes", "")) + terms(said.get("Parameters", ""))
    return {name.strip(): inline(" ".join(text.split())) for names, text in named for name in names.split(",")}


def parameter_texts(factory: Callable[..., Any]) -> dict[str, str]:
    """Return what the docstrings of a class and its bases say about each parameter."""
    found: dict[str, str] = {}
    for base in reversed(inspect.getmro(factory) if inspect.isclass(factory) else (factory, type(factory))):
        own = meanings(base.__doc__ or "").items()
        found |= {name: text for name, text in own if not (text.startswith("See `") and name in found)}  # base says it
    return found


def default(parameter: inspect.Parameter) -> str:
    """Return the default of a parameter as Python writes it; where that is a place in memory, its name."""
    shown = repr(parameter.default)
    if shown == "<factory>":
        return "…"
    if shown.startswith("<"):  # a function, a class, or an object that only says where it is
        return str(getattr(parameter.default, "__qualname__", type(parameter.default).__name__))
    return shown


def _type(parameter: inspect.Parameter, thing: Any) -> str:
    """Return the type of a parameter as the source writes it, without what pydantic notes beside it."""
    if isinstance(parameter.annotation, str):
        return parameter.annotation
    try:
        hints = get_type_hints(thing)
    except NameError:  # imported for type checking only
        hints = {}
    return inspect.formatannotation(hints.get(parameter.name, parameter.annotation))


def signature(thing: Any, written: Callable[[str, Any], str]) -> str:
    """Return a signature as the source writes it, its annotations as `written`; empty if there is none."""
    try:
        given = inspect.signature(thing)
    except (TypeError, ValueError):
        return ""
    parameters = []
    for each in given.parameters.values():
        changes: dict[str, Any] = {}
        if each.annotation is not inspect.Parameter.empty:
            changes["annotation"] = _Verbatim(written(_type(each, thing), thing))
        if each.default is not inspect.Parameter.empty:
            changes["default"] = _Verbatim(default(each))
        parameters.append(each.replace(**changes))
    returned: Mapping[str, Any] = (
        {"return_annotation": _Verbatim(written(given.return_annotation, thing))}
        if isinstance(given.return_annotation, str)
        else {}
    )
    return str(given.replace(parameters=parameters, **returned)).replace("\n", " ")
