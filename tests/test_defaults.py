"""Every constant and every default of the package is written down: whoever changes one says so here too.

``ACCORDANT_RECORD=1 python -m pytest tests/test_defaults.py`` writes ``tests/defaults.txt`` anew; read the difference.
"""

from __future__ import annotations

import ast
import os
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src" / "accordant"
RECORD = Path(__file__).with_name("defaults.txt")


def constants(tree):
    """Yield names in capitals and their values, of a module and of its classes."""
    for owner, body in [("", tree.body), *((f"{c.name}.", c.body) for c in tree.body if isinstance(c, ast.ClassDef))]:
        for node in body:
            if isinstance(node, ast.AnnAssign) and node.value is not None:
                yield f"{owner}{ast.unparse(node.target)}", ast.unparse(node.value)
            elif isinstance(node, ast.Assign) and (
                owner or all(ast.unparse(each).strip("_").isupper() for each in node.targets)
            ):
                yield f"{owner}{ast.unparse(node.targets[0])}", ast.unparse(node.value)


def defaults(tree):
    """Yield the parameters with a default, of functions and methods."""

    def within(node, path):
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, ast.FunctionDef | ast.ClassDef):
                continue
            name = f"{path}{child.name}"
            if isinstance(child, ast.FunctionDef):
                arguments = child.args
                positional = [*arguments.posonlyargs, *arguments.args]
                given = [*zip(positional[::-1], arguments.defaults[::-1], strict=False)]
                given += [pair for pair in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if pair[1]]
                yield from ((f"{name}({each.arg})", ast.unparse(value)) for each, value in given)
            yield from within(child, f"{name}.")

    yield from within(tree, "")


def recorded(trees):
    """Return one line for each constant and default, sorted."""
    lines = []
    for file, tree in trees.items():
        module = file.relative_to(SOURCE).with_suffix("").as_posix().replace("/", ".")
        lines += [
            f"{module}:{name} = {' '.join(value.split())}"
            for read in (constants, defaults)
            for name, value in read(tree)
        ]
    return sorted(lines)


def as_this_python_writes(line):
    """Return a line as the Python that runs this writes it: versions differ in the quotes of f-strings."""
    name, value = line.split(" = ", 1)
    return f"{name} = {' '.join(ast.unparse(ast.parse(value, mode='eval')).split())}"


def test_constants_and_defaults_are_those_on_record(trees):
    found = recorded(trees)
    assert len(found) > 2000
    if os.environ.get("ACCORDANT_RECORD") == "1":
        RECORD.write_text("\n".join(found) + "\n", encoding="utf-8")
    on_record = RECORD.read_text(encoding="utf-8").splitlines()
    assert [*map(as_this_python_writes, found)] == [*map(as_this_python_writes, on_record)]


def test_a_changed_constant_or_default_is_seen():
    tree = ast.parse("LEVEL = 0.95\nclass A:\n    width: int = 3\n    def f(self, a, b=2, *, c='x', d): ...\n")
    assert dict([*constants(tree), *defaults(tree)]) == {
        "LEVEL": "0.95", "A.width": "3", "A.f(b)": "2", "A.f(c)": "'x'"
    }  # fmt: skip
