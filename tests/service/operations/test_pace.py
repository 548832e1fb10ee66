"""Slow clients: headers, bodies and answers have an end, and whoever is merely far away is served."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from contextlib import contextmanager

import pytest
import uvicorn

from accordant.service.api import pace
from accordant.service.api.app import make_app
from accordant.service import server as serving
from accordant.service.server import MOST_HEADER_BYTES, _config


@contextmanager
def answering(service):
    """The port of a server that is configured as the command does."""
    listening = socket.create_server(("127.0.0.1", 0))
    running = uvicorn.Server(_config(make_app(service)))
    thread = threading.Thread(target=running.run, kwargs={"sockets": [listening]})
    thread.start()
    while not running.started:
        time.sleep(0.01)
    yield listening.getsockname()[1]
    running.should_exit = True
    thread.join()
    listening.close()


@pytest.fixture
def server(service, monkeypatch):
    """The port of a server whose patience is short."""
    monkeypatch.setattr(pace, "SECONDS_TO_BEGIN", 0.4)
    monkeypatch.setattr(pace, "SECONDS_TO_ASK", 0.4)
    with answering(service) as port:
        yield port


def talk(port, *pieces, pause=0.0):
    """Send pieces with pauses between them; return all that comes back until the server closes."""
    with socket.create_connection(("127.0.0.1", port), timeout=8) as connection:
        for piece in pieces:
            try:
                connection.sendall(piece)
            except OSError:
                break
            time.sleep(pause)
        answer = b""
        while True:
            try:
                piece = connection.recv(65536)
            except ConnectionResetError:
                break
            if not piece:
                break
            answer += piece
    return answer


HEAD = b"POST /v1/decisions HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nAuthorization: Bearer %s\r\nIdempotency-Key: 1\r\n"


def test_connections_have_a_number_and_are_taken_again_when_others_left(service, monkeypatch):
    monkeypatch.setattr(serving, "MOST_CONNECTIONS", 3)
    question = b"GET /live HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
    with answering(service) as port:
        assert talk(port, question).startswith(b"HTTP/1.1 200")
        idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(3)]
        refused = talk(port, question)
        for each in idle:
            each.close()
        until = time.monotonic() + 5
        while not (again := talk(port, question)).startswith(b"HTTP/1.1 200") and time.monotonic() < until:
            time.sleep(0.05)
    assert refused.startswith(b"HTTP/1.1 503")
    assert again.startswith(b"HTTP/1.1 200")


def test_whoever_says_nothing_is_left(server):
    began = time.monotonic()
    assert talk(server) == b""
    assert 0.3 < time.monotonic() - began < 5


def test_headers_that_trickle_in_are_cut_off(server):
    began = time.monotonic()
    assert talk(server, *([b"GET /live HTTP/1.1\r\n"] + [b"X-A: b\r\n"] * 20), pause=0.1) == b""
    assert time.monotonic() - began < 5


def test_a_second_request_on_a_connection_has_an_end_too(server):
    answer = talk(server, b"GET /live HTTP/1.1\r\nHost: a\r\n\r\n", *([b"GET /li"] + [b"v"] * 12), pause=0.1)
    assert answer.count(b"HTTP/1.1 200") == 1 and answer.count(b"HTTP/1.1") == 1


def test_a_body_that_trickles_in_is_refused(server, key):
    head = HEAD % key.encode() + b"Content-Length: 500\r\n\r\n"
    answer = talk(server, head, *[b"{"] * 10, pause=0.1)
    assert answer.startswith(b"HTTP/1.1 408")
    assert b"content-security-policy" in answer.lower() and b"connection: close" in answer.lower()


def test_a_body_in_pieces_is_answered(server, key):
    body = b'{"contexts": [{"score": 0.4, "branch": "south"}]}'
    head = HEAD % key.encode() + b"Connection: close\r\nContent-Length: %d\r\n\r\n" % len(body)
    answer = talk(server, head, body[:20], body[20:], pause=0.05)
    assert answer.startswith(b"HTTP/1.1 200")


def test_headers_have_a_size(server):
    answer = talk(
        server, b"GET /live HTTP/1.1\r\nHost: a\r\n" + b"X-A: " + b"b" * (2 * MOST_HEADER_BYTES) + b"\r\n\r\n"
    )
    assert answer == b"" or answer.startswith(b"HTTP/1.1 4")


def test_an_answer_that_nobody_takes_ends(monkeypatch):
    monkeypatch.setattr(pace, "SECONDS_TO_TAKE", 0.05)
    ended = []

    async def app(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        try:
            await send({"type": "http.response.body", "body": b"x"})
        finally:
            ended.append(True)

    async def stuck(message):
        if message["type"] == "http.response.body":
            await asyncio.sleep(60)

    async def nothing():
        return {"type": "http.request", "body": b"", "more_body": False}

    asyncio.run(pace.Pace(app)({"type": "http"}, nothing, stuck))
    assert ended == [True]
