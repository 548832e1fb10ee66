"""`influence`: how much each stakeholder moves the decisions of a rule, over a batch and by group."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Codes, Integers, Mask, Values, WholeNumbers
from accordant.certificates import Known
from accordant.decisions import Decisions
from accordant.errors import InputError, UnknownNameError
from accordant.explanation.influence.absence import drop, neutralise, with_positive_weight
from accordant.explanation.influence.pivotal import checked_labels, members_of
from accordant.explanation.influence.power import MOST_PLAYERS, PowerIndex, as_json, enumerate_coalitions, sample_orders
from accordant.predictions import OutcomePrediction
from accordant.strategies.block_decisions import ContextRule, decide
from accordant.strategies.strategy import Strategy
from accordant.utilities import ExpectedRewards

Absence = Literal["neutralised", "dropped"]
Ties = Literal["rotated", "declared"]


@dataclass(frozen=True, eq=False)
class Coalitions:
    """v_t(S): whether the decision in context t with only S heard is the decision that was taken.

    Players are those with positive weight (see `with_positive_weight`). Whoever has none never counts, also not to
    break ties; so if ties of a rule were broken by those without weight, v_t of all players can be 0.

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
    decided: Integers

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
        players = with_positive_weight(rule, expected.stakeholders)
        return cls(rule, expected, known, absence, ties, players, _decisions(rule, expected, known).codes)

    @property
    def orders(self) -> int:
        """In how many orders of the actions is decided."""
        return len(self.expected.actions) if self.ties == "rotated" else 1

    def worth(self, coalition: Codes) -> WholeNumbers:
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
            given = neutralise(given, absent)
        else:
            rule, given = drop(rule, given, absent)
        decisions = _decisions(rule, given, self.known)
        counts: WholeNumbers = np.asarray(decisions.codes == self.decided, dtype=np.int64)
        if self.orders == 1:
            return counts
        # where the best score is not tied, the order of the actions does not matter; a batch is decided as a whole
        open_ = np.arange(len(counts)) if rule.whole_batch else np.flatnonzero(decisions.tied)
        counts *= self.orders
        if len(open_):
            counts[open_] = self._rotated(rule, given.take(open_), open_)
        return counts

    def _rotated(self, rule: Strategy, given: ExpectedRewards, where: Codes) -> WholeNumbers:
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


def _turned(prediction: OutcomePrediction | None, order: Codes) -> OutcomePrediction | None:
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


SAMPLES = 200  # drawn orders beyond `MOST_PLAYERS`: a share of one half then has a standard error of at most 0.036


@dataclass(frozen=True, eq=False)
class Influence:
    """Who moves the decisions of a rule.

    Attributes
    ----------
    rule
        Label of the rule.
    stakeholders
        Names.
    absence
        What it means not to be heard: ``neutralise`` or ``drop``.
    ties
        How ties are broken that sums leave open: ``rotated`` or ``declared``.
    players
        Who has a say, shape (stakeholder,); everybody else contributes 0.
    everybody, nobody
        v_t with all players heard, and with nobody heard, as shares of orders, each of shape (context,).
    shapley, banzhaf
        The values.
    samples
        Drawn orders and coalitions; 0 if all coalitions were enumerated.
    groups
        Group label of each context, or None.
    """

    rule: str
    stakeholders: tuple[str, ...]
    absence: Absence
    ties: Ties
    players: Mask
    everybody: Values
    nobody: Values
    shapley: PowerIndex
    banzhaf: PowerIndex
    samples: int
    groups: NDArray[np.str_] | None = None

    @property
    def moved(self) -> float:
        """Σ_t v_t(N) − v_t(∅): how many decisions more come about by hearing everybody than by hearing nobody."""
        return float(self.shapley.counts.sum()) / self.shapley.denominator  # equal by theorem, and free of rounding

    @cached_property
    def by_group(self) -> dict[str, Mask]:
        """Contexts of each group, each of shape (context,)."""
        return members_of(self.groups)

    def to_json(self) -> dict[str, Any]:
        """Return raw values and shares, in all contexts and by group, as plain values.

        ``share`` is null where nothing is to be shared: the sum of the contributions is not above 0.
        """
        indices = {"shapley": self.shapley, "banzhaf": self.banzhaf}
        values: dict[str, Any] = {
            "rule": self.rule, "absence": self.absence, "ties": self.ties, "contexts": len(self.everybody),
            "moved": self.moved, "exact": self.samples == 0, "samples": self.samples,
            "players": [name for name, plays in zip(self.stakeholders, self.players, strict=True) if plays],
        }  # fmt: skip
        for name, index in indices.items():
            error = None if index.error is None else dict(zip(self.stakeholders, index.error.tolist(), strict=True))
            values[name] = {**as_json(self.stakeholders, index), "standard_error": error}
        values["groups"] = {
            label: {
                "contexts": int(contexts.sum()),
                **{name: as_json(self.stakeholders, index, contexts) for name, index in indices.items()},
            }
            for label, contexts in self.by_group.items()
        }
        return values


def influence(
    rule: Strategy, expected: ExpectedRewards, *, known: Known | None = None, absence: Absence = "neutralised",
    ties: Ties = "rotated", groups: Any | None = None, samples: int = SAMPLES,
    generator: np.random.Generator | None = None,
) -> Influence:  # fmt: skip
    """Share the decisions of a rule among stakeholders by Shapley and Banzhaf values.

    Parameters
    ----------
    rule
        Any strategy. A rule that decides a whole batch at once is asked with the same stakeholders heard in all
        contexts.
    expected
        E.
    known
        What the rule reads beside E.
    absence
        ``"neutralised"``: whoever is not heard has no preference; ``"dropped"``: is not there.
    ties
        ``"rotated"``: ties that sums leave open are broken with every action first in turn, so that hearing nobody
        leads to each action alike; ``"declared"``: in the declared order, so that it leads to the first.
    groups
        One label per context, to tell contributions apart by group.
    samples
        Drawn orders and coalitions if more than 10 stakeholders have a say, at least 2; without effect otherwise.
    generator
        Source of randomness for the draws; None seeds one with 0.

    Raises
    ------
    InputError
        If there are too few samples, not one label per context, or the rule means nothing without somebody.
    """
    if samples < 2:
        raise InputError(f"samples is {samples}; allowed: at least 2")
    labels = None if groups is None else checked_labels(groups, expected.n_contexts)
    game = Coalitions.of(rule, expected, known, absence, ties)
    who = np.flatnonzero(game.players)
    exact = len(who) <= MOST_PLAYERS
    draws = None if exact else (samples, np.random.default_rng(0) if generator is None else generator)
    everybody, nobody = (game.worth(heard) / game.orders for heard in (who, who[:0]))
    return Influence(
        rule.label, expected.stakeholders, absence, ties, game.players, everybody, nobody, *_values(game, draws),
        0 if exact else samples, labels,
    )  # fmt: skip


def _values(game: Coalitions, draws: tuple[int, np.random.Generator] | None) -> tuple[PowerIndex, PowerIndex]:
    """Return Shapley and Banzhaf values, from every coalition or from draws."""
    n_contexts = len(game.decided)
    if draws is None:
        return enumerate_coalitions(game.worth, game.players, n_contexts, unit=game.orders)
    samples, generator = draws
    return sample_orders(game.worth, game.players, n_contexts, samples=samples, generator=generator, unit=game.orders)
