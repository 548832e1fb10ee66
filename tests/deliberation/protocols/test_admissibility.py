"""Which reasons count, and what happens to a reply whose reason does not."""

import dataclasses

import pytest

from accordant.agents import Proposal, Reason, Reply
from accordant.allocations import AdditiveUtility, Allocation
from accordant.deliberation.protocols.admissibility import Known, admit, admit_replies, counted, faults_of


@pytest.fixture
def ward(small):
    return small.ward(n=4, beds=2)


def known(ward, retrieved=(), facts=None):
    return Known(ward.ids, ward.facts if facts is None else facts, ward.protected, retrieved)


def proposal(ward, *reasons, retrieved=()):
    return Proposal(Allocation.whole(ward, ["p00", "p01"]), AdditiveUtility([1, 1, 0, 0]), reasons, retrieved)


def test_a_protected_fact_makes_a_reason_void_and_only_the_reason(ward):
    good, bad = Reason("p00", "severity", ("severity",)), Reason("p01", "group", ("severity", "group"))
    found = admit(proposal(ward, good, bad), known(ward))
    assert found.proposal.reasons == (good,)
    assert found.proposal.allocation == Allocation.whole(ward, ["p00", "p01"])
    (fault,) = found.faults
    assert fault.text == "reason on 'p01' cites the protected fact 'group'"
    assert fault.to_json() == {"why": "protected_fact", "part": "reason", "place": 1, "names": ["group"]}


def test_a_fact_that_is_not_protected_here_may_be_cited(small):
    open_ward = small.ward(n=4, beds=2, protected=())
    assert faults_of(Reason("p01", "group", ("group",)), known(open_ward)) == ()


@pytest.mark.parametrize("fact", ["Group", "group ", "patient.group", "invented"])
def test_a_fact_that_does_not_exist_makes_a_reason_void(ward, fact):
    (fault,) = faults_of(Reason("p01", "group", (fact,)), known(ward))
    assert (fault.why, fault.names) == ("unseen_fact", (fact,))
    assert fault.text == f"reason on 'p01' cites the fact {fact!r}, which the agent was not shown"


def test_a_fact_that_the_agent_was_not_shown_makes_a_reason_void(ward):
    reason = Reason("p01", "benefit", ("p_with", "severity"))
    assert faults_of(reason, known(ward)) == ()
    (fault,) = faults_of(reason, known(ward, facts=("severity",)))
    assert (fault.why, fault.names) == ("unseen_fact", ("p_with",))


def test_a_citation_that_was_never_looked_up_makes_a_reason_void(ward):
    cited = Reason("p00", "benefit", ("p_with",), ("u-1", "u-2"))
    assert admit(proposal(ward, cited), known(ward, {"u-1", "u-2"})).faults == ()
    (fault,) = admit(proposal(ward, cited), known(ward, {"u-1"})).faults
    assert fault.text == "reason on 'p00' cites the passage 'u-2', which was not looked up"
    assert (fault.why, fault.names) == ("not_looked_up", ("u-2",))


def test_unknown_patients_and_second_reasons_do_not_count(ward):
    first, second = Reason("p00", "benefit"), Reason("p00", "severity")
    found = admit(proposal(ward, first, second, Reason("p99", "benefit")), known(ward))
    assert found.proposal.reasons == (first,)
    assert [fault.text for fault in found.faults] == ["second reason on 'p00'", "reason on 'p99', who is no patient"]
    assert counted(proposal(ward, first, second, Reason("p99", "benefit")), found.faults).reasons == (first,)


def test_everything_that_is_wrong_with_a_reason_is_found(ward):
    reason = Reason("p99", "group", ("Group", "group"), ("made-up", "made-up", "x" * 200))
    found = faults_of(reason, known(ward))
    assert [fault.why for fault in found] == ["protected_fact", "unseen_fact", "no_patient", "not_looked_up"]
    assert found[-1].names == ("made-up", "made-up", "x" * 200)
    assert len(found[-1].text) < 180 and found[-1].text.count("made-up") == 1


class TestReplies:
    def judge(self, ward, *replies, disputed=("p01", "p02"), retrieved=()):
        found = admit_replies(replies, disputed, known(ward, retrieved))
        return {reply.patient: reply for reply in found.replies}, [fault.text for fault in found.faults]

    def test_missing_doubled_and_undisputed_ones_are_void(self, ward):
        counted, faults = self.judge(ward, Reply("p01", "concede"), Reply("p01", "maintain"), Reply("p03", "concede"))
        assert [counted[each].kind for each in ("p01", "p02")] == ["concede", "maintain"]
        assert faults == [
            "second reply on 'p01'",
            "reply on 'p03', who is not disputed",
            "no reply on 'p02': counts as maintain",
        ]

    def test_a_void_reason_turns_the_reply_into_maintain(self, ward):
        biased = Reply("p01", "challenge", Reason("p01", "group", ("group",)))
        invented = Reply("p02", "justify", Reason("p02", "benefit", (), ("made-up",)))
        counted, faults = self.judge(ward, biased, invented)
        assert counted == {"p01": Reply("p01", "maintain"), "p02": Reply("p02", "maintain")}
        assert "protected fact 'group'" in faults[0] and "'made-up'" in faults[1]

    @pytest.mark.parametrize("kind", ["challenge", "justify"])
    def test_what_needs_a_reason_is_void_without_one(self, ward, kind):
        counted, faults = self.judge(ward, Reply("p01", kind), Reply("p02", "revise"))
        assert counted["p01"].kind == "maintain" and counted["p02"].kind == "revise"
        assert faults == [f"{kind} on 'p01' without a reason"]

    def test_a_reason_on_somebody_else_is_void(self, ward):
        counted, faults = self.judge(ward, Reply("p01", "justify", Reason("p02", "benefit")), Reply("p02", "maintain"))
        assert counted["p01"].kind == "maintain"
        assert faults == ["reply on 'p01' with a reason on 'p02'"]

    def test_a_protected_citation_is_found_in_parts_that_are_void_anyway(self, ward):
        """In a second reply, in one on nobody disputed, and in a reason on somebody else."""
        cites = Reason("p03", "group", ("group",))
        replies = (
            Reply("p01", "maintain"),
            Reply("p01", "maintain", dataclasses.replace(cites, patient="p01")),
            Reply("p03", "challenge", cites),
            Reply("p02", "challenge", cites),
        )
        found = admit_replies(replies, ("p01", "p02"), known(ward)).faults
        assert [(fault.place, fault.why) for fault in found] == [
            (1, "protected_fact"), (1, "second"), (2, "protected_fact"), (2, "not_disputed"), (3, "protected_fact"),
            (3, "other_patient"),
        ]  # fmt: skip
        assert {fault.part for fault in found} == {"reply"}
