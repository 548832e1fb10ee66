"""Public figures: never about few, never one decision at a time."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accordant.service.public_figures import LEAST, STEP, UNDECIDED, statistics, told_together

COUNTS = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(1, 40), min_size=1)


@given(COUNTS)
def test_no_figure_is_about_fewer_than_the_least_unless_all_are(counts):
    told = told_together(counts)
    assert sum(count for _, count in told) == sum(counts.values())
    assert sorted(name for names, _ in told for name in names) == sorted(counts)
    assert all(count >= LEAST for _, count in told) or len(told) == 1
    assert sum(len(names) > 1 for names, _ in told) <= 1


@given(COUNTS)
def test_no_rare_action_follows_from_the_rest(counts):
    """What is told together is never one rare action alone beside others that are told."""
    for names, count in told_together(counts):
        if len(names) == 1 and len(counts) > 1:
            assert count >= LEAST


def ask(service, client, key, number):
    contexts = [{"score": round(-1 + 0.07 * place, 2), "branch": "south"} for place in range(number)]
    return [each["action"] or UNDECIDED for each in service.decider.decide(client, key, contexts).decisions]


def test_figures_grow_by_steps_and_are_those_of_the_first_decisions(service, client):
    decided = []
    for batch, number in enumerate((STEP - 1, 1, STEP - 1, 3)):
        decided += ask(service, client, f"b{batch}", number)
        with service.database.reading() as connection:
            (told,) = statistics(connection, service.workspace)
        assert told.counted == len(decided) - len(decided) % STEP
        assert told.actions == told_together(Counter(decided[: told.counted]))
    assert (told.contested, told.open, told.overdue, told.upheld, told.changed, told.remitted) == (0,) * 6


def test_elsewhere_nothing_is_told(service, client):
    ask(service, client, "one", 3)
    with service.database.reading() as connection:
        assert statistics(connection, "elsewhere") == []


@pytest.mark.parametrize(
    ("counts", "told"), [({}, ()), ({"a": 1}, ((("a",), 1),)), ({"a": 9, "b": 1}, ((("a", "b"), 10),))]
)
def test_small_examples(counts, told):
    assert told_together(counts) == told
