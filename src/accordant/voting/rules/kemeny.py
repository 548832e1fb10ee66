"""Kemeny: the ranking that agrees most with the ballots (Kemeny 1959; Young and Levenglick 1978)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from accordant.arrays import Values
from accordant.errors import InputError
from accordant.kernels import compiled
from accordant.strategies.compromise import Scored
from accordant.strategies.strategy import register
from accordant.voting import Profile
from accordant.voting.rules.rule import MarginRule
from accordant.voting.rules.tally import Tally, suited

MOST_ALTERNATIVES = 8  # the work doubles with every alternative; finding the ranking is NP-hard


def kemeny_scores(margins: Values) -> Values:
    """Return minus the tier of each alternative in the best rankings, shape (alternative, context).

    The agreement of a ranking is the sum of margins from above to below. Tier 0 holds every alternative that is on top
    of some best ranking, as in pref_voting 1.18; the next tiers are found in the same way among the rest. If there is
    one best ranking, the tiers are that ranking: its lower part is the best ranking of those in it (local independence
    of irrelevant alternatives, Young 1988).

    Parameters
    ----------
    margins
        Shape (a, b, context), on a grid that makes their sums exact; at most 8 alternatives.
    """
    scores = np.empty(margins.shape[1:])
    suited(tiers_of_best_rankings, margins.shape[2])(margins, scores)
    return scores


@compiled
def tiers_of_best_rankings(margins: Values, scores: Values) -> None:
    """Write minus the tiers, by dynamic programming over subsets as Held and Karp (1962).

    The best ranking of a subset has some member on top and the best ranking of the others below.
    """
    n_alternatives, _, n_contexts = margins.shape
    n_subsets = 1 << n_alternatives
    best = np.zeros(n_subsets)
    ahead = np.zeros((n_alternatives, n_subsets))  # sum of the margins of an alternative over a subset
    for t in range(n_contexts):
        for a in range(n_alternatives):
            for b in range(n_alternatives):
                for subset in range(1 << b):
                    ahead[a, subset | 1 << b] = ahead[a, subset] + margins[a, b, t]
        for subset in range(1, n_subsets):
            best[subset] = -np.inf
            for a in range(n_alternatives):
                if subset >> a & 1:
                    best[subset] = max(best[subset], ahead[a, subset] + best[subset ^ 1 << a])
        members, tier = n_subsets - 1, 0
        while members:
            tops = 0
            for a in range(n_alternatives):
                if members >> a & 1 and ahead[a, members] + best[members ^ 1 << a] == best[members]:
                    tops |= 1 << a
                    scores[a, t] = tier
            members ^= tops
            tier -= 1


@register("kemeny", aliases=("kemeny_young",))
@dataclass(frozen=True)
class Kemeny(MarginRule):
    """Choose the top of the ranking with the smallest sum of disagreements; exact, up to 8 alternatives.

    No number per alternative expresses this order: scores are places.
    """

    formula = staticmethod(kemeny_scores)

    def refusal(self, profile: Profile) -> str | None:
        """Return that there are too many alternatives."""
        return _too_many(len(profile.alternatives))

    def score(self, tally: Tally) -> Scored:
        """Return places, or refuse too many actions.

        Raises
        ------
        InputError
            If there are more than 8 alternatives.
        """
        reason = _too_many(tally.ranks.shape[1])
        if reason is not None:
            raise InputError(f"kemeny cannot rank these actions: {reason}")
        return super().score(tally)


def _too_many(n_alternatives: int) -> str | None:
    if n_alternatives <= MOST_ALTERNATIVES:
        return None
    return f"{n_alternatives} alternatives; allowed: at most {MOST_ALTERNATIVES}, beyond that its search takes too long"
