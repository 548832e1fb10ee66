"""What ARCHITECTURE.md says of the house is so, and a type of array has one name."""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "accordant"
DOTTED = re.compile(r"(?<![\w./-])accordant((?:\.[a-zA-Z_]\w*)+)")
PAGES = [
    page
    for page in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"))
    if page.name != "CHANGELOG.md" and "_build" not in page.parts
]
# types of arrays with a meaning of their own, beside those of `accordant.arrays`
OWN = {
    "Verdicts": "src/accordant/certificates/ballots/patterns.py", "Bits": "src/accordant/certificates/ballots/profiles.py",
    "Attacks": "src/accordant/certificates/pairwise/attacks.py", "Marks": "src/accordant/certificates/pairwise/comparison.py",
    "Nodes": "src/accordant/learning/reward_models.py",
}  # fmt: skip


def array_types(tree):
    """Return the names that a module gives to types of arrays."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.value).startswith("NDArray["):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))


@pytest.mark.long
def test_a_type_of_array_is_defined_once():
    files = [*SOURCE.rglob("*.py"), *(ROOT / "benchmarks").rglob("*.py")]
    found = [(name, file) for file in files for name in array_types(ast.parse(file.read_text(encoding="utf-8")))]
    assert len(found) > 10
    elsewhere = [(name, file.relative_to(ROOT).as_posix()) for name, file in found if file != SOURCE / "arrays.py"]
    assert sorted(elsewhere) == sorted(OWN.items())


def exists(dotted):
    """Whether a module, or something in one, has this name."""
    parts = dotted.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:length]))
        except ImportError:
            continue
        for name in parts[length:]:
            if not hasattr(found, name):
                return name in getattr(found, "__annotations__", {})
            found = getattr(found, name)
        return True
    return False


def groups():
    """Return the entry-point groups: they look like modules and are none."""
    texts = [file.read_text(encoding="utf-8") for file in SOURCE.rglob("*.py")]
    return {each for text in texts for each in re.findall(r'group="(accordant\.\w+)"', text)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_names_what_exists(page):
    named = {"accordant" + each for each in DOTTED.findall(page.read_text(encoding="utf-8"))}
    assert [each for each in sorted(named - groups()) if not exists(each)] == []


def drawn(text):
    """Return the dotted names in backticks on the map, which leave `accordant` out, and the folders."""
    dotted = {
        each for each in re.findall(r"`([a-z_]+(?:\.\w+)+)(?::[^`]*)?`", text) if not each.endswith((".py", ".md"))
    }
    return {f"accordant.{each}" for each in dotted if each.split(".")[0] not in {"accordant", "pyproject", "run"}}


def test_the_map_names_what_exists():
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    assert len(drawn(text)) > 15
    assert [each for each in sorted(drawn(text)) if not exists(each)] == []
    assert drawn("`runs.nowhere.nothing` and `statistics.nonsense`") == {
        "accordant.runs.nowhere.nothing", "accordant.statistics.nonsense"
    }  # fmt: skip
    files = [each for each in re.findall(r"`((?:\w+/)+\w+\.py)`", text) if not each.startswith(("src/", "tests/"))]
    assert files and [each for each in files if not (SOURCE / each).exists()] == []


def test_docstrings_name_files_that_are_there():
    missing = []
    for file in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and (said := ast.get_docstring(node)):
                near = {each.name for each in file.parent.rglob("*.py")} | {each.name for each in SOURCE.glob("*.py")}
                named = re.findall(r"(?<![\w./`-])`{0,2}(\w+\.py)\b", said)
                missing += [f"{file.relative_to(SOURCE)}: {each}" for each in named if each not in near]
    assert missing == []


def test_names_that_do_not_exist_are_seen():
    assert not exists("accordant.nowhere") and not exists("accordant.registry.Nothing")
    assert exists("accordant.registry.Registry.create") and exists("accordant.declared")


def test_every_room_has_its_place_on_the_map():
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    rooms = {folder.name for folder in SOURCE.iterdir() if (folder / "__init__.py").exists()}
    modules = {file.stem for file in SOURCE.glob("*.py") if file.stem != "__init__"}
    assert len(rooms) > 15
    assert [room for room in sorted(rooms) if f"`{room}/`" not in text] == []
    assert [name for name in sorted(modules) if f"`{name}`" not in text and f"`{name}.py`" not in text] == []
