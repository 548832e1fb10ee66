"""Every example runs in a process of its own, with warnings as errors, and prints what its page says."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"
SAYS = {
    "dialogue.py": [
        "status: reconciled (understood, reconciled)",
        "understanding: 1/4 before, 2/4 after",
        "capitulating manager: capitulation, understanding 1",
    ],
    "bring_your_own_rewards.py": ["utilitarian", "Renovate", "kalai_smorodinsky[context]", "Repair"],
    "own_strategy.py": ["mean_less_range[0]", "Early", "tied=True", "MeanLessRange(weights=None, selection='argmax'"],
    "policy_in_python.py": ["only 'Grant' was ever taken", "selected: ", "runner_up"],
}


def test_every_example_is_listed():
    assert {path.name for path in EXAMPLES.glob("*.py")} == set(SAYS)


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(SAYS))
def test_example_runs(name, tmp_path):
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLES / name)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=40,
    )
    assert done.returncode == 0, done.stderr
    for words in SAYS[name]:
        assert words in done.stdout


@pytest.mark.long
def test_own_case_data_are_what_the_script_makes(tmp_path):
    copy = tmp_path / "make_data.py"
    copy.write_text((EXAMPLES / "own_case" / "make_data.py").read_text(encoding="utf-8"), encoding="utf-8")
    subprocess.run([sys.executable, str(copy)], check=True, timeout=40)
    assert (tmp_path / "apprenticeships.csv").read_bytes() == (
        EXAMPLES / "own_case" / "apprenticeships.csv"
    ).read_bytes()


def test_choices_are_what_the_script_makes(tmp_path):
    copy = tmp_path / "make_data.py"
    copy.write_text((EXAMPLES / "preferences" / "make_data.py").read_text(encoding="utf-8"), encoding="utf-8")
    subprocess.run([sys.executable, str(copy)], check=True, timeout=40)
    assert (tmp_path / "choices.csv").read_bytes() == (EXAMPLES / "preferences" / "choices.csv").read_bytes()
