"""Who takes part in a deliberation: agents by name, with a corpus or a language model where a user asks for one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from accordant.agents import Agent, check_allowed, create
from accordant.agents.frameworks import frameworks
from accordant.agents.frameworks.own_reward import OwnReward
from accordant.agents.language import LanguageModelAgent
from accordant.agents.language.options import ModelOptions
from accordant.agents.language.participant import connect
from accordant.agents.retrieval import NoRetriever, Retriever, built_in_retriever, read_corpus, retriever_for
from accordant.agents.rules.framework_agent import AlignedAgent
from accordant.errors import InputError, UnknownNameError
from accordant.naming import Named

NO_CORPUS = "none"
OWN = ("concession",)  # what may be said of an agent that speaks for a stakeholder
MODEL = "language_model"  # never the name of an agent: models come in by options alone
_SPEAKS_FOR = "a language model speaks for a framework"


@dataclass(frozen=True)
class Cast:
    """The agents of a deliberation, in their order."""

    agents: tuple[Agent, ...]

    def usage(self) -> dict[str, Mapping[str, Any]]:
        """Return what each language model has spent; empty where none speaks."""
        return {agent.name: agent.usage() for agent in self.agents if isinstance(agent, LanguageModelAgent)}


def cast_of(
    named: Sequence[Named], *, corpus: str | None = None, allow_adversarial: bool = False,
    stakeholders: Collection[str] = (),
) -> Cast:  # fmt: skip
    """Return rule agents, fixtures and people by name; an agent that is named twice gets a number.

    `named`: names of agents with parameters; `corpus`: folder of passages, ``none``, or None for the built-in one;
    `allow_adversarial`: whether adversarial agents may take part; `stakeholders`: names that stand for an agent that
    follows the own expected reward of a stakeholder.

    Raises UnknownNameError if an agent does not exist; InputError if an adversary is not allowed, a parameter is wrong,
    or a language model is named as an agent.
    """
    retriever = retriever_of(corpus)
    made = []
    for given, name in zip(named, _distinct(named), strict=True):
        agent = _own(given, name) if given.name in stakeholders else _rule(given, name, retriever)
        check_allowed(agent, allow_adversarial=allow_adversarial)
        made.append(agent)
    return Cast(tuple(made))


def spoken_by(model: ModelOptions, named: Sequence[Named], rules: Cast) -> Cast:
    """Return the same agents with a language model that speaks for some of them.

    Parameters
    ----------
    model
        Which model, and for whom: by default for everybody who follows a framework.
    named
        What `rules` were made of.
    rules
        What `cast_of` made of `named`; each lends its framework with its parameters, its concession and its retriever.

    Raises UnknownNameError if the model shall speak for an agent that does not take part; InputError if nobody follows
    a framework, or the model shall speak for somebody who does not.
    """
    known = [given.name for given in named]
    for name in model.agents:
        if name not in known:
            raise UnknownNameError("agent that the model shall speak for", name, sorted(known))
    if not model.agents and not any(isinstance(agent, AlignedAgent) for agent in rules.agents):
        raise InputError(
            f"--llm has nobody to speak for among {', '.join(known)}; {_SPEAKS_FOR}, {', '.join(frameworks.names())}"
        )
    voice = _Voice(model)
    return Cast(tuple(voice.speaking(given, rule) for given, rule in zip(named, rules.agents, strict=True)))


def retriever_of(corpus: str | None) -> Retriever:
    """Return what looks passages up: in the built-in corpus, in a folder, or nowhere (``none``)."""
    if corpus is None:
        return built_in_retriever()
    return NoRetriever() if corpus == NO_CORPUS else retriever_for(read_corpus(corpus))


class _Voice:
    """A language model that speaks for agents; all of them share one budget and one recording."""

    def __init__(self, options: ModelOptions) -> None:
        self.options, self.settings = options, connect(options)

    def speaking(self, given: Named, rule: Agent) -> Agent:
        """Return the agent through which the model speaks; unless it is named, only a framework is spoken for."""
        wanted = given.name in self.options.agents if self.options.agents else isinstance(rule, AlignedAgent)
        if not wanted:
            return rule
        if not isinstance(rule, AlignedAgent):
            raise InputError(
                f"a language model cannot speak for {given.name!r}; {_SPEAKS_FOR}, {', '.join(frameworks.names())}"
            )
        return LanguageModelAgent(
            rule.name, self.options.base_url, self.options.model, framework=rule.framework, concession=rule.concession,
            retriever=rule.retriever, fallback=rule if self.options.fallback else None, **self.settings,
        )  # fmt: skip


def _own(given: Named, name: str) -> AlignedAgent:
    """Return the agent that speaks for a stakeholder."""
    for parameter in given.parameters:
        if parameter not in OWN:
            raise InputError(f"agent {given.name!r}: unknown parameter {parameter!r}; allowed: {', '.join(OWN)}")
    return AlignedAgent(OwnReward(given.name), name=name, retriever=None, **given.parameters)


def _rule(given: Named, name: str, retriever: Retriever) -> Agent:
    """Return the agent of a name, without a language model."""
    if given.name == MODEL:
        raise InputError(
            f"agent {MODEL!r}: neither a case nor --agents names a model, an endpoint or a key; "
            "name a framework, and say --llm URL --model NAME to let a model speak for it"
        )
    parameters: dict[str, Any] = {"name": name, **given.parameters}
    if given.name in frameworks:
        parameters |= {"retriever": retriever}
    return create(given.name, parameters, allow_adversarial=True)


def _distinct(named: Sequence[Named]) -> list[str]:
    """Return what each agent is called: its name, with a number where a name stands twice."""
    often, seen = Counter(given.name for given in named), Counter[str]()
    names = []
    for given in named:
        seen[given.name] += 1
        names.append(given.name if often[given.name] == 1 else f"{given.name} {seen[given.name]}")
    return names
