"""Influence: who really decides.

    pivotal(rule, E)      in which contexts would another action be taken without somebody, or with other weights
    influence(rule, E)    Shapley and Banzhaf values of the game of who is heard

absence.py says what it means for a rule that somebody is not heard, influence.py makes a game of it, power.py shares
the decisions among the players.
"""

from __future__ import annotations

from accordant.explanation.influence.influence import Influence, influence
from accordant.explanation.influence.pivotal import Pivotal, Variation, pivotal
from accordant.explanation.influence.power import PowerIndex

__all__ = ["Influence", "Pivotal", "PowerIndex", "Variation", "influence", "pivotal"]
