"""Unusual contexts: how they are unlike the training rows, what is declared for them, and how many there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Codes, Mask
from accordant.declaration import Declared
from accordant.errors import InputError, UnknownNameError
from accordant.json_values import field_values

Kind = Literal["unseen", "out_of_range", "missing", "far"]
RECOMMEND, REFER = "recommend", "refer"


@dataclass(frozen=True, eq=False)
class Unusual:
    """What is unusual about contexts, see `accordant.learning.novelty`.

    Attributes
    ----------
    kinds
        Kind to whether each context is unusual in this way, shape (context,).
    remarks
        The same in words, empty where nothing is unusual, shape (context,).
    """

    kinds: Mapping[Kind, Mask]
    remarks: NDArray[np.object_]


class UnusualSpec(Declared):
    """What happens to contexts that are unusual.

    Each kind is followed by ``recommend`` (the strategy decides, and the remark is there), by ``refer`` (no action is
    recommended: a person decides), or by the name of an action that is taken whatever the strategy would choose. If a
    context is unusual in several ways, ``refer`` goes before actions, and among these the first kind goes first.

    Attributes
    ----------
    unseen
        A category that no training row has.
    out_of_range
        A number below the smallest or above the largest one of the training rows.
    missing
        A value that fewer than 1 % of the training rows lack.
    far
        Farther from the training rows than 99 % of them are from each other.
    """

    unseen: str = RECOMMEND
    out_of_range: str = RECOMMEND
    missing: str = RECOMMEND
    far: str = RECOMMEND

    def check(self, actions: Sequence[str]) -> None:
        """Raise if something else is declared than the two words and the actions, or an action is called like them."""
        for kind in get_args(Kind):
            followed = getattr(self, kind)
            if followed not in (RECOMMEND, REFER, *actions):
                raise UnknownNameError(f"{kind} in unusual:", followed, (RECOMMEND, REFER, *actions))
            if followed in actions and followed in (RECOMMEND, REFER):
                raise InputError(f"unusual: {kind}: {followed!r} is an action of this problem too; rename the action")

    def referred(self, unusual: Unusual) -> Mask:
        """Return which contexts are left to a person, shape (context,)."""
        followed = [rows & (getattr(self, kind) == REFER) for kind, rows in unusual.kinds.items()]
        return np.asarray(np.any(followed, axis=0), dtype=bool)

    def fall_backs(self, unusual: Unusual, actions: Sequence[str]) -> Codes:
        """Return the position of the action that is taken whatever the strategy chooses, -1 for none."""
        positions = np.full(len(unusual.remarks), -1, dtype=np.intp)
        for kind in reversed(get_args(Kind)):
            followed = getattr(self, kind)
            if followed not in (RECOMMEND, REFER):
                positions[unusual.kinds[kind]] = actions.index(followed)
        positions[self.referred(unusual)] = -1
        return positions


@dataclass(frozen=True)
class UnusualCounts:
    """How many contexts were unusual, and what happens to them.

    Attributes
    ----------
    rows
        All contexts.
    unusual
        Those that are unusual in some way.
    kinds
        Kind to number of contexts.
    referred
        Contexts that are left to a person.
    fall_back
        Contexts in which the declared action is taken.
    """

    rows: int = 0
    unusual: int = 0
    kinds: Mapping[Kind, int] = field(default_factory=lambda: dict.fromkeys(get_args(Kind), 0))
    referred: int = 0
    fall_back: int = 0

    @classmethod
    def of(cls, unusual: Unusual, referred: Mask, fall_back: Mask) -> UnusualCounts:
        """Count contexts, with whether a person decides about each, and whether it gets the declared action."""
        return cls(
            len(unusual.remarks),
            int(np.any(list(unusual.kinds.values()), axis=0).sum()),
            {kind: int(rows.sum()) for kind, rows in unusual.kinds.items()},
            int(referred.sum()),
            int(fall_back.sum()),
        )

    def __add__(self, other: UnusualCounts) -> UnusualCounts:
        return UnusualCounts(
            self.rows + other.rows,
            self.unusual + other.unusual,
            {kind: count + other.kinds[kind] for kind, count in self.kinds.items()},
            self.referred + other.referred,
            self.fall_back + other.fall_back,
        )

    def to_json(self) -> dict[str, Any]:
        """Return the counts as JSON values."""
        return field_values(self)

    @property
    def words(self) -> str:
        """How many contexts are unusual, and in what way, as the beginning of a sentence."""
        kinds = [f"{kind.replace('_', ' ')} {count:,}" for kind, count in self.kinds.items() if count]
        return f"{self.unusual:,} of {self.rows:,} rows are unusual ({', '.join(kinds)})"

    def sentence(self) -> str:
        """Return the counts in words."""
        if not self.unusual:
            return f"None of {self.rows:,} rows is unusual."
        return f"{self.words}: {self.referred:,} are referred to a person, {self.fall_back:,} get the fall-back action."
