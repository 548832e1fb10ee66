"""Explanation: why a decision was taken, who moved it, and what would change it.

    explain(rule, E, rows=…)   one decision: scores, trade-offs, the smallest changes that lead to another one
    pivotal(rule, E)           in which contexts somebody's absence, silence or weight changes the decision
    influence(rule, E)         Shapley and Banzhaf values of who moves the decisions of a batch
    recourse(person, …)        what this person could change so that another action is decided
    for_person(explanation)    the same decision in plain words for the person whom it is about

What `explain` gathers can be asked for alone: `smallest_misreports`, `smallest_weight_changes`, `pivotal`.

Words used here: a stakeholder is *pivotal* in a context if the decision there hangs on it; the *radius* of a decision
is how far E may move, entry by entry, before another action can win; *exact* means that a report just beyond it is
known that does change the decision, *certified* that none up to it does.
"""

from __future__ import annotations

from accordant.explanation.contexts import ContextChanges, Neighbour, Support
from accordant.explanation.explanation import Explanation, as_document, explain, with_rows
from accordant.explanation.influence import Influence, Pivotal, PowerIndex, Variation, influence, pivotal
from accordant.explanation.labels import Labels
from accordant.explanation.letter import for_person
from accordant.explanation.misreports import Misreport, smallest_misreports
from accordant.explanation.person import Forecast, Person, Trait
from accordant.explanation.person_explanation import Addressee, PersonExplanation
from accordant.explanation.reasons import Measure, Reason, reason
from accordant.explanation.recourse import Change, Changeable, Recourse, recourse
from accordant.explanation.result import Choice, Comparison, Favourite, PivotalHere
from accordant.explanation.weights import NewWeights, WeightChanges, smallest_weight_changes

__all__ = [
    "Addressee", "Change", "Changeable", "Choice", "Comparison", "ContextChanges", "Explanation", "Favourite",
    "Forecast", "Influence", "Labels", "Measure", "Misreport", "Neighbour", "NewWeights", "Person",
    "PersonExplanation", "Pivotal", "PivotalHere", "PowerIndex", "Reason", "Recourse", "Support", "Trait",
    "Variation", "WeightChanges", "as_document", "explain", "for_person", "influence", "pivotal", "reason",
    "recourse", "smallest_misreports", "smallest_weight_changes", "with_rows",
]  # fmt: skip
