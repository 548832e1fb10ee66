"""`NoisyRanker`: an agent that says something else than the stakeholder declared, by a known amount."""

from __future__ import annotations

from typing import Any, ClassVar

from accordant.agents.parameters import number, text
from accordant.errors import InputError
from accordant.randomness import keyed_uniform
from accordant.slates.rankers.ranker import Ranker, rankers
from accordant.slates.rankers.view import RankingView
from accordant.voting.ranking import Ranking


@rankers.register("noisy_ranker")
class NoisyRanker(Ranker):
    """Orders all items by (1 − noise) · utility + noise · u, u uniform in [0, 1) and drawn for request and item.

    Parameters
    ----------
    noise
        In [0, 1]: 0 is the declared order, 1 a draw.
    name
        Stands in every ranking as the voter.

    Raises
    ------
    InputError
        If the noise is outside.
    """

    kind: ClassVar[str] = "fixture"
    about = "Fixture, no stakeholder and no language model: the declared utility with seeded noise, to try the gate."

    def __init__(self, noise: float = 0.5, name: str = "noisy_ranker") -> None:
        if not 0 <= number(noise, "noise") <= 1:
            raise InputError(f"noise is {noise}; allowed: from 0 to 1")
        self.name, self.noise = text(name, "name"), noise

    def rank(self, view: RankingView) -> Ranking:
        """Return an order of all items, without scores."""
        drawn = keyed_uniform(view.seed, (f"noise:{item.name}" for item in view.items)).tolist()
        worth = {
            item.name: (1 - self.noise) * view.utility(item) + self.noise * u
            for item, u in zip(view.items, drawn, strict=True)
        }
        return Ranking(self.name, tuple(sorted(worth, key=lambda name: (-worth[name], name))))

    def to_json(self) -> dict[str, Any]:
        """Return what a record says of the ranker, with its noise."""
        return super().to_json() | {"noise": self.noise}
