"""`Block`: expected rewards of some contexts, small enough to stay in cache; what rules share is computed once."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from accordant.arrays import Integers, Values
from accordant.strategies.reductions import (
    extremes_over_actions,
    extremes_over_stakeholders,
    sort_few,
    sum_over_stakeholders,
)
from accordant.strategies.selection import SINGLE_PRECISION_TOLERANCE, TIE_TOLERANCE
from accordant.utilities import ExpectedRewards

BLOCK_SIZE = 1 << 19  # entries of E in a block: 4 MiB of float64, fastest here between cache misses and calls
PIECE = 1 << 20  # entries of memory that the operating system gives in large pages: 8 MiB
LINE = 8  # entries of a cache line, at which arrays begin
FEW = 8  # so many stakeholders are sorted by a network of whole rows, more by numpy


class Workspace:
    """Arrays that are used again for block after block: fresh memory costs more than most rules.

    Parameters
    ----------
    piece
        Entries of the pieces of memory that arrays are cut from; 0 gives every array memory of its own.
    """

    def __init__(self, piece: int = 0) -> None:
        self._piece = piece
        self._pieces: list[Values] = []
        self._at = self._used = 0  # the piece that is being cut, and how much of it is gone

    def take(self, *shape: int) -> Values:
        """Return an array with arbitrary content."""
        size = math.prod(shape)
        if not self._piece:
            return np.empty(shape)
        while self._at < len(self._pieces) and self._used + size > len(self._pieces[self._at]):
            self._at, self._used = self._at + 1, 0
        if self._at == len(self._pieces):
            self._pieces.append(np.empty(max(self._piece, size)))
        array = self._pieces[self._at][self._used : self._used + size].reshape(shape)
        self._used += -(-size // LINE) * LINE
        return array

    def reclaim(self) -> None:
        """Take back every array; nobody may read them any more."""
        self._at = self._used = 0


@dataclass(frozen=True, eq=False)
class Block:
    """E in some contexts, in float64 and C-contiguous. A reduction is computed once, however many rules ask for it.

    Attributes
    ----------
    values
        E, shape (stakeholder, action, context).
    stakeholders, actions
        Names of the first two axes.
    tolerance
        Scores this close, relative to max(1, |score|), are equal; wider if E came in single precision.
    shared
        Gives the arrays of the block's own reductions.
    scratch
        Gives arrays to the rule at work, which may return them; whoever applies rules to many blocks takes them back.
    honest
        The same contexts as they were honestly reported, if reference points are to stay where those put them.
    """

    values: Values
    stakeholders: tuple[str, ...]
    actions: tuple[str, ...]
    tolerance: float = TIE_TOLERANCE
    shared: Workspace = field(default_factory=Workspace, repr=False)
    scratch: Workspace = field(default_factory=Workspace, repr=False)
    honest: Block | None = field(default=None, repr=False)

    @property
    def reference(self) -> Block:
        """The block that reference points are taken from: itself, unless they are frozen at honest reports."""
        return self if self.honest is None else self.honest

    @property
    def n_contexts(self) -> int:
        """Number of contexts."""
        return int(self.values.shape[2])

    @property
    def source(self) -> tuple[Values, int]:
        """An array that holds E of these contexts, and at which context of it they begin."""
        return self.values, 0

    def scores(self) -> Values:
        """Return an array for scores, shape (action, context), with arbitrary content."""
        return self.scratch.take(*self.values.shape[1:])

    @cached_property
    def zeros(self) -> Values:
        """Disagreement points at 0, shape (stakeholder, context)."""
        zeros = self.shared.take(len(self.stakeholders), self.n_contexts)
        zeros[:] = 0.0
        return zeros

    @cached_property
    def totals(self) -> Values:
        """Σ_i E[i, a, t], shape (action, context): what breaks ties."""
        total = self.shared.take(*self.values.shape[1:])
        sum_over_stakeholders(self.values, total)
        return total

    @cached_property
    def lows(self) -> Values:
        """min_a E[i, a, t], the worst action for each stakeholder, shape (stakeholder, context)."""
        low = self.shared.take(len(self.stakeholders), self.n_contexts)
        extremes_over_actions(self.values, False, low)
        return low

    @cached_property
    def highs(self) -> Values:
        """max_a E[i, a, t], the best action for each stakeholder, shape (stakeholder, context)."""
        high = self.shared.take(len(self.stakeholders), self.n_contexts)
        extremes_over_actions(self.values, True, high)
        return high

    @cached_property
    def smallest(self) -> Values:
        """min_i E[i, a, t], the worst-off stakeholder of each action, shape (action, context)."""
        low = self.shared.take(*self.values.shape[1:])
        extremes_over_stakeholders(self.values, False, low)
        return low

    @cached_property
    def largest(self) -> Values:
        """max_i E[i, a, t], the best-off stakeholder of each action, shape (action, context)."""
        high = self.shared.take(*self.values.shape[1:])
        extremes_over_stakeholders(self.values, True, high)
        return high

    @cached_property
    def extremes(self) -> Values:
        """The best-off and the worst-off stakeholder of each action, shape (2, action, context)."""
        return np.stack([self.largest, self.smallest])

    @cached_property
    def ascending(self) -> Values:
        """Rewards of each action from the worst-off to the best-off, shape (rank, action, context)."""
        if len(self.values) > FEW:
            return np.sort(self.values, axis=0)
        ranked = self.shared.take(*self.values.shape)
        sort_few(self.values, ranked)
        return ranked

    def with_weight(self, weights: Values) -> Block:
        """Return the block of the stakeholders with weight above 0; itself if that is everybody."""
        if weights.min() > 0:
            return self
        members = tuple(np.flatnonzero(weights > 0).tolist())
        if members not in self._parts:
            names = tuple(self.stakeholders[i] for i in members)
            part = self.values[list(members)]
            self._parts[members] = Block(part, names, self.actions, self.tolerance, self.shared, self.scratch)
        return self._parts[members]

    def some(self, where: Integers) -> Block:
        """Return a block of some of the contexts, with memory of its own."""
        honest = None if self.honest is None else self.honest.some(where)
        whole, start = self.source
        values = np.ascontiguousarray(whole[:, :, start + where])
        return Block(values, self.stakeholders, self.actions, self.tolerance, honest=honest)

    @cached_property
    def _parts(self) -> dict[tuple[int, ...], Block]:
        return {}


class Window(Block):
    """Some contexts of a larger array, copied only if a rule asks for their values; a copy of it is a block."""

    @classmethod
    def on(cls, expected: ExpectedRewards, part: slice, shared: Workspace, scratch: Workspace) -> Window:
        """Return some contexts of E in float64, C-contiguous."""
        window = cls.__new__(cls)
        vars(window).update(
            stakeholders=expected.stakeholders, actions=expected.actions, tolerance=TIE_TOLERANCE, shared=shared,
            scratch=scratch, honest=None, _whole=expected.values, _part=part,
        )  # fmt: skip
        return window

    @property
    def n_contexts(self) -> int:
        """Number of contexts."""
        part = vars(self).get("_part")
        return int(self.values.shape[2] if part is None else part.stop - part.start)

    @property
    def source(self) -> tuple[Values, int]:
        """An array that holds E of these contexts, and at which context of it they begin."""
        part = vars(self).get("_part")
        return (self.values, 0) if part is None else (vars(self)["_whole"], part.start)

    @cached_property
    def values(self) -> Values:
        """E in these contexts, copied."""
        whole, start = self.source
        copied = self.shared.take(*whole.shape[:2], self.n_contexts)
        np.copyto(copied, whole[:, :, start : start + self.n_contexts])
        return copied


def block_slices(expected: ExpectedRewards) -> list[slice]:
    """Return the contexts of each block."""
    n_stakeholders, n_actions, n_contexts = expected.values.shape
    size = max(1, BLOCK_SIZE // (n_stakeholders * n_actions))
    return [slice(start, min(start + size, n_contexts)) for start in range(0, n_contexts, size)]


def block_of(
    expected: ExpectedRewards, part: slice, shared: Workspace | None = None, scratch: Workspace | None = None
) -> Block:
    """Return some contexts as a block, copied into an array of `shared` if there is one."""
    values = expected.values[:, :, part]
    tolerance = SINGLE_PRECISION_TOLERANCE if values.dtype == np.float32 else TIE_TOLERANCE
    if shared is not None and expected.values.dtype == np.float64 and expected.values.flags.c_contiguous:
        return Window.on(expected, part, shared, scratch or Workspace())
    if shared is not None:
        copied = shared.take(*values.shape)
        np.copyto(copied, values)
        return Block(copied, expected.stakeholders, expected.actions, tolerance, shared, scratch or Workspace())
    own = np.ascontiguousarray(values, dtype=np.float64)
    return Block(own if own.flags.writeable else own.copy(), expected.stakeholders, expected.actions, tolerance)
