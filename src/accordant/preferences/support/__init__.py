"""Support rates: how many other users share a preference, per record and per user.

rates.py       `SupportRates`, what every estimator returns
counts.py      from those who compared the same two items
pooled.py      as predicted by a model of the other users together
types.py       as predicted by hidden types of users
sight.py       whether a model can know anything of a record
estimation.py  `support_rates`, which calls one of them
"""

from __future__ import annotations

from accordant.preferences.support.estimation import Estimator, support_rates
from accordant.preferences.support.rates import SupportRates

__all__ = ["Estimator", "SupportRates", "support_rates"]
