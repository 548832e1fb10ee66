"""Deliberation joined with E: E from what agents state, what strategies choose on it, and the debate as a strategy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from accordant import strategies
from accordant.agents import Proposal
from accordant.agents.concession import concessions
from accordant.allocations import AdditiveUtility, Allocation
from accordant.allocations.allocation import Options
from accordant.allocations.enumeration import enumerate_options
from accordant.allocations.search import scaled
from accordant.deliberation.assessment.alternatives import CLOSE, alternatives, largest_sum, relative_utility
from accordant.deliberation.assessment.ledger import EQUAL
from accordant.deliberation.record import Deliberation
from accordant.deliberation.settlement.bands import STEPS, first_steps
from accordant.errors import InputError
from accordant.strategies import Strategy
from accordant.strategies.block import Block
from accordant.strategies.compromise import Compromise, Scored
from accordant.strategies.reference_points import INDIFFERENT
from accordant.strategies.strategy import Structure, register
from accordant.utilities import ExpectedRewards

GRANTING = ("Grant", "Not grant")
COMPARED = (
    "utilitarian", "maximin", "leximin", "nash_bargaining", "kalai_smorodinsky", "compromise_programming", "debate",
    "borda", "copeland", "approval",
)  # fmt: skip


def expected_rewards(deliberations: Sequence[Deliberation], *, options: Options | None = None) -> ExpectedRewards:
    """Return E[agent, allocation, deliberation]: the utility that settlement read, scaled to [0, 1] over the options.

    Parameters
    ----------
    deliberations
        With the same agents by name, and scenarios with the same ids, demands and capacities: their facts and seeds
        may differ, so that actions mean the same in every context.
    options
        The actions; None for all feasible allocations or, for a single deliberation with too many, those that a search
        found.

    Returns
    -------
    Expected rewards with agents as stakeholders, and actions called after the claimants who are granted anything; where
    that names two allocations alike, the amounts follow.

    Raises
    ------
    InputError
        If there is no deliberation, or they do not share agents, claimants, demands and capacities.
    """
    if not deliberations:
        raise InputError("expected rewards need at least one deliberation")
    first = deliberations[0]
    for deliberation in deliberations:
        _check_alike(first, deliberation)
    if options is None and len(deliberations) > 1:
        options = enumerate_options(first.scenario)
        if options is None:
            raise InputError("allocations are too many to list; give the options that all deliberations share")
    elif options is None:
        options = alternatives(first).options
    values = [
        [relative_utility(deliberation.utilities[name], options) for deliberation in deliberations]
        for name in first.utilities
    ]
    return ExpectedRewards(
        np.moveaxis(np.array(values), 1, 2), stakeholders=tuple(first.utilities), actions=names_of(options)
    )


def patient_rewards(deliberation: Deliberation, *, last: bool = True) -> ExpectedRewards:
    """Return E[agent, Grant or Not grant, claimant] from the values that agents state for claimants.

    The value v of a claimant becomes E = ½ + ½ v / max |v| for Grant and ½ − ½ v / max |v| for Not grant, with the
    maximum over the agent's claimants: an agent without opinion is indifferent. A strategy under a budget of Grant then
    allocates units. The mapping is ours; it loses nothing where utilities are additive and every demand is one unit.

    Parameters
    ----------
    deliberation
        A finished deliberation.
    last
        Whether to read the last proposals; otherwise the first ones.

    Raises
    ------
    InputError
        If an agent's utility is not a sum of values of claimants.
    """
    proposals = deliberation.revised if last else deliberation.solo
    grant = np.array([_relative_values(name, proposal) for name, proposal in proposals.items()])
    values = np.stack([(1 + grant) / 2, (1 - grant) / 2], axis=1)
    return ExpectedRewards(values, stakeholders=tuple(proposals), actions=GRANTING)


def names_of(options: Options) -> tuple[str, ...]:
    """Return a name for each option: the ids of those who are granted anything, with amounts if that is not enough."""
    ids = options.scenario.ids
    given = options.granted.sum(axis=2) > 0
    names = [" + ".join(compress(ids, row)) or "nobody" for row in given.tolist()]
    if len(set(names)) == len(names):
        return tuple(names)
    return tuple(
        " + ".join(
            f"{ids[place]} {'/'.join(map(str, granted[place].tolist()))}"
            for place in np.flatnonzero(granted.sum(axis=1))
        )
        or "nobody"
        for granted in options.granted
    )


def _check_alike(first: Deliberation, other: Deliberation) -> None:
    a, b = first.scenario, other.scenario
    if tuple(first.utilities) != tuple(other.utilities):
        raise InputError(f"agents are {', '.join(other.utilities)} in one and {', '.join(first.utilities)} in another")
    if a.ids != b.ids or not np.array_equal(a.demand, b.demand) or not np.array_equal(a.capacity, b.capacity):
        raise InputError(f"scenarios {a.name!r} and {b.name!r} differ in patients, demands or capacities")


def _relative_values(name: str, proposal: Proposal) -> np.ndarray:
    if not isinstance(proposal.utility, AdditiveUtility):
        raise InputError(f"the utility of agent {name!r} is no sum of values of patients")
    values = proposal.utility.values
    largest = float(np.abs(values).max())
    return values / largest if largest > 0 else values


@dataclass(frozen=True, eq=False)
class Choices:
    """What each strategy would have chosen from the agents' utilities.

    Attributes
    ----------
    allocations
        Label of the strategy to its allocation.
    tied
        Label to whether another allocation was as good by the strategy, so that its tie rule decided.
    agrees
        Label to whether the allocation is the joint decision.
    shared
        Label to the share of claimants who have the same share of demand in both.
    exact
        Label to whether this is the choice among all feasible allocations: they were all compared, or the strategy is
        the utilitarian one, all utilities add up over claimants, and no feasible allocation has a larger sum
        (`accordant.allocations.enumeration`). Otherwise another allocation, which the search did not find, may be
        chosen, and rules on pairs or ranks depend on what else was found.
    among
        How many allocations were compared.
    complete
        Whether these are all feasible ones.
    """

    allocations: Mapping[str, Allocation]
    tied: Mapping[str, bool]
    agrees: Mapping[str, bool]
    shared: Mapping[str, float]
    exact: Mapping[str, bool]
    among: int
    complete: bool

    @property
    def words(self) -> str:
        """Among what was chosen, such as ``among 1,000 allocations that a search found``."""
        if self.complete:
            return f"among all {self.among:,} feasible allocations"
        return f"among {self.among:,} allocations that a search found"

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        return {
            label: {
                "allocation": allocation.to_json(),
                "tied": self.tied[label],
                "agrees": self.agrees[label],
                "shared": self.shared[label],
                "exact": self.exact[label],
                "among": self.among,
                "words": self.words,
            }
            for label, allocation in self.allocations.items()
        }


def choices_by_strategy(
    deliberation: Deliberation, rules: Sequence[Strategy | str] = COMPARED, *, options: Options | None = None
) -> Choices:
    """Return what strategies would have chosen from the utilities that settlement read.

    Parameters
    ----------
    deliberation
        A finished deliberation.
    rules
        Strategies or their names. Rules on pairs of actions take time that grows with the square of the options.
    options
        What is chosen among; None for all feasible allocations or, where they are too many, those that a search found
        (`accordant.deliberation.assessment.alternatives`).

    Raises
    ------
    InputError
        If two rules have one label.
    """
    among = alternatives(deliberation).options if options is None else options
    made = [strategies.create(strategy) if isinstance(strategy, str) else strategy for strategy in rules]
    expected = expected_rewards([deliberation], options=among) if made else None
    allocations, tied, exact = {}, {}, {}
    for rule in made:
        assert expected is not None
        if rule.label in allocations:
            raise InputError(f"two rules have the label {rule.label!r}")
        decided = rule(expected)
        allocations[rule.label] = among.allocation(int(decided.codes[0]))
        tied[rule.label] = bool(decided.tied[0])
        exact[rule.label] = among.complete or _largest(deliberation, rule, allocations[rule.label])
    joint = deliberation.joint
    return Choices(
        allocations, tied,
        {label: allocation == joint for label, allocation in allocations.items()},
        {
            label: float((abs(allocation.shares - joint.shares) <= EQUAL).mean())
            for label, allocation in allocations.items()
        },
        exact, len(among), among.complete,
    )  # fmt: skip


def _largest(deliberation: Deliberation, rule: Strategy, chosen: Allocation) -> bool:
    """Return whether a choice of the utilitarian strategy is known to have the largest sum of all allocations."""
    if rule != strategies.create("utilitarian"):
        return False
    largest = largest_sum(deliberation)
    if largest is None:
        return False
    scale = scaled(deliberation.scenario, list(deliberation.utilities.values()))
    sums = scale.of(np.array([chosen.shares, largest.shares])).sum(axis=0)
    return bool(sums[0] >= sums[1] - CLOSE)


@register("debate")
@dataclass(frozen=True)
class Debate(Compromise):
    """Let every stakeholder speak for its own row of E, and settle by the bargain rule of a debate.

    In each context E[i, :, t] is scaled to u_i in [0, 1], from the stakeholder's worst action to its best; who is
    indifferent has 1 throughout. At time τ = 0, 1/60, …, 1 stakeholder i accepts every action with u_i ≥ 1 − τ^e_i.
    The action that is accepted by all first is chosen; of several, that with the largest product ∏_i u_i. What is
    still level is tied, and ties go to the utilitarian sum, then to the declared order, as with every strategy.

    The score is Φ = (61 − k + ½ ∏_i u_i) / 61.5 in (0, 1], if all accept at τ = k/60 for the first time, and 0 if
    they never do. Where no action is ever accepted by all, because two stakeholders insist on different ones, the
    context is flagged ``no_agreement`` and the tie rule decides.

    With one exponent for everybody this is Kalai–Smorodinsky on a grid: first accepted is the action whose smallest u_i
    reaches the lowest step, so the decision differs from Kalai–Smorodinsky with context reference points only among
    actions of one step, where the product decides. With different exponents whoever concedes late is served better:
    that is a lever of the procedure, not a merit of the stakeholder. The rule is ours, on the time-dependent tactics of
    Faratin, Sierra and Jennings (1998).

    Parameters
    ----------
    concession
        How stakeholders concede: the name of a concession strategy that depends on time alone (``linear``,
        ``boulware``, ``conceder``, ``hardheaded``, …), or one name for each. `weights` count only as 0 or above.

    Raises
    ------
    UnknownNameError
        If a concession strategy is not registered.
    InputError
        If one has no exponent, or there is another number of names than stakeholders.
    """

    dependence: ClassVar[Structure] = "other"

    concession: str | tuple[str, ...] = "linear"

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in (self.concession,) if isinstance(self.concession, str) else self.concession:
            exponent_of(name)

    @property
    def label(self) -> str:
        """Name, and how stakeholders concede if that is not linear for all."""
        shown = self.concession if isinstance(self.concession, str) else ", ".join(self.concession)
        return super().label if shown == "linear" else super().label.replace(self.name, f"{self.name}[{shown}]", 1)

    def structure(self, *, frozen: bool = False) -> Structure:
        """Columns are judged by themselves if worst and best stay where honest reports put them."""
        return "column_score" if frozen else self.dependence

    def exponents(self, n_stakeholders: int) -> NDArray[np.float64]:
        """Return the exponent of each stakeholder, shape (stakeholder,)."""
        names = (self.concession,) * n_stakeholders if isinstance(self.concession, str) else self.concession
        if len(names) != n_stakeholders:
            raise InputError(f"{len(names)} concession strategies are named for {n_stakeholders} stakeholders")
        return np.array([exponent_of(name) for name in names])

    def score(self, block: Block, weights: NDArray[np.float64]) -> Scored:
        """Return how early, and with which product, every action is accepted by all."""
        exponents, scores = self.exponents(len(block.stakeholders)), block.scores()
        latest = np.zeros(scores.shape, dtype=np.int64)
        product = np.ones(scores.shape)
        lows, highs = block.reference.lows, block.reference.highs
        for i in np.flatnonzero(weights > 0):
            scaled = relative(block.values[i], lows[i], highs[i])
            np.maximum(latest, first_steps(scaled, float(exponents[i])), out=latest)
            product *= scaled
        never = latest > STEPS
        scores[:] = np.where(never, 0.0, (STEPS + 1 - latest + product / 2) / (STEPS + 1.5))
        return Scored(scores, {"no_agreement": np.asarray(never.all(axis=0))})


def relative(values: NDArray[np.float64], low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return values between low and high as numbers in [0, 1], shape (action, context); 1 where there is no room."""
    room = high - low
    indifferent = room <= INDIFFERENT
    scaled = (values - low) / np.where(indifferent, 1.0, room)
    return np.where(indifferent, 1.0, np.clip(scaled, 0.0, 1.0))


def exponent_of(concession: str) -> float:
    """Return the exponent of a concession strategy.

    Raises UnknownNameError if it is not registered; InputError if it does not depend on time alone, so that nothing can
    be said before offers are made.
    """
    exponent = concessions.create(concession).exponent
    if exponent is None:
        raise InputError(
            f"concession {concession!r} reads offers or another course of time; a debate needs an exponent"
        )
    return exponent
