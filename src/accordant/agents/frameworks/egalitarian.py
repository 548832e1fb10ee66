"""`Egalitarian`: equal chances, or equal access of groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from accordant.agents.frameworks.framework import Framework, Grounds, register
from accordant.agents.parameters import text
from accordant.allocations import AdditiveUtility, Scenario, Utility
from accordant.errors import InputError, UnknownNameError
from accordant.randomness import keyed_uniform

FORMS = ("lottery", "group_gap")


@dataclass(frozen=True, eq=False)
class GroupGap:
    """Minus the gap in access between groups: the least mean share of a group less the greatest, in [−1, 0].

    Attributes
    ----------
    group
        Name of the fact that makes the groups.
    members
        Whether a patient is in a group, shape (group, patient); no group is empty.
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
        ``lottery``: value of granting a patient is the lot drawn for the id, uniform in [0, 1). ``group_gap``: of an
        allocation, minus the gap in access between groups.
    group
        The fact that makes the groups; for ``group_gap`` alone. Where it is protected, reasons that cite it are
        inadmissible, as everybody's are.

    Raises
    ------
    UnknownNameError
        If there is no such form.
    InputError
        If the form and the group do not go together.
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
        """Return the lot of each patient, shape (patient,), in [0, 1); drawn apart from those of other frameworks."""
        return keyed_uniform(seed, (f"{self.name}:{patient}" for patient in scenario.ids))

    def grounds(self, scenario: Scenario, seed: int, patient: int) -> Grounds:
        """Return the lot, or the group."""
        if self.group is not None:
            return super().grounds(scenario, seed, patient)
        return Grounds(self.code, (), f"lot {self.lots(scenario, seed)[patient]:.2f}")
