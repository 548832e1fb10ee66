"""Small worlds and fast policies, shared by the tests of learning, policies, cases and runs."""

from __future__ import annotations

import ast
import gc
import importlib
import os
import resource
import subprocess
import threading
import time
from collections import defaultdict
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import typer.testing
import yaml
from hypothesis import settings, strategies
from numba.core import event
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeRegressor

from accordant.contexts import Contexts, Log
from accordant.learning.causal import TLearner
from accordant.policy import ParticipatoryPolicy
from accordant.problem import DecisionProblem

ACTIONS = ("Grant", "Lower", "Deny")
OUTCOMES = ("Full", "Part", "None")

os.environ.pop("COLUMNS", None)  # how wide a terminal is here is no fact about the code

# a loaded machine is no fault of the code, and a change fails for what it changed: the suite draws the same examples
# each time; HYPOTHESIS_PROFILE=thorough draws others, ten times as many
settings.register_profile("suite", deadline=None, derandomize=True)
settings.register_profile("thorough", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "suite"))

# seconds of a test without the mark `long`, compiling of kernels left out
CPU_LIMIT = 2.0
SLACK = 3.0  # others may have slowed a test, or emptied its caches, more than the work that is timed after it
QUIET = 0.12  # seconds of the work in `slowness` where nothing else runs: a slower machine gets more for every test
LONG = Path(__file__).parent / "long"
OBJECTS = 50_000  # new ones before the youngest are looked through; compiling kernels makes millions


def cpu_seconds():
    """Return the CPU time of this process and of those that it waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


@pytest.hookimpl(tryfirst=True)  # before ``-m`` looks for marks
def pytest_collection_modifyitems(items):
    """Mark everything below tests/long as long, and all but a few cases of a test that is marked `few`."""
    cases = defaultdict(list)
    below = cache(lambda path: LONG in path.parents)  # asked of each file once, not of each of its tests
    for item in items:
        few = item.get_closest_marker("few")
        if below(item.path):
            item.add_marker(pytest.mark.long)
        elif few is not None:
            cases[item.nodeid.partition("[")[0], few.args[0]].append(item)
    for (_, n), every in cases.items():
        kept = np.linspace(0, len(every) - 1, n).round()  # spread over the parameters
        for place in set(range(len(every))).difference(kept.astype(int).tolist()):
            every[place].add_marker(pytest.mark.long)


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Collect no garbage while tests are collected, leave them out of it afterwards, and then collect seldom."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.set_threshold(OBJECTS)
        gc.enable()


@pytest.fixture(scope="session", autouse=True)
def characters():
    """Their table, which is made in a fresh checkout and takes 1.6 s: no test should pay for it."""
    strategies.text().validate()


@pytest.fixture(scope="session", autouse=True)
def commands():
    """All commands are made of their functions once, not again for each that a test runs: 0.1 s."""
    make = typer.main.get_command
    made = cache(lambda app, *_: make(app))

    def get_command(app):
        return made(app, *app.registered_commands)  # anew where a test adds some

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typer.main, "get_command", get_command)
        patch.setattr(typer.testing, "_get_command", get_command)
        yield


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Fail a test that is not marked `long` and takes more than `CPU_LIMIT`."""
    compiled = []  # seconds, told when the timer ends
    before = cpu_seconds()
    with event.install_timer("numba:compile", compiled.append):
        result = yield
    spent = cpu_seconds() - before - sum(compiled)
    if spent > CPU_LIMIT and item.get_closest_marker("long") is None:
        factor = slowness()
        allowed = CPU_LIMIT * (SLACK * factor if factor > 1 else 1.0)
        if spent > allowed:
            pytest.fail(f"{spent:.1f} CPU seconds; allowed: {allowed:.1f}, or the mark `long`", pytrace=False)
    return result


def slowness():
    """Return how much longer than on a quiet machine, at least, some work takes now: others may be using its cores."""
    start = time.process_time()
    sum(k * k % 7 for k in range(400_000))
    table = np.random.default_rng(0).random((300, 3000))
    for _ in range(6):
        np.sort(table, axis=1)
        table @ table.T
    return (time.process_time() - start) / QUIET


def bank(contexts, action, outcome):
    """Reward of a bank: right decisions, more so for large amounts."""
    value = 0.9 if (action, outcome) in (("Grant", "Full"), ("Lower", "Part"), ("Deny", "None")) else 0.2
    return np.clip(value + 0.05 * np.tanh(contexts["amount"]), 0.0, 1.0)


def applicant(contexts, action, outcome):
    """Reward of an applicant: a loan, whatever follows."""
    return {"Grant": 1.0, "Lower": 0.6, "Deny": 0.1}[action] * (0.8 if outcome == "None" else 1.0)


def parent(contexts, action, outcome):
    """Reward that grows with the score."""
    return np.clip(np.asarray(outcome, dtype=float) / 12, 0.0, 1.0)


def payer(contexts, action, outcome):
    """Reward that also counts the cost of visits."""
    return np.clip(np.asarray(outcome, dtype=float) / 15, 0.0, 1.0) * (0.7 if action == "A" else 1.0)


class Loans:
    """A discrete problem with three actions: columns, actions, outcomes, and two stated rewards."""

    def __init__(self, n=120, seed=0, only=None):
        generator = np.random.default_rng(seed)
        self.problem = DecisionProblem(
            stakeholders=["Bank", "Applicant"],
            actions=ACTIONS,
            outcomes=OUTCOMES,
            favourable_actions=["Grant", "Lower"],
            favourable_outcomes=["Full"],
            outcome_to_action=dict(zip(OUTCOMES, ACTIONS, strict=True)),
            sensitive_attributes=["sex"],
        )
        self.columns = {
            "income": generator.normal(size=n),
            "amount": generator.normal(size=n),
            "region": np.array(["north", "south"])[generator.integers(0, 2, n)],
            "sex": np.array(["f", "m"])[generator.integers(0, 2, n)],
        }
        drawn = generator.integers(0, 3, n)
        self.actions = np.array(ACTIONS)[drawn] if only is None else np.full(n, only)
        score = self.columns["income"] + generator.normal(size=n) - 0.3 * (drawn if only is None else 0)
        self.outcomes = np.array(OUTCOMES)[np.digitize(-score, [0.0, 0.6])]
        self.rewards = {"Bank": bank, "Applicant": applicant}

    @property
    def contexts(self):
        return Contexts(self.columns)

    @property
    def log(self):
        return Log(self.contexts, self.problem.action_codes(self.actions), self.problem.outcome_codes(self.outcomes))

    @property
    def data(self):
        return {"actions": self.actions, "outcomes": self.outcomes}

    def policy(self, **changes):
        """An unfitted policy with fast estimators."""
        given = {
            "outcome_model": LogisticRegression(),
            "reward_model": DecisionTreeRegressor(max_depth=5, random_state=0),
            "folds": 3,
            "resamples": 100,
        }
        return ParticipatoryPolicy(self.problem, **(given | changes))

    def fitted(self, **changes):
        return self.policy(**changes).fit(self.columns, **self.data, rewards=self.rewards)


class Visits(Loans):
    """A continuous problem with two actions."""

    def __init__(self, n=120, seed=0, only=None):
        generator = np.random.default_rng(seed)
        self.problem = DecisionProblem(
            stakeholders=["Parent", "Payer"],
            actions=["A", "C"],
            outcomes={"name": "score", "low": 0},
            favourable_actions=["A"],
            sensitive_attributes=["sex"],
        )
        self.columns = {
            "x1": generator.normal(size=n),
            "x2": generator.normal(size=n),
            "sex": generator.integers(0, 2, n).astype(float),
        }
        treated = generator.random(n) < 0.4 if only is None else np.full(n, only == "A")
        self.actions = np.where(treated, "A", "C")
        level = 5 + self.columns["x1"] + np.where(treated, 2 + self.columns["x2"], 0.0)
        self.outcomes = np.maximum(0.0, level + generator.normal(size=n)).round(1)
        self.rewards = {"Parent": parent, "Payer": payer}

    @property
    def log(self):
        return Log(self.contexts, self.problem.action_codes(self.actions), self.outcomes)

    def policy(self, **changes):
        return super().policy(**({"outcome_model": TLearner("ridge"), "nodes": 5} | changes))


@pytest.fixture(scope="session")
def loans():
    """A log in which every action was taken."""
    return Loans()


@pytest.fixture(scope="session")
def granted():
    """A log in which every loan was granted."""
    return Loans(only="Grant")


@pytest.fixture(scope="session")
def visits():
    """A log with a continuous outcome and two actions."""
    return Visits()


@pytest.fixture(scope="session")
def loans_policy(loans):
    """A fitted policy; tests must not change it."""
    return loans.fitted()


@pytest.fixture(scope="session")
def visits_policy(visits):
    """A fitted policy; tests must not change it."""
    return visits.fitted()


@pytest.fixture(scope="session")
def make_loans():
    """The class of discrete worlds, to make others."""
    return Loans


@pytest.fixture(scope="session")
def make_visits():
    """The class of continuous worlds, to make others."""
    return Visits


@pytest.fixture(scope="session")
def trees():
    """Return the syntax trees of all modules of the package, by path; no garbage collection looks at them."""
    files = (Path(__file__).parent.parent / "src" / "accordant").rglob("*.py")
    gc.disable()
    parsed = {file: ast.parse(file.read_text(encoding="utf-8")) for file in files}
    gc.freeze()
    gc.enable()
    return parsed


@pytest.fixture(scope="session")
def real_data():
    """Return a function from a file below the data folder to its path; skips, or fails, if it is not there."""

    def find(file):
        folder = os.environ.get("ACCORDANT_DATA")
        path = None if folder is None else Path(folder) / file
        if path is None or not path.is_file():
            reason = f"{file} is not below $ACCORDANT_DATA ({folder})"
            if os.environ.get("ACCORDANT_REQUIRE_DATA") == "1":
                pytest.fail(reason)
            pytest.skip(reason)
        return path

    return find


@pytest.fixture(scope="session")
def extra():
    """Return a function that imports an optional package; skips, or fails, if it is not there."""

    def find(name):
        try:
            return importlib.import_module(name)
        except ImportError:
            reason = f"the optional package {name} is not installed"
            if os.environ.get("ACCORDANT_REQUIRE_EXTRAS") == "1":
                pytest.fail(reason)
            pytest.skip(reason)

    return find


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 8 MB; skips where none may be mounted."""
    folder = tmp_path / "disk"
    folder.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", folder], capture_output=True, check=False)
    if done.returncode:
        pytest.skip(f"no file system can be mounted here: {done.stderr.decode().strip()}")
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True)


@pytest.fixture
def alone(monkeypatch):
    """What runs the tests may wait in a thread of its own; nothing is forked beside one."""
    monkeypatch.setattr(threading, "active_count", lambda: 1)


THREE_ACTIONS = {
    "name": "loans-of-three",
    "title": "Three decisions on a loan",
    "problem": {
        "stakeholders": ["Bank", "Applicant", {"name": "Auditor", "weight": 0.0}],
        "actions": ["Grant", "Lower", "Deny"],
        "outcomes": ["Repaid", "Default"],
        "favourable_actions": ["Grant", "Lower"],
        "favourable_outcomes": ["Repaid"],
        "outcome_to_action": {"Repaid": "Grant", "Default": "Deny"},
    },
    "data": {
        "file": "loans.csv", "action": "did", "outcome": "followed", "features": ["score", "branch"],
        "unusual": {"unseen": "refer", "out_of_range": "Deny"},
    },
    "rewards": {
        "Bank": {"table": {"Grant": {"Repaid": 0.7, "Default": 0.0}, "Lower": {"Repaid": 0.6, "Default": 0.5},
                           "Deny": {"Repaid": 0.3, "Default": 1.0}}},
        "Applicant": {"table": {"Grant": {"Repaid": 1.0, "Default": 0.6}, "Lower": {"Repaid": 0.6, "Default": 0.5},
                                "Deny": {"Repaid": 0.0, "Default": 0.2}}},
        "Auditor": {"table": {"Grant": {"Repaid": 0.5, "Default": 0.1}, "Lower": {"Repaid": 0.6, "Default": 0.4},
                              "Deny": {"Repaid": 0.5, "Default": 0.9}}},
    },
    "learning": {
        "outcome_model": {"name": "LogisticRegression"}, "reward_model": {"name": "stated"}, "folds": 3,
    },
    "strategies": [
        {"name": "constrained", "parameters": {
            "rule": "maximin", "forbidden": [{"actions": ["Grant"], "where": {"branch": "north"}}]}},
    ],
    "metrics": {"Worst_Off": {"metric": "min_reward", "weight": 1.0}},
    "evaluation": {"resamples": 100},
}  # fmt: skip
"""A case with three actions, a stakeholder without a say, a constraint, and rows that are left to a person."""


@pytest.fixture(scope="session")
def run_of_three(tmp_path_factory):
    """A finished run of `THREE_ACTIONS`; data and a file with new rows stand beside it. Copy it before adding to it."""
    from accordant.runs import RunOptions, carry_out, write_run

    folder, generator = tmp_path_factory.mktemp("three"), np.random.default_rng(5)
    score = generator.normal(size=150).round(2)
    frame = pd.DataFrame({
        "score": score, "branch": generator.choice(["north", "south"], 150), "did": generator.choice(ACTIONS, 150),
        "followed": np.where(score + generator.normal(size=150) > 0, "Repaid", "Default"),
    })  # fmt: skip
    frame.to_csv(folder / "loans.csv", index=False)
    new = {"score": [0.4, 1.2, 0.1, 99.0, -0.5], "branch": ["north", "south", "abroad", "south", "north"]}
    pd.DataFrame(new).to_csv(folder / "new.csv", index=False)
    (folder / "loans.yaml").write_text(yaml.safe_dump(THREE_ACTIONS))
    return write_run(carry_out(folder / "loans.yaml", RunOptions(seed=3)), folder / "run")
