"""`AxiomTable`: rules against axioms, what is claimed for all E beside what was found on this one."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
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


ARROW = {
    "weak_pareto": "weak Pareto",
    "pairwise_independence": "pairwise independence",
    "ordinal_invariance": "ordinal invariance",
    "non_dictatorship": "non-dictatorship",
}
GIBBARD_SATTERTHWAITE = {"strategy_proofness": "strategy-proofness", "non_dictatorship": "non-dictatorship"}
NEEDED_STAKEHOLDERS, NEEDED_ACTIONS = 2, 3
MOST_NAMED = 12  # more rules are counted


def arrow(table: AxiomTable) -> str:
    """Return Arrow's theorem (1951) as it shows in a table.

    No rule by which two or more stakeholders rank three or more actions has weak Pareto, independence and
    non-dictatorship, if only orders count.
    """
    if _too_small(table):
        return f"Arrow (1951) speaks about {_too_small(table)}."
    return f"Arrow (1951): of {_counted(table.rules)} {_sentence(table, table.rules, ARROW)}"


def gibbard_satterthwaite(table: AxiomTable) -> str:
    """Return the theorem of Gibbard (1973) and Satterthwaite (1975) as it shows in a table.

    No rule that may choose each of three or more actions is strategy-proof and non-dictatorial; one that chooses some
    of them only may follow a dictator among these.
    """
    source = "Gibbard (1973) and Satterthwaite (1975)"
    if _too_small(table):
        return f"{source} speak about {_too_small(table)}."
    wide = [rule for rule in table.rules if table.chosen[rule] == table.n_actions]
    narrow = [rule for rule in table.rules if rule not in wide]
    spared = f" Not every action was chosen here by {_listed(narrow)}." if narrow else ""
    if not wide:
        return f"{source} speak about rules that choose every action; here is none.{spared}"
    about = f"{_counted(wide)} that chose every action"
    return f"{source}: of {about} {_sentence(table, wide, GIBBARD_SATTERTHWAITE)}{spared}"


def _too_small(table: AxiomTable) -> str:
    """Return what is missing for the theorems to say anything, or nothing."""
    if table.n_stakeholders < NEEDED_STAKEHOLDERS:
        return f"two or more stakeholders; here is {table.n_stakeholders}"
    return "" if table.n_actions >= NEEDED_ACTIONS else f"three or more actions; here are {table.n_actions}"


def missing(table: AxiomTable, rules: Iterable[str], together: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return what each rule is known to lack among some axioms: by a counterexample, or by a violation on E."""
    wanted = tuple(together)
    return {rule: tuple(name for name in wanted if table.satisfied(rule, name) is False) for rule in rules}


def _sentence(table: AxiomTable, rules: Sequence[str], together: Mapping[str, str]) -> str:
    """Return who lacks what; a rule to which one of the axioms does not apply is left out if it lacks no other."""
    lacking, wanted = missing(table, rules, together), _listed(list(together.values()))
    every = [rule for rule in rules if all(table.satisfied(rule, name) for name in together)]
    if every:
        return f"{_listed(every)} should not have {wanted} together; a claim in the table is wrong."
    applies = [rule for rule in rules if not any(table.cells[rule, name].finding.inapplicable for name in together)]
    unseen = [rule for rule in applies if not lacking[rule]]
    start = f"none has {wanted} together" if not unseen else f"{len(rules) - len(unseen)} lack one of {wanted}"
    single = _by_gap({rule: gaps for rule, gaps in lacking.items() if len(gaps) == 1})
    parts = [f"only {together[axiom]} is missing in {_listed(names)}" for axiom, names in single.items()]
    several = sum(len(gaps) > 1 for gaps in lacking.values())
    parts += [f"more in {several}"] if several else []
    details = f" ({'; '.join(parts)})" if parts else ""
    by_theorem = f" By the theorem {_listed(unseen)} must too, though no violation was found here." if unseen else ""
    return f"{start}{details}.{by_theorem}"


def _by_gap(lacking: Mapping[str, tuple[str, ...]]) -> dict[str, list[str]]:
    rules: dict[str, list[str]] = {}
    for rule, (gap,) in lacking.items():
        rules.setdefault(gap, []).append(rule)
    return rules


def _counted(rules: Sequence[str]) -> str:
    return "1 rule" if len(rules) == 1 else f"{len(rules)} rules"


def _listed(names: Sequence[str]) -> str:
    if len(names) > MOST_NAMED:
        return _counted(names)
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]
