"""Whatever a server does, a move ends in time: with a valid move, an error, or a marked fallback."""

import email.utils
import json
import threading
import time

import pytest

from accordant.agents import Acted, Agent, Proposal, create
from accordant.agents.language import Limits, OpenAICompatible, Request
from accordant.agents.language.client import GRACE, seconds_of
from accordant.allocations import AdditiveUtility, Allocation
from accordant.deliberation.protocols.debate import debate
from accordant.errors import InputError, InvalidMoveError

VALID = {"ranking": [2, 1, 0]}


def status(code, body='{"error": {"message": "no"}}', headers=(), kind="application/json"):
    return lambda handler, request: handler.reply(code, body, headers, kind)


def content(text, **changes):
    return lambda handler, request: handler.chat(text, **changes)


def hang(handler, request):
    handler.server.owner.closing.wait(5)


def drip(handler, request):
    """One byte at a time: each arrives before any time-out between bytes, the whole never."""
    handler.send_response(200)
    handler.send_header("content-type", "application/json")
    handler.send_header("content-length", "1000")
    handler.end_headers()
    for _ in range(200):
        if handler.server.owner.closing.wait(0.02):
            break
        handler.wfile.write(b" ")
        handler.wfile.flush()
    handler.close_connection = True


def drip_headers(handler, request):
    handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
    for _ in range(200):
        if handler.server.owner.closing.wait(0.02):
            break
        handler.wfile.write(b"x: y\r\n")
        handler.wfile.flush()
    handler.close_connection = True


def endless(handler, request):
    """Chunks without end, as fast as they are taken."""
    handler.send_response(200)
    handler.send_header("content-type", "application/json")
    handler.send_header("transfer-encoding", "chunked")
    handler.end_headers()
    chunk = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
    while not handler.server.owner.closing.is_set():
        handler.wfile.write(chunk)


def endless_error(handler, request):
    handler.send_response(500)
    handler.send_header("content-type", "text/plain")
    handler.send_header("transfer-encoding", "chunked")
    handler.end_headers()
    while not handler.server.owner.closing.is_set():
        handler.wfile.write(b"10000\r\n" + b"x" * 0x10000 + b"\r\n")


def events(handler, request):
    handler.reply(200, 'data: {"choices": [{"delta": {"content": "a"}}]}\n\n' * 50, kind="text/event-stream")


def hang_up(handler, request):
    handler.close_connection = True
    handler.connection.close()


def hang_up_midway(handler, request):
    handler.send_response(200)
    handler.send_header("content-type", "application/json")
    handler.send_header("content-length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"id": "a", "choices": [')
    handler.close_connection = True
    handler.connection.close()


def raw(answer):
    return lambda handler, request: handler.reply(200, answer if isinstance(answer, str) else json.dumps(answer))


def no_http(handler, request):
    handler.wfile.write(b"SSH-2.0-OpenSSH_9.6\r\n")
    handler.close_connection = True


FOREVER = {  # step, kind of the fault, whether it is tried again
    "accepts and never answers": (hang, "timeout", True),
    "one byte at a time": (drip, "timeout", True),
    "headers without end": (drip_headers, "timeout", True),
    "chunks without end": (endless, "too_long", False),
    "an error without end": (endless_error, "too_long", False),
    "hangs up": (hang_up, "connection", True),
    "hangs up midway": (hang_up_midway, "connection", True),
    "no HTTP": (no_http, "connection", True),
    "events": (events, "malformed", True),
    "HTML": (status(200, "<html>busy</html>", kind="text/html"), "malformed", True),
    "JSON called text": (status(200, '{"choices": []}', kind="text/plain"), "malformed", True),
    "an empty body": (status(200, ""), "malformed", True),
    "broken JSON": (raw('{"choices": [{"mess'), "malformed", True),
    "no choices": (
        raw({"id": "a", "object": "chat.completion", "created": 1, "model": "m", "choices": []}),
        "malformed",
        True,
    ),
    "choices: null": (raw({"id": "a", "created": 1, "model": "m", "choices": None}), "malformed", True),
    "a list": (raw([1, 2]), "malformed", True),
    "null": (raw("null"), "malformed", True),
    "an error under 200": (raw({"error": {"message": "overloaded"}}), "malformed", True),
    "compressed": (status(200, b"\x1f\x8b", [("content-encoding", "gzip")]), "malformed", True),
    "429 forever": (status(429), "limited", True),
    "500": (status(500, "oops", kind="text/plain"), "server", True),
    "503 in HTML": (status(503, "<html></html>", kind="text/html"), "server", True),
    "401": (status(401), "credentials", False),
    "403": (status(403), "credentials", False),
    "404 in every mode": (status(404), "refused", False),
    "a redirect elsewhere": (
        status(302, "", [("location", "http://127.0.0.2:9/v1/chat/completions")]),
        "redirect",
        False,
    ),
    "a redirect to itself": (status(307, "", [("location", "/v1/chat/completions")]), "redirect", False),
}


@pytest.mark.few(4)
@pytest.mark.parametrize("case", FOREVER)
def test_a_server_that_stays_broken_ends_in_an_error_in_time(case, agent, room, server):
    step, kind, again = FOREVER[case]
    server.script(step)
    speaker = agent(limits={"timeout": 0.5 if kind == "timeout" else 5.0}, mode="prompted")
    start = time.monotonic()
    with pytest.raises(InvalidMoveError, match="model 'fake': "):
        speaker.act(room.view("vote"))
    assert time.monotonic() - start < 8
    asked = 2 if again else 1
    assert speaker.ledger[f"fault {kind}"] == speaker.ledger["calls"] == asked
    assert len(server.requests) == asked
    assert speaker.ledger["retries"] == (1 if again else 0)
    assert speaker.ledger["repairs"] == 0


@pytest.mark.few(4)
@pytest.mark.parametrize("case", [case for case, (_, _, again) in FOREVER.items() if again])
def test_what_passes_costs_one_retry(case, agent, room, server):
    step, kind, _ = FOREVER[case]
    server.script(step, VALID)
    speaker = agent(limits={"timeout": 1.0 if kind == "timeout" else 5.0})
    acted = speaker.acted(room.view("vote"))
    assert acted.move.ranking == (2, 1, 0)
    assert acted.repairs == 0
    assert (speaker.ledger["calls"], speaker.ledger["retries"]) == (2, 1)


@pytest.mark.parametrize("step", [hang, drip, drip_headers])
def test_a_deadline_leaves_no_thread_behind(step, server):
    """The deadline itself ends the request, not whoever waits for its thread."""
    server.script(step)
    start = time.monotonic()
    outcome = OpenAICompatible(server.url).complete(Request("m", (), {}, "prompted", None, 0, 1), None, 0.3)
    assert outcome.kind == "timeout"
    assert time.monotonic() - start < 0.3 + GRACE
    for thread in threading.enumerate():
        if thread.name == "language-model-request":
            thread.join(1)
            assert not thread.is_alive()


def test_nobody_listens(agent, room, server):
    server.close()
    speaker = agent()
    with pytest.raises(InvalidMoveError, match="no connection"):
        speaker.act(room.view("vote"))
    assert speaker.ledger["fault connection"] == 2


BAD_ONCE = {
    "ignores the schema": content({"answer": "p0"}),
    "content: null": content(None),
    "empty content": content(""),
    "a refusal": content(None, refusal="I cannot help with that"),
    "a filter": content("", finish="content_filter"),
    "cut off": content('{"ranking": [2, 1', finish="length"),
    "cut off, though it looks whole": content(VALID, finish="length"),
    "broken JSON": content('{"ranking": [2, 1'),
    "prose around": content('Here you are: {"ranking": [2, 1, 0]}'),
    "a move of another phase": content({"accepts": None, "counter": {}}),
    "an unknown id": content({"ranking": [0, 1, 7]}),
    "a tool call": content(
        None, tool_calls=[{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
    ),
}


@pytest.mark.parametrize("case", BAD_ONCE)
def test_a_bad_answer_is_told_and_repaired(case, agent, room, server):
    server.script(BAD_ONCE[case], VALID)
    speaker = agent()
    acted = speaker.acted(room.view("vote"))
    assert acted.move.ranking == (2, 1, 0)
    assert (acted.repairs, acted.fallback) == (1, False)
    assert speaker.ledger["repairs"] == 1
    [first, second] = server.bodies
    assert second["messages"][: len(first["messages"])] == first["messages"]
    assert "not valid" in second["messages"][-1]["content"]


@pytest.mark.few(4)
@pytest.mark.parametrize("case", BAD_ONCE)
def test_repairs_are_bounded(case, agent, room, server):
    server.script(BAD_ONCE[case])
    speaker = agent()
    with pytest.raises(InvalidMoveError, match="no valid move after 2 repairs"):
        speaker.act(room.view("vote"))
    assert len(server.requests) == 3
    server.requests.clear()
    with pytest.raises(InvalidMoveError, match="no valid move after 0 repairs"):
        agent(limits={"repairs": 0}).act(room.view("vote"))
    assert len(server.requests) == 1


def test_what_a_model_marks_as_thinking_is_no_part_of_the_answer(agent, room, server):
    server.script('<think>{"ranking": [0, 1, 2]} or not?</think>{"ranking": [2, 1, 0]}')
    assert agent().act(room.view("vote")).ranking == (2, 1, 0)


@pytest.mark.few(2)
@pytest.mark.parametrize("code", [400, 404, 415, 422, 501])
def test_a_server_that_refuses_a_mode_is_asked_in_a_weaker_one(code, agent, room, server):
    def picky(handler, request):
        """Knows no response formats."""
        if "response_format" in request:
            handler.reply(code, '{"error": {"message": "response_format is not supported"}}')
        else:
            handler.chat('```json\n{"ranking": [2, 1, 0]}\n```')

    server.script(picky)
    speaker = agent(limits={"retries": 0})
    assert speaker.act(room.view("vote")).ranking == (2, 1, 0)
    assert server.modes() == ["json_schema", "json_object", "prompted"]
    assert speaker.ledger["step_downs"] == 2
    speaker.act(room.view("vote"))
    assert server.modes()[3:] == ["prompted"]  # remembered
    agent(limits={"retries": 0}).act(room.view("vote"))
    assert server.modes()[4:] == ["json_schema", "json_object", "prompted"]  # by that agent alone


def test_a_mode_is_not_given_up_for_a_refusal_that_has_other_causes(agent, room, server):
    speaker = agent()
    server.script(status(400))
    with pytest.raises(InvalidMoveError, match="HTTP 400: no"):
        speaker.act(room.view("vote"))
    server.script(VALID)
    server.requests.clear()
    speaker.act(room.view("vote"))
    assert server.modes() == ["json_schema"]


def test_a_fence_is_no_answer_where_the_server_promised_json(agent, room, server):
    server.script('```json\n{"ranking": [2, 1, 0]}\n```')
    for mode in ("json_object", "json_schema"):
        with pytest.raises(InvalidMoveError, match="without a Markdown fence"):
            agent(mode=mode, limits={"repairs": 1}).act(room.view("vote"))
    assert agent(mode="prompted").act(room.view("vote")).ranking == (2, 1, 0)


def test_retry_after_is_honoured_and_capped(agent, room, server):
    for header, low, high in (("0.2", 0.2, 2.0), ("2", 0.3, 2.0), ("nonsense", 0.0, 0.2), ("-5", 0.0, 0.2)):
        server.script(status(429, headers=[("retry-after", header)]), VALID)
        speaker = agent(limits={"longest_wait": 0.3})
        waits = []
        speaker._caller.sleep = waits.append
        speaker.act(room.view("vote"))
        assert len(waits) == 1
        assert low <= waits[0] <= min(high, 0.3)


def test_a_retry_after_is_a_number_or_a_date():
    assert seconds_of(None) is seconds_of("soon") is seconds_of("nan") is None
    assert seconds_of("7") == 7
    assert seconds_of("-7") == 0
    assert 50 < seconds_of(email.utils.formatdate(time.time() + 60, usegmt=True)) <= 60
    assert seconds_of("Mon, 01 Jan 0001 00:00:00 GMT") in (0, None)


def test_waits_grow_and_do_not_depend_on_anything_but_the_seed(agent, room, server):
    server.script(status(500))
    seen = []
    for _ in range(2):
        speaker = agent(limits={"retries": 4, "backoff": 0.1, "longest_wait": 600})
        waits = []
        speaker._caller.sleep = waits.append
        with pytest.raises(InvalidMoveError):
            speaker.act(room.view("vote"))
        seen.append(waits)
    assert seen[0] == seen[1]
    for position, wait in enumerate(seen[0]):
        assert 0.1 * 2**position <= wait < 0.2 * 2**position


def test_the_bound_on_a_move_is_the_sum_of_its_parts():
    assert Limits().seconds == 5 * (3 * 30 + 2 * 20)
    assert Limits(retries=0, repairs=0, timeout=2).seconds == 3 * 2


def test_the_worst_server_keeps_within_the_bound(agent, room, server):
    """It refuses two modes, answers badly, and fails once before each answer."""

    def worst(handler, request):
        """Fail every other time."""
        if len(server.requests) % 2:
            handler.reply(500, "{}")
        elif "response_format" in request:
            handler.reply(400, "{}")
        else:
            handler.chat("no")

    server.script(worst)
    speaker = agent()
    start = time.monotonic()
    with pytest.raises(InvalidMoveError):
        speaker.act(room.view("vote"))
    assert len(server.requests) == (3 + 2) * 2  # (3 + repairs) · (1 + retries)
    assert time.monotonic() - start < speaker.limits.seconds


class Rule(Agent):
    """Grants the first two patients."""

    name, about, facts, concession = "rule", "a rule", None, None

    def __init__(self, **changes):
        vars(self).update(changes)

    def act(self, view):
        return Proposal(Allocation.whole(view.scenario, view.scenario.ids[:2]), AdditiveUtility([1.0, 1.0, 0.0, 0.0]))


@pytest.mark.parametrize("step", [content("no"), status(500), status(401), hang])
def test_a_fallback_moves_and_is_marked(step, agent, room, server):
    server.script(step)
    speaker = agent(fallback=Rule(), limits={"timeout": 0.3})
    acted = speaker.acted(room.view())
    assert isinstance(acted, Acted)
    assert acted.fallback
    assert acted.generated_by == "template"
    assert acted.repairs == (2 if speaker.ledger["repairs"] else 0)
    assert acted.move.allocation.claimants == ("p0", "p1")
    assert (speaker.ledger["fallbacks"], speaker.ledger["moves"]) == (1, 1)
    server.script(lambda handler, request: handler.chat({"grants": [], "priorities": [], "reasons": []}))
    assert speaker.acted(room.view()).fallback
    assert speaker.ledger["fallbacks"] == 2


def test_the_rules_of_the_package_can_stand_in(agent, room, server):
    server.script("no")
    speaker = agent(framework="rawlsian", fallback=create("rawlsian"))
    acted = speaker.acted(room.view(scenario=room.scenario.seen(speaker.facts), options=room.options()))
    assert acted.fallback
    assert acted.move.allocation.claimants == ("p0", "p2")
    assert speaker.to_json()["fallback"]["kind"] == "rule"


def test_a_fallback_sees_no_more_than_the_agent_and_does_no_wrong(agent):
    with pytest.raises(InputError, match="not shown: sex"):
        agent(framework="rawlsian", fallback=Rule(facts=("severity", "sex")))
    with pytest.raises(InputError, match="must be a rule"):
        agent(fallback=Rule(adversarial=True))
    with pytest.raises(InputError, match="must be a rule"):
        agent(fallback=agent())


def test_no_error_drags_the_exchange_along(agent, room, server):
    """Errors of the client hold requests, and those hold keys."""
    server.script(status(500))
    with pytest.raises(InvalidMoveError) as caught:
        agent().act(room.view("vote"))
    assert caught.value.__cause__ is caught.value.__context__ is None


FENCED = '```json\n{"ranking": [2, 1, 0]}\n```'


@pytest.mark.parametrize("mode", ["json_schema", "json_object"])
def test_a_server_that_ignores_the_form_is_asked_in_words(mode, agent, room, server):
    """It takes every response format and fences its answers all the same."""
    server.script(FENCED)
    speaker = agent(mode=mode)
    acted = speaker.acted(room.view("vote"))
    assert acted.move.ranking == (2, 1, 0)
    assert acted.repairs == 2
    assert server.modes() == [mode, mode, "prompted"]
    for body in server.bodies[1:]:
        assert "without a Markdown fence" in body["messages"][-1]["content"]
    assert speaker.ledger["step_downs"] == 1
    assert speaker.acted(room.view("vote")).repairs == 0  # remembered
    assert server.modes()[3:] == ["prompted"]
    assert agent().acted(room.view("vote")).repairs == 2  # by that agent alone


def test_one_answer_that_is_no_json_weakens_nothing(agent, room, server):
    server.script("no", VALID, "no", {"ranking": [0, 0]}, VALID)
    speaker = agent()
    for _ in range(2):
        speaker.act(room.view("vote"))
    assert server.modes() == ["json_schema"] * 5
    assert speaker.ledger["step_downs"] == 0


def test_words_that_did_not_help_are_not_remembered(agent, room, server):
    server.script("no")
    speaker = agent()
    with pytest.raises(InvalidMoveError):
        speaker.act(room.view("vote"))
    assert server.modes() == ["json_schema", "json_schema", "prompted"]
    with pytest.raises(InvalidMoveError):
        speaker.act(room.view("vote"))
    assert server.modes()[3] == "json_schema"


def test_who_wants_to_be_asked_far_later_is_given_up(agent, room, server):
    for header in ("3600", "99999999999999999999999", email.utils.formatdate(time.time() + 3600, usegmt=True)):
        server.script(status(429, headers=[("retry-after", header)]))
        speaker = agent(limits={"retries": 5, "longest_wait": 0.3})
        speaker._caller.sleep = None  # nothing waits
        with pytest.raises(InvalidMoveError, match="HTTP 429: no; it asks to wait [0-9]+ s"):
            speaker.act(room.view("vote"))
        assert (speaker.ledger["calls"], speaker.ledger["given_up"]) == (1, 1)
        assert speaker.ledger.to_json()["fault limited"] == 1


def test_an_agent_is_named_once_in_an_error(agent, room, server):
    server.script(status(401))
    with pytest.raises(InvalidMoveError) as caught:
        debate(room.scenario, [agent(name="speaker"), create("rawlsian")])
    assert str(caught.value).count("speaker") == 1
