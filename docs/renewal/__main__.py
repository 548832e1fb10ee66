# ruff: noqa: T201 - a command: it prints
"""
Renew what the documents print, or compare it.

python -m docs.renewal                    # rewrite the outputs and figures of README, tutorial and how-to guides
python -m docs.renewal docs/tutorial.md   # of these pages only
python -m docs.renewal --check            # exit 1 with the differences; --quick leaves out blocks marked slow
"""

from __future__ import annotations

import argparse
import difflib
import os
import re
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from docs.renewal.excerpts import excerpt
from docs.renewal.pages import (
    BLOCK,
    HOLDS,
    PRINT,
    ROOT,
    VALUE,
    Block,
    Step,
    block_of,
    blocks_of,
    documents,
    printing,
    stand_alone,
    unmarked,
)
from docs.renewal.runs import KeptRuns, Record, RenewalError, Shell, run_python

# What takes minutes or needs other software is not made here. The command stands beside the figures on the page.
TIMES = re.compile(r"\b\d[\d.,]* (?=s\b|ms\b|seconds?\b|MB\b)")
LONG_NUMBER = re.compile(r"\d+\.\d{9,}")


def settled(text: str) -> str:
    """Return a text without what differs between two runs of one command: durations, and the last digits of floats."""
    return LONG_NUMBER.sub(lambda number: f"{float(number[0]):.8f}", TIMES.sub("# ", text))


def shown(value: object, old: str) -> str:
    """Return a value as the page writes it now: as many decimals, a percent sign, separators, or .5 for 0.5."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if isinstance(value, int):
        return f"{value:,}" if "," in old else str(value)
    percent = re.search(r" ?%$", old)
    decimals = len(match[1]) if (match := re.search(r"\.(\d+)", old)) else 0
    written = f"{100 * value if percent else value:.{decimals}f}" + (percent[0] if percent else "")
    return written.replace("0.", ".", 1) if re.match(r"-?\.", old) else written


@dataclass
class Renewal:
    """
    One renewal of all pages.

    Attributes
    ----------
    folder
        Where commands run; each page has a folder in it.
    data
        The folder with real data; without it, blocks that need data stay as they are.
    quick
        Leave out blocks marked slow, and what follows them on their page.
    runs
        Name of a run (`<!-- run: NAME -->`) → what it was; each is carried out once, figures on all pages read it.
    """

    folder: Path
    data: Path | None
    quick: bool = False
    runs: dict[str, Record] = field(default_factory=dict)
    records: dict[tuple[Path, int], list[Record]] = field(default_factory=dict)
    python: dict[tuple[Path, int], tuple[str, list[str]]] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    seconds: list[tuple[float, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Keep runs beside the folders of pages."""
        self.kept = KeptRuns(self.folder / "kept")

    def carry_out(self, page: Path, blocks: list[Block]) -> None:
        """Run the commands of a page in order, then its Python blocks."""
        print(f"running {page.relative_to(ROOT)}", file=sys.stderr, flush=True)
        shell = Shell(self.folder / page.relative_to(ROOT).as_posix().replace("/", "-"), self.data, self.kept)
        shell.prepare()
        whole = self.carry_out_commands(page, shell, blocks)
        self.seconds += [(record.seconds, record.command) for record in shell.log]
        if whole:
            self.carry_out_python(page, shell, blocks)

    def carry_out_commands(self, page: Path, shell: Shell, blocks: list[Block]) -> bool:
        """Run the commands of a page in order; return whether its Python blocks may be run after them."""
        whole = True
        for block in blocks:
            if self.quick and "slow" in block.markers:
                return False
            if block.needs_data and self.data is None:
                whole = False
            elif block.made:
                try:
                    self.records[page, block.line] = self.run_block(shell, block)
                except RenewalError as error:
                    self.faults.append(f"{page.relative_to(ROOT)}:{block.line}: {error}")
                    return False
        return whole or stand_alone(printing(blocks))

    def run_block(self, shell: Shell, block: Block) -> list[Record]:
        """Run the commands of one block."""
        shell.bring([name.strip() for name in block.first("data").split(",") if name.strip()])
        for command in block.markers.get("first", []):
            shell.run(command)
        left_out = [words.strip() for words in block.first("not run").split(",") if words.strip()]
        found = []
        for step in block.steps:
            if any(words in step.command for words in left_out):
                found.append(Record(step.command, step.output, shell.scratch))
            else:
                found.append(shell.run(step.command, errors="with errors" in block.markers))
        if name := block.first("run"):
            shows = [record for record, step in zip(found, block.steps, strict=True) if step.output.strip()]
            self.runs[name] = next(record for record in shows if record.command.startswith("accordant"))
        return found

    def carry_out_python(self, page: Path, shell: Shell, blocks: list[Block]) -> None:
        """Run the Python blocks whose printed output the page shows, and those before them."""
        chosen = printing(blocks)
        if not chosen:
            return
        try:
            results = run_python(shell, chosen)
        except RenewalError as error:
            self.faults.append(f"{page.relative_to(ROOT)}: {error}")
            return
        self.seconds.append((shell.log[-1].seconds, f"Python blocks of {page.relative_to(ROOT)}"))
        for block, result in zip(chosen, results, strict=True):
            self.python[page, block.line] = result

    def renewed(self, page: Path, text: str) -> str:
        """Return the text of a page with what its commands print now."""
        latest: list[str] = []  # what the last Python block printed

        def block(match: re.Match[str]) -> str:
            found = block_of(match)
            body = found.body
            if (page, found.line) in self.python:
                printed, comments = self.python[page, found.line]
                latest[:] = [printed]
                rest = iter(comments)
                body = PRINT.sub(lambda each: each["call"] + next(rest), body)
            elif found.first("output of") == "python" and latest:
                body = self.part(page, found, latest[0], body)
            elif (page, found.line) in self.records:
                body = self.console(page, found, self.records[page, found.line])
            return match[0].replace(f"\n{match['body']}```", f"\n{body}```") if body != match["body"] else match[0]

        text = BLOCK.sub(block, text)
        return VALUE.sub(lambda match: self.value(page, match), text)

    def part(self, page: Path, block: Block, printed: str, old: str) -> str:
        """Return what a block shows of an output, or what it shows now if that cannot be found any more."""
        try:
            new = excerpt(printed, block.first("lines"), block.first("columns"))
        except LookupError as error:
            self.faults.append(f"{page.relative_to(ROOT)}:{block.line}: {error.args[0]}; printed was\n{printed}")
            return old
        return old if settled(new) == settled(old) else new

    def console(self, page: Path, block: Block, records: list[Record]) -> str:
        """Return a console block with new outputs; a command without output keeps none."""
        lines = []
        for step, record in zip(block.steps, records, strict=True):
            if block.language == "console":
                lines.append(f"$ {step.command}\n")
            same = not step.output.strip() or record.text is step.output
            lines.append(step.output if same else self.part(page, self.cut(block, step), record.text, step.output))
        return "".join(lines)

    def cut(self, block: Block, step: Step) -> Block:
        """Return the block, without its selection for commands that are shown in full: only one has lines left out."""
        main = max(block.steps, key=lambda each: len(each.output))
        if step is main or step == main:
            return block
        return Block(block.language, block.info, block.body, block.line, {})

    def names(self) -> dict[str, object]:
        """Return what expressions may use."""
        functions = (abs, all, any, int, len, max, min, round)
        return {**self.runs, "code": "`{}`".format, "__builtins__": {each.__name__: each for each in functions}}

    def value(self, page: Path, match: re.Match[str]) -> str:
        """Return a quoted figure with its comments; figures of runs that were not carried out stay as they are."""
        where = f"{page.relative_to(ROOT)}:{match.string.count(chr(10), 0, match.start()) + 1}"
        try:
            new = shown(eval(match["expression"], self.names()), match["text"])  # noqa: S307 - our own pages
        except NameError:
            new = match["text"]
        except (LookupError, ValueError, TypeError, AttributeError) as error:
            self.faults.append(f"{where}: {match['expression']}: {error}")
            new = match["text"]
        return f"{match['before']}{new}{match['after']}"

    def judge(self, page: Path, text: str) -> None:
        """Note statements of a page that hold no longer."""
        for match in HOLDS.finditer(text):
            where = f"{page.relative_to(ROOT)}:{text.count(chr(10), 0, match.start()) + 1}"
            try:
                true = eval(match["expression"], self.names())  # noqa: S307 - our own pages
            except NameError:
                continue
            except (LookupError, ValueError, TypeError, AttributeError) as error:
                true = False
                where += f": {error}"
            if not true:
                self.faults.append(f"{where}: holds no longer, rewrite the sentence: {match['expression']}")


def named_elsewhere(expressions: set[str], pages: dict[Path, str]) -> set[str]:
    """Return the names of runs that some page declares and that these expressions use."""
    declared = {block.first("run") for text in pages.values() for block in blocks_of(text)} - {""}
    used = {name for expression in expressions for name in re.findall(r"\b[a-z_]\w*\b", expression)}
    return declared & used


def unknown_names(pages: dict[Path, str]) -> list[str]:
    """Return expressions whose run no page declares."""
    return [
        f"{page.relative_to(ROOT)}: no page declares the run of {match['expression']!r}"
        for page, text in pages.items()
        for match in [*VALUE.finditer(text), *HOLDS.finditer(text)]
        if not named_elsewhere({match["expression"]}, pages)
    ]


def main(arguments: list[str] | None = None) -> int:
    """Renew or compare the pages."""
    parser = argparse.ArgumentParser(prog="python -m docs.renewal", description=__doc__)
    parser.add_argument("pages", nargs="*", type=Path, help="pages to renew; all without it")
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    parser.add_argument("--quick", action="store_true", help="leave out blocks marked slow")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="pages side by side; one per core without it")
    parser.add_argument("--times", action="store_true", help="say how long each command took")
    options = parser.parse_args(arguments)
    data = os.environ.get("ACCORDANT_DATA")
    texts = {page: page.read_text(encoding="utf-8") for page in documents()}
    wanted = [page.resolve() for page in options.pages] or list(texts)
    expressions = {
        match["expression"] for page in wanted for match in [*VALUE.finditer(texts[page]), *HOLDS.finditer(texts[page])]
    }
    with tempfile.TemporaryDirectory() as folder:
        renewal = Renewal(Path(folder), Path(data).resolve() if data else None, options.quick)
        blocks = {page: blocks_of(text) for page, text in texts.items()}
        named = named_elsewhere(expressions, texts)
        needed = [page for page in texts if page in wanted or {each.first("run") for each in blocks[page]} & named]
        needed.sort(key=lambda page: -sum("slow" in block.markers for block in blocks[page]))  # the last ones are short
        with ThreadPoolExecutor(options.jobs) as pool:  # a page has a folder of its own, and its commands are processes
            list(pool.map(lambda page: renewal.carry_out(page, blocks[page]), needed))
        faults = [*unknown_names(texts), *(each for page in wanted for each in unmarked(page))]
        changed = {page: new for page in wanted if (new := renewal.renewed(page, texts[page])) != texts[page]}
        for page in wanted:
            renewal.judge(page, texts[page])
        faults += sorted(renewal.faults)
    for page, new in changed.items():
        name = str(page.relative_to(ROOT))
        if options.check:
            lines = texts[page].splitlines(keepends=True), new.splitlines(keepends=True)
            sys.stdout.writelines(difflib.unified_diff(*lines, name, f"{name} (made now)"))
        else:
            page.write_text(new, encoding="utf-8")
            print(f"renewed {name}")
    for fault in faults:
        print(fault)
    if options.times:
        for seconds, command in sorted(renewal.seconds, reverse=True):
            print(f"{seconds:7.1f} s  {command}", file=sys.stderr)
    if options.check and changed:
        print("\nrun `make docs-figures` and reread the sentences around what changed")
    return 1 if faults or (options.check and changed) else 0


if __name__ == "__main__":
    sys.exit(main())
