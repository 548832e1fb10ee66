"""HH-RLHF: pairs of dialogues with an assistant (Bai et al. 2022, arXiv 2204.05862), as JSON lines.

Each line is ``{"chosen": dialogue, "rejected": dialogue}``. Nobody is named: all records belong to one user.
"""

from __future__ import annotations

from pathlib import Path

from accordant.errors import DataError
from accordant.preferences.readers.dialogue import is_dialogue, split
from accordant.preferences.texts import TextComparisons
from accordant.tables.text import read_json_lines, refuse_unknown

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
