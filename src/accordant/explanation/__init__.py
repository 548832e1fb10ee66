"""Explanation: why a decision was taken, who moved it, and what would change it.

    explain(rule, E, rows=…)   one decision: scores, trade-offs, the smallest changes that lead to another one
    pivotal(rule, E)           in which contexts somebody's absence, silence or weight changes the decision
    influence(rule, E)         Shapley and Banzhaf values of who moves the decisions of a batch

What `explain` gathers can be asked for alone: `smallest_misreports`, `smallest_weight_changes`, `pivotal`.

Words used here: a stakeholder is *pivotal* in a context if the decision there hangs on it; the *radius* of a decision
is how far E may move, entry by entry, before another action can win; *exact* means that a report just beyond it is
known that does change the decision, *certified* that none up to it does.
"""

from __future__ import annotations

from accordant.explanation.contexts import ContextChanges, Neighbour, Support
from accordant.explanation.explanation import Explanation, as_document, explain, with_rows
from accordant.explanation.influence import Influence, Pivotal, PowerIndex, Variation, influence, pivotal
from accordant.explanation.misreports import Misreport, smallest_misreports
from accordant.explanation.result import Choice, Comparison, Favourite, PivotalHere
from accordant.explanation.weights import NewWeights, WeightChanges, smallest_weight_changes

__all__ = [
    "Choice", "Comparison", "ContextChanges", "Explanation", "Favourite", "Influence", "Misreport", "Neighbour",
    "NewWeights", "Pivotal", "PivotalHere", "PowerIndex", "Support", "Variation", "WeightChanges", "as_document",
    "explain", "influence", "pivotal", "smallest_misreports", "smallest_weight_changes", "with_rows",
]  # fmt: skip
