"""Where a trial is cut, and what its words say of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from accordant.slates.evaluation.front import dominance
from accordant.slates.evaluation.held_out_selection import held_out_comparison
from accordant.slates.measures import measures

MEASURES = {
    "worst": measures.create("worst_off"),
    "guest": measures.create("attained", {"stakeholder": "guest"}),
    "gini": measures.create("exposure_gini"),
    "overload": measures.create("overload"),
}


def tried(served, **more):
    given = {"gain_of": "worst", "price_of": "guest", "resamples": 40, "seed": 1} | more
    return held_out_comparison(served, "guest", ("total", "town"), MEASURES, {"worst": 1.0}, **given)


def on(served, days):
    """Return what was shown as if on other days."""
    return {rule: replace(each, days=np.array(days)) for rule, each in served.items()}


def nearest(days):
    """Return where to cut, by a loop: no day on both sides, as near to the middle as can be, the earlier of two."""
    ends = [b for b in range(1, len(days)) if all(one < other for one in days[:b] for other in days[b:])]
    return min(ends, key=lambda b: (abs(b - len(days) / 2), b)) if ends else None


DAYS = [
    [0] * 12 + [1] * 24 + [5] * 12,
    [0] * 20 + [1] * 20 + [2] * 8,
    [0] * 47 + [1],
    [0] + [3] * 47,
    list(range(48)),
    [0, 0, 1] * 16,  # days that come back are on both sides of every cut
    [0, 1] * 10 + [2] * 5 + [3, 4] * 11 + [5],
    [7] * 48,
]


@pytest.mark.parametrize("days", DAYS)
def test_no_day_is_on_both_sides(served, days):
    found, cut = tried(on(served, days), resamples=0), nearest(days)
    assert found.earlier + found.later == 48
    assert (found.earlier, found.cut) == ((24, "inside a day") if cut is None else (cut, "between days"))
    assert ("All requests are of one day, which is cut in two" in found.words) == (cut is None)


def test_crowds_are_those_of_whole_days(served):
    """The later part holds the whole second and third day, so its overload is that of the market on these days."""
    found = tried(served, gain_of="overload")
    assert (found.earlier, found.later) == (12, 36)
    whole = {rule: MEASURES["overload"].of(each.between(12, 48)) for rule, each in served.items()}
    assert found.gain.estimate.value == pytest.approx(whole[found.chosen] - whole["guest"], abs=1e-12)
    halves = {rule: MEASURES["overload"].of(each.between(24, 48)) for rule, each in served.items()}
    assert halves["guest"] < whole["guest"]


def test_words_of_a_measure_of_which_less_is_better(served):
    found = tried(served, gain_of="gini", price_of="worst")
    assert (found.gain_goal, found.price_goal) == ("min", "max")
    verdict = {True: "improves", False: "worsens", None: "cannot be shown to change"}[found.gain.better]
    assert found.words.startswith(
        f"{found.chosen}, chosen on the first 12 requests, {verdict} gini on the other 36: against guest it changes by "
        f"{found.gain.estimate} (less is better), and worst changes by {found.price.estimate} (more is better). "
    )


def test_how_sure_the_front_is(served):
    found = tried(served)
    assert found.words.endswith(dominance(found.dominated_by, found.dominators, found.on_front))
    assert all(0 <= share <= 1 - found.on_front + 1e-12 for share in found.dominators.values())
    assert type(found.on_front) is float
    assert "resamples" not in tried(served, resamples=0).words
    assert found.to_json()["cut"] == "between days"


def test_two_requests_of_two_days(served):
    two = {rule: replace(each.between(11, 13)) for rule, each in served.items()}
    assert [(each.earlier, each.later, each.cut) for each in [tried(two)]] == [(1, 1, "between days")]
    assert tried({rule: each.between(11, 12) for rule, each in served.items()}) is None
