"""What ARCHITECTURE.md says of the house is so, and a type of array has one name."""

from __future__ import annotations

import ast
import importlib
import re
from collections import Counter
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
def test_a_type_of_array_is_defined_once(trees):
    files = (ROOT / "benchmarks").rglob("*.py")
    known = trees | {file: ast.parse(file.read_text(encoding="utf-8")) for file in files}
    found = [(name, file) for file, tree in known.items() for name in array_types(tree)]
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


@pytest.mark.few(4)
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


@pytest.fixture(scope="module")
def on_map():
    """Return what the map names, and whether it is there; the imports that this takes are no time of a test."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    return text, {each: exists(each) for each in sorted(drawn(text))}


def test_the_map_names_what_exists(on_map):
    text, there = on_map
    assert len(there) > 15
    assert [each for each, found in there.items() if not found] == []
    assert drawn("`runs.nowhere.nothing` and `statistics.nonsense`") == {
        "accordant.runs.nowhere.nothing", "accordant.statistics.nonsense"
    }  # fmt: skip
    files = [each for each in re.findall(r"`((?:\w+/)+\w+\.py)`", text) if not each.startswith(("src/", "tests/"))]
    assert files and [each for each in files if not (SOURCE / each).exists()] == []


def inside(text):
    """Yield room and name for everything in backticks in the table of what stands inside the larger rooms."""
    table = text.split("### Inside the larger rooms")[1].split("\n#")[0]
    for room, cell in re.findall(r"^\| `(\w+)/` \| (.*) \|$", table, re.MULTILINE):
        yield from ((room, name) for name in re.findall(r"`([\w/]+)`", cell))


def test_what_is_said_to_stand_inside_a_room_is_there():
    named = list(inside((ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")))
    commands = {"preferences", "elicit"}  # the wing says which of its folders a command opens
    there = {room: {path.stem for path in (SOURCE / room).rglob("*")} for room, _ in named}
    missing = [f"{room}/{name}" for room, name in named if name.strip("/") not in there[room] | commands]
    assert len(named) > 40 and missing == []


def test_docstrings_name_files_that_are_there(trees):
    missing = []
    for file, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ".py" in (
                ast.get_docstring(node, clean=False) or ""
            ):
                near = {each.name for each in file.parent.rglob("*.py")} | {each.name for each in SOURCE.glob("*.py")}
                named = re.findall(r"(?<![\w./`-])`{0,2}(\w+\.py)\b", ast.get_docstring(node))
                missing += [f"{file.relative_to(SOURCE)}: {each}" for each in named if each not in near]
    assert missing == []


WRITERS, TERMINAL = ("tables/output.py", "tables/unfinished.py", "tables/scratch.py"), "terminal.py"
WRITING = {
    "write_text", "write_bytes", "touch", "mkdir", "makedirs", "rename", "renames", "unlink", "rmtree", "rmdir",
    "symlink_to", "hardlink_to", "symlink", "link", "copy2", "copyfile", "copytree", "savetxt", "savez", "save",
    "savefig", "to_csv", "to_parquet", "to_excel", "to_pickle", "mkstemp", "mkdtemp", "NamedTemporaryFile",
    "TemporaryDirectory", "truncate", "chmod",
}  # fmt: skip
OPENING = {"open", "fdopen", "GzipFile", "ZipFile", "TextIOWrapper"}
# calls of these names that write no file: columns get other names, a table goes to a stream, a stream is given
HARMLESS = {
    "cases/loaders.py": {"to_csv"}, "cli/app.py": {"open"}, "cli/case_commands.py": {"to_csv"}, "runs/recommendation.py": {"to_csv"},
    "tables/workbooks.py": {"open"}, "cases/lending/loans.py": {"rename"}, "cases/triage/visits.py": {"rename"}, "runs/manifest.py": {"open"},
    "runs/models/files.py": {"ZipFile"}, "service/publication.py": {"ZipFile"},  # in memory
    "runs/datasets/evaluation.py": {"savez"}, "monitoring/parts.py": {"savez"},  # into files that the writer opened
}  # fmt: skip


def called(node):
    """Return the name of what is called, without the object that it belongs to."""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def may_write(node):
    """Whether a call may write a file: by its name, or because it opens one in a mode that is not plainly to read."""
    name = called(node)
    if name not in OPENING:
        return name in WRITING
    place = 0 if isinstance(node.func, ast.Attribute) and name == "open" and len(node.args) < 2 else 1
    modes = [*node.args[place : place + 1], *(each.value for each in node.keywords if each.arg in ("mode", "flags"))]
    return any(not (isinstance(mode, ast.Constant) and mode.value in ("r", "rb", "rt")) for mode in modes)


def calls(tree):
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call)]


def test_one_module_writes_files(trees):
    found = {
        (file.relative_to(SOURCE).as_posix(), called(node))
        for file, tree in trees.items()
        for node in calls(tree)
        if may_write(node)
    }
    harmless = {(file, name) for file, names in HARMLESS.items() for name in names}
    assert len({name for file, name in found if file in WRITERS}) > 5
    assert {each for each in found if each[0] not in WRITERS} == harmless


@pytest.mark.parametrize(
    ("code", "writes"),
    [
        ("open('x', 'w')", True), ("open('x', mode='a')", True), ("path.open('xb')", True), ("path.open(mode=how)", True),
        ("os.open(p, os.O_WRONLY)", True), ("path.write_text('')", True), ("frame.to_csv(path)", True),
        ("open('x')", False), ("path.open()", False), ("gzip.open(p, 'rb')", False), ("self.open()", False),
    ],
)  # fmt: skip
def test_code_that_writes_is_seen(code, writes):
    assert may_write(ast.parse(code).body[0].value) is writes


def test_one_module_prints(trees):
    """Texts of others pass `naming.plain` on their way to a terminal."""
    printing = {"typer.echo", "print", "Console", "rich.print", "sys.stdout.write", "sys.stderr.write", "click.echo"}
    found = {
        (file.relative_to(SOURCE).as_posix(), name)
        for file, tree in trees.items()
        for name in map(ast.unparse, (node.func for node in calls(tree)))
        if name in printing
    }
    assert {each for each in found if each[0] not in (TERMINAL, *WRITERS)} == {
        ("cli/app.py", "typer.echo"),  # the version
        ("agents/people.py", "sys.stderr.write"),  # stands below the terminal, and makes its texts plain itself
    }


WINDOW = 6  # lines in a row that stand at two places are one repetition
REPEATED = 10  # windows of code that stand elsewhere too: this number may only fall


def statements(node):
    """Yield a node and the statements below it; what is inside expressions holds none."""
    yield node
    for part in ("body", "orelse", "finalbody", "handlers", "cases"):
        for inner in getattr(node, part, ()):
            yield from statements(inner)


def windows(file, tree):
    """Yield every run of `WINDOW` lines of code, without docstrings, comments, imports and lone brackets."""
    left_out = set()
    for node in statements(tree):
        body = getattr(node, "body", None)
        if isinstance(node, ast.Import | ast.ImportFrom):
            left_out |= set(range(node.lineno, node.end_lineno + 1))
        elif (
            isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
            and ast.get_docstring(node, clean=False) is not None
        ):
            left_out |= set(range(body[0].lineno, body[0].end_lineno + 1))
    lines = enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
    code = [line.strip() for number, line in lines if number not in left_out]
    code = [line for line in code if re.search(r"\w", line) and not line.startswith(("#", "@", "raise ", "return"))]
    yield from (tuple(code[place : place + WINDOW]) for place in range(len(code) - WINDOW + 1))


def test_repeated_code_only_falls(trees):
    counted = Counter(window for file, tree in trees.items() for window in windows(file, tree))
    repeated = sum(1 for count in counted.values() if count > 1)
    assert repeated == REPEATED, f"{repeated} repetitions; where it fell, lower `REPEATED`"


def test_repeated_code_is_seen(tmp_path):
    file = tmp_path / "twice.py"
    file.write_text(("a = 1\nb = 2\nc = 3\nd = 4\ne = 5\nf = 6\n") * 2, encoding="utf-8")
    counted = Counter(windows(file, ast.parse(file.read_text(encoding="utf-8"))))
    assert [window for window, count in counted.items() if count > 1] == [
        tuple(f"{x} = {n}" for n, x in enumerate("abcdef", 1))
    ]


def test_names_that_do_not_exist_are_seen():
    assert not exists("accordant.nowhere") and not exists("accordant.registry.Nothing")
    assert exists("accordant.registry.Registry.create") and exists("accordant.declaration")


def test_every_room_has_its_place_on_the_map():
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    rooms = {folder.name for folder in SOURCE.iterdir() if (folder / "__init__.py").exists()}
    modules = {file.stem for file in SOURCE.glob("*.py") if file.stem != "__init__"}
    assert len(rooms) > 15
    assert [room for room in sorted(rooms) if f"`{room}/`" not in text] == []
    assert [name for name in sorted(modules) if f"`{name}`" not in text and f"`{name}.py`" not in text] == []
