"""Rankers speak in a market: once per request, behind the gate, and everything on record."""

import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accordant.slates.rankers import NoisyRanker, ObjectiveRanker, Ranker, RecordedRanker
from accordant.voting.ballots import Ranking
from accordant.slates.proxies import proxy_reports
from accordant.slates.proxies.reports import PartlyMutedCandidates, without_muted
from accordant.errors import DataError, InputError, InvalidMoveError, UnknownNameError
from accordant.naming import Named
from accordant.slates.candidates import Candidates
from accordant.slates.fidelity import fidelity
from accordant.slates.candidates import gains_of
from accordant.slates.rule import rules_of
from accordant.slates.rule import rules
from accordant.slates.rules.floors import Floored
from accordant.slates.market import Market, serve
from accordant.slates.slates import State
from accordant.slates.slates import join_slates

K = 3


class Told(Ranker):
    """Says what it is told, request by request, and keeps the views."""

    reads_requests = True

    def __init__(self, said=None, name="told"):
        self.name, self.about, self.said, self.views = name, "a fixture of a test", said or {}, []

    def rank(self, view):
        self.views.append(view)
        order = self.said.get(view.request, tuple(item.name for item in view.items))
        return Ranking(self.name, tuple(order))


def reversed_for(market, stakeholders, name, some):
    """Return the reverse of the declared order for some requests, the declared order for others."""
    who, found = next(each for each in stakeholders if each.name == name), {}
    for batch in market.batches:
        start = State.start(market.catalogue.n_items, len(stakeholders), K).on(batch.day)
        worth = who.utilities(market.catalogue, batch, start)
        for user, request in enumerate(batch.ids):
            shown = np.flatnonzero((batch.available & market.catalogue.open[:, None])[:, user])
            order = shown[np.argsort(-worth[shown, user], kind="stable")]
            names = [market.catalogue.items[c] for c in order]
            found[request] = names[::-1] if request in some else names
    return found


def ids_of(market):
    return [each for batch in market.batches for each in batch.ids]


class TestDeclaredOrder:
    @pytest.mark.long
    @pytest.mark.parametrize("name", ["utilitarian_slate", "nash_slate", "seq_pav", "dynamic", "borda"])
    def test_a_rule_that_says_what_was_declared_changes_nothing(self, name, market, stakeholders):
        [rule] = rules_of([Named(name)], market.stakeholders, "Guest", 7)
        proxies = proxy_reports(market, {each.name: ObjectiveRanker() for each in stakeholders}, declared=stakeholders)
        before, after = serve(rule, market, K), serve(rule, proxies.market, K)
        assert np.array_equal(before.slates.items, after.slates.items)
        assert np.array_equal(before.candidates.values, after.candidates.values)
        start = State.start(7, 3, K).on(0)
        E = market.expected(market.batches[0], start)
        said = proxies.market.reports(market.batches[0], start, E)
        assert np.array_equal(said.values, E.values)  # to the last bit, also for what was not shown
        assert [each.tau for each in proxies.ballots] == pytest.approx([1.0] * len(proxies.ballots))

    @pytest.mark.long
    @pytest.mark.parametrize("name", ["utilitarian_slate", "seq_pav", "leximin_slate"])
    def test_also_where_utilities_change_with_what_was_shown(self, name, make_market, make_stakeholder, make_batch):
        """What an agent is not asked about again is added as it was declared, to the last bit."""
        crowd = (make_stakeholder("Guest", ("relevance", "max", 1)),
                 make_stakeholder("Street", ("crowding", "min", 3), ("exposure_share", "min", 1)))  # fmt: skip
        market = make_market(crowd, tuple(make_batch(0, [2 * u, 2 * u + 1]) for u in range(4)), capacity=2.0)
        proxies = proxy_reports(market, {each.name: ObjectiveRanker() for each in crowd}, declared=crowd)
        before, after = (serve(rules.create(name), each, K) for each in (market, proxies.market))
        assert np.array_equal(before.slates.items, after.slates.items)
        for batch, state in zip(market.batches, before.states, strict=True):
            candidates = market.candidates(batch, state)
            said = proxies.market.reported(batch, state, candidates)
            assert np.array_equal(said.values[:, said.available], candidates.values[:, said.available])
        assert before.states[-1].load.any()

    def test_what_changed_is_added_to_what_was_said(self, make_market, make_stakeholder, make_batch):
        crowd = (make_stakeholder("Guest", ("relevance", "max", 1)), make_stakeholder("Street", ("crowding", "min", 1)))
        market = make_market(crowd, (make_batch(0, [1]),), capacity=2.0)
        [batch], [request] = market.batches, market.batches[0].ids
        proxies = proxy_reports(market, {"Street": Told({request: ("fort", "dome")})}, declared=crowd, threshold=-1)
        start = State.start(7, 2, K)
        full = replace(start, load=np.array([0.0, 0, 0, 1.0, 2.0, 0.5, 0]))
        said = [
            proxies.market.reports(batch, state, market.expected(batch, state)).values[1, :, 0]
            for state in (start, full)
        ]
        seen = [c for c in range(7) if batch.available[c, 0]]  # all but bravo
        borda = {5: 1.0, 3: (len(seen) - 2) / (len(seen) - 1)}
        assert [said[0][c] for c in seen] == pytest.approx([borda.get(c, 0.0) for c in seen])
        later = {5: 1.0 - 0.25, 3: borda[3] - 0.5}  # shares of a capacity of 2; what had 0 cannot fall
        assert [said[1][c] for c in seen] == pytest.approx([later.get(c, 0.0) for c in seen])

    def test_without_declared_objectives_it_sees_the_expected_rewards(self, market):
        proxies = proxy_reports(market, {"Guest": ObjectiveRanker()})
        serve(rules.create("utilitarian_slate"), proxies.market, K)
        assert [each.passed for each in proxies.ballots] == [True] * 7
        ranker = Told()
        serve(rules.create("utilitarian_slate"), proxy_reports(market, {"Guest": ranker}).market, K)
        [aim] = ranker.views[0].speaks_for.aims
        assert (aim.name, aim.share) == ("expected_reward", 1.0)


class TestCalls:
    @pytest.mark.long
    def test_each_request_is_asked_once_for_each_speaker_whatever_the_rules(self, market, stakeholders):
        rankers = {"Guest": Told(), "Nature": Told(name="other")}
        proxies = proxy_reports(market, rankers, declared=stakeholders)
        assert proxies.ballots == ()  # lazily
        for name in ("utilitarian_slate", "leximin_slate", "seq_phragmen", "dynamic", "random_slate"):
            serve(rules.create(name), proxies.market, K)
        for ranker in rankers.values():
            assert Counter(view.request for view in ranker.views) == Counter(ids_of(market))
        assert len(proxies.ballots) == 14
        serve(rules.create("utilitarian_slate"), proxies.market, K + 1)
        assert len(proxies.ballots) == 28  # lists of another length are another question

    def test_views_do_not_depend_on_what_was_shown(self, make_market, make_stakeholder, make_batch):
        """Crowding of today is what a rule made of it; agents see that nothing was shown."""
        crowd = (make_stakeholder("Guest", ("relevance", "max", 1)), make_stakeholder("Street", ("crowding", "min", 1)))
        market = make_market(crowd, (make_batch(0, range(4)), make_batch(0, range(4, 8))), capacity=2.0)
        seen = []
        for name in ("stakeholder_slate", "utilitarian_slate"):
            ranker = Told()
            rule = rules.create(name, {"stakeholder": "Guest"} if name == "stakeholder_slate" else {})
            serve(rule, proxy_reports(market, {"Street": ranker}, declared=crowd).market, K)
            seen.append([(v.request, v.items, v.moment) for v in ranker.views])
        assert seen[0] == seen[1]
        assert {item.scores["crowding"] for _, items, _ in seen[0] for item in items} == {1.0}
        plain = serve(rules.create("utilitarian_slate"), market, K)
        assert plain.states[1].load.any()  # though something was

    def test_fewer_than_two_items_are_not_asked_about(self, make_market, make_batch, stakeholders):
        batch = make_batch(0, range(3))
        available = np.zeros_like(batch.available)
        available[2, 1] = available[[2, 3], [2, 2]] = True
        ranker = Told()
        proxies = proxy_reports(
            make_market(batches=(replace(batch, available=available),)), {"Guest": ranker}, declared=stakeholders
        )
        found = serve(rules.create("utilitarian_slate"), proxies.market, K)
        assert [view.request for view in ranker.views] == [batch.ids[2]]
        assert found.slates.lengths.tolist() == [0, 1, 2]
        assert [len(each.ranking.order) for each in proxies.ballots] == [0, 1, 2]
        assert [each.counts_as for each in proxies.ballots[:2]] == ["ballot", "ballot"]


def slow_lists(rule, market, muted):
    """Serve one request after the other with weight 0 for who is silent for it; rows of the others as declared."""
    state = State.start(7, len(market.stakeholders), K)
    lists = []
    for batch in market.batches:
        state = state.on(batch.day)
        for user in range(batch.n_users):
            one = batch.take(slice(user, user + 1))
            candidates = market.candidates(one, state)
            weights = np.array([0.0 if (name, one.ids[0]) in muted else 1.0 for name in market.stakeholders])
            lists.append(rule(candidates.but(weights=weights), K, state=state))
    return join_slates(lists)


class TestGate:
    @pytest.mark.long
    @pytest.mark.parametrize(
        "name", ["utilitarian_slate", "leximin_slate", "nash_slate", "seq_pav", "seq_phragmen", "equal_shares", "borda",
                 "greedy_monroe", "reciprocal_rank", "maximin_slate"],
    )  # fmt: skip
    @pytest.mark.parametrize("pattern", [(0, 1), (1, 4, 6), range(7), (), (2,)])
    def test_who_fails_has_no_say_for_that_request(self, name, pattern, market, stakeholders):
        """A slow twin serves request by request with weight 0; who passes gives scores, so that rows are the same."""
        bad = {ids_of(market)[position] for position in pattern}
        [rule] = rules_of([Named(name)], market.stakeholders, "Guest", 7)
        found, ballots = self._served(rule, market, stakeholders, bad)
        assert {each.request for each in ballots if not each.passed} == bad
        assert {each.request for each in ballots if each.counts_as == "silence"} == bad
        assert all(each.tau == pytest.approx(-1) for each in ballots if each.request in bad)
        twin = slow_lists(rule, market, {("Neighbours", each) for each in bad})
        assert np.array_equal(found.slates.items, twin.items)

    def _served(self, rule, market, stakeholders, bad):
        worst = reversed_for(market, stakeholders, "Neighbours", bad)

        class Some(ObjectiveRanker):
            """Says the reverse of what was declared for some requests."""

            reads_requests = True

            def rank(self, view):
                return Ranking("me", tuple(worst[view.request])) if view.request in bad else super().rank(view)

        proxies = proxy_reports(market, {"Neighbours": Some()}, declared=stakeholders)
        return serve(rule, proxies.market, K), proxies.ballots

    @pytest.mark.long
    def test_every_rule_copes_with_silence_in_turns(self, market, stakeholders):
        bad = set(ids_of(market)[::2])
        for rule in rules_of([Named("all")], market.stakeholders, "Guest", 7):
            found, _ = self._served(rule, market, stakeholders, bad)
            assert (found.slates.lengths == K).all(), rule.label

    @pytest.mark.parametrize("allocation", ["least_fair", "product", "fairness_lottery"])
    def test_rules_that_look_back_see_users_in_order(self, allocation, market, stakeholders):
        """Silence cuts no history into pieces: the same lists as if everybody came in a batch of one."""
        bad = {ids_of(market)[position] for position in (1, 2, 5)}
        rule = rules.create("dynamic", {"allocation": allocation, "share": 0.9})
        found, _ = self._served(rule, market, stakeholders, bad)
        state, lists = State.start(7, 3, K), []
        for batch in market.batches:
            state = state.on(batch.day)
            for user in range(batch.n_users):
                one = batch.take(slice(user, user + 1))
                candidates = market.candidates(one, state)
                weights = np.array([1.0, 0.0 if one.ids[0] in bad else 1.0, 1.0])
                lists.append(rule(candidates.but(weights=weights), K, state=state))
                state = state.after(lists[-1], gains_of(lists[-1], candidates).attained, np.zeros(7))
        twin = join_slates(lists)
        assert np.array_equal(found.slates.items, twin.items)
        assert np.allclose(found.slates.quantities["voting_weights"], twin.quantities["voting_weights"])
        assert (twin.quantities["voting_weights"][1, [1, 2, 5]] == 0).all()

    @pytest.mark.long
    def test_floors_hold_for_who_is_silent(self, market, stakeholders):
        """Whoever's agent is not believed keeps a right to a floor, by the declared utilities."""
        bad = set(ids_of(market))
        rule = Floored(rule="utilitarian_slate", floors={"Neighbours": 0.9})
        found, ballots = self._served(rule, market, stakeholders, bad)
        assert {each.counts_as for each in ballots} == {"silence"}
        assert (found.gains.attained[1] >= 0.9 - 1e-9).all()
        free, _ = self._served(rules.create("utilitarian_slate"), market, stakeholders, bad)
        assert (free.gains.attained[1] < 0.9).any()

    def test_somebody_must_have_a_say(self, market, stakeholders):
        muted = {
            each.name: Told(reversed_for(market, stakeholders, each.name, ids_of(market))) for each in stakeholders
        }
        proxies = proxy_reports(market, muted, declared=stakeholders)
        found = serve(rules.create("utilitarian_slate"), proxies.market, K)
        assert {each.counts_as for each in proxies.ballots} == {"declared"}
        assert np.array_equal(found.slates.items, serve(rules.create("utilitarian_slate"), market, K).slates.items)

    def test_declared_utilities_instead_of_silence(self, market, stakeholders):
        worst = Told(reversed_for(market, stakeholders, "Nature", ids_of(market)))
        proxies = proxy_reports(market, {"Nature": worst}, declared=stakeholders, instead="declared")
        found = serve(rules.create("nash_slate"), proxies.market, K)
        assert {each.counts_as for each in proxies.ballots} == {"declared"}
        assert np.array_equal(found.slates.items, serve(rules.create("nash_slate"), market, K).slates.items)
        assert proxies.summaries[0].silenced == 0
        assert proxies.warnings[0].endswith("Nature is heard by its declared utilities")
        with pytest.raises(UnknownNameError, match="did you mean 'silence'"):
            proxy_reports(market, {"Nature": worst}, instead="silent")

    @pytest.mark.parametrize("threshold", [-1.0, 0.0, 0.5, 0.9, 1.0])
    def test_tau_and_share_are_those_of_the_gate(self, threshold, market, stakeholders):
        proxies = proxy_reports(
            market, {"Nature": NoisyRanker(0.4)}, declared=stakeholders, threshold=threshold, seed=4
        )
        serve(rules.create("utilitarian_slate"), proxies.market, K)
        start = State.start(7, 3, K)
        for batch in market.batches:
            ballots = {each.request: each for each in proxies.ballots}
            mine = [ballots[each].ranking for each in batch.ids]
            twin = fidelity(mine, market.candidates(batch, start.on(batch.day)), "Nature", threshold)
            assert [ballots[each].tau for each in batch.ids] == pytest.approx(twin.tau.tolist())
            assert [ballots[each].passed for each in batch.ids] == twin.passed.tolist()
        [voice] = proxies.summaries
        assert voice.passed == sum(each.share >= threshold - 1e-9 for each in proxies.ballots)
        assert voice.mean_tau == pytest.approx(np.mean([each.tau for each in proxies.ballots]))

    def test_measures_read_what_was_declared_and_rules_what_was_said(self, market, stakeholders):
        proxies = proxy_reports(market, {"Neighbours": NoisyRanker(1.0)}, declared=stakeholders, threshold=-1)
        before, after = (serve(rules.create("utilitarian_slate"), each, K) for each in (market, proxies.market))
        assert np.array_equal(before.candidates.values, after.candidates.values)
        assert not np.array_equal(before.slates.items, after.slates.items)
        assert after.gains.attained[1].mean() < before.gains.attained[1].mean()  # noise serves nobody

    def test_a_short_list_counts_by_borda(self, market, stakeholders):
        said = {each: ("fort", "alpha") for each in ids_of(market)}
        proxies = proxy_reports(market, {"Nature": Told(said)}, declared=stakeholders, threshold=-1)
        start = State.start(7, 3, K)
        E = market.expected(market.batches[0], start)
        told = proxies.market.reports(market.batches[0], start, E).values[2]
        for user in range(4):
            m = int((market.batches[0].available[:6, user]).sum())
            wanted = np.zeros(7)
            wanted[5], wanted[0] = 1.0, (m - 2) / (m - 1)
            shown = [c for c in range(6) if market.batches[0].available[c, user]]
            assert told[shown, user] == pytest.approx(wanted[shown])
        assert np.array_equal(proxies.market.reports(market.batches[0], start, E).values[:2], E.values[:2])


class TestRecord:
    def test_a_run_can_be_ranked_again_from_its_file(self, market, stakeholders, tmp_path):
        first = proxy_reports(market, {"Nature": NoisyRanker(0.2), "Guest": ObjectiveRanker()}, declared=stakeholders)
        lists = serve(rules.create("nash_slate"), first.market, K).slates.items
        file = tmp_path / "rankings.csv"
        file.write_text(first.rankings_csv(), encoding="utf-8")
        again = {name: RecordedRanker(str(file), name) for name in ("Nature", "Guest")}
        second = proxy_reports(market, again, declared=stakeholders)
        assert np.array_equal(serve(rules.create("nash_slate"), second.market, K).slates.items, lists)
        assert [each.tau for each in second.ballots] == pytest.approx([each.tau for each in first.ballots])
        assert second.rankings_csv() == first.rankings_csv()

    def test_requests_without_a_ranking_are_silent_and_counted(self, market, stakeholders, tmp_path):
        file = tmp_path / "rankings.csv"
        [first, *_] = ids_of(market)
        best = reversed_for(market, stakeholders, "Nature", ())[first]
        lines = [f"{first},{place},{item}" for place, item in enumerate(best[:2], 1)]
        file.write_text("\n".join(["request,place,item", *lines]), encoding="utf-8")
        proxies = proxy_reports(market, {"Nature": RecordedRanker(str(file))}, declared=stakeholders)
        serve(rules.create("nash_slate"), proxies.market, K)
        assert [each.counts_as for each in proxies.ballots] == ["ballot", *["silence"] * 6]
        [voice] = proxies.summaries
        assert (voice.asked, voice.empty, voice.passed, voice.silenced) == (7, 6, 1, 6)
        assert any("ranks nothing for 6 of 7 requests" in each for each in proxies.warnings)
        assert any("fails the gate for 6 of 7 requests" in each for each in proxies.warnings)

    def test_json_holds_everything_but_orders(self, market, stakeholders):
        proxies = proxy_reports(market, {"Nature": NoisyRanker(0.9)}, declared=stakeholders)
        serve(rules.create("nash_slate"), proxies.market, K)
        content = json.loads(json.dumps(proxies.to_json(), allow_nan=False))
        assert content["threshold"] == 0.5
        assert content["voices"][0]["ranker"]["noise"] == 0.9
        assert len(content["ballots"]) == 7
        assert content["warnings"][0].endswith("is a fixture: it tries the gate and speaks for nobody")

    def test_nothing_to_warn_of(self, market, stakeholders):
        proxies = proxy_reports(market, {"Nature": ObjectiveRanker()}, declared=stakeholders)
        serve(rules.create("nash_slate"), proxies.market, K)
        assert proxies.warnings == ()
        assert proxies.summaries[0].usage == {}


class TestRefusals:
    def test_what_cannot_be_spoken(self, market, make_market, make_batch, stakeholders):
        with pytest.raises(UnknownNameError, match="did you mean 'Nature'"):
            proxy_reports(market, {"Natur": ObjectiveRanker()})
        with pytest.raises(InputError, match="nobody speaks"):
            proxy_reports(market, {})
        with pytest.raises(InputError, match="threshold is 1.5"):
            proxy_reports(market, {"Nature": ObjectiveRanker()}, threshold=1.5)
        proxies = proxy_reports(market, {"Nature": ObjectiveRanker()})
        with pytest.raises(InputError, match="speaks in this market already"):
            proxy_reports(proxies.market, {"Guest": ObjectiveRanker()})
        with pytest.raises(InputError, match="names of requests repeat"):
            proxy_reports(make_market(batches=(make_batch(0, [1]), make_batch(1, [1]))), {"Nature": ObjectiveRanker()})
        with pytest.raises(InputError, match="is not of the market"):
            proxies.market.reported(make_batch(0, [99]), State.start(7, 3, K), market.candidates(make_batch(0, [99]),
                                                                                             State.start(7, 3, K)))  # fmt: skip

    def test_names_in_files_are_checked_before_anything_is_served(self, market, tmp_path):
        file = tmp_path / "rankings.csv"
        file.write_text("request,place,item\nanna1/tour-1,1,aplha\n", encoding="utf-8")
        with pytest.raises(DataError, match=r"line 2: unknown item 'aplha'; did you mean 'alpha'"):
            proxy_reports(market, {"Nature": RecordedRanker(str(file))})

    def test_an_invalid_ranking_names_stakeholder_and_request(self, market):
        class Mute(Told):
            def rank(self, view):
                raise InvalidMoveError("model 'm': the budget is spent")

        proxies = proxy_reports(market, {"Nature": Mute()})
        with pytest.raises(InvalidMoveError, match=r"'Nature', request 'anna1/tour-1': model 'm': the budget is spent"):
            serve(rules.create("nash_slate"), proxies.market, K)

    def test_items_that_a_ranker_makes_up(self, market):
        proxies = proxy_reports(market, {"Nature": Told({"anna1/tour-1": ("atlantis",)})})
        with pytest.raises(UnknownNameError, match="atlantis"):
            serve(rules.create("nash_slate"), proxies.market, K)


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_any_pattern_of_silence_against_users_one_by_one(data, make_market):
    """Heard candidates give each user the weights that the pattern says, in order, under every cut into blocks."""
    market = make_market()
    batch = market.batches[0]
    candidates = market.candidates(batch, State.start(7, 3, K))
    muted = np.array(data.draw(st.lists(st.lists(st.booleans(), min_size=4, max_size=4), min_size=3, max_size=3)))
    muted[data.draw(st.integers(0, 2))] = False
    found = without_muted(candidates, muted)
    rule = rules.create(data.draw(st.sampled_from(["utilitarian_slate", "leximin_slate", "seq_pav", "nash_slate"])))
    lists = rule(found, K).items
    for user in range(4):
        alone = candidates.take(slice(user, user + 1)).but(weights=np.where(muted[:, user], 0.0, 1.0))
        assert np.array_equal(rule(alone, K).items[0], lists[user])
    covered = [u for part in found.slices() for u in range(part.start, part.stop)]
    assert covered == list(range(4))
    assert found.user == found.take(slice(0, 2)).user == "Guest"
    for part in found.slices():
        assert len(np.unique(muted[:, part], axis=1).T) == 1
    users = np.array(data.draw(st.lists(st.integers(0, 3), max_size=5)), dtype=np.intp)
    assert np.array_equal(rule(found.take(users), K).items, lists[users])


def test_silence_of_all_or_of_another_shape_is_refused(market):
    candidates = market.candidates(market.batches[0], State.start(7, 3, K))
    with pytest.raises(InputError, match="everybody with weight is muted"):
        PartlyMutedCandidates(candidates, np.ones((3, 4), dtype=bool))
    with pytest.raises(InputError, match="shape"):
        PartlyMutedCandidates(candidates, np.zeros((2, 4), dtype=bool))


def test_a_spoken_market_is_a_market_and_can_be_cut(market, stakeholders):
    proxies = proxy_reports(market, {"Nature": NoisyRanker(0.3)}, declared=stakeholders)
    assert isinstance(proxies.market, Market)
    one = replace(proxies.market, batches=market.batches[1:])
    assert serve(rules.create("nash_slate"), one, K).slates.n_users == 3
    assert len(proxies.ballots) == 3
    assert isinstance(proxies.market.reported(market.batches[0], State.start(7, 3, K), market.candidates(
        market.batches[0], State.start(7, 3, K))), Candidates)  # fmt: skip
