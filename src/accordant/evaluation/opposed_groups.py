"""Two groups of nearly equal size that want opposite things: a majority of 51 % would decide alone.

If a share p of people wants one action, the others another one, and one action is taken for all with probability q, the
groups are satisfied to q and 1 − q. Whatever q and p are, one of them is satisfied to at most ½, and the choice of the
majority leaves the other with nothing. That is an illustration, and no theorem about rules [derived].

What a group wants is read from E: of the action with the highest mean for one group and that for the other, both groups
must be shown to prefer their own. One-sided t-tests of both means (Berger 1982: both must hold), each at the level α
over all pairs of groups, stakeholders and pairs of actions (Bonferroni). [ours] E is taken as given.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Codes, Mask, Values
from accordant.naming import listed
from accordant.utilities import ExpectedRewards

NEARLY_EQUAL = 0.55  # largest share of the larger of two groups among both
FEWEST = 20  # independent units of a group, below which nothing is said of it
ALPHA = 0.05  # largest probability of any false statement
MOST = 3  # statements: the largest differences


@dataclass(frozen=True)
class OpposedGroups:
    """Two groups that want opposite things for one stakeholder.

    Attributes
    ----------
    attribute, stakeholder
        What tells the groups apart, and whose expected rewards are read.
    larger, smaller
        The groups.
    share
        Of the larger one among both, in [½, 0.55].
    wanted, other
        The action that the larger group prefers to the other, and that the smaller one does not.
    gain, loss
        Mean expected reward of `wanted` less that of `other`: in the larger group, above 0, and in the smaller, below.
    """

    attribute: str
    stakeholder: str
    larger: str
    smaller: str
    share: float
    wanted: str
    other: str
    gain: float
    loss: float

    def sentence(self) -> str:
        """Return what a reader must know."""
        groups = f"{self.larger} ({self.share:.0%} of the two) and {self.smaller}"
        return (
            f"{self.attribute}: {groups} want opposite things for {self.stakeholder}: {self.wanted} rather than "
            f"{self.other} gives {self.gain:+.3f} in the one and {self.loss:+.3f} in the other. "
            "One action for all would follow the larger group alone."
        )


def opposed_groups(
    expected: ExpectedRewards,
    labels: Mapping[str, Sequence[str] | NDArray[np.str_]],
    *,
    with_weight: Sequence[str],
    clusters: Codes | None = None,
    alpha: float = ALPHA,
) -> tuple[OpposedGroups, ...]:
    """Return which groups of nearly equal size want opposite things, the largest differences first.

    Parameters
    ----------
    expected
        E.
    labels
        Attribute to the group of each context, shape (context,).
    with_weight
        Stakeholders whose expected rewards are read.
    clusters
        Which contexts are of one unit, shape (context,): means of units are tested; None if contexts are independent.
    alpha
        Largest probability of any false statement, in (0, 1).
    """
    pairs = [(name, pair) for name, groups in labels.items() for pair in _near_pairs(np.asarray(groups), clusters)]
    rows = [i for i, who in enumerate(expected.stakeholders) if who in with_weight]
    n_actions = len(expected.actions)
    tests = len(pairs) * len(rows) * n_actions * (n_actions - 1) // 2
    oppositions = [
        opposed
        for (name, (larger, smaller, share)), i in itertools.product(pairs, rows)
        if (opposed := _opposed(expected, i, name, larger, smaller, share, clusters, alpha / tests)) is not None
    ]
    return tuple(sorted(oppositions, key=lambda opposition: -min(opposition.gain, -opposition.loss)))


def opposed_remarks(oppositions: Sequence[OpposedGroups]) -> tuple[str, ...]:
    """Return sentences for the largest differences, and how many more there are."""
    more = oppositions[MOST:]
    if not more:
        return tuple(opposition.sentence() for opposition in oppositions)
    whom = listed(list(dict.fromkeys(f"{opposition.larger} and {opposition.smaller}" for opposition in more)))
    return (
        *(opposition.sentence() for opposition in oppositions[:MOST]),
        f"{len(more)} more such differences: between {whom}.",
    )


Group = tuple[str, Mask]


def _near_pairs(groups: NDArray[np.str_], clusters: Codes | None) -> list[tuple[Group, Group, float]]:
    """Return pairs of groups of nearly equal size, the larger first, with its share among both."""
    members = {str(name): groups == name for name in np.unique(groups)}
    sizes = {name: int(inside.sum()) for name, inside in members.items()}
    units = sizes if clusters is None else {name: len(np.unique(clusters[inside])) for name, inside in members.items()}
    pairs = []
    for one, other in itertools.combinations([name for name in members if units[name] >= FEWEST], 2):
        larger, smaller = (one, other) if sizes[one] >= sizes[other] else (other, one)
        share = sizes[larger] / (sizes[larger] + sizes[smaller])
        if share <= NEARLY_EQUAL:
            pairs.append(((larger, members[larger]), (smaller, members[smaller]), share))
    return pairs


def _opposed(
    expected: ExpectedRewards, i: int, attribute: str, larger: Group, smaller: Group, share: float,
    clusters: Codes | None, level: float,
) -> OpposedGroups | None:  # fmt: skip
    values = np.asarray(expected.values[i], dtype=np.float64)
    inside = [larger[1], smaller[1]]
    wanted, other = (int(np.argmax(values[:, members].mean(axis=1))) for members in inside)
    if wanted == other:
        return None
    difference = values[wanted] - values[other]
    seen = [_units(difference[members], None if clusters is None else clusters[members]) for members in inside]
    if not (_above_zero(seen[0], level) and _above_zero(-seen[1], level)):
        return None
    gain, loss = (float(difference[members].mean()) for members in inside)
    return OpposedGroups(
        attribute, expected.stakeholders[i], larger[0], smaller[0], share, expected.actions[wanted],
        expected.actions[other], gain, loss,
    )  # fmt: skip


def _units(values: Values, clusters: Codes | None) -> Values:
    """Return the values of independent units: means of clusters."""
    if clusters is None:
        return values
    _, code, sizes = np.unique(clusters, return_inverse=True, return_counts=True)
    return np.asarray(np.bincount(code.reshape(len(values)), values) / sizes)


def _above_zero(values: Values, level: float) -> bool:
    """Whether a mean is shown to be above 0 by a one-sided t-test."""
    from scipy import stats

    error = float(values.std(ddof=1)) / np.sqrt(len(values))
    mean = float(values.mean())
    if error <= 0:
        return mean > 0
    return bool(stats.t.sf(mean / error, len(values) - 1) <= level)
