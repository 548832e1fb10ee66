"""Kernels against the plain NumPy formulas in their docstrings, on numbers that tie, are level, and are infinite."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import textwrap

import numpy as np
import pytest

from accordant.kernels import Compiled

ROOMS = ("certificates", "strategies", "voting")
START = "In NumPy::\n"
N, A, T = 3, 4, 60  # stakeholders, actions, contexts


def kernels():
    """Return all kernels of the rooms by module and name."""
    found = {}
    for room in ROOMS:
        package = importlib.import_module(f"accordant.{room}")
        for module in pkgutil.walk_packages(package.__path__, prefix=f"{package.__name__}."):
            for name, value in vars(importlib.import_module(module.name)).items():
                if isinstance(value, Compiled) and value.python.__module__ == module.name:
                    found[f"{module.name.removeprefix('accordant.')}.{name}"] = value
    return found


KERNELS = kernels()
WRITTEN = sorted(name for name, kernel in KERNELS.items() if START in (inspect.getdoc(kernel.python) or ""))
# twins in plain Python, exact or by brute force, stand in the tests of the room
ELSEWHERE = {
    "certificates.ballots.approvals.lead_in_sets", "certificates.ballots.orders.judge_orders",
    "certificates.ballots.orders.lead_in_orders", "certificates.ballots.orders.place_orders",
    "certificates.ballots.profiles.list_profiles", "certificates.ballots.profiles.sole_winners",
    "certificates.ballots.profiles.tied_winners", "certificates.bounds.choices.best_draw",
    "certificates.columns.unbeaten_in_ties", "certificates.pairwise.bargaining.products_ahead",
    "certificates.pairwise.bargaining.products_ahead_of_status_quo", "certificates.pairwise.distance.distances_ahead",
    "certificates.pairwise.relative_utilitarian.leads_of_rows", "certificates.pairwise.relative_utilitarian.sums_ahead",
    "voting.budgets.equal_shares._filter_purchases", "voting.rules.graded.places_of_majority_values",
    "voting.rules.kemeny.tiers_of_best_rankings", "voting.rules.pairwise.tiers_of_locked_pairs",
    "voting.rules.pairwise.tiers_of_stacks",
}  # fmt: skip


def test_every_kernel_has_a_formula_or_a_twin_elsewhere():
    assert sorted(set(WRITTEN) | ELSEWHERE) == sorted(KERNELS)
    assert not set(WRITTEN) & ELSEWHERE and len(WRITTEN) > 25


def eighths(generator, *shape, highest=1):
    return generator.integers(0, 8 * highest + 1, shape) / 8


def box(generator):
    ends = np.sort(eighths(generator, 2, N, A, T), axis=0)
    return ends[0].copy(), ends[1].copy()


def narrow_box(generator):
    """Draw rows of which some are apart by as much as may be a tie or by more, and some are level and cannot move."""
    low = np.argsort(generator.random((N, A, T)), axis=1) / 4
    high = low + (generator.random((N, A, T)) < 0.2) / 8
    level = np.broadcast_to(generator.random((N, 1, T)) < 0.2, low.shape)
    return np.where(level, 0.5, low), np.where(level, 0.5, high)


def arguments(name, generator, *, flag):
    """Return the arguments of a kernel by name: in eighths, as tolerances are, so that ties and borders are many."""
    short = name.rpartition(".")[2]
    values, weights = eighths(generator, N, A, T), np.array([1.0, 0.5, 2.0])
    low, high = box(generator)
    near, far = narrow_box(generator)
    most, least = eighths(generator, 2, N, A, T, highest=3)
    most[generator.random(most.shape) < 0.2] = np.inf
    least[generator.random(least.shape) < 0.2] = np.inf
    scores, others = np.where(generator.random((2, A, T)) < 0.1, -np.inf, eighths(generator, 2, A, T, highest=3) - 1)
    scores[1:, :9] = others[1:, :9] = -np.inf
    scores[:, T // 2 :] = scores[:, T // 2 :].round()
    points = values.min(axis=1)
    decided = generator.integers(0, A, T)
    empty, marks = np.empty, np.empty((A, A - 1, T), dtype=np.uint8)
    mask = generator.random((A, T)) < 0.6
    mask[0] |= ~mask.any(axis=0)
    close = {"tolerance": 0.125, "blur": 0.5}
    ranks = generator.integers(0, A, (N, A, T)).astype(np.int8)
    margins = generator.integers(-3, 4, (A, A, T)) * 1.0
    return {
        "sum_over_stakeholders": lambda: [values, empty((A, T))],
        "extremes_over_actions": lambda: [values, flag, empty((N, T))],
        "extremes_over_stakeholders": lambda: [values, flag, empty((A, T))],
        "sort_few": lambda: [values, empty((N, A, T))],
        "weighted_sum": lambda: [values, weights, empty((A, T))],
        "take_best": lambda: [values, weights, empty(T, dtype=np.intp), empty(N)],
        "floored_product": lambda: [values, points, 0.125, 0.0 if flag else 0.125, empty((A, T))],
        "weigh_and_restore": lambda: [np.log(np.maximum(values[0], 1e-300)), 2.5, float(np.log(1e-300))],
        "_select": lambda: [
            scores, eighths(generator, A, T, highest=3), 0.125, empty(T, dtype=np.int8), empty(T, dtype=bool)
        ],
        "index_of_inequality": lambda: [values[0], values[1], empty((A, T))],
        "places": lambda: [np.sort(values, axis=0), 0.125, empty((A, T))],
        "count_better": lambda: [values, 0.125, np.zeros((N, A, T), dtype=np.int8)],
        "sum_margins": lambda: [ranks, weights, empty((A, A, T))],
        "sum_first_places": lambda: [ranks, weights, mask, flag, 127, empty((A, T))],
        "widen": lambda: [np.maximum(margins, 0.0) * ~np.eye(A, dtype=bool)[:, :, None]],
        "reports_within": lambda: [
            values, np.array([True, False, True]), eighths(generator, T), 0.125, 0.75, empty((N, A, T)), empty((N, A, T))
        ],
        "nearest_and_farthest": lambda: [eighths(generator, N, T), low, high, empty((N, A, T)), empty((N, A, T))],
        "hurt": lambda: [low, decided, high],
        "unbeaten": lambda: [scores, others, 0.125, empty((A, T), dtype=bool), empty(T, dtype=bool)],
        "extremes_beside": lambda: [values, flag, empty((N, A, T))],
        "exchange_columns": lambda: [values, decided, empty((N, A, T))],
        "keep": lambda: [
            generator.integers(0, 3, (A, A - 1, T)).astype(np.uint8), most[0].clip(0, 3), least[0].clip(0, 3),
            np.argsort(generator.random((A, T)), axis=0), *close.values(), empty((A, T), dtype=bool),
        ],
        "smallest_ahead": lambda: [low, high, most, least, np.full(N, 0.125), *close.values(), A - 1, marks],
        "sums_ahead_within": lambda: [
            low, high, weights, eighths(generator, N, T) / 2, eighths(generator, N, T) / 2 + 0.125, 0.25,
            np.full(T, 0.5), 0.5, A - 1, marks,
        ],
        "relative_gains": lambda: [values, low - 1, high - 1, low, high, 0.125, flag, empty((N, A, T))],
        "overlap": lambda: [near, far, 0.125, np.zeros(T, dtype=bool)],
        "best_allowed": lambda: [scores[:, :T], mask, empty(T, dtype=np.int64), empty(T)],
        "best_fraction": lambda: [eighths(generator, A, T), eighths(generator, A, T), mask, 0.375],
    }[short]()  # fmt: skip


def check_formula(name, seed, run):
    """Compare what `run` makes of the arguments of a kernel with what the formula in its docstring does."""
    kernel = KERNELS[name]
    given = arguments(name, np.random.default_rng(seed), flag=bool(seed % 2))
    names = list(inspect.signature(kernel.python).parameters)
    for_formula = [each.copy() if isinstance(each, np.ndarray) else each for each in given]
    scope = dict(vars(inspect.getmodule(kernel.python))) | dict(zip(names, for_formula, strict=True)) | {"np": np}
    text = inspect.getdoc(kernel.python).partition(START)[2]
    lines = text.strip("\n").split("\n")
    block = [
        line for k, line in enumerate(lines) if all(not each or each.startswith("    ") for each in lines[: k + 1])
    ]
    exec(textwrap.dedent("\n".join(block)), scope)
    result = run(*given)
    for parameter, made, expected in zip(names, given, for_formula, strict=True):
        if isinstance(made, np.ndarray):
            np.testing.assert_allclose(made, expected, rtol=1e-12, atol=1e-12, err_msg=parameter)
    if "result" in scope:
        np.testing.assert_allclose(result, scope["result"], rtol=1e-12)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", WRITTEN)
def test_a_kernel_does_what_its_formula_says(name, seed, monkeypatch):
    monkeypatch.setattr(inspect.getmodule(KERNELS[name].python), "CHUNK", 7, raising=False)
    with np.errstate(all="ignore"):
        check_formula(name, seed, KERNELS[name].python)


@pytest.mark.few(4)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", WRITTEN)
def test_the_machine_code_of_a_kernel_does_what_its_formula_says(name, seed):
    check_formula(name, seed, KERNELS[name])
