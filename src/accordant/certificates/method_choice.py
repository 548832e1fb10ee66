"""`method_for`: which method serves which rule.

| dependence of the rule on E | method | result |
|---|---|---|
| not at all | `Fixed` | exact |
| each action judged by its own column | `ColumnScores`, `ColumnOrder` (columns.py) | exact |
| the same, with peaks inside the scale | `PeakedColumns` (columns.py) | sound, exact but for ties |
| registered by name: reference points from the context, ballots | a module of ``pairwise/``, ``ballots/`` | each says |
| any other | `Unknown` | sound, because nothing is ruled out |
"""

from __future__ import annotations

from accordant.certificates.columns import ColumnOrder, ColumnScores, PeakedColumns
from accordant.certificates.method import Fixed, Method, Unknown, methods
from accordant.strategies.strategy import Strategy


def method_for(rule: Strategy, n_actions: int, *, frozen: bool) -> Method:
    """Return the sharpest method for a rule and its parameters.

    Parameters
    ----------
    rule
        Any strategy.
    n_actions
        Number of actions.
    frozen
        Whether reference points stay where honest reports put them.
    """
    structure = rule.structure(frozen=frozen)
    if structure == "fixed" or n_actions == 1:
        return Fixed()
    if structure == "column_score":
        return ColumnScores()
    if structure == "column_peaked":
        return PeakedColumns()
    if structure == "column_order":
        return ColumnOrder()
    if rule.name in methods and not rule.whole_batch:
        method = methods.create(rule.name)
        if method.serves(rule, n_actions):
            return method
    return Unknown()
