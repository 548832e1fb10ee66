"""Who takes part in a deliberation: agents by name, with a language model or a corpus where a user asks for one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from accordant.agents import Agent, check_allowed, create
from accordant.agents.frameworks import frameworks
from accordant.agents.language import Budget, LanguageModelAgent, Limits, Recorder, Replay
from accordant.agents.retrieval import NoRetriever, Retriever, built_in_retriever, read_corpus, retriever_for
from accordant.errors import InputError, UnknownNameError
from accordant.naming import Named
from accordant.runs.deliberated import ModelOptions

NO_CORPUS = "none"


@dataclass(frozen=True)
class Cast:
    """The agents of a deliberation, in their order."""

    agents: tuple[Agent, ...]

    def usage(self) -> dict[str, Mapping[str, Any]]:
        """Return what each language model has spent; empty where none speaks."""
        return {each.name: each.ledger.to_json() for each in self.agents if isinstance(each, LanguageModelAgent)}


def cast_of(
    named: Sequence[Named],
    *,
    model: ModelOptions | None = None,
    corpus: str | None = None,
    allow_adversarial: bool = False,
) -> Cast:
    """Return agents by name; an agent that is named twice gets a number.

    Parameters
    ----------
    named
        Names of agents with parameters.
    model
        Who speaks through a language model; None for nobody.
    corpus
        Folder of passages, ``none``, or None for the built-in one.
    allow_adversarial
        Whether adversarial agents may take part.

    Raises
    ------
    UnknownNameError
        If an agent does not exist, or the model shall speak for one that does not take part.
    InputError
        If an adversary is not allowed, or a parameter is wrong.
    """
    retriever = retriever_of(corpus)
    known = {each.name for each in named}
    for name in () if model is None else model.agents:
        if name not in known:
            raise UnknownNameError("agent that the model shall speak for", name, sorted(known))
    voice = None if model is None else _Voice(model, retriever)
    made = []
    for given, name in zip(named, _distinct(named), strict=True):
        rule = _rule(given, name, retriever)
        check_allowed(rule, allow_adversarial=allow_adversarial)
        made.append(rule if voice is None else voice.speaking(given, name, rule))
    return Cast(tuple(made))


def retriever_of(corpus: str | None) -> Retriever:
    """Return what looks passages up: in the built-in corpus, in a folder, or nowhere (``none``)."""
    if corpus is None:
        return built_in_retriever()
    return NoRetriever() if corpus == NO_CORPUS else retriever_for(read_corpus(corpus))


class _Voice:
    """A language model that speaks for agents; all of them share one budget and one recording."""

    def __init__(self, options: ModelOptions, retriever: Retriever) -> None:
        self.options, self.retriever = options, retriever
        self.budget = Budget(options.calls, options.tokens, options.seconds)
        self.recorder = None if options.record is None else Recorder(options.record)
        self.replay = None if options.replay is None else Replay(options.replay)

    def speaking(self, given: Named, name: str, rule: Agent) -> Agent:
        """Return the agent through which the model speaks; unless it is named, only a framework is spoken for."""
        named = self.options.agents
        if (named and given.name not in named) or (not named and given.name not in frameworks):
            return rule
        if given.name not in frameworks:
            raise InputError(
                f"a language model cannot speak for {given.name!r}; "
                f"allowed: a framework, {', '.join(frameworks.names())}"
            )
        return LanguageModelAgent(
            name, self.options.base_url, self.options.model, framework=given.name, concession=rule.concession,
            retriever=self.retriever, key_variable=self.options.key_variable,
            fallback=rule if self.options.fallback else None, limits=Limits(timeout=self.options.timeout),
            budget=self.budget, recorder=self.recorder, provider=self.replay,
        )  # fmt: skip


def _rule(given: Named, name: str, retriever: Retriever) -> Agent:
    """Return the rule agent of a name."""
    parameters: dict[str, Any] = {"name": name, **given.parameters}
    if given.name in frameworks:
        parameters |= {"retriever": retriever}
    return create(given.name, parameters, allow_adversarial=True)


def _distinct(named: Sequence[Named]) -> list[str]:
    """Return what each agent is called: its name, with a number where a name stands twice."""
    often, seen = Counter(each.name for each in named), Counter[str]()
    found = []
    for each in named:
        seen[each.name] += 1
        found.append(each.name if often[each.name] == 1 else f"{each.name} {seen[each.name]}")
    return found
