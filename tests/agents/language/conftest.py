"""A real HTTP server on 127.0.0.1 that speaks the chat-completions protocol, well or badly, and views to move in."""

from __future__ import annotations

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from accordant.agents import Contestation, Fault, Proposal, Reason, Reply, Turn, View
from accordant.agents.language import LanguageModelAgent, OpenAICompatible, Request
from accordant.allocations import AdditiveUtility, Allocation, Claimant, Resource, Scenario
from accordant.allocations.allocation import Options

KEY = "sk-secret-0123456789-ABCDEF"


class Handler(BaseHTTPRequestHandler):
    """Plays one step of the script for each request."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        owner = self.server.owner
        with owner.lock:
            owner.requests.append((self.path, dict(self.headers), json.loads(body)))
            step = owner.steps.pop(0) if len(owner.steps) > 1 else owner.steps[0]
        step(self, json.loads(body)) if callable(step) else self.chat(step)

    do_GET = do_POST

    def log_message(self, *args):
        pass

    def reply(self, status, body, headers=(), kind="application/json"):
        data = body if isinstance(body, bytes) else body.encode()
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.send_header("connection", "close")
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)
        self.close_connection = True

    def chat(self, content, finish="stop", usage=(10, 5), headers=(), **message):
        text = content if content is None or isinstance(content, str) else json.dumps(content)
        answer = {
            "id": "answer-1",
            "object": "chat.completion",
            "created": 1,
            "model": "fake",
            "choices": [
                {
                    "index": 0,
                    "finish_reason": finish,
                    "message": {"role": "assistant", "content": text, **message},
                }
            ],
        }
        if usage is not None:
            answer["usage"] = dict(
                zip(("prompt_tokens", "completion_tokens", "total_tokens"), (*usage, sum(usage)), strict=True)
            )
        self.reply(200, json.dumps(answer), headers)


class Silent(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request, client_address):
        """Clients hang up on purpose."""


class FakeServer:
    """Plays a script: each step is content to answer with, or a function of the handler and the request's body."""

    def __init__(self):
        self.http = Silent(("127.0.0.1", 0), Handler)
        self.http.owner = self
        self.lock = threading.Lock()
        self.closing = threading.Event()
        self.requests, self.steps = [], []
        self.script(lambda handler, body: handler.chat(well(body)))
        self.thread = threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.005}, daemon=True)
        self.thread.start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.http.server_port}/v1"

    def script(self, *steps):
        """Answer with these in turn; the last one stays."""
        self.steps = list(steps)
        return self

    @property
    def bodies(self):
        return [body for _, _, body in self.requests]

    def modes(self):
        """The response format of each request."""
        return [body.get("response_format", {"type": "prompted"})["type"] for body in self.bodies]

    def close(self):
        self.closing.set()
        self.http.shutdown()
        self.http.server_close()
        self.thread.join(2)


def data_of(body):
    """Return the document that the model was shown."""
    [found] = re.findall(r"<data>\n(.*)\n</data>", body["messages"][1]["content"])
    return json.loads(found)


def claimants_in(shown, part="{}"):
    """Return what stands under the name of the claimants: patients, or rows or actions of a run."""
    return next(shown[part.format(noun)] for noun in ("patients", "rows", "actions") if part.format(noun) in shown)


def proposal_of(shown, first=()):
    """Grant in the order of ids, those named first before; what a careful model could answer."""
    people = sorted(claimants_in(shown), key=lambda each: (each["id"] not in first, each["id"]))
    grants = []
    for resource in shown["resources"]:
        left = resource["units"]
        for each in people:
            units = min(left, each["demand"][resource["name"]])
            if units:
                grants.append({"patient": each["id"], "resource": resource["name"], "units": units})
                left -= units
    cited = [each["id"] for each in shown["passages"]][:1]
    top = people[0]
    return {
        "grants": grants,
        "priorities": [{"patient": each["id"], "value": round(1 / (2 + i), 3)} for i, each in enumerate(people)],
        "reasons": [
            {
                "patient": top["id"],
                "code": "severity",
                "facts": sorted(top["facts"])[:1],
                "passages": cited,
                "text": "the most urgent",
            }
        ],
    }


def well(body):
    """Return a valid answer to any request."""
    shown = data_of(body)
    phase = shown["phase"]
    if phase == "vote":
        return {"ranking": sorted(each["number"] for each in shown["candidates"])[::-1]}
    made = proposal_of(shown)
    if phase == "contest":
        ground = {"code": "severity", "facts": [], "passages": [], "text": "more urgent"}
        before = shown.get("your_proposal", {}).get("grants", {})
        now = {each["patient"] for each in made["grants"]}
        replies = []
        for i, each in enumerate(claimants_in(shown, "disputed_{}")):
            moved = (each in before) != (each in now)
            kind = "concede" if moved else ("challenge", "maintain", "justify")[i % 3]
            replies.append(
                {"patient": each, "kind": kind, "reason": ground if kind in ("challenge", "justify") else None}
            )
        return {"replies": replies, "revised": made}
    if phase in ("answer", "offer"):
        return {"accepts": min(shown.get("other_proposals", {}), default=None), "counter": made}
    return made


class Room:
    """A scenario, and views of it in every phase."""

    def __init__(self, note="short of breath", said="they waited longest"):
        facts = [(1, 0.9, 0.7, 0.1, "f"), (3, 0.4, 0.9, 0.5, "m"), (2, 0.7, 0.8, 0.2, "f"), (4, 0.2, 0.95, 0.8, "m")]
        names = ("acuity", "severity", "p_with", "p_without", "sex")
        self.scenario = Scenario(
            [
                Claimant(f"p{i}", {**dict(zip(names, each, strict=True)), "note": note if i == 0 else ""})
                for i, each in enumerate(facts)
            ],
            [Resource("bed", 2)],
            protected=["sex"],
        )
        other = Proposal(
            Allocation.whole(self.scenario, ["p2", "p3"]),
            AdditiveUtility(np.array([0.125, 0.0, 1.0, 0.5])),
            (Reason("p2", "arrival", ("acuity",), (), said),),
        )
        own = Proposal(Allocation.whole(self.scenario, ["p0", "p1"]), AdditiveUtility(np.array([1.0, 0.5, 0.25, 0.0])))
        self.standing = {"me": own, "other": other}
        reply = Reply("p2", "challenge", Reason("p2", "severity", (), (), said))
        self.history = (
            Turn(1, "other", other, faults=(Fault(said, "no_patient"),)),
            Turn(2, "other", Contestation((reply,), other)),
        )

    def view(self, phase="propose", **changes):
        given = {"agent": "me", "phase": phase, "scenario": self.scenario, "seed": 7}
        if phase != "propose":
            given |= {"proposals": self.standing, "step": 2, "time": 0.5, "history": self.history}
        if phase == "contest":
            given["disputed"] = ("p0", "p1", "p2", "p3")
        if phase == "vote":
            given["candidates"] = tuple(
                Allocation.whole(self.scenario, pair) for pair in (("p0", "p1"), ("p0", "p2"), ("p2", "p3"))
            )
        return View(**(given | changes))

    def options(self):
        """All feasible allocations."""
        pairs = [(i, j) for i in range(4) for j in range(i)]
        granted = np.zeros((len(pairs), 4, 1), dtype=np.int16)
        for row, pair in enumerate(pairs):
            granted[row, list(pair)] = 1
        return Options(self.scenario, granted, complete=True)


@pytest.fixture(autouse=True)
def directly(monkeypatch):
    """No key of the machine's."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


@pytest.fixture(scope="session")
def warm(extra):
    """Ask once: the first request of a process imports much, and short time-outs would end it."""
    extra("pydantic_ai")
    running = FakeServer()
    OpenAICompatible(running.url).complete(Request("m", (), {}, "prompted", None, 0, 1), None, 60)
    running.close()


@pytest.fixture
def server(warm):
    running = FakeServer()
    yield running
    running.close()


@pytest.fixture
def agent(server):
    """Return a function that makes an agent of the fake server, with short waits."""

    def make(**changes):
        limits = {"timeout": 5.0, "retries": 1, "backoff": 0.001, "longest_wait": 0.05} | changes.pop("limits", {})
        given = {"name": "me", "base_url": server.url, "model": "fake", "retriever": None, "limits": limits}
        return LanguageModelAgent(**(given | changes))

    return make


@pytest.fixture
def make_room():
    return Room


@pytest.fixture
def room():
    return Room()


@pytest.fixture
def answer_well():
    return well


@pytest.fixture
def read_data():
    return data_of


@pytest.fixture
def key(monkeypatch):
    """A key in the environment."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    return KEY
