"""Budgets: at most so many contexts of the batch get an action.

With one capped action, each context gains or loses a certain score if it gets the action instead of its best other
one; the places go to the largest gains. With several, contexts compete for places across actions: a transportation
problem (Hitchcock 1941), whose linear programme has only integral vertices (Hoffman and Kruskal 1956), see `programme`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from accordant.errors import InputError
from accordant.naming import position
from accordant.strategies.constraints.batch import Batch, Exchange, Plan
from accordant.strategies.constraints.declaration import is_share

Capacities = dict[int, int]
ROUNDING = 1e-9  # 0.29 × 100 is 28.999999999999996, and means 29


@dataclass(frozen=True)
class Budgets:
    """How often actions may be taken.

    Attributes
    ----------
    by_action
        Action to a whole number of contexts, or to a share of the batch written with a decimal point, in [0, 1]
        (``1`` is one context, ``1.0`` all of them); a share is rounded down to whole contexts.
    """

    by_action: Mapping[str, int | float]

    def __post_init__(self) -> None:
        if not isinstance(self.by_action, Mapping):
            raise InputError(f"budgets are {self.by_action!r}; allowed: a mapping from action to a number")
        for name, budget in self.by_action.items():
            count = isinstance(budget, int) and not isinstance(budget, bool) and budget >= 0
            if not count and not (isinstance(budget, float) and is_share(budget)):
                raise InputError(
                    f"budget of {name!r} is {budget!r}; allowed: a whole number of contexts, or a share in [0.0, 1.0]"
                )

    @property
    def label(self) -> str:
        """The budgets as a leaderboard shows them, such as ``Grant <= 20%``."""
        shown = (f"{name} <= {budget if isinstance(budget, int) else f'{100 * budget:g}%'}"
                 for name, budget in self.by_action.items())  # fmt: skip
        return ", ".join(shown)

    def capacities(self, actions: tuple[str, ...], n_contexts: int) -> Capacities:
        """Return action code to the largest number of contexts that may get it.

        Raises
        ------
        InputError
            If every action is capped and there are fewer places than contexts.
        """
        capacities = {
            position("action in budgets:", name, actions): (
                min(budget, n_contexts) if isinstance(budget, int) else int(np.floor(budget * n_contexts + ROUNDING))
            )
            for name, budget in self.by_action.items()
        }
        room = sum(capacities.values())
        if len(capacities) == len(actions) and room < n_contexts:
            listed = ", ".join(f"{actions[a]} {capacity}" for a, capacity in capacities.items())
            raise InputError(
                f"budgets cannot be met: the capacities ({listed}) sum to {room}, the batch has {n_contexts} contexts, "
                f"{n_contexts - room} too many"
            )
        return capacities


def within_one_budget(batch: Batch, action: int, capacity: int) -> Plan:
    """Return the best decisions with one capped action: it goes where it gains most.

    For a batch in which more contexts would take the action by themselves; the capacity must suffice for those that
    admit nothing else, see `check_room`.
    """
    name, takes = batch.actions[action], batch.codes == action
    exchange = Exchange.of(batch, np.arange(len(batch.actions)) == action)
    rivals = np.flatnonzero(takes & exchange.free)
    places = capacity - int(np.count_nonzero(exchange.forced))
    ranked = exchange.leading(rivals, places + 1)  # the last one is the first that gets no place
    inside = exchange.forced.copy()
    inside[ranked[:-1]] = True
    next_ = ranked[-1]
    worth = np.inf if exchange.spared[next_] else float(exchange.gain[next_])
    return Plan(exchange.codes(inside), None, {name: worth})


def check_room(batch: Batch, capacities: Capacities) -> None:
    """Make sure that every context can get an admissible action.

    Contexts of one pattern of admissible actions are a source, actions are sinks; if the largest flow leaves contexts
    without a place, the smallest cut names the actions that too many contexts depend on (Ford and Fulkerson 1956).

    Raises
    ------
    InputError
        If they cannot; names the actions, their places, and the contexts that admit nothing else.
    """
    if batch.admissible.all():
        return
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order, maximum_flow

    patterns, sizes = np.unique(batch.admissible, axis=1, return_counts=True)
    n_actions, n_patterns = patterns.shape
    source, sink = n_patterns + n_actions, n_patterns + n_actions + 1
    room = np.zeros((sink + 1, sink + 1), dtype=np.int32)
    room[source, :n_patterns] = sizes
    room[:n_patterns, n_patterns:source] = np.where(patterns.T, sizes[:, None], 0)
    room[n_patterns:source, sink] = [capacities.get(a, batch.n_contexts) for a in range(n_actions)]
    network = csr_array(room)
    flow = maximum_flow(network, source, sink)
    gap = batch.n_contexts - int(flow.flow_value)
    if gap == 0:
        return
    left = csr_array(room - flow.flow.toarray())
    left.eliminate_zeros()
    reached = breadth_first_order(left, source, return_predecessors=False)
    scarce = [a for a in range(n_actions) if n_patterns + a in reached]
    n_dependent = int(sizes[[p for p in range(n_patterns) if p in reached]].sum())
    listed = ", ".join(f"{batch.actions[a]} {capacities.get(a, batch.n_contexts)}" for a in scarce)
    raise InputError(
        f"budgets cannot be met with floors, vetoes and prohibitions: {n_dependent} contexts admit nothing but "
        f"{', '.join(batch.actions[a] for a in scarce)} (capacities: {listed}), {gap} too many"
    )
