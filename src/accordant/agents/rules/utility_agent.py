"""`UtilityAgent`: a stakeholder who states what granting each patient is worth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from accordant.agents.agent import agents
from accordant.agents.concession import Concession
from accordant.agents.frameworks import Grounds
from accordant.agents.rules.rule import RuleAgent
from accordant.agents.view import View
from accordant.allocations import AdditiveUtility, Scenario
from accordant.errors import InputError, UnknownNameError


def stated_utility(scenario: Scenario, values: Mapping[str, float]) -> AdditiveUtility:
    """Return the utility of stated values; who is not named is worth 0.

    Raises
    ------
    UnknownNameError
        If a patient who is named does not exist.
    """
    for patient in values:
        if patient not in scenario.ids:
            raise UnknownNameError("patient", patient, scenario.ids)
    return AdditiveUtility(np.array([values.get(patient, 0.0) for patient in scenario.ids], dtype=np.float64))


@agents.register("utility")
class UtilityAgent(RuleAgent):
    """A rule agent with stated values; it is shown no facts.

    Parameters
    ----------
    name
        Unique in a deliberation.
    values
        Patient to the worth of meeting the whole demand; who is not named is worth 0.
    concession
        A strategy, or the name of one.

    Raises
    ------
    InputError
        If the values are no mapping, or one is not a finite number.
    """

    about = "Rule agent, no language model: follows stated values of patients; its texts are templates over numbers."

    def __init__(self, name: str, values: Mapping[str, float], concession: str | Concession = "linear") -> None:
        super().__init__(name, concession)
        self.facts = ()
        if not isinstance(values, Mapping):
            raise InputError(f"values is {values!r:.60}; allowed: patients with what each is worth")
        for patient, value in values.items():
            if isinstance(value, bool) or not isinstance(value, int | float) or not np.isfinite(value):
                raise InputError(f"the stated value of patient {patient!r} is {value!r}; allowed: a finite number")
        self.values = dict(values)

    def utility(self, view: View) -> AdditiveUtility:
        """Return the stated values as a utility."""
        return stated_utility(view.scenario, self.values)

    def grounds(self, view: View, patient: int) -> Grounds:
        """Return the stated value."""
        return Grounds("stated", (), f"stated value {self.values.get(view.scenario.ids[patient], 0.0):g}")

    def to_json(self) -> dict[str, Any]:
        """Return what a transcript says of the agent, with its values."""
        return super().to_json() | {"values": dict(sorted(self.values.items()))}
