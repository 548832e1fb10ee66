"""`Rights`: every claim is equal, and who can be rescued from the worst must not be left out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from accordant.agents.frameworks.fact_values import read_numbers
from accordant.agents.frameworks.framework import Framework, Grounds, register
from accordant.agents.frameworks.orders import order_values
from accordant.agents.parameters import number
from accordant.allocations import AdditiveUtility, Scenario
from accordant.errors import InputError, UnknownNameError
from accordant.randomness import keyed_uniform

ORDERS = ("lottery", "arrival")
MOST_ACUTE = 1  # acuity runs from 1, the worst, to 5
WHOLE = 1.0 - 1e-9  # a share from here on is the whole demand, but for rounding


@register("rights", aliases=("deontological",))
@dataclass(frozen=True)
class Rights(Framework):
    """Everybody's claim is equal, under a duty of rescue that no sum of benefits outweighs (Kant 1785; Scanlon 1998).

    The duty: nobody with acuity 1 and p_with above τ goes without a part of the demand while anybody else is granted
    anything, whether less acute or beyond rescue. Between claims decides a lottery or the arrival. No attribute of a
    person is read besides acuity, p_with and, if chosen, arrival.

    Parameters
    ----------
    threshold
        τ in [0, 1]: from which chance on rescue is owed.
    order
        ``lottery`` by id, or ``arrival``.

    Raises
    ------
    InputError
        If τ is not in [0, 1].
    UnknownNameError
        If there is no such order.
    """

    title: ClassVar[str] = "Rights"
    claim: ClassVar[str] = "Every claim is equal; who can be rescued from the gravest danger must not be left out."
    code: ClassVar[str] = "right_to_rescue"
    sees = ("acuity", "p_with")

    threshold: float = 0.2
    order: Literal["lottery", "arrival"] = "lottery"

    def __post_init__(self) -> None:
        if not 0 <= number(self.threshold, "threshold") <= 1:
            raise InputError(f"threshold is {self.threshold}; allowed: 0 to 1")
        if self.order not in ORDERS:
            raise UnknownNameError("order of the framework 'rights'", self.order, ORDERS)
        if self.order == "arrival":
            object.__setattr__(self, "sees", (*type(self).sees, "arrival"))

    def utility(self, scenario: Scenario, seed: int) -> AdditiveUtility:
        """Return Σ_i x_i v_i with v_i the lot drawn for the id, or the share of patients who arrived no earlier."""
        if self.order == "arrival":
            return AdditiveUtility(order_values(-read_numbers(scenario, "arrival")))
        return AdditiveUtility(self.lots(scenario, seed))

    def lots(self, scenario: Scenario, seed: int) -> NDArray[np.float64]:
        """Return the lot of each patient, shape (patient,), in [0, 1); drawn apart from those of other frameworks."""
        return keyed_uniform(seed, (f"{self.name}:{patient}" for patient in scenario.ids))

    def owed(self, scenario: Scenario) -> NDArray[np.bool_]:
        """Return who has a right to rescue, shape (patient,)."""
        needing = scenario.demand.sum(axis=1) > 0
        acute = read_numbers(scenario, "acuity") == MOST_ACUTE
        return np.asarray(needing & acute & (read_numbers(scenario, "p_with") > self.threshold))

    def violations(self, scenario: Scenario, shares: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return how many with a right to rescue lack a part while somebody without that right is granted anything."""
        owed = self.owed(scenario)
        others = ~owed & (scenario.demand.sum(axis=1) > 0)
        lacking = (shares[:, owed] < WHOLE).sum(axis=1)
        return np.asarray(lacking * (shares[:, others] > 0).any(axis=1), dtype=np.int64)

    def binds(self, scenario: Scenario) -> bool:
        """Return whether anybody has a right to rescue."""
        return bool(self.owed(scenario).any())

    def grounds(self, scenario: Scenario, seed: int, patient: int) -> Grounds:
        """Return the right to rescue, or the lot or arrival that decides between equal claims."""
        facts = scenario.patients[patient].facts
        if self.owed(scenario)[patient]:
            chance = float(read_numbers(scenario, "p_with")[patient])
            text = f"acuity {MOST_ACUTE}, p_with {chance:.2f} above {self.threshold:.2f}"
            return Grounds(self.code, ("acuity", "p_with"), text)
        if self.order == "arrival":
            return Grounds("arrival", ("arrival",), f"arrival {facts['arrival']}")
        return Grounds("equal_chance", (), f"lot {self.lots(scenario, seed)[patient]:.2f}")
