"""Frameworks of claims and procedures: who has a claim, and in which order, whatever the outcome."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from accordant.agents.frameworks.framework import Framework, Grounds, order_values, read_numbers, register
from accordant.agents.parameters import number, text
from accordant.allocations import AdditiveUtility, Scenario, Utility
from accordant.errors import InputError, UnknownNameError
from accordant.randomness import keyed_uniform


@register("care")
@dataclass(frozen=True)
class Care(Framework):
    """Dependency first, arrival where that is level (ethics of care: Gilligan 1982; Tronto 1993; Kittay 1999).

    Value of granting a claimant: the share of claimants whom that one does not come after in the order of (dependency
    falling, arrival rising). It falls strictly along that order (`order_values`), so with places for K claimants of
    one unit each the greatest sum is that of the first K: exchanging one of them for a later claimant only lowers it.
    """

    title: ClassVar[str] = "Ethics of care"
    claim: ClassVar[str] = "Answer first to those who depend most on others' help."
    code: ClassVar[str] = "dependency"
    sees = ("dependency", "arrival")

    def utility(self, scenario: Scenario, seed: int) -> AdditiveUtility:
        """Return Σ_i x_i v_i."""
        del seed
        return AdditiveUtility(order_values(read_numbers(scenario, "dependency"), -read_numbers(scenario, "arrival")))


FORMS = ("lottery", "group_gap")


@dataclass(frozen=True, eq=False)
class GroupGap:
    """Minus the gap in access between groups: the least mean share of a group less the greatest, in [−1, 0].

    Attributes
    ----------
    group
        Name of the fact that makes the groups.
    members
        Whether a claimant is in a group, shape (group, claimant); no group is empty.
    """

    group: str
    members: NDArray[np.bool_]

    def of(self, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return minus the gap of each allocation, shape (option,)."""
        access = shares @ (self.members / self.members.sum(axis=1, keepdims=True)).T
        return np.asarray(access.min(axis=1) - access.max(axis=1))

    def to_json(self) -> Any:
        """Return the form and the fact."""
        return {"form": "group gap", "group": self.group}


@register("egalitarian")
@dataclass(frozen=True)
class Egalitarian(Framework):
    """Treat everybody alike: the same chance for each (Taurek 1977), or the same access for each group.

    Parameters
    ----------
    form
        ``lottery``: value of granting a claimant is the lot drawn for the id, uniform in [0, 1). ``group_gap``: of an
        allocation, minus the gap in access between groups.
    group
        The fact that makes the groups; for ``group_gap`` alone. Where it is protected, reasons that cite it are
        inadmissible, as everybody's are.

    Raises UnknownNameError if there is no such form; InputError if the form and the group do not go together.
    """

    title: ClassVar[str] = "Egalitarian"
    claim: ClassVar[str] = "Nobody's claim outweighs another's: give everybody the same chance."
    code: ClassVar[str] = "equal_chance"
    sees = ()

    form: Literal["lottery", "group_gap"] = "lottery"
    group: str | None = None

    def __post_init__(self) -> None:
        if self.form not in FORMS:
            raise UnknownNameError("form of the framework 'egalitarian'", self.form, FORMS)
        if (self.form == "group_gap") != (self.group is not None):
            raise InputError(f"form is {self.form!r} and group is {self.group!r}; only 'group_gap' takes a group")
        if self.group is not None:
            object.__setattr__(self, "sees", (text(self.group, "group"),))

    def utility(self, scenario: Scenario, seed: int) -> Utility:
        """Return Σ_i x_i lot_i, or minus the gap in access."""
        if self.group is None:
            return AdditiveUtility(self.lots(scenario, seed))
        column = scenario.column(self.group)
        return GroupGap(self.group, np.array([column == value for value in dict.fromkeys(column)], dtype=np.bool_))

    def lots(self, scenario: Scenario, seed: int) -> NDArray[np.float64]:
        """Return the lot of each claimant, shape (claimant,), in [0, 1); drawn apart from those of other frameworks."""
        return keyed_uniform(seed, (f"{self.name}:{claimant}" for claimant in scenario.ids))

    def grounds(self, scenario: Scenario, seed: int, claimant: int) -> Grounds:
        """Return the lot, or the group."""
        if self.group is not None:
            return super().grounds(scenario, seed, claimant)
        return Grounds(self.code, (), f"lot {self.lots(scenario, seed)[claimant]:.2f}")


@register("libertarian", aliases=("procedural",))
@dataclass(frozen=True)
class Libertarian(Framework):
    """Value of granting a claimant: the share of claimants who did not arrive earlier.

    What is just is how holdings came about, not who they go to (Nozick 1974); of procedures, first come, first served.
    """

    title: ClassVar[str] = "Libertarian"
    claim: ClassVar[str] = "Serve in order of arrival; do not rank persons."
    code: ClassVar[str] = "arrival"
    sees = ("arrival",)

    def utility(self, scenario: Scenario, seed: int) -> AdditiveUtility:
        """Return Σ_i x_i v_i with v_i the share of claimants who arrived no earlier than i, i included."""
        del seed
        return AdditiveUtility(order_values(-read_numbers(scenario, "arrival")))


RIGHTS_ORDERS = ("lottery", "arrival")
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

    Raises InputError if τ is not in [0, 1]; UnknownNameError if there is no such order.
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
        if self.order not in RIGHTS_ORDERS:
            raise UnknownNameError("order of the framework 'rights'", self.order, RIGHTS_ORDERS)
        if self.order == "arrival":
            object.__setattr__(self, "sees", (*type(self).sees, "arrival"))

    def utility(self, scenario: Scenario, seed: int) -> AdditiveUtility:
        """Return Σ_i x_i v_i with v_i the lot drawn for the id, or the share of claimants who arrived no earlier."""
        if self.order == "arrival":
            return AdditiveUtility(order_values(-read_numbers(scenario, "arrival")))
        return AdditiveUtility(self.lots(scenario, seed))

    def lots(self, scenario: Scenario, seed: int) -> NDArray[np.float64]:
        """Return the lot of each claimant, shape (claimant,), in [0, 1); drawn apart from those of other frameworks."""
        return keyed_uniform(seed, (f"{self.name}:{claimant}" for claimant in scenario.ids))

    def owed(self, scenario: Scenario) -> NDArray[np.bool_]:
        """Return who has a right to rescue, shape (claimant,)."""
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

    def grounds(self, scenario: Scenario, seed: int, claimant: int) -> Grounds:
        """Return the right to rescue, or the lot or arrival that decides between equal claims."""
        facts = scenario.claimants[claimant].facts
        if self.owed(scenario)[claimant]:
            chance = float(read_numbers(scenario, "p_with")[claimant])
            text = f"acuity {MOST_ACUTE}, p_with {chance:.2f} above {self.threshold:.2f}"
            return Grounds(self.code, ("acuity", "p_with"), text)
        if self.order == "arrival":
            return Grounds("arrival", ("arrival",), f"arrival {facts['arrival']}")
        return Grounds("equal_chance", (), f"lot {self.lots(scenario, seed)[claimant]:.2f}")
