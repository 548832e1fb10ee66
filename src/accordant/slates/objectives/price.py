"""Price: what the item costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from accordant.errors import InputError
from accordant.slates.catalogue import Catalogue, Requests
from accordant.slates.objectives.objective import Objective, register
from accordant.slates.state import State


@register("price")
@dataclass(frozen=True)
class Price(Objective):
    """min(1, price / reference) [ours].

    Parameters
    ----------
    reference
        A budget for one item, in the currency of prices, above 0; None for the highest known price.
    """

    about: ClassVar[str] = "as dear as the reference, or dearer"
    reference: float | None = None

    def __post_init__(self) -> None:
        if self.reference is not None and not 0 < self.reference < np.inf:
            raise InputError(f"reference is {self.reference}; allowed: a price above 0, or nothing")

    def scores(self, catalogue: Catalogue, requests: Requests, state: State) -> NDArray[np.float64]:
        """Return price over reference, shape (item, 1); NaN where it is unknown, 0 for all if everything is free."""
        del requests, state
        price = catalogue.price
        known = price[~np.isnan(price)]
        if (known < 0).any() or np.isinf(known).any():
            raise InputError(f"a price is {known.min()} or infinite; allowed: numbers of at least 0, NaN where unknown")
        top = float(known.max(initial=0.0)) if self.reference is None else self.reference
        return np.minimum(1.0, price / (top if top > 0 else 1.0))[:, None]
