"""What would lead if a favourable action were given to no more people than there is enough for.

Metrics see who gets an action and not what it costs, so giving everybody what everybody likes wins by itself. Where
such a line leads, rules that have scores decide the same contexts again under a budget, a_t = action in at most
⌊share · n⌋ of n contexts, and are compared among themselves. The share is the one that the case declares for a rule, or
else that of logged actions among training rows: what was enough, or had to be, so far. The combination is ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from accordant.decisions import Decisions
from accordant.errors import InputError
from accordant.evaluation.leaderboard import Leaderboard, LeaderboardRow
from accordant.evidence import Evidence
from accordant.strategies.constraints import Constrained
from accordant.strategies.strategy import Strategy

ALWAYS = 0.99  # share of contexts from which on a strategy always takes an action, as strategies that decide alike


@dataclass(frozen=True)
class LoggedBudget:
    """A favourable action that a leading strategy always takes, and a limit that it breaks.

    Attributes
    ----------
    winner
        The strategy that leads without a limit.
    action
        What it takes.
    share
        Of contexts that may get it, in (0, 0.99).
    declared
        Whether the case declares the share, for one of its rules; else it is that of the log.
    """

    winner: str
    action: str
    share: float
    declared: bool

    @property
    def words(self) -> str:
        """The budget in words."""
        whose = "as the case declares it" if self.declared else "its share of the log"
        return f"{self.action} for at most {self.share:.1%} of people, {whose}"

    def sentence(self, limited: Leaderboard) -> str:
        """Say what leads without a limit, that none is declared, and what leads under the budget."""
        limit = "beyond the limit of the case" if self.declared else "and nobody declared that it is scarce"
        start = f"{self.winner} leads by taking {self.action} for everybody, {limit}: no metric sees what that costs."
        first = _first(limited)
        if first is None:
            return f"{start} With {self.words}, no strategy is ranked."
        alike = sum(bool(row.among_best) for row in limited.rows) > 1
        doubt = ", and cannot be told from others" if alike else ""
        return f"{start} With {self.words}, {first.strategy} leads at {first.score}{doubt}."


def logged_budget(
    strategies: Mapping[str, Strategy],
    decisions: Mapping[str, Decisions],
    leaderboard: Leaderboard,
    logged: Mapping[str, float],
    favourable: tuple[str, ...],
) -> LoggedBudget | None:
    """Return the favourable action that the leading candidate always takes, with a limit; None if there is none.

    Parameters
    ----------
    strategies, decisions
        By label.
    leaderboard
        Of them.
    logged
        Action to its share of the log.
    favourable
        Actions that benefit whoever is decided about.
    """
    first = _first(leaderboard)
    if first is None:
        return None
    names, counts = np.unique(decisions[first.strategy].actions, return_counts=True)
    action, share = str(names[counts.argmax()]), counts.max() / counts.sum()
    declared = _declared(strategies, action, len(decisions[first.strategy].codes))
    limit = logged[action] if declared is None else declared
    if share < ALWAYS or action not in favourable or not 0 < limit < ALWAYS:
        return None
    return LoggedBudget(first.strategy, action, float(limit), declared is not None)


def _declared(strategies: Mapping[str, Strategy], action: str, n: int) -> float | None:
    """Return the largest share of contexts for which a declared budget allows an action; None if none is declared."""
    rules = [rule for rule in strategies.values() if isinstance(rule, Constrained) and rule.budgets is not None]
    found = [rule.budgets[action] for rule in rules if rule.budgets is not None and action in rule.budgets]
    return max((each if isinstance(each, float) else each / n for each in found), default=None)


def decisions_within(
    budget: LoggedBudget,
    strategies: Mapping[str, Strategy],
    decisions: Mapping[str, Decisions],
    evidence: Evidence,
) -> dict[str, Decisions]:
    """Return what candidates decide under the budget: constrained rules with scores, and constants that keep to it."""
    kept = {}
    for label, rule in strategies.items():
        if not rule.candidate:
            continue
        if rule.kind == "compromise" and not rule.whole_batch:
            try:
                within = Constrained(rule=rule, budgets={budget.action: budget.share}, title=label)
                kept[label] = within(
                    evidence.expected,
                    prediction=evidence.prediction,
                    log=evidence.log,
                    contexts=evidence.log.contexts,
                )
            except InputError:  # a rule without scores that could be added up
                continue
        elif rule.kind == "baseline" and (decisions[label].actions == budget.action).mean() <= budget.share:
            kept[label] = decisions[label]
    return kept


def _first(leaderboard: Leaderboard) -> LeaderboardRow | None:
    return next((row for row in leaderboard.rows if row.candidate and row.score.value is not None), None)
