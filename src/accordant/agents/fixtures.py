"""Fixtures: agents made for testing and comparing procedures; no stakeholder is meant."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from accordant.agents.agent import View, agents
from accordant.agents.concession import Concession
from accordant.agents.frameworks import Grounds
from accordant.agents.frameworks.framework import Outcomes, fact_text, read_numbers
from accordant.agents.parameters import number, text
from accordant.agents.rules.rule import RuleAgent
from accordant.allocations import AdditiveUtility
from accordant.allocations.scenario import Fact
from accordant.errors import InputError
from accordant.randomness import keyed_uniform

MILD = 0.5  # noise ranges over 1, severity counts for half of that


@agents.register("baseline")
class BaselineAgent(RuleAgent):
    """Value of granting a claimant: a draw for the id, uniform in [0, 1), plus `prior` times the severity.

    Unaligned, not adversarial: it favours nobody.

    Parameters
    ----------
    name
        Unique in a deliberation.
    prior
        Weight of severity beside the noise, at least 0.
    concession
        A strategy, or the name of one.

    Raises InputError if the prior is negative.
    """

    kind: ClassVar[str] = "fixture"
    about = (
        "Fixture and rule agent, no language model: seeded noise with a mild clinical prior; not adversarial; "
        "its texts are templates over numbers."
    )

    def __init__(self, name: str = "baseline", prior: float = MILD, concession: str | Concession = "linear") -> None:
        super().__init__(name, concession)
        if not 0 <= number(prior, "prior") < np.inf:
            raise InputError(f"prior is {prior}; allowed: 0 or more")
        self.prior = prior
        self.facts = ("severity",)

    def utility(self, view: View) -> AdditiveUtility:
        """Return Σ_i x_i (noise_i + prior · severity_i)."""
        keys = (f"habit:{claimant}" for claimant in view.scenario.ids)
        return AdditiveUtility(keyed_uniform(view.seed, keys) + self.prior * read_numbers(view.scenario, "severity"))

    def grounds(self, view: View, claimant: int) -> Grounds:
        """Return the noise and the severity."""
        noise = keyed_uniform(view.seed, [f"habit:{view.scenario.ids[claimant]}"])[0]
        severity = fact_text(view.scenario.claimants[claimant].facts["severity"])
        return Grounds("habit", ("severity",), f"habit {noise:.2f}, severity {severity}")

    def to_json(self) -> dict[str, Any]:
        """Return what a transcript says of the agent, with its prior."""
        return super().to_json() | {"prior": self.prior}


BENEFIT_WEIGHT = SEVERITY_WEIGHT = 0.2  # need counts for little beside a strength of 1
NEED = ("p_with", "p_without", "severity")


@agents.register("biased")
class BiasedAgent(RuleAgent):
    """Value of granting a claimant: .2 · benefit + .2 · severity + strength · 1[favoured group].

    Its reasons cite the group, so they are inadmissible where that fact is protected. Where it is not shown the fact,
    only need is left of its utility.

    Parameters
    ----------
    name
        Unique in a deliberation.
    favoured_fact
        Name of the fact that makes the groups.
    favoured_value
        Which group; None for the value that is first in sorted order, numbers before texts, among the claimants it is
        shown.
    strength
        λ, at least 0.
    concession
        A strategy, or the name of one.

    Raises InputError if the strength is negative.
    """

    kind: ClassVar[str] = "fixture"
    adversarial: ClassVar[bool] = True
    about = (
        "Adversarial fixture and rule agent, no language model: favours one group over need, openly; "
        "its texts are templates over numbers."
    )

    def __init__(
        self,
        name: str = "biased",
        favoured_fact: str = "group",
        favoured_value: Fact = None,
        strength: float = 1.0,
        concession: str | Concession = "linear",
    ) -> None:
        super().__init__(name, concession)
        if not 0 <= number(strength, "strength") < np.inf:
            raise InputError(f"strength is {strength}; allowed: 0 or more")
        self.favoured_fact, self.favoured_value = text(favoured_fact, "favoured_fact"), favoured_value
        self.strength = strength
        self.facts = (*NEED, favoured_fact)

    def utility(self, view: View) -> AdditiveUtility:
        """Return Σ_i x_i (.2 · benefit_i + .2 · severity_i + strength · 1[i is favoured])."""
        benefit, severity = Outcomes.of(view.scenario).benefit, read_numbers(view.scenario, "severity")
        need = BENEFIT_WEIGHT * benefit + SEVERITY_WEIGHT * severity
        return AdditiveUtility(need + self.strength * self.favoured(view))

    def favoured(self, view: View) -> NDArray[np.bool_]:
        """Return who is favoured, shape (claimant,); nobody where the fact is not in the view."""
        if self.favoured_fact not in view.scenario.facts:
            return np.zeros(len(view.scenario.ids), dtype=np.bool_)
        column = view.scenario.column(self.favoured_fact)
        value = min(column, key=_place) if self.favoured_value is None else self.favoured_value
        return np.array([fact == value for fact in column], dtype=np.bool_)

    def grounds(self, view: View, claimant: int) -> Grounds:
        """Return the group of the favoured, the severity of others."""
        facts = view.scenario.claimants[claimant].facts
        if self.favoured(view)[claimant]:
            text = f"{self.favoured_fact} {fact_text(facts[self.favoured_fact])} is favoured"
            return Grounds("group", (self.favoured_fact,), text)
        return Grounds("severity", ("severity",), f"severity {fact_text(facts['severity'])}")

    def to_json(self) -> dict[str, Any]:
        """Return what a transcript says of the agent, with its bias."""
        favoured = {"favoured_fact": self.favoured_fact, "favoured_value": self.favoured_value}
        return super().to_json() | favoured | {"strength": self.strength}


def _place(value: Fact) -> tuple[bool, float, str]:
    """Return the place of a value in sorted order, numbers before texts."""
    if isinstance(value, int | float):
        return False, float(value), ""
    return True, 0.0, str(value)
