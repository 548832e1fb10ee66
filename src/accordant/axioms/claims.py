"""What is known of rules with default parameters on all E: one table, a reason for every yes, a matrix for every no."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from accordant.axioms.axiom import weights_are_equal
from accordant.axioms.counterexamples import Counterexample, counterexample
from accordant.axioms.theorems import theorem
from accordant.strategies.strategy import Strategy

COLUMNS = {
    "WP": "weak_pareto", "SP": "strong_pareto", "PD": "pigou_dalton", "Mo": "monotonicity",
    "Co": "condorcet_consistency", "An": "anonymity", "Ne": "neutrality", "ND": "non_dictatorship",
    "PI": "pairwise_independence", "CI": "choice_independence", "Sc": "scale_invariance", "Sh": "shift_invariance",
    "Or": "ordinal_invariance", "Pa": "participation", "St": "strategy_proofness",
}  # fmt: skip

# yes: never violated; no: violated on some E; ?: nothing is claimed
TABLE = """
                        WP   SP   PD   Mo   Co   An   Ne   ND   PI   CI   Sc   Sh   Or   Pa   St
utilitarian             yes  yes  no   yes  no   yes  yes  yes  yes  yes  no   yes  no   yes  no
range                   yes  yes  no   yes  no   yes  yes  yes  yes  yes  no   yes  no   yes  no
relative_utilitarian    yes  yes  no   yes  no   yes  yes  yes  no   no   yes  yes  no   yes  no
nash_social_welfare     yes  yes  yes  yes  no   yes  yes  yes  yes  yes  no   no   no   yes  no
atkinson                yes  yes  yes  yes  no   yes  yes  yes  yes  yes  no   no   no   yes  no
alpha_fairness          yes  no   no   yes  no   yes  yes  yes  yes  no   no   no   no   no   no
generalised_gini        yes  yes  yes  yes  no   yes  yes  yes  yes  yes  no   no   no   no   no
leximin                 yes  yes  yes  yes  no   yes  yes  yes  yes  yes  no   no   no   yes  no
maximin                 yes  no   no   yes  no   yes  yes  yes  yes  yes  no   no   no   yes  no
hurwicz                 yes  no   no   yes  no   yes  yes  yes  yes  yes  no   no   no   no   no
sufficientarian         no   no   no   yes  no   yes  yes  yes  yes  yes  no   no   no   yes  no

nash_bargaining         yes  no   no   yes  no   yes  yes  yes  no   no   yes  yes  no   yes  no
kalai_smorodinsky       yes  no   no   yes  no   yes  yes  yes  no   no   yes  yes  no   yes  no
egalitarian_equivalent  yes  no   no   yes  no   yes  yes  yes  no   no   no   yes  no   yes  no
compromise_programming  yes  yes  no   yes  no   yes  yes  yes  no   no   no   yes  no   yes  no
minimax_regret          yes  no   no   yes  no   yes  yes  yes  no   no   no   yes  no   yes  no
debate                  ?    ?    ?    ?    ?    yes  yes  yes  ?    ?    yes  yes  ?    ?    ?

plurality               yes  no   no   yes  no   yes  yes  yes  no   no   yes  yes  yes  yes  no
anti_plurality          no   no   no   yes  no   yes  yes  yes  no   no   yes  yes  yes  yes  no
approval                no   no   no   yes  no   yes  yes  yes  no   no   yes  yes  no   yes  no
borda                   yes  yes  no   yes  no   yes  yes  yes  no   no   yes  yes  yes  yes  no
bucklin                 yes  no   no   yes  no   yes  yes  yes  no   no   yes  yes  yes  no   no
instant_runoff          yes  no   no   no   no   yes  yes  yes  no   no   yes  yes  yes  no   no
coombs                  yes  no   no   no   no   yes  yes  yes  no   no   yes  yes  yes  no   no
majority_judgment       no   no   no   yes  no   yes  yes  yes  yes  yes  no   no   no   no   no

copeland                yes  yes  no   yes  yes  yes  yes  yes  no   no   yes  yes  yes  no   no
minimax                 yes  no   no   yes  yes  yes  yes  yes  no   no   yes  yes  yes  no   no
ranked_pairs            yes  no   no   yes  yes  yes  yes  yes  no   no   yes  yes  yes  no   no
schulze                 yes  no   no   yes  yes  yes  yes  yes  no   no   yes  yes  yes  no   no
kemeny                  yes  yes  no   yes  yes  yes  yes  yes  no   no   yes  yes  yes  no   no

stakeholder             yes  no   no   yes  no   no   yes  no   yes  yes  yes  yes  yes  yes  yes
constant                no   no   no   yes  no   yes  no   yes  ?    yes  yes  yes  yes  yes  yes
"""

MOST_ACTIONS = {"ranked_pairs": 8}  # with more actions, ties between margins fall to the declared order


@dataclass(frozen=True)
class Claim:
    """Whether a rule has an axiom on all E.

    Attributes
    ----------
    holds
        True: never violated. False: violated on some E.
    because
        Why it holds, with its source; or what the counterexample shows.
    counterexample
        E on which it fails, if it does.
    """

    holds: bool
    because: str
    counterexample: Counterexample | None = None

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        found = None
        if self.counterexample is not None:
            before, after = self.counterexample.matrices()
            found = {"before": before, "after": after}
        return {"holds": self.holds, "because": self.because, "counterexample": found}


def claim_about(rule: Strategy, axiom: str, n_stakeholders: int, n_actions: int) -> Claim | None:
    """Return what is known of a rule, or None if nothing is, or if its parameters are not the defaults.

    Parameters
    ----------
    rule
        Any rule.
    axiom
        Name of the axiom.
    n_stakeholders, n_actions
        Numbers in the E at hand. Claims are about two or more stakeholders; one alone is a dictator under most rules.
    """
    holds = CLAIMS.get((rule.name, axiom))
    if (
        n_stakeholders < 2
        or holds is None
        or n_actions > MOST_ACTIONS.get(rule.name, n_actions)
        or not has_default_parameters(rule)
    ):
        return None
    if not holds:
        return Claim(False, "a counterexample", counterexample(rule.name, axiom))
    reason = theorem(rule.name, axiom)
    assert reason is not None
    return Claim(True, reason.because)


def has_default_parameters(rule: Strategy) -> bool:
    """Return whether all parameters are the defaults; required ones may be anything, and weights equal."""
    for field in dataclasses.fields(rule):
        required = field.default is dataclasses.MISSING
        if not required and field.name != "weights" and getattr(rule, field.name) != field.default:
            return False
    return weights_are_equal(rule)


def read_table(text: str) -> dict[tuple[str, str], bool]:
    """Return (rule, axiom) → yes or no; what is open is left out."""
    head, *lines = (line.split() for line in text.splitlines() if line.strip())
    return {
        (rule, COLUMNS[column]): word == "yes"
        for rule, *words in lines
        for column, word in zip(head, words, strict=True)
        if word != "?"
    }


CLAIMS = read_table(TABLE)
