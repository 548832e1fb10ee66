"""The public face stays exact, and importing it stays light."""

from __future__ import annotations

import pytest
import subprocess
import sys

import accordant as ac

HEAVY = ("sklearn", "matplotlib", "pandas", "scipy", "joblib", "skops")


def test_everything_exported_is_there_and_sorted():
    assert list(ac.__all__) == sorted(ac.__all__, key=lambda name: (name.islower(), name))
    for name in ac.__all__:
        assert getattr(ac, name) is not None


def test_the_face_of_the_design():
    expected = ac.ExpectedRewards(
        [[0.7, 0.5, 0.3], [0.4, 0.6, 0.5], [0.6, 0.55, 0.35]], stakeholders=["i", "j", "k"], actions=["a", "b", "c"]
    )
    assert ac.strategies.kalai_smorodinsky(expected).actions.tolist() == ["b"]
    assert ac.ParticipatoryPolicy.__name__ == "ParticipatoryPolicy"


@pytest.mark.long
def test_importing_is_light():
    for code in ("import accordant", "import accordant.cli.app", "import accordant; accordant.strategies.names()"):
        shown = subprocess.run(
            [sys.executable, "-c", f"import sys; {code}; print(*(name for name in {HEAVY} if name in sys.modules))"],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert shown.stdout.strip() == "", code


@pytest.mark.long
def test_reading_a_record_and_making_its_page_takes_no_models():
    code = "import sys, accordant.runs.folder; print({'sklearn', 'scipy', 'skops', 'joblib'} & set(sys.modules))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "set()"
