"""Language models as agents: asked over the OpenAI chat-completions protocol, and checked move by move.

language_model.py  the agent: a conversation per move, and the fallback
prompt.py          from a view to messages; quoted texts are marked as data
wire.py            what has to be answered: strict models, and the same in words
answers.py         from the text of an answer to a move, or to everything that is wrong with it
conversation.py    what is wrong with an answer is told, and asked again
caller.py          retries, weaker modes, budgets, recordings around one question
client.py          one request over HTTP, through the extra ``llm``; imported only when something is asked
provider.py        requests, replies and faults
limits.py          bounds on a move, a budget for several agents, and what was spent
recording.py       write down what was answered, and replay it without a network
keys.py            read a key, and keep it out of everything else
"""

from __future__ import annotations

from accordant.agents.language.client import OpenAICompatible
from accordant.agents.language.language_model import LanguageModelAgent
from accordant.agents.language.limits import Budget, CallLedger, Limits
from accordant.agents.language.provider import Fault, Message, Provider, Reply, Request
from accordant.agents.language.recording import Recorder, Replay

__all__ = [
    "Budget",
    "CallLedger",
    "Fault",
    "LanguageModelAgent",
    "Limits",
    "Message",
    "OpenAICompatible",
    "Provider",
    "Recorder",
    "Replay",
    "Reply",
    "Request",
]
