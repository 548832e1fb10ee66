"""The section ``population``: a rule for the whole policy, fitted on a dataset, beside what the run learned."""

from __future__ import annotations

from typing import Any, ClassVar

from accordant.naming import listed
from accordant.sections import Figure, Number, Part, Section, sections


class StakeholderFit(Part):
    """What one stakeholder gets of a population.

    Attributes
    ----------
    stakeholder
        Name.
    multiplier, multiplier_of_run
        How many times the weight counts, λ_i / p_i: fitted on these rows, and by the run on its training rows.
    mean, mean_of_run
        Mean expected reward of the decisions at each of the two, in [0, 1].
    best
        The same of the best policy, which may draw where actions tie.
    """

    stakeholder: str
    multiplier: Figure
    multiplier_of_run: Figure
    mean: Figure
    mean_of_run: Figure
    best: Figure


class PopulationFit(Part):
    """The rule on some rows.

    Attributes
    ----------
    group
        Value of the attribute that divides the rows; None for all rows together.
    rows
        How many there are.
    value
        Welfare of the best policy: its smallest mean, or for Nash Σ_i w_i log(u_i − d_i).
    gap
        What any other policy could add to it at most; for leximin, to Σ_i λ_i u_i.
    passes
        Readings of E until λ was known.
    stakeholders
        What everybody gets.
    """

    group: str | None
    rows: int
    value: Number
    gap: Number
    passes: int
    stakeholders: tuple[StakeholderFit, ...]


@sections.register("population")
class FittedPopulation(Section):
    """A rule for the whole policy, fitted on the rows of a dataset.

    Attributes
    ----------
    accordant
        Version of the program.
    run_sha256
        Hash of the run's manifest.
    strategy
        Label of the rule.
    rule
        Its registered name and parameters, multipliers among them: ``strategies.create(name, parameters)``.
    inputs
        Hash of the rows of each part of the dataset, in order.
    fits
        All rows together, and each group if the rule decides by groups.
    """

    name: ClassVar[str] = "population"
    version: ClassVar[int] = 1

    accordant: str
    run_sha256: str
    strategy: str
    rule: dict[str, Any]
    inputs: tuple[str, ...]
    fits: tuple[PopulationFit, ...]

    @property
    def together(self) -> PopulationFit:
        """All rows together."""
        return self.fits[0]

    @property
    def words(self) -> str:
        """How often everybody counts on these rows."""
        counted = [f"{fit.multiplier:.3g} for {fit.stakeholder}" for fit in self.together.stakeholders]
        return f"{self.strategy} on {self.together.rows:,} rows: an expected reward counts {listed(counted)}."
