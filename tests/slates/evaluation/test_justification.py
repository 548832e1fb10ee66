"""Justifications: what they say is right, and `check` finds whatever was changed in them."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from accordant.errors import InputError
from accordant.slates.evaluation import Statement, check, why

E = np.array([[[0.9], [0.5], [0.1]], [[0.2], [0.2], [0.8]], [[0.3], [0.3], [0.3]]])


@pytest.fixture
def shown(lists_of):
    return lists_of([[0, 2]], E)


def test_by_hand(shown):
    found = why(shown, 0)
    assert found.text == (
        "Shown: c0 (best for guest: 1.000), c2 (best for town: 1.000); town gains most over a list drawn at random "
        "(attained 1.000 against 0.667); guest is furthest from its best list (attained 0.500 of 1)."
    )
    assert found.reasons == (
        "best for guest: 1.000 of the way from its worst item to its best",
        "best for town: 1.000 of the way from its worst item to its best",
    )
    assert found.statements[2].numbers == pytest.approx((1.0, 2 / 3))  # worst list 0.2, best 0.5, mean of items 0.4
    assert found.statements[3].numbers == pytest.approx((0.5,))
    result = check(found, shown)
    assert (result.faithful, result.numbers, result.problems) == (True, 5, ())
    json.dumps(found.to_json(), allow_nan=False)


def test_every_list_of_a_market(served):
    kinds = set()
    for shown in served.values():
        for request in range(len(shown.users)):
            found = why(shown, request)
            result = check(found, shown)
            assert result.faithful, result.problems
            assert result.numbers == len(re.findall(r"\d\.\d{3}", found.text))
            kinds |= {each.kind for each in found.statements}
    assert kinds >= {"serves", "gains", "gives up"}


def test_any_changed_digit_is_found(served):
    """Every digit of every number in a text, changed to every other digit."""
    shown = served["total"]
    found = why(shown, 7)
    places = [m.start() + k for m in re.finditer(r"\d\.\d{3}", found.text) for k in (0, 2, 3, 4)]
    assert len(places) >= 16
    for place in places:
        for digit in set("0123456789") - {found.text[place]}:
            text = found.text[:place] + digit + found.text[place + 1 :]
            result = check(replace(found, text=text), shown)
            assert not result.faithful
            assert any(text[place - 4 : place + 1].strip("( ") in each or "cannot be read" in each
                       for each in result.problems)  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("guest is furthest", "town is furthest"),  # another name
        ("town gains most", "inn gains most"),
        ("c0 (best for guest", "c1 (best for guest"),  # an item that is not shown
        ("c0 (best for guest", "c9 (best for guest"),  # nor known
        ("1.000), c2", "1.0), c2"),  # fewer digits
        (", c2 (best for town: 1.000)", ""),  # a statement left out
        (", c2 (best for town: 1.000)", ", c2 (best for town: 1.000), c2 (best for town: 1.000)"),
        ("Shown: ", "Shown (all 12 agree): "),  # a number that nothing can recompute
        (
            "town gains most over a list drawn at random (attained 1.000 against 0.667)",
            "nobody gains over a list drawn at random",
        ),
        (".", ". This is best."),
        ("0.500 of 1).", "0.500 of 1). By 0.200."),
        ("Shown: ", ""),
        ("0.500 of 1", "-0.500 of 1"),
        ("0.500 of 1", "0.500 of 2"),
    ],
)
def test_tampered_text_fails(shown, old, new):
    found = why(shown, 0)
    assert old in found.text
    result = check(replace(found, text=found.text.replace(old, new)), shown)
    assert not result.faithful
    assert result.problems


def test_order_of_items_counts(lists_of):
    """The same numbers in another order are another list."""
    one, other = lists_of([[0, 2]], E), lists_of([[2, 0]], E)
    assert not check(why(one, 0), other).faithful
    assert check(why(other, 0), other).faithful


def test_only_what_may_be_shown_counts(lists_of):
    """c0 would be best for guest and worst for town, but may not be shown."""
    shown = lists_of([[1]], E, available=np.array([[False], [True], [True]]))
    found = why(shown, 0)
    assert found.text == (
        "Shown: c1 (best for guest: 1.000); guest gains most over a list drawn at random (attained 1.000 against "
        "0.500); town is furthest from its best list (attained 0.000 of 1)."
    )
    assert check(found, shown).faithful


def test_a_missing_statement_is_named(shown):
    found = why(shown, 0)
    result = check(replace(found, text=found.text.replace(", c2 (best for town: 1.000)", "")), shown)
    assert result.problems[0] == "the sentence makes 3 statements; right: 4"


def test_record_reasons_and_rule_are_checked(shown):
    found = why(shown, 0)
    changed = replace(found.statements[2], numbers=(0.5, 0.41))
    for wrong in (
        replace(found, statements=(*found.statements[:2], changed, found.statements[3])),
        replace(found, statements=found.statements[:3]),
        replace(found, reasons=("best for everybody", found.reasons[1])),
        replace(found, rule="another"),
    ):
        result = check(wrong, shown)
        assert not result.faithful and len(result.problems) == 1


def test_nobody_gains_or_loses(lists_of):
    """The whole catalogue is a list drawn at random and the best one; one indifferent stakeholder."""
    every = lists_of([[0, 1, 2]], E)
    assert why(every, 0).text.endswith("nobody gains over a list drawn at random; everybody gets its best list.")
    assert check(why(every, 0), every).faithful
    alike = lists_of([[1]], E[2:])
    found = why(alike, 0)
    assert found.text.startswith("Shown: c1 (the same for everybody); nobody gains")
    assert found.reasons == ("the same for everybody",)
    assert check(found, alike).numbers == 0


def test_empty_list(lists_of):
    shown = lists_of([[-1]], E, available=np.zeros((3, 1), dtype=bool))
    found = why(shown, 0)
    assert (found.text, found.statements, found.reasons) == ("There was nothing to show.", (Statement("nothing"),), ())
    assert check(found, shown).faithful
    other = lists_of([[0]], E)
    assert not check(found, other).faithful
    assert not check(why(other, 0), shown).faithful


def test_weight_0_has_no_part(lists_of):
    shown = lists_of([[2]], E, weights=[1.0, 0.0, 1.0])
    found = why(shown, 0)
    assert "town" not in found.text
    assert check(found, shown).faithful


def test_names_with_digits_and_signs(shown):
    """Names are read as names, whatever is in them; the longest one that fits."""
    names = ("Gate 0.500 (east), north", "Gate 0.500", "A+B [1.000]")
    slates = replace(shown.slates, item_names=names)
    expected = replace_names(shown.candidates, names)
    renamed = replace(shown, slates=slates, candidates=expected)
    found = why(renamed, 0)
    assert names[0] in found.text
    assert check(found, renamed).faithful
    assert not check(replace(found, text=found.text.replace("Gate 0.500", "Gate 0.600")), renamed).faithful


def replace_names(candidates, names):
    from accordant.slates.candidates import Candidates
    from accordant.utilities import ExpectedRewards

    expected = ExpectedRewards(candidates.values, stakeholders=candidates.stakeholders, actions=names)
    return Candidates(expected, candidates.available, candidates.weights)


def test_unknown_request(shown):
    for request in (-1, 1):
        with pytest.raises(InputError, match="allowed: 0 to 0"):
            why(shown, request)
    with pytest.raises(InputError, match="request 4"):
        check(replace(why(shown, 0), request=4), shown)
