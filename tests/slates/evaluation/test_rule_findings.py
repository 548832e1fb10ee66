"""What is said of one rule: which axioms its lists break, and the first broken one in words."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from accordant.slates.rule_findings import findings
from accordant.slates.slates import NOTHING

APPROVED = np.array([[1, 1, 1, 0, 0, 0], [1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1]], dtype=float)


@pytest.fixture
def said(lists_of):
    """A function from lists of one day to what is said of them; all users are of one mind."""

    def of(lists, available=None):
        values = np.repeat(APPROVED[:, :, None], len(lists), axis=2)
        served = lists_of(lists, values, available)
        opened = SimpleNamespace(
            rules={"fixed": SimpleNamespace(note="a note")}, kinds={"fixed": "per item"}, k=3,
            case=SimpleNamespace(slates=SimpleNamespace(stakeholders=())),
        )  # fmt: skip
        return findings("fixed", served, opened, watched=False)

    return of


def test_a_broken_axiom_is_told_of_the_list_that_was_shown(said):
    fair, unfair = [0, 1, 3], [0, 3, 4]
    found = said([fair, unfair, fair, unfair])
    # two of three voters could claim two places, and one of their items is shown
    assert found.broken == {"jr": 0.0, "pjr": 0.5, "ejr": 0.5, "ejr_plus": 0.5}
    assert found.witness.startswith("the list of r1 breaks PJR: guest, town could claim 2 of 3 places, and all of them")
    assert found.note == "a note" and found.kind == "per item" and found.stability == ()
    assert (found.changed, found.floor_impossible, found.attainments) == (0.0, 0.0, ())


def test_a_list_with_empty_places_is_judged_by_its_items(said):
    found = said([[0, 1, 3], [3, NOTHING, NOTHING]], np.array([[True, True]] * 4 + [[True, False]] * 2))
    assert found.broken["jr"] == 0.5
    assert found.witness.startswith("the list of r1 breaks JR: guest, town could claim 1 of 3 places")


def test_of_lists_that_break_nothing_nothing_is_told(said):
    found = said([[0, 1, 3], [1, 2, 4]])
    assert set(found.broken.values()) == {0.0} and found.witness == ""
