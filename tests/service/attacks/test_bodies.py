"""Bodies that are too large, packed, endless, slow, nested, not what they say; and texts that want to be code."""

from __future__ import annotations

import gzip
import json
import logging
import socket
import threading
import time
from contextlib import closing

import pytest
import uvicorn
from sqlalchemy import func, select

from accordant.errors import InputError
from accordant.service.api.app import MOST_BYTES, make_app
from accordant.service.api.pace import TimedProtocol
from accordant.service.clients import add_client
from accordant.service.schema import decision, event, tables
from tests.service.attacks.conftest import CONTEXT, SAME, token_of

CODE = [
    "'; drop table decision; --", '" or 1=1 --', "1); delete from event; --", "' union select token from api_client --",
    "%' or '1'='1", "\\'; pragma writable_schema=on; --", "$$; drop table event; $$", "{{7*7}}", "${7*7}", "{% raw %}",
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "javascript:alert(1)", "\r\nX-Injected: 1", "\x1b[2J",
    "../../etc/passwd", "=cmd|' /C calc'!A0", "\u202eevil", "a" * 200, "\N{PILE OF POO}" * 50, "NaN", "null", "__proto__",
]  # fmt: skip


def decisions(world):
    with world.service.database.reading() as connection:
        return connection.execute(select(func.count()).select_from(decision)).scalar_one()


def sent(world, content, **headers):
    """Send bytes as a question, and return the answer; nothing may be decided unless it is 200."""
    before = decisions(world)
    given = {
        "Authorization": f"Bearer {world.key}",
        "Idempotency-Key": f"bytes {hash(content)}",
        "Content-Type": "application/json",
    }
    answer = world.http.post("/v1/decisions", content=content, headers=given | headers)
    assert answer.status_code != 500
    assert answer.status_code == 200 or decisions(world) == before
    return answer


@pytest.mark.few(24)
@pytest.mark.parametrize("text", CODE)
@pytest.mark.parametrize("field", ["column", "value", "deployment", "outcome", "decision"])
def test_code_in_a_field_of_a_program_is_text(world, field, text):
    headers = {"Authorization": f"Bearer {world.key}", "Idempotency-Key": f"code {field} {CODE.index(text)}"}
    context = (
        {**CONTEXT, text: "x"} if field == "column" else {**CONTEXT, "branch": text} if field == "value" else CONTEXT
    )
    if field in {"outcome", "decision"}:
        told = (
            {"decision": world.mine["id"], "outcome": text}
            if field == "outcome"
            else {"decision": text, "outcome": "Repaid"}
        )
        answer = world.http.post("/v1/outcomes", json={"outcomes": [told]}, headers=headers)
    else:
        more = {"deployment": text} if field == "deployment" else {}
        answer = world.http.post("/v1/decisions", json={"contexts": [context], **more}, headers=headers)
    assert answer.status_code in {200, 409, 422}
    assert "x-injected" not in answer.headers and "49" != answer.text
    with world.service.database.reading() as connection:
        names = connection.dialect.get_table_names(connection)
    assert set(tables.tables) <= set(names)


@pytest.mark.few(6)
@pytest.mark.parametrize("text", CODE)
def test_code_in_a_header_is_text(world, text):
    for name in ("Idempotency-Key", "Authorization", "User-Agent", "Cookie", "Accept-Language"):
        headers = {"Authorization": f"Bearer {world.key}", "Idempotency-Key": "h"} | {name: text.encode()}
        answer = world.http.post("/v1/decisions", json={"contexts": [CONTEXT]}, headers=headers)
        assert answer.status_code in {200, 401, 409, 422} and "x-injected" not in answer.headers


@pytest.mark.few(3)
@pytest.mark.parametrize("text", CODE)
def test_code_in_a_form_is_shown_as_text(world, text):
    told = world.ask(f"form {CODE.index(text)}", [{**CONTEXT, "score": 0.3}]).json()["decisions"][0]
    person, reviewer = world.opened(told["link"]), world.members["reviewer"]
    form = {"csrf": token_of(person.get("/my")), "grounds": f"I say {text}"}
    assert person.post("/my/contest", data=form, headers=SAME).status_code == 303
    for page in (person.get("/my"), reviewer.get("/reviews")):
        assert page.status_code == 200
        assert "<script>alert" not in page.text and "<img src=x" not in page.text and "I say 49" not in page.text


@pytest.mark.few(5)
@pytest.mark.parametrize("text", [each for each in CODE if each.isprintable()])
def test_code_in_the_name_of_a_program_is_shown_as_text(world, text):
    name = text[:60] + str(CODE.index(text))
    with world.service.database.writing() as connection:
        add_client(connection, world.service.secrets, world.service.workspace, name)
    page = world.members["owner"].get("/people")
    assert page.status_code == 200 and "<script>alert" not in page.text and "<img src=x" not in page.text


@pytest.mark.parametrize("name", ["", " ", "a\nb", "\x1b[31m", "x" * 201])
def test_a_program_has_a_name_that_can_be_printed(world, name):
    with (
        pytest.raises(InputError, match="allowed: 1 to 200 characters"),
        world.service.database.writing() as connection,
    ):
        add_client(connection, world.service.secrets, world.service.workspace, name)


def test_no_text_of_others_makes_lines_of_a_log(world, caplog):
    caplog.set_level(logging.DEBUG)
    world.ask("forged\nlevel: error", [{**CONTEXT, "branch": 'x"}\n{"level": "error"'}], key="acc_\n{}")
    for record in caplog.records:
        if record.name.startswith("accordant"):
            assert "forged" not in record.getMessage() and 'level": "error' not in record.getMessage()


@pytest.mark.parametrize(
    "more",
    [
        {"id": "x"},
        {"version": "x"},
        {"strategy": "constant:Grant"},
        {"client": "x"},
        {"workspace": "elsewhere"},
        {"at": "2001"},
        {"state": "upheld"},
    ],
)
def test_nobody_sets_what_is_not_theirs_to_set(world, more):
    assert world.ask("mass", **more).status_code == 422
    told = {"outcomes": [{"decision": world.mine["id"], "outcome": "Repaid", **more}]}
    assert (
        world.http.post("/v1/outcomes", json=told, headers={"Authorization": f"Bearer {world.key}"}).status_code == 422
    )


@pytest.mark.parametrize("more", [{"role": "owner"}, {"person": "x"}, {"workspace": "elsewhere"}, {"uses": "99"}])
def test_a_form_takes_no_more_than_it_shows(world, more):
    invited = world.invited("participant")
    there = world.browser()
    assert there.post(f"/join/{invited.token}", data=more).status_code == 303
    assert there.get("/people").status_code == 403 and there.get("/runs").status_code == 200
    assert world.browser().post(f"/join/{invited.token}").status_code == 404


@pytest.mark.few(2)
@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd", "gzip, gzip", "compress"])
def test_nothing_is_unpacked(world, coding):
    bomb = gzip.compress(b'{"contexts": [' + b" " * 2**24 + b"]}")
    assert len(bomb) < 2**15
    assert sent(world, bomb, **{"Content-Encoding": coding}).status_code == 415


@pytest.mark.parametrize(
    "content",
    [
        b"", b"\x00", b"\xff\xfe", b"{", b"[]", b"null", b"1", b'"x"', b'{"contexts": [{"score": NaN, "branch": "south"}]}',
        b'{"contexts": [{"score": 1e999, "branch": "south"}]}', b'{"contexts": [{"score": -1e999, "branch": "south"}]}',
        b'{"contexts": [{"score": "0.4", "branch": "south"}]}', b'{"contexts": [{"score": true, "branch": "south"}]}',
        b'{"contexts": [{"score": [0.4], "branch": "south"}]}', b'{"contexts": [{"score": {"a": 1}, "branch": "south"}]}',
        b'{"contexts": [{"score": ' + b"9" * 5000 + b', "branch": "south"}]}', b'{"contexts": "all"}', b'{"contexts": {}}',
        b'{"contexts": [' + b"[" * 100_000 + b"]" * 100_000 + b"]}", b'{"contexts": ' * 50_000, b"[" * 1_000_000,
        b'{"contexts": [{"score": 0.4, "branch": "\xff"}]}', b'{"contexts": [{"score": 0.4, "branch": "\\ud800"}]}',
        json.dumps({"contexts": [{f"c{i}": 1 for i in range(2000)}]}).encode(), json.dumps({"contexts": [CONTEXT] * 1001}).encode(),
        json.dumps({"contexts": [{**CONTEXT, "branch": "x" * 10_001}]}).encode(),
    ],
    ids=lambda content: repr(content[:40]),
)  # fmt: skip
def test_what_is_no_question_is_refused(world, content):
    answer = sent(world, content)
    assert answer.status_code in {400, 422}
    assert len(answer.content) < 100_000


def test_null_bytes_are_text_or_refused(world):
    assert world.ask("with null", [{**CONTEXT, "branch": "a\x00b"}]).status_code in {200, 422}


def test_the_last_of_two_equal_names_counts_everywhere(world):
    twice = b'{"contexts": [], "contexts": [{"score": 0.4, "branch": "south"}]}'
    answer = sent(world, twice, **{"Idempotency-Key": "twice"})
    again = world.ask("twice", [{"score": 0.4, "branch": "south"}])
    assert (answer.status_code, again.status_code) == (200, 200) and answer.content == again.content


@pytest.mark.parametrize("length", ["-1", "1e3", "abc", str(MOST_BYTES + 1), "9" * 40, "0x10", " ", "1, 2"])
def test_false_lengths_are_refused(world, length):
    assert sent(world, b'{"contexts": []}', **{"Content-Length": length}).status_code in {400, 413, 422}


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "path", ["/v1/decisions", "/v1/outcomes", "/sign-in", "/my/contest", "/join/x", "/people/invite"]
)
def test_endless_bodies_are_cut_off(world, path):
    pieces = []

    def endless():
        for _ in range(64):
            pieces.append(1)
            yield b"x" * 2**20

    headers = {
        "Authorization": f"Bearer {world.key}",
        "Idempotency-Key": "1",
        "Content-Type": "application/x-www-form-urlencoded",
    }
    assert world.browser().post(path, content=endless(), headers=headers).status_code in {401, 403, 404, 413, 422}
    with world.service.database.reading() as connection:
        assert connection.execute(select(func.count()).select_from(event)).scalar_one() > 0


@pytest.fixture(scope="module")
def listening(world):
    """A server with real sockets."""
    server = uvicorn.Server(
        uvicorn.Config(make_app(world.service), port=0, http=TimedProtocol, log_config=None, lifespan="off")
    )
    with closing(socket.create_server(("127.0.0.1", 0))) as there:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [there]})
        thread.start()
        yield there.getsockname()
        server.should_exit = True
        thread.join()


def raw(address, content, wait=2.0):
    with closing(socket.create_connection(address, timeout=wait)) as there:
        there.sendall(content)
        try:
            return there.recv(65536)
        except TimeoutError:
            return b""


@pytest.mark.parametrize(
    "content",
    [
        b"POST /v1/decisions HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        b"POST /v1/decisions HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST /v1/decisions HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
        b"POST /v1/decisions HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
        b"GET /live HTTP/1.1\r\nHost: x\r\nEvil : 1\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00", b"GET " + b"a" * 100_000 + b" HTTP/1.1\r\n\r\n",
        b"GET /live HTTP/1.1\r\nHost: x\r\n" + b"A: b\r\n" * 50_000 + b"\r\n",
        b"GET /live HTTP/1.1\r\n\r\n",
    ],
    ids=lambda content: repr(content[:50]),
)  # fmt: skip
def test_requests_that_two_servers_would_read_otherwise_are_refused(listening, content):
    assert not raw(listening, content).startswith((b"HTTP/1.1 2", b"HTTP/1.1 3", b"HTTP/1.1 5"))
    assert raw(listening, b"GET /live HTTP/1.1\r\nHost: x\r\n\r\n").startswith(b"HTTP/1.1 200")


def test_slow_clients_do_not_keep_others_waiting(listening):
    slow = [socket.create_connection(listening) for _ in range(60)]
    for each in slow:
        each.sendall(b"POST /v1/decisions HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
    begun = time.monotonic()
    assert raw(listening, b"GET /live HTTP/1.1\r\nHost: x\r\n\r\n", 20.0).startswith(b"HTTP/1.1 200")
    assert time.monotonic() - begun < 10
    for each in slow:
        each.close()


def test_clients_that_go_before_they_are_answered_leave_whole_decisions(listening, world):
    body = json.dumps({"contexts": [CONTEXT]}).encode()
    for i in range(10):
        head = (
            f"POST /v1/decisions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {world.key}\r\nIdempotency-Key: gone {i}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        with closing(socket.create_connection(listening)) as there:
            there.sendall(head.encode() + body)
    answers = [world.ask(f"gone {i}") for i in range(10)]
    assert {each.status_code for each in answers} == {200}
    assert world.audited().fault == ""
