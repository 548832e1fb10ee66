"""The smallest change of a context, within what was observed, that goes with another decision.

Only observed contexts, and observed values of single features, are tried: nothing is said about people who are unlike
anybody seen. What is found are associations of the models that made E, not causes: it does not say that a person who
changed a feature would be treated so.

changes.py holds the results, distances.py says how far apart two contexts are, support.py looks through those observed.
"""

from __future__ import annotations

from accordant.explanation.contexts.changes import ContextChanges, Difference, Neighbour
from accordant.explanation.contexts.support import Decide, Support

__all__ = ["ContextChanges", "Decide", "Difference", "Neighbour", "Support"]
