"""Rule agents: the best proposal, concessions, answers and votes against plain enumeration, and what may not matter."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accordant.agents import Proposal, Turn, View, agents, create
from accordant.agents.rules.framework_agent import Aligned, AlignedAgent
from accordant.agents.concession import Progress, concessions
from accordant.agents.frameworks import Grounds, frameworks
from accordant.agents.frameworks.claims import Egalitarian
from accordant.agents.frameworks.welfarist import Rawlsian
from accordant.agents.rules.outlook import offers_by_agent
from accordant.agents.rules.outlook import Outlook
from accordant.agents.retrieval import Hit, Passage
from accordant.agents.rules.rule import RuleAgent
from accordant.agents.rules.rule import UtilityAgent
from accordant.allocations import AdditiveUtility, Allocation
from accordant.allocations.enumeration import enumerate_options
from accordant.allocations.search import best
from accordant.errors import InputError, UnknownNameError
from accordant.naming import read_names

ALIGNED = frameworks.names()
RULES = (*ALIGNED, "baseline")
SEEDS = st.integers(0, 999)


def rules():
    """All rule agents that are no adversaries, each by its name, and forms that are not additive."""
    return [
        *map(create, RULES),
        UtilityAgent("stated", {"p00": 3, "p02": 2, "p04": 1.5}),
        AlignedAgent(Rawlsian(form="leximin"), name="leximin"),
        AlignedAgent(Egalitarian(form="group_gap", group="group"), name="parity"),
    ]


def said(moves):
    return json.dumps([{name: move.to_json() for name, move in each.items()} for each in moves], sort_keys=True)


class Reader:
    """Counts what it is asked; finds three passages, one of which supports nothing but benefits."""

    def __init__(self):
        self.asked = 0

    def search(self, query, *, framework=None, k=3):
        self.asked += 1
        found = [("x-1", ()), ("x-2", ("benefit",)), ("x-3", ("severity",))]
        return tuple(Hit(Passage(key, framework, "", "", codes=codes), 1.0) for key, codes in found)[:k]


class TestProposals:
    @pytest.mark.few(3)
    @pytest.mark.parametrize("name", RULES)
    @given(seed=SEEDS)
    @settings(max_examples=8, deadline=None)
    def test_nothing_is_liked_better(self, name, seed, ward, seen_by):
        agent, scenario = create(name), ward(seed, n=6, capacities=(2, 3), demands=2)
        options = enumerate_options(scenario)
        view = View(name, "propose", seen_by(agent, scenario), options, seed=seed)
        found = agent.act(view)
        broken = agent.violations(view, options.shares)
        utility = agent.utility(view).of(options.shares)
        mine = options.position(found.allocation)
        assert broken[mine] == broken.min()
        assert utility[mine] == pytest.approx(utility[broken == broken.min()].max(), abs=1e-9)
        first = np.flatnonzero((broken == broken.min()) & (utility >= utility[mine] - 1e-12))[0]
        assert mine == first

    def test_every_patient_who_is_granted_has_a_reason(self, ward):
        scenario = ward(0, capacities=(3,))
        found = create("rawlsian").act(View("r", "propose", scenario.seen(["severity"]), enumerate_options(scenario)))
        assert tuple(each.patient for each in found.reasons) == found.allocation.claimants
        severity = dict(zip(scenario.ids, scenario.numbers("severity")))
        ranks = {p: sum(s > severity[p] for s in severity.values()) + 1 for p in severity}
        for each in found.reasons:
            assert each.text == f"severity {severity[each.patient]:.2f}: rank {ranks[each.patient]} of 8"
            assert (each.code, each.facts) == ("severity", ("severity",))
            assert set(each.passages) <= set(found.retrieved)
            assert all(passage.startswith("rawlsian-") for passage in each.passages)
            assert each.passages

    @pytest.mark.parametrize("name", ALIGNED)
    def test_the_corpus_that_comes_along_supports_every_reason(self, name, ward, seen_by):
        agent, scenario = create(name), ward(0, acuity=[1, 2, 3, 4] * 2)
        found = agent.act(View(name, "propose", seen_by(agent, scenario), enumerate_options(scenario)))
        assert all(each.passages for each in found.reasons)

    @pytest.mark.few(9)
    @pytest.mark.parametrize(("capacity", "granted"), [(0, 0), (8, 8), (30, 8)])
    @pytest.mark.parametrize("name", RULES)
    def test_nothing_or_everything_to_give(self, name, capacity, granted, ward, debate):
        scenario = ward(0, capacities=(capacity,))
        moves = debate(scenario, [create(name), create("egalitarian", {"name": "other"})], enumerate_options(scenario))
        assert len(moves[0][name].allocation.claimants) == len(moves[0][name].reasons) == granted
        assert moves[1][name].replies == ()
        assert moves[2][name].accepts == "other"

    def test_one_patient(self, ward, debate):
        scenario = ward(0, n=1, capacities=(1,))
        moves = debate(scenario, rules()[:3], enumerate_options(scenario))
        assert moves[0]["care"].allocation.claimants == ("p00",)


class TestContestations:
    @given(seed=SEEDS, concession=st.sampled_from(["boulware", "linear", "conceder", "nice", "tough", "micro"]))
    @settings(max_examples=25, deadline=None)
    def test_against_plain_enumeration(self, seed, concession, ward, debate):
        scenario = ward(seed, n=6, capacities=(2,))
        options = enumerate_options(scenario)
        pair = [create("rawlsian", {"concession": concession}), create("egalitarian")]
        first, second, third, _ = debate(scenario, pair, options, seed=seed)
        severity = scenario.numbers("severity")
        utility = options.shares @ severity
        scaled = (utility - utility.min()) / (utility.max() - utility.min())
        target = concessions.create(concession).target(
            Progress(0.5, (1.0,), (0.0,), distinct_received=1, levels=np.unique(scaled.round(12))[::-1])
        )
        other = first["egalitarian"].allocation.shares
        distance = np.abs(options.shares - other).sum(axis=1)
        among = [k for k in range(len(options)) if scaled[k] >= target - 1e-9]
        revised = min(among, key=lambda k: (round(distance[k], 9), -scaled[k], k))
        assert options.position(second["rawlsian"].revised.allocation) == revised
        standing = second["egalitarian"].revised.allocation
        assert third["rawlsian"].counter.allocation == second["rawlsian"].revised.allocation
        accepts = scaled[options.position(standing)] >= scaled[revised] - 1e-9
        assert third["rawlsian"].accepts == ("egalitarian" if accepts else None)

    @given(seed=SEEDS, concession=st.sampled_from(["boulware", "linear", "conceder", "nice", "tough", "micro"]))
    @settings(max_examples=25, deadline=None)
    def test_offers_against_plain_enumeration(self, seed, concession, ward, seen_by):
        scenario = ward(seed, n=6, capacities=(2,))
        options, agent = enumerate_options(scenario), create("rawlsian", {"concession": concession})
        utility = options.shares @ scenario.numbers("severity")
        scaled = (utility - utility.min()) / (utility.max() - utility.min())
        standing = options.allocation(seed % len(options))
        other = Proposal(standing, AdditiveUtility(np.zeros(6)))
        view = View("rawlsian", "offer", seen_by(agent, scenario), options, time=0.9, proposals={"other": other})
        made = agent.act(view)
        late = concessions.create(concession).target(
            Progress(0.9, distinct_received=1, levels=np.unique(scaled.round(12))[::-1])
        )
        distance = np.abs(options.shares - standing.shares).sum(axis=1)
        among = [k for k in range(len(options)) if scaled[k] >= late - 1e-9]
        counter = min(among, key=lambda k: (round(scaled[k], 9), round(distance[k], 9), k))
        assert options.position(made.counter.allocation) == counter
        accepts = scaled[options.position(standing)] >= scaled[counter] - 1e-9
        assert made.accepts == ("other" if accepts else None)

    @pytest.mark.long
    @given(seed=SEEDS)
    @settings(max_examples=10, deadline=None)
    def test_one_reply_for_each_disputed_patient(self, seed, ward, debate):
        scenario = ward(seed, n=6, capacities=(2, 2), demands=2)
        team = rules()
        first, second, _, _ = debate(scenario, team, enumerate_options(scenario), seed=seed)
        shares = np.array([each.allocation.shares for each in first.values()])
        disputed = tuple(p for p, gap in zip(scenario.ids, np.ptp(shares, axis=0)) if gap > 0)
        for name, move in second.items():
            assert tuple(each.patient for each in move.replies) == disputed
            before, after = first[name].allocation.shares, move.revised.allocation.shares
            for each in move.replies:
                place = scenario.index(each.patient)
                assert (each.kind in ("concede", "revise")) == (before[place] != after[place])
                assert (each.reason is not None) == (each.kind in ("challenge", "justify"))
                if each.reason is not None:
                    assert set(each.reason.passages) <= set(move.revised.retrieved)

    def test_a_challenge_compares_numbers(self, ward, debate):
        scenario = ward(0, n=3, capacities=(1,), severity=[0.9, 0.5, 0.2], p_with=[0.9, 0.9, 0.9],
                        p_without=[0.8, 0.5, 0.1])  # fmt: skip
        pair = [create(name, {"concession": "tough"}) for name in ("rawlsian", "utilitarian")]
        _, second, _, _ = debate(scenario, pair, enumerate_options(scenario))
        replies = {each.patient: each for each in second["rawlsian"].replies}
        assert (replies["p02"].kind, replies["p00"].kind) == ("challenge", "justify")
        assert replies["p02"].reason.text == "p00: severity 0.90, rank 1 of 3; p02: severity 0.20, rank 3 of 3"
        assert replies["p00"].reason.text == replies["p02"].reason.text

    def test_who_takes_both_sides_keeps_a_constraint(self, ward, debate):
        """However far it concedes, the rights agent breaks no constraint that it can keep."""
        scenario = ward(
            3, n=6, capacities=(2,), acuity=[1, 3, 3, 3, 3, 1], p_with=[0.9] * 6, severity=[0, 1, 1, 1, 1, 0]
        )
        pair = [create("rights", {"concession": "nice"}), create("rawlsian", {"concession": "tough"})]
        first, second, third, _ = debate(scenario, pair, enumerate_options(scenario))
        for each in (first["rights"], second["rights"].revised, third["rights"].counter):
            assert each.allocation.claimants == ("p00", "p05")
        assert third["rights"].accepts is None


class Forbidding(RuleAgent):
    """Likes p00 best and must not grant it anything; its utility does not say so."""

    about, facts = "Rule agent of a test.", ()

    def utility(self, view):
        return AdditiveUtility(np.array([4.0, 3.0, 2.0, 0.0]))

    def violations(self, view, shares):
        return (shares[:, 0] > 0).astype(np.int64)

    def grounds(self, view, patient):
        return Grounds("stated", (), f"place {patient}")


class TestConstraints:
    """Hard constraints hold even where the utility is not guarded."""

    def moves(self, ward, phase, time=0.0, without=None, **granted):
        scenario = ward(0, n=4, capacities=(1,))
        utility = AdditiveUtility(np.zeros(4))
        proposals = {name: Proposal(Allocation.whole(scenario, [p]), utility) for name, p in granted.items()}
        without = without and Allocation.whole(scenario, [without])
        candidates = tuple(proposals[name].allocation for name in proposals) if phase == "vote" else ()
        return Forbidding("me", "linear").act(
            View("me", phase, scenario, enumerate_options(scenario), time, proposals=proposals, candidates=candidates,
                 disagreement=without)
        )  # fmt: skip

    def test_proposal_and_vote(self, ward):
        assert self.moves(ward, "propose").allocation.claimants == ("p01",)
        assert self.moves(ward, "vote", a="p00", b="p03", c="p02").ranking == (2, 1, 0)

    def test_nothing_that_breaks_one_is_accepted(self, ward):
        assert self.moves(ward, "offer", 1.0, a="p00").accepts is None
        assert self.moves(ward, "offer", 1.0, a="p00", b="p03").accepts == "b"

    def test_nothing_below_the_disagreement_is_accepted_even_if_nothing_permitted_reaches_it(self, ward):
        found = self.moves(ward, "offer", 1.0, "p00", a="p01")
        assert found.accepts is None
        assert found.counter.allocation.claimants == ("p01",)


class TestAnswers:
    def view(self, scenario, time=0.5, **known):
        options = enumerate_options(scenario)
        values = AdditiveUtility(np.zeros(len(scenario.ids)))
        known = {name: Proposal(Allocation.whole(scenario, granted), values) for name, granted in known.items()}
        return View("me", "offer", scenario, options, time=time, proposals=known)

    def test_the_best_of_several_is_accepted(self, ward):
        scenario = ward(0, n=4, capacities=(1,))
        agent = UtilityAgent("me", {"p00": 4, "p01": 3, "p02": 2, "p03": 1})
        assert agent.act(self.view(scenario, a=["p01"], b=["p00"], c=["p00"])).accepts == "b"
        assert agent.act(self.view(scenario, a=["p03"], b=["p02"])).accepts is None
        assert agent.act(self.view(scenario, 1.0, a=["p03"])).accepts == "a"

    def test_nothing_below_the_disagreement_is_accepted(self, ward):
        scenario = ward(0, n=4, capacities=(1,))
        agent = UtilityAgent("me", {"p00": 4, "p01": 3, "p02": 2, "p03": 1}, concession="nice")
        view = self.view(scenario, 1.0, a=["p02"])
        assert agent.act(view).accepts == "a"
        without = View(
            "me", "offer", scenario, view.options, time=1.0, proposals=view.proposals,
            disagreement=Allocation.whole(scenario, ["p01"]),
        )  # fmt: skip
        assert agent.act(without).accepts is None
        assert agent.act(without).counter.allocation.claimants == ("p01",)

    def test_alone_at_the_table(self, ward):
        agent = UtilityAgent("me", {"p00": 1})
        assert agent.act(self.view(ward(0, n=3, capacities=(1,)), 0.0)).accepts is None


class TestVotes:
    def test_own_utility_then_position(self, ward):
        scenario = ward(0, n=4, capacities=(1,))
        candidates = tuple(Allocation.whole(scenario, [p]) for p in ("p03", "p01", "p00", "p02", "p01"))
        agent = UtilityAgent("me", {"p00": 4, "p01": 3})
        assert agent.act(View("me", "vote", scenario, candidates=candidates)).ranking == (2, 1, 4, 0, 3)
        assert agent.act(View("me", "vote", scenario)).ranking == ()

    def test_constraints_come_first(self, ward):
        scenario = ward(0, n=3, capacities=(1,), acuity=[3, 3, 1], p_with=[0.9] * 3)
        candidates = tuple(Allocation.whole(scenario, [p]) for p in ("p00", "p01", "p02"))
        assert create("rights").act(View("r", "vote", scenario, candidates=candidates)).ranking[0] == 2


class TestWhatMayNotMatter:
    @pytest.mark.long
    @given(seed=SEEDS)
    @settings(max_examples=6, deadline=None)
    def test_the_same_view_gives_the_same_move(self, seed, ward, debate):
        scenario = ward(seed, n=6, capacities=(2, 1))
        team, options = rules(), enumerate_options(scenario)
        assert said(debate(scenario, team, options, seed)) == said(debate(scenario, team, options, seed))
        assert said(debate(scenario, team, options, seed)) == said(debate(scenario, rules(), options, seed))

    @pytest.mark.long
    @given(seed=SEEDS, fact=st.sampled_from(["group", "note", "life_years", "dependency", "acuity", "arrival"]))
    @settings(max_examples=12, deadline=None)
    def test_a_fact_that_an_agent_is_not_shown(self, seed, fact, ward, debate):
        scenario = ward(seed, n=6, capacities=(2,))
        permuted = scenario.with_facts(fact, np.roll(scenario.column(fact), 1 + seed % 5).tolist())
        team = [each for each in rules() if each.facts is not None and fact not in each.facts]
        assert len(team) >= 3
        before, after = (
            debate(each, team, enumerate_options(each), seed, Allocation.whole(each, ["p00", "p01"]))
            for each in (scenario, permuted)
        )
        assert said(before) == said(after)

    def test_every_registered_rule_agent_is_among_them(self):
        """Those left out need a person, values, or permission."""
        assert set(agents.names()) - set(RULES) <= {"utility", "biased", "human"}

    @pytest.mark.parametrize("name", RULES)
    def test_agents_keep_no_state(self, name, ward, debate):
        scenario, other = ward(1, n=6), ward(2, n=6)
        used = create(name)
        debate(other, [used, create("baseline", {"name": "x"})], enumerate_options(other))
        assert said(debate(scenario, [used], enumerate_options(scenario))) == said(
            debate(scenario, [create(name)], enumerate_options(scenario))
        )


class TestFeasibility:
    @pytest.mark.long
    @given(seed=SEEDS, portion=st.sampled_from([1.0, 0.5]))
    @settings(max_examples=10, deadline=None)
    def test_several_resources(self, seed, portion, ward, debate):
        """An allocation cannot be made if it is infeasible; here it must fit the scenario with all facts too."""
        scenario = ward(seed, n=5, capacities=(2, 1), portion=portion, demands=2)
        for moves in debate(scenario, rules(), enumerate_options(scenario), seed)[:3]:
            for move in moves.values():
                proposal = getattr(move, "revised", None) or getattr(move, "counter", move)
                granted = proposal.allocation.granted
                assert (granted <= scenario.demand).all()
                assert (granted.sum(axis=0) == np.minimum(scenario.capacity, scenario.demand.sum(axis=0))).all()
                assert Allocation(scenario, granted) == proposal.allocation

    @pytest.mark.long
    def test_too_many_options_to_list(self, ward, debate):
        scenario = ward(5, n=12, capacities=(5, 4), acuity=[1, 2, 3] * 4)
        team = [create(name) for name in ("rawlsian", "rights", "sufficientarian")]
        moves = debate(scenario, team, None, seed=2)
        assert said(moves) == said(debate(scenario, team, None, seed=2))
        first, second, third, _ = moves
        np.testing.assert_array_equal(
            first["rawlsian"].allocation.granted, best(scenario, scenario.numbers("severity"))
        )
        rights = frameworks.create("rights")
        for each in (first["rights"], second["rights"].revised, third["rights"].counter):
            assert rights.violations(scenario, each.allocation.shares[None]).tolist() == [0]
        far, near = (
            np.abs(each.shares - first["rights"].allocation.shares).sum()
            for each in (first["rawlsian"].allocation, second["rawlsian"].revised.allocation)
        )
        assert near < far

    @pytest.mark.parametrize("seed", range(3))
    def test_the_way_to_the_others_is_searched(self, seed, ward):
        """Exact twin: m swaps cost least if one's lowest go for the others' highest; as many as the target bears."""
        scenario, random = ward(seed, n=40, capacities=(15,)), np.random.default_rng(seed)
        values = dict(zip(scenario.ids, random.uniform(size=40).tolist()))
        ranked = sorted(values, key=values.get)
        other = sorted(random.choice(scenario.ids, 15, replace=False).tolist())
        flat = AdditiveUtility(np.zeros(40))
        view = View("me", "contest", scenario, None, 0.3, disputed=(), proposals={
            "other": Proposal(Allocation.whole(scenario, other), flat),
            "me": Proposal(Allocation.whole(scenario, ranked[-15:]), flat),
        })  # fmt: skip
        revised = UtilityAgent("me", values).act(view).revised.allocation
        mine = [p for p in ranked[-15:] if p not in other]
        theirs = [p for p in reversed(ranked[:-15]) if p in other]
        low, high = (sum(values[p] for p in some) for some in (ranked[:15], ranked[-15:]))
        left = np.cumsum([values[take] - values[drop] for drop, take in zip(mine, theirs)]) + high
        swaps = int((left >= low + 0.7 * (high - low)).sum())
        assert len(set(revised.claimants) & set(other)) == 15 - len(mine) + swaps
        assert 0 < swaps < len(mine)


class TestProgress:
    def test_offers_come_from_history_and_standing_proposals(self, ward):
        scenario = ward(0, n=3, capacities=(1,))
        utility = AdditiveUtility(np.array([1.0, 0.5, 0.0]))
        offer = {p: Proposal(Allocation.whole(scenario, [p]), utility) for p in scenario.ids}
        history = (Turn(1, "me", offer["p00"]), Turn(1, "x", offer["p02"]), Turn(1, "y", offer["p02"]))
        standing = {"me": offer["p01"], "x": offer["p01"], "y": offer["p02"]}
        view = View("me", "contest", scenario, enumerate_options(scenario), 0.4, proposals=standing, history=history)
        assert [len(each) for each in offers_by_agent(view).values()] == [2, 2, 1]
        found = Outlook.of(view, utility, lambda shares: np.zeros(len(shares), dtype=int)).progress()
        assert (found.time, found.made, found.reservation) == (0.4, (1.0, 0.5), 0.0)
        assert found.received == (0.0, 0.0, 0.5)
        assert found.distinct_received == 2
        assert found.opponents == ((0.0, 0.5), (0.0,))
        assert found.levels.tolist() == [1.0, 0.5, 0.0]


class TestAligned:
    def test_names_and_parameters(self):
        agent = create("rawlsian", {"name": "R", "concession": "boulware", "form": "leximin"})
        assert (agent.name, agent.concession.name, agent.facts) == ("R", "boulware", ("p_with", "p_without"))
        assert create("procedural").framework == create("libertarian").framework
        assert agent.to_json()["parameters"] == {"form": "leximin", "aversion": 50.0}
        assert "rule agent" in agent.about.lower()
        assert (agent.generated_by, agent.kind, agent.adversarial) == ("template", "rule", False)
        json.dumps(agent.to_json())

    def test_wrong_names(self):
        with pytest.raises(UnknownNameError, match="did you mean 'rawlsian'"):
            create("rawlsean")
        with pytest.raises(UnknownNameError, match="concession strategy"):
            create("rawlsian", {"concession": "soft"})
        with pytest.raises(InputError, match="unknown parameter"):
            create("rawlsian", {"framework": "care"})
        with pytest.raises(InputError, match="retriever is 'bm25'"):
            create("rawlsian", {"retriever": "bm25"})
        for wrong in ({"k": 0}, {"k": True}, {"k": "3"}):
            with pytest.raises(InputError, match="k is .*allowed: 1 or more passages"):
                create("rawlsian", wrong)
        for wrong in (3, "none", ["x"]):
            with pytest.raises(InputError, match="retriever is .*allowed: 'built_in'"):
                create("rawlsian", {"retriever": wrong})
        for name in ("rawlsian", "baseline", "human"):
            for wrong in (3, "", []):
                with pytest.raises(InputError, match="name is .*allowed: a text"):
                    create(name, {"name": wrong})
            with pytest.raises(InputError, match="concession is 3; allowed: boulware"):
                create(name, {"concession": 3})

    @pytest.mark.parametrize(
        ("text", "found"),
        [
            ("rights[threshold=0.9]", {"threshold": 0.9, "order": "lottery"}),
            ("rights[threshold=.9]", {"threshold": 0.9, "order": "lottery"}),
            ("rights[order=arrival,concession=tough]", {"threshold": 0.2, "order": "arrival"}),
            ("deontological[threshold=0.9]", {"threshold": 0.9, "order": "lottery"}),
            ("rawlsian[form=leximin, k=1]", {"form": "leximin", "aversion": 50.0}),
            ("egalitarian[form=group_gap,group=sex]", {"form": "group_gap", "group": "sex"}),
            ("utilitarian[life_years=true]", {"life_years": True}),
        ],
    )
    def test_parameters_of_frameworks_stand_beside_those_of_agents(self, text, found):
        """As the command line and a case file give them."""
        [named] = read_names(text, "--agents")
        assert create(named.name, named.parameters).to_json()["parameters"] == found

    def test_an_unknown_parameter_names_the_nearest(self):
        with pytest.raises(InputError, match="unknown parameter 'treshold'; did you mean 'threshold'.*concession"):
            create("rights", {"treshold": 0.9})
        with pytest.raises(InputError, match="unknown parameter 'threshold'"):
            create("rawlsian", {"threshold": 0.9})
        with pytest.raises(InputError, match="unknown parameter 'parameters'"):
            create("rights", {"parameters": {"threshold": 0.9}})

    def test_a_framework_cannot_take_a_name_of_its_agent(self, monkeypatch):
        monkeypatch.setattr(frameworks, "_factories", {**frameworks._factories, "mine": lambda k=3: None})
        with pytest.raises(InputError, match="framework 'mine' has the parameter 'k'"):
            Aligned("mine")

    def test_passages_are_looked_up_once_and_only_those_that_support_are_cited(self, ward):
        reader, scenario = Reader(), ward(0)
        agent = AlignedAgent("rawlsian", retriever=reader)
        for _ in range(3):
            found = agent.act(View("r", "propose", scenario, enumerate_options(scenario)))
        assert reader.asked == 1
        assert {each.passages for each in found.reasons} == {("x-1", "x-3")}
        assert found.retrieved == ("x-1", "x-3")
        assert AlignedAgent("rawlsian", retriever=reader, k=1).citations("severity") == ("x-1",)

    def test_without_a_corpus_only_the_citations_go(self, ward, debate):
        scenario = ward(0)
        with_corpus, without = (
            debate(scenario, [create(n, {"retriever": r}) for n in ("care", "rawlsian")], enumerate_options(scenario))
            for r in ("built_in", None)
        )
        assert said(with_corpus) != said(without)
        assert all(each.retrieved == () for each in without[0].values())
        for first, second in zip(with_corpus[:1], without[:1]):
            assert {n: m.allocation for n, m in first.items()} == {n: m.allocation for n, m in second.items()}


class TestStated:
    def test_who_is_not_named_is_worth_nothing(self, ward):
        scenario = ward(0, n=3)
        view = View("me", "propose", scenario.seen(()), enumerate_options(scenario))
        assert UtilityAgent("me", {"p01": 2}).utility(view).values.tolist() == [0, 2, 0]
        assert create("utility", {"name": "me", "values": {"p01": 2}}).facts == ()

    def test_unknown_patients_and_values(self, ward):
        view = View("me", "propose", ward(0, n=3), enumerate_options(ward(0, n=3)))
        with pytest.raises(UnknownNameError, match="patient 'p9'"):
            UtilityAgent("me", {"p9": 2}).act(view)
        for wrong in (float("nan"), "much", True):
            with pytest.raises(InputError, match="finite number"):
                UtilityAgent("me", {"p00": wrong})
        with pytest.raises(InputError, match="'values' is missing"):
            create("utility", {"name": "me"})
        with pytest.raises(InputError, match="values is 3; allowed: patients"):
            create("utility", {"name": "me", "values": 3})

    def test_values_can_be_written_on_the_command_line(self):
        read = read_names('utility[name=me,values={"p01":1,"p02": 0.5}],rights[threshold=0.9]', "--agents")
        assert [each.name for each in read] == ["utility", "rights"]
        assert create("utility", read[0].parameters).values == {"p01": 1, "p02": 0.5}


def test_a_rule_agent_without_utility_cannot_be_made():
    with pytest.raises(TypeError):
        RuleAgent("x", "linear")
