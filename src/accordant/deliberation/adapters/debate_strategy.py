"""The bargain that ends a debate, as a strategy: whoever likes an action accepts it early; the first accepted wins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from accordant.agents.concession import concessions
from accordant.deliberation.settlement.bands import STEPS, first_steps
from accordant.errors import InputError
from accordant.strategies.block import Block
from accordant.strategies.compromise import Compromise, Scored
from accordant.strategies.reference_points import INDIFFERENT
from accordant.strategies.strategy import Structure, register


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
