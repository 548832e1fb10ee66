"""Language models as agents: asked over the OpenAI chat-completions protocol, and checked move by move.

language_model.py  the agent: a conversation per move, and the fallback
participant.py     what every participant shares that a model speaks for: agents, and rankers of slates
prompt.py          from a view to messages; quoted texts are marked as data
wire.py            what has to be answered: strict models, and the same in words
answers.py         from the text of an answer to a move, or to everything that is wrong with it
caller.py          retries, weaker modes, budgets, recordings around one question; what is wrong is asked again
client.py          one request over HTTP, through the extra ``llm``; imported only when something is asked
provider.py        requests, replies and faults, written down and replayed
options.py         bounds on a move, a budget for several agents, what was spent, and what a command takes
keys.py            read a key, and keep it out of everything else
"""

from __future__ import annotations

from accordant.agents.language.client import OpenAICompatible
from accordant.agents.language.language_model import LanguageModelAgent
from accordant.agents.language.options import Budget, CallLedger, Limits
from accordant.agents.language.provider import Fault, Message, Provider, Recorder, Replay, Reply, Request

__all__ = [
    "Budget", "CallLedger", "Fault", "LanguageModelAgent", "Limits", "Message", "OpenAICompatible", "Provider",
    "Recorder", "Replay", "Reply", "Request",
]  # fmt: skip
