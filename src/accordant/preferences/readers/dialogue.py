r"""Dialogues: turns of a conversation as one text, in the form of HH-RLHF, and back.

A dialogue is written ``\n\nHuman: …\n\nAssistant: …``. The same form serves conversations of other sources, so that
encoders see one kind of text. Spaces around a turn are not part of what was said.

HH-RLHF: pairs of dialogues with an assistant (Bai et al. 2022, arXiv 2204.05862), as JSON lines.

Each line is ``{"chosen": dialogue, "rejected": dialogue}``. Nobody is named: all records belong to one user.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from accordant.errors import DataError
from accordant.preferences.texts import TextComparisons
from accordant.tables.text import read_json_lines, refuse_unknown

SPEAKERS = {"user": "Human", "assistant": "Assistant", "system": "System", "tool": "Tool"}
ROLES = {speaker: role for role, speaker in SPEAKERS.items()}
START = re.compile(rf"\n\n({'|'.join(ROLES)}):")
OPEN = "\n\nAssistant:"


@dataclass(frozen=True)
class Turn:
    """What somebody said.

    Attributes
    ----------
    role
        ``"user"``, ``"assistant"``, ``"system"`` or ``"tool"``.
    content
        The words.
    """

    role: str
    content: str


@dataclass(frozen=True)
class Split:
    """A prompt and two ways to go on."""

    prompt: str
    chosen: str
    rejected: str


def is_dialogue(text: str) -> bool:
    """Return whether a text begins with a turn."""
    return START.match(text) is not None


def turns(text: str) -> tuple[Turn, ...]:
    """Return the turns of a dialogue; a text that begins otherwise is one turn of the user."""
    if not is_dialogue(text):
        return (Turn("user", text),)
    _, *parts = START.split(text)
    return tuple(Turn(ROLES[name], said.strip()) for name, said in zip(parts[::2], parts[1::2], strict=True))


def dialogue(said: Sequence[Turn]) -> str:
    """Return turns as one text."""
    return "".join(f"\n\n{SPEAKERS[turn.role]}: {turn.content}" for turn in said)


def split(chosen: str, rejected: str) -> Split:
    r"""Return what two dialogues share as the prompt, and the rest of each as the answers.

    They share whole turns, never the last turn of either; if both go on with the assistant, the prompt ends with
    ``\n\nAssistant:``. Prompt and answer together are the dialogue as it was. Texts that are no dialogues share
    nothing.
    """
    if not (is_dialogue(chosen) and is_dialogue(rejected)):
        return Split("", chosen, rejected)
    starts, others = ([each.start() for each in START.finditer(text)] for text in (chosen, rejected))
    shared = 0
    for here, there in zip(starts[1:], others[1:], strict=False):
        if here != there or chosen[:here] != rejected[:here]:
            break
        shared = here
    if chosen.startswith(OPEN, shared) and rejected.startswith(OPEN, shared):
        shared += len(OPEN)
    return Split(chosen[:shared], chosen[shared:], rejected[shared:])


KEYS = ("chosen", "rejected")


def read_hh_rlhf(path: str | Path) -> TextComparisons:
    """Return the pairs of a file, ``.jsonl`` or ``.jsonl.gz``.

    The prompt is all whole turns that both dialogues share, up to ``Assistant:``; the answers are what follows. Most
    pairs differ in the last turn alone; where dialogues part earlier, the answers are several turns.

    Raises
    ------
    DataError
        If the file is missing, empty or broken, or a line has no two different dialogues that begin with a turn of
        ``Human`` or ``Assistant``; the message names the line.
    """
    parts = []
    for entry in read_json_lines(path):
        chosen, rejected = (entry.text(key) for key in KEYS)
        refuse_unknown(entry.where, "key", entry.values, KEYS)
        for key, text in zip(KEYS, (chosen, rejected), strict=True):
            if not is_dialogue(text):
                raise DataError(
                    f"{entry.where}: {key!r} begins with {text[:20]!r}; "
                    "allowed: two new lines and 'Human:' or 'Assistant:'"
                )
        if chosen == rejected:
            raise DataError(f"{entry.where}: chosen and rejected are the same dialogue")
        parts.append(split(chosen, rejected))
    return TextComparisons(
        tuple(each.prompt for each in parts),
        tuple(each.chosen for each in parts),
        tuple(each.rejected for each in parts),
    )
