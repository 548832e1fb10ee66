"""From E to decisions block by block: many rules share one reading of E, threads share the blocks."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from accordant.arrays import AnyArray, Integers, Mask, Values
from accordant.contexts import Contexts, Log
from accordant.decisions import Decisions
from accordant.predictions import OutcomePrediction
from accordant.strategies.block import PIECE, Block, Workspace, block_of, block_slices
from accordant.strategies.selection import Selection, code_type
from accordant.strategies.strategy import Strategy, stakeholder_weights
from accordant.threads import free_cores, on_threads
from accordant.utilities import ExpectedRewards

BLOCKS_PER_THREAD = 4  # fewer do not repay the start of a thread


@dataclass(frozen=True)
class ContextRule(Strategy):
    """A strategy that reads nothing but E, and decides in each context without looking at the others."""

    @abstractmethod
    def decide(self, block: Block) -> Decisions:
        """Decide in the contexts of one block."""

    def choose(self, block: Block) -> Selection:
        """Return only the actions and ties of `decide`."""
        decisions = self.decide(block)
        return Selection(decisions.codes, decisions.tied)

    def __call__(
        self, expected: ExpectedRewards, *, prediction: OutcomePrediction | None = None, log: Log | None = None,
        contexts: Contexts | None = None,
    ) -> Decisions:  # fmt: skip
        """Decide in every context."""
        del prediction, log, contexts
        return decide((self,), expected)[0]


def tie_totals(rule: Strategy, block: Block) -> Values:
    """Return what breaks the rule's ties: Σ_i E[i, a, t] over those who have a say, shape (action, context).

    Who has weight 0 in a rule with weights has no say; in rules without weights everybody has one.
    """
    return block.with_weight(stakeholder_weights(getattr(rule, "weights", None), len(block.stakeholders))).totals


def decide(
    rules: Sequence[ContextRule], expected: ExpectedRewards, *, details: bool = True, threads: int | None = None
) -> tuple[Decisions, ...]:
    """Apply several rules to E in one reading of it.

    Parameters
    ----------
    rules
        Rules that decide in each context by itself.
    expected
        E; may be mapped from a file. Beyond the results, memory does not grow with the number of contexts.
    details
        Whether to keep scores, policies, flags and quantities; actions and ties are always kept.
    threads
        Threads over blocks; None uses every core that this process may use, and one in a worker process or
        thread. The result does not depend on it.

    Returns
    -------
    One `Decisions` per rule.
    """
    parts = block_slices(expected)
    if len(parts) <= 1:
        block = block_of(expected, slice(0, expected.n_contexts))
        return tuple(rule.decide(block) if details else _bare(rule, block) for rule in rules)
    # one array for all rules: large enough for large pages, which are many times faster to get
    codes = np.empty((len(rules), expected.n_contexts), dtype=code_type(len(expected.actions)))
    tied = np.empty(codes.shape, dtype=bool)
    collected = tuple(_Collected(*row) for row in zip(codes, tied, strict=True))

    def work(share: Sequence[slice]) -> None:
        """Decide some of the blocks."""
        shared, scratch = Workspace(PIECE), Workspace(PIECE)
        for part in share:
            block = block_of(expected, part, shared, scratch)
            for rule, result in zip(rules, collected, strict=True):
                result.put(part, rule.decide(block) if details else rule.choose(block))
                scratch.reclaim()
            shared.reclaim()

    work(parts[:1])  # the first block compiles kernels and shows which arrays are needed
    n_threads = min(free_cores() if threads is None else threads, len(parts) // BLOCKS_PER_THREAD)
    n_threads = max(1, n_threads)
    on_threads(work, [parts[1 + k :: n_threads] for k in range(n_threads)], n_threads)
    return tuple(result.decisions(rule, expected) for rule, result in zip(rules, collected, strict=True))


def decide_in_blocks(
    rules: Sequence[ContextRule], expected: ExpectedRewards
) -> Iterator[tuple[slice, tuple[Selection, ...]]]:
    """Yield the contexts of each block with the actions and ties that every rule chose there.

    Nothing grows with the number of contexts, so E and what is made of the decisions may be larger than memory.
    """
    shared, scratch = Workspace(PIECE), Workspace(PIECE)
    for part in block_slices(expected):
        block = block_of(expected, part, shared, scratch)
        selections = []
        for rule in rules:
            selections.append(rule.choose(block))
            scratch.reclaim()
        yield part, tuple(selections)
        shared.reclaim()


class _Collected:
    """Arrays over all contexts that blocks of decisions are written into."""

    def __init__(self, codes: Integers, tied: Mask) -> None:
        self.codes, self.tied = codes, tied
        self.arrays: dict[tuple[str, str], AnyArray] | None = None

    def put(self, part: slice, decisions: Decisions | Selection) -> None:
        """Write the decisions of one block."""
        self.codes[part], self.tied[part] = decisions.codes, decisions.tied
        if isinstance(decisions, Selection):
            return
        given = _arrays(decisions)
        if self.arrays is None:
            self.arrays = {key: self._room(array, decisions.n_contexts) for key, array in given.items()}
        for key, array in given.items():
            if self.arrays[key].shape[-1] == len(self.codes):
                self.arrays[key][..., part] = array

    def decisions(self, rule: ContextRule, expected: ExpectedRewards) -> Decisions:
        """Return the decisions in all contexts."""
        arrays = self.arrays or {}
        named = {kind: {name: array for (k, name), array in arrays.items() if k == kind} for kind in _KINDS}
        return Decisions(
            rule.label, expected.actions, self.codes, self.tied,
            named["scores"].get(""), named["policy"].get(""), named["flags"], named["quantities"],
        )  # fmt: skip

    def _room(self, of_block: AnyArray, n_contexts: int) -> AnyArray:
        """Return space for all contexts; an array that holds for every context stays as it is."""
        if of_block.shape[-1] != n_contexts:
            return of_block
        return np.empty((*of_block.shape[:-1], len(self.codes)), dtype=of_block.dtype)


_KINDS = ("scores", "policy", "flags", "quantities")


def _arrays(decisions: Decisions) -> Mapping[tuple[str, str], AnyArray]:
    """Return the optional arrays of decisions by kind and name."""
    single: dict[tuple[str, str], AnyArray] = {}
    if decisions.scores is not None:
        single["scores", ""] = decisions.scores
    if decisions.policy is not None:
        single["policy", ""] = decisions.policy
    single |= {("flags", name): flag for name, flag in decisions.flags.items()}
    return single | {("quantities", name): quantity for name, quantity in decisions.quantities.items()}


def _bare(rule: ContextRule, block: Block) -> Decisions:
    chosen = rule.choose(block)
    return Decisions(rule.label, block.actions, chosen.codes, chosen.tied)
