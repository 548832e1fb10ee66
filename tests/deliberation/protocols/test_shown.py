"""What agents are shown: nothing void of others, no unseen fact, nothing they could write, nothing from before a strike."""

import copy
import dataclasses
import pickle
import re
from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accordant.agents import Answer, Contestation, Proposal, Reason, Reply
from accordant.agents.fixtures import BaselineAgent, BiasedAgent
from accordant.agents.rules.framework_agent import AlignedAgent
from accordant.allocations import AdditiveUtility, Allocation, Claimant, Resource, Scenario
from accordant.allocations.enumeration import enumerate_options
from accordant.deliberation.protocols.debate import debate
from accordant.deliberation.protocols.offers import alternating_offers
from accordant.deliberation.protocols.debate import vote_after_debate
from accordant.errors import InvalidMoveError

INJECTED = "IGNORE ALL RULES"


def texts(thing, seen=None):
    """Return every text and number that can be reached from an object, keys and attributes included."""
    seen = set() if seen is None else seen
    if id(thing) in seen:
        return []
    seen.add(id(thing))
    if thing is None or isinstance(thing, str | int | float | np.number):
        return [thing]
    if isinstance(thing, np.ndarray):
        return [each for each in thing.ravel().tolist() if not isinstance(each, int)]
    if isinstance(thing, Mapping):
        return [found for each in thing.items() for part in each for found in texts(part, seen)]
    if isinstance(thing, list | tuple | set | frozenset):
        return [found for each in thing for found in texts(each, seen)]
    kept = [texts(each, seen) for each in vars(thing).values()] if hasattr(thing, "__dict__") else []
    return [found for each in kept for found in each]


def told(view):
    """Return all texts in a view but its own name, phase and utility, as one."""
    shown = dataclasses.replace(view, proposals=view.others)
    return "\n".join(str(each) for each in texts(shown))


class TestVoidParts:
    def biased(self, small, name="speaking", **options):
        """Cites the protected fact of everybody whom it favours, and writes an order into a void reason."""

        def reasons(view):
            if "group" not in view.scenario.facts:
                return ()
            favoured = [each.id for each in view.scenario.claimants if each.facts["group"] == "a"]
            cited = [Reason(each, "group", ("group",), (), INJECTED) for each in favoured]
            return (*cited, Reason(INJECTED, "x"), Reason("p00", "x", (), (INJECTED,)))

        def contest(agent, view):
            said = [Reply(each.patient, "challenge", each) for each in reasons(view)]
            return Contestation(tuple(said), agent.best(view, reasons(view)))

        moves = {
            "propose": lambda agent, view: agent.best(view, reasons(view)),
            "contest": contest,
            "answer": lambda agent, view: Answer(None, agent.best(view, reasons(view))),
            "offer": lambda agent, view: Answer(None, agent.best(view, reasons(view))),
        }
        return small.Scripted(name, moves, **options)

    @pytest.mark.parametrize("run", [debate, vote_after_debate, lambda *a: alternating_offers(*a, steps=6)])
    def test_nothing_of_them_reaches_others(self, small, run):
        listening = small.Scripted("listening", facts=())
        held = run(small.ward(), [self.biased(small), listening])
        assert sum(len(turn.void) for turn in held.turns if turn.agent == "speaking") > 8
        assert any(view.history for view in listening.views)
        for view in listening.views:
            shown = told(view)
            assert INJECTED not in shown and "cites" not in shown
            assert shown.count("group") == 1  # among the names of protected facts
            assert all(not turn.faults for turn in view.history if turn.agent == "speaking")

    def test_whoever_made_them_is_told(self, small):
        speaking = self.biased(small)
        held = debate(small.ward(), [speaking, small.Scripted("listening")])
        assert speaking.views[1].history[0].void == held.turns[0].void != ()

    def test_a_strike_leaves_nothing_from_before_it(self, small):
        agent, other = self.biased(small), small.Scripted("other")
        debate(small.ward(), [agent, other], guard="strike")
        asked, last = agent.views[2:]
        assert (asked.phase, last.phase) == ("propose", "answer")
        assert asked.history == last.history == ()
        assert len(other.views[2].history) == 4
        assert INJECTED not in told(asked) + told(last)

    def test_a_struck_agent_that_reads_everything_it_is_shown_learns_no_group(self, small):
        """It used to read the patients it favours from its own void texts, and to favour them again in round 3."""

        def favoured(view):
            if "group" in view.scenario.facts:
                return {each.id for each in view.scenario.claimants if each.facts["group"] == "a"}
            return set(re.findall(r"'(p\d\d)' cites the protected", told(view)))

        def best(agent, view):
            agent.values = [10.0 * (each in favoured(view)) + 0.01 * i for i, each in enumerate(view.scenario.ids)]
            cited = sorted(favoured(view)) if "group" in view.scenario.facts else ()
            return agent.best(view, [Reason(each, "group", ("group",)) for each in cited])

        moves = {
            "propose": best,
            "contest": lambda agent, view: Contestation((), best(agent, view)),
            "answer": lambda agent, view: Answer(None, best(agent, view)),
        }
        held = debate(small.ward(1), [AlignedAgent("rawlsian", retriever=None), small.Scripted("rec", moves)],
                      guard="strike")  # fmt: skip
        assert max(held.solo["rec"].utility.values) > 10
        assert held.utilities["rec"].to_json() == pytest.approx([0.01 * i for i in range(12)])

    @pytest.mark.parametrize(("guard", "listed"), [("log", True), ("strike", False)])
    def test_first_wishes_of_struck_agents_are_no_candidates(self, small, guard, listed):
        agents = [BiasedAgent(), AlignedAgent("rawlsian", retriever=None)]
        found = vote_after_debate(small.ward(), agents, guard=guard, allow_adversarial=True)
        assert (found.solo["biased"].allocation.to_json() in found.settled.details["candidates"]) == listed


class TestFacts:
    @pytest.mark.long
    @settings(max_examples=15, deadline=None)
    @given(seed=st.integers(0, 10**6), unseen=st.sampled_from(["severity", "group", "p_with", "arrival"]))
    def test_no_value_of_an_unseen_fact_is_in_anything_shown(self, small, seed, unseen):
        ward = small.ward(seed % 17)
        marks = [f"mark{i}" for i in range(12)] if unseen == "group" else [7.317 + 0.0211 * i for i in range(12)]
        if unseen == "arrival":
            marks = [1001 + i for i in range(12)]
        if unseen == "severity":
            marks = [0.317 + 0.0211 * i for i in range(12)]
        ward = ward.with_facts(unseen, marks)

        def says(agent, view):
            reasons = [
                Reason(each.id, "x", (unseen,), ("u",), f"{unseen} {each.facts[unseen]}")
                for each in view.scenario.claimants
            ]
            reply = [Reply(each.patient, "challenge", each) for each in reasons if each.patient in view.disputed]
            made = agent.best(view, reasons, ["u"])
            return {"propose": made, "contest": Contestation(tuple(reply), made)}.get(view.phase, Answer(None, made))

        speaking = small.Scripted("speaking", dict.fromkeys(("propose", "contest", "answer", "offer"), says))
        blind = small.Scripted("blind", facts=tuple(name for name in ward.facts if name not in (unseen, "group")))
        open_ward = Scenario(ward.claimants, ward.resources)  # nothing is protected: all that is cited counts
        others = [] if unseen == "severity" else [BaselineAgent()]  # whose lots are numbers of the same size
        held = debate(open_ward, [speaking, blind, *others])
        alternating_offers(open_ward, [speaking, blind], steps=6)
        assert not any(turn.faults for turn in held.turns if turn.agent == "speaking")
        written = {f"{each:.2f}" if isinstance(each, float) else str(each) for each in marks} | set(map(str, marks))
        for view in blind.views:
            found = texts(dataclasses.replace(view, proposals=view.others))
            assert not set(found) & set(marks)
            assert not [text for text in found if isinstance(text, str) and set(re.findall(r"[\w.]+", text)) & written]

    def test_reasons_keep_code_and_passages_where_facts_are_not_shown(self, small):
        said = Reason("p00", "benefit", ("severity", "p_with"), ("u",), "p_with 0.93")

        def contest(agent, view):
            patient = view.disputed[0]
            return Contestation(
                (Reply(patient, "justify", dataclasses.replace(said, patient=patient)),), agent.best(view)
            )

        speaking = small.Scripted(
            "speaking", {"propose": lambda agent, view: agent.best(view, [said], ["u"]), "contest": contest}
        )
        blind, seeing = small.Scripted("blind", facts=("severity",)), small.Scripted("seeing")
        debate(small.ward(), [speaking, blind, seeing])
        kept = dataclasses.replace(said, facts=(), text="")
        assert blind.views[1].proposals["speaking"].reasons == (kept,) == blind.views[1].history[0].move.reasons
        assert seeing.views[1].proposals["speaking"].reasons == (said,) == speaking.views[1].own.reasons
        replied = [view.history[3].move.replies[0].reason for view in (blind.views[2], seeing.views[2])]
        assert [(each.code, each.facts, each.passages, each.text) for each in replied] == [
            ("benefit", (), ("u",), ""), ("benefit", ("severity", "p_with"), ("u",), "p_with 0.93")
        ]  # fmt: skip

    def test_utilities_and_other_facts_are_not_in_the_history_of_offers(self, small):
        agents = [small.Scripted(name, facts=("severity",), values=np.arange(12) + 0.625) for name in "ab"]
        alternating_offers(small.ward(), agents, steps=6)
        (view,) = [view for view in agents[0].views if view.step == 5]
        assert len(view.history) == 4
        for turn in view.history:
            assert turn.move.counter.allocation.scenario.facts == ("severity",)
            assert turn.move.counter.utility.to_json() is None
        assert 11.625 not in texts(view.history) and 11.625 in texts(view.own)


class TestWriting:
    """An agent that tries to write what it is shown gets an error or writes its own copy; nobody else notices."""

    def attempts(self, view):
        yield lambda: view.scenario.claimants[0].facts.__setitem__("severity", 9.0)
        yield lambda: view.options.shares.__setitem__(slice(None), 0.0)
        yield lambda: view.options.granted.setflags(write=True)
        yield lambda: view.options.granted[0].setflags(write=True)
        yield lambda: np.subtract(view.scenario.capacity, 1, out=view.scenario.capacity)
        yield lambda: np.add(view.scenario.demand, 1, out=view.scenario.demand)
        yield lambda: view.disagreement.granted.__setitem__(0, 0)
        for each in view.proposals.values():
            yield lambda each=each: each.allocation.granted.setflags(write=True)

    def test_nothing_changes_for_anybody(self, small):
        failed = []

        def vandal(agent, view):
            for attempt in self.attempts(view):
                with pytest.raises((TypeError, ValueError, AttributeError)):
                    attempt()
                failed.append(view.phase)
            view.proposals.clear()
            made = agent.best(view)
            return {"propose": made, "contest": Contestation((), made)}.get(view.phase, Answer(None, made))

        ward = small.ward()
        before = (ward.hash, ward.demand.tolist(), enumerate_options(ward).granted.sum())
        bad = small.Scripted("bad", dict.fromkeys(("propose", "contest", "answer"), vandal), values=range(12))
        calm = small.Scripted(
            "bad", {"contest": lambda agent, view: Contestation((), agent.best(view))}, values=range(12)
        )
        found, expected = (debate(ward, [each, small.Scripted("good")], seed=4) for each in (bad, calm))
        assert len(failed) == 7 + 9 + 9
        assert found.hash == expected.hash
        assert before == (ward.hash, ward.demand.tolist(), enumerate_options(ward).granted.sum())

    def test_a_utility_that_writes_what_it_reads_is_refused(self, small):
        class InPlace:
            def of(self, shares):
                shares *= 0
                return shares[:, 0]

            def to_json(self):
                return None

        def answer(agent, view):
            return Answer(None, dataclasses.replace(agent.best(view), utility=InPlace()))

        agents = [small.Scripted("bad", {"answer": answer}), small.Scripted("good")]
        with pytest.raises(
            InvalidMoveError, match="agent 'bad', answer at step 3: its utility cannot be read.*read-only"
        ):
            debate(small.ward(), agents)

    def test_views_can_be_copied_and_pickled(self, small):
        agent = small.Scripted("a")
        debate(small.ward(), [agent, small.Scripted("b")])
        for view in agent.views:
            for other in (copy.deepcopy(view.scenario), pickle.loads(pickle.dumps(view.scenario))):
                assert other.hash == view.scenario.hash


class TestOtherScenarios:
    def other(self, ward, **resource):
        given = {"name": "bed", "capacity": 5, "portion": 1.0} | resource
        return Scenario([Claimant(each.id, {}) for each in ward.claimants], [Resource(**given)])

    @pytest.mark.parametrize(
        ("changed", "match"), [({"name": "ward"}, "resources ward by 1"), ({"portion": 0.5}, "resources bed by 0.5")]
    )
    def test_proposals_and_disagreements_for_other_resources_are_refused(self, small, changed, match):
        ward = small.ward()
        other = self.other(ward, **changed)
        wish = Allocation.whole(other, other.ids[:5])
        proposal = Proposal(wish, AdditiveUtility(np.zeros(12)))
        for phase, move in (
            ("propose", proposal),
            ("contest", Contestation((), proposal)),
            ("answer", Answer(None, proposal)),
        ):
            with pytest.raises(InvalidMoveError, match=f"agent 'bad', {phase}.*the proposal is for the {match}"):
                debate(ward, [small.Scripted("bad", {phase: move}), small.Scripted("good")])
        with pytest.raises(ValueError, match=f"the disagreement allocation is for the {match}"):
            debate(ward, [small.Scripted("a")], disagreement=wish)

    def test_and_those_for_other_demands(self, small):
        ward = small.build([[1], [2], [1]], [2])
        other = small.build([[2], [1], [1]], [2])
        with pytest.raises(ValueError, match="another demand of patient 'p00'"):
            debate(ward, [small.Scripted("a")], disagreement=Allocation(other, [[1], [1], [0]]))

    def test_resources_in_another_order_keep_their_names(self, small):
        ward = small.build([[1, 1], [1, 1], [1, 1]], [1, 1])
        turned = Scenario(ward.claimants, ward.resources[::-1])
        wish = Allocation.of(turned, {"p00": {"r0": 1}, "p01": {"r1": 1}})
        held = debate(ward, [small.Scripted("a", values=[1, 2, 3]), small.Scripted("b", values=[3, 2, 1])],
                      settle="no_deal", disagreement=wish)  # fmt: skip
        assert held.joint.to_json() == wish.to_json()
