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


def test_whatever_is_public_is_listed_and_there():
    assert set(ac.__all__) | {"learning", "report"} <= set(dir(ac))
    for room in (ac, ac.strategies, ac.runs, ac.slates, ac.preferences, ac.deliberation):
        names = dir(room)
        assert names == sorted(names) and set(room.__all__) <= set(names)
        assert [name for name in names if not hasattr(room, name)] == []


def test_rules_are_completed():
    assert {"maximin", "kalai_smorodinsky", "utilitarian"} <= set(dir(ac.strategies))
    assert "constant" not in dir(ac.strategies)  # it needs to be told which action


def test_a_misspelt_name_is_told_with_the_place_where_to_look():
    with pytest.raises(AttributeError) as raised:
        ac.strategis
    assert (raised.value.name, raised.value.obj) == ("strategis", ac)  # Python names the nearest of `dir` itself


def test_read_run_is_that_of_runs():
    assert ac.read_run is ac.runs.read_run


@pytest.mark.long
def test_reading_a_record_and_making_its_page_takes_no_models():
    code = "import sys, accordant.runs.folder; print({'sklearn', 'scipy', 'skops', 'joblib'} & set(sys.modules))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "set()"
