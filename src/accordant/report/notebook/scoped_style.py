"""The sheet of styles of pages, bound to one block of a page that is not ours, and cut to what the block uses."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator

BLOCK = ".accordant"
PREFIX = BLOCK * 2  # twice: rules of a notebook for all of its tables must not win
CLASS, ELEMENT = re.compile(r"\.([a-zA-Z][\w-]*)"), re.compile(r"(?<![\w.#-])[a-z][a-z0-9]*(?![\w-])")
ASKED = re.compile(r"::?[a-z-]+(?:\((?:[^()]|\([^()]*\))*\))?|\[[^\]]*\]")  # pseudo-classes and attributes
COMMA = re.compile(r",(?![^()]*\))")
USED_CLASSES, USED_ELEMENTS = re.compile(r' class="([^"]*)"'), re.compile(r"<([a-z][a-z0-9]*)")
WHOLE_PAGE = (":root", "html", "body")
PAPER, DARK = "@media print", "prefers-color-scheme: dark"


def scoped(sheet: str, html: str) -> str:
    """Return the rules that HTML uses, each for what stands inside the block only.

    Parameters
    ----------
    sheet
        Rules, and rules within ``@media``; those for paper and for the dark are left out.
    html
        What stands in the block.
    """
    classes = frozenset(name for attribute in USED_CLASSES.findall(html) for name in attribute.split())
    elements = frozenset(USED_ELEMENTS.findall(html))
    return "\n".join(_kept(sheet, classes, elements))


def dark_rules(sheet: str) -> str:
    """Return the rules that a sheet has for systems that are dark."""
    return "\n".join(body for head, body in _blocks(sheet) if head.startswith("@") and DARK in head)


def _kept(sheet: str, classes: frozenset[str], elements: frozenset[str]) -> Iterator[str]:
    for head, body in _blocks(sheet):
        if head.startswith("@"):
            elsewhere = head.startswith(PAPER) or DARK in head
            inside = [] if elsewhere else list(_kept(body, classes, elements))
            if inside:
                yield f"{head} {{ {' '.join(inside)} }}"
            continue
        selectors = [selector for selector in _selectors(head) if _used(selector, classes, elements)]
        if selectors:
            yield f"{', '.join(map(_bound, selectors))} {{ {body} }}"


@functools.lru_cache(maxsize=64)
def _blocks(sheet: str) -> tuple[tuple[str, str], ...]:
    """Return what stands before and within each outer pair of braces."""
    blocks, head, depth, start = [], "", 0, 0
    for place, letter in enumerate(sheet):
        if letter == "{":
            if depth == 0:
                head, start = sheet[start:place].strip(), place + 1
            depth += 1
        elif letter == "}":
            depth -= 1
            if depth == 0:
                blocks.append((head, sheet[start:place].strip()))
                start = place + 1
    return tuple(blocks)


@functools.lru_cache(maxsize=1024)
def _selectors(head: str) -> tuple[str, ...]:
    return tuple(selector.strip() for selector in COMMA.split(head))


def _used(selector: str, classes: frozenset[str], elements: frozenset[str]) -> bool:
    """Whether everything that a selector names is there; what pseudo-classes ask is not looked at."""
    if selector in WHOLE_PAGE[::2] or BLOCK in selector:
        return True
    named = ASKED.sub("", selector)
    return classes.issuperset(CLASS.findall(named)) and elements.issuperset(ELEMENT.findall(CLASS.sub("", named)))


def _bound(selector: str) -> str:
    if BLOCK in selector:
        return selector
    return PREFIX if selector in WHOLE_PAGE else f"{PREFIX} {selector}"
