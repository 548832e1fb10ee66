"""`LanguageModelAgent`: a stakeholder spoken for by a language model behind an OpenAI-compatible server."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Unpack

from accordant.agents.agent import Acted, Agent, View
from accordant.agents.concession import Concession, concession_of
from accordant.agents.frameworks import Framework, frameworks
from accordant.agents.language.answers import read_move
from accordant.agents.language.caller import Made, check_whole
from accordant.agents.language.participant import ModelParticipant, Settings
from accordant.agents.language.prompt import check_names, codes_of, conversation
from accordant.agents.language.provider import Mode, Reply
from accordant.agents.language.wire import schema
from accordant.agents.moves import Move
from accordant.agents.parameters import count
from accordant.agents.retrieval import Lookup, Passage, check_lookup, query_for, retriever_of
from accordant.errors import InputError, UnknownNameError
from accordant.randomness import keyed_seed

UNALIGNED = "who comes first when resources are scarce"  # looked up for an agent without a framework
NO_PATIENTS = "this is a simulation without real patients"  # what a model that refused is told


class LanguageModelAgent(ModelParticipant, Agent):
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
    fallback
        A rule that moves where the model made no valid move; None to raise an error.
    settings
        How it is asked and what it may cost, see `ModelParticipant`.

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

    role: ClassVar[str] = "agent"
    staying: ClassVar[str] = "; use one process, or threads"

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
        fallback: Agent | None = None,
        **settings: Unpack[Settings],
    ) -> None:
        super().__init__(name, base_url, model, **settings)
        self.framework = frameworks.create(framework) if isinstance(framework, str) else framework
        self.facts = _shown(self.framework, facts)
        self.concession = concession_of(concession)
        self.retriever, self.k, self.fallback = retriever, count(k, "k", "passages"), fallback
        speaks = "for nobody in particular" if self.framework is None else f"for the framework {self.framework.title}"
        self.about = f"Language model {model}, speaks {speaks}; its texts are written by the model and prove nothing."
        self._check()

    def _check(self) -> None:
        """Refuse what cannot work."""
        check_lookup(self.retriever)
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
        facts = tuple(name for name in view.scenario.facts if self.facts is None or name in self.facts)
        passages = self._passages()
        check_names(view, facts, passages)
        ids, codes = tuple(passage.id for passage in passages), codes_of(self.framework)
        names = {
            "patient": view.scenario.ids, "resource": tuple(resource.name for resource in view.scenario.resources),
            "facts": facts, "passages": ids, "accepts": tuple(sorted(view.others)),
        }  # fmt: skip
        made = self._ask(
            conversation(view, facts, passages, self.framework),
            schema(view.phase, codes, names),
            keyed_seed(view.seed, f"{self.name}:{view.phase}:{view.step}"),
            lambda reply, mode: read_reply(reply, mode, view, facts, ids, codes),
        )
        if isinstance(made, Made):
            return Acted(made.content, self.generated_by, fallback=False, repairs=made.repairs)
        rule = self._stand_in(self.fallback, made)
        return Acted(rule.act(view), rule.generated_by, fallback=True, repairs=made.repairs)

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


def _shown(framework: Framework | None, facts: Sequence[str] | None) -> tuple[str, ...] | None:
    """Return the facts that the agent is shown, or None for all."""
    if framework is None:
        return None if facts is None else tuple(facts)
    for name in facts or ():
        if name not in framework.sees:
            raise UnknownNameError(f"fact that the framework {framework.name!r} sees", name, framework.sees)
    return tuple(framework.sees if facts is None else facts)
