"""What would lead if a favourable action were given to no more people than there is enough for.

Metrics see who gets an action and not what it costs, so giving everybody what everybody likes wins by itself. Where
such a line leads, or the line that leads or was selected goes beyond a declared limit, rules that have scores decide
the same contexts again under a budget, a_t = action in at most ⌊share · n⌋ of n contexts, and are compared among
themselves. The share is the one that the case declares for a rule, or
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
ROUNDING = 1e-9  # of a share times a number of contexts


@dataclass(frozen=True)
class LoggedBudget:
    """An action that a leading or selected strategy takes more often than a limit allows.

    Attributes
    ----------
    winner
        The strategy that leads without a limit, or was selected.
    action
        What it takes.
    share
        Of contexts that may get it, in (0, 1).
    declared
        Whether the case declares the share, for one of its rules; else it is that of the log.
    taken
        Share of contexts for which the strategy takes it.
    leads
        Whether it leads; else it was selected and does not.
    """

    winner: str
    action: str
    share: float
    declared: bool
    taken: float = 1.0
    leads: bool = True

    @property
    def words(self) -> str:
        """The budget in words."""
        whose = "as the case declares it" if self.declared else "its share of the log"
        return f"{self.action} for at most {self.share:.1%} of people, {whose}"

    def sentence(self, limited: Leaderboard) -> str:
        """Say what leads without a limit, that none is declared, and what leads under the budget."""
        limit = "beyond the limit of the case" if self.declared else "and nobody declared that it is scarce"
        whom = "everybody" if self.taken >= ALWAYS else f"{self.taken:.1%} of people"
        takes = "leads by taking" if self.leads else "was selected and takes"
        start = f"{self.winner} {takes} {self.action} for {whom}, {limit}: no metric sees what that costs."
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
    selected: str | None = None,
) -> LoggedBudget | None:
    """Return a declared limit that is exceeded, or the favourable action that always leads; None if there is neither.

    What the leading candidate exceeds comes before what the selected one does.

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
    selected
        Label of the selected strategy.
    """
    first = _first(leaderboard)
    if first is None:
        return None
    n = len(decisions[first.strategy].codes)
    limits = _declared(strategies, n)
    for label in dict.fromkeys((first.strategy, selected or first.strategy)):
        shares = _shares(decisions[label])
        beyond = {name: shares.get(name, 0.0) - limit for name, limit in limits.items()}
        # as a budget is kept: a_t = action in at most ⌊limit · n⌋ contexts
        broken = [name for name in beyond if round(shares.get(name, 0.0) * n) > np.floor(limits[name] * n + ROUNDING)]
        if broken:
            action = max(broken, key=beyond.__getitem__)
            return LoggedBudget(label, action, limits[action], True, shares[action], label == first.strategy)
    shares = _shares(decisions[first.strategy])
    action = max(shares, key=shares.__getitem__)
    if action in limits or shares[action] < ALWAYS or action not in favourable or not 0 < logged[action] < ALWAYS:
        return None
    return LoggedBudget(first.strategy, action, float(logged[action]), False, shares[action])


def _shares(decisions: Decisions) -> dict[str, float]:
    """Return action to the share of contexts for which it is taken, of those that are taken."""
    names, counts = np.unique(decisions.actions, return_counts=True)
    return {str(name): float(count / counts.sum()) for name, count in zip(names, counts, strict=True)}


def _declared(strategies: Mapping[str, Strategy], n: int) -> dict[str, float]:
    """Return action to the largest share of contexts for which a declared budget allows it, above 0."""
    limits: dict[str, float] = {}
    for rule in strategies.values():
        for action, budget in (rule.budgets or {}).items() if isinstance(rule, Constrained) else ():
            share = float(budget if isinstance(budget, float) else budget / n)
            limits[action] = max(share, limits.get(action, share))
    return {action: share for action, share in limits.items() if share > 0}


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
