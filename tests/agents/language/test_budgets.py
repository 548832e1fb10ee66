"""Budgets hold across agents and threads, and running out is told apart from failing."""

import pickle
import threading
import time

import pytest

from accordant.agents.language import Budget, CallLedger, LanguageModelAgent, OpenAICompatible, Reply
from accordant.errors import InputError, InvalidMoveError


def good(handler, body):
    handler.chat({"ranking": [0, 1, 2]})


@pytest.mark.long
def test_calls_are_shared_by_agents(agent, room, server):
    server.script(good)
    budget = Budget(calls=3)
    first, second = agent(budget=budget), agent(budget=budget)
    for each in (first, second, first):
        each.act(room.view("vote"))
    for each in (first, second):
        with pytest.raises(InvalidMoveError, match="the budget of 3 calls is spent"):
            each.act(room.view("vote"))
        assert (each.ledger["exhausted"], each.ledger["fault budget"]) == (1, 1)
    assert len(server.requests) == budget.spent_calls == 3
    assert second.ledger["calls"] == 1


def test_retries_and_repairs_are_calls(agent, room, server):
    server.script(lambda handler, body: handler.reply(500, "{}"))
    with pytest.raises(InvalidMoveError, match="budget of 2 calls"):
        agent(budget=Budget(calls=2), limits={"retries": 9}).act(room.view("vote"))
    assert len(server.requests) == 2
    server.script("no")
    with pytest.raises(InvalidMoveError, match="budget of 2 calls"):
        agent(budget=Budget(calls=2)).act(room.view("vote"))
    assert len(server.requests) == 4


@pytest.mark.parametrize("counts", [{"tokens_in": 9}, {"tokens_out": 9}])
def test_tokens_that_are_counted_by_half_are_estimated(counts, room):
    class Half:
        """Counts what it was asked, or what it answered."""

        def complete(self, request, key=None, seconds=0.0):
            return Reply('{"ranking": [0, 1, 2]}', **counts)

    speaker = LanguageModelAgent("me", "http://127.0.0.1:9", "fake", retriever=None, provider=Half())
    speaker.act(room.view("vote"))
    assert speaker.ledger["tokens_in"] > 9
    assert (speaker.ledger["tokens_out"], speaker.ledger["estimated"]) == (6, 1)


def test_nothing_is_asked_without_a_budget(agent, room, server):
    for budget in (Budget(calls=0), Budget(tokens=0), Budget(seconds=0)):
        with pytest.raises(InvalidMoveError, match="is spent"):
            agent(budget=budget).act(room.view("vote"))
    assert server.requests == []


def test_tokens_are_counted_as_the_server_counts_them(agent, room, server):
    server.script(lambda handler, body: handler.chat({"ranking": [0, 1, 2]}, usage=(100, 50)))
    budget = Budget(tokens=200)
    speaker = agent(budget=budget)
    speaker.act(room.view("vote"))
    speaker.act(room.view("vote"))
    with pytest.raises(InvalidMoveError, match="the budget of 200 tokens is spent"):
        speaker.act(room.view("vote"))
    assert budget.spent_tokens == 300
    assert (speaker.ledger["tokens_in"], speaker.ledger["tokens_out"], speaker.ledger["estimated"]) == (200, 100, 0)


@pytest.mark.parametrize("usage", [None, (0, 0)])
def test_tokens_that_nobody_counts_are_estimated(usage, agent, room, server):
    server.script(lambda handler, body: handler.chat({"ranking": [0, 1, 2]}, usage=usage))
    budget = Budget(tokens=10)
    speaker = agent(budget=budget)
    speaker.act(room.view("vote"))
    size = sum(len(each["content"]) for each in server.bodies[0]["messages"])
    assert speaker.ledger["tokens_in"] == -(-size // 4)
    assert speaker.ledger["tokens_out"] == -(-len('{"ranking": [0, 1, 2]}') // 4)
    assert speaker.ledger["estimated"] == 1
    with pytest.raises(InvalidMoveError):
        speaker.act(room.view("vote"))


@pytest.mark.parametrize("usage", [(-5000, 10), (10, -5000), (-1, -1)])
def test_negative_tokens_give_nothing_back(usage, agent, room, server):
    server.script(lambda handler, body: handler.chat({"ranking": [0, 1, 2]}, usage=usage))
    budget = Budget()
    with pytest.raises(InvalidMoveError, match="no chat completion"):
        agent(budget=budget).act(room.view("vote"))
    assert budget.spent_tokens > 0


def test_a_question_without_a_usable_answer_is_paid_for(agent, room, server):
    server.script(lambda handler, body: handler.server.owner.closing.wait(5))
    budget = Budget(tokens=10)
    with pytest.raises(InvalidMoveError, match="the budget of 10 tokens is spent"):
        agent(budget=budget, limits={"timeout": 1.0}).act(room.view("vote"))
    assert len(server.requests) == 1
    size = sum(len(each["content"]) for each in server.bodies[0]["messages"])
    assert budget.spent_tokens == -(-size // 4)


def test_seconds_shorten_the_last_request(agent, room, server):
    server.script(lambda handler, body: handler.server.owner.closing.wait(5))
    budget = Budget(seconds=0.4)
    start = time.monotonic()
    with pytest.raises(InvalidMoveError, match=r"0\.4 s"):
        agent(budget=budget, limits={"timeout": 5.0, "retries": 3}).act(room.view("vote"))
    assert time.monotonic() - start < 4
    assert 0.4 <= budget.spent_seconds < 4


def test_waiting_costs_seconds(agent, room, server):
    server.script(lambda handler, body: handler.reply(429, "{}", [("retry-after", "60")]))
    budget = Budget(seconds=0.3)
    start = time.monotonic()
    with pytest.raises(InvalidMoveError):
        speaker = agent(budget=budget, limits={"longest_wait": 60, "retries": 3})
        speaker.act(room.view("vote"))
    assert time.monotonic() - start < 4
    assert 0.2 < speaker.ledger.seconds < 4  # the wait is in the ledger too


def test_calls_are_never_exceeded_by_threads():
    budget, taken, ledger = Budget(calls=100), [], CallLedger()

    def take():
        for _ in range(50):
            if budget.take_call() is None:
                taken.append(1)
                ledger.add(calls=1)

    threads = [threading.Thread(target=take) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(taken) == budget.spent_calls == ledger["calls"] == 100


def test_agents_may_be_asked_from_several_threads(agent, room, server):
    server.script(good)
    speaker = agent()
    made = []
    threads = [threading.Thread(target=lambda: made.append(speaker.act(room.view("vote")).ranking)) for _ in range(6)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert made == [(0, 1, 2)] * 6
    assert speaker.ledger["calls"] == speaker.ledger["moves"] == 6


def test_an_agent_may_be_asked_where_an_event_loop_runs(agent, room, server):
    """As in a notebook."""
    import asyncio

    async def notebook():
        return agent().act(room.view("vote")).ranking

    assert sorted(asyncio.run(notebook())) == [0, 1, 2]


def test_an_answer_is_cut_at_its_bytes(agent, room, server):
    server.script(lambda handler, body: handler.chat("x" * 5000))
    with pytest.raises(InvalidMoveError, match="longer than 3000 bytes"):
        agent(limits={"answer_bytes": 3000}).act(room.view("vote"))
    assert OpenAICompatible(server.url).answer_bytes == 200_000


def test_parameters_reach_the_server(agent, room, server):
    agent(temperature=0.25, seed=11, limits={"answer_tokens": 77}).act(room.view("vote"))
    agent(temperature=None).act(room.view("vote"))
    first, second = server.bodies
    assert (first["temperature"], first["seed"], first["max_tokens"], first["model"]) == (0.25, 11, 77, "fake")
    assert "temperature" not in second
    assert first["response_format"]["json_schema"]["strict"] is True
    assert first["stream"] is False
    assert server.requests[0][1]["Accept-Encoding"] == "identity"  # a compressed answer could unfold without end
    assert first["response_format"]["json_schema"]["schema"]["required"] == ["ranking"]
    assert 0 <= second["seed"] < 2**31


def test_a_ledger_tells_what_it_counted():
    ledger = CallLedger()
    ledger.add(calls=2, repairs=0)
    ledger.add_fault("timeout")
    ledger.add_seconds(1.5)
    assert ledger.to_json() == {"calls": 2, "fault timeout": 1, "seconds": 1.5}
    assert ledger["never"] == 0


def test_an_agent_does_not_leave_its_process(agent):
    """A copy would spend a budget of its own."""
    with pytest.raises(InputError, match="another process"):
        pickle.dumps(agent())
