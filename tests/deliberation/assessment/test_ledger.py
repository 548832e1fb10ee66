"""The ledger: every line of a record that was written by hand."""

from __future__ import annotations

import numpy as np
import pytest

from accordant.agents import Answer, Contestation, Reason, Reply
from accordant.deliberation.assessment.process import process
from accordant.deliberation.protocols.debate import debate
from accordant.deliberation.assessment.ledger import disputed_claimants, ledger, nearer, replies_of


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


def test_what_the_protocol_judged_stands_beside_the_reply_it_is_about(two):
    invented, sound, protected = line(two, "A", "p2"), line(two, "A", "p3"), line(two, "B", "p2")
    assert invented.void == ("cites care-9, which was not looked up",)
    assert sound.void == ()
    assert sound.passages == ("care-1",)
    assert sound.code == "severity"
    assert protected.void == ("cites the protected group",)
    assert line(two, "B", "p3").void == ()


class TestAgainstTheProtocol:
    """The record of a real debate: the ledger says of every part what the protocol did with it."""

    def held(self, small, **moves):
        agents = [small.Scripted("a", moves, values=range(12)), small.Scripted("b", values=range(12, 0, -1))]
        return debate(small.ward(), agents)

    def test_of_two_replies_on_a_patient_the_first_counts_and_is_shown(self, small):
        def twice(agent, view):
            patient = view.disputed[0]
            return Contestation((Reply(patient, "maintain"), Reply(patient, "concede")), agent.best(view))

        held = self.held(small, contest=twice)
        first = held.turns[2].move.replies[0]
        found = line(held, "a", first.patient)
        assert (found.reply, found.void) == ("maintain", ())
        assert f"second reply on {first.patient!r}" in held.turns[2].void

    def test_a_passage_that_is_looked_up_later_does_not_count_earlier(self, small):
        early = Reason("p00", "benefit", (), ("u-1",))
        held = self.held(
            small,
            propose=lambda agent, view: agent.best(view, [early]),
            answer=lambda agent, view: Answer(None, agent.best(view, [early], ["u-1"])),
        )
        assert [len(turn.faults) for turn in held.turns if turn.agent == "a" and turn.step != 2] == [1, 0]
        assert process(held).grounding == 0.5

    def test_second_undisputed_and_mismatched_ones_are_void_here_too(self, small):
        def contest(agent, view):
            free = next(each for each in view.scenario.ids if each not in view.disputed)
            one, two = view.disputed[:2]
            said = [Reply(one, "challenge", Reason(two, "benefit")), Reply(free, "justify", Reason(free, "benefit"))]
            return Contestation(tuple(said), agent.best(view, [Reason("p00", "x"), Reason("p00", "y")]))

        agents = [
            small.Scripted("a", {"contest": contest}, values=range(12)),
            small.Scripted("b", values=[0, 0, *range(2, 12)][::-1]),
        ]
        held = debate(small.ward(beds=3), agents)
        parts = sorted(fault.part for turn in held.asked for fault in turn.faults if fault.part)
        assert parts == ["reason", "reply", "reply"]
        mismatched, undisputed = (each.patient for each in held.turns[2].move.replies)
        assert "with a reason on" in line(held, "a", mismatched).void[0]
        assert line(held, "a", undisputed).void == (f"reply on {undisputed!r}, who is not disputed",)

    def test_every_void_text_of_a_reply_is_in_the_ledger(self, small):
        def contest(agent, view):
            cited = [("group",), ("severity",), ("nothing",), ()]
            reasons = zip(view.disputed, cited * 3, strict=False)
            said = tuple(
                Reply(each, "challenge", Reason(each, "x", facts, ("u",) * (not facts))) for each, facts in reasons
            )
            return Contestation(said, agent.best(view))

        held = self.held(small, contest=contest)
        judged = replies_of(held, "a")
        assert {each: found.void for each, found in judged.items()} == {
            movement.patient: movement.void for movement in ledger(held) if movement.agent == "a" and movement.reply
        }
        assert sorted(text for found in judged.values() for text in found.void) == sorted(held.turns[2].void)
        assert 0 < sum(bool(found.void) for found in judged.values()) < len(judged)


def test_lines_stand_in_order_and_leave_out_what_nobody_touched(record, scenario):
    held = record(
        scenario("aabbb", beds=2), {"A": {"p0": 1.0, "p1": 1.0}, "B": {"p0": 1.0, "p2": 1.0}}, {"p0": 1.0, "p1": 1.0}
    )
    assert [(each.agent, each.patient) for each in ledger(held)] == [
        ("A", "p1"), ("A", "p2"), ("B", "p1"), ("B", "p2")
    ]  # fmt: skip
    assert disputed_claimants(held).tolist() == [False, True, True, False, False]


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
    assert not disputed_claimants(held).any()
    assert np.array([each.moved for each in ledger(held)]).all()


def test_a_reply_that_does_not_count_says_why(two):
    entry = line(two, "A", "p2")
    assert entry.reply == "challenge"
    assert entry.void == ("cites care-9, which was not looked up",)
