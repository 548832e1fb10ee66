"""The largest likelihood of one slope: bounds carried along against the maximum itself, and how their work grows."""

from __future__ import annotations

import math

import numpy as np
import pytest

from accordant.preferences.drift import e_processes
from accordant.preferences.drift.e_processes import EXCESS, LOOSE, log_maxima, maximum

N = 900


def stream(kind):
    """Margins of 900 records."""
    generator = np.random.default_rng(0)
    size, drawn, half = np.abs(generator.normal(size=N)), generator.random(N), np.arange(N) < N // 2
    slopes = {"constant": 1.0, "opposed": np.where(half, 1.0, -1.0), "steep": np.where(half, 0.2, 9.0)}
    if kind in slopes:
        return np.where(drawn < 1 / (1 + np.exp(-slopes[kind] * size)), size, -size)
    if kind == "one against":
        return np.where(np.arange(N) == 400, -1e-3, size)
    if kind == "ties":
        return np.round(generator.normal(size=N))
    return generator.standard_cauchy(N)


@pytest.mark.few(3)
@pytest.mark.parametrize("kind", ["constant", "opposed", "steep", "one against", "ties", "heavy tails"])
def test_bounds_carried_along_are_never_too_low_and_hardly_too_high(kind, monkeypatch):
    margins = stream(kind)
    exact = log_maxima(margins)
    monkeypatch.setattr(e_processes, "EXACT", 20)
    monkeypatch.setattr(e_processes, "CHUNK", 64)
    found = log_maxima(margins)
    assert (found >= exact - EXCESS).all()
    assert (found <= exact + LOOSE + EXCESS).all()
    assert kind == "one against" or (found > exact + EXCESS).any()  # the tangents were used


def test_bounds_against_a_fine_grid(monkeypatch):
    monkeypatch.setattr(e_processes, "EXACT", 1)
    margins = stream("opposed")[:200]
    slopes = np.linspace(-8.0, 8.0, 8001)
    grid = np.cumsum(-np.logaddexp(0.0, -margins[:, None] * slopes), axis=0).max(axis=1)
    found = log_maxima(margins)
    inside = np.flatnonzero(np.logical_or.accumulate(margins > 0) & np.logical_or.accumulate(margins < 0))[10:]
    assert (found[inside] >= grid[inside] - 1e-12).all()
    assert found[inside] == pytest.approx(grid[inside], abs=LOOSE + 1e-3)


def test_most_records_are_carried_along(monkeypatch):
    """The maximum itself is found for few of many records, so the work grows about as their number."""
    calls = []
    monkeypatch.setattr(
        e_processes, "maximum", lambda margins, slope: calls.append(len(margins)) or maximum(margins, slope)
    )
    generator = np.random.default_rng(1)
    log_maxima(generator.normal(size=6000) + 0.3)
    assert sum(size > e_processes.EXACT for size in calls) < 60


def test_perfect_agreement_for_long_and_then_not():
    margins = np.ones(1500)
    margins[1200:] = -0.5
    found = log_maxima(margins)
    assert (found[:1200] == 0).all() and (np.diff(found[1200:]) < 0).all()
    peer = maximum(margins / 1.0, 0.0)[0]
    assert peer - EXCESS <= found[-1] <= peer + LOOSE
    assert log_maxima(np.zeros(1100))[-1] == pytest.approx(-1100 * math.log(2))


@pytest.mark.parametrize("unit", [1e-200, 1e-3, 1e200])
def test_the_unit_of_margins_does_not_matter(unit):
    margins = stream("constant")[:60]
    assert log_maxima(unit * margins) == pytest.approx(log_maxima(margins), abs=1e-8)
