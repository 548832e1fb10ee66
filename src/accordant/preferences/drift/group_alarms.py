"""Alarms for groups of users, and for the users: one bound on all false ones together.

The wealth of a group is the mean of the wealths of its users, W_g = Σ_u W_u / n_g. [ours] Each W_u is at most a
martingale from 1 if the agreement of u with the reference is constant, whatever it is (`watch_agreement`); so is their
mean if that holds for every user of the group, however the users differ from each other. A detector that took the
answers of a whole group for those of one person would take users who differ for a change. Half of α is for the groups,
half for the users: with G groups the alarm of a group is at 2 G / α, with m users that of a user at 2 m / α.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from accordant.arrays import Codes, Values
from accordant.preferences.checks import codes
from accordant.preferences.drift.alarms import ALPHA, CONSTANT_AGREEMENT, DriftAlarms, DriftTrace, watch_agreement

GROUPS = "agreement of the users of a group"


@dataclass(frozen=True, eq=False)
class GroupAlarms:
    """Alarms of groups and of users, watched together.

    Attributes
    ----------
    groups, users
        Each at half of `alpha`.
    alpha
        Largest probability of any false alarm of either, at any time.
    """

    groups: DriftAlarms
    users: DriftAlarms
    alpha: float


def watch_groups(
    margins: Values, users: Codes, names: Sequence[str], group_of: Codes, group_names: Sequence[str], *,
    times: Values, alpha: float = ALPHA,
) -> GroupAlarms:  # fmt: skip
    """Watch whether the agreement of users with a reference reward changes, user by user and in each group.

    Parameters
    ----------
    margins
        Reward of the chosen item less that of the rejected one under the reference, which must not have learned from
        these records, shape (record,).
    users
        Position of each record's user, shape (record,).
    names
        Of the users, also of those without records.
    group_of
        Position of each user's group, shape (user,). Groups must have been fixed before these answers were given.
    group_names
        Of the groups.
    times
        Order of the records, shape (record,), ties in the given order.
    alpha
        Largest probability of any false alarm, in (0, 1).

    Raises
    ------
    InputError
        If shapes differ, a number is not finite, a code has no name, or alpha is out of range.
    """
    alarms = watch_agreement(margins, alpha=alpha / 2, streams=users, names=names, times=times)
    group_of = codes("group_of", group_of, len(names), len(group_names))
    threshold = math.log(len(group_names) / (alpha / 2))
    traces = [
        _mean_trace(name, [alarms.traces[user] for user in np.flatnonzero(group_of == code)], threshold)
        for code, name in enumerate(group_names)
    ]
    groups = DriftAlarms(GROUPS, f"for every user, {CONSTANT_AGREEMENT}", alpha / 2, tuple(traces))
    return GroupAlarms(groups, alarms, alpha)


def _mean_trace(name: str, members: Sequence[DriftTrace], threshold: float) -> DriftTrace:
    """Return the mean of the wealths of some users after each of their records, in order of time."""
    if not members:
        return DriftTrace(name, np.empty(0, dtype=np.intp), np.empty(0), np.empty(0), threshold, None)
    records = np.concatenate([trace.records for trace in members])
    times = np.concatenate([trace.times for trace in members])
    wealth = np.concatenate([trace.log_wealth for trace in members])
    member = np.repeat(np.arange(len(members)), [len(trace.records) for trace in members])
    order = np.lexsort((records, times))
    current = np.zeros(len(members))  # log of 1: who has answered nothing yet
    mean = np.empty(len(order))
    for step, place in enumerate(order):
        current[member[place]] = wealth[place]
        mean[step] = np.logaddexp.reduce(current) - math.log(len(members))
    reached = np.flatnonzero(mean >= threshold)
    return DriftTrace(name, records[order], times[order], mean, threshold, int(reached[0]) if len(reached) else None)
