"""The trial: chosen on the earlier requests, tried on the later ones, and nothing later takes part in choosing."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from accordant.errors import InputError, UnknownNameError
from accordant.slates.evaluation.held_out_selection import held_out_comparison
from accordant.slates.measures import measures

MEASURES = {
    "worst": measures.create("worst_off"),
    "guest": measures.create("attained", {"stakeholder": "guest"}),
    "gini": measures.create("exposure_gini"),
}
AXES = {"gain_of": "worst", "price_of": "guest"}


def tried(served, contenders=("total", "town"), weights=None, **more):
    given = {"resamples": 60, "seed": 1} | AXES | more
    return held_out_comparison(served, "guest", contenders, MEASURES, weights or {"worst": 1.0}, **given)


CUT = 12  # of 48 requests on three days of 12, 24 and 12: days end at 12 and 36, as far from the middle


def halves(served):
    """Return each measure of each rule before and after the cut."""
    n = len(served["total"].users)
    return [
        {rule: {label: m.of(each.between(*part)) for label, m in MEASURES.items()} for rule, each in served.items()}
        for part in ((0, CUT), (CUT, n))
    ]


def test_the_best_of_the_first_half_is_tried_on_the_second(served):
    first, second = halves(served)
    found = tried(served)
    assert found.chosen == max(("total", "town"), key=lambda rule: first[rule]["worst"])
    assert (found.earlier, found.later, found.cut, found.reference) == (CUT, 48 - CUT, "between days", "guest")
    for got, label in ((found.gain, "worst"), (found.price, "guest")):
        assert got.estimate.value == pytest.approx(second[found.chosen][label] - second["guest"][label], abs=1e-12)
        assert got.estimate.low <= got.estimate.value <= got.estimate.high
    dominating = [
        rule for rule, row in second.items()
        if all(row[a] >= second[found.chosen][a] for a in ("worst", "guest"))
        and any(row[a] > second[found.chosen][a] for a in ("worst", "guest"))
    ]  # fmt: skip
    assert set(found.dominated_by) == set(dominating)


def test_contenders_alone_may_be_chosen(served):
    assert tried(served, ("town",)).chosen == "town" and tried(served, ("inn",)).chosen == "inn"
    assert tried(served, ()) is None


def test_what_is_later_takes_no_part_in_choosing(served):
    """Swap what two rules show in the second half: the same rule is chosen, and it is found out."""

    def swapped(own, other):
        """Return the first half of one rule, and the second of another."""
        early = np.arange(48) < CUT
        gains = {
            name: np.where(early, getattr(own.gains, name), getattr(other.gains, name))
            for name in ("utilities", "ideal", "worst")
        }
        items = np.where(early[:, None], own.slates.items, other.slates.items)
        return replace(own, gains=replace(own.gains, **gains), slates=replace(own.slates, items=items))

    changed = served | {
        "total": swapped(served["total"], served["town"]), "town": swapped(served["town"], served["total"])
    }  # fmt: skip
    before, after = tried(served), tried(changed)
    assert before.chosen == after.chosen
    other = "town" if before.chosen == "total" else "total"
    assert after.gain.estimate.value == pytest.approx(tried(served, (other,)).gain.estimate.value, abs=1e-12)


def test_weights_decide_who_is_chosen(served):
    first, _ = halves(served)
    three = ("total", "town", "inn")
    assert tried(served, three, {"gini": 1.0}).chosen == min(three, key=lambda rule: first[rule]["gini"])


def test_the_words_say_what_the_numbers_say(served):
    found = tried(served)
    verdict = {True: "improves", False: "worsens", None: "cannot be shown to change"}[found.gain.better]
    assert f"{found.chosen}, chosen on the first 12 requests, {verdict} worst on the other 36" in found.words
    assert ("No rule dominates it on these requests" in found.words) == (not found.dominated_by)
    plain = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert plain["words"] == found.words and plain["gain"]["better"] == found.gain.better
    worse = tried(served, ("town",), gain_of="guest", price_of="worst")
    assert worse.gain.better is False and "worsens guest" in worse.words and worse.gain.estimate.value < 0


def test_too_few_requests(served):
    one = {rule: each.between(0, 1) for rule, each in served.items()}
    assert tried(one) is None
    two = tried({rule: each.between(0, 2) for rule, each in served.items()})
    assert (two.earlier, two.later) == (1, 1)
    odd = tried({rule: each.between(0, 5) for rule, each in served.items()})
    assert (odd.earlier, odd.later, odd.cut) == (2, 3, "inside a day") and "cut in two" in odd.words


@pytest.mark.parametrize(("start", "stop"), [(0, 48), (0, 47), (1, 48), (10, 20), (11, 14), (30, 40)])
def test_no_day_is_on_both_sides(served, start, stop):
    """Try every cut by hand: the nearest to the middle of those at which one day ends, the earlier of two."""
    part = {rule: each.between(start, stop) for rule, each in served.items()}
    days, n = part["total"].days.tolist(), stop - start
    cuts = [c for c in range(1, n) if not set(days[:c]) & set(days[c:])]
    found = tried(part, resamples=0)
    assert found.earlier == min(cuts, key=lambda c: (abs(2 * c - n), c)) and found.cut == "between days"


def test_what_cannot_be_asked(served):
    with pytest.raises(InputError, match="'worts' is no measure here; allowed: worst, guest, gini"):
        tried(served, gain_of="worts")
    with pytest.raises(UnknownNameError, match="unknown slate rule of the trial: 'twon'; did you mean 'town'"):
        tried(served, ("twon",))
    with pytest.raises(UnknownNameError, match="'gest'"):
        held_out_comparison(served, "gest", ("town",), MEASURES, {"worst": 1.0}, **AXES)
    with pytest.raises(InputError, match="guest is the reference and a contender"):
        tried(served, ("guest", "town"))
