"""`influence`: how much each stakeholder moves the decisions of a rule, over a batch and by group."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Mask
from accordant.certificates import Known
from accordant.errors import InputError
from accordant.explanation.influence.coalitions import Absence, Coalitions, Ties
from accordant.explanation.influence.groups import checked_labels, members_of
from accordant.explanation.influence.power import MOST_PLAYERS, PowerIndex, as_json, enumerated, sampled
from accordant.strategies.strategy import Strategy
from accordant.utilities import ExpectedRewards

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
        What it means not to be heard: ``neutralised`` or ``dropped``.
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
    everybody: NDArray[np.float64]
    nobody: NDArray[np.float64]
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
        found: dict[str, Any] = {
            "rule": self.rule,
            "absence": self.absence,
            "ties": self.ties,
            "contexts": len(self.everybody),
            "moved": self.moved,
            "exact": self.samples == 0,
            "samples": self.samples,
            "players": [name for name, plays in zip(self.stakeholders, self.players, strict=True) if plays],
        }
        for name, index in indices.items():
            error = None if index.error is None else dict(zip(self.stakeholders, index.error.tolist(), strict=True))
            found[name] = {**as_json(self.stakeholders, index), "standard_error": error}
        found["groups"] = {
            label: {
                "contexts": int(contexts.sum()),
                **{name: as_json(self.stakeholders, index, contexts) for name, index in indices.items()},
            }
            for label, contexts in self.by_group.items()
        }
        return found


def influence(
    rule: Strategy,
    expected: ExpectedRewards,
    *,
    known: Known | None = None,
    absence: Absence = "neutralised",
    ties: Ties = "rotated",
    groups: Any | None = None,
    samples: int = SAMPLES,
    generator: np.random.Generator | None = None,
) -> Influence:
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
        return enumerated(game.worth, game.players, n_contexts, unit=game.orders)
    samples, generator = draws
    return sampled(game.worth, game.players, n_contexts, samples=samples, generator=generator, unit=game.orders)
