"""A model that answers well makes the four moves; one that does not changes nothing."""

import dataclasses
import inspect
import json

import pytest

from accordant.agents import Answer, Ballot, Contestation, Proposal, agents, create
from accordant.agents.frameworks import frameworks
from accordant.agents.language import Budget, LanguageModelAgent, Limits
from accordant.agents.language.prompt import conversation
from accordant.agents.language.answers import BadAnswerError, read_move, strict_json
from accordant.agents.language.wire import LONGEST_TEXT, TEXT_LENGTH, WIRES, WORDS, schema
from accordant.agents.moves import CODES, CONSIDERATIONS
from accordant.errors import InputError, InvalidMoveError, SpecError, UnknownNameError

PHASES = {"propose": Proposal, "contest": Contestation, "answer": Answer, "offer": Answer, "vote": Ballot}


def made(answer, room, phase="propose", facts=("severity",), retrieved=(), **options):
    """Return the move in an answer, as the agent reads it."""
    text = answer if isinstance(answer, str) else json.dumps(answer)
    return read_move(text, room.view(phase), facts, retrieved, **options)


def plain(room, **changes):
    """A valid proposal."""
    answer = {
        "grants": [{"patient": each, "resource": "bed", "units": 1} for each in ("p0", "p2")],
        "priorities": [{"patient": each, "value": 0.5} for each in room.scenario.ids],
        "reasons": [{"patient": "p0", "code": "severity", "facts": ["severity"], "passages": [], "text": "t"}],
    }
    return answer | changes


@pytest.mark.parametrize("phase", PHASES)
def test_a_model_that_answers_well_makes_every_move(phase, agent, room, server):
    speaker = agent(framework="rawlsian", retriever="built_in")
    acted = speaker.acted(room.view(phase))
    assert isinstance(acted.move, PHASES[phase])
    assert (acted.generated_by, acted.fallback, acted.repairs) == ("model fake", False, 0)
    assert len(server.requests) == speaker.ledger["calls"] == speaker.ledger["moves"] == 1
    assert server.requests[0][0] == "/v1/chat/completions"
    assert speaker.ledger.to_json()["tokens_in"] == 10
    assert speaker.ledger.to_json()["tokens_out"] == 5
    assert speaker.ledger.seconds > 0


def test_the_stated_priorities_become_the_utility_in_the_order_of_ids(room):
    stated = {"p3": 1.0, "p1": 0.25, "p0": 0.0, "p2": 0.5}
    answer = plain(room, priorities=[{"patient": each, "value": value} for each, value in stated.items()])
    move = made(answer, room)
    assert move.utility.to_json() == [0.0, 0.25, 0.5, 1.0]
    assert move.allocation.claimants == ("p0", "p2")
    assert move.reasons[0].text == "t"


def test_an_answer_may_accept_nobody_and_a_ballot_is_read_in_order(room):
    assert made({"accepts": None, "counter": plain(room)}, room, "answer").accepts is None
    assert made({"accepts": "other", "counter": plain(room)}, room, "answer").accepts == "other"
    assert made({"ranking": [2, 0, 1]}, room, "vote").ranking == (2, 0, 1)


GROUND = {"code": "severity", "facts": [], "passages": [], "text": ""}
WRONG = {
    "unknown patient": ({"grants": [{"patient": "p9", "resource": "bed", "units": 1}]}, "unknown patient 'p9'"),
    "unknown resource": ({"grants": [{"patient": "p0", "resource": "beds", "units": 1}]}, "did you mean 'bed'"),
    "over capacity": (
        {"grants": [{"patient": f"p{i}", "resource": "bed", "units": 1} for i in range(3)]},
        "3 portions of 'bed' are granted; there are 2",
    ),
    "over demand": ({"grants": [{"patient": "p0", "resource": "bed", "units": 2}]}, "allowed: 0 to 1"),
    "idle": ({"grants": [{"patient": "p0", "resource": "bed", "units": 1}]}, "idle"),
    "half a bed": ({"grants": [{"patient": "p0", "resource": "bed", "units": 0.5}]}, "portions of 1"),
    "granted twice": ({"grants": [{"patient": "p0", "resource": "bed", "units": 1}] * 2}, "twice"),
    "negative": ({"grants": [{"patient": "p0", "resource": "bed", "units": -1}]}, "greater than or equal to 0"),
    "units as text": ({"grants": [{"patient": "p0", "resource": "bed", "units": "1"}]}, "valid number"),
    "units as truth": ({"grants": [{"patient": "p0", "resource": "bed", "units": True}]}, "valid number"),
    "huge units": ({"grants": [{"patient": "p0", "resource": "bed", "units": 1e300}]}, "less than or equal"),
    "priority above 1": ({"priorities": [{"patient": "p0", "value": 1.5}]}, "less than or equal to 1"),
    "priority missing": ({"priorities": [{"patient": "p0", "value": 1}]}, "missing: 'p1', 'p2', 'p3'"),
    "priority of a stranger": (
        {"priorities": [{"patient": each, "value": 1} for each in ("p0", "p1", "p2", "p3", "p9")]},
        "unknown: 'p9'",
    ),
    "priority twice": (
        {"priorities": [{"patient": each, "value": 1} for each in ("p0", "p0", "p1", "p2", "p3")]},
        "given twice: 'p0'",
    ),
    "hidden fact": ({"reasons": [{**GROUND, "patient": "p0", "facts": ["sex"]}]}, "unknown fact 'sex'"),
    "fabricated passage": (
        {"reasons": [{**GROUND, "patient": "p0", "passages": ["rawlsian-99"]}]},
        "unknown passage 'rawlsian-99'",
    ),
    "unknown code": ({"reasons": [{**GROUND, "patient": "p0", "code": "kindness"}]}, "unknown code 'kindness'"),
    "two reasons": ({"reasons": [{**GROUND, "patient": "p0"}] * 2}, "named 2 times"),
    "reason for a stranger": ({"reasons": [{**GROUND, "patient": "p9"}]}, "unknown patient 'p9'"),
    "more keys": ({"allocation": "everything to p0"}, "Extra inputs are not permitted"),
    "long text": (
        {"reasons": [{**GROUND, "patient": "p0", "text": "x" * (LONGEST_TEXT + 1)}]},
        "at most 4000 characters",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_only_the_view_can_tell_is_checked(case, room):
    changes, message = WRONG[case]
    with pytest.raises(BadAnswerError) as caught:
        made(plain(room) | changes, room, retrieved=("rawlsian-1",))
    assert message in str(caught.value)


def test_all_faults_are_told_at_once(room):
    answer = plain(room, grants=[{"patient": "p9", "resource": "bed", "units": 1}], priorities=[])
    with pytest.raises(BadAnswerError) as caught:
        made(answer, room)
    assert len(caught.value.faults) == 2


REPLIES = {
    "one missing": (["p0", "p1", "p2"], {}, "missing: 'p3'"),
    "one too many": (["p0", "p1", "p2", "p3", "p9"], {}, "unknown: 'p9'"),
    "one twice": (["p0", "p0", "p1", "p2", "p3"], {}, "given twice: 'p0'"),
    "challenge without a reason": (["p0", "p1", "p2", "p3"], {"kind": "challenge"}, "needs a reason"),
    "unknown kind": (["p0", "p1", "p2", "p3"], {"kind": "insist"}, "replies.0.kind"),
    "fabricated passage": (["p0", "p1", "p2", "p3"], {"reason": {**GROUND, "passages": ["x"]}}, "unknown passage 'x'"),
}


@pytest.mark.parametrize("case", REPLIES)
def test_replies_are_about_disputed_patients_alone(case, room):
    patients, changes, message = REPLIES[case]
    replies = [{"patient": each, "kind": "maintain", "reason": None} | changes for each in patients]
    with pytest.raises(BadAnswerError) as caught:
        made({"replies": replies, "revised": plain(room)}, room, "contest")
    assert message in str(caught.value)


CONTRADICTIONS = {  # own: p0, p1; revised: who is granted now, kinds that go with it on p0 to p3
    "everybody conceded, nothing changed": (("p0", "p1"), ["concede"] * 4, 4),
    "conceded and kept": (("p0", "p1"), ["concede", "maintain", "maintain", "maintain"], 1),
    "another's claim conceded and not granted": (("p0", "p1"), ["maintain", "justify", "concede", "challenge"], 1),
    "maintained and dropped": (("p1", "p2"), ["maintain", "maintain", "concede", "challenge"], 1),
    "justified and dropped": (("p1", "p2"), ["justify", "maintain", "concede", "challenge"], 1),
    "agreeing": (("p1", "p2"), ["concede", "maintain", "concede", "maintain"], 0),
    "revised": (("p1", "p2"), ["revise", "justify", "revise", "challenge"], 0),
}


def contested(granted, kinds):
    ground = {"code": "severity", "facts": [], "passages": [], "text": "t"}
    replies = [
        {"patient": f"p{i}", "kind": kind, "reason": ground if kind in ("challenge", "justify") else None}
        for i, kind in enumerate(kinds)
    ]
    grants = [{"patient": each, "resource": "bed", "units": 1} for each in granted]
    priorities = [{"patient": f"p{i}", "value": 0.5} for i in range(4)]
    return {"replies": replies, "revised": {"grants": grants, "priorities": priorities, "reasons": []}}


@pytest.mark.parametrize("case", CONTRADICTIONS)
def test_replies_may_not_contradict_the_revised_proposal(case, room):
    granted, kinds, faults = CONTRADICTIONS[case]
    if not faults:
        assert made(contested(granted, kinds), room, "contest").revised.allocation.claimants == granted
        return
    with pytest.raises(BadAnswerError) as caught:
        made(contested(granted, kinds), room, "contest")
    assert len(caught.value.faults) == faults
    assert all("conceded and still gets" in each or "is dropped" in each for each in caught.value.faults)


def test_a_contradiction_is_told_and_repaired(agent, room, server):
    server.script(contested(("p0", "p1"), ["concede"] * 4), contested(("p0", "p1"), ["maintain"] * 4))
    acted = agent().acted(room.view("contest"))
    assert acted.repairs == 1
    assert {each.kind for each in acted.move.replies} == {"maintain"}
    assert "was conceded and still gets 100%" in server.bodies[1]["messages"][-1]["content"]


@pytest.mark.parametrize(
    "ranking", [[0, 1], [0, 1, 1], [0, 1, 2, 3], [1, 2, 3], [-1, 0, 1], ["0", "1", "2"], [0.0, 1, 2]]
)
def test_a_ballot_ranks_every_candidate_once(ranking, room):
    with pytest.raises(BadAnswerError):
        made({"ranking": ranking}, room, "vote")


def test_only_agents_with_a_standing_proposal_can_be_accepted(room):
    for name in ("me", "nobody", ""):
        with pytest.raises(BadAnswerError):
            made({"accepts": name, "counter": plain(room)}, room, "answer")


@pytest.mark.parametrize("phase", PHASES)
def test_a_move_of_another_phase_is_no_move(phase, room):
    proposal = plain(room)
    answers = {
        "propose": proposal,
        "contest": {
            "replies": [{"patient": f"p{i}", "kind": "revise", "reason": None} for i in range(4)],
            "revised": proposal,
        },
        "answer": {"accepts": None, "counter": proposal},
        "offer": {"accepts": None, "counter": proposal},
        "vote": {"ranking": [0, 1, 2]},
    }
    for other, answer in answers.items():
        if other == phase or {other, phase} == {"answer", "offer"}:  # both are an `Answer`
            assert isinstance(made(answer, room, phase), PHASES[phase])
        else:
            with pytest.raises(BadAnswerError):
                made(answer, room, phase)


NOT_JSON = {
    "prose": "I would grant p0 a bed.",
    "cut off": '{"grants": [',
    "garbage after": '{"ranking": [0, 1, 2]} as you wish',
    "two objects": '{"ranking": [0, 1, 2]}{"ranking": [2, 1, 0]}',
    "a list": "[0, 1, 2]",
    "a number": "3",
    "nothing": "null",
    "a repeated key": '{"ranking": [0, 1, 2], "ranking": [2, 1, 0]}',
    "a repeated key under another spelling": '{"ranking": [0, 1, 2], "rankin\\u0067": [2, 1, 0]}',
    "NaN": '{"ranking": NaN}',
    "infinity": '{"ranking": -Infinity}',
    "a number without end": '{"ranking": ' + "9" * 6000 + "}",
    "deep nesting": '{"ranking": ' + "[" * 100_000,
    "python": "{'ranking': [0, 1, 2]}",
    "a fence": '```json\n{"ranking": [0, 1, 2]}\n```',
    "a comment": '{"ranking": [0, 1, 2]} // best first',
}


@pytest.mark.parametrize("case", NOT_JSON)
def test_only_one_json_object_is_an_answer(case, room):
    with pytest.raises(BadAnswerError):
        made(NOT_JSON[case], room, "vote")


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
def test_what_is_no_number_of_json_is_refused_everywhere(number):
    with pytest.raises(BadAnswerError, match=f"{number} is no number"):
        strict_json(f'{{"a": [{{"b": {number}}}]}}')


def test_an_overflowing_number_is_not_infinity(room):
    assert strict_json('{"a": 1e999}') == {"a": float("inf")}  # what Python reads
    with pytest.raises(BadAnswerError):
        made(json.dumps(plain(room)).replace("0.5", "1e999"), room)


def test_a_fence_is_taken_off_only_where_it_was_allowed(room):
    fenced = '\n```json\n{"ranking": [0, 1, 2]}\n```\n'
    assert made(fenced, room, "vote", fences=True).ranking == (0, 1, 2)
    assert made('  {"ranking": [0, 1, 2]}\n', room, "vote", fences=True).ranking == (0, 1, 2)
    for wrong in ('Sure!\n```json\n{"ranking": [0, 1, 2]}\n```', '```\n{"ranking": [0, 1, 2]}\n```\nDone.'):
        with pytest.raises(BadAnswerError):
            made(wrong, room, "vote", fences=True)


def test_texts_are_clipped_and_lose_control_characters(room):
    text = "a\x00b\u202ecd\n\n  e" + "x" * 2000
    answer = plain(room, reasons=[{**GROUND, "patient": "p0", "text": text}])
    [reason] = made(answer, room).reasons
    assert reason.text.startswith("abcd ex")
    assert len(reason.text) == TEXT_LENGTH
    assert reason.text.endswith("…")
    with pytest.raises(BadAnswerError) as caught:  # half a character is none
        made(plain(room, reasons=[{**GROUND, "patient": "p0", "text": "\ud800"}]), room)
    assert "unicode" in str(caught.value).encode().decode()


def test_codes_are_those_of_reasons_and_words_name_every_field(make_room):
    assert set(CONSIDERATIONS) < set(CODES)
    assert len(set(CODES)) == len(CODES)
    system = conversation(make_room().view(), (), (), None)[0].text
    assert system.endswith(f"CODE is one of: {', '.join(CODES)}.")
    for name in frameworks.names():
        assert frameworks.create(name).code in CODES
    for phase, wire in WIRES.items():
        definitions = [schema(phase), *schema(phase).get("$defs", {}).values()]
        for field in {name for each in definitions for name in each.get("properties", {})}:
            assert f'"{field}"' in WORDS[phase], field
        assert all(each["additionalProperties"] is False for each in definitions if "properties" in each)
        assert all(set(each["required"]) == set(each["properties"]) for each in definitions if "properties" in each)
        assert wire.model_config["strict"]
        for word in ("title", "Length", "maxItems"):
            assert word not in json.dumps(schema(phase))
    assert schema("propose", ["luck"])["$defs"]["WireReason"]["properties"]["code"]["enum"] == ["luck"]


def test_the_schema_lists_the_names_that_may_be_used_unless_they_are_too_many():
    names = {"patient": ("p0", "p1"), "resource": ("bed",), "facts": (), "passages": ("care-1",), "accepts": ("other",)}
    made = schema("answer", names=names)
    assert made["$defs"]["WireGrant"]["properties"]["patient"]["enum"] == ["p0", "p1"]
    assert made["$defs"]["WireReason"]["properties"]["passages"]["items"]["enum"] == ["care-1"]
    assert "enum" not in made["$defs"]["WireReason"]["properties"]["facts"]["items"]
    assert [each.get("enum") for each in made["properties"]["accepts"]["anyOf"]] == [["other"], None]
    many = schema("answer", names=names | {"patient": tuple(map(str, range(300)))})
    assert "enum" not in many["$defs"]["WireGrant"]["properties"]["patient"]


def test_without_grants_the_allocation_is_the_best_for_the_priorities(room):
    proposal = plain(room) | {"grants": None}
    proposal["priorities"] = [{"patient": f"p{i}", "value": value} for i, value in enumerate((0.1, 0.9, 0.2, 0.8))]
    assert made(proposal, room, "propose").allocation.claimants == ("p1", "p3")
    with pytest.raises(BadAnswerError, match="priorities: missing"):
        made(proposal | {"priorities": proposal["priorities"][1:]}, room, "propose")


def test_a_framework_may_bring_a_code_of_its_own(room):
    answer = plain(room, reasons=[{**GROUND, "patient": "p0", "code": "luck"}])
    assert made(answer, room, codes=(*CODES, "luck")).reasons[0].code == "luck"
    with pytest.raises(BadAnswerError, match="unknown code 'luck'"):
        made(answer, room)


@pytest.mark.parametrize("phase", ["propose", "answer"])
def test_the_same_view_asks_the_same_question_whatever_the_order_of_patients(phase, agent, room, server):
    first = agent().act(room.view(phase))
    shuffled = dataclasses.replace(
        room.view(phase),
        scenario=type(room.scenario)(room.scenario.claimants[::-1], room.scenario.resources, protected=["sex"]),
    )
    assert agent().act(shuffled).to_json() == first.to_json()
    assert server.bodies[0] == server.bodies[1]
    agent().act(room.view(phase, seed=8))
    assert server.bodies[2]["seed"] != server.bodies[0]["seed"]


def test_wrong_parameters_name_what_is_allowed(make_room):
    def make(**changes):
        given = {"name": "me", "base_url": "http://localhost:1/v1", "model": "m"}
        return LanguageModelAgent(**(given | changes))

    for changes in ({"framework": "rawlsain"}, {"mode": "xml"}, {"concession": "liner"}):
        with pytest.raises(UnknownNameError):
            make(**changes)
    with pytest.raises(UnknownNameError, match="sex"):
        make(framework="rawlsian", facts=["sex"])
    kinds = ({"fallback": "biased"}, {"budget": 5}, {"recorder": "talk.jsonl"}, {"limits": 5}, {"concession": 3})
    for changes in (*kinds, {"name": 3}, {"model": None}, {"retriever": 3}, {"k": "4"}):
        with pytest.raises(InputError, match="allowed|must be a rule"):
            make(**changes)
    wrong = ({"temperature": float("nan")}, {"temperature": 3}, {"seed": -1}, {"seed": 2**31})
    for changes in (*wrong, {"k": 0}, {"retriever": "all"}, {"limits": {"timeout": 0}}, {"limits": {"repairs": 3}}):
        with pytest.raises(InputError):
            make(**changes)
    with pytest.raises(SpecError, match="timeout"):
        Limits(timeot=3)
    with pytest.raises(InputError, match="allowed"):
        Budget(calls=-1)
    assert make(framework="rawlsian").facts == ("severity",)
    assert make(facts=["acuity"]).facts == ("acuity",)
    assert make().facts is None


def test_no_case_file_can_name_a_server_and_a_variable():
    """What is registered can be named by anybody who writes a file; endpoints and keys are for Python and --llm."""
    parameters = {"name": "me", "base_url": "https://elsewhere.example/v1", "model": "m", "key_variable": "HOME"}
    with pytest.raises(UnknownNameError, match="unknown agent 'language_model'"):
        create("language_model", parameters)
    for name in agents:
        assert not {"base_url", "key_variable"} & set(inspect.signature(agents.factory(name)).parameters)


def test_an_agent_describes_itself_without_a_key():
    made = LanguageModelAgent("me", "http://localhost:1/v1/", "m", limits={"retries": 0})
    assert made.limits.retries == 0
    described = made.to_json()
    assert described["kind"] == "language model"
    assert "localhost" not in json.dumps(described)  # a replay elsewhere has the same transcript
    assert described["generated_by"] == "model m"
    assert "key" not in json.dumps(described).lower()


def test_no_valid_move_is_an_error_that_says_why(agent, room, server):
    server.script("no")
    with pytest.raises(InvalidMoveError, match="model 'fake': no valid move after 2 repairs: not one JSON object"):
        agent().act(room.view("vote"))
