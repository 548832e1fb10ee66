"""`certify`: the actions that a coalition can make win within a radius, in every context, with witnesses.

`method_for`: which method serves which rule.

| dependence of the rule on E | method | result |
|---|---|---|
| not at all | `Fixed` | exact |
| each action judged by its own column | `ColumnScores`, `ColumnOrder` (columns.py) | exact |
| the same, with peaks inside the scale | `PeakedColumns` (columns.py) | sound, exact but for ties |
| registered by name: reference points from the context, ballots | a module of ``pairwise/``, ``ballots/`` | each says |
| any other | `Unknown` | sound, because nothing is ruled out |
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from accordant.arrays import Integers, Mask
from accordant.certificates.columns import ColumnOrder, ColumnScores, PeakedColumns
from accordant.certificates.method import Fixed, Method, Reach, Unknown, methods
from accordant.certificates.reports import Known, Reports, honest_block, tolerance_of
from accordant.certificates.threat import UNIT, Threat, checked_coalition
from accordant.errors import InputError
from accordant.faces import Displayed
from accordant.progress import steps
from accordant.strategies.block import PIECE, Workspace, block_slices
from accordant.strategies.block_decisions import BLOCKS_PER_THREAD, ContextRule, decide
from accordant.strategies.strategy import Strategy
from accordant.threads import free_cores, on_threads
from accordant.utilities import ExpectedRewards


def method_for(rule: Strategy, n_actions: int, *, frozen: bool) -> Method:
    """Return the sharpest method for a rule and its parameters.

    Parameters
    ----------
    rule
        Any strategy.
    n_actions
        Number of actions.
    frozen
        Whether reference points stay where honest reports put them.
    """
    structure = rule.structure(frozen=frozen)
    if structure == "fixed" or n_actions == 1:
        return Fixed()
    if structure == "column_score":
        return ColumnScores()
    if structure == "column_peaked":
        return PeakedColumns()
    if structure == "column_order":
        return ColumnOrder()
    if rule.name in methods and not rule.whole_batch:
        method = methods.create(rule.name)
        if method.serves(rule, n_actions):
            return method
    return Unknown()


@dataclass(frozen=True, eq=False)
class Certificate(Displayed):
    """What misreports within a threat can and cannot make of a rule's decisions.

    Attributes
    ----------
    rule
        The rule.
    expected
        E, clipped into the box of the threat.
    threat
        Who may misreport, by how much.
    known
        What the rule reads beside E.
    method
        How the sets were found, in words.
    decided
        The decisions on E, action codes of shape (context,).
    outer
        Actions that could not be ruled out, shape (action, context). No misreport makes any other action win.
    inner
        Actions that some misreport makes win, same shape; `witness` returns it.
    attack
        Which attack makes each action of `inner` win, same shape.
    tolerance
        Scores this close, relative to max(1, |score|), tie; differences below it are not told apart.
    """

    rule: Strategy
    expected: ExpectedRewards
    threat: Threat
    known: Known
    method: str
    decided: Integers
    outer: Mask
    inner: Mask
    attack: Integers
    tolerance: float

    @property
    def exact(self) -> Mask:
        """Where the reachable set is known exactly, shape (context,)."""
        return np.asarray((self.outer == self.inner).all(axis=0))

    @property
    def certified(self) -> Mask:
        """Where the decision cannot be changed, shape (context,)."""
        return np.asarray(self.outer.sum(axis=0) == 1)

    @property
    def attackable(self) -> Mask:
        """Where a known misreport changes the decision, shape (context,)."""
        return np.asarray(self.inner.sum(axis=0) > 1)

    def witness(self, codes: Integers) -> ExpectedRewards:
        """Return expected rewards within the threat on which the rule chooses the given action in every context.

        Parameters
        ----------
        codes
            Action codes within `inner`, shape (context,).

        Raises
        ------
        InputError
            If no misreport is known that makes one of the actions win.
        """
        columns = np.arange(self.expected.n_contexts)
        codes = np.asarray(codes)
        if codes.shape != columns.shape or not np.issubdtype(codes.dtype, np.integer):
            raise InputError(f"codes have shape {codes.shape}; allowed: one action number per context, {columns.shape}")
        if len(codes) and not 0 <= codes.min() <= codes.max() < len(self.expected.actions):
            raise InputError(
                f"codes go from {codes.min()} to {codes.max()}; allowed: 0 to {len(self.expected.actions) - 1}"
            )
        codes = codes.astype(np.intp)
        if not self.inner[codes, columns].all():
            context = int(np.flatnonzero(~self.inner[codes, columns])[0])
            raise InputError(f"no misreport is known that makes action {codes[context]} win in context {context}")
        values = self.expected.values.copy()  # in its own precision, which also says how close scores tie
        method = method_for(self.rule, len(self.expected.actions), frozen=self.threat.frozen)
        attack = np.where(codes == self.decided, -1, self.attack[codes, columns])
        for action, number in sorted(set(zip(codes.tolist(), attack.tolist(), strict=True))):
            where = np.flatnonzero((codes == action) & (attack == number))
            if number >= 0:
                part = self.expected.take(where)
                block = honest_block(part, slice(0, len(where)), Workspace(), Workspace())
                reports = Reports.of(block, self.threat, beside=partial(self.known.arguments, where))
                values[:, :, where] = reports.representable(method.misreport(self.rule, reports, action, number))
        return ExpectedRewards(values, stakeholders=self.expected.stakeholders, actions=self.expected.actions)

    def to_json(self) -> dict[str, Any]:
        """Return the terms of the certificate and how many contexts it covers, as plain values."""
        return {
            "rule": self.rule.label, "threat": self.threat.to_json(), "method": self.method,
            "tolerance": self.tolerance, "contexts": self.expected.n_contexts, "certified": int(self.certified.sum()),
            "attackable": int(self.attackable.sum()), "exact": int(self.exact.sum()),
        }  # fmt: skip


def certify(rule: Strategy, expected: ExpectedRewards, threat: Threat, *, known: Known | None = None) -> Certificate:
    """Find the actions that a coalition can make win, in every context.

    Parameters
    ----------
    rule
        Any strategy; where nothing is known of how it reads E, no action is ruled out.
    expected
        E.
    threat
        Who may misreport, by how much.
    known
        What the rule reads beside E, such as contexts.

    Raises
    ------
    UnknownNameError
        If somebody in the coalition is no stakeholder.
    """
    return certify_each(rule, expected, (threat,), known=known)[0]


def certify_each(
    rule: Strategy, expected: ExpectedRewards, threats: Sequence[Threat], *, known: Known | None = None
) -> tuple[Certificate, ...]:
    """Return a certificate for each of several threats with the same box, in one reading of E.

    Parameters
    ----------
    rule, expected, known
        As for `certify`.
    threats
        Threats that differ in coalition and radius.

    Raises
    ------
    UnknownNameError
        If somebody in a coalition is no stakeholder.
    InputError
        If there is no threat, or boxes or reference points differ.
    """
    known = known or Known()
    if not threats or len({(threat.box, threat.frozen) for threat in threats}) > 1:
        raise InputError("certificates in one reading need threats, all with the same box and reference points")
    honest = threats[0].honest(expected)
    method = method_for(rule, len(honest.actions), frozen=threats[0].frozen)
    searches = [_Reachable(threat, honest) for threat in threats]
    decided = decisions_on(rule, honest, known)

    def work(part: slice, shared: Workspace, scratch: Workspace) -> None:
        """Search one block for every threat."""
        block = honest_block(honest, part, shared, Workspace())
        for search in searches:
            if search.active:
                beside = partial(known.arguments, part)
                reports = Reports.of(block, search.threat, None, beside, scratch, decided[part])
                search.put(part, method.reach(rule, reports))
                scratch.reclaim()

    if honest.n_contexts and any(search.active for search in searches):
        for_blocks(honest, work)
    return tuple(search.certificate(rule, honest, known, method, decided) for search in searches)


class _Reachable:
    """Reachable actions in all contexts, which blocks are written into."""

    def __init__(self, threat: Threat, honest: ExpectedRewards) -> None:
        shape = (len(honest.actions), honest.n_contexts)
        self.threat = threat
        self.active = bool(threat.members(honest.stakeholders).any()) and threat.delta > 0
        self.outer, self.inner = np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool)
        self.attack = np.zeros(shape, dtype=np.int32)

    def put(self, part: slice, reach: Reach) -> None:
        """Write the result of one block."""
        self.outer[:, part] = reach.outer
        self.inner[:, part] = reach.inner
        if reach.attack is not None:
            self.attack[:, part] = reach.attack

    def certificate(
        self, rule: Strategy, honest: ExpectedRewards, known: Known, method: Method, decided: Integers
    ) -> Certificate:
        """Return the certificate; the decision itself is always reachable."""
        columns = np.arange(honest.n_contexts)
        self.outer[decided, columns] = self.inner[decided, columns] = True
        return Certificate(
            rule, honest, self.threat, known, method.words, decided,
            self.outer, self.inner, self.attack, tolerance_of(honest),
        )  # fmt: skip


def reachable(
    rule: Strategy, expected: ExpectedRewards, *, delta: float, coalition: Sequence[str] | None = None,
    box: tuple[float, float] = UNIT, frozen: bool = False, known: Known | None = None,
) -> Mask:  # fmt: skip
    """Return the actions that a coalition could make win, shape (action, context).

    No misreport within the threat makes any other action win. For rules that judge each action by its own column of E
    the set is exact; `certify` says where it is for the others.

    Parameters
    ----------
    rule
        Any strategy.
    expected
        E.
    delta
        Radius δ, at least 0.
    coalition
        Names of those who may misreport; None for everybody.
    box, frozen
        See `Threat`.
    known
        What the rule reads beside E.
    """
    return certify(rule, expected, Threat(delta, checked_coalition(coalition), box, frozen), known=known).outer


def decisions_on(rule: Strategy, expected: ExpectedRewards, known: Known) -> Integers:
    """Return the decisions on E as it is, shape (context,)."""
    if isinstance(rule, ContextRule):
        return decide((rule,), expected, details=False)[0].codes
    return rule(expected, **known.arguments(slice(None))).codes


def for_blocks(expected: ExpectedRewards, work: Any, threads: int | None = None) -> None:
    """Call ``work(part, shared, scratch)`` for the contexts of every block, on several threads if there are many.

    Parameters
    ----------
    expected
        E.
    work
        Gets the contexts and two workspaces, which are taken back after each call.
    threads
        None uses every core that this process may use.
    """
    parts = block_slices(expected)
    n_threads = max(1, min(free_cores() if threads is None else threads, len(parts) // BLOCKS_PER_THREAD))
    with steps("certifying decisions", len(parts)) as advance:

        def share(some: Sequence[slice]) -> None:
            """Work on some of the blocks."""
            shared, scratch = Workspace(PIECE), Workspace(PIECE)
            for part in some:
                work(part, shared, scratch)
                shared.reclaim()
                scratch.reclaim()
                advance()

        share(parts[:1])  # the first block compiles kernels
        on_threads(share, [parts[1 + k :: n_threads] for k in range(n_threads)], n_threads)
