"""What answers leave open: cells that nobody compared, and parts that no chain of comparisons connects."""

from __future__ import annotations

import numpy as np

from accordant.arrays import Codes
from accordant.preferences.learned_rewards.answers import Answers
from accordant.preferences.learners.shared_items import connected_parts
from accordant.problem import DecisionProblem

NAMED = 5  # cells that a sentence names


def gaps(answers: Answers, problem: DecisionProblem) -> list[str]:
    """Say which cells were never compared, and which parts no chain of comparisons connects.

    With continuous outcomes it is actions instead of cells: outcomes under one action are compared by their numbers.
    """
    names, chosen, rejected = _nodes(answers, problem)
    counts = slice(None) if answers.weights is None else answers.weights > 0
    chosen, rejected = chosen[counts], rejected[counts]
    _, part = connected_parts(chosen, rejected, len(names))
    used = np.zeros(len(names), dtype=bool)
    used[np.concatenate([chosen, rejected])] = True
    never = [name for name, there in zip(names, used, strict=True) if not there]
    sentences = []
    if never:
        sentences.append(
            f"nobody compared {_listed(never)}: the learner, not an answer, decides what "
            f"{'it is' if len(never) == 1 else 'they are'} worth."
        )
    parts = [
        [names[node] for node in np.flatnonzero(used & (part == label))] for label in dict.fromkeys(part[used].tolist())
    ]
    if len(parts) > 1:
        connected = " and ".join(f"({_listed(cells)})" for cells in parts[:NAMED])
        sentences.append(
            f"{len(parts)} parts are not connected by any chain of comparisons, {connected}: the learner, not an"
            " answer, decides how much better one part is than another."
        )
    return sentences


def gaps_of_users(answers: Answers, problem: DecisionProblem) -> list[str]:
    """Say how many users leave something open in their own comparisons, whatever others compared, and not who.

    Parameters
    ----------
    answers
        Of several users whose rewards are learned one by one.
    problem
        Declares what can be compared.
    """
    order = np.argsort(answers.users, kind="stable")
    edges = np.searchsorted(answers.users[order], np.arange(1, len(answers.user_names)))
    n_open = sum(bool(gaps(answers.taken(rows), problem)) for rows in np.split(order, edges))
    if not n_open:
        return []
    sentence = (
        f"{n_open} of {len(answers.user_names)} users did not compare everything, or left parts unconnected: the "
        "learner, not their answers, decides the rest of their rewards."
    )
    return [sentence]


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
