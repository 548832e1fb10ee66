"""The largest radius within which a decision cannot be changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial

import numpy as np

from accordant.arrays import Integers, Mask, Values
from accordant.certificates.certificate import decisions_on, for_blocks, method_for
from accordant.certificates.method import Method
from accordant.certificates.reports import Beside, Known, Reports, honest_block
from accordant.certificates.threat import UNIT, Threat, checked_coalition
from accordant.errors import InputError
from accordant.strategies.block import Block, Workspace
from accordant.strategies.block_decisions import ContextRule
from accordant.strategies.selection import SINGLE_PRECISION_TOLERANCE
from accordant.strategies.strategy import Strategy
from accordant.utilities import ExpectedRewards

FINEST = 1e-15  # what doubles near 1 tell apart
PRECISION = 1e-9  # width of the interval at which bisection stops
FEW = 16  # contexts: asking about so few costs more than answering, so several bits of radii are asked for at once
COPIES = 256  # of all contexts together, one for each radius that is asked for at once
Changeable = Callable[[Values], Mask]


def radius(
    rule: Strategy,
    expected: ExpectedRewards,
    *,
    coalition: Sequence[str] | None = None,
    box: tuple[float, float] = UNIT,
    frozen: bool = False,
    precision: float = PRECISION,
    known: Known | None = None,
) -> Values:
    """Return the radius up to which no misreport of a coalition changes the decision, shape (context,).

    inf where no misreport in the box changes it. Found by bisection, as reachable sets grow with δ. For rules that
    judge each action by its own column of E this is the largest such radius, less at most `precision`; for others it is
    a certified one, and a larger one may be safe too.

    Parameters
    ----------
    rule
        Any strategy.
    expected
        E.
    coalition
        Names of those who may misreport; None for everybody.
    box, frozen
        See `Threat`.
    precision
        Width of the interval at which bisection stops, from 1e-15 to below 1. If E is in single precision, 2e-6 is
        taken off beside: so far ties reach there.
    known
        What the rule reads beside E.

    Raises
    ------
    UnknownNameError
        If somebody in the coalition is no stakeholder.
    """
    if not FINEST <= precision < 1:
        raise InputError(f"precision is {precision}; allowed: from {FINEST:g} to below 1")
    known = Known() if known is None or isinstance(rule, ContextRule) else known  # which such a rule does not read
    threat = Threat(0.0, checked_coalition(coalition), box, frozen)
    threat = threat.within(threat.box[1] - threat.box[0])
    threat.members(expected.stakeholders)
    honest = threat.honest(expected)
    decided = decisions_on(rule, honest, known)
    method = method_for(rule, len(honest.actions), frozen=frozen)
    radii = np.empty(honest.n_contexts)
    halvings = int(np.ceil(np.log2(threat.delta / precision)))

    def work(part: slice, shared: Workspace, scratch: Workspace) -> None:
        """Bisect in one block."""
        block = honest_block(honest, part, shared, Workspace())
        changeable = _changeable(rule, method, block, threat, partial(known.arguments, part), decided[part], scratch)
        radii[part] = _bisect([1] * halvings, lambda _: changeable, block.n_contexts, threat.delta)

    if 0 < honest.n_contexts <= FEW:

        def tiled(times: int) -> Changeable:
            """Return what asks for so many radii of each context at once."""
            places = np.repeat(np.arange(honest.n_contexts), times)
            values = np.ascontiguousarray(honest.values[:, :, places])
            copies = ExpectedRewards(values, stakeholders=honest.stakeholders, actions=honest.actions)
            block = honest_block(copies, slice(0, len(places)), Workspace(), Workspace())
            beside = partial(known.arguments, places)
            return _changeable(rule, method, block, threat, beside, decided[places], Workspace())

        bits = (COPIES // honest.n_contexts).bit_length() - 1
        rest = [halvings % bits] if halvings % bits else []
        radii[:] = _bisect([*rest, *[bits] * (halvings // bits)], cache(tiled), honest.n_contexts, threat.delta)
    elif honest.n_contexts:
        for_blocks(honest, work)
    if honest.values.dtype == np.float32:
        radii = np.maximum(0.0, radii - 2 * SINGLE_PRECISION_TOLERANCE)
    return radii


def _changeable(
    rule: Strategy, method: Method, block: Block, threat: Threat, beside: Beside, decided: Integers,
    scratch: Workspace,
) -> Changeable:  # fmt: skip
    def changeable(delta: Values) -> Mask:
        """Return where the decision could be changed within one radius per context."""
        scratch.reclaim()
        reports = Reports.of(block, threat, delta, beside, scratch)
        return method.changeable(rule, reports, decided) & ~reports.idle

    return changeable


def _bisect(bits: Sequence[int], changeable: Callable[[int], Changeable], n_contexts: int, largest: float) -> Values:
    """Return radii: each round tells so many bits of them, for which it tries as many radii as they count, less one.

    All ends of intervals are binary fractions of `largest`, so one round of several bits leaves the same interval as
    several rounds of one.
    """
    safe, unsafe, contexts = np.zeros(n_contexts), np.full(n_contexts, largest), np.arange(n_contexts)
    forever = ~changeable(1)(unsafe)
    for n in bits:
        width = (unsafe - safe)[:, np.newaxis]
        inner = safe[:, np.newaxis] + width * (np.arange(1, 2**n) / 2**n)
        changes = changeable(inner.shape[1])(inner.ravel()).reshape(inner.shape)
        first = np.where(changes.any(axis=1), changes.argmax(axis=1), inner.shape[1])
        ends = np.column_stack([safe, inner, unsafe])
        safe, unsafe = ends[contexts, first], ends[contexts, first + 1]
    return np.where(forever, np.inf, safe)
