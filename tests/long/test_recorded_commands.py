"""What commands print as JSON and write as pages, compared number by number with what was recorded.

Every capability is here once, with fixed seeds and without real data, so that a change of structure that changes a
result is seen. Where a change is meant, record anew and read the difference:

    ACCORDANT_RECORD=1 python -m pytest -m long tests/long/test_recorded_commands.py

A key that was renamed stands in `RENAMED`, old → new; recorded files keep the old one. A key that came later stands in
`ADDED`; recorded files may be without it.

Of a page, the text is recorded that a reader sees, a line for each block, and each element of a drawing with its class
and its coordinates. Of long pages only the sections in `PAGES` are.
"""

from __future__ import annotations

import json
import math
import os
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from typer.testing import CliRunner

from accordant.cli.app import app

EXAMPLES = Path(__file__).parents[2] / "examples"
RECORDED = Path(__file__).parent / "recorded_commands"
RENAMED: dict[str, str] = {}
ADDED = {"unusual", "referred", "fall_back"}
# differ between two runs of one command: times, memory, places, versions and what is hashed with them
PASSING = {
    "cpu_seconds", "created", "finished", "file", "hash", "hashes", "inputs", "manifest_sha256", "path", "paths", "peak_rss_mb", "python", "report",
    "run", "seconds", "sha256", "started", "version", "versions",
}  # fmt: skip
SMALL = ("--folds", "3", "--resamples", "100", "--json")
COMMANDS = {
    "run-lending": ("run", "lending", "--rows", "400", *SMALL, "--seed", "1", "--out", "loans"),
    "run-health": ("run", "health", "--rows", "160", *SMALL, "--seed", "2", "--out", "health"),
    "run-tutoring": ("run", "education-tutoring", "--rows", "300", *SMALL, "--seed", "3", "--out", "tutoring"),
    "run-comparisons": ("run", f"{EXAMPLES}/from_comparisons/tutoring.yaml", *SMALL, "--out", "comparisons"),
    "run-own-case": ("run", f"{EXAMPLES}/own_case/apprenticeships.yaml", *SMALL, "--out", "own"),
    "simulate": ("simulate", "lending", "--rows", "50", "--seed", "5", "--json"),
    "recommend": ("recommend", "loans", "new.csv", "--out", "decided.csv", "--json"),
    "certify": ("certify", "loans", "new.csv", "--out", "certified.csv", "--json"),
    "explain": ("explain", "loans", "new.csv", "--row", "3", "--json", "--out", "explained.html"),
    "vote-rankings": ("vote", f"{EXAMPLES}/election/lunch.soi", "--json"),
    "preferences": (
        "preferences",
        f"{EXAMPLES}/preferences/choices.csv",
        "--method",
        "random_effects",
        "--resamples",
        "100",
        "--json",
        "--out",
        "preferences",
    ),
    "elicit": ("elicit", "lending", "--stakeholder", "Applicant", "--seed", "4", "--out", "answers.csv", "--json"),
    "deliberate": (
        "deliberate",
        "triage",
        "--agents",
        "rawlsian,biased",
        "--settle",
        "bargain",
        "--json",
        "--out",
        "deliberated",
    ),
    "deliberate-repeated": (
        "deliberate",
        "triage-random",
        "--agents",
        "rawlsian,biased",
        "--repeat",
        "60",
        "--json",
        "--out",
        "repeated",
    ),
    "slate-city": ("slate", "tourism-city", "--k", "4", "--requests", "60", "--resamples", "100", "--json"),
    "slate-own": ("slate", f"{EXAMPLES}/own_slates/library.yaml", "--resamples", "100", "--json"),
    "axioms": ("strategies", "--axioms", "--json"),
    "strategies": ("strategies", "--json"),
    "metrics": ("metrics", "--json"),
}
ANSWERS = {"elicit": "1\n2\n1\n=\n1\nq\n"}
FIRST = {"recommend", "certify", "explain"}  # need the run of lending, and new rows
# file that a command writes, and the sections of it that are recorded; all if none is named
PAGES: dict[str, tuple[str, set[str]]] = {
    "run-comparisons": ("comparisons/report.html", set()),
    "run-lending": ("loans/report.html", {"answer", "conflict", "models"}),
    "explain": ("explained.html", set()),
    "preferences": ("preferences/report.html", set()),
    "deliberate": ("deliberated/report.html", set()),
    "deliberate-repeated": ("repeated/report.html", set()),
    "slate-own": ("accordant-runs/own-library-slates-1/report.html", set()),
    "slate-city": ("accordant-runs/tourism-city-slates-1/report.html", {"load", "objectives"}),
}
BLOCKS = {
    "article", "caption", "dd", "div", "dl", "dt", "figcaption", "figure", "footer", "h1", "h2", "h3", "h4", "h5", "h6", "header",
    "li", "ol", "p", "pre", "section", "summary", "table", "tbody", "thead", "tr", "ul",
}  # fmt: skip
SHAPE = (
    "x", "y", "x1", "y1", "x2", "y2", "cx", "cy", "r", "width", "height", "points", "transform", "viewBox",
    "text-anchor",
)  # fmt: skip
LAYOUT = {
    "finding", "group", "group-head", "metric", "notes", "number", "prose", "span", "standing", "strategy",
    "strip-cell", "strip-head", "word",
}  # fmt: skip
NUMBER = re.compile(r"[-−]?(?:\d+\.?\d*|\.\d+)")
PASSING_WORDS = re.compile(r"\b[0-9a-f]{12,64}\b|\b\d+\.\d+\.\d+\w*|\d[\d.]* s, \d[\d.]* s of processor time")


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """Return what a command prints, carried out once, after those whose files it reads."""
    folder, done = tmp_path_factory.mktemp("recorded"), {}

    def of(name):
        if name in done:
            return done[name]
        if name in FIRST:
            of("run-lending")
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(folder)
            patch.delenv("ACCORDANT_DATA", raising=False)
            patch.setenv("ACCORDANT_CACHE", str(folder / "cache"))
            if name in FIRST:
                new = ["simulate", "lending", "--rows", "50", "--seed", "5", "--out", "new.csv"]
                assert CliRunner().invoke(app, new).exit_code == 0
            result = CliRunner().invoke(app, list(COMMANDS[name]), input=ANSWERS.get(name))
        assert result.exit_code == 0, result.output
        done[name] = result.stdout
        return done[name]

    of.folder = folder
    return of


class Page(HTMLParser):
    """Reads a page as lines; an outline that was drawn before stands as its number."""

    def __init__(self, sections):
        super().__init__()
        self.sections, self.section, self.lines, self.parts, self.outlines = sections, None, [], [], {}
        self.drawing = self.small = self.silent = False

    def end_line(self):
        words = PASSING_WORDS.sub("…", re.sub(r"\s+", " ", "".join(self.parts)).strip())
        self.parts = []
        if words and (not self.sections or self.section in self.sections):
            self.lines.append(words)

    def handle_starttag(self, tag, attrs):
        about = dict(attrs)
        if tag == "svg":
            self.drawing, self.small = True, "swatch" in about["class"].split()
        if self.drawing:
            self.drawn(tag, about)
            return
        if tag in BLOCKS:
            self.end_line()
        if tag == "section":
            self.section = about["id"]
        self.silent = self.silent or tag in {"script", "style"}
        self.parts.append({"td": " | ", "th": " | ", "span": " ", "br": " "}.get(tag, ""))
        if tag in {"li", "tbody", "td", "th", "tr"}:
            told = [word for word in about.get("class", "").split() if word not in LAYOUT]
            self.parts += [f"({word}) " for word in told]

    def drawn(self, tag, about):
        if not self.small:
            self.end_line()
        if tag == "g" and not about or self.small and tag == "svg":
            return
        found = ["" if tag == "path" else tag, about.get("class", "")]
        found += [re.sub(r"[a-z]+\((.*?)\)", r"\1", about[key]) for key in SHAPE if key in about and not self.small]
        if outline := about.get("d"):
            known = outline in self.outlines
            number = self.outlines.setdefault(outline, len(self.outlines) + 1)
            found.append(f"#{number}" if known or len(outline) < 12 else f"#{number}={outline}")
        self.parts.append(f"<{' '.join(filter(None, found))}> ")

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag):
        if tag in BLOCKS or self.drawing and not self.small:
            self.end_line()
        self.drawing = self.drawing and tag != "svg"
        self.silent = self.silent and tag not in {"script", "style"}

    def handle_data(self, data):
        if not self.silent:
            self.parts.append(data)


def lines_of(page, sections=()):
    """Return what stands in the body of a page, line by line."""
    reader = Page(sections)
    reader.feed(page[page.index("<body") :].replace(str(EXAMPLES.parent), "…"))
    reader.end_line()
    return reader.lines


def alike(now, then):
    """Return whether two lines say the same; a coordinate may round to another last decimal, the second."""
    if NUMBER.sub("0", now) != NUMBER.sub("0", then):
        return False
    for k, parts in enumerate(zip(*(re.split("(<[^>]*>)", line) for line in (now, then)), strict=True)):
        numbers = ([float(each.replace("−", "-")) for each in NUMBER.findall(part)] for part in parts)
        slack = 0.0101 if k % 2 else 0.0  # every other part is an element with its coordinates
        if not all(math.isclose(*pair, rel_tol=1e-6, abs_tol=slack) for pair in zip(*numbers, strict=True)):
            return False
    return True


def first_difference(now, then):
    """Return in words where two lists of lines part, with what stands before; None if they do not."""
    for k in range(max(len(now), len(then))):
        pair = [lines[k] if k < len(lines) else "(the end)" for lines in (now, then)]
        if not alike(*pair):
            return "\n".join(
                [f"line {k + 1}, after:", *then[max(0, k - 3) : k], f"now:      {pair[0]}", f"recorded: {pair[1]}"]
            )
    return None


def settled(value):
    """Return a value without what differs between two runs."""
    if isinstance(value, dict):
        return {RENAMED.get(key, key): settled(inner) for key, inner in value.items() if key not in PASSING}
    return [settled(inner) for inner in value] if isinstance(value, list) else value


def differences(now, then, where=""):
    """Return where two values differ, numbers by more than rounding."""
    if isinstance(now, dict) and isinstance(then, dict):
        lost = [f"{where}.{key}: missing" for key in then if key not in now]
        more = [f"{where}.{key}: new" for key in now if key not in then and key not in ADDED]
        both = [each for key in then if key in now for each in differences(now[key], then[key], f"{where}.{key}")]
        return lost + more + both
    if isinstance(now, list) and isinstance(then, list):
        if len(now) != len(then):
            return [f"{where}: {len(now)} entries, {len(then)} recorded"]
        return [
            each for k, pair in enumerate(zip(now, then, strict=True)) for each in differences(*pair, f"{where}[{k}]")
        ]
    if isinstance(now, float) and isinstance(then, int | float) and not isinstance(then, bool):
        return [] if math.isclose(now, then, rel_tol=1e-7, abs_tol=1e-9) else [f"{where}: {now}, {then} recorded"]
    return [] if type(now) is type(then) and now == then else [f"{where}: {now!r}, {then!r} recorded"]


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_prints_what_was_recorded(name, printed):
    now, file = settled(json.loads(printed(name))), RECORDED / f"{name}.json"
    if os.environ.get("ACCORDANT_RECORD"):
        RECORDED.mkdir(exist_ok=True)
        file.write_text(json.dumps(now, ensure_ascii=False) + "\n", encoding="utf-8")
    assert differences(now, settled(json.loads(file.read_text(encoding="utf-8")))) == []


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("name", PAGES)
def test_a_command_writes_the_page_that_was_recorded(name, printed):
    printed(name)
    place, sections = PAGES[name]
    now, file = lines_of((printed.folder / place).read_text(encoding="utf-8"), sections), RECORDED / f"{name}.page.txt"
    if os.environ.get("ACCORDANT_RECORD"):
        file.write_text("\n".join(now) + "\n", encoding="utf-8")
    found = first_difference(now, file.read_text(encoding="utf-8").splitlines())
    assert found is None, found


def test_differences_are_seen():
    then = {"a": [1, 2.0, "x"], "b": {"c": None}, "seconds": 3}
    assert differences(settled(then | {"seconds": 4}), settled(then)) == []
    assert differences({"a": [1.0, 2.0 + 1e-12, "x"], "b": {"c": None}}, settled(then)) == []
    for other in ({"a": [1, 2.1, "x"]}, {"a": [1, 2.0]}, {"b": {}}, {"b": {"c": 0}}, {"d": 1}, {"a": [True, 2.0, "x"]}):
        assert differences(settled(then | other), settled(then)), other


def test_a_page_is_read_as_text_and_coordinates():
    drawing = (
        '<svg class="chart"><g><title>A</title><path d="M0 0L1 1H3V4Z" class="mark" transform="translate(2 3) scale(4)"/>'
        '<line x1="1" y1="2.5" x2="3" y2="4" class="axis"/></g><path d="M0 0L1 1H3V4Z"/></svg>'
    )
    swatch = '<svg class="swatch"><circle r="5" class="item"/></svg>'
    page = f"""<head><title>T</title></head><body><style>p</style><h1>Head</h1><section id="a"><p>one
        <b>two</b></p>{drawing}</section><section id="b"><table><tr class="selected"><th class="number">n</th><td>{swatch}
        7</td></tr></table><p>accordant 1.2.3, {"0f" * 32}</p></section></body>"""
    whole = [
        "Head", "one two", "<svg chart>", "<title> A", "<mark 2 3 4 #1=M0 0L1 1H3V4Z>", "<line axis 1 2.5 3 4>", "<#1>",
        "(selected) | n | <circle item> 7", "accordant …, …",
    ]  # fmt: skip
    assert lines_of(page) == whole
    assert lines_of(page, {"a"}) == whole[1:7]
    assert first_difference(whole, whole) is None
    for k, other in (
        (1, "one Two"),
        (4, "<mark 2 3.1 4 #1=M0 0L1 1H3V4Z>"),
        (7, "(selected) | n | <circle item> 7.0001"),
    ):
        assert first_difference([*whole[:k], other, *whole[k + 1 :]], whole).startswith(f"line {k + 1}, after:\n")
    assert first_difference(["<mark 2 3.01 4>", "0.1000000001"], ["<mark 2 3 4>", "0.1"]) is None
    assert first_difference(["<text 2 3> 0.25"], ["<text 2 3> 0.26"]) is not None
    assert first_difference(whole[:-1], whole).endswith("now:      (the end)\nrecorded: accordant …, …")
