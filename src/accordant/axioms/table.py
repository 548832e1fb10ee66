"""`AxiomTable`: rules against axioms, what is claimed for all E beside what was found on this one."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from accordant.axioms.axiom import Axiom, Finding, Setting, axioms
from accordant.axioms.claims import Claim, claim_about
from accordant.errors import InputError
from accordant.strategies.strategy import Strategy
from accordant.utilities import ExpectedRewards

logger = logging.getLogger(__name__)

ORDER = (
    "weak_pareto", "strong_pareto", "pigou_dalton", "monotonicity", "condorcet_consistency", "anonymity", "neutrality",
    "non_dictatorship", "pairwise_independence", "choice_independence", "scale_invariance", "shift_invariance",
    "ordinal_invariance", "participation", "strategy_proofness",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Cell:
    """One rule and one axiom.

    Attributes
    ----------
    finding
        What was found on E.
    claim
        What holds for all E, or None if only measurement speaks.
    """

    finding: Finding
    claim: Claim | None

    @property
    def contradicted(self) -> bool:
        """Whether E shows a violation of what is claimed never to be violated: the claim is wrong, or the check is."""
        return self.claim is not None and self.claim.holds and self.finding.violated > 0

    @property
    def text(self) -> str:
        """``always``, ``fails``, ``3/200`` (violated in 3 of 200 contexts), or ``–`` (says nothing about the rule)."""
        if self.contradicted:
            return f"{self.finding.violated}/{self.finding.judged}!"
        if self.claim is not None:
            return "always" if self.claim.holds else "fails"
        return "–" if self.finding.inapplicable else f"{self.finding.violated}/{self.finding.judged}"

    @property
    def satisfied(self) -> bool | None:
        """True or False where it is known, by claim or by a violation found; None where nothing was found."""
        if self.finding.violated:
            return False
        return None if self.claim is None else self.claim.holds

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            **self.finding.to_json(),
            "text": self.text,
            "claim": None if self.claim is None else self.claim.to_json(),
        }


@dataclass(frozen=True, eq=False)
class AxiomTable:
    """Rules against axioms.

    Attributes
    ----------
    rules
        Labels of the rules, in the given order.
    axioms
        The axioms, in the order of the columns.
    cells
        A cell for every (label, axiom name).
    chosen
        How many different actions each rule chose on E, by label; 0 if it refuses E.
    n_contexts, n_stakeholders, n_actions
        Shape of E.
    """

    rules: tuple[str, ...]
    axioms: tuple[Axiom, ...]
    cells: dict[tuple[str, str], Cell]
    chosen: dict[str, int]
    n_contexts: int
    n_stakeholders: int
    n_actions: int

    def satisfied(self, rule: str, axiom: str) -> bool | None:
        """Return whether a rule has an axiom, or None if neither a claim nor E decides."""
        return self.cells[rule, axiom].satisfied

    def violations(self) -> list[Finding]:
        """Return the findings with a violation on E, rule by rule."""
        every = (self.cells[rule, axiom.name].finding for rule in self.rules for axiom in self.axioms)
        return [finding for finding in every if finding.violated]

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "contexts": self.n_contexts,
            "stakeholders": self.n_stakeholders,
            "actions": self.n_actions,
            "axioms": [
                {"axiom": a.name, "statement": a.statement, "source": a.source, "judged_on": a.about}
                for a in self.axioms
            ],
            "rules": [
                {
                    "rule": rule,
                    "actions_chosen": self.chosen[rule],
                    "cells": [self.cells[rule, axiom.name].to_json() for axiom in self.axioms],
                }
                for rule in self.rules
            ],
        }


def axiom_table(
    rules: Sequence[Strategy], expected: ExpectedRewards, *, seed: int = 0, names: Sequence[str] | None = None
) -> AxiomTable:
    """Check rules against axioms on E.

    Parameters
    ----------
    rules
        Rules that read nothing but E, fitted if they have global reference points.
    expected
        E.
    seed
        Seed of the changes of E.
    names
        Names of the axioms; None for all.

    Raises
    ------
    UnknownNameError
        If there is no such axiom.
    """
    chosen_axioms = tuple(axioms.create(name) for name in (ordered_names() if names is None else names))
    cells: dict[tuple[str, str], Cell] = {}
    ranges: dict[str, int] = {}
    for rule in rules:
        logger.info("axioms of %s on %d contexts", rule.label, expected.n_contexts)
        setting = Setting.of(rule, expected, seed)
        try:
            ranges[rule.label] = len(np.unique(setting.before.codes))
        except InputError as error:  # the rule refuses E: too many actions, or parameters for other stakeholders
            ranges[rule.label] = 0
            refused = (Finding(rule.label, axiom.name, inapplicable=str(error)) for axiom in chosen_axioms)
            cells |= {(rule.label, finding.axiom): Cell(finding, None) for finding in refused}
            continue
        for axiom in chosen_axioms:
            finding = axiom.examine(setting)
            claim = claim_about(rule, axiom.name, *expected.values.shape[:2])
            if axiom.about_all and claim is not None and claim.holds:
                finding = replace(finding, violated=0, witness=None)  # it looked so on this E, and is not so on all
            cells[rule.label, axiom.name] = Cell(finding, claim)
    labels = tuple(rule.label for rule in rules)
    n_stakeholders, n_actions, n_contexts = expected.values.shape
    return AxiomTable(labels, chosen_axioms, cells, ranges, n_contexts, n_stakeholders, n_actions)


def ordered_names() -> tuple[str, ...]:
    """Return the names of all axioms, related ones side by side, axioms of third parties last."""
    return (*(name for name in ORDER if name in axioms), *(name for name in axioms if name not in ORDER))
