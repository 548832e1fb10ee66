"""The documentation holds: links resolve, commands and options exist, references are complete, Python blocks run."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

from accordant.cases import spec
from accordant.cli.app import app
from accordant.problem import ContinuousOutcome, DecisionProblem, SensitiveAttribute, Stakeholder
from accordant.scope import ScopeCard
from docs.renewal.pages import blocks_of, documents, printing, stand_alone
from docs.renewal.runs import STRICT

ROOT = Path(__file__).parent.parent
WRITTEN = [page for page in sorted((ROOT / "docs").rglob("*.md")) if "_build" not in page.parts]
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *WRITTEN]
FENCE = re.compile(r"^```(\w*)([^\n]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def label(path):
    return str(path.relative_to(ROOT))


def anchors(text):
    """Return the anchors that GitHub makes of a page's headings."""
    headings = re.findall(r"^#+ (.+)$", FENCE.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=label)
def test_links_resolve(page):
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if target.startswith(("http://", "https://")):
            continue
        file, _, anchor = target.partition("#")
        linked = (page.parent / file).resolve() if file else page
        assert linked.exists(), target
        if anchor:
            assert anchor in anchors(linked.read_text(encoding="utf-8")), target


def test_every_page_is_reached_from_the_index():
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    for page in WRITTEN:
        if page.name != "README.md":
            assert f"({page.relative_to(ROOT / 'docs').as_posix()})" in index, page


def commands_of_the_cli():
    """Return command → its options."""
    import typer

    group = typer.main.get_command(app)
    return {
        name: {option for each in command.params for option in (*each.opts, *each.secondary_opts)}
        for name, command in group.commands.items()
    }


def mentioned_commands():
    for page in PAGES:
        text = page.read_text(encoding="utf-8").replace("-->", "#")
        for line in re.findall(r"accordant [a-z]+(?: [^`\n|]*)?", text):
            words = line.split("#")[0].split()
            yield label(page), words[1], [word for word in words if word.startswith("--")]


def test_commands_and_options_exist():
    known, found = commands_of_the_cli(), set()
    for page, command, options in mentioned_commands():
        if command in known:
            found.add(command)
            for option in options:
                assert option.rstrip(".,;:)") in known[command], f"{page}: accordant {command} {option}"
    assert found == set(known)  # and every command is documented
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for command in re.findall(r"[`$] ?accordant (\w[\w-]*)", readme):
        assert command in known, command


def test_make_targets_in_the_readme_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(
        r"make (demo|test|bench|lint|long|docs)", (ROOT / "README.md").read_text(encoding="utf-8")
    ):
        assert f"\n{target}:" in makefile


@pytest.mark.parametrize(
    "declared",
    [
        spec.CaseSpec,
        spec.DataSpec,
        spec.ModelSpec,
        spec.LearningSpec,
        spec.MetricSpec,
        spec.EvaluationSpec,
        spec.StrategySpec,
        spec.GroupSpec,
        DecisionProblem,
        Stakeholder,
        SensitiveAttribute,
        ContinuousOutcome,
        ScopeCard,
    ],
    ids=lambda each: each.__name__,
)
def test_case_file_page_names_every_key(declared):
    text = (ROOT / "docs" / "reference" / "case-file.md").read_text(encoding="utf-8")
    words = set(re.findall(r"\w+", text))
    assert set(declared.valid_keys()) <= words


def python_blocks():
    """Yield the Python of each page, but where `docs.renewal` carries it out, as strictly, to compare what it prints."""
    made = set(documents())
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        if page in made and stand_alone(printing(blocks_of(text))):
            continue
        blocks = [body for language, rest, body in FENCE.findall(text) if language == "python" and "notest" not in rest]
        if blocks:
            yield pytest.param("\n".join(blocks), id=label(page))


@pytest.mark.long
@pytest.mark.parametrize("code", list(python_blocks()))
def test_python_blocks_run(code, tmp_path):
    file = tmp_path / "page.py"  # a process of its own: pages register strategies, metrics and rewards
    file.write_text("from __future__ import annotations\n" + code, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, *STRICT, str(file)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr


def test_words_that_are_never_written():
    for page in PAGES:
        assert not re.search(r"\b(is|are) fair\b", page.read_text(encoding="utf-8")), label(page)


def test_picture_is_drawn_from_a_record():
    module = importlib.util.spec_from_file_location("picture", ROOT / "docs" / "pictures" / "leaderboard.py")
    picture = importlib.util.module_from_spec(module)
    module.loader.exec_module(picture)
    score = {"value": 0.5, "low": 0.25, "high": 1.5}
    row = {"strategy": "a <rule>", "kind": "compromise", "candidate": True, "score": score, "among_best": True}
    oracle = row | {"strategy": "oracle", "kind": "reference", "candidate": False, "among_best": None}
    test = {"n": 10, "level": 0.95, "resamples": 100, "leaderboard": [row, oracle]}
    content = {"case": {"title": "T"}, "data": {"simulated": True}, "selected": "a <rule>", "test": test}
    drawn = picture.draw(content)
    assert "a &lt;rule&gt;" in drawn and "oracle" not in drawn and 'class="ring"' in drawn
    assert picture.x_of(1.5) == picture.x_of(1.0)  # an interval that leaves the scale is cut at its edge
