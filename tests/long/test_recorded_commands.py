"""What commands print as JSON, compared number by number with what they printed when it was recorded.

Every capability is here once, with fixed seeds and without real data, so that a change of structure that changes a
result is seen. Where a change is meant, record anew and read the difference:

    ACCORDANT_RECORD=1 python -m pytest -m long tests/long/test_recorded_commands.py

A key that was renamed stands in `RENAMED`, old → new; recorded files keep the old one. A key that came later stands in
`ADDED`; recorded files may be without it.
"""

from __future__ import annotations

import json
import math
import os
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
    "cpu_seconds", "created", "finished", "file", "hash", "hashes", "manifest_sha256", "path", "paths", "peak_rss_mb", "python", "report",
    "run", "seconds", "sha256", "started", "version", "versions",
}  # fmt: skip
SMALL = ("--folds", "3", "--resamples", "100", "--json")
COMMANDS = {
    "run-lending": ("run", "lending", "--rows", "400", *SMALL, "--seed", "1", "--out", "lending"),
    "run-health": ("run", "health", "--rows", "160", *SMALL, "--seed", "2", "--out", "health"),
    "run-tutoring": ("run", "education-tutoring", "--rows", "300", *SMALL, "--seed", "3", "--out", "tutoring"),
    "run-comparisons": ("run", f"{EXAMPLES}/from_comparisons/tutoring.yaml", *SMALL, "--out", "comparisons"),
    "run-own-case": ("run", f"{EXAMPLES}/own_case/apprenticeships.yaml", *SMALL, "--out", "own"),
    "simulate": ("simulate", "lending", "--rows", "50", "--seed", "5", "--json"),
    "recommend": ("recommend", "lending", "new.csv", "--out", "decided.csv", "--json"),
    "certify": ("certify", "lending", "new.csv", "--out", "certified.csv", "--json"),
    "explain": ("explain", "lending", "new.csv", "--row", "3", "--json"),
    "vote-rankings": ("vote", f"{EXAMPLES}/election/lunch.soi", "--json"),
    "preferences": (
        "preferences",
        f"{EXAMPLES}/preferences/choices.csv",
        "--method",
        "random_effects",
        "--resamples",
        "100",
        "--json",
    ),
    "elicit": ("elicit", "lending", "--stakeholder", "Applicant", "--seed", "4", "--out", "answers.csv", "--json"),
    "deliberate": ("deliberate", "triage", "--agents", "rawlsian,biased", "--settle", "bargain", "--json"),
    "deliberate-repeated": ("deliberate", "triage-random", "--agents", "rawlsian,biased", "--repeat", "60", "--json"),
    "slate-city": ("slate", "tourism-city", "--k", "4", "--requests", "60", "--resamples", "100", "--json"),
    "slate-own": ("slate", f"{EXAMPLES}/own_slates/library.yaml", "--resamples", "100", "--json"),
    "axioms": ("strategies", "--axioms", "--json"),
    "strategies": ("strategies", "--json"),
    "metrics": ("metrics", "--json"),
}
ANSWERS = {"elicit": "1\n2\n1\n=\n1\nq\n"}
FIRST = {"recommend", "certify", "explain"}  # need the run of lending, and new rows


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

    return of


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


def test_differences_are_seen():
    then = {"a": [1, 2.0, "x"], "b": {"c": None}, "seconds": 3}
    assert differences(settled(then | {"seconds": 4}), settled(then)) == []
    assert differences({"a": [1.0, 2.0 + 1e-12, "x"], "b": {"c": None}}, settled(then)) == []
    for other in ({"a": [1, 2.1, "x"]}, {"a": [1, 2.0]}, {"b": {}}, {"b": {"c": 0}}, {"d": 1}, {"a": [True, 2.0, "x"]}):
        assert differences(settled(then | other), settled(then)), other
