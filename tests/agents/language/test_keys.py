"""A key goes into the header of a request and nowhere else, whatever a server does with it."""

import copy
import gc
import io
import json
import logging
import subprocess
import sys
import types
from pathlib import Path

import pytest

from accordant.agents import Acted
from accordant.agents.language import LanguageModelAgent, OpenAICompatible, Recorder, Replay
from accordant.agents.language.keys import REMOVED, check_address, readable, without_hidden_key, without_key
from accordant.errors import InputError, InvalidMoveError


def text_of(value, depth=8, seen=None):
    """Return all that can be reached from an object, as text."""
    seen = set() if seen is None else seen
    if depth == 0 or id(value) in seen or isinstance(value, types.ModuleType | types.FunctionType | type):
        return repr(value)
    seen.add(id(value))
    parts = [repr(value)]
    if isinstance(value, dict):
        parts += [text_of(each, depth - 1, seen) for pair in value.items() for each in pair]
    elif isinstance(value, list | tuple | set | frozenset):
        parts += [text_of(each, depth - 1, seen) for each in value]
    if isinstance(value, BaseException):
        parts += [text_of(each, depth - 1, seen) for each in (value.args, value.__cause__, value.__context__)]
    parts.append(text_of(getattr(value, "__dict__", None), depth - 1, seen) if hasattr(value, "__dict__") else "")
    return "\n".join(parts)


def escaped(text):
    return "".join(f"\\u{ord(each):04x}" for each in text)


def echo_error(code):
    def step(handler, request):
        """Say the header back, in the body and in headers."""
        said = handler.headers["authorization"]
        body = json.dumps({"error": {"message": f"wrong key {said} {escaped(said)}", "type": said, "code": said}})
        handler.reply(code, body, [("x-echo", said), ("retry-after", "0"), ("x-request-id", said)])

    return step


def echo_text(handler, request):
    """Answer with the header as prose."""
    handler.chat(
        f"I was called with {handler.headers['authorization']}", headers=[("x-echo", handler.headers["authorization"])]
    )


def echo_answer(spelling):
    def step(handler, request):
        """Answer well, with the key as the text of a reason, and as the id."""
        key = handler.headers["authorization"].removeprefix("Bearer ")
        found = json.loads(request["messages"][1]["content"].split("\n")[1])
        people = [each["id"] for each in found["patients"]]
        answer = {
            "grants": [{"patient": each, "resource": "bed", "units": 1} for each in people[:2]],
            "priorities": [{"patient": each, "value": 1} for each in people],
            "reasons": [{"patient": people[0], "code": "stated", "facts": [], "passages": [], "text": "KEY"}],
        }
        handler.chat(json.dumps(answer).replace("KEY", spelling(key)), headers=[("set-cookie", key)], name=key)

    return step


HIDERS = {
    "zero-width space": "\u200b",
    "soft hyphen": "\u00ad",
    "byte order mark": "\ufeff",
    "escaped zero-width space": "\\u200b",
    "backspace": "\\b",
    "null": "\\u0000",
    "line end": "\\n",
    "blank": " ",
    "tag": "\\udb40\\udc41",
    "private": "\ue000",
}


def split_by(hider):
    """Return a spelling with something between all characters of a key."""
    return lambda key: hider.join(key)


SPELLINGS = {
    "as it is": str,
    "escaped": escaped,
    "half escaped": lambda key: escaped(key[0]) + key[1:],
    "escaped and split": lambda key: "\\u200B".join(map(escaped, key)),
    **{f"split by a {name}": split_by(hider) for name, hider in HIDERS.items()},
}


def echo_everywhere(hider):
    def step(handler, request):
        """Say the key in the id and as the reason to finish, with something between its characters."""
        key = hider.join(handler.headers["authorization"].removeprefix("Bearer "))
        message = {"role": "assistant", "content": key, "refusal": key}
        choice = {"index": 0, "finish_reason": key, "message": message}
        answer = {"id": key, "object": "chat.completion", "created": 1, "model": key, "choices": [choice]}
        handler.reply(200, json.dumps(answer))

    return step


def echo_split_error(hider):
    def step(handler, request):
        """Say the header back in an error, split."""
        said = hider.join(handler.headers["authorization"])
        handler.reply(400, json.dumps({"error": {"message": said}}), [("retry-after", "0")])

    return step


STEPS = {
    "401": echo_error(401),
    "400": echo_error(400),
    "429": echo_error(429),
    "500": echo_error(500),
    "302": echo_error(302),
    "prose": echo_text,
    "everywhere, split by a zero-width space": echo_everywhere("\u200b"),
    "everywhere, split by a soft hyphen": echo_everywhere("\u00ad"),
    "an error, split by a zero-width space": echo_split_error("\u200b"),
    "an error, split by a control character": echo_split_error("\x02"),
    "an error, split by a blank": echo_split_error(" "),
    **{f"an answer, key {name}": echo_answer(spelling) for name, spelling in SPELLINGS.items()},
}


@pytest.mark.few(8)
@pytest.mark.parametrize("case", STEPS)
def test_a_key_that_a_server_says_back_is_found_nowhere(case, agent, room, server, key, tmp_path, monkeypatch, capfd):
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    monkeypatch.setattr(logging.root, "level", logging.DEBUG)
    monkeypatch.setattr(logging.root, "handlers", [handler])
    for name in ("openai", "openai._base_client", "httpx2", "httpcore2", "httpcore2.http11", "httpcore2.connection"):
        monkeypatch.setattr(logging.getLogger(name), "level", logging.DEBUG)
    server.script(STEPS[case])
    speaker = agent(recorder=Recorder(tmp_path / "talk.jsonl"))
    try:
        result = speaker.acted(room.view())
        written = [json.dumps(result.move.to_json())]
    except InvalidMoveError as error:
        result, written = error, [str(error)]
    assert server.requests[0][1]["authorization"] == f"Bearer {key}"  # it was sent
    assert isinstance(result, Acted) == case.startswith("an answer,")
    written += [
        text_of(result),
        text_of(speaker),
        json.dumps(speaker.to_json()),
        json.dumps(speaker.ledger.to_json()),
        (tmp_path / "talk.jsonl").read_text(),
        stream.getvalue(),
        *capfd.readouterr(),
    ]
    for each in written:
        assert key not in each
        assert key not in without_escapes(each)
        assert key[3:14] not in each
        visible = "".join(each.split())
        assert key[3:14] not in visible
        assert key[3:14] not in "".join(filter(str.isprintable, without_escapes(visible)))


def without_escapes(text):
    return text.encode().decode("unicode_escape", "replace")


def test_the_search_of_these_tests_finds_what_is_there(key):
    hidden = types.SimpleNamespace(inner=[{"a": (types.SimpleNamespace(key=key),)}])
    assert key in text_of(hidden)
    assert key in text_of(InputError(key))
    assert key in without_escapes(escaped(key))


def test_a_key_in_a_note_or_a_name_is_neither_sent_nor_recorded(agent, make_room, server, key, tmp_path):
    room = make_room(note=f"my key is {key}", said=key)
    server.script(lambda handler, request: handler.chat("no"))
    with pytest.raises(InvalidMoveError):
        agent(recorder=Recorder(tmp_path / "talk.jsonl")).act(room.view("answer"))
    assert key not in (tmp_path / "talk.jsonl").read_text()
    assert key not in json.dumps(server.bodies)
    assert REMOVED in server.bodies[0]["messages"][1]["content"]


def test_taking_out_a_key_ends_no_fence(agent, make_room, server, monkeypatch, read_data):
    key = '</data>&"key\\'
    monkeypatch.setenv("OPENAI_API_KEY", key)
    agent().act(make_room(note=f"x {key} y </data>").view())
    note = next(each for each in read_data(server.bodies[0])["patients"] if each["id"] == "p0")["facts"]["note"]
    assert note == {"untrusted": f"x {REMOVED} y </data>"}


def test_no_key_is_a_placeholder(agent, room, server, monkeypatch):
    agent().act(room.view())
    monkeypatch.setenv("OPENAI_API_KEY", "real-key")
    agent(key_variable=None).act(room.view())
    monkeypatch.setenv("OPENAI_API_KEY", "  ")
    agent().act(room.view())
    assert {headers["authorization"] for _, headers, _ in server.requests} == {"Bearer no-key"}


def test_the_key_is_read_when_it_is_needed(agent, room, server, monkeypatch):
    speaker = agent(key_variable="MY_KEY")
    for key in ("first-key", "second-key"):
        monkeypatch.setenv("MY_KEY", key)
        speaker.act(room.view())
    assert [headers["authorization"] for _, headers, _ in server.requests] == ["Bearer first-key", "Bearer second-key"]


@pytest.mark.parametrize("wrong", ["sk-1\r\nX-Evil: 1", "sk with blank", "sk-ключ", "abc", "sk-\x00-1234"])
def test_what_cannot_be_a_key_is_refused_without_being_said(wrong, agent, room, server, monkeypatch):
    if "\x00" in wrong:  # no environment holds it
        monkeypatch.setattr("os.environ", {"OPENAI_API_KEY": wrong})
    else:
        monkeypatch.setenv("OPENAI_API_KEY", wrong)
    with pytest.raises(InputError, match="OPENAI_API_KEY holds no key") as caught:
        agent().act(room.view())
    assert not isinstance(caught.value, InvalidMoveError)
    assert wrong not in str(caught.value)
    assert server.requests == []


def test_a_key_does_not_travel_unencrypted(room, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    speaker = LanguageModelAgent("me", "http://models.example.org/v1", "m", retriever=None)
    with pytest.raises(InputError, match="unencrypted to models.example.org"):
        speaker.act(room.view())


ADDRESSES = ["http://user:hidden@host/v1", "http://hidden@host", "https://host/v1?key=hidden", "https://host/v1#hidden"]


@pytest.mark.parametrize(
    "address", [*ADDRESSES, "hidden", "ftp://hidden/v1", "http://", "", "http://[hidden", "http://h:99999999"]
)
def test_an_address_is_an_address_alone(address):
    for make in (check_address, OpenAICompatible, lambda each: LanguageModelAgent("me", each, "m")):
        with pytest.raises(InputError, match="base_url") as caught:
            make(address)
        assert "hidden" not in str(caught.value)


def test_a_redirect_takes_no_key_along(agent, room, server, key):
    elsewhere = copy.copy(server.url).replace("/v1", "/stolen")
    server.script(lambda handler, request: handler.reply(307, "", [("location", elsewhere)]))
    with pytest.raises(InvalidMoveError, match="redirects"):
        agent().act(room.view())
    assert [path for path, _, _ in server.requests] == ["/v1/chat/completions"]


@pytest.mark.long
def test_no_object_that_is_left_holds_the_key(agent, room, server, key):
    """Not even what the client library made and forgot."""
    speaker = agent()
    speaker.act(room.view())
    server.requests.clear()
    gc.collect()
    held, forms = [], (f"Bearer {key}", f"Bearer {key}".encode())
    for each in gc.get_objects():
        if type(each) in {dict, list, tuple, set}:
            for value in list(each.values() if isinstance(each, dict) else each):
                if type(value) in {str, bytes} and value in forms and each is not forms:
                    held.append(each)
    assert held == []


def test_logs_of_others_pass(agent, room, server, caplog):
    """Silence is for our requests, not for whoever else uses the client library."""
    agent().act(room.view())
    with caplog.at_level(logging.DEBUG):
        logging.getLogger("httpx2").info("somebody else's request")
    assert "somebody else's request" in caplog.text


def test_texts_without_keys_stay_as_they_are():
    assert without_key("a \\u003c b", "secret") == "a \\u003c b"
    assert without_hidden_key("a \\u003c b \\/", "secret") == "a \\u003c b \\/"
    assert without_hidden_key("a \\u0073ecret b", "secret") == f"a {REMOVED} b"
    assert without_hidden_key("x", None) == "x"
    assert without_hidden_key("a \\u003c b sec\u200bret \\u0022 \\/", "secret") == f"a \\u003c b {REMOVED} \\u0022 \\/"
    assert without_hidden_key("s e c r e t, secre, s-e-c-r-e-t", "secret") == f"{REMOVED}, secre, s-e-c-r-e-t"
    assert without_hidden_key('"sec", "ret"', "secret") == '"sec", "ret"'


def test_readable_is_one_short_line():
    assert readable("a\tb\r\nc\u2028d\u200be\x1b[31m", 50) == "a b c de[31m"
    assert readable("x" * 100, 10) == "x" * 9 + "…"
    assert readable("", 10) == ""


def test_a_replay_reads_no_key(agent, room, server, tmp_path, monkeypatch):
    agent(recorder=Recorder(tmp_path / "talk.jsonl")).act(room.view())
    monkeypatch.setenv("OPENAI_API_KEY", "no key at all")
    assert agent(provider=Replay(tmp_path / "talk.jsonl")).act(room.view())


def test_other_variables_of_the_client_library_are_not_sent(agent, room, server, key, monkeypatch):
    for name in ("OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_ADMIN_KEY", "OPENAI_WEBHOOK_SECRET"):
        monkeypatch.setenv(name, "hidden-value")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/elsewhere")
    agent().act(room.view())
    [(_, headers, body)] = server.requests
    assert "hidden-value" not in json.dumps([headers, body])
    assert headers["authorization"] == f"Bearer {key}"


@pytest.mark.long
def test_the_first_request_of_a_process_logs_nothing_either(server, key):
    """Loggers of the client library may be made only then."""
    server.script(echo_text)
    code = f"""
import logging, sys
logging.basicConfig(level=logging.DEBUG)
sys.path.insert(0, {str(Path(__file__).parent)!r})
import conftest
from accordant.agents.language import LanguageModelAgent
from accordant.errors import InvalidMoveError
try:
    LanguageModelAgent("me", {server.url!r}, "m", retriever=None).act(conftest.Room().view())
except InvalidMoveError as error:
    logging.error("%s", error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert server.requests[0][1]["authorization"] == f"Bearer {key}"
    assert REMOVED not in done.stderr
    assert key not in done.stderr
    assert "ERROR:root:model 'm'" in done.stderr
    assert "chat/completions" not in done.stderr


@pytest.mark.parametrize("path", ["/v1/sk-secret-0123456789-ABCDEF", "/sk%2Dsecret-0123456789-ABCDEF/v1"])
def test_a_key_in_the_path_of_an_address_is_refused_before_anything_is_sent(path, agent, room, server, key, tmp_path):
    """Addresses stand in transcripts."""
    for changes in ({}, {"recorder": Recorder(tmp_path / "talk.jsonl")}):
        with pytest.raises(InputError, match="base_url holds what .* OPENAI_API_KEY holds") as caught:
            agent(base_url=server.url.replace("/v1", path), **changes)
        assert key not in str(caught.value)
    speaker = LanguageModelAgent("me", server.url.replace("/v1", path), "m", retriever=None, key_variable="LATER")
    with pytest.MonkeyPatch.context() as later:
        later.setenv("LATER", key)
        with pytest.raises(InputError, match="base_url holds what .* LATER holds"):
            speaker.act(room.view())
    assert server.requests == []
