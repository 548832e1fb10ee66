"""Axioms: properties that a rule has on all E, or fails on some, checked on the E at hand.

Words used here:

    winners      all actions at the best score
    decision     the winner that the tie rule takes
    ranking      the order of all actions by score
    judged       contexts in which an axiom was put to the test, because its premise held
    violated     those of them in which it failed; the first is the witness
    claim        what is known for all E: by theorem, or by a counterexample

An axiom is a registered class, or a row of a table where several change E alike; a check changes whole batches of E
from a seeded generator and applies the rule to all contexts at once::

    axioms.create("monotonicity").check(strategies.instant_runoff, E).witness
    axiom_table(rules_for(E), E).satisfied("utilitarian", "scale_invariance")
"""

from __future__ import annotations

from accordant.axioms.axiom import Axiom, Finding, Setting, Situation, Trial, Witness, axioms, register
from accordant.axioms.sample import sample
from accordant.axioms.subjects import rules_for
from accordant.axioms.table import AxiomTable, Cell, arrow, axiom_table, gibbard_satterthwaite

create = axioms.create
names = axioms.names

__all__ = [
    "Axiom", "AxiomTable", "Cell", "Finding", "Setting", "Situation", "Trial", "Witness", "arrow", "axiom_table",
    "axioms", "create", "gibbard_satterthwaite", "names", "register", "rules_for", "sample",
]  # fmt: skip
