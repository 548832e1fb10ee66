"""Settlement: named rules that fix the joint decision.

settlement.py           what all rules share: the registry, the utilities on the table, and the checks of them
bargaining.py           by utilities: bands that widen with time, a mediator, the largest product, no deal
alternating_offers.py   by the agents' concession strategies, offer by offer
division.py             by handing out: down a voted list, by lot, or contested units in turns
bands.py                the arithmetic of bands of acceptance
"""

from __future__ import annotations

from accordant.deliberation.settlement.settlement import Settlement, Table, settlements

__all__ = ["Settlement", "Table", "settlements"]
