"""Constraints: any scoring rule, kept within bounds that somebody declared.

declaration           declared constraints as plain values
screening             in each context: floors, vetoes and prohibitions, and the rule among the actions they admit
budgets               over the batch: how often an action may be taken
parity                over the batch: how far rates of groups may differ; alone it is solved as a window, exact and fast
batch                 what these share: scores and plans; the choice between two sides in each context
programme             several budgets, or budgets with parity: a linear programme, and how large ones are solved
constrained_strategy  the registered strategy
price                 what the constraints cost
"""

from __future__ import annotations

from accordant.strategies.constraints.constrained_strategy import Constrained
from accordant.strategies.constraints.price import Price, price_of

__all__ = ["Constrained", "Price", "price_of"]
