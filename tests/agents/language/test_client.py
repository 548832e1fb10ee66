"""What is sent to a server, and what its answers and errors become."""

from __future__ import annotations

import pytest

from accordant.agents.language import OpenAICompatible, Request
from accordant.agents.language.client import _reply
from accordant.agents.language.provider import Message


def asked(server, *messages, **changes):
    given = {"schema": {}, "mode": "prompted", "temperature": None, "seed": 0, "answer_tokens": 7} | changes
    return OpenAICompatible(server.url).complete(Request("m", messages, **given), None, 5.0)


def test_each_message_is_sent_in_the_role_that_it_has(server):
    said = [("system", "one"), ("user", "two"), ("assistant", "three"), ("user", "four")]
    asked(server.script("yes"), *(Message(*each) for each in said))
    [body] = server.bodies
    assert [(each["role"], each["content"]) for each in body["messages"]] == said
    assert body["model"] == "m"


@pytest.mark.parametrize(
    ("answer", "finish"),
    [
        ({}, "stop"),
        ({"finish": "length"}, "length"),
        ({"finish": "content_filter"}, "refusal"),
        ({"refusal": "I will not."}, "refusal"),
    ],
)
def test_how_an_answer_ended_is_told(answer, finish, server):
    reply = asked(server.script(lambda handler, body: handler.chat("yes", **answer)), Message("user", "?"))
    assert reply.finish == finish
    assert reply.id == "answer-1"


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [((10, 5), (10, 5)), ((0, 1), (0, 1)), ((1, 0), (1, 0)), ((0, 0), (None, None)), (None, (None, None))],
)
def test_tokens_are_unknown_where_the_server_counts_none(usage, tokens, server):
    reply = asked(server.script(lambda handler, body: handler.chat("yes", usage=usage)), Message("user", "?"))
    assert (reply.tokens_in, reply.tokens_out) == tokens


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (300, "redirect"), (399, "redirect"), (400, "refused"), (401, "credentials"), (403, "credentials"),
        (408, "timeout"), (425, "server"), (429, "limited"), (499, "refused"), (500, "server"), (501, "refused"),
        (502, "server"),
    ],
)  # fmt: skip
def test_each_status_is_a_fault_of_its_kind(code, kind, server):
    server.script(lambda handler, body: handler.reply(code, '{"error": {"message": "out of paper"}}'))
    fault = asked(server, Message("user", "?"))
    assert fault.kind == kind
    assert f"HTTP {code}" in fault.message
    assert ("out of paper" in fault.message) == (kind not in ("redirect", "credentials"))


@pytest.mark.parametrize(
    ("details", "finish"), [({"refusal": "no"}, "refusal"), ({"other": 1}, "stop"), (None, "stop")]
)
def test_a_refusal_among_the_details_of_an_answer_counts(details, finish, extra):
    messages = extra("pydantic_ai.messages")
    parts = [messages.TextPart("ye"), messages.ThinkingPart("no?"), messages.TextPart("s")]
    reply = _reply(messages.ModelResponse(parts=parts, provider_details=details), None)
    assert (reply.text, reply.finish, reply.id) == ("yes", finish, "")
