"""What a language model has to answer when it ranks items: a strict form, and the same in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from accordant.agents.language.answers import BadAnswerError, read_wire
from accordant.agents.language.keys import readable
from accordant.agents.language.wire import MOST, MOST_LISTED, TEXT_LENGTH, Name, Text, Wire, schema_of

WORDS = (
    '{"ranking": [ID OF THE BEST ITEM, ...], '
    f'"reasons": [{{"item": ID, "text": at most {TEXT_LENGTH} characters}}, ...]}}'
)


class WireWhy(Wire):
    """Why an item stands where it does."""

    item: Name
    text: Text


class WireRanking(Wire):
    """Items, best first, and reasons for some of them."""

    ranking: Annotated[list[Name], Field(max_length=MOST)]
    reasons: Annotated[list[WireWhy], Field(max_length=MOST)]


@dataclass(frozen=True)
class Ranked:
    """A valid answer: names of items, best first, and a text for each, empty where there is none."""

    order: tuple[str, ...]
    reasons: tuple[str, ...]


def schema(ids: Sequence[str]) -> dict[str, Any]:
    """Return the JSON schema of an answer; ids are listed in it unless there are more than servers take."""
    form = schema_of(WireRanking, {"item": ids} if len(ids) <= MOST_LISTED else {})
    if len(ids) <= MOST_LISTED:
        form["properties"]["ranking"]["items"]["enum"] = list(ids)
    return form


def read_ranked(text: str, named: Mapping[str, str], k: int, *, fences: bool = False) -> Ranked:
    """Return the ranking in an answer.

    Parameters
    ----------
    text
        The whole answer: one JSON object and nothing else.
    named
        Id to the name of the item.
    k
        Places of the list: at most so many items are ranked, or all of them.
    fences
        Whether a Markdown fence is taken off; only where the form was asked for in words.

    Raises
    ------
    BadAnswerError
        If it is no valid ranking; nothing is guessed or mended.
    """
    wire = read_wire(text, WireRanking, fences=fences)
    faults = [f"ranking: {each!r} is no id of an item" for each in dict.fromkeys(wire.ranking) if each not in named]
    faults += _repeated("ranking", wire.ranking)
    if len(wire.ranking) not in {*range(1, k + 1), len(named)}:
        faults.append(f"ranking: {len(wire.ranking)} items; allowed: 1 to {min(k, len(named))}, or all {len(named)}")
    reasons = [each.item for each in wire.reasons]
    faults += [
        f"reasons: {each!r} is not in the ranking" for each in dict.fromkeys(reasons) if each not in wire.ranking
    ]
    faults += _repeated("reasons", reasons)
    if faults:
        raise BadAnswerError(faults)
    texts = {each.item: readable(each.text, TEXT_LENGTH) for each in wire.reasons}
    told = tuple(texts.get(each, "") for each in wire.ranking)
    return Ranked(tuple(named[each] for each in wire.ranking), told if any(told) else ())


def _repeated(what: str, given: Sequence[str]) -> list[str]:
    return [f"{what}: {each!r} is given {count} times" for each, count in Counter(given).items() if count > 1]
