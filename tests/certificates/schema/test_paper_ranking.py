"""Lemma 20 as stated, and the perturbation that it does not survive."""

from __future__ import annotations

import numpy as np
import pytest

from accordant import strategies
from accordant.certificates.schema import lemma_20, paper_value_bound
from accordant.errors import InputError
from accordant.utilities import ExpectedRewards


def test_condition():
    found = lemma_20({"a": 0.3, "b": 0.9, "c": 0.5}, {"a": 0.05, "b": 0.06, "c": 0.02})
    assert found.order == ("b", "c", "a")
    assert found.smallest_gap == pytest.approx(0.2)
    assert found.largest_bias == pytest.approx(0.11)
    assert found.holds
    assert not lemma_20({"a": 0.3, "b": 0.9, "c": 0.5}, {"a": 0.1, "b": 0.1, "c": 0.02}).holds
    assert not lemma_20({"a": 0.3, "b": 0.3}, {"a": 0.0, "b": 0.0}).holds
    assert not lemma_20({"a": 0.3, "b": 0.9}, {"a": np.inf, "b": 0.0}).holds
    assert lemma_20({"only": 0.3}, {"only": 0.1}).holds


def test_counterexample():
    """One action: rule 1 scores the first stakeholder's value, rule 2 the second's; within δ = 0.2 the order flips."""
    rules = [strategies.create("utilitarian", {"weights": weights}) for weights in ((1.0, 0.0), (0.0, 1.0))]
    before, after = (
        ExpectedRewards([[first], [second]], stakeholders=["i", "j"], actions=["only"])
        for first, second in ((0.6, 0.5), (0.4, 0.7))
    )
    assert np.abs(after.values - before.values).max() == pytest.approx(0.2)
    bounds = [paper_value_bound(rule, before, delta=0.2, coalition=["i", "j"], tau=1e-6) for rule in rules]
    biases = {name: bound.bias for name, bound in zip(("first", "second"), bounds, strict=True)}
    scores = {name: rule(before).scores.max() for name, rule in zip(("first", "second"), rules, strict=True)}
    found = lemma_20(scores, biases)
    assert biases == {"first": 0.0, "second": 0.0}
    assert found.holds and found.order == ("first", "second")
    moved = [rule(after).scores.max() for rule in rules]
    assert moved[0] < moved[1]  # the order flips at a perturbation that the lemma claims to cover
    assert not found.certifies_ranking
    assert "not said" in " ".join(found.says.split())


@pytest.mark.parametrize(("scores", "biases"), [
    ({}, {}),
    ({"a": 1.0}, {"b": 1.0}),
    ({"a": np.nan}, {"a": 0.1}),
    ({"a": 0.5}, {"a": -0.1}),
    ({"a": 0.5}, {"a": np.nan}),
])  # fmt: skip
def test_wrong_input(scores, biases):
    with pytest.raises(InputError):
        lemma_20(scores, biases)
