"""The ledger: every line of a record that was written by hand."""

from __future__ import annotations

import numpy as np
import pytest

from accordant.deliberation.assessment.ledger import disputed_patients, faults, ledger, nearer


def line(deliberation, agent, patient):
    found = [each for each in ledger(deliberation) if (each.agent, each.patient) == (agent, patient)]
    assert len(found) == 1
    return found[0]


def test_a_concession_is_the_agents_own_move_towards_another(two):
    given = line(two, "A", "p1")
    assert (given.solo, given.revised, given.joint) == (1.0, 0.0, 0.0)
    assert given.conceded_to == ("B",)
    assert given.reply == "concede"
    assert given.code is None
    taken = line(two, "B", "p3")  # the rule took it; B never gave it
    assert taken.conceded_to == ()
    assert taken.yielded_to == ("A",)
    assert taken.moved


def test_reasons_are_void_for_what_they_cite(two):
    invented, sound, protected = line(two, "A", "p2"), line(two, "A", "p3"), line(two, "B", "p2")
    assert invented.void == ("reason on 'p2' cites the passage 'care-9', which was not looked up",)
    assert sound.void == ()
    assert sound.passages == ("care-1",)
    assert sound.code == "severity"
    assert protected.void == ("reason on 'p2' cites the protected fact 'group'",)
    reason = two.turns[3].move.replies[0].reason
    assert faults(two, "B", reason) == protected.void


def test_lines_stand_in_order_and_leave_out_what_nobody_touched(record, scenario):
    held = record(
        scenario("aabbb", beds=2), {"A": {"p0": 1.0, "p1": 1.0}, "B": {"p0": 1.0, "p2": 1.0}}, {"p0": 1.0, "p1": 1.0}
    )
    assert [(each.agent, each.patient) for each in ledger(held)] == [
        ("A", "p1"), ("A", "p2"), ("B", "p1"), ("B", "p2")
    ]  # fmt: skip
    assert disputed_patients(held).tolist() == [False, True, True, False, False]


def test_a_change_that_nobody_wanted_is_movement_without_concession(record, scenario):
    wish = {"p0": 1.0, "p1": 1.0}
    held = record(scenario(), {"A": wish, "B": wish}, {"p2": 1.0, "p3": 1.0})
    lines = ledger(held)
    assert len(lines) == 8
    assert all(each.moved and not each.yielded_to and not each.conceded_to for each in lines)


def test_parts_of_a_demand_count_by_distance(record, scenario):
    held = record(
        scenario("ab", beds=1, portion=0.25), {"A": {"p0": 1.0}, "B": {"p1": 1.0}}, {"p0": 0.5, "p1": 0.5},
        revised={"A": {"p0": 0.75, "p1": 0.25}},
    )  # fmt: skip
    found = line(held, "A", "p0")
    assert (found.solo, found.revised, found.joint) == (1.0, 0.75, 0.5)
    assert found.conceded_to == found.yielded_to == ("B",)


@pytest.mark.parametrize(
    ("before", "after", "expected"), [(1.0, 0.0, ("x",)), (0.0, 0.0, ()), (0.5, 1.0, ("y",)), (0.25, 0.75, ("y",))]
)
def test_nearer(before, after, expected):
    assert nearer(before, after, {"x": 0.0, "y": 1.0}) == expected


def test_one_agent_yields_to_nobody(record, scenario):
    held = record(scenario("ab", beds=1), {"A": {"p0": 1.0}}, {"p1": 1.0})
    assert [each.yielded_to for each in ledger(held)] == [(), ()]
    assert not disputed_patients(held).any()
    assert np.array([each.moved for each in ledger(held)]).all()


def test_json_has_every_field(two):
    entry = line(two, "A", "p2").to_json()
    assert entry["reply"] == "challenge"
    assert entry["void"] == ["reason on 'p2' cites the passage 'care-9', which was not looked up"]
    assert set(entry) == {
        "agent", "patient", "solo", "revised", "joint", "conceded_to", "yielded_to", "reply", "code", "passages", "void"
    }  # fmt: skip
