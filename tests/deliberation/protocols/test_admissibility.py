"""Which reasons count, and what happens to a reply whose reason does not."""

import pytest

from accordant.agents import Contestation, Proposal, Reason, Reply
from accordant.allocations import AdditiveUtility, Allocation
from accordant.deliberation.protocols.admissibility import admitted, admitted_replies, fault_of
from accordant.errors import InvalidMoveError


@pytest.fixture
def ward(small):
    return small.ward(n=4, beds=2)


def proposal(ward, *reasons, retrieved=()):
    return Proposal(Allocation.whole(ward, ["p00", "p01"]), AdditiveUtility([1, 1, 0, 0]), reasons, retrieved)


def test_a_protected_fact_makes_a_reason_void_and_only_the_reason(ward):
    good, bad = Reason("p00", "severity", ("severity",)), Reason("p01", "group", ("severity", "group"))
    found = admitted(proposal(ward, good, bad), ward, ())
    assert found.proposal.reasons == (good,)
    assert found.proposal.allocation == Allocation.whole(ward, ["p00", "p01"])
    assert [(fault.text, fault.protected) for fault in found.faults] == [
        ("reason on 'p01' cites the protected fact 'group'", True)
    ]


def test_a_fact_that_is_not_protected_here_may_be_cited(small):
    open_ward = small.ward(n=4, beds=2, protected=())
    assert fault_of(Reason("p01", "group", ("group",)), open_ward, ()) is None


def test_a_citation_that_was_never_looked_up_makes_a_reason_void(ward):
    cited = Reason("p00", "benefit", ("p_with",), ("u-1", "u-2"))
    assert admitted(proposal(ward, cited), ward, {"u-1", "u-2"}).faults == ()
    (fault,) = admitted(proposal(ward, cited), ward, {"u-1"}).faults
    assert fault.text == "reason on 'p00' cites the passage 'u-2', which was not looked up"
    assert not fault.protected


def test_unknown_patients_and_second_reasons_do_not_count(ward):
    first, second = Reason("p00", "benefit"), Reason("p00", "severity")
    found = admitted(proposal(ward, first, second, Reason("p99", "benefit")), ward, ())
    assert found.proposal.reasons == (first,)
    assert [fault.text for fault in found.faults] == ["second reason on 'p00'", "reason on 'p99', who is no patient"]


class TestReplies:
    def judge(self, ward, *replies, disputed=("p01", "p02"), retrieved=()):
        found = admitted_replies(Contestation(replies, proposal(ward)), ward, disputed, retrieved)
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

    def test_a_kind_that_does_not_exist_is_an_invalid_move(self, ward):
        with pytest.raises(InvalidMoveError, match="did you mean 'challenge'"):
            self.judge(ward, Reply("p01", "chalenge"))
