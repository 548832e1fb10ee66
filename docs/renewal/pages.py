"""Pages: fenced blocks with the comments above them, the commands of a console block, figures quoted in prose."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
BLOCK = re.compile(
    r"(?P<markers>(?:^<!-- [^\n]* -->\n)*)^```(?P<language>\w*)(?P<info>[^\n]*)\n(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
MARKER = re.compile(r"^<!-- (?P<key>[a-z ]+?)(?:: (?P<value>.*))? -->$", re.MULTILINE)
VALUE = re.compile(r"(?P<before><!-- = (?P<expression>[^\n]+?) -->)(?P<text>[^\n]*?)(?P<after><!-- / -->)")
HOLDS = re.compile(r"<!-- holds: (?P<expression>[^\n]+?) -->")
PRINT = re.compile(r"^(?P<call>print\(.*\)  # )(?P<text>.*)$", re.MULTILINE)
# Figures that take minutes, or other software, are not made here. What makes them stands beside them on the page.
EXEMPT = {
    "docs/how-to/work-on-many-machines.md": {
        "accordant plan town --rows 1e9 --workers 1000 --price 0.04": "durations differ",
    },
    "docs/how-to/watch-decisions-in-use.md": {
        "accordant monitor loans log.jsonl outcomes.csv --out page.html": "three months of decisions",
    },
    "README.md": {
        "python -m benchmarks.certified_cases DATA": "minutes on real data",
        "accordant run lending --data DATA": "three minutes on real data",
        "vvineis/participatory_training": "the code of others, at the commit that is named",
    },
    "docs/how-to/bring-your-own-corpus.md": {
        "pytest -s -k not_indexed tests/agents/retrieval/test_bm25.py": "printed by a test",
    },
    "docs/how-to/bring-your-own-slates.md": {"This prints the table": "minutes on real data, by the Python block"},
    "docs/how-to/elicit-preferences.md": {
        "python -m benchmarks.elicitation": "more than a minute, and it prints seconds",
        "tests/preferences/elicitation/test_posterior.py": "bounds that a test holds",
    },
    "docs/how-to/answer-people.md": {"accordant serve --demo": "addresses are random, and the run is made first"},
    "docs/how-to/deploy.md": {
        "accordant backup ./accordant.db --out monday.jsonl": "roots are of this service",
        "accordant restore monday.jsonl --database postgresql+psycopg://accordant@db/accordant --keys "
        "sqlite:////var/lib/accordant/accordant.keys.db": "roots are of this service",
    },
    "docs/how-to/serve-decisions.md": {
        "accordant serve loans --port 8000": "a server runs until it is stopped",
        "accordant client add shop --database sqlite:///./accordant.db": "each key is another",
        "accordant audit ./accordant.db": "hashes are of this service",
    },
    "docs/how-to/let-agents-rank.md": {"for noise in (0, 0.05, 0.1, 0.2, 0.4)": "minutes, by the Python block"},
}
KEYS = {"run", "first", "lines", "columns", "data", "not run", "by hand", "output of", "slow", "with errors"}


@dataclass(frozen=True)
class Step:
    """One command of a console block and the output that is printed below it."""

    command: str
    output: str


@dataclass(frozen=True)
class Block:
    """One fenced block; `markers` are the comments directly above it, key by key."""

    language: str
    info: str
    body: str
    line: int
    markers: dict[str, list[str]]

    def first(self, key: str, default: str = "") -> str:
        """Return the value of a marker."""
        return self.markers.get(key, [default])[0]

    @property
    def steps(self) -> list[Step]:
        """Commands of a console block with their outputs, or the command that a marker names."""
        named = self.first("output of")
        if named and named != "python":
            return [Step(named, self.body)]
        if self.language != "console":
            return []
        found: list[list[str]] = []
        for line in self.body.splitlines(keepends=True):
            continued = found and found[-1][0].endswith("\\\n") and not found[-1][1]
            if line.startswith("$ "):
                found.append([line[2:], ""])
            elif continued:
                found[-1][0] += line
            elif found:
                found[-1][1] += line
        return [Step(command.rstrip("\n"), output) for command, output in found]

    @property
    def printed(self) -> bool:
        """Whether the block shows what a program printed, as far as one can see."""
        return any(step.output.strip() for step in self.steps) or (self.language in {"", "text"})

    @property
    def made(self) -> bool:
        """Whether commands or Python blocks make it."""
        return "by hand" not in self.markers and any(step.output.strip() for step in self.steps)

    @property
    def needs_data(self) -> bool:
        """Whether it reads files that are not part of the repository."""
        return "data" in self.markers or any(re.search(r"\bDATA\b", step.command) for step in self.steps)


def block_of(match: re.Match[str]) -> Block:
    """Return the block that was matched."""
    markers: dict[str, list[str]] = {}
    for marker in MARKER.finditer(match["markers"]):
        markers.setdefault(marker["key"], []).append(marker["value"] or "")
    line = match.string.count("\n", 0, match.start("language")) + 1
    return Block(match["language"], match["info"].strip(), match["body"], line, markers)


def blocks_of(text: str) -> list[Block]:
    """Return the blocks of a page in order."""
    return [block_of(match) for match in BLOCK.finditer(text)]


def printing(blocks: list[Block]) -> list[Block]:
    """Return the Python blocks of a page that shows what they print; none if it shows nothing."""
    shows = {k for k, block in enumerate(blocks) if block.first("output of") == "python"}
    chosen = [
        block
        for k, block in enumerate(blocks)
        if block.language == "python" and ("notest" not in block.info or k + 1 in shows)
    ]
    return chosen if shows or any(PRINT.search(block.body) for block in chosen) else []


def stand_alone(chosen: list[Block]) -> bool:
    """Whether some Python blocks are tested: they need nothing that the commands of their page wrote."""
    return bool(chosen) and all("notest" not in block.info for block in chosen)


def documents() -> list[Path]:
    """Return the pages whose blocks and figures are made by commands."""
    return [
        ROOT / "README.md",
        ROOT / "docs" / "tutorial.md",
        *sorted((ROOT / "docs" / "how-to").glob("*.md")),
        ROOT / "examples" / "story" / "README.md",
    ]


def unmarked(page: Path) -> list[str]:
    """Return the blocks of a page that show output and say neither what makes them nor why nothing does."""
    name, found, text = page.relative_to(ROOT), list[str](), page.read_text(encoding="utf-8")
    for match in re.finditer(r"^<!-- = |^(?=\S)(?!<!--).*\n<!-- holds", text, re.MULTILINE):
        line = text.count("\n", 0, match.end()) + 1
        found.append(f"{name}:{line}: a comment that begins a line ends the paragraph in Markdown; put it elsewhere")
    for block in blocks_of(text):
        for key in set(block.markers) - KEYS:
            found.append(f"{name}:{block.line}: unknown marker {key!r}; valid: {', '.join(sorted(KEYS))}")
        said = {"by hand", "output of"} & set(block.markers)
        if block.printed and block.language != "console" and not said:
            found.append(f"{name}:{block.line}: write <!-- output of: COMMAND --> or <!-- by hand: REASON --> above it")
        if "by hand" in block.markers and not block.first("by hand"):
            found.append(f"{name}:{block.line}: 'by hand' needs a reason")
        exempt = EXEMPT.get(str(name), {})
        if block.language == "console" and "by hand" in block.markers and block.printed:
            found += [f"{name}:{block.line}: not in EXEMPT" for step in block.steps if step.command not in exempt]
    found += [
        f"{name}: does not name {words!r}, which EXEMPT lists"
        for words in EXEMPT.get(str(name), {})
        if words not in text
    ]
    return found
