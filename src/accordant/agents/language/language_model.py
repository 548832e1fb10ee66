"""`LanguageModelAgent`: a stakeholder spoken for by a language model behind an OpenAI-compatible server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NoReturn

from accordant.agents.agent import Acted, Agent, View
from accordant.agents.concession import Concession, concession_of
from accordant.agents.frameworks import Framework, frameworks
from accordant.agents.language.answers import read_move
from accordant.agents.language.caller import Caller, Unmade, check_whole, converse
from accordant.agents.language.client import OpenAICompatible
from accordant.agents.language.keys import check_address, check_without_key, without_key
from accordant.agents.language.options import Budget, CallLedger, Limits
from accordant.agents.language.prompt import check_names, codes_of, conversation
from accordant.agents.language.provider import MODES, Message, Mode, Provider, Recorder, Reply, Request
from accordant.agents.language.wire import schema
from accordant.agents.moves import Move
from accordant.agents.parameters import count, text
from accordant.agents.retrieval import Lookup, Passage, check_lookup, query_for, retriever_of
from accordant.errors import InputError, InvalidMoveError, UnknownNameError
from accordant.randomness import keyed_seed

LARGEST_SEED = 2**31 - 1  # what every server takes
HOTTEST = 2.0  # the highest temperature of the protocol
UNALIGNED = "who comes first when resources are scarce"  # looked up for an agent without a framework
NO_PATIENTS = "this is a simulation without real patients"  # what a model that refused is told


class LanguageModelAgent(Agent):
    """An agent whose moves are written by a language model and checked here, whatever the server promises.

    Every answer is strict JSON of a declared form; ids, capacities, citations and phase are checked against the view.
    What is wrong is told to the model at most ``limits.repairs`` times. Then there is an `InvalidMoveError`, or the
    move of the `fallback`, which is marked as such. Nothing is mended in silence.

    It is made in Python, or by the command line with ``--llm``. It is not registered by name: a case file that somebody
    else wrote could otherwise name an environment variable and have what it holds sent to a server of its choice.

    Parameters
    ----------
    name
        Unique in a deliberation.
    base_url
        Address of the server, such as ``http://localhost:11434/v1``; without user, query and fragment.
    model
        As the server calls it.
    framework
        The ethical framework it speaks for, or the name of one; None for none. It is shown the facts that the framework
        sees.
    facts
        Names of facts it is shown, at most those that the framework sees; None for all of those, or, without a
        framework, for all there are.
    concession
        A strategy, or the name of one; settlement by bargaining reads it.
    retriever
        Looks up passages that it may cite, see `Lookup`.
    k
        How many passages are looked up for one move, at least 1.
    key_variable
        Name of the environment variable that holds the key; None for a server without keys. If it is not set, a
        placeholder is sent. The key goes to `base_url`, so name another variable for another server.
    temperature
        None to leave it to the server.
    seed
        Sent to the server; None to derive one from the view.
    mode
        The strongest way in which the form of the answer is asked for: ``json_schema``, ``json_object``, ``prompted``.
    fallback
        A rule that moves where the model made no valid move; None to raise an error.
    limits
        Bounds on one move; a mapping is read as `Limits`.
    budget
        Shared with other agents, or None for no bound.
    recorder
        Writes all requests and what came of them, or None.
    provider
        Who answers in place of `base_url`, such as a `Replay`.

    Attributes
    ----------
    ledger
        What was spent and what failed, over all moves.

    Raises
    ------
    UnknownNameError
        If a framework, concession strategy or mode of that name does not exist.
    InputError
        If the address holds more than an address, a number is out of range, or fallback or facts do not fit.
    """

    kind: ClassVar[str] = "language model"

    def __init__(
        self,
        name: str,
        base_url: str,
        model: str,
        *,
        framework: str | Framework | None = None,
        facts: Sequence[str] | None = None,
        concession: str | Concession = "linear",
        retriever: Lookup = "built_in",
        k: int = 4,
        key_variable: str | None = "OPENAI_API_KEY",
        temperature: float | None = 0.0,
        seed: int | None = None,
        mode: Mode = "json_schema",
        fallback: Agent | None = None,
        limits: Limits | Mapping[str, Any] | None = None,
        budget: Budget | None = None,
        recorder: Recorder | None = None,
        provider: Provider | None = None,
    ) -> None:
        self.name, self.model = text(name, "name"), text(model, "model")
        self.base_url = check_address(base_url)
        self.framework = frameworks.create(framework) if isinstance(framework, str) else framework
        self.facts = _shown(self.framework, facts)
        self.concession = concession_of(concession)
        self.retriever, self.k = retriever, count(k, "k", "passages")
        self.key_variable, self.temperature, self.seed = key_variable, temperature, seed
        self.limits = limits_of(limits)
        self.fallback, self.ledger = fallback, CallLedger()
        speaks = "for nobody in particular" if self.framework is None else f"for the framework {self.framework.title}"
        self.about = f"Language model {model}, speaks {speaks}; its texts are written by the model and prove nothing."
        check_settings(mode, temperature, seed, budget, recorder)
        self._check()
        self._caller = Caller(
            provider=provider or OpenAICompatible(self.base_url, self.limits.answer_bytes),
            base_url=self.base_url,
            key_variable=key_variable,
            limits=self.limits,
            budget=budget or Budget(),
            ledger=self.ledger,
            mode=mode,
            recorder=recorder,
        )

    def _check(self) -> None:
        """Refuse what cannot work."""
        check_lookup(self.retriever)
        check_without_key(self.base_url, self.key_variable)
        if self.fallback is None:
            return
        if (
            not isinstance(self.fallback, Agent)
            or self.fallback.adversarial
            or isinstance(self.fallback, LanguageModelAgent)
        ):
            raise InputError(f"agent {self.name!r}: the fallback must be a rule that speaks for a stakeholder")
        read = self.fallback.facts
        if self.facts is not None and read is not None and not set(read) <= set(self.facts):
            unseen = ", ".join(sorted(set(read) - set(self.facts)))
            raise InputError(f"agent {self.name!r}: the fallback reads facts that the agent is not shown: {unseen}")

    def __reduce__(self) -> NoReturn:
        """Refuse to travel to another process, where budget, ledger and recording would silently be others."""
        raise InputError(
            f"agent {self.name!r} cannot be copied or sent to another process; use one process, or threads"
        )

    @property
    def generated_by(self) -> str:
        """Who writes its texts."""
        return f"model {self.model}"

    def act(self, view: View) -> Move:
        """Return the move that ``view.phase`` asks for.

        Raises
        ------
        InvalidMoveError
            If the model made no valid move after all repairs, and there is no fallback.
        InputError
            If the extra is not installed, the key cannot be one, a name cannot be shown, or a replay does not hold
            the request.
        """
        return self.acted(view).move

    def acted(self, view: View) -> Acted:
        """Return the move with how it came about; see `act`."""
        self.ledger.add(moves=1)
        made = self._converse(view)
        if isinstance(made, Acted):
            return made
        if self.fallback is None:
            raise InvalidMoveError(f"model {self.model!r}: {made.reason}")
        self.ledger.add(fallbacks=1)
        return Acted(self.fallback.act(view), self.fallback.generated_by, fallback=True, repairs=made.repairs)

    def _converse(self, view: View) -> Acted | Unmade:
        """Ask, and say what is wrong until nothing is or the repairs are used up."""
        key = self._caller.key()
        facts = tuple(name for name in view.scenario.facts if self.facts is None or name in self.facts)
        passages = self._passages()
        check_names(view, facts, passages)
        ids = tuple(each.id for each in passages)
        messages = conversation(view, facts, passages, self.framework)
        names = {
            "patient": view.scenario.ids,
            "resource": tuple(each.name for each in view.scenario.resources),
            "facts": facts,
            "passages": ids,
            "accepts": tuple(sorted(view.others)),
        }
        made = converse(
            self._caller, messages, lambda said: self._request(view, said, names, key),
            lambda reply, mode: read_reply(reply, mode, view, facts, ids, codes_of(self.framework)),
        )  # fmt: skip
        if isinstance(made, Unmade):
            return made
        return Acted(made.content, self.generated_by, fallback=False, repairs=made.repairs)

    def _request(
        self, view: View, messages: tuple[Message, ...], names: Mapping[str, tuple[str, ...]], key: str | None
    ) -> Request:
        """Return a request without the key, wherever that came from."""
        derived = keyed_seed(view.seed, f"{self.name}:{view.phase}:{view.step}") % LARGEST_SEED
        return Request(
            model=self.model,
            messages=tuple(Message(each.role, without_key(each.text, key)) for each in messages),
            schema=schema(view.phase, codes_of(self.framework), names),
            mode="json_schema",
            temperature=self.temperature,
            seed=derived if self.seed is None else self.seed,
            answer_tokens=self.limits.answer_tokens,
        )

    def _passages(self) -> tuple[Passage, ...]:
        """Return the passages that may be cited in this move, best first."""
        retriever = retriever_of(self.retriever)
        if retriever is None:
            return ()
        if self.framework is None:
            hits = retriever.search(UNALIGNED, k=self.k)
        else:
            query = query_for(self.framework.code, self.framework.claim)
            hits = retriever.search(query, framework=self.framework.name, k=self.k)
        return tuple(hit.passage for hit in hits)

    def to_json(self) -> dict[str, Any]:
        """Return what a transcript says of the agent; where the server and the key are found is not part of it.

        So a replay, which needs neither, has the same transcript and the same hash.
        """
        return super().to_json() | {
            "model": self.model,
            "framework": None if self.framework is None else self.framework.name,
            "temperature": self.temperature,
            "seed": self.seed,
            "fallback": None if self.fallback is None else self.fallback.to_json(),
        }


def read_reply(
    reply: Reply, mode: Mode, view: View, facts: Sequence[str], retrieved: Sequence[str], codes: Sequence[str]
) -> Move:
    """Return the move in a reply.

    Raises BadAnswerError if it was cut off, refused, empty, or no valid move.
    """
    check_whole(reply, NO_PATIENTS)
    return read_move(reply.text, view, facts, retrieved, codes=codes, fences=mode == "prompted")


def check_settings(mode: str, temperature: float | None, seed: int | None, budget: object, recorder: object) -> None:
    """Refuse settings of a language model that cannot work.

    Raises UnknownNameError if there is no such mode; InputError if a number is out of range, or an object of another
    kind.
    """
    if mode not in MODES:
        raise UnknownNameError("mode", mode, MODES)
    if temperature is not None and not 0 <= temperature <= HOTTEST:
        raise InputError(f"temperature is {temperature}; allowed: 0 to {HOTTEST:g}, or None")
    if seed is not None and not 0 <= seed <= LARGEST_SEED:
        raise InputError(f"seed is {seed}; allowed: 0 to {LARGEST_SEED}, or None")
    for what, given, kind in (("budget", budget, Budget), ("recorder", recorder, Recorder)):
        if given is not None and not isinstance(given, kind):
            raise InputError(f"{what} is {given!r:.60}; allowed: a {kind.__name__}, or None")


def limits_of(given: Limits | Mapping[str, Any] | None) -> Limits:
    """Return limits, also from a mapping; None for the usual ones.

    Raises InputError if it is neither.
    """
    if isinstance(given, Limits):
        return given
    if given is not None and not isinstance(given, Mapping):
        raise InputError(f"limits is {given!r:.60}; allowed: Limits, or a mapping of them")
    return Limits(**(given or {}))


def _shown(framework: Framework | None, facts: Sequence[str] | None) -> tuple[str, ...] | None:
    """Return the facts that the agent is shown, or None for all."""
    if framework is None:
        return None if facts is None else tuple(facts)
    for name in facts or ():
        if name not in framework.sees:
            raise UnknownNameError(f"fact that the framework {framework.name!r} sees", name, framework.sees)
    return tuple(framework.sees if facts is None else facts)
