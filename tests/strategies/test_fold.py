"""Scores as folds: both kernels of each against its formula in NumPy, and the choice against scores and selection."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import textwrap

import numpy as np
import pytest

from accordant import strategies
from accordant.strategies import fold as fold_module
from accordant.strategies.block import Block, block_of
from accordant.strategies.compromise import Compromise
from accordant.strategies.block_decisions import decide
from accordant.strategies.distance import sum_of_powers
from accordant.strategies.fold import Fold, Formula
from accordant.strategies.selection import select_best
from accordant.utilities import ExpectedRewards

N, A, T = 3, 3, 50
START = "In NumPy::\n"


def folds():
    """Return all folds of the rules by name, and the powers that are made on demand."""
    named = {f"powers_{p}": sum_of_powers(p) for p in (1, 2, 3, 8)}
    for module in pkgutil.iter_modules(strategies.__path__, prefix="accordant.strategies."):
        for name, value in vars(importlib.import_module(module.name)).items():
            if isinstance(value, Fold):
                named[name] = value
    return named


FOLDS = folds()
RULES = [
    ("utilitarian", {}), ("relative_utilitarian", {}), ("relative_utilitarian", {"disagreement": 0.1, "ideal": 0.9}),
    ("maximin", {}), ("leximin", {}), ("hurwicz", {"optimism": 0.3}), ("nash_social_welfare", {}),
    ("alpha_fairness", {"alpha": 2.0}), ("alpha_fairness", {"alpha": np.inf}), ("atkinson", {"aversion": 0.5}),
    ("generalised_gini", {}), ("sufficientarian", {}), ("nash_bargaining", {}), ("nash_bargaining", {"disagreement": 0.3}),
    ("kalai_smorodinsky", {}), ("egalitarian_equivalent", {}), ("minimax_regret", {}),
    *(("compromise_programming", {"exponent": p}) for p in (1.0, 2.0, 3.0, np.inf)),
    ("compromise_programming", {"ideal": 0.7, "two_sided": True}),
]  # fmt: skip


def rewards(kind, seed=0, n=N, a=A, t=T):
    generator = np.random.default_rng(seed)
    if kind == "eighths":
        return generator.integers(0, 9, (n, a, t)) / 8
    if kind == "nearly level":
        values = generator.integers(0, 3, (n, a, t)) / 2
        return np.clip(values + generator.choice([0, 1e-13, -1e-12, 1e-11, 1e-9, 1e-7], (n, a, t)), 0, 1)
    if kind == "tiny":
        return 10.0 ** -generator.uniform(0, 13, (n, a, t))
    return generator.random((n, a, t))


KINDS = ("random", "eighths", "nearly level", "tiny")


def block(values, weights=None):
    names = [tuple(f"{letter}{k}" for k in range(size)) for letter, size in zip("sa", values.shape, strict=False)]
    return Block(np.ascontiguousarray(values), *names)


@pytest.mark.few(4)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", FOLDS)
def test_the_kernel_that_writes_scores_does_what_the_formula_says(name, seed):
    fold = FOLDS[name]
    values, points = rewards("eighths", seed), np.sort(rewards("eighths", seed + 9, 2, N), axis=0)
    numbers = {
        "values": values, "low": points[0, :], "high": points[1, :], "weights": np.array([1.0, 0.5, 2.0]),
        "levels": np.array([0.25, 0.5, 1.0]) if seed else np.zeros(N), "scores": np.empty((A, T)),
    }  # fmt: skip
    formula = inspect.getdoc(fold.step).partition(START)[2].partition("\n\n\n")[0]
    scope = dict(vars(inspect.getmodule(fold.step))) | numbers | {"scores": np.empty((A, T)), "np": np}
    scope |= inspect.getclosurevars(fold.step).nonlocals
    exec(textwrap.dedent(formula), scope)
    made = {}
    for how in ("plain", "machine"):
        scores = np.empty((A, T))
        kernel = fold.writer.python if how == "plain" else fold.writer
        with np.errstate(all="ignore"):
            kernel(*(numbers | {"scores": scores}).values())
        made[how] = scores
    np.testing.assert_array_equal(made["plain"], made["machine"])
    np.testing.assert_allclose(made["plain"], scope["scores"], rtol=1e-12, atol=1e-12)


@pytest.mark.few(30)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("name", "parameters"), RULES)
def test_one_reading_chooses_as_scores_and_selection_do(monkeypatch, name, parameters, kind):
    monkeypatch.setattr(fold_module, "WORTHWHILE", 0)
    monkeypatch.setattr(fold_module, "PATIENCE", 0)
    for weights in (None, (1e-7,) * N, (0.0, 2.0, 1.0)):
        some = block(rewards(kind))
        rule = strategies.create(name, {**parameters, "weights": weights})
        chosen = _in_plain_python(monkeypatch, rule, some)
        given = np.ones(N) if weights is None else np.array(weights)
        scores = rule.score(some, given).scores
        expected = select_best(scores, some.with_weight(given).totals, some.tolerance)
        np.testing.assert_array_equal(chosen.codes, expected.codes)
        np.testing.assert_array_equal(chosen.tied, expected.tied)


def _in_plain_python(monkeypatch, rule, some):
    """Choose with the unrolled kernel as it was written, which is not compiled for every shape and rule here."""
    monkeypatch.setattr("accordant.kernels.Compiled.numbers_left", 10**9)
    weights = np.ones(N) if rule.weights is None else np.array(rule.weights)
    formula = rule.formula(some, weights)
    found = rule.choose(some)
    assert formula is None or "choose" in str([kernel for kernel in _choosers(formula)])
    return found


def _choosers(formula: Formula):
    given = tuple(name for name in ("low", "high") if getattr(formula, name) is not None)
    yield formula.fold.chooser(N, A, formula.rows, given, formula.filter).python.__name__


@pytest.mark.long
@pytest.mark.parametrize(("name", "parameters"), [("kalai_smorodinsky", {}), ("compromise_programming", {})])
def test_machine_code_chooses_as_plain_python_does(monkeypatch, name, parameters):
    monkeypatch.setattr(fold_module, "WORTHWHILE", 0)
    monkeypatch.setattr(fold_module, "PATIENCE", 0)
    rule = strategies.create(name, parameters)
    made = []
    for left in (10**9, 0):
        monkeypatch.setattr("accordant.kernels.Compiled.numbers_left", left)
        fold_module.Fold.chooser.cache_clear()
        chosen = [rule.choose(block(rewards(kind, t=1500))) for kind in KINDS]
        made.append([(each.codes.tolist(), each.tied.tolist()) for each in chosen])
    assert made[0] == made[1]


def test_what_is_not_worthwhile_is_left_to_scores_and_selection():
    rule = strategies.create("utilitarian")
    for shape in ((N, A, 20), (7, 6, 4000)):
        some = block(np.random.default_rng(0).random(shape))
        formula = rule.formula(some, np.ones(shape[0]))
        assert formula.choose(some, lambda where: pytest.fail("nothing is open")) is None


def test_few_contexts_wait_for_no_compiler(monkeypatch):
    rule, some = strategies.create("hurwicz"), block(rewards("random", t=20_000))
    formula = rule.formula(some, np.ones(N))
    fold_module.Fold.chooser.cache_clear()
    monkeypatch.setattr("accordant.kernels.Compiled._kept_before", False)
    assert formula.choose(some, None) is None
    monkeypatch.setattr(fold_module, "PATIENCE", 20_000 * 1.5 / (N * A))
    assert formula.choose(some, None) is not None, "as many entries as that were decided before"


def test_a_window_reads_where_it_stands_and_is_copied_only_when_asked():
    values = rewards("random", n=2, a=2, t=100)
    expected = ExpectedRewards(values, stakeholders=["s", "t"], actions=["a", "b"])
    from accordant.strategies.block import Workspace

    window = block_of(expected, slice(40, 70), Workspace(), Workspace())
    whole, start = window.source
    assert np.shares_memory(whole, expected.values) and (start, window.n_contexts) == (40, 30)
    assert "values" not in vars(window)
    np.testing.assert_array_equal(window.some(np.array([0, 29])).values, expected.values[:, :, [40, 69]])
    assert "values" not in vars(window)
    np.testing.assert_array_equal(window.values, expected.values[:, :, 40:70])
    assert not np.shares_memory(window.values, expected.values)


def test_many_rules_together_decide_with_and_without_details_alike(monkeypatch):
    monkeypatch.setattr(fold_module, "WORTHWHILE", 1 << 30)
    monkeypatch.setattr("accordant.strategies.block.BLOCK_SIZE", 9 * 64)
    values = rewards("nearly level", t=1000)
    expected = ExpectedRewards(values, stakeholders=list("stu"), actions=list("abc"))
    rules = [strategies.create(name, parameters) for name, parameters in RULES]
    for bare, full in zip(decide(rules, expected, details=False), decide(rules, expected), strict=True):
        np.testing.assert_array_equal(bare.codes, full.codes, err_msg=bare.strategy)
        np.testing.assert_array_equal(bare.tied, full.tied, err_msg=bare.strategy)


def test_a_rule_without_score_and_formula_says_so():
    class Nothing(Compromise):
        name = "nothing"

    with pytest.raises(NotImplementedError, match="Nothing needs a method score or formula"):
        Nothing().score(block(rewards("random")), np.ones(N))
