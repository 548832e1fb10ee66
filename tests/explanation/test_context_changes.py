"""The nearest context with another decision, against looking at every observed one."""

from __future__ import annotations

import math

import numpy as np
import pytest

from accordant.contexts import Contexts
from accordant.errors import InputError, MissingColumnError, UnknownNameError
from accordant.explanation.contexts import Distances
from accordant.explanation.contexts import MOST_VALUES, Support

ACTIONS = ("Grant", "Deny")


def make_observed(n=120, seed=0):
    generator = np.random.default_rng(seed)
    return Contexts(
        {
            "income": generator.normal(50, 10, n).round(1),
            "loans": generator.integers(0, 4, n).astype(float),
            "town": np.array(["north", "south", "east"])[generator.integers(0, 3, n)],
            "same": np.ones(n),
        }
    )


def decide(contexts):
    score = contexts["income"] - 5 * contexts["loans"] + 6 * (contexts["town"] == "north")
    return np.where(score > 45, "Grant", "Deny")


def distance(observed, features, one, other):
    """The slow twin: Gower's mean of distances, numbers in interquartile ranges."""
    total = 0.0
    for name in features:
        a, b = one[name][0], other[name][0]
        if observed[name].dtype == np.float64:
            lower, upper = np.quantile(observed[name], [0.25, 0.75])
            scale = (upper - lower) or observed[name].std()
            total += abs(a - b) / scale if scale else float(a != b)
        else:
            total += float(a != b)
    return total / len(features)


@pytest.mark.long
def test_nearest_and_single_changes_against_every_candidate():
    observed = make_observed()
    support = Support.of(observed, decide, ACTIONS)
    actions = decide(observed)
    for t in range(20):
        here = observed.take(slice(t, t + 1))
        found = support.changes(here, ACTIONS.index(actions[t]))
        others = [s for s in range(120) if actions[s] != actions[t]]
        assert (found.observed, found.differently) == (120, len(others))
        near = [distance(observed, tuple(observed), here, observed.take(slice(s, s + 1))) for s in others]
        assert found.nearest.distance == pytest.approx(min(near))
        row = observed.take(slice(found.nearest.row, found.nearest.row + 1))
        assert decide(row)[0] == found.nearest.action != actions[t]
        assert {each.feature: each.there for each in found.nearest.differences} == {
            name: row[name][0] for name in observed if row[name][0] != here[name][0]
        }
        single = {each.differences[0].feature: each for each in found.single}
        for name in observed:
            flips = []
            for value in set(observed[name].tolist()):
                other = Contexts({**here, name: np.array([value])})
                if decide(other)[0] != actions[t]:
                    flips.append((distance(observed, tuple(observed), here, other), value))
            assert (name in single) == bool(flips)
            if flips:
                assert single[name].distance == pytest.approx(min(flips)[0])
                changed = Contexts({**here, name: np.array([single[name].differences[0].there])})
                assert decide(changed)[0] == single[name].action
        assert [each.distance for each in found.single] == sorted(each.distance for each in found.single)


def test_only_the_named_features_count():
    observed = make_observed()
    found = Support.of(observed, decide, ACTIONS, ["town"]).changes(observed.take(slice(0, 1)), 1)
    assert {each.feature for each in found.nearest.differences} <= {"town"}
    assert found.features == ("town",)


def test_nothing_would_change_a_constant():
    observed = make_observed()
    support = Support.of(observed, lambda c: np.zeros(c.n_contexts, dtype=int), ACTIONS)
    found = support.changes(observed.take(slice(3, 4)), 0)
    assert (found.nearest, found.single, found.differently) == (None, (), 0)


def test_missing_values_and_outliers():
    observed = Contexts({"x": [1.0, 2.0, 3.0, np.nan, 1e9], "y": ["a", "", "b", "a", "b"]})
    metric = Distances.of(observed, ("x", "y"))
    assert metric.scales["x"] == np.quantile([1, 2, 3, 1e9], 0.75) - np.quantile([1, 2, 3, 1e9], 0.25)
    assert metric.apart("x", math.nan, observed["x"]).tolist() == [1, 1, 1, 0, 1]
    assert metric.apart("x", 1.0, observed["x"])[3] == 1
    assert metric.apart("y", "", observed["y"]).tolist() == [1, 0, 1, 1, 1]
    spread = Contexts({"x": [0.0, 0.0, 0.0, 0.0, 5.0], "z": [2.0] * 5})
    scales = Distances.of(spread, ("x", "z")).scales
    assert scales == {"x": 2.0, "z": 0.0}  # the standard deviation where the quartiles are equal
    assert Distances(scales).apart("z", 2.0, np.array([2.0, 3.0])).tolist() == [0, 1]
    support = Support.of(observed, lambda c: np.isnan(c["x"]).astype(int), ACTIONS)
    found = support.changes(observed.take(slice(0, 1)), 0)
    assert found.single[0].differences[0].there is None


def test_many_values_are_thinned_and_said_to_be():
    observed = Contexts({"x": np.arange(5000.0), "y": np.zeros(5000)})
    asked = []

    def watching(contexts):
        asked.append(contexts.n_contexts)
        return (contexts["x"] > 2500).astype(int)

    found = Support.of(observed, watching, ACTIONS).changes(observed.take(slice(0, 1)), 0)
    assert found.thinned == ("x",)
    assert max(asked[1:]) <= MOST_VALUES
    assert 2500 < found.single[0].differences[0].there <= 2500 + 5000 / (MOST_VALUES - 1)
    assert found.nearest.differences[0].there == 2501


def test_wrong_input():
    observed = make_observed(10)
    with pytest.raises(InputError, match="are empty"):
        Support.of(observed.take(slice(0, 0)), decide, ACTIONS)
    with pytest.raises(MissingColumnError, match="did you mean it by 'income'"):
        Support.of(observed, decide, ACTIONS, ["incomes"])
    with pytest.raises(InputError, match="one action per context"):
        Support.of(observed, lambda c: [0], ACTIONS)
    with pytest.raises(InputError, match="outside 0 to 1"):
        Support.of(observed, lambda c: np.full(c.n_contexts, 2), ACTIONS)
    with pytest.raises(UnknownNameError, match="did you mean 'Deny'"):
        Support.of(observed, lambda c: np.full(c.n_contexts, "Denied"), ACTIONS)
    with pytest.raises(InputError, match="the function that led to this decision"):
        Support.of(observed, decide, ACTIONS).changes(
            observed.take(slice(0, 1)), 1 - ACTIONS.index(decide(observed)[0])
        )
