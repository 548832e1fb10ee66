"""A person at two streams: what is shown, what is understood, what is asked again."""

import io

import pytest

from accordant.agents import Proposal, View, create
from accordant.agents.people import HumanAgent
from accordant.allocations import AdditiveUtility, Allocation, Claimant, Resource, Scenario
from accordant.errors import InputError, InvalidMoveError


@pytest.fixture
def scenario():
    facts = [("mild", 0.25), ("strange\x1b[31m\nnote " + "x" * 90, 0.5), ("none", 1.0)]
    return Scenario(
        [Claimant(f"p{i}", {"note": note, "severity": s}) for i, (note, s) in enumerate(facts)], [Resource("bed", 1)]
    )


def person(*lines):
    """A person who answers these lines, and what the person was shown."""
    shown, left = [], iter(lines)

    def ask(question):
        shown.append(question)
        for line in left:
            return line
        raise EOFError

    return HumanAgent(ask=ask, tell=shown.append), shown


def standing(scenario, **granted):
    flat = AdditiveUtility([0.0] * len(scenario.ids))
    return {name: Proposal(Allocation.whole(scenario, ids), flat) for name, ids in granted.items()}


class TestProposing:
    def test_ids_in_order_of_importance(self, scenario):
        agent, _ = person("p2")
        found = agent.act(View("human", "propose", scenario))
        assert found.allocation.claimants == ("p2",)
        assert found.utility.values.tolist() == pytest.approx([0, 0, 1])
        assert [(each.patient, each.code) for each in found.reasons] == [("p2", "stated")]

    def test_values_fall_with_the_place(self):
        ward = Scenario([Claimant(p, {}) for p in "abcd"], [Resource("bed", 3)])
        agent, _ = person("d, a b\n")
        assert agent.act(View("human", "propose", ward)).utility.values.tolist() == [0.75, 0.5, 0, 1.0]

    def test_several_resources_and_parts(self):
        ward = Scenario(
            [Claimant(p, {}, {"bed": 1, "oxygen": 2}) for p in "ab"], [Resource("bed", 1), Resource("oxygen", 3, 0.5)]
        )
        agent, shown = person("a b oxygen=1", "b oxygen=1.5 a bed=1 oxygen=1.5")
        found = agent.act(View("human", "propose", ward)).allocation
        assert found.to_json() == {"a": {"bed": 1, "oxygen": 2}, "b": {"oxygen": 1}}
        assert "id resource=units" in "".join(shown)

    @pytest.mark.parametrize(
        ("wrong", "explained"),
        [
            ("p9", "unknown patient 'p9'; valid: p0, p1, p2"),
            ("p1 p1", "named twice"),
            ("p1 p2", "2 portions of 'bed' are granted; there are 1"),
            ("", "1 portions of 'bed' are idle"),
            ("bed=1 p1", "comes before any patient"),
            ("p1 bed=much", "allowed: a number"),
            ("p1 bed=nan", "allowed: a number"),
            ("p1 bad=1", "unknown resource 'bad'; did you mean 'bed'"),
            ("p1 bed=0.5", "in portions of 1"),
            ("p1 bed=-1", "allowed: 0 or more"),
        ],
    )
    def test_what_is_wrong_is_explained_and_asked_again(self, wrong, explained, scenario):
        agent, shown = person(wrong, "p0")
        assert agent.act(View("human", "propose", scenario)).allocation.claimants == ("p0",)
        assert any(explained in text for text in shown)
        assert sum(text.startswith("grant") for text in shown) == 2

    @pytest.mark.parametrize("lines", [("q",), ("p9", " q "), ()])
    def test_leaving(self, lines, scenario):
        agent, _ = person(*lines)
        with pytest.raises(InvalidMoveError, match="left|ended"):
            agent.act(View("human", "propose", scenario))

    def test_the_table(self, scenario):
        agent, shown = person("p0")
        agent.act(View("human", "propose", scenario.seen(["severity"])))
        assert shown[0].splitlines() == [
            "human: propose, step 1. bed: 1 units",
            "patient  severity  needs bed",
            "p0       0.25      1",
            "p1       0.50      1",
            "p2       1         1",
        ]

    def test_texts_of_unknown_origin_cannot_move_the_cursor(self, scenario):
        agent, shown = person("p0")
        agent.act(View("human", "propose", scenario))
        assert "\x1b" not in shown[0]
        assert len(shown[0].splitlines()) == 5
        assert "x" * 70 not in shown[0]


class TestContesting:
    def view(self, scenario):
        proposals = standing(scenario, human=["p0"], other=["p2"])
        return View("human", "contest", scenario, proposals=proposals, disputed=("p0", "p2"), step=2)

    def test_replies_then_a_proposal(self, scenario):
        agent, shown = person("maintain", "challenge can wait until noon", "p0")
        found = agent.act(self.view(scenario))
        assert [(each.patient, each.kind) for each in found.replies] == [("p0", "maintain"), ("p2", "challenge")]
        assert found.replies[1].reason.text == "can wait until noon"
        assert found.replies[1].reason.code == "stated"
        assert found.revised.allocation.claimants == ("p0",)
        assert "p2       0%     100%   *" in shown[1].splitlines()

    def test_faults(self, scenario):
        agent, shown = person("mantain", "justify", "justify  is first", "concede", "p0", "p2")
        found = agent.act(self.view(scenario))
        assert found.revised.allocation.claimants == ("p2",)
        assert found.replies[0].reason.text == "is first"
        for part in ("did you mean 'maintain'", "'justify' needs a reason", "'p2' was conceded and still gets 0%"):
            assert any(part in text for text in shown)


class TestAnsweringAndVoting:
    def test_accept_or_counter(self, scenario):
        view = View("human", "answer", scenario, proposals=standing(scenario, human=["p0"], other=["p2"]))
        agent, _ = person("other", "p0")
        assert agent.act(view).accepts == "other"
        agent, shown = person("others", "", "p1")
        found = agent.act(view)
        assert found.accepts is None
        assert found.counter.allocation.claimants == ("p1",)
        assert any("did you mean 'other'" in text for text in shown)

    def test_ranking(self, scenario):
        candidates = tuple(Allocation.whole(scenario, [p]) for p in scenario.ids)
        agent, shown = person("3 1", "1 1 2", "3 1 2")
        assert agent.act(View("human", "vote", scenario, candidates=candidates)).ranking == (2, 0, 1)
        assert sum("each number from 1 to 3 once" in text for text in shown) == 2
        assert "2  p1 (bed=1)" in shown[1]


class TestTerminal:
    def test_asks_on_standard_error(self, scenario, monkeypatch, capsys):
        monkeypatch.setattr("sys.stdin", io.StringIO("p1\n"))
        agent = create("human")
        assert agent.act(View("human", "propose", scenario)).allocation.claimants == ("p1",)
        with pytest.raises(InvalidMoveError, match="the input ended"):
            agent.act(View("human", "propose", scenario))
        said = capsys.readouterr()
        assert said.out == ""
        assert "grant (" in said.err

    def test_says_that_it_is_a_person(self):
        said = create("human", {"name": "Ana", "facts": ("severity",), "concession": "boulware"}).to_json()
        assert (said["name"], said["kind"], said["generated_by"], said["facts"]) == (
            "Ana",
            "person",
            "person",
            ["severity"],
        )
        assert said["concession"] == "boulware"


@pytest.mark.parametrize("wrong", [{"ask": "x"}, {"tell": "x"}])
def test_streams_have_no_name(wrong):
    with pytest.raises(InputError, match="unknown parameter .*valid: name, facts, concession"):
        create("human", wrong)


@pytest.mark.parametrize("facts", ["severity", 3, [1]])
def test_facts_are_a_list(facts):
    with pytest.raises(InputError, match="facts is .*allowed: a list of texts"):
        create("human", {"facts": facts})
