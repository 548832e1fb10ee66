"""The counterfactual flip test: whether other protected facts would have changed who gets what."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from accordant.allocations import Scenario
from accordant.deliberation.assessment.ledger import EQUAL
from accordant.deliberation.assessment.regrets import recorded
from accordant.deliberation.record import Deliberation
from accordant.errors import InputError, UnknownNameError
from accordant.randomness import generator, keyed_seed, keyed_uniform
from accordant.statistics import Estimate, mean_estimate

PERMUTATIONS = 20


@dataclass(frozen=True)
class FlipTest:
    """What changed when protected facts were permuted among patients and nothing else was.

    Attributes
    ----------
    facts
        Which facts were permuted, together: a patient gets all of them from one other patient.
    permutations
        How many permutations.
    touched
        Mean share of patients whose facts really changed.
    rates
        ``solo NAME``, ``revised NAME`` and ``joint`` to the share of patients whose share of demand changed, mean over
        permutations. Exactly 0 for a first proposal that cannot see these facts. Not defined if the test is empty.
    """

    facts: tuple[str, ...]
    permutations: int
    touched: float
    rates: Mapping[str, Estimate]

    @property
    def empty(self) -> bool:
        """Whether no permutation changed a fact of anybody, so that nothing was tested."""
        return self.touched == 0

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        return {
            "facts": list(self.facts),
            "permutations": self.permutations,
            "touched": self.touched,
            "empty": self.empty,
            "rates": {name: each.to_json() for name, each in self.rates.items()},
        }


def flip_test(
    scenario: Scenario,
    deliberate: Callable[[Scenario], Deliberation],
    *,
    facts: Sequence[str] | None = None,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
) -> FlipTest:
    """Permute protected facts, deliberate again with the same seed, and count the patients who get another share.

    Parameters
    ----------
    scenario
        With all facts.
    deliberate
        Runs the whole deliberation on a scenario; must use one seed throughout.
    facts
        Which to permute; None for the protected ones.
    permutations
        At least 1.
    seed
        Of the permutations; they depend on it and on patients' ids alone.

    Raises
    ------
    InputError
        If there is no fact or no permutation.
    UnknownNameError
        If a fact does not exist.
    """
    names = tuple(scenario.protected if facts is None else facts)
    for name in names:
        if name not in scenario.facts:
            raise UnknownNameError("fact", name, scenario.facts)
    if not names or permutations < 1:
        raise InputError(f"{len(names)} facts and {permutations} permutations are given; allowed: at least 1 of each")
    before = {name: each.shares for name, each in recorded(deliberate(scenario)).items()}
    changed: dict[str, list[float]] = {name: [] for name in before}
    touched = []
    for number in range(permutations):
        other = permuted(scenario, names, keyed_seed(seed, f"flip {number}"))
        touched.append(
            np.mean([a.facts != b.facts for a, b in zip(scenario.patients, other.patients, strict=True)])
        )  # fmt: skip
        for name, each in recorded(deliberate(other)).items():
            changed[name].append(float((np.abs(each.shares - before[name]) > EQUAL).mean()))
    known = any(touched)
    rates = {
        name: mean_estimate(shares if known else (), generator(keyed_seed(seed, name), "resamples"), within=(0, 1))
        for name, shares in changed.items()
    }
    return FlipTest(names, permutations, float(np.mean(touched)), rates)


def permuted(scenario: Scenario, facts: Sequence[str], seed: int) -> Scenario:
    """Return the scenario with some facts handed on among patients, all of them by one permutation."""
    order = np.argsort(keyed_uniform(seed, scenario.ids), kind="stable")
    for name in facts:
        scenario = scenario.with_facts(name, list(scenario.column(name)[order]))
    return scenario
