r"""`TextComparisons`: users who prefer one written answer to another, before an encoder turns texts into features.

A dialogue is one text, ``\n\nHuman: …\n\nAssistant: …``, the form of HH-RLHF. The same form serves conversations of
other sources, so that encoders see one kind of text. Spaces around a turn are not part of what was said.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Values
from accordant.errors import DataError
from accordant.preferences.records import Comparisons

if TYPE_CHECKING:
    from accordant.preferences.encoding import Encoder

Item = tuple[str, str]

ONLY_USER = "0"  # the user of records that name none
NUMBERS = ("weights", "margins", "support")
SPEAKERS = {"user": "Human", "assistant": "Assistant", "system": "System", "tool": "Tool"}
ROLES = {speaker: role for role, speaker in SPEAKERS.items()}
START = re.compile(rf"\n\n({'|'.join(ROLES)}):")
OPEN = "\n\nAssistant:"


@dataclass(frozen=True, eq=False)
class TextComparisons:
    """Users who prefer one answer to a prompt to another one.

    Parameters
    ----------
    prompts, chosen, rejected
        Texts, one each per record. Prompts and answers may be empty; the two answers of a record differ.
    users
        Name of the user of each record; None for one user, ``"0"``.
    groups
        Group of each record, as interchange files have it; None if there are none. `encode` needs one group per user.
    weights
        At least 0 and not all 0, shape (record,); None for 1 each.
    margins
        By how much the chosen answer was preferred, shape (record,); NaN where nobody said; None if nobody did at all.
    support
        Share of others with the same preference, in [0, 1], shape (record,); NaN where unknown; None if unknown
        everywhere.

    Raises
    ------
    DataError
        If lengths differ, a text is no text, a number is out of range, or a record compares an answer with itself.
    """

    prompts: tuple[str, ...]
    chosen: tuple[str, ...]
    rejected: tuple[str, ...]
    users: tuple[str, ...] | None = None
    groups: tuple[str, ...] | None = None
    weights: Values | None = None
    margins: Values | None = None
    support: Values | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "prompts", tuple(self.prompts))
        if self.users is None:
            object.__setattr__(self, "users", (ONLY_USER,) * len(self.prompts))
        for name in ("chosen", "rejected", "users", "groups"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, tuple(getattr(self, name)))
                self._check_length(name, (len(getattr(self, name)),))
        for name in ("prompts", "chosen", "rejected", "users", "groups"):
            for row, text in enumerate(getattr(self, name) or ()):
                if not isinstance(text, str):
                    raise DataError(f"{name}[{row}] is {text!r:.60}; allowed: text")
        for row, (first, second) in enumerate(zip(self.chosen, self.rejected, strict=True)):
            if first == second:
                raise DataError(f"record {row} compares an answer with itself: {first!r:.60}")
        for name in NUMBERS:
            if getattr(self, name) is not None:
                numbers = np.asarray(getattr(self, name), dtype=np.float64)
                self._check_length(name, numbers.shape)
                object.__setattr__(self, name, numbers)
        self._check_ranges()

    def _check_length(self, name: str, shape: tuple[int, ...]) -> None:
        if shape != (len(self.prompts),):
            raise DataError(f"{name} has shape {shape}; allowed: ({len(self.prompts)},), one per prompt")

    def _check_ranges(self) -> None:
        if self.weights is not None and len(self):
            weights = self.weights
            if not np.isfinite(weights).all() or (weights < 0).any() or not weights.sum() > 0:
                raise DataError("weights must be finite and at least 0, and not all 0")
        if self.margins is not None and np.isinf(self.margins).any():
            raise DataError("margins must be finite, or NaN where nobody said one")
        if self.support is not None:
            known = self.support[~np.isnan(self.support)]
            wrong = known[(known < 0) | (known > 1)]
            if len(wrong):
                raise DataError(f"a support rate is {wrong[0]}; allowed: 0 to 1, or NaN where unknown")

    def __len__(self) -> int:
        return len(self.prompts)

    @property
    def record_users(self) -> tuple[str, ...]:
        """Name of the user of each record."""
        assert self.users is not None
        return self.users

    @cached_property
    def user_names(self) -> tuple[str, ...]:
        """Names of the users, in the order in which they first occur."""
        return tuple(dict.fromkeys(self.record_users))

    @cached_property
    def items(self) -> tuple[Item, ...]:
        """The distinct pairs of prompt and answer, in the order in which they first occur, chosen before rejected."""
        every = zip(self.prompts, self.chosen, self.rejected, strict=True)
        return tuple(dict.fromkeys(item for prompt, one, two in every for item in ((prompt, one), (prompt, two))))

    def texts(self, *, prompts: bool = True) -> tuple[str, ...]:
        """Return the distinct texts an encoder reads.

        Parameters
        ----------
        prompts
            Prompt and answer together; False for answers alone.
        """
        return tuple(dict.fromkeys(join(*item) if prompts else item[1] for item in self.items))

    def take(self, rows: NDArray[Any] | slice) -> TextComparisons:
        """Return some of the records, by positions or by a mask."""
        kept = np.arange(len(self))[rows]
        changes: dict[str, Any] = {}
        for name in ("prompts", "chosen", "rejected", "users", "groups"):
            given = getattr(self, name)
            changes[name] = None if given is None else tuple(given[row] for row in kept)
        for name in NUMBERS:
            given = getattr(self, name)
            changes[name] = None if given is None else given[kept]
        return replace(self, **changes)

    def encode(self, encoder: Encoder) -> Comparisons:
        """Return the comparisons with features in place of texts.

        Every distinct pair of prompt and answer becomes one item, and every distinct text is encoded once. The encoder
        is used as it is: fit it on the texts of training records, then encode training and test records with it.

        Parameters
        ----------
        encoder
            A fitted encoder. Its attribute ``prompts`` says whether it reads prompt and answer, or the answer alone.

        Raises
        ------
        DataError
            If a user stands in two groups, or the encoder's result is not finite or of another length.
        NotFittedError
            If the encoder needs `fit` first.
        """
        texts = self.texts(prompts=encoder.prompts)
        encoded = np.asarray(encoder.transform(texts), dtype=np.float64)
        if encoded.ndim != 2 or len(encoded) != len(texts):
            raise DataError(f"the encoder made shape {encoded.shape} of {len(texts)} texts; allowed: (text, feature)")
        row_of_text = {text: row for row, text in enumerate(texts)}
        rows = [row_of_text[join(*item) if encoder.prompts else item[1]] for item in self.items]
        position = {item: place for place, item in enumerate(self.items)}
        code = {name: place for place, name in enumerate(self.user_names)}
        chosen = [position[item] for item in zip(self.prompts, self.chosen, strict=True)]
        rejected = [position[item] for item in zip(self.prompts, self.rejected, strict=True)]
        users = [code[name] for name in self.record_users]
        return Comparisons(
            encoded[np.array(rows, dtype=np.intp)], np.array(chosen, dtype=np.intp), np.array(rejected, dtype=np.intp),
            np.array(users, dtype=np.intp), self.user_names, self._groups_of_users(), self.weights, self.margins,
        )  # fmt: skip

    def _groups_of_users(self) -> tuple[str, ...] | None:
        """Return the group of each user."""
        if self.groups is None:
            return None
        group_of: dict[str, str] = {}
        for row, (user, group) in enumerate(zip(self.record_users, self.groups, strict=True)):
            if group_of.setdefault(user, group) != group:
                raise DataError(
                    f"user {user!r} stands in group {group_of[user]!r} and, in record {row}, in {group!r}; allowed: one"
                )
        return tuple(group_of[user] for user in self.user_names)


def join(prompt: str, answer: str) -> str:
    """Return prompt and answer as one text, with a new line between them if nothing else parts them."""
    parted = not prompt or not answer or prompt[-1].isspace() or answer[0].isspace()
    return prompt + ("" if parted else "\n") + answer


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
    starts, others = ([match.start() for match in START.finditer(text)] for text in (chosen, rejected))
    shared = 0
    for here, there in zip(starts[1:], others[1:], strict=False):
        if here != there or chosen[:here] != rejected[:here]:
            break
        shared = here
    if chosen.startswith(OPEN, shared) and rejected.startswith(OPEN, shared):
        shared += len(OPEN)
    return Split(chosen[:shared], chosen[shared:], rejected[shared:])
