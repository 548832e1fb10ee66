"""Candidates of users for whom not everybody has a say, and the market in which that is so."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from accordant.arrays import Mask, Values
from accordant.errors import InputError
from accordant.slates.candidates import Candidates
from accordant.slates.catalogue import Requests
from accordant.slates.serving import Market
from accordant.slates.state import State
from accordant.utilities import ExpectedRewards


@dataclass(frozen=True, eq=False)
class HeardCandidates(Candidates):
    """Candidates of users for some of whom some stakeholders have no say.

    Rules take users in blocks. Here every block holds users for whom the same stakeholders are silent; these have
    weight 0 in it, as if they were absent. Users stay in order, so that rules which look back see the same past.

    Parameters
    ----------
    candidates
        With the weights of those who are not silent.
    silent
        Who has no say for whom, shape (stakeholder, user); somebody with weight has one for every user.

    Raises
    ------
    InputError
        If the shape is another, or nobody has a say for a user.
    """

    silent: Mask

    def __init__(self, candidates: Candidates, silent: Mask) -> None:
        given = candidates
        super().__init__(given.expected, given.available, given.weights, given.categories, given.user)
        if silent.shape != (len(given.stakeholders), given.n_users):
            raise InputError(f"silent has shape {silent.shape}; allowed: (stakeholder, user)")
        if silent[given.weights > 0].all(axis=0).any():
            raise InputError("everybody with weight is silent for a user; somebody must have a say")
        object.__setattr__(self, "silent", silent)

    def take(self, users: slice | NDArray[np.intp]) -> Candidates:
        """Return the candidates of some users; plain ones where the same stakeholders are silent for all of them."""
        part = super().but(expected=self.expected.take(users), available=self.available[:, users])
        return heard(part, self.silent[:, users])

    def but(
        self,
        *,
        expected: ExpectedRewards | None = None,
        available: Mask | None = None,
        weights: Values | None = None,
    ) -> Candidates:
        """Return the candidates with another E, availability, or weights of those who are not silent."""
        return HeardCandidates(super().but(expected=expected, available=available, weights=weights), self.silent)

    def slices(self) -> list[slice]:
        """Return users in blocks of neighbours for whom the same stakeholders are silent."""
        changes = np.flatnonzero((self.silent[:, 1:] != self.silent[:, :-1]).any(axis=0)) + 1
        found = []
        for block in super().slices():
            edges = [block.start, *(int(c) for c in changes if block.start < c < block.stop), block.stop]
            found += [slice(start, stop) for start, stop in pairwise(edges)]
        return found


def heard(candidates: Candidates, silent: Mask) -> Candidates:
    """Return candidates in which some stakeholders are silent, shape (stakeholder, user); see `HeardCandidates`."""
    if not candidates.n_users or not silent.any():
        return _plain(candidates)
    if (silent == silent[:, :1]).all():
        return _plain(candidates, np.where(silent[:, 0], 0.0, candidates.weights))
    return HeardCandidates(candidates, silent)


def _plain(given: Candidates, weights: Values | None = None) -> Candidates:
    return Candidates(
        given.expected, given.available, given.weights if weights is None else weights, given.categories, given.user
    )


class Voices(Protocol):
    """Reports of stakeholders, and who among them is silent."""

    def __call__(self, requests: Requests, state: State, expected: ExpectedRewards) -> ExpectedRewards:
        """Return what stakeholders say E is."""
        ...

    def silent(self, requests: Requests, state: State) -> Mask:
        """Return who has no say for which request, shape (stakeholder, request)."""
        ...


@dataclass(frozen=True, eq=False)
class SpokenMarket(Market):
    """A market in which agents speak for stakeholders, and are silent where they are not faithful.

    Attributes
    ----------
    voices
        What they say; `reports` says the same, without who is silent.
    """

    voices: Voices = field(kw_only=True)

    def reported(self, requests: Requests, state: State, candidates: Candidates) -> Candidates:
        """Return the candidates as stakeholders report them, with those silent who have no say."""
        return heard(super().reported(requests, state, candidates), self.voices.silent(requests, state))


def spoken_market(market: Market, voices: Voices) -> SpokenMarket:
    """Return the market with voices in it."""
    same = {each.name: getattr(market, each.name) for each in fields(market)}
    return SpokenMarket(**{**same, "reports": voices}, voices=voices)
