"""Commands of wings, and commands that others bring: one that is broken takes none of the others away."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from accordant.cli.app import WINGS, app

OWN = """
def mine():
    "A command of somebody else."
    print("mine")

def run():
    print("not the real one")

COMMANDS = (mine,)
"""


@pytest.fixture
def plugin(tmp_path):
    """Install a distribution with one entry point; its value is the argument."""
    (tmp_path / "third.py").write_text(OWN, encoding="utf-8")

    def install(value):
        info = tmp_path / "third-1.0.dist-info"
        info.mkdir(exist_ok=True)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: third\nVersion: 1.0\n", encoding="utf-8")
        (info / "entry_points.txt").write_text(f"[accordant.commands]\nthird = {value}\n", encoding="utf-8")

    def ask(*words):
        return subprocess.run(
            [sys.executable, "-c", "from accordant.cli.app import main; main()", *words], capture_output=True, text=True, check=False,
            env=os.environ | {"PYTHONPATH": str(tmp_path)},
        )  # fmt: skip

    return install, ask


def test_wings_bring_their_commands():
    names = {each.callback.__name__ for each in app.registered_commands}
    assert len(WINGS) == 4
    assert {"preferences", "elicit", "deliberate", "slate", "monitor", "run"} <= names


@pytest.mark.long
def test_a_function_or_a_tuple_of_them_is_added(plugin):
    install, ask = plugin
    for value in ("third:mine", "third:COMMANDS"):
        install(value)
        done = ask("mine")
        assert (done.returncode, done.stdout, done.stderr) == (0, "mine\n", "")


@pytest.mark.long
@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("missing_module:run", "No module named 'missing_module'"),
        ("third:run", "there is a command 'run' already"),
        ("third:OWN", "no attribute 'OWN'"),
    ],
)
def test_one_that_is_broken_is_told_and_left_out(plugin, value, why):
    install, ask = plugin
    install(value)
    done = ask("metrics", "--json")
    assert done.returncode == 0 and done.stdout.startswith("[")
    assert "the command 'third' of" in done.stderr and why in done.stderr
    assert "not the real one" not in ask("run").stdout
