"""How many single mutations of the package its tests notice: ``python -m benchmarks.mutations --mutants 300``.

One operator, constant or branch is changed at a time, in a copy of the repository, and the tests that reach it are
run: those that executed the line, if ``--coverage`` names a file made with ``COVERAGE_CORE=ctrace pytest
--cov=accordant --cov-context=test --cov-config=/dev/null`` (which records lines, not branches); without it, or where no
test is on record for the line, every test of files importing the module; with ``--long`` slow tests of those files
too. A mutant is *killed* if a test fails, *stopped* if the tests take longer than ``--seconds`` of CPU time, or stand
still, and *survives* otherwise. Tests run in children of one process that has imported the libraries, but nothing of
the package. Constants and defaults of modules and signatures are left out: ``tests/defaults.txt`` records them all.
Survivors are printed with file, line and change, to be judged by a reader: some equal what they replace.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import json
import os
import random
import resource
import shutil
import signal
import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from coverage.numbits import register_sqlite_functions

ROOT = Path(__file__).parent.parent
PACKAGE = Path("src/accordant")
FEW = 60  # tests of a line that are run first
MANY = 300  # that are run at a time after them: within two CPU seconds each, so that only a change makes them late
PATIENCE = 10  # wall seconds for each second of CPU time
CONTROLS = 5  # lines whose tests must pass while nothing is changed
LIBRARIES = ("numba", "pandas", "pydantic", "pytest", "rich", "scipy.optimize", "scipy.stats",
             "sklearn.ensemble", "sklearn.linear_model", "sklearn.model_selection", "skops.io", "typer")  # fmt: skip
COMPARISONS = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
OPERATORS = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
SKIPPED = (ast.Raise, ast.Assert, ast.JoinedStr, ast.arguments, ast.AnnAssign, ast.Import, ast.ImportFrom)


@dataclass(frozen=True)
class Mutant:
    """One change: file, position, what stood there and what stands there now."""

    file: Path
    line: int
    start: int
    end: int
    before: str
    after: str

    def apply(self, text: str) -> str:
        """Return the source with the change."""
        encoded = text.encode()
        return (encoded[: self.start] + self.after.encode() + encoded[self.end :]).decode()

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {' '.join(self.before.split())} → {' '.join(self.after.split())}"


def replacement(node: ast.AST) -> ast.expr | None:
    """Return what stands in the place of an expression, or None if it is left alone."""
    match node:
        case ast.Compare(left, [op], comparators) if type(op) in COMPARISONS:
            return ast.Compare(left, [COMPARISONS[type(op)]()], comparators)
        case ast.BinOp(ast.Constant(str()), ast.Mod(), _):
            return None
        case ast.BinOp(left, op, right) if type(op) in OPERATORS:
            return ast.BinOp(left, OPERATORS[type(op)](), right)
        case ast.BoolOp(ast.And(), values):
            return ast.BoolOp(ast.Or(), values)
        case ast.BoolOp(ast.Or(), values):
            return ast.BoolOp(ast.And(), values)
        case ast.UnaryOp(ast.Not(), operand):
            return operand
        case ast.IfExp(test, body, orelse):
            return ast.IfExp(test, orelse, body)
        case ast.Constant(bool() as value):
            return ast.Constant(not value)
        case ast.Constant(int() | float() as value):
            return ast.Constant(value + 1)
    return None


def reached(node: ast.AST, *, inside: bool = False) -> Iterator[ast.AST]:
    """Yield the nodes of functions, without defaults, annotations, decorators, messages and imports."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, SKIPPED):
            continue
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            for statement in child.body:
                if not isinstance(statement, SKIPPED):
                    yield from reached(ast.Module([statement], []), inside=True)
            continue
        if inside:
            yield child
        yield from reached(child, inside=inside)


def mutants(file: Path) -> Iterator[Mutant]:
    """Yield every mutant of a module."""
    text = (ROOT / file).read_text(encoding="utf-8")
    starts = [0]
    for line in text.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for node in reached(ast.parse(text)):
        new = replacement(node)
        if new is None or not isinstance(node, ast.expr) or node.end_lineno is None or node.end_col_offset is None:
            continue
        start, end = starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset
        before = text.encode()[start:end].decode()
        yield Mutant(file, node.lineno, start, end, before, f"({ast.unparse(new)})")


class Tests:
    """Which tests reach a line."""

    def __init__(self, coverage: Path | None) -> None:
        self.files = {path: path.read_text(encoding="utf-8") for path in sorted((ROOT / "tests").rglob("test_*.py"))}
        self.data = None
        if coverage is not None:
            self.data = sqlite3.connect(f"file:{coverage}?mode=ro", uri=True)
            register_sqlite_functions(self.data)

    def of_line(self, mutant: Mutant, generator: random.Random) -> list[str]:
        """Return the names of the tests that executed the line, those of its own room first."""
        if self.data is None:
            return []
        query = (
            "select distinct context.context from line_bits join file on file.id = line_bits.file_id "
            "join context on context.id = line_bits.context_id "
            "where file.path like ? and num_in_numbits(?, line_bits.numbits)"
        )
        rows = self.data.execute(query, (f"%/{mutant.file}", mutant.line))
        there = {str(path.relative_to(ROOT)) for path in self.files}  # a file that is gone would count as noticed
        names = sorted({name for row in rows if (name := row[0].rsplit("|", 1)[0]).partition("::")[0] in there})
        generator.shuffle(names)
        room = str(Path("tests", *mutant.file.parent.parts[2:]))
        return sorted(names, key=lambda name: not name.startswith(room + "/"))

    def of_module(self, file: Path) -> list[str]:
        """Return the test files that import a module, or stand in the folder mirroring its room, or the next above."""
        parts = file.with_suffix("").relative_to("src").parts
        module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        room, name = module.rpartition(".")[::2]
        mirrors = [ROOT / Path("tests", *parts[1:depth]) for depth in range(len(parts) - 1, 0, -1)]
        mirror = next(folder for folder in mirrors if any(path.parent == folder for path in self.files))
        phrases = (f"from {module} import", f"import {module}", f"from {room} import {name}", f"{module}.")
        return [
            str(path.relative_to(ROOT))
            for path, text in self.files.items()
            if path.parent == mirror or any(phrase in text for phrase in phrases)
        ]


def by_file(names: list[str]) -> list[str]:
    """Return tests so that those of one file stand together, as what they share in a file is made once."""
    order = {file: number for number, file in enumerate(dict.fromkeys(name.partition("::")[0] for name in names))}
    return sorted(names, key=lambda name: order[name.partition("::")[0]])


def verdict(tree: Path, arguments: list[str], seconds: int) -> str:
    """Return ``killed``, ``stopped`` or ``passed``."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.setpgid(0, 0)
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
            silence = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(silence, stream)
            os.chdir(tree)
            sys.path.insert(0, str(tree / "src"))
            os.environ.update(PYTHONPATH=str(tree / "src"), CI="true", OMP_NUM_THREADS="1")
            import pytest

            code = pytest.main(["-q", "-x", "-n", "0", "-p", "no:cacheprovider", *arguments])
        finally:
            os._exit(code)
    deadline = time.monotonic() + PATIENCE * seconds  # a deadlock takes no processor time
    while (ended := os.waitpid(child, os.WNOHANG)) == (0, 0):
        if time.monotonic() > deadline:
            os.killpg(child, signal.SIGKILL)
        time.sleep(0.02)
    status = ended[1]
    if os.WIFSIGNALED(status):
        return "stopped"
    code = os.WEXITSTATUS(status)
    if code == 4 and any("::" in name for name in arguments):  # a name that only the other run had: ask whole files
        return verdict(tree, list(dict.fromkeys(name.partition("::")[0] for name in arguments)), seconds)
    if code not in (0, 1, 2, 4, 5):  # all passed, some failed, a module or a conftest cannot be imported, none selected
        raise RuntimeError(f"pytest ended with {code}: {arguments[:3]}")
    return "killed" if code in (1, 2, 4) else "passed"


def judge(
    mutant: Mutant, tree: Path, tests: Tests, generator: random.Random, given: argparse.Namespace, before: str | None
) -> str:
    """Return what becomes of a mutant; one that survived the fast tests before meets the slow ones only."""
    source = tree / mutant.file
    original = source.read_text(encoding="utf-8")
    source.write_text(mutant.apply(original), encoding="utf-8")
    reaching, files = tests.of_line(mutant, generator), tests.of_module(mutant.file)
    rounds = [] if before == "survived" else [[*files, "-m", "not long"]]
    if rounds and reaching:
        rest = by_file(reaching[FEW:])
        rounds = [by_file(reaching[:FEW]), *(rest[start : start + MANY] for start in range(0, len(rest), MANY))]
    rounds += [[*files, "-m", "long"]] if given.long else []
    try:
        for arguments in rounds:
            if arguments and arguments[0] != "-m" and (result := verdict(tree, arguments, given.seconds)) != "passed":
                return result
        return "survived"
    finally:
        source.write_text(original, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mutants", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--under", type=Path, default=PACKAGE, help="a folder or module whose mutants are drawn")
    parser.add_argument("--coverage", type=Path, help="data of coverage.py with a context for each test")
    parser.add_argument("--seconds", type=int, default=600, help="of CPU time for each round of tests")
    parser.add_argument("--long", action="store_true", help="try slow tests too before a mutant survives")
    parser.add_argument("--out", type=Path, help="JSON lines, one for each mutant; those noticed are not tried again")
    given = parser.parse_args()
    generator = random.Random(given.seed)
    under = ROOT / given.under
    files = [under] if under.is_file() else sorted(under.rglob("*.py"))
    every = [mutant for file in files for mutant in mutants(file.relative_to(ROOT))]
    chosen = generator.sample(every, min(given.mutants, len(every)))
    tests = Tests(given.coverage)
    for library in LIBRARIES:
        importlib.import_module(library)
    tried = {}
    if given.out is not None and given.out.is_file():
        lines = [json.loads(line) for line in given.out.read_text(encoding="utf-8").splitlines()]
        tried = {line["mutant"]: line["result"] for line in lines}
    counts = dict.fromkeys(("killed", "stopped", "survived"), 0)
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        ignored = shutil.ignore_patterns(".venv", ".git", "__pycache__", "_build")
        shutil.copytree(ROOT, tree, ignore=ignored)
        reaching = [names[:FEW] for mutant in chosen[:CONTROLS] if (names := tests.of_line(mutant, generator))]
        for names in reaching:
            if (result := verdict(tree, by_file(names), given.seconds)) != "passed":
                raise RuntimeError(f"{result} without any change: {names[:3]}")
        for mutant in chosen:
            before = tried.get(str(mutant))
            again = before is None or (before == "survived" and given.long)
            result = judge(mutant, tree, tests, generator, given, before) if again else before
            counts[result] += 1
            if given.out is not None and again:
                with given.out.open("a", encoding="utf-8") as file:
                    file.write(json.dumps({"mutant": str(mutant), "result": result}, ensure_ascii=False) + "\n")
            if result == "survived":
                print(f"survived  {mutant}", flush=True)
    total = sum(counts.values())
    caught = counts["killed"] + counts["stopped"]
    print(
        f"{total} of {len(every)} mutants: {caught} noticed ({caught / total:.1%}), {counts['stopped']} of them by time"
    )


if __name__ == "__main__":
    main()
