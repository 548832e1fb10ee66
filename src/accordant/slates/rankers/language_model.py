"""`LanguageModelRanker`: a stakeholder's ranking written by a language model behind an OpenAI-compatible server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NoReturn

from accordant.agents.language.caller import Caller
from accordant.agents.language.client import OpenAICompatible
from accordant.agents.language.conversation import Unmade, check_whole, converse
from accordant.agents.language.keys import check_address, check_without_key, without_key
from accordant.agents.language.language_model import LARGEST_SEED, check_settings, limits_of
from accordant.agents.language.limits import Budget, CallLedger, Limits
from accordant.agents.language.provider import Message, Mode, Provider, Reply, Request
from accordant.agents.language.recording import Recorder
from accordant.agents.parameters import text
from accordant.errors import InputError, InvalidMoveError
from accordant.randomness import keyed_seed
from accordant.slates.rankers.prompt import conversation
from accordant.slates.rankers.ranker import Ranker
from accordant.slates.rankers.view import RankingView
from accordant.slates.rankers.wire import Ranked, read_ranked, schema
from accordant.voting.ranking import Ranking

NOBODY = "this is a simulation in which nobody is served"  # what a model that refused is told


class LanguageModelRanker(Ranker):
    """A ranker whose rankings are written by a language model and checked here, whatever the server promises.

    Every answer is strict JSON of a declared form: ids that exist, each once, at most k of them or all. What is wrong
    is told to the model at most ``limits.repairs`` times. Then there is an `InvalidMoveError`, or the ranking of the
    `fallback`, which is marked as such. Nothing is mended in silence. A valid ranking is no faithful one yet: that is
    for the gate to judge.

    It is made in Python, or by the command line with ``--llm``. It is not registered by name, as
    `accordant.agents.language.LanguageModelAgent` is not, and for the same reason.

    Parameters
    ----------
    name
        Stands in every ranking as the voter.
    base_url, model, key_variable, temperature, seed, mode, limits, budget, recorder, provider
        As those of `LanguageModelAgent`.
    fallback
        A rule that ranks where the model made no valid ranking; None to raise an error.

    Attributes
    ----------
    ledger
        What was spent and what failed, over all rankings, which it counts as moves.

    Raises
    ------
    UnknownNameError
        If there is no such mode.
    InputError
        If the address holds more than an address, a number is out of range, or the fallback is no rule.
    """

    kind: ClassVar[str] = "language model"

    def __init__(
        self,
        name: str,
        base_url: str,
        model: str,
        *,
        key_variable: str | None = "OPENAI_API_KEY",
        temperature: float | None = 0.0,
        seed: int | None = None,
        mode: Mode = "json_schema",
        fallback: Ranker | None = None,
        limits: Limits | Mapping[str, Any] | None = None,
        budget: Budget | None = None,
        recorder: Recorder | None = None,
        provider: Provider | None = None,
    ) -> None:
        self.name, self.model = text(name, "name"), text(model, "model")
        self.base_url = check_address(base_url)
        self.key_variable, self.temperature, self.seed = key_variable, temperature, seed
        self.limits, self.fallback, self.ledger = limits_of(limits), fallback, CallLedger()
        self.about = f"Language model {model}; its texts are written by the model and prove nothing."
        check_settings(mode, temperature, seed, budget, recorder)
        check_without_key(self.base_url, key_variable)
        if fallback is not None and (not isinstance(fallback, Ranker) or fallback.kind != "rule"):
            raise InputError(f"ranker {name!r}: the fallback must be a rule, such as objective_ranker")
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

    def __reduce__(self) -> NoReturn:
        """Refuse to travel to another process, where budget, ledger and recording would silently be others."""
        raise InputError(f"ranker {self.name!r} cannot be copied or sent to another process")

    def rank(self, view: RankingView) -> Ranking:
        """Return the ranking that the model wrote, or that of the fallback.

        Raises
        ------
        InvalidMoveError
            If the model made no valid ranking after all repairs, and there is no fallback.
        InputError
            If the extra is not installed, the key cannot be one, or a replay does not hold the request.
        """
        self.ledger.add(moves=1)
        key = self._caller.key()
        ids = {each.name: f"i{number}" for number, each in enumerate(view.items, 1)}
        named = {id_: name for name, id_ in ids.items()}
        made = converse(
            self._caller,
            conversation(view, ids),
            lambda said: self._request(view, said, tuple(named), key),
            lambda reply, mode: _read(reply, mode, named, view.k),
        )
        if not isinstance(made, Unmade):
            order, reasons = made.content.order, made.content.reasons
            return Ranking(self.name, order, (), reasons, f"model {self.model}")
        if self.fallback is None:
            raise InvalidMoveError(f"model {self.model!r}: {made.reason}")
        self.ledger.add(fallbacks=1)
        stood_in = self.fallback.rank(view)
        return Ranking(
            self.name, stood_in.order, stood_in.scores, stood_in.reasons, stood_in.generated_by, fallback=True
        )

    def _request(
        self, view: RankingView, messages: tuple[Message, ...], ids: tuple[str, ...], key: str | None
    ) -> Request:
        """Return a request without the key, wherever that came from."""
        derived = keyed_seed(view.seed, f"{self.name}:rank") % LARGEST_SEED
        return Request(
            model=self.model,
            messages=tuple(Message(each.role, without_key(each.text, key)) for each in messages),
            schema=schema(ids),
            mode="json_schema",
            temperature=self.temperature,
            seed=derived if self.seed is None else self.seed,
            answer_tokens=self.limits.answer_tokens,
        )

    def usage(self) -> Mapping[str, Any]:
        """Return what was spent and what failed, over all rankings."""
        return self.ledger.to_json()

    def to_json(self) -> dict[str, Any]:
        """Return what a record says of the ranker; where the server and the key are found is not part of it."""
        return super().to_json() | {
            "model": self.model,
            "temperature": self.temperature,
            "seed": self.seed,
            "fallback": None if self.fallback is None else self.fallback.to_json(),
        }


def _read(reply: Reply, mode: Mode, named: Mapping[str, str], k: int) -> Ranked:
    """Return the ranking in a reply; see `read_ranked`."""
    check_whole(reply, NOBODY)
    return read_ranked(reply.text, named, k, fences=mode == "prompted")
