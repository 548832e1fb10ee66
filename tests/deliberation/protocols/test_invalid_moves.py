"""Moves that are no moves: each is refused in one place, with the name of the agent, the phase and the step."""

import dataclasses

import numpy as np
import pytest

from accordant.agents import Acted, Answer, Ballot, Contestation, Proposal, Reason, Reply
from accordant.deliberation.protocols.debate import debate
from accordant.deliberation.protocols.offers import alternating_offers
from accordant.deliberation.protocols.debate import vote_after_debate
from accordant.errors import InputError, InvalidMoveError, UnknownNameError


class Spoken:
    """A utility with a readable value, and what it says of itself."""

    def __init__(self, said=None, of=None):
        self.said, self.read = said, of or (lambda shares: shares[:, 0])

    def of(self, shares):
        return self.read(shares)

    def to_json(self):
        return self.said


class Mute:
    def of(self, shares):
        return shares[:, 0]


def raising(error):
    def read(shares):
        raise error

    return read


def utility(made):
    return lambda agent, view: dataclasses.replace(agent.best(view), utility=made)


def reasons(*given):
    return lambda agent, view: dataclasses.replace(agent.best(view), reasons=given)


def run(small, phase, move):
    agents = [small.Scripted("bad", {phase: move}, values=range(12)), small.Scripted("good", values=range(12, 0, -1))]
    return (vote_after_debate if phase == "vote" else debate)(small.ward(), agents)


INVALID = {
    "no reasons": ("propose", lambda a, v: dataclasses.replace(a.best(v), reasons=None), "the reasons: found None; allowed: tuple"),
    "list of reasons": ("propose", lambda a, v: dataclasses.replace(a.best(v), reasons=[]), r"the reasons: found \[\]"),
    "no reason": ("propose", reasons(1), "the reasons: found 1 among them; allowed: a tuple of Reason"),
    "no facts": ("propose", reasons(Reason("p00", "x", None)), "facts of the reason on 'p00': found None; allowed: tuple"),
    "facts as a text": ("propose", reasons(Reason("p00", "x", "group")), "facts of the reason on 'p00': found 'group'"),
    "facts as a list": ("propose", reasons(Reason("p00", "x", ["group"])), "facts of the reason on 'p00': found"),
    "a fact that is no text": ("propose", reasons(Reason("p00", "x", (1,))), "found 1 among them; allowed: a tuple of str"),
    "passages as a text": ("propose", reasons(Reason("p00", "x", (), "u")), "passages of the reason on 'p00': found 'u'"),
    "no patient": ("propose", reasons(Reason(0, "x")), "the patient of a reason: found 0; allowed: str"),
    "no code": ("propose", reasons(Reason("p00", None)), "the code of the reason on 'p00': found None"),
    "no text": ("propose", reasons(Reason("p00", "x", text=None)), "the text of the reason on 'p00': found None"),
    "retrieved as a text": ("propose", lambda a, v: dataclasses.replace(a.best(v), retrieved="u-1"), "looked up: found 'u-1'"),
    "no allocation": ("propose", lambda a, v: dataclasses.replace(a.best(v), allocation=None), "proposed: found None; allowed: A"),
    "no revised": ("contest", lambda a, v: Contestation((), None), "the proposal: found None; allowed: Proposal"),
    "no replies": ("contest", lambda a, v: Contestation(None, a.best(v)), "the replies: found None; allowed: tuple"),
    "no reply": ("contest", lambda a, v: Contestation((1,), a.best(v)), "the replies: found 1 among them; allowed: a tuple of Reply"),
    "kind": ("contest", lambda a, v: Contestation((Reply("p00", "chalenge"),), a.best(v)), "did you mean 'challenge'"),
    "kind as a list": ("contest", lambda a, v: Contestation((Reply("p00", ["x"]),), a.best(v)), "of the kind"),
    "a text as a reason": ("contest", lambda a, v: Contestation((Reply("p00", "justify", "x"),), a.best(v)), "'p00': found 'x'"),
    "no counter": ("answer", lambda a, v: Answer("good", None), "the proposal: found None; allowed: Proposal"),
    "accepts a list": ("answer", lambda a, v: Answer(["good"], a.best(v)), r"accepted: found \['good'\]; allowed: str"),
    "no ranking": ("vote", Ballot(None), "the ranking is None"),
    "a ranking of texts": ("vote", Ballot((0, "a")), "the ranking is"),
    "a ranking of floats": ("vote", Ballot((0.0, 1.0)), "every candidate from 0 to 1 once"),
    "a ranking of truths": ("vote", Ballot((False, True)), "the ranking is"),
    "a utility without words": ("propose", utility(Mute()), "cannot be written down as JSON"),
    "NaN in words": ("propose", utility(Spoken(float("nan"))), "cannot be written down as JSON"),
    "an array in words": ("propose", utility(Spoken(np.arange(3))), "cannot be written down as JSON"),
    "no numbers": ("propose", utility(Spoken(of=lambda shares: shares[:, 0] * np.nan)), "one finite number for each"),
    "too few numbers": ("propose", utility(Spoken(of=lambda shares: 1.0)), r"shape \(\) for 12 allocations"),
    "unreadable": ("propose", utility(Spoken(of=raising(ValueError("dark")))), "its utility cannot be read: dark"),
    "nothing to call": ("propose", utility(object()), "allowed: the agent's own"),
}  # fmt: skip


@pytest.mark.parametrize("name", INVALID)
def test_what_is_no_move_names_agent_phase_and_step(small, name):
    phase, move, match = INVALID[name]
    step = {"propose": 1, "contest": 2, "answer": 3, "vote": 3}[phase]
    with pytest.raises(InvalidMoveError, match=rf"agent 'bad', {phase} at step {step}: .*{match}"):
        run(small, phase, move)


@pytest.mark.parametrize(
    "error", [InputError("what"), UnknownNameError("fact", "what", ["a"]), InvalidMoveError("what")]
)
def test_input_errors_inside_an_agent_name_it(small, error):
    def fails(agent, view):
        raise error

    with pytest.raises(InvalidMoveError, match="agent 'bad', contest at step 2: .*what") as found:
        run(small, "contest", fails)
    assert found.value.__cause__ is error


@pytest.mark.parametrize("error", [ZeroDivisionError("what"), RuntimeError("what"), KeyError("what")])
def test_other_errors_keep_their_type_and_name_it_in_a_note(small, error):
    def fails(agent, view):
        raise error

    for move in (fails, utility(Spoken(of=raising(error))))[: 1 + (not isinstance(error, LookupError))]:
        error.__notes__ = []
        with pytest.raises(type(error), match="what") as found:
            run(small, "propose", move)
        assert found.value.__notes__ == ["raised by agent 'bad', propose at step 1"]


def test_what_an_agent_returns_must_say_how_it_came_about(small):
    class Bare(small.Scripted):
        def acted(self, view):
            return self.act(view) if self.name == "bare" else Acted(self.act(view), None)

    for name, match in (
        ("bare", "what the agent returned: found Proposal.*allowed: Acted"),
        ("odd", "who wrote the texts: found None"),
    ):
        with pytest.raises(InvalidMoveError, match=f"agent {name!r}, propose at step 1: {match}"):
            debate(small.ward(), [Bare(name)])


def test_the_same_holds_for_what_nobody_hears(small):
    with pytest.raises(InvalidMoveError, match="agent 'bad', propose at step 1: the reasons: found None"):
        alternating_offers(small.ward(), [small.Scripted("bad", {"propose": INVALID["no reasons"][1]})])


class TestArguments:
    def test_seeds_are_whole_numbers_of_any_type(self, small):
        agents = [small.Scripted("a"), small.Scripted("b")]
        hashes = {debate(small.ward(), agents, seed=seed).hash for seed in (1, np.int64(1), np.uint8(1))}
        assert len(hashes) == 1
        for seed in (1.0, True, "1", None):
            with pytest.raises(InputError, match="the seed is .*; allowed: a whole number"):
                debate(small.ward(), agents, seed=seed)

    def test_agents_may_come_from_a_generator_and_need_names(self, small):
        names = "ab"
        expected = debate(small.ward(), [small.Scripted(name) for name in names])
        assert debate(small.ward(), (small.Scripted(name) for name in names)).hash == expected.hash
        assert len(alternating_offers(small.ward(), (small.Scripted(name) for name in names), steps=3).turns) == 3
        with pytest.raises(InputError, match="an agent is called 7; allowed: a text"):
            debate(small.ward(), [small.Scripted(7), small.Scripted("a")])

    def test_steps_and_first_are_whole_numbers(self, small):
        for options, match in (({"steps": 2.5}, "number of steps is 2.5"), ({"first": 0.0}, "first is 0.0")):
            with pytest.raises(InputError, match=match):
                alternating_offers(small.ward(), [small.Scripted("a")], **options)
        with pytest.raises(InputError, match="at least one agent"):
            alternating_offers(small.ward(), [])


def test_a_valid_move_is_kept_as_it_was_made(small):
    """What was checked is what stands in the transcript; only the scenario of the allocation is the whole one."""
    said = Reason("p00", "x", ("severity",), ("u",), "because")
    made = {}

    def propose(agent, view):
        made["it"] = agent.best(view, [said], ["u"])
        return made["it"]

    held = debate(small.ward(), [small.Scripted("a", {"propose": propose}, facts=("severity",)), small.Scripted("b")])
    found = held.turns[0].move
    assert isinstance(found, Proposal) and found.to_json() == made["it"].to_json()
    assert found.utility is made["it"].utility and found.allocation.scenario is held.scenario
