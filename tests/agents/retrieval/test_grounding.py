"""Grounding, and citations that were made up."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accordant.agents.retrieval import fabricated, grounding
from accordant.errors import InputError

IDS = st.lists(st.sampled_from("abcdef"), max_size=8)


def test_examples():
    assert grounding((), ("a",)) is None
    assert grounding((), ()) is None
    assert grounding(("a",), ()) == 0
    assert grounding(("a", "b"), ("b", "c")) == 0.5
    assert grounding(("a", "b", "b", "b"), ("b",)) == 0.5  # repetitions count once
    assert fabricated(("z", "b", "a", "z"), ("b",)) == ("a", "z")
    assert fabricated(("b",), ("b",)) == fabricated((), ()) == ()


@given(IDS, IDS)
def test_share_by_counting(cited, retrieved):
    distinct = [each for number, each in enumerate(cited) if each not in cited[:number]]
    known = [each for each in distinct if each in retrieved]
    assert grounding(cited, retrieved) == (len(known) / len(distinct) if distinct else None)
    assert sorted(known + list(fabricated(cited, retrieved))) == sorted(distinct)


@given(IDS, IDS)
def test_all_is_grounded_exactly_if_nothing_is_fabricated(cited, retrieved):
    assert (grounding(cited, retrieved) in (None, 1.0)) == (fabricated(cited, retrieved) == ())


def test_one_id_in_place_of_several_is_refused():
    for check in (grounding, fabricated):
        with pytest.raises(InputError, match="cited is the text 'care-1'; allowed: a collection of ids"):
            check("care-1", ["care-1"])
        with pytest.raises(InputError, match="retrieved is the text 'care-1'"):
            check(["care-1"], "care-1")
