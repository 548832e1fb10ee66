"""Lay the pages of the site out and build it: ``python -m docs.site [FOLDER]``, ``docs/_build`` without FOLDER.

The pages of the repository link each other as files, so that they can be read where they stand. ``docs/README.md`` says
their order: its sections become the parts of the site, its lists their navigation.
"""
# ruff: noqa: T201 - a command: it prints

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from docs.site import reference

ROOT = Path(__file__).parent.parent.parent
DOCS = ROOT / "docs"
FENCED = re.compile(r"(^ *```.*?^ *```[^\n]*$|``[^\n]+?``|`[^`\n]+`)", re.MULTILINE | re.DOTALL)
COMMENT = re.compile(rf"{FENCED.pattern}|^<!-- [^\n]*? -->\n|<!-- [^\n]*? -->", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?://|mailto:|#)(?P<file>[^)\s#]+)(?P<anchor>#[^)\s]*)?\)")
WHOLE_LINK = re.compile(r"\[(?P<text>[^\]]+)\]\((?P<file>[\w./-]+)\)")
PARTS = {
    "How to": "how-to/index.md",
    "Methods": "methods/index.md",
    "Reference": "reference/index.md",
    "Decisions": "decisions/index.md",
    "For whoever carries on": "project/index.md",
}
LAST = list(PARTS)[-1]
ANCHORS = {"#" + heading.lower().replace(" ", "-"): page for heading, page in PARTS.items()}
PLACES = {
    "README.md": "overview.md",
    "docs/README.md": "index.md",
    "ARCHITECTURE.md": "project/architecture.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "CHANGELOG.md": "project/changes.md",
    "examples/story/README.md": "story.md",
}


class Site:
    """The pages of the site as text, and the files that they link."""

    def __init__(self) -> None:
        self.pages: dict[str, str] = {}
        self.files: dict[str, Path] = {}

    def place_of(self, file: Path) -> str:
        """Return where a file of the repository stands in the site; what is no page is brought along."""
        name = file.relative_to(ROOT).as_posix()
        if name in PLACES:
            return PLACES[name]
        if file.is_dir():
            return f"{file.relative_to(DOCS).as_posix()}/index.md"
        if file.is_relative_to(DOCS) and file.suffix == ".md":
            return file.relative_to(DOCS).as_posix()
        self.files[f"files/{name}"] = file
        return f"files/{name}"

    def moved(self, text: str, folder: Path, page: str) -> str:
        """Return text without comments, its links as seen from a page of the site."""

        def link(match: re.Match[str]) -> str:
            target, anchor = self.place_of((folder / match["file"]).resolve()), match["anchor"] or ""
            if target == "index.md" and anchor in ANCHORS:
                target, anchor = ANCHORS[anchor], ""
            return f"]({os.path.relpath(target, Path(page).parent)}{anchor})"

        def plain(match: re.Match[str]) -> str:
            file = (folder / match["file"]).resolve()
            return match["text"] if file.is_dir() and not file.is_relative_to(DOCS) else match[0]  # no page shows it

        text = WHOLE_LINK.sub(plain, text)
        pieces = FENCED.split(COMMENT.sub(lambda match: match[1] or "", text))
        return "".join(LINK.sub(link, piece) if k % 2 == 0 else piece for k, piece in enumerate(pieces))

    def bring(self, file: Path) -> None:
        """Bring a page of the repository along."""
        page = self.place_of(file)
        self.pages[page] = self.moved(file.read_text(encoding="utf-8"), file.parent, page)

    def part(self, heading: str, text: str) -> None:
        """Make the first page of a part, with its pages in the navigation, grouped as the text groups them."""
        page, trees = PARTS[heading], []
        text = self.moved(text, DOCS, page)
        for group in re.split(r"^### ", text, flags=re.MULTILINE):
            linked = [file for file in re.findall(r"\]\(([^)#]+\.md)\)", group) if ".." not in file]
            caption = group.partition("\n")[0] if group is not text and not text.startswith(group) else ""
            if linked:
                trees.append(reference.toctree("\n".join(dict.fromkeys(linked)), caption))
        self.pages[page] = "\n".join([f"# {heading}\n", text.replace("\n### ", "\n## "), *trees])


def site() -> Site:
    """Return the whole site: the pages of the repository in the order of ``docs/README.md``, and those made."""
    found = Site()
    for file in [*map(ROOT.joinpath, PLACES), *sorted(DOCS.glob("*.md")), *sorted(DOCS.glob("[!_]*/*.md"))]:
        found.bring(file)
    found.pages.update(reference.pages())
    start, *rest = re.split(r"^## ", (DOCS / "README.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    parts = {heading: text for heading, _, text in (each.partition("\n") for each in rest)}
    about = {heading: parts[heading].strip().partition("\n")[0] for heading in PARTS}
    for heading in PARTS:
        found.part(heading, parts.pop(heading))
    marking = "Change what a page prints"
    found.pages[PARTS[LAST]] += f"\n## {marking}\n" + found.moved(parts.pop(marking), DOCS, PARTS[LAST])
    found.pages["reference/index.md"] += "\n" + reference.index()
    found.pages["reference/registries.md"] += "\n" + reference.registry_table()
    front = "## ".join(re.split(r"^## ", (ROOT / "README.md").read_text(encoding="utf-8"), flags=re.MULTILINE)[:2])
    begin = start.partition("\n")[2].strip() + "\n\n"
    links = [f"- [{heading}]({page}): {about[heading]}" for heading, page in PARTS.items()]
    tree = [
        "Story <story>",
        "Tutorial <tutorial>",
        "Overview <overview>",
        *list(PARTS.values())[:-1],
        f"Project <{PARTS[LAST]}>",
    ]
    found.pages["index.md"] = "\n".join(
        [
            found.moved(front, ROOT, "index.md"),
            "## Where to go\n",
            found.moved(begin, DOCS, "index.md"),
            *links,
            "",
            *(f"## {heading}\n{found.moved(text, DOCS, 'index.md')}" for heading, text in parts.items()),
            reference.toctree("\n".join(tree)),
        ]
    )
    return found


def lay_out(folder: Path) -> Site:
    """Write the sources of the site; what did not change keeps its time, what is no longer there goes."""
    found = site()
    contents = {name: text.encode() for name, text in found.pages.items()}
    contents |= {name: file.read_bytes() for name, file in found.files.items()}
    for old in [file for file in folder.rglob("*") if file.is_file()]:
        if old.relative_to(folder).as_posix() not in contents:
            old.unlink()
    for name, content in contents.items():
        file = folder / name
        if not file.is_file() or file.read_bytes() != content:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
    return found


def main(arguments: list[str]) -> int:
    """Build the site and say where it begins."""
    from sphinx.cmd.build import build_main

    folder = Path(arguments[0] if arguments else DOCS / "_build").resolve()
    found = lay_out(folder / "source")
    options = ["-q", "-W", "--fresh-env", "--write-all", "--keep-going", "-b", "html", "-c", str(DOCS / "site")]
    code = build_main([*options, "-d", str(folder / "doctrees"), str(folder / "source"), str(folder / "html")])
    if code == 0:
        print(f"{len(found.pages)} pages: {folder / 'html' / 'index.html'}")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
