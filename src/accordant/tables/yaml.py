"""YAML of users: keys once, words as words, and no more of anything than `accordant.limits` allows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, NoReturn

import yaml

from accordant import limits
from accordant.errors import InputError, SpecError


class BoundedLoader(yaml.SafeLoader):
    """Refuses a key that is written twice, and values that are nested or repeated without bound.

    ``yes``, ``no``, ``on`` and ``off`` are words, not booleans.
    """

    yaml_implicit_resolvers = {  # noqa: RUF012 - PyYAML declares it so
        first: [
            (tag, re.compile("^(?:true|True|TRUE|false|False|FALSE)$") if tag.endswith(":bool") else pattern)
            for tag, pattern in resolvers
        ]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._depth = 0
        self._count = 0
        self._sizes: dict[int, int] = {}  # of nodes that are whole, by their identity

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        """Read a value; one behind an alias counts as many values as it stands for."""
        event, before = self.peek_event(), self._count  # type: ignore[no-untyped-call]
        line = event.start_mark.line + 1
        self._depth += 1
        self._count += 1
        limits.NESTING.check(self._depth, f"line {line}")
        node = super().compose_node(parent, index)
        self._depth -= 1
        if isinstance(event, yaml.AliasEvent):
            if id(node) not in self._sizes:
                self._refuse(f"*{event.anchor} stands inside what it stands for", event.start_mark)
            self._count += self._sizes[id(node)]
        else:
            self._sizes[id(node)] = self._count - before
        if self._count > limits.VALUES.most:
            raise limits.VALUES.refusal(f"line {line}")
        return node

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        """Build a value; a text that its tag does not allow, such as a date in month 13, is an error with its line."""
        try:
            return super().construct_object(node, deep)
        except (ValueError, TypeError, LookupError, AttributeError) as error:
            if isinstance(error, InputError):
                raise
            kind = node.tag.rpartition(":")[-1]
            self._refuse(f"{node.value!r:.40} cannot be read as {kind}", node.start_mark)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Build a mapping."""
        written = Counter(
            key.value for key, _ in node.value if key.tag != "tag:yaml.org,2002:merge" and isinstance(key.value, str)
        )
        for key, times in written.items():
            if times > 1:
                self._refuse(f"the key {key!r} is there twice", node.start_mark)
        return super().construct_mapping(node, deep)

    def construct_yaml_int(self, node: yaml.ScalarNode) -> int:
        """Build a whole number."""
        limits.INTEGER_DIGITS.check(len(node.value), f"line {node.start_mark.line + 1}")
        return int(super().construct_yaml_int(node))

    def _refuse(self, words: str, mark: Any) -> NoReturn:
        raise yaml.constructor.ConstructorError(None, None, words, mark)


BoundedLoader.add_constructor("tag:yaml.org,2002:int", BoundedLoader.construct_yaml_int)


def read_yaml(text: str, where: str) -> dict[str, Any]:
    """Return the keys and values at the top level of a YAML text.

    Parameters
    ----------
    text
        The whole text.
    where
        What messages call it.

    Raises
    ------
    SpecError
        If it is no YAML, holds no keys and values, or goes beyond a limit.
    """
    try:
        declared = yaml.load(text, BoundedLoader)  # noqa: S506 - a safe loader
    except yaml.YAMLError as error:
        raise SpecError(f"{where} is not valid YAML: {' '.join(str(error).split())}") from None
    except InputError as error:
        raise SpecError(str(error), where) from None
    if not isinstance(declared, dict):
        raise SpecError(f"{where} must hold keys and values; found {type(declared).__name__}")
    return {str(key): value for key, value in declared.items()}


def line_of(text: str, path: Sequence[str]) -> int | None:
    """Return the line of a key in a YAML text that can be read, counted from 1; None if none of the keys is there.

    Parameters
    ----------
    text
        The whole text.
    path
        Keys, and positions in lists, that lead to the key, outermost first; where one is not there, the one before it
        is meant.
    """
    node, line = yaml.compose(text, BoundedLoader), None
    for key in path:
        if isinstance(node, yaml.MappingNode):
            inside = {str(name.value): (name, value) for name, value in node.value}
        elif isinstance(node, yaml.SequenceNode):
            inside = {str(number): (child, child) for number, child in enumerate(node.value)}
        else:
            break
        if key not in inside:
            break
        named, node = inside[key]
        line = named.start_mark.line + 1
    return line
