"""The game of who is heard: a coalition is worth 1 in a context if it alone brings about the decision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Mask, WholeNumbers
from accordant.certificates import Known
from accordant.decisions import Decisions
from accordant.errors import UnknownNameError
from accordant.explanation.influence.absence import dropped, neutralised, with_say
from accordant.predictions import OutcomePrediction
from accordant.strategies.deciding import ContextRule, decide
from accordant.strategies.strategy import Strategy
from accordant.utilities import ExpectedRewards

Absence = Literal["neutralised", "dropped"]
Ties = Literal["rotated", "declared"]


@dataclass(frozen=True, eq=False)
class Coalitions:
    """v_t(S): whether the decision in context t with only S heard is the decision that was taken.

    Players are those who have a say (see `with_say`). Whoever has none is never heard, also not to break ties; so if
    ties of a rule were broken by those without a say, v_t of all players can be 0.

    Ties that the sum of expected rewards leaves open go to the order of the actions, and with nobody heard all actions
    tie. In the declared order, hearing nobody would always lead to the first action; where that is mostly the right
    one, there would be nothing left to share. So by default every action is put first in turn (the declared order is
    rotated), and v_t(S) is the share of these orders in which S brings about the decision: 1 / A with nobody heard.

    Attributes
    ----------
    rule, expected, known
        What is decided, from what.
    absence
        What it means not to be heard (absence.py).
    ties
        ``rotated``, or ``declared`` for the declared order alone.
    players
        Who has a say, shape (stakeholder,).
    decided
        The decisions that were taken, shape (context,).
    """

    rule: Strategy
    expected: ExpectedRewards
    known: Known
    absence: Absence
    ties: Ties
    players: Mask
    decided: NDArray[np.signedinteger[Any]]

    @classmethod
    def of(
        cls, rule: Strategy, expected: ExpectedRewards, known: Known | None, absence: Absence, ties: Ties = "rotated"
    ) -> Self:
        """Decide with everybody heard.

        Raises
        ------
        UnknownNameError
            If the kind of absence, or of ties, is unknown.
        """
        if absence not in get_args(Absence):
            raise UnknownNameError("absence", absence, get_args(Absence))
        if ties not in get_args(Ties):
            raise UnknownNameError("ties", ties, get_args(Ties))
        known = known or Known()
        players = with_say(rule, expected.stakeholders)
        return cls(rule, expected, known, absence, ties, players, _decisions(rule, expected, known).codes)

    @property
    def orders(self) -> int:
        """In how many orders of the actions is decided."""
        return len(self.expected.actions) if self.ties == "rotated" else 1

    def worth(self, coalition: NDArray[np.intp]) -> WholeNumbers:
        """Return v_t of a coalition of players, times `orders`, shape (context,).

        Parameters
        ----------
        coalition
            Positions of its members among the stakeholders.

        Raises
        ------
        InputError
            If the rule means nothing without the others, and they are to be dropped.
        """
        if self.rule.structure() == "fixed":
            return np.full(len(self.decided), self.orders, dtype=np.int64)
        absent = np.ones(len(self.players), dtype=bool)
        absent[coalition] = False
        rule, given = self.rule, self.expected
        if self.absence == "neutralised" or not len(coalition):
            given = neutralised(given, absent)
        else:
            rule, given = dropped(rule, given, absent)
        found = _decisions(rule, given, self.known)
        counts: WholeNumbers = np.asarray(found.codes == self.decided, dtype=np.int64)
        if self.orders == 1:
            return counts
        # where the best score is not tied, the order of the actions does not matter; a batch is decided as a whole
        open_ = np.arange(len(counts)) if rule.whole_batch else np.flatnonzero(found.tied)
        counts *= self.orders
        if len(open_):
            counts[open_] = self._rotated(rule, given.take(open_), open_)
        return counts

    def _rotated(self, rule: Strategy, given: ExpectedRewards, where: NDArray[np.intp]) -> WholeNumbers:
        """Return in how many orders the decision is reached in some contexts."""
        n_actions = len(given.actions)
        counts: WholeNumbers = np.zeros(len(where), dtype=np.int64)
        for first in range(n_actions):
            order = np.roll(np.arange(n_actions), -first)
            actions = [given.actions[a] for a in order]
            turned = ExpectedRewards(given.values[:, order], stakeholders=given.stakeholders, actions=actions)
            known = Known(**self.known.arguments(where))
            known = Known(_turned(known.prediction, order), known.log, known.contexts)
            counts += order[_decisions(rule, turned, known).codes] == self.decided[where]
        return counts


def _decisions(rule: Strategy, expected: ExpectedRewards, known: Known) -> Decisions:
    if isinstance(rule, ContextRule):
        return decide((rule,), expected, details=False)[0]
    return rule(expected, **known.arguments(slice(None)))


def _turned(prediction: OutcomePrediction | None, order: NDArray[np.intp]) -> OutcomePrediction | None:
    """Return a prediction for actions in another order."""
    if prediction is None:
        return None
    nodes, means = prediction.nodes, prediction.means
    return OutcomePrediction(
        prediction.weights[order],
        None if nodes is None else nodes[order],
        prediction.depends_on_action,
        None if means is None else means[order],
    )
