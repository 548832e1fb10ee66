"""What is said of one rule: which axioms its lists break, and the first broken one in words."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from accordant.slates import rule_findings
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
        return findings("fixed", served, opened)

    return of


@pytest.mark.long
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


@pytest.mark.parametrize("n", [1, 2, 60, 61])
def test_at_most_sixty_requests_are_told_over_time_the_first_and_the_last_among_them(said, n):
    past = said([[0, 1, 3]] * n).over_time
    assert len(past.request) == min(n, 60) == len(past.days) == len(past.gap) == len(past.attained[0])
    assert (past.request[0], past.request[-1]) == (1, n)


@pytest.mark.parametrize(("lists", "words"), [
    ([[3, NOTHING, NOTHING]], "breaks JR: guest, town could claim 1 of 3 places, and all of them approve item c0"),
    ([[0, 3, 4]], "breaks PJR: guest, town could claim 2 of 3 places, and all of them approve items c0, c1"),
])  # fmt: skip
def test_items_that_all_approve_are_told_in_singular_or_plural(said, lists, words):
    assert said(lists).witness == f"the list of r0 {words}"


@pytest.mark.parametrize(("floor", "met"), [(0.5, True), (0.5 + 1e-9, False), (0.25, True), (None, None)])
def test_a_floor_that_is_reached_to_the_point_is_met(floor, met, monkeypatch):
    objective = SimpleNamespace(metric="relevance", direction="max", floor=floor)
    value = SimpleNamespace(value="to like it", objectives=[objective])
    declared = SimpleNamespace(stakeholders=[SimpleNamespace(name="guest", values=[value])])
    batch = SimpleNamespace(n_users=2)
    served = SimpleNamespace(
        market=SimpleNamespace(batches=[batch, batch], catalogue=None), states=[None, None],
        slates=SimpleNamespace(take=lambda part: part.start),
    )  # fmt: skip
    given = {0: [[0.25, np.nan]], 2: [[0.75, 0.5]]}
    monkeypatch.setattr(rule_findings, "attainments", lambda *parts: SimpleNamespace(means=np.array(given[parts[-1]])))
    (found,) = rule_findings._attainments(served, declared)
    assert (found.mean, found.floor, found.met) == (0.5, floor, met)
