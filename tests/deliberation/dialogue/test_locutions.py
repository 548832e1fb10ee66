"""The table of locutions: every precondition is checked, every effect happens, and the list of legal moves is whole."""

from dataclasses import replace

import pytest

from accordant.deliberation.dialogue import (
    LOCUTIONS,
    Argument,
    KnowledgeBase,
    Literal,
    Move,
    Setting,
    State,
    legal_moves,
    objection,
    parse_formula,
    play,
    random_mover,
    skip,
    understanding,
)
from accordant.errors import InputError


def argument(conclusion, *premises):
    return Argument(tuple(map(parse_formula, premises)), Literal.parse(conclusion))


GRANT = argument("grant", "severe", "treatable", "severe & treatable -> grant")
DENIAL = argument("¬treatable", "¬treatable")
COUNTER = argument("treatable", "treatable")
BEDS = argument("beds_full", "beds_full")
QUERY = Move("explainee", "query", Literal("grant"))
SUPPORT = Move("explainer", "support", GRANT, 1)
REFUTE = Move("explainee", "refute", DENIAL, 2)


def explainee(locution, content, target, **more):
    content = parse_formula(content) if isinstance(content, str) else content
    return Move("explainee", locution, content, target, **more)


def explainer(locution, content, target, **more):
    return replace(explainee(locution, content, target, **more), speaker="explainer")


@pytest.fixture
def opening(doctor, manager):
    return State.opening(Setting(doctor, manager, Literal("grant")))


def after(state, *moves):
    for move in moves:
        state = skip(state) if move is None else play(state, move)
    return state


def test_the_first_move_is_the_query_of_the_decision(opening):
    assert legal_moves(opening) == (QUERY,)
    assert opening.turn == "explainee" and not any(side.commitments for side in opening.sides.values())


def test_who_knows_the_decision_already_understands_at_once(doctor):
    opening = State.opening(Setting(doctor, KnowledgeBase.parse("grant"), Literal("grant")))
    assert legal_moves(opening) == (explainee("understand", "grant", None),)
    assert after(opening, *legal_moves(opening)).ending == "understood"
    assert "follows from the explainee's own base" in objection(opening, QUERY)


def test_supports_and_refutations_commit(opening):
    state = after(opening, QUERY, SUPPORT, REFUTE)
    assert state.sides["explainer"].commitments == GRANT.said
    assert state.sides["explainee"].commitments == {Literal.parse("¬treatable")}
    assert state.denied == {Literal("treatable")}
    assert state.turn == "explainer" and state.sides["explainer"].base == state.setting.explainer


def test_a_conceded_premise_is_taken_in_and_the_cheapest_goes(opening):
    state = after(opening, QUERY, SUPPORT, REFUTE, None, explainee("concede", "treatable", 2))
    side = state.sides["explainee"]
    assert side.base == KnowledgeBase.parse("severe\ntreatable\nbeds_full")
    assert side.agreed == side.accepted == {Literal("treatable")} and state.denied == frozenset()
    assert [str(each) for each in state.revisions[4].dropped] == ["¬treatable"]


def test_a_conceded_conclusion_brings_all_premises(opening):
    side = after(opening, QUERY, SUPPORT, explainee("concede", "grant", 2)).sides["explainee"]
    assert side.accepted == GRANT.held and side.agreed == {Literal("grant")}
    assert GRANT.held <= side.base.held and Literal.parse("¬treatable") not in side.base.held


def test_what_was_conceded_is_not_given_up_for_the_next_concession():
    """The conceded a weighs 1 and the rule against c weighs 5; the rule goes all the same."""
    setting = Setting(KnowledgeBase.parse("a\nc\na & c -> d"), KnowledgeBase.parse("a -> ¬c @ 5"), Literal("d"))
    state = after(
        State.opening(setting),
        explainee("query", "d", None),
        explainer("support", argument("d", "a", "c", "a & c -> d"), 1),
        explainee("concede", "a", 2),
        None,
        explainee("concede", "c", 2),
    )
    assert state.sides["explainee"].base.lines() == ["a", "c"] and state.revisions[4].cost == 5.0


def test_a_concession_that_costs_nothing_is_a_revision_too():
    setting = Setting(KnowledgeBase.parse("a\na -> d"), KnowledgeBase.parse("b"), Literal("d"))
    support = explainer("support", argument("d", "a", "a -> d"), 1)
    state = after(State.opening(setting), explainee("query", "d", None), support, explainee("concede", "a", 2))
    assert list(state.revisions) == [3]
    assert [str(each) for each in state.revisions[3].added] == ["a"] and not state.revisions[3].dropped


def test_conceding_for_the_sake_of_argument_leaves_the_base(opening):
    state = after(opening, QUERY, SUPPORT, REFUTE, None, explainee("concede", "treatable", 2, revises=False))
    assert state.sides["explainee"].base == state.setting.explainee and not state.revisions
    assert objection(skip(state), explainee("understand", "grant", 1)) is None
    assert "for the sake of argument" in str(state.moves[-1])


@pytest.mark.parametrize(
    ("before", "move", "message"),
    [
        ((), SUPPORT, "it is the turn of the explainee"),
        ((), explainee("query", "severe", None), "the first move queries the decision, 'grant'"),
        ((), explainee("support", BEDS, 1), "nothing was queried yet"),
        ((), explainee("agree_to_disagree", "grant", 1), "no open issue"),
        ((), explainee("understand", "grant", None), "does not follow"),
        ((QUERY,), explainer("query", "grant", 1), "query is for the explainee"),
        ((QUERY,), explainer("understand", "grant", 1), "understand is for the explainee"),
        ((QUERY,), explainer("support", "grant", 1), "the content must be Argument"),
        ((QUERY,), explainer("persuade", "grant", 1), "unknown locution 'persuade'"),
        ((QUERY,), explainer("support", GRANT, None), "the target must be 1"),
        ((QUERY,), explainer("support", BEDS, 1), "not in the speaker's own base: beds_full"),
        ((QUERY, SUPPORT), explainee("query", "grant", 1), "was queried before"),
        ((QUERY, SUPPORT), explainee("query", "beds_full", 2), "no premise of the target"),
        ((QUERY, SUPPORT), explainee("query", "treatable", 1), "not where the explainer first put forward an argument"),
        ((QUERY, SUPPORT), explainee("query", "treatable", 7), "the target 7 is no earlier move"),
        ((QUERY, SUPPORT), explainee("refute", BEDS, 2), "does not attack the target"),
        ((QUERY, SUPPORT), explainee("refute", argument("¬grant", "bad", "bad -> ¬grant"), 2), "neither held nor"),
        ((QUERY, SUPPORT), explainee("concede", "beds_full", 2), "neither a premise nor the conclusion"),
        ((QUERY, SUPPORT), explainee("understand", "severe", 1), "it says 'grant'"),
        ((QUERY, SUPPORT, REFUTE), explainer("support", GRANT, 1), "the same move was made before"),
        ((QUERY, SUPPORT, REFUTE, None), explainee("refute", DENIAL, 2), "the same move was made before"),
        ((QUERY, SUPPORT, REFUTE, None), explainee("support", DENIAL, 1), "put this argument forward before"),
        ((QUERY, SUPPORT, REFUTE, None), explainee("understand", "grant", 1), "does not follow"),
        ((QUERY, SUPPORT, REFUTE), explainer("agree_to_disagree", "treatable", 3), "the issue is '¬treatable'"),
        (
            (QUERY, SUPPORT, REFUTE, explainer("refute", COUNTER, 3)),
            explainee("query", "treatable", 4),
            "is not a support",
        ),
        (
            (QUERY, SUPPORT, REFUTE, explainer("agree_to_disagree", "¬treatable", 3)),
            explainee("concede", "treatable", 2),
            "agreed to disagree on 'treatable'",
        ),
        (
            (QUERY, SUPPORT, explainee("concede", "treatable", 2), None),
            explainee("concede", "treatable", 2),
            "the same move was made before",
        ),
        (
            (QUERY, SUPPORT, explainee("agree_to_disagree", "grant", 1)),
            explainer("support", COUNTER, 1),
            "the dialogue has ended: agree_to_disagree",
        ),
    ],
)
def test_illegal_moves_say_which_precondition_fails(opening, before, move, message):
    state = after(opening, *before)
    assert message in objection(state, move)
    with pytest.raises(InputError, match="is not legal"):
        play(state, move)


def test_closed_atoms_take_no_more_moves(opening):
    state = after(opening, QUERY, SUPPORT, REFUTE, explainer("agree_to_disagree", "¬treatable", 3))
    assert state.ending is None and state.declined == {4}  # it could have answered with treatable
    assert "agreed to disagree" in objection(state, explainee("query", "treatable", 2))
    state = skip(state)
    assert "agreed to disagree" in objection(state, explainer("support", COUNTER, 1))
    assert "agreed to disagree" in objection(state, explainer("refute", COUNTER, 3))


def test_agreeing_with_nothing_left_is_not_declining(opening):
    state = after(opening, QUERY, SUPPORT, REFUTE, None, explainee("agree_to_disagree", "grant", 1))
    assert state.ending == "agree_to_disagree" and state.declined == frozenset()
    walked_out = after(opening, QUERY, SUPPORT, explainee("agree_to_disagree", "grant", 1))
    assert walked_out.declined == {3}


def test_a_concession_must_agree_with_earlier_ones():
    """Each gives way to the other; then the explainee cannot concede what rests on what it gave up."""
    setting = Setting(KnowledgeBase.parse("a\na -> d\n¬a -> e"), KnowledgeBase.parse("¬a"), Literal("d"))
    state = after(
        State.opening(setting),
        explainee("query", "d", None),
        explainer("support", argument("d", "a", "a -> d"), 1),
        explainee("refute", argument("¬a", "¬a"), 2),
        explainer("concede", "¬a", 3),
        explainee("concede", "a", 2),
        explainer("support", argument("e", "¬a", "¬a -> e"), 1),
    )
    assert state.sides["explainer"].base.lines() == ["a -> d", "¬a", "¬a -> e"]
    assert state.sides["explainee"].base.lines() == ["a"]
    assert "inconsistent with what the speaker conceded before" in objection(state, explainee("concede", "e", 6))
    assert objection(state, explainee("concede", "¬a -> e", 6)) is None
    assert "committed to it already" in objection(state, explainee("concede", "¬a", 6))


def test_refutations_may_use_what_the_other_committed_to(opening):
    manager = KnowledgeBase.parse("treatable -> ¬grant")
    state = State.opening(Setting(opening.setting.explainer, manager, Literal("grant")))
    turned = argument("¬grant", "treatable", "treatable -> ¬grant")
    assert "¬grant" not in map(str, manager.closure)
    state = after(state, QUERY, SUPPORT, explainee("refute", turned, 2))
    assert state.denied == {Literal("grant")}
    assert "does not follow" in objection(skip(state), explainee("understand", "grant", 1))


def test_what_one_holds_oneself_is_known_even_if_one_denied_it():
    """The explainee turns the explainer's premise against a literal that it holds itself."""
    setting = Setting(KnowledgeBase.parse("a\nb\na & b -> d"), KnowledgeBase.parse("b\na -> ¬b"), Literal("d"))
    state = after(
        State.opening(setting),
        explainee("query", "d", None),
        explainer("support", argument("d", "a", "b", "a & b -> d"), 1),
        explainee("refute", argument("¬b", "a", "a -> ¬b"), 2),
    )
    assert state.denied == {Literal("b")} and Literal("b") in state.understood
    assert understanding(state).known == ("a", "a & b -> d", "b")


def test_two_turns_without_a_move_exhaust_the_dialogue(opening):
    state = after(opening, QUERY, None, None)
    assert state.ending == "exhausted" and legal_moves(state) == () and state.turns == 3
    with pytest.raises(InputError, match="has ended: exhausted"):
        skip(state)
    assert after(opening, QUERY, None, explainee("agree_to_disagree", "grant", 1)).ending == "agree_to_disagree"


def test_arguments_beyond_the_limit_of_the_search_are_illegal():
    lines = ["a", "b", "c", "a -> d", "b -> d", "c -> d"]
    setting = Setting(KnowledgeBase.parse(lines), KnowledgeBase.parse(""), Literal("d"), limit=2)
    assert not setting.complete and len(setting.by_conclusion[Literal("d")]) == 2
    state = after(State.opening(setting), explainee("query", "d", None))
    assert "limit of the search" in objection(state, explainer("support", argument("d", "c", "c -> d"), 1))
    assert Setting(KnowledgeBase.parse(lines), KnowledgeBase.parse(""), Literal("d")).complete


def test_bases_must_be_consistent_and_derive_the_decision(doctor, manager):
    with pytest.raises(InputError, match="the explainee's base is inconsistent: a, ¬a"):
        Setting(doctor, KnowledgeBase.parse("a\n¬a\nb"), Literal("grant"))
    with pytest.raises(
        InputError, match="the explainer's base does not derive 'beds_full': there is nothing to explain"
    ):
        Setting(doctor, manager, Literal("beds_full"))


@pytest.mark.long
def test_the_list_of_legal_moves_is_whole(oracle, generator):
    """Every speaker, locution, content and target is tried, legal or not."""
    listed = set()
    for seed in range(25):
        one, other, decision = oracle.draw_pair(generator, atoms=3)
        setting = Setting(one, other, decision)
        contents = (*setting.arguments, *setting.everything, *oracle.symbols(setting.everything), decision)
        state, mover = State.opening(setting), random_mover(seed)
        while state.ending is None:
            tried = {
                Move(state.turn, locution, content, target)
                for locution in LOCUTIONS
                for content in contents
                for target in (None, *range(len(state.moves) + 2))
            }
            legal = legal_moves(state)
            assert len(set(legal)) == len(legal) > 0
            assert {move for move in tried if objection(state, move) is None} == set(legal)
            listed |= {move.locution for move in legal}
            state = play(state, mover(state, legal))
    assert listed == set(LOCUTIONS)


def test_the_table_says_everything_in_words():
    assert list(LOCUTIONS) == ["query", "support", "refute", "concede", "agree_to_disagree", "understand"]
    assert all(row.precondition and row.effect and row.__class__.__doc__ for row in LOCUTIONS.values())
