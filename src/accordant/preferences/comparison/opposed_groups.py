"""Groups of nearly equal size that want opposite things: one reward for both follows whichever is larger.

The reward of each group is learned from its own training records, and judged by test records of the other group. Where
it foretells the other's choices worse than a coin, and the other way round, the groups are shown to want opposite
things: one-sided t-tests of the mean accuracy over users, of which both must hold (Berger 1982), each at α over all
pairs of groups (Bonferroni). [ours]
"""

from __future__ import annotations

import itertools

import numpy as np

from accordant.arrays import Codes, Values
from accordant.preferences.groups import Groups
from accordant.preferences.learners.bradley_terry import BradleyTerry
from accordant.preferences.measures import per_user
from accordant.preferences.records import Comparisons

NEARLY_EQUAL = 0.55  # largest share of the users of the larger of two groups among both
FEWEST = 5  # measured users of a group, below which nothing is said of it
ALPHA = 0.05  # largest probability of any false statement
HALF = 0.5


def opposed_words(training: Comparisons, test: Comparisons, groups: Groups, ridge: float) -> list[str]:
    """Return a sentence for each two groups of nearly equal size that want opposite things.

    Parameters
    ----------
    training, test
        Records that are learned from and judged by, of the same users.
    groups
        Of the users.
    ridge
        Of the rewards.
    """
    sizes = groups.sizes
    pairs = [
        (one, other)
        for one, other in itertools.combinations([name for name in groups.names if sizes[name] >= FEWEST], 2)
        if max(sizes[one], sizes[other]) <= NEARLY_EQUAL * (sizes[one] + sizes[other])
    ]
    said = []
    for one, other in pairs:
        codes = [groups.names.index(name) for name in (one, other)]
        across = [
            _across(training, test, groups.of_user, learned, judged, ridge)
            for learned, judged in (codes, reversed(codes))
        ]
        if all(_below_half(accuracies, ALPHA / len(pairs)) for accuracies in across):
            larger, smaller = (one, other) if sizes[one] >= sizes[other] else (other, one)
            share = sizes[larger] / (sizes[one] + sizes[other])
            worst, best = sorted(float(accuracies.mean()) for accuracies in across)
            said.append(
                f"{larger} ({share:.0%} of the users of the two) and {smaller} want opposite things: the reward of one "
                f"group foretells {worst:.0%} to {best:.0%} of the other's choices. One reward for both would follow "
                "the larger group alone."
            )
    return said


def _across(
    training: Comparisons, test: Comparisons, of_user: Codes, learned: int, judged: int, ridge: float
) -> Values:  # fmt: skip
    """Return the accuracy of one group's reward for each user of another one, shape (user,)."""
    rows, others = (
        np.flatnonzero(of_user[comparisons.users] == group)
        for comparisons, group in ((training, learned), (test, judged))
    )
    if not len(rows) or not len(others):
        return np.empty(0)
    model = BradleyTerry(ridge=ridge).fit(training.take(rows))
    records = test.take(others)
    return per_user(model.margins(records), records.users, weights=records.weights).accuracy


def _below_half(accuracy: Values, level: float) -> bool:
    """Whether a mean accuracy is shown to be below ½ by a one-sided t-test."""
    from scipy import stats

    if len(accuracy) < FEWEST:
        return False
    below = HALF - accuracy
    error = float(below.std(ddof=1)) / np.sqrt(len(below))
    mean = float(below.mean())
    return mean > 0 if error <= 0 else bool(stats.t.sf(mean / error, len(below) - 1) <= level)
