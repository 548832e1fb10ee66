"""The largest radius within which a decision cannot be changed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from accordant.arrays import Integers, Mask, Values
from accordant.certificates.certificate import decisions_on, for_blocks, method_for
from accordant.certificates.method import Method
from accordant.certificates.reports import Known, Reports, honest_block
from accordant.certificates.threat import UNIT, Threat, checked_coalition
from accordant.errors import InputError
from accordant.strategies.block import Block, Workspace
from accordant.strategies.selection import SINGLE_PRECISION_TOLERANCE
from accordant.strategies.strategy import Strategy
from accordant.utilities import ExpectedRewards

FINEST = 1e-15  # what doubles near 1 tell apart
PRECISION = 1e-9  # width of the interval at which bisection stops


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
    known = known or Known()
    threat = Threat(0.0, checked_coalition(coalition), box, frozen)
    threat = threat.within(threat.box[1] - threat.box[0])
    threat.members(expected.stakeholders)
    honest = threat.honest(expected)
    decided = decisions_on(rule, honest, known)
    method = method_for(rule, len(honest.actions), frozen=frozen)
    found = np.empty(honest.n_contexts)

    def work(part: slice, shared: Workspace, scratch: Workspace) -> None:
        """Bisect in one block."""
        block = honest_block(honest, part, shared, Workspace())
        found[part] = _bisect(rule, method, block, threat, known, part, decided[part], precision, scratch)

    if honest.n_contexts:
        for_blocks(honest, work)
    return found


def _bisect(
    rule: Strategy, method: Method, block: Block, threat: Threat, known: Known, part: slice, decided: Integers,
    precision: float, scratch: Workspace,
) -> Values:  # fmt: skip
    """Return radii in the contexts of one block."""
    arguments = known.arguments(part)

    def changeable(delta: Values) -> Mask:
        """Return where the decision could be changed within one radius per context."""
        scratch.reclaim()
        reports = Reports.of(block, threat, delta, arguments, scratch)
        return method.changeable(rule, reports, decided) & ~reports.idle

    safe, unsafe = np.zeros(block.n_contexts), np.full(block.n_contexts, threat.delta)
    forever = ~changeable(unsafe)
    for _ in range(int(np.ceil(np.log2(threat.delta / precision)))):
        middle = (safe + unsafe) / 2
        changes = changeable(middle)
        unsafe, safe = np.where(changes, middle, unsafe), np.where(changes, safe, middle)
    if block.tolerance == SINGLE_PRECISION_TOLERANCE:
        safe = np.maximum(0.0, safe - 2 * SINGLE_PRECISION_TOLERANCE)
    return np.where(forever, np.inf, safe)
