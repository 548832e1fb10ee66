"""Misreports against E in single precision: the same precision, and no gain that is only rounding."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from accordant.slates.evaluation import manipulability
from accordant.slates.evaluation.misreports import with_report
from accordant.slates.candidates import Candidates
from accordant.slates.rule import rules
from accordant.utilities import ExpectedRewards


def near_ties(dtype):
    """Return items of which all but one differ by less than single precision carries."""
    draw = np.random.default_rng(1)
    values = (0.5 + draw.random((2, 6, 40)) * 4e-7).astype(np.float32)
    values[:, 0] = 0.2
    return Candidates(
        ExpectedRewards(values.astype(dtype), stakeholders=["a", "b"], actions=[f"c{c}" for c in range(6)])
    )


@pytest.mark.long
@pytest.mark.parametrize("name", ["utilitarian_slate", "maximin_slate"])
def test_rounding_is_no_gain(name):
    """What single precision cannot tell apart is no gain; in double precision it is a small one."""
    found = manipulability(rules.create(name), near_ties(np.float32), 2, "a", resamples=0, tries=5)
    assert (found.gain.value, found.share, found.largest, dict(found.best)) == (0.0, 0.0, 0.0, {})
    exact = manipulability(rules.create(name), near_ties(np.float64), 2, "a", resamples=0, tries=5)
    assert exact.gain.value > 0 and exact.share > 0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_rule_meets_the_same_precision(slate_rules, dtype):
    met = set()

    @dataclass(frozen=True)
    class Watching(type(slate_rules["total"])):
        """The same rule, watched."""

        def fill(self, candidates, k):
            """Note the precision."""
            met.add((candidates.expected.values.dtype.name, candidates.tolerance))
            return super().fill(candidates, k)

    candidates = near_ties(dtype)
    manipulability(Watching(), candidates, 2, "b", resamples=0, tries=1)
    assert met == {(np.dtype(dtype).name, candidates.tolerance)}


def test_a_report_replaces_one_stakeholder_alone():
    expected = near_ties(np.float32).expected
    said = with_report(expected, 1, np.ones((6, 40)))
    assert np.array_equal(said.values[0], expected.values[0]) and (said.values[1] == 1).all()
    assert (expected.values[1] < 1).all() and (said.stakeholders, said.actions) == (("a", "b"), expected.actions)


def test_a_request_that_gains_by_rounding_is_not_counted():
    """One list is better by 0.3 and one by 1e-7, which single precision does not tell apart: half of the requests."""
    values = np.array([[[0.2, 0.5], [0.5, 0.5 + 1e-7]], [[0.6, 0.6], [0.2, 0.55]]], dtype=np.float32)
    candidates = Candidates(ExpectedRewards(values, stakeholders=["a", "b"], actions=["c0", "c1"]))
    for rule in (rules.create("utilitarian_slate"), Dynamic()):
        found = manipulability(rule, candidates, 1, "a", resamples=0, tries=0)
        assert found.share == 0.5 and sum(found.best.values()) == 1
        assert found.largest == pytest.approx(0.3, abs=1e-6)


@dataclass(frozen=True)
class Dynamic(type(rules.create("utilitarian_slate"))):
    """A rule that counts as dynamic."""

    kind = "dynamic"


def test_one_misreport_for_all_is_judged_by_the_mean():
    """In a dynamic rule, gains that are rounding in every request are none, however many requests there are."""
    found = manipulability(Dynamic(), near_ties(np.float32), 2, "a", resamples=0, tries=5)
    assert found.one_report and found.gain.value == 0.0 and dict(found.best) == {}
