"""The smallest change of the stakeholder weights that would have changed a decision.

Only shares of the weight matter. Two kinds of change are looked for:

* *shift*: any new shares; the smallest amount of share that must pass from some stakeholders to others. Exact, and
  known only for rules whose scores are linear in the shares (linear.py).
* *more* and *less*: the share of one stakeholder rises or falls, the others keep their proportions. Exact for the same
  rules; for all others the first change on a grid of shares, made precise by bisection (grid_search.py).

Everything that is found is decided again at the new weights (trial.py).
"""

from __future__ import annotations

from accordant.explanation.weights.changes import NewWeights, WeightChanges
from accordant.explanation.weights.smallest import smallest_weight_changes

__all__ = ["NewWeights", "WeightChanges", "smallest_weight_changes"]
