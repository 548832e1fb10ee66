"""What the misreports within a threat can make of the decisions of a rule: from a certificate to `Choices`.

| decisions of the rule | what an attack chooses | status |
|---|---|---|
| certain | in each context an action of the reachable set | as the certificate says |
| ε-greedy | the same, mixed with the uniform draw | as the certificate says |
| softmax, proportional; each action scored by its own column | every score at one end of its range | exact |
| drawn in any other way | any probabilities | sound, because nothing is ruled out |
| does not read E | nothing | exact |
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np

from accordant.certificates.bounds.choices import Anything, Choices, Mixtures, Move, Sets
from accordant.certificates.certificate import Certificate, certify, for_blocks
from accordant.certificates.columns import ends
from accordant.certificates.reports import Known, Reports, honest_block, tolerance_of
from accordant.certificates.threat import Threat
from accordant.decisions import Decisions
from accordant.errors import InputError
from accordant.evidence import Evidence
from accordant.strategies.block import Workspace
from accordant.strategies.block_decisions import ContextRule
from accordant.strategies.compromise import Compromise
from accordant.strategies.selection import proportional_policy
from accordant.strategies.strategy import Strategy
from accordant.utilities import ExpectedRewards

MEETS = 1e-10  # what rounding may leave between a bound and the attack that attains it


@dataclass(frozen=True, eq=False)
class Attackable:
    """A rule on E under a threat.

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
    outer
        What could not be ruled out.
    inner
        What misreports are known to make.
    method
        How `outer` was found, in words.
    certificate
        Where `inner` is known by the actions chosen, what makes them win.
    tolerance
        How close, relative to max(1, |bound|), an attained value must come to a bound to meet it.
    """

    rule: Strategy
    expected: ExpectedRewards
    threat: Threat
    known: Known
    outer: Choices
    inner: Choices
    method: str
    certificate: Certificate | None = None
    tolerance: float = MEETS

    def witness(self, move: Move | None) -> ExpectedRewards:
        """Return expected rewards within the threat on which the rule decides as a move says; None for honestly."""
        if move is None:
            return self.expected
        if self.certificate is not None:
            return self.certificate.witness(move.codes)
        if move.raised is None:
            return self.expected
        values = np.array(self.expected.values, dtype=np.float64)
        rule = cast("Compromise", self.rule)

        def work(part: slice, shared: Workspace, scratch: Workspace) -> None:
            """Put the ends of columns into one block."""
            reports = _reports(self.expected, self.threat, part, shared, scratch)
            best, worst = ends(rule, reports)
            assert move is not None
            assert move.raised is not None
            moved = np.where(move.raised[:, part], best, worst)
            values[:, :, part] = np.where(move.changed[part], moved, values[:, :, part])

        for_blocks(self.expected, work)
        return ExpectedRewards(values, stakeholders=self.expected.stakeholders, actions=self.expected.actions)


def attackable(
    rule: Strategy, expected: ExpectedRewards, threat: Threat, *, at_most: int | None = None, known: Known | None = None
) -> Attackable:
    """Find what misreports can make of the decisions of a rule.

    Parameters
    ----------
    rule
        Any strategy.
    expected
        E.
    threat
        Who may misreport, by how much.
    at_most
        In how many contexts at most; None for all of them, and for rules that decide a whole batch at once.
    known
        What the rule reads beside E.

    Raises
    ------
    InputError
        If `at_most` is negative.
    """
    if at_most is not None and not (isinstance(at_most, int | np.integer) and at_most >= 0):
        raise InputError(f"at_most is {at_most}; allowed: None, or a number of contexts of at least 0")
    if rule.whole_batch and at_most != 0:
        at_most = None  # a misreport in one context may change the decision in another
    known = known or Known()
    operator = rule.selection if isinstance(rule, Compromise) else "argmax"
    if operator in ("softmax", "proportional"):
        return _draw_choices(cast("Compromise", rule), expected, threat, at_most, known)
    certificate = certify(rule, expected, threat, known=known)
    base = _honest(rule, certificate, known)
    terms = (rule, certificate.expected, threat, known)
    if base.policy is not None and operator != "epsilon_greedy":
        movable = _may_move(rule, certificate.expected, threat)
        return Attackable(*terms, *_unruled(base, at_most, movable=movable), _words(movable=movable))
    epsilon = float(rule.epsilon or 0.0) if isinstance(rule, Compromise) else 0.0
    outer, inner = (Sets(base, at_most, mask, epsilon) for mask in (certificate.outer, certificate.inner))
    return Attackable(*terms, outer, inner, certificate.method, certificate)


def known_from(known: Known | None, evidence: Evidence | None) -> Known | None:
    """Return what a rule reads beside E: what is given, or what the evidence holds."""
    if known is not None or evidence is None:
        return known
    return Known(evidence.prediction, evidence.log, evidence.log.contexts)


def _honest(rule: Strategy, certificate: Certificate, known: Known) -> Decisions:
    """Return the honest decisions, with probabilities if the rule draws."""
    codes, honest = certificate.decided, certificate.expected
    policy = None
    if not isinstance(rule, Compromise) or rule.selection != "argmax":
        first = slice(0, 1) if isinstance(rule, ContextRule) else slice(None)
        policy = rule(honest.take(first), **known.arguments(first)).policy
        if policy is not None and isinstance(rule, ContextRule):
            policy = rule(honest).policy
    untied = np.zeros(len(codes), dtype=bool)
    return Decisions(rule.label, honest.actions, codes, untied, policy=policy, follows_log=rule.follows_log)


def _may_move(rule: Strategy, honest: ExpectedRewards, threat: Threat) -> bool:
    """Return whether probabilities may change at all."""
    misreported = threat.delta > 0 and threat.members(honest.stakeholders).any()
    return bool(misreported and len(honest.actions) > 1 and rule.structure(frozen=threat.frozen) != "fixed")


def _words(*, movable: bool) -> str:
    return "nothing is ruled out" if movable else "no misreport matters"


def _unruled(base: Decisions, at_most: int | None, *, movable: bool) -> tuple[Choices, Choices]:
    """Return any probabilities as what could not be ruled out, and the honest ones as what is known."""
    everywhere = np.full(base.n_contexts, movable)
    return Anything(base, at_most, everywhere), Anything(base, at_most, np.zeros_like(everywhere))


def _draw_choices(
    rule: Compromise, expected: ExpectedRewards, threat: Threat, at_most: int | None, known: Known
) -> Attackable:
    """Return what can be made of probabilities that come from scores."""
    honest = threat.honest(expected)
    decided = rule(honest)
    base = Decisions(rule.label, honest.actions, decided.codes, decided.tied, policy=decided.policy)
    terms = (rule, honest, threat, known)
    movable = _may_move(rule, honest, threat)
    if not movable or rule.structure(frozen=threat.frozen) not in ("column_score", "column_peaked"):
        return Attackable(*terms, *_unruled(base, at_most, movable=movable), _words(movable=movable))
    lowest, highest = np.empty((2, len(honest.actions), honest.n_contexts))

    def work(part: slice, shared: Workspace, scratch: Workspace) -> None:
        """Score both ends of the columns of one block."""
        reports = _reports(honest, threat, part, shared, scratch)
        best, worst = ends(rule, reports)
        highest[:, part] = reports.scores(rule, best)
        lowest[:, part] = reports.scores(rule, worst)

    for_blocks(honest, work)
    if rule.selection == "proportional" and not rule.logarithmic and lowest.size and lowest.min() < 0:
        proportional_policy(lowest)  # raises, as the rule does on such reports
    temperature = 1.0 if rule.logarithmic and rule.selection == "proportional" else rule.temperature
    tolerance = tolerance_of(expected) if rule.selection == "softmax" else 0.0
    inner = Mixtures(base, at_most, lowest, highest, temperature, tolerance)
    moving = (lowest != highest).any(axis=0)
    with np.errstate(invalid="ignore"):
        size = np.where(np.isfinite(highest), np.maximum(1.0, np.abs(highest)), 1.0).max(axis=0)
    # scores that tie are drawn as if they were equal: as if some were higher by the tolerance
    blurred = highest + np.where(moving, tolerance * size, 0.0)
    outer = Mixtures(base, at_most, lowest, blurred, temperature, 0.0)
    blur = tolerance * float(size.max(initial=1.0)) / (rule.temperature or 1.0)
    return Attackable(*terms, outer, inner, "both ends of every score", None, max(MEETS, blur))


def _reports(expected: ExpectedRewards, threat: Threat, part: slice, shared: Workspace, scratch: Workspace) -> Reports:
    return Reports.of(honest_block(expected, part, shared, scratch), threat, scratch=scratch)
