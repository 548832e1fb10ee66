"""What comparisons leave open: cells nobody compared, parts that nothing connects, answers at odds with each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from accordant.arrays import Codes, Values
from accordant.preferences.learned_rewards.answers import Answers
from accordant.preferences.learners.solving.logistic import log_loss
from accordant.problem import DecisionProblem

NEAR_CHANCE = 0.95  # of log 2, the loss of a reward that tells nothing apart
NAMED = 5  # cells that a sentence names


@dataclass(frozen=True)
class Agreement:
    """How well a learned reward agrees with the comparisons that it was learned from.

    Attributes
    ----------
    share
        Share of records, by weight, whose chosen item has the higher reward; a tie counts half.
    log_loss
        Mean of −log σ(margin), by weight; log 2 ≈ 0.693 if the reward tells nothing apart.
    """

    share: float
    log_loss: float

    @classmethod
    def of(cls, margins: Values, weights: Values) -> Agreement:
        """Return it from margins and weights, shape (record,) each."""
        right = np.where(margins == 0, 0.5, margins > 0)
        return cls(float(np.average(right, weights=weights)), float(np.average(log_loss(margins), weights=weights)))

    def warnings(self) -> list[str]:
        """Say if the answers contradict each other so much that there is little to learn."""
        if self.log_loss < NEAR_CHANCE * np.log(2):
            return []
        sentence = (
            f"the comparisons contradict each other or are too few: the learned reward agrees with {self.share:.0%} of "
            f"them, with a log-loss of {self.log_loss:.3f} where one that tells nothing apart has {np.log(2):.3f}."
        )
        return [sentence]


def gaps(answers: Answers, problem: DecisionProblem) -> list[str]:
    """Say which cells were never compared, and which parts no chain of comparisons connects.

    With continuous outcomes it is actions instead of cells: outcomes under one action are compared by their numbers.
    """
    names, chosen, rejected = _nodes(answers, problem)
    counts = slice(None) if answers.weights is None else answers.weights > 0
    chosen, rejected = chosen[counts], rejected[counts]
    part = components(chosen, rejected, len(names))
    used = np.zeros(len(names), dtype=bool)
    used[np.concatenate([chosen, rejected])] = True
    never = [name for name, there in zip(names, used, strict=True) if not there]
    found = []
    if never:
        found.append(
            f"nobody compared {_listed(never)}: the learner, not an answer, decides what "
            f"{'it is' if len(never) == 1 else 'they are'} worth."
        )
    parts = [
        [names[node] for node in np.flatnonzero(used & (part == label))] for label in dict.fromkeys(part[used].tolist())
    ]
    if len(parts) > 1:
        connected = " and ".join(f"({_listed(each)})" for each in parts[:NAMED])
        found.append(
            f"{len(parts)} parts are not connected by any chain of comparisons, {connected}: the learner, not an"
            " answer, decides how much better one part is than another."
        )
    return found


def gaps_of_users(answers: Answers, problem: DecisionProblem) -> list[str]:
    """Say how many users leave something open in their own comparisons, whatever others compared.

    Parameters
    ----------
    answers
        Of several users whose rewards are learned one by one.
    problem
        Declares what can be compared.
    """
    order = np.argsort(answers.users, kind="stable")
    edges = np.searchsorted(answers.users[order], np.arange(1, len(answers.user_names)))
    of_users = zip(answers.user_names, np.split(order, edges), strict=True)
    open_ = [name for name, rows in of_users if gaps(answers.taken(rows), problem)]
    if not open_:
        return []
    sentence = (
        f"{len(open_)} of {len(answers.user_names)} users did not compare everything, or left parts unconnected "
        f"({users_named(open_)}): the learner, not their answers, decides the rest of their rewards."
    )
    return [sentence]


def users_named(names: Sequence[str]) -> str:
    """Return users in one phrase, the first few of many."""
    return f"user{'' if len(names) == 1 else 's'} {_listed([repr(name) for name in names])}"


def components(one: Codes, other: Codes, n_nodes: int) -> Codes:
    """Return the label of each node's connected part, the lowest node in it, shape (node,)."""
    label = np.arange(n_nodes)
    while True:
        lowest = np.minimum(label[one], label[other])
        found = label.copy()
        np.minimum.at(found, one, lowest)
        np.minimum.at(found, other, lowest)
        if np.array_equal(found, label):
            return label
        label = found


def _nodes(answers: Answers, problem: DecisionProblem) -> tuple[list[str], Codes, Codes]:
    """Return names of what must be connected, and which of them each record compares."""
    if problem.continuous:
        return [f"'{name}'" for name in problem.actions], *answers.actions
    names = [f"'{action}' with '{outcome}'" for action in problem.actions for outcome in problem.outcome_names]
    cells = answers.actions * len(problem.outcome_names) + answers.outcomes.astype(np.intp)
    return names, *cells


def _listed(names: list[str]) -> str:
    """Return names in one phrase, the first few of many."""
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more} more" if more > 0 else "")
