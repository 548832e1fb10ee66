"""`smallest_weight_changes`: which weights are looked for, and how."""

from __future__ import annotations

from accordant.arrays import Values
from accordant.certificates import Known
from accordant.explanation.influence.absence import weighing, weights_of
from accordant.explanation.weights.changes import Found, WeightChanges
from accordant.explanation.weights.grid_search import changes_found
from accordant.explanation.weights.linear import LINEAR, components, exact_changes
from accordant.explanation.weights.trial import Trial
from accordant.strategies.deciding import ContextRule
from accordant.strategies.strategy import Strategy
from accordant.utilities import ExpectedRewards

# weights above 0 are all alike to them; see the class of each rule
INDIFFERENT_TO_WEIGHTS = frozenset({"debate", "hurwicz", "kalai_smorodinsky", "leximin", "maximin"})


def smallest_weight_changes(
    rule: Strategy, expected: ExpectedRewards, known: Known | None = None
) -> tuple[WeightChanges, ...]:
    """Return, for every context, what other weights would have led to another decision.

    Parameters
    ----------
    rule
        Any strategy.
    expected
        E in a few contexts.
    known
        What the rule reads beside E in these contexts.
    """
    known = known or Known()
    weights = None if rule.structure() == "fixed" else weights_of(rule, len(expected.stakeholders))
    shares = None if weights is None else tuple(map(float, weights / weights.sum()))
    reason = ""
    if shares is None:
        reason = "the rule has no weights"
    elif rule.whole_batch:
        reason = "the rule decides a whole batch at once"
    elif weighing(rule).name in INDIFFERENT_TO_WEIGHTS:
        reason = "the rule does not ask how large a weight is, only whether it is above 0"
    if shares is None or weights is None or reason:
        return (WeightChanges(shares, "none", reason),) * expected.n_contexts
    parts = [slice(t, t + 1) for t in range(expected.n_contexts)]
    return tuple(_in_context(rule, expected.take(part), Known(**known.arguments(part)), weights) for part in parts)


def _in_context(rule: Strategy, here: ExpectedRewards, known: Known, weights: Values) -> WeightChanges:
    trial = Trial(rule, here, known, weights)
    method: Found
    proven = False
    if rule.name in LINEAR and isinstance(rule, ContextRule):
        method, (found, proven) = "exact", exact_changes(trial, components(rule, here))
    else:
        method, found = "numeric", changes_found(trial)
    nearest_first = tuple(sorted(found, key=lambda each: each.moved))
    return WeightChanges(tuple(map(float, trial.shares)), method, "", nearest_first, proven)
