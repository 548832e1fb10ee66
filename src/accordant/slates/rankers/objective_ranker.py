"""`ObjectiveRanker`: the declared utility, and nothing else."""

from __future__ import annotations

from accordant.agents.parameters import text
from accordant.slates.rankers.ranker import Ranker, rankers
from accordant.slates.rankers.view import RankingView, SeenItem
from accordant.voting.ranking import Ranking


@rankers.register("objective_ranker")
class ObjectiveRanker(Ranker):
    """Orders all items by Σ_j share_j score_j, the utility that the stakeholder declared, and gives that as score.

    What it says is what was declared, so that slates are the same as without it where utilities do not change with
    what was shown before.

    Parameters
    ----------
    name
        Stands in every ranking as the voter.
    """

    about = "Rule, no language model: ranks by the declared utility; its texts are templates over numbers."

    def __init__(self, name: str = "objective_ranker") -> None:
        self.name = text(name, "name")

    def rank(self, view: RankingView) -> Ranking:
        """Return all items by utility; equal ones are tied, since their scores are equal."""
        worth = {item.name: view.utility(item) for item in view.items}
        ordered = sorted(view.items, key=lambda item: (-worth[item.name], item.name))
        return Ranking(
            self.name,
            tuple(item.name for item in ordered),
            tuple(worth[item.name] for item in ordered),
            tuple(_reason(view, item) if place < view.k else "" for place, item in enumerate(ordered)),
        )


def _reason(view: RankingView, item: SeenItem) -> str:
    """Return the utility and the score of each aim with its share."""
    parts = (f"{aim.name} {item.scores[aim.name]:.2f} × {aim.share:.2f}" for aim in view.speaks_for.aims)
    return f"utility {view.utility(item):.2f} = {' + '.join(parts)}"
