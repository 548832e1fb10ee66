"""What was recorded is replayed exactly, without a network, a key or the client library."""

import json
import socket
import subprocess
import sys
import threading

import pytest

from accordant.agents.language import Fault, LanguageModelAgent, Message, Recorder, Replay, Reply, Request
from accordant.errors import DataError, DataNotFoundError, InputError, InvalidMoveError

PHASES = ("propose", "contest", "answer", "offer", "vote")
REQUEST = Request("m", (Message("system", "a"), Message("user", "b")), {"type": "object"}, "prompted", 0.0, 1, 100)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "talk.jsonl"


def outcomes(speaker, room):
    """Every move, or why there is none."""
    made = []
    for phase in PHASES:
        try:
            acted = speaker.acted(room.view(phase))
            made.append((acted.move.to_json(), acted.repairs, acted.fallback, acted.generated_by))
        except InvalidMoveError as error:
            made.append(str(error))
    return made


def cut_off(monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


def test_the_same_moves_are_replayed_without_a_network(agent, room, server, path, monkeypatch):
    recorded = outcomes(agent(recorder=Recorder(path)), room)
    assert all(isinstance(each, tuple) for each in recorded)
    url = server.url
    server.close()
    cut_off(monkeypatch)
    for _ in range(2):
        speaker = LanguageModelAgent("me", url, "fake", retriever=None, provider=Replay(path))
        assert outcomes(speaker, room) == recorded
        assert (speaker.ledger["replayed"], speaker.ledger["calls"], speaker.ledger.seconds) == (len(PHASES), 0, 0)
    assert len(Replay(path)) == len(PHASES)


def test_an_empty_recording_is_refused(path):
    path.write_text("", encoding="utf-8")
    with pytest.raises(DataError, match="is empty; allowed: at least one answer"):
        Replay(path)


def test_what_stands_in_for_a_server_is_asked_even_if_it_has_no_length(room, server, monkeypatch):
    class Silent:
        """Has nothing to say, and is false where it is asked whether it is there."""

        def __len__(self):
            return 0

        def complete(self, request, key=None, seconds=0.0):
            return Fault("refused", "nothing was recorded")

    url = server.url
    cut_off(monkeypatch)
    speaker = LanguageModelAgent("me", url, "fake", retriever=None, provider=Silent())
    with pytest.raises(InvalidMoveError, match="nothing was recorded"):
        speaker.acted(room.view("propose"))
    assert not server.requests


def test_failures_repairs_and_weaker_modes_are_replayed_too(agent, room, server, path):
    def picky(handler, request):
        """Refuse schemas, fail every fifth time, answer badly every third."""
        count = len(server.requests)
        if "response_format" in request:
            handler.reply(400, "{}")
        elif count % 5 == 0:
            handler.reply(401, "{}")
        elif count % 3 == 0:
            handler.chat("no")
        else:
            handler.chat(answers(request))

    def answers(request):
        return {"ranking": [0, 1, 2]} if '"candidates"' in request["messages"][1]["content"] else "no"

    server.script(picky)
    recorded = outcomes(agent(recorder=Recorder(path)), room)
    kinds = {json.loads(line).get("fault", {}).get("kind") for line in path.read_text().splitlines()}
    assert kinds == {None, "refused", "credentials"}
    assert outcomes(agent(provider=Replay(path)), room) == recorded


def test_a_spent_budget_is_part_of_a_recording(agent, room, path):
    from accordant.agents.language import Budget

    recorded = outcomes(agent(recorder=Recorder(path), budget=Budget(calls=2)), room)
    assert [isinstance(each, str) for each in recorded] == [False, False, True, True, True]
    assert outcomes(agent(provider=Replay(path)), room) == recorded


def test_what_was_not_recorded_is_an_error_that_names_it(agent, room, make_room, server, path):
    agent(recorder=Recorder(path)).act(room.view())
    replay = Replay(path)
    for changes, view in (
        ({}, room.view(seed=8)),
        ({}, make_room(note="another").view()),
        ({"model": "other"}, room.view()),
        ({"temperature": 0.5}, room.view()),
        ({"mode": "prompted"}, room.view()),
    ):
        with pytest.raises(DataError, match=r"no answer for the request [0-9a-f]{64}") as caught:
            agent(provider=replay, fallback=None, **changes).act(view)
        assert not isinstance(caught.value, InvalidMoveError)
    assert len(server.requests) == 1
    assert agent(provider=replay).act(room.view())


def test_a_request_is_made_once_in_a_recording(agent, room, server, path):
    recorder = Recorder(path)
    first, second = agent(recorder=recorder), agent(recorder=recorder)
    assert first.act(room.view()).to_json() == second.act(room.view()).to_json()
    assert len(server.requests) == len(path.read_text().splitlines()) == 1


def test_threads_share_a_recording(path):
    recorder = Recorder(path)
    made = []

    def write(number):
        for seed in range(20):
            request = Request("m", (), {}, "prompted", None, seed, 1)
            made.append((seed, recorder.write(request, Reply(f"{number}")).text))

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(Replay(path)) == 20
    assert len(set(made)) == 20  # one outcome for each request, whoever came first


def test_what_is_written_is_read_back(path):
    recorder = Recorder(path)
    replies = [
        Reply("", "refusal"),
        Reply('{"a": "ü\u2028\n\ud800"}', "length", 3, 4, "id"),
        Fault("limited", "HTTP 429"),
    ]
    for seed, outcome in enumerate(replies):
        request = Request("m", REQUEST.messages, REQUEST.schema, "json_schema", None, seed, 9)
        recorder.write(request, outcome)
        assert recorder.known(request) == outcome
        assert Replay(path).complete(request) == outcome


def test_every_part_of_a_request_is_part_of_its_key():
    changes = {
        "model": "n",
        "messages": (Message("system", "a"), Message("user", "c")),
        "schema": {"type": "array"},
        "mode": "json_object",
        "temperature": 0.1,
        "seed": 2,
        "answer_tokens": 101,
    }
    assert changes.keys() == vars(REQUEST).keys() - {"hash"}
    keys = {
        Request(**{name: getattr(REQUEST, name) for name in changes} | {each: changes[each]}).hash for each in changes
    }
    assert len(keys | {REQUEST.hash}) == len(changes) + 1


def test_a_recording_belongs_to_one_run(path, tmp_path):
    Recorder(path)
    with pytest.raises(InputError, match="new file"):
        Recorder(path)
    with pytest.raises(InputError, match="cannot be written"):
        Recorder(tmp_path / "nowhere" / "talk.jsonl")
    with pytest.raises(DataNotFoundError):
        Replay(tmp_path / "nowhere.jsonl")


def test_a_changed_recording_is_refused(path):
    Recorder(path).write(REQUEST, Reply("x"))
    line = path.read_text()
    wrong = {
        "not JSON": line[:-5],
        "does not match its key": line.replace('"text": "b"', '"text": "c"'),
        "outcome does not match its hash": line.replace('"text": "x"', '"text": "y"'),
        "and neither its finish": line.replace('"finish": "stop"', '"finish": "length"'),
        "nor its tokens": line.replace('"tokens_in": null', '"tokens_in": 1'),
        "without a hash": line.replace(json.loads(line)["hash"], "0" * 64),
        "the same again": line,
        "not what a recorder writes": json.dumps([1]),
        "reply is not": line.replace('"finish": "stop"', '"finish": "maybe"'),
        "more": line.replace('"reply":', '"other": 1, "reply":'),
        "both": line.replace('"reply":', '"fault": {}, "reply":'),
        "deep": "[" * 100_000,
    }
    for case, text in wrong.items():
        path.write_text(line + text + "\n")
        assert case == "the same again" or text != line
        with pytest.raises(DataError, match="line 2"):
            Replay(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(DataError):
        Replay(path)


def test_a_recording_that_broke_off_says_where(path):
    recorder = Recorder(path)
    recorder.write(REQUEST, Reply("x"))
    recorder.write(REQUEST.asked_as("json_object"), Reply("y"))
    text = path.read_text()
    path.write_text(text[:-30])
    with pytest.raises(DataError, match="line 2: the recording broke off in this line; take it away"):
        Replay(path)
    path.write_text("".join(text.splitlines(keepends=True)[:1]))
    assert len(Replay(path)) == 1


def test_a_recording_goes_to_a_new_file_only(path, tmp_path):
    path.symlink_to("nowhere")
    with pytest.raises(InputError, match="is there already"):
        Recorder(path)
    for name in ("-", "/dev/stdout"):
        with pytest.raises(InputError, match="cannot be written to standard output"):
            Recorder(name)
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.long
def test_replaying_needs_no_client_library(agent, room, path, server):
    agent(recorder=Recorder(path)).act(room.view("vote"))
    code = f"""
import sys
sys.modules["pydantic_ai"] = sys.modules["openai"] = sys.modules["httpx2"] = None
sys.path.insert(0, {str(__file__).rsplit("/", 1)[0]!r})
import conftest
from accordant.agents.language import LanguageModelAgent, Replay
agent = LanguageModelAgent("me", {server.url!r}, "fake", retriever=None, provider=Replay({str(path)!r}),
    limits={{"timeout": 5.0, "retries": 1}})
print(agent.act(conftest.Room().view("vote")).ranking)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "(2, 1, 0)", done.stderr


def test_an_outcome_belongs_to_its_request(path):
    """The outcome of another line is a changed recording too, and so is a fault in place of an answer."""
    recorder = Recorder(path)
    recorder.write(REQUEST, Reply("x"))
    recorder.write(REQUEST.asked_as("json_object"), Reply("y"))
    first, second = map(json.loads, path.read_text().splitlines())
    for part in ("reply", "hash"):
        swapped = {**second, part: first[part]}
        path.write_text(json.dumps(first) + "\n" + json.dumps(swapped) + "\n")
        with pytest.raises(DataError, match="line 2: the outcome does not match its hash"):
            Replay(path)
    swapped = {**second, "reply": first["reply"], "hash": first["hash"]}
    path.write_text(json.dumps(swapped) + "\n")
    with pytest.raises(DataError, match="line 1: the outcome does not match"):
        Replay(path)
    path.write_text(json.dumps(first) + "\n" + json.dumps(first) + "\n")
    with pytest.raises(DataError, match="line 2: the request of line 1 once more; allowed: once"):
        Replay(path)
