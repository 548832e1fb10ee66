"""Constraints: any scoring rule, kept within bounds that somebody declared.

floors, vetoes, forbidden     in each context: what an action must leave a stakeholder; what must not be done
budgets, parity               over the batch: how often an action may be taken; how far rates of groups may differ
screening                     the rule restricted to the actions that a context admits
batch, exchange               what these share: scores and plans; the choice between two sides in each context
window                        parity alone, exact and fast
coupling, programme, sifting  several budgets, or budgets with parity: a linear programme, and how large ones are solved
constrained                   the registered strategy
price                         what the constraints cost
"""

from __future__ import annotations

from accordant.strategies.constraints.constrained import Constrained
from accordant.strategies.constraints.price import Price, price_of

__all__ = ["Constrained", "Price", "price_of"]
