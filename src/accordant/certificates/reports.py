"""`Reports`: everything that may be reported in a block of contexts, and how a rule decides on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from accordant.arrays import Codes, Integers, Mask, Values
from accordant.certificates.threat import Threat, reports_within
from accordant.contexts import Contexts, Log
from accordant.predictions import OutcomePrediction
from accordant.strategies.block import Block, Workspace, block_of
from accordant.strategies.block_decisions import ContextRule, tie_totals
from accordant.strategies.compromise import Compromise
from accordant.strategies.selection import SINGLE_PRECISION_TOLERANCE, TIE_TOLERANCE
from accordant.strategies.strategy import Strategy, stakeholder_weights
from accordant.utilities import ExpectedRewards

Beside = Callable[[], dict[str, Any]]


@dataclass(frozen=True, eq=False)
class Known:
    """What a rule may read beside E; see `Strategy.__call__`."""

    prediction: OutcomePrediction | None = None
    log: Log | None = None
    contexts: Contexts | None = None

    def arguments(self, part: Codes | slice) -> dict[str, Any]:
        """Return keyword arguments for a rule that decides in some contexts."""
        given = {"prediction": self.prediction, "log": self.log, "contexts": self.contexts}
        return {name: None if argument is None else argument.take(part) for name, argument in given.items()}


@dataclass(frozen=True, eq=False)
class Reports:
    """The set of expected rewards that may be reported: in each context a box, entry by entry.

    Attributes
    ----------
    honest
        E as it is, in some contexts.
    lowest, highest
        Ends of the box, shape (stakeholder, action, context); both are E for who does not misreport.
    members
        Who may misreport, shape (stakeholder,).
    frozen
        Whether reference points stay where `honest` puts them.
    beside
        Returns what the rule reads beside E in these contexts; few rules do.
    scratch
        Gives arrays; whoever goes through many blocks takes them back.
    codes
        Decisions on honest reports, shape (context,), if somebody has them already.
    """

    honest: Block
    lowest: Values
    highest: Values
    members: Mask
    frozen: bool
    beside: Beside = field(default=dict, repr=False)
    scratch: Workspace = field(default_factory=Workspace, repr=False)
    codes: Integers | None = None

    @classmethod
    def of(
        cls, honest: Block, threat: Threat, delta: Values | None = None, beside: Beside = dict,
        scratch: Workspace | None = None, codes: Integers | None = None,
    ) -> Reports:  # fmt: skip
        """Return what a threat allows; `delta` replaces its radius by one per context, shape (context,)."""
        scratch = Workspace() if scratch is None else scratch
        radii = np.full(honest.n_contexts, threat.delta) if delta is None else np.asarray(delta, dtype=np.float64)
        lowest, highest = scratch.take(*honest.values.shape), scratch.take(*honest.values.shape)
        members = threat.members(honest.stakeholders)
        reports_within(honest.values, members, radii, *threat.box, lowest, highest)
        return cls(honest, lowest, highest, members, threat.frozen, beside, scratch, codes)

    @cached_property
    def arguments(self) -> dict[str, Any]:
        """Keyword arguments of the rule beside E."""
        return self.beside()

    @property
    def n_actions(self) -> int:
        """Number of actions."""
        return len(self.honest.actions)

    @property
    def n_contexts(self) -> int:
        """Number of contexts."""
        return self.honest.n_contexts

    @property
    def idle(self) -> Mask:
        """Contexts in which nothing but the honest report is possible, shape (context,)."""
        return np.asarray((self.lowest == self.highest).all(axis=(0, 1)))

    def take(self, contexts: Codes) -> Reports:
        """Return the reports in some of the contexts."""
        values, lowest, highest = (
            np.ascontiguousarray(rewards[:, :, contexts]) for rewards in (self.honest.values, self.lowest, self.highest)
        )
        honest = replace(self.honest, values=values, shared=Workspace(), scratch=self.scratch)
        codes = None if self.codes is None else self.codes[contexts]
        beside = partial(self._beside_in, contexts)
        return replace(self, honest=honest, lowest=lowest, highest=highest, beside=beside, codes=codes)

    def _beside_in(self, contexts: Codes) -> dict[str, Any]:
        return {
            name: None if argument is None else argument.take(contexts) for name, argument in self.arguments.items()
        }

    @property
    def single(self) -> bool:
        """Whether E came in single precision, and reports do."""
        return self.honest.tolerance == SINGLE_PRECISION_TOLERANCE

    def representable(self, values: Values) -> Values:
        """Return reports in the precision of E, within the box; themselves in double precision."""
        if not self.single:
            return values
        rounded = values.astype(np.float32)
        rounded = np.where(rounded > self.highest, np.nextafter(rounded, np.float32(-np.inf)), rounded)
        return np.asarray(
            np.where(rounded < self.lowest, np.nextafter(rounded, np.float32(np.inf)), rounded), dtype=np.float64
        )

    def decided(self, rule: Strategy) -> Integers:
        """Return the decisions on honest reports, shape (context,)."""
        return self.choose(rule, self.honest.values) if self.codes is None else self.codes

    def block(self, values: Values) -> Block:
        """Return reports of shape (stakeholder, action, context) as a block."""
        honest = self.honest.reference if self.frozen else None
        return replace(self.honest, values=values, shared=self.scratch, scratch=self.scratch, honest=honest)

    def promoting(self, action: int) -> Values:
        """Return the reports that help one action most: it at its highest, all others at their lowest."""
        values = self.scratch.take(*self.lowest.shape)
        np.copyto(values, self.lowest)
        values[:, action] = self.highest[:, action]
        return values

    def choose(self, rule: Strategy, values: Values) -> Integers:
        """Return the actions that a rule chooses on reports, shape (context,)."""
        values = self.representable(values)
        if isinstance(rule, ContextRule):
            return rule.choose(self.block(values)).codes
        values = values.astype(np.float32) if self.single else values
        reported = ExpectedRewards(values, stakeholders=self.honest.stakeholders, actions=self.honest.actions)
        return rule(reported, **self.arguments).codes

    def scores(self, rule: ContextRule, values: Values) -> Values:
        """Return the scores that a rule gives to reports, shape (action, context)."""
        block = self.block(values)
        if isinstance(rule, Compromise):
            return np.asarray(rule.score(block, stakeholder_weights(rule.weights, len(block.stakeholders))).scores)
        scores = rule.decide(block).scores
        assert scores is not None
        return np.asarray(scores)

    def totals(self, rule: ContextRule, values: Values) -> Values:
        """Return what breaks ties of a rule: the sum over those who have a say, shape (action, context)."""
        return tie_totals(rule, self.block(values))


def honest_block(expected: ExpectedRewards, part: slice, shared: Workspace, scratch: Workspace) -> Block:
    """Return some contexts of E as a block."""
    return block_of(expected, part, shared, scratch)


def tolerance_of(expected: ExpectedRewards) -> float:
    """Return how close scores tie on this E."""
    return SINGLE_PRECISION_TOLERANCE if expected.values.dtype == np.float32 else TIE_TOLERANCE
