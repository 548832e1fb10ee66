"""Large linear programmes by their cores: the same optimum as the whole programme, also where cores are far too small."""

from __future__ import annotations

import numpy as np
import pytest

from accordant.errors import InputError
from accordant.strategies.constraints import Constrained
from accordant.strategies.constraints import programme
from accordant.strategies.constraints.programme import optimum

CONSTRAINTS = [
    {"budgets": {"a0": 0.2, "a1": 0.3}},
    {"budgets": {"a0": 0.2}, "parity": {"attribute": "group", "within": 0.02, "favourable": ["a0"]}},
    {"budgets": {"a0": 0.25, "a2": 0.1}, "parity": {"attribute": "group", "within": 0.0, "favourable": ["a0", "a1"]}},
    {"budgets": {"a0": 0.2, "a1": 0.3}, "floors": {"i0": 0.2}},
]


def whole(batch, coupling):
    """Solve the whole programme at once."""
    return optimum(batch, coupling)


@pytest.mark.few(2)
@pytest.mark.parametrize("constraints", CONSTRAINTS, ids=str)
@pytest.mark.parametrize("rule", ["maximin", "nash_bargaining"])
def test_cores_find_the_optimum_of_the_whole(rule, constraints, make_world, worth_of, monkeypatch):
    """Cores of a dozen contexts: they are infeasible or wrong at first, and grow."""
    sizes = []
    for seed, grid in ((0, False), (1, True), (2, False), (3, True)):
        world = make_world(seed, n=300, groups=3, stakeholders=3, grid=grid)
        at_once = world.decide(rule, **constraints)
        with monkeypatch.context() as patch:
            patch.setattr(programme, "SMALL", 12)
            patch.setattr(programme, "CORE", 0.5)
            patch.setattr(programme, "optimum", lambda b, c: sizes.append(b.n_contexts) or optimum(b, c))
            by_cores = world.decide(rule, **constraints)
        scores = world.scores(rule)
        np.testing.assert_allclose(worth_of(by_cores, scores), worth_of(at_once, scores), rtol=1e-9, atol=1e-7)
        assert "parity" in constraints or by_cores.policy is None
        used = by_cores.probabilities().mean(axis=1)
        assert all(used[int(a[1:])] <= share + 1e-9 for a, share in constraints["budgets"].items())
    if rule == "maximin":
        assert min(sizes) < 30


def test_cores_that_cannot_be_met_end_in_the_same_error(make_world, monkeypatch):
    """m must not get a0, and two thirds of f find no place elsewhere: parity is out of reach, for cores and the whole."""
    world = make_world(2, n=60, groups=2)
    monkeypatch.setattr(programme, "SMALL", 5)
    monkeypatch.setattr(programme, "CORE", 0.1)
    n_f, n_m = ((world.groups == g).sum() for g in (0, 1))
    with pytest.raises(InputError, match="budgets and what contexts admit keep the favourable rate of group 'f'"):
        world.decide(
            forbidden=[{"actions": "a0", "where": {"group": "m"}}],
            budgets={"a1": 0, "a2": int(n_f // 3 + n_m)},
            parity={"attribute": "group", "within": 0.1, "favourable": ["a0"]},
        )


@pytest.mark.long
def test_large_batches_are_sifted(make_world, monkeypatch):
    world = make_world(1, n=20_000, grid=False, groups=3)
    rule = Constrained("maximin", budgets={"a0": 0.2, "a1": 0.3})
    sizes = []
    with monkeypatch.context() as patch:
        patch.setattr(programme, "optimum", lambda b, c: sizes.append(b.n_contexts) or optimum(b, c))
        sifted = rule(world.E)
    assert max(sizes) < 12_000
    with monkeypatch.context() as patch:
        patch.setattr(programme, "sift", whole)
        at_once = rule(world.E)
    scores, rows = np.array(world.scores()).T, np.arange(20_000)
    np.testing.assert_allclose(scores[sifted.codes, rows].sum(), scores[at_once.codes, rows].sum(), rtol=1e-12)
    np.testing.assert_array_equal(sifted.codes, at_once.codes)
