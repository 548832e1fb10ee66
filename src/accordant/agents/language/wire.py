"""What a language model has to answer: strict models without coercion, and the same in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from accordant.agents.agent import Phase
from accordant.agents.moves import CODES, Answering

TEXT_LENGTH = 500  # characters of a text that are kept
LONGEST_NAME = 200  # characters of an id or a name
LONGEST_TEXT = 4000  # characters of a text above which an answer is refused
MOST = 5000  # entries of a list
MOST_LISTED = 250  # names in a schema; servers refuse very large ones
MOST_UNITS = 1_000_000  # of one grant; far above any scenario, far below what integers hold

Name = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_NAME)]
Text = Annotated[str, StringConstraints(max_length=LONGEST_TEXT)]


class Wire(BaseModel):
    """Base of what comes over the wire: no unknown keys, no coercion, no NaN, no infinity."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False)


class WireGrant(Wire):
    """Units of one resource for one patient."""

    patient: Name
    resource: Name
    units: Annotated[float, Field(ge=0, le=MOST_UNITS)]


class WirePriority(Wire):
    """How much it matters that the whole demand of one patient is met."""

    patient: Name
    value: Annotated[float, Field(ge=0, le=1)]


class WireGround(Wire):
    """A consideration, the facts it reads, and the passages it cites."""

    code: Name
    facts: Annotated[list[Name], Field(max_length=50)]
    passages: Annotated[list[Name], Field(max_length=50)]
    text: Text


class WireReason(WireGround):
    """Why one patient is put first."""

    patient: Name


class WireProposal(Wire):
    """An allocation with priorities and reasons; without grants, the allocation that is best for the priorities."""

    grants: Annotated[list[WireGrant], Field(max_length=MOST)] | None
    priorities: Annotated[list[WirePriority], Field(max_length=MOST)]
    reasons: Annotated[list[WireReason], Field(max_length=MOST)]


class WireReply(Wire):
    """What is said about one disputed patient."""

    patient: Name
    kind: Answering
    reason: WireGround | None


class WireContestation(Wire):
    """Replies on the disputed patients, then a revised proposal."""

    replies: Annotated[list[WireReply], Field(max_length=MOST)]
    revised: WireProposal


class WireAnswer(Wire):
    """Accept another agent's standing proposal, or counter it."""

    accepts: Name | None
    counter: WireProposal


class WireBallot(Wire):
    """A ranking of the candidates, best first."""

    ranking: Annotated[list[int], Field(max_length=MOST)]


WIRES: dict[Phase, type[Wire]] = {
    "propose": WireProposal,
    "contest": WireContestation,
    "answer": WireAnswer,
    "offer": WireAnswer,
    "vote": WireBallot,
}

_GROUND = f'"code": CODE, "facts": [FACT, ...], "passages": [PASSAGE, ...], "text": at most {TEXT_LENGTH} characters'
_PROPOSAL = (
    '{"grants": null or [{"patient": ID, "resource": NAME, "units": NUMBER}, ...], '
    '"priorities": [{"patient": ID, "value": NUMBER from 0 to 1}, ...], '
    f'"reasons": [{{"patient": ID, {_GROUND}}}, ...]}}'
)
_ANSWER = f'{{"accepts": null or NAME OF AN AGENT, "counter": {_PROPOSAL}}}'

UNSENT = frozenset({"title", "minLength", "maxLength", "maxItems"})

WORDS: dict[Phase, str] = {
    "propose": _PROPOSAL,
    "contest": '{"replies": [{"patient": ID, "kind": "challenge" | "justify" | "concede" | "revise" | "maintain", '
    f'"reason": null or {{{_GROUND}}}}}, ...], "revised": {_PROPOSAL}}}',
    "answer": _ANSWER,
    "offer": _ANSWER,
    "vote": '{"ranking": [NUMBER OF THE BEST CANDIDATE, ..., NUMBER OF THE WORST]}',
}


def schema(
    phase: Phase, codes: Sequence[str] = CODES, names: Mapping[str, Sequence[str]] = MappingProxyType({})
) -> dict[str, Any]:
    """Return the JSON schema of the answer that a phase asks for.

    Bounds on lengths are left out: some servers refuse them, some turn them into huge grammars. They are checked here.

    Parameters
    ----------
    phase
        Which move is asked for.
    codes
        That reasons may have.
    names
        Field to the names that it may hold: ``patient``, ``resource``, ``facts``, ``passages``, ``accepts``. Left out
        of the schema, not of the checks, where there are none, or more than `MOST_LISTED` together.
    """
    listed = names if sum(map(len, names.values())) <= MOST_LISTED else {}
    return schema_of(WIRES[phase], {"code": codes, **{field: allowed for field, allowed in listed.items() if allowed}})


def schema_of(form: type[Wire], allowed: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Return the JSON schema of a form without what some servers refuse.

    `form`: what has to be answered; `allowed`: field to the only names that it may hold.
    """
    made: dict[str, Any] = _lean(form.model_json_schema())
    for definition in (made, *made.get("$defs", {}).values()):
        for field in allowed.keys() & definition["properties"].keys():
            _limit(definition["properties"][field], list(allowed[field]))
    return made


def _limit(described: dict[str, Any], names: list[str]) -> None:
    """Let the strings that a property describes be some names alone."""
    for part in (described, described.get("items", {}), *described.get("anyOf", ())):
        if part.get("type") == "string":
            part["enum"] = names


def _lean(value: Any) -> Any:
    """Return a schema without what is not sent."""
    if isinstance(value, dict):
        return {key: _lean(part) for key, part in value.items() if key not in UNSENT}
    return [_lean(part) for part in value] if isinstance(value, list) else value
