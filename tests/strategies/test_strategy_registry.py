"""Strategies by name: every registered rule rebuilds itself, also after a trip through JSON."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys

import numpy as np
import pytest

from accordant import strategies
from accordant.contexts import Contexts, Log
from accordant.errors import InputError, UnknownNameError
from accordant.predictions import OutcomePrediction
from accordant.strategies import Strategy
from accordant.utilities import ExpectedRewards

# Parameters without which a rule cannot be built, and non-default parameters worth a round trip.
REQUIRED = {
    "constrained": {"rule": "maximin", "floors": {"i1": 0.2}},
    "constant": {"action": "a2"},
    "decided": {"column": "taken"},
    "population_by_group": {"attribute": "half"},
    "stakeholder": {"stakeholder": "i2"},
}
VARIED = [
    ("utilitarian", {"weights": [1.0, 2.0, 0.5], "selection": "softmax", "temperature": 0.3}),
    ("maximin", {"weights": (1.0, 0.0, 1.0)}),
    ("nash_bargaining", {"disagreement": "global", "weights": np.array([1.0, 2.0, 3.0])}),
    ("kalai_smorodinsky", {"disagreement": [0.1, 0.2, 0.3], "ideal": "global"}),
    ("kalai_smorodinsky", {"disagreement": "status_quo"}),
    ("compromise_programming", {"exponent": float("inf"), "two_sided": True, "ideal": 0.9}),
    ("outcome_only", {"action_of_outcome": [2, 1, 0]}),
    ("oracle", {"action_of_outcome": [2, 1, 0]}),
    ("random", {"seed": 5}),
]


@pytest.fixture
def evidence():
    generator = np.random.default_rng(3)
    values = generator.choice([0.0, 0.25, 0.5, 1.0], size=(3, 3, 200))
    expected = ExpectedRewards(values, stakeholders=["i1", "i2", "i3"], actions=["a1", "a2", "a3"])
    log = Log(
        Contexts({"x": np.arange(200), "half": np.arange(200) // 100, "taken": np.array(["a1", "a3"]).repeat(100)}),
        generator.integers(3, size=200),
        generator.integers(3, size=200),
    )
    weights = np.repeat(generator.dirichlet([1, 1, 1], size=200).T[None], 3, axis=0)
    return expected, {
        "log": log,
        "contexts": log.contexts,
        "prediction": OutcomePrediction(weights, None, depends_on_action=False),
    }


@pytest.mark.parametrize(
    ("name", "parameters"), [*((name, REQUIRED.get(name, {})) for name in strategies.names()), *VARIED]
)
def test_rebuild_from_name_and_parameters(name, parameters, problem, evidence):
    expected, known = evidence
    rule = strategies.create(name, parameters).for_problem(problem).fit(expected, known["contexts"])
    written = json.loads(json.dumps(rule.parameters))
    rebuilt = strategies.create(rule.name, written)
    assert rebuilt == rule
    assert rebuilt.label == rule.label
    assert hash(rebuilt) == hash(rule)
    left, right = rule(expected, **known), rebuilt(expected, **known)
    np.testing.assert_array_equal(left.codes, right.codes)
    np.testing.assert_array_equal(left.tied, right.tied)
    assert left.strategy == right.strategy
    assert set(left.actions) <= set(expected.actions)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(rule))(expected, **known).codes, left.codes)


def test_all_rules_of_the_framework_are_registered():
    assert set(strategies.names()) >= {
        "utilitarian", "maximin", "nash_social_welfare", "nash_bargaining", "kalai_smorodinsky",
        "compromise_programming", "stakeholder", "constant", "outcome_only", "logged", "random", "oracle",
    }  # fmt: skip
    assert strategies.strategies.aliases("nash_social_welfare") == ("proportional_fairness",)


def test_every_registered_rule_knows_its_name():
    for name in strategies.names():
        rule = strategies.create(name, REQUIRED.get(name))
        assert isinstance(rule, Strategy)
        assert rule.name == name
        assert rule.kind in ("compromise", "voting", "stakeholder", "baseline", "reference")
        assert rule.__doc__


def test_ready_made_rules(example):
    assert strategies.kalai_smorodinsky == strategies.create("kalai_smorodinsky")
    assert strategies.proportional_fairness(example).strategy == "nash_social_welfare"
    with pytest.raises(AttributeError, match="kalai_smorodinski"):
        strategies.kalai_smorodinski  # noqa: B018
    assert not hasattr(strategies, "stakeholder")  # it needs a parameter


@pytest.mark.parametrize(("name", "parameters", "message"), [
    ("kalai-smorodinsky", {}, "unknown strategy 'kalai-smorodinsky'; did you mean 'kalai_smorodinsky'. valid: "),
    ("Maximin", {}, "did you mean 'maximin'"),
    ("maximin", {"wieghts": (1,)}, "unknown parameter 'wieghts'; did you mean 'weights'. valid: weights, selection"),
    ("constant", {}, "strategy 'constant': parameter 'action' is missing"),
    ("compromise_programming", {"exponent": "two"}, "strategy 'compromise_programming' refuses"),
])  # fmt: skip
def test_what_cannot_be_created(name, parameters, message):
    with pytest.raises(InputError, match=message):
        strategies.create(name, parameters)


def test_unknown_names_list_what_is_valid():
    with pytest.raises(UnknownNameError) as caught:
        strategies.create("nonsense")
    assert caught.value.allowed == strategies.names()
    assert "did you mean" not in str(caught.value)


def test_a_refused_registration_leaves_the_class_alone():
    maximin = strategies.strategies.factory("maximin")
    with pytest.raises(InputError, match="strategy 'utilitarian' is registered twice"):
        strategies.register("utilitarian")(maximin)
    assert maximin.name == "maximin"


RULE = '''
"""Serial dictatorship of the first stakeholder."""
from dataclasses import dataclass
from accordant.strategies.compromise import Compromise, Scored
from accordant.strategies.strategy import register

@register("first_stakeholder", aliases=("dictator",))
@dataclass(frozen=True)
class FirstStakeholder(Compromise):
    """The first stakeholder decides."""

    power: float = 1.0

    def score(self, expected, weights):
        return Scored(self.power * expected.values[0])
'''
USE = """
from accordant import strategies
from accordant.utilities import ExpectedRewards
E = ExpectedRewards([[0.1, 0.2], [0.9, 0.0]], stakeholders=["x", "y"], actions=["a", "b"])
rule = strategies.create("dictator", {"power": 2.0})
assert strategies.first_stakeholder(E).actions.tolist() == rule(E).actions.tolist() == ["b"]
assert rule.name == "first_stakeholder" and rule.parameters["power"] == 2.0
assert "first_stakeholder" in strategies.names() and "maximin" in strategies.names()
"""


def run(script, *, path=None):
    """Run a script in a fresh interpreter, with `path` in front of its search path; warnings are errors."""
    start = f"import sys; sys.path[:0] = {[*([str(path)] if path else []), *sys.path]!r}\n"
    done = subprocess.run([sys.executable, "-W", "error", "-c", start + script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.long
def test_third_parties_register_by_entry_point(tmp_path):
    (tmp_path / "third_party.py").write_text(RULE)
    metadata = tmp_path / "third_party-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: third-party\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[accordant.strategies]\nfirst = third_party:FirstStakeholder\n")
    assert run(USE + 'print("used")', path=tmp_path).strip() == "used"


@pytest.mark.long
def test_a_new_strategy_is_one_new_file(tmp_path):
    """The file alone, dropped into the package, is enough; the package's path is extended to leave the tree clean."""
    (tmp_path / "serial.py").write_text(RULE)
    script = f"import accordant.strategies as room; room.__path__.append({str(tmp_path)!r})\n{USE}"
    assert run(script + 'print("used")').strip() == "used"


@pytest.mark.long
@pytest.mark.parametrize(
    "module", ["accordant.strategies", "accordant.rewards", "accordant.scope", "accordant.evidence"]
)
def test_imports_stay_light(module):
    """`import accordant` must start fast: no learning and no plotting library before they are needed."""
    script = f"import {module}\n"
    if module == "accordant.strategies":
        script += "accordant.strategies.names()\n"
    found = run(script + "print(sorted({'sklearn', 'matplotlib', 'scipy', 'pandas'} & set(sys.modules)))")
    assert found.strip() == "[]"
