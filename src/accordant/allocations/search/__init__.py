"""Options where feasible allocations are too many to list, exact extremes of additive utilities, and bounds.

best, worst            exact: serve by value per portion (of `accordant.allocations.enumeration`)
utility_range, scaled  the lowest and highest utility, and utilities on the scale that they span
pool                   allocations worth comparing
product_bound          no feasible allocation has a larger product of utilities
earliest_bound         no feasible allocation meets all bands 1 − t^e earlier
"""

from __future__ import annotations

from accordant.allocations.enumeration import best, worst
from accordant.allocations.search.bounds import earliest_bound, product_bound
from accordant.allocations.search.candidate_options import pool
from accordant.allocations.search.utility_scale import Range, Scaled, scaled, utility_range

__all__ = ["Range", "Scaled", "best", "earliest_bound", "pool", "product_bound", "scaled", "utility_range", "worst"]
