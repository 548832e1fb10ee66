"""Slates: lists of k items for users, made while several stakeholders have a say.

Vocabulary
----------
candidates
    E with items as actions and users as contexts, the weights of stakeholders, and what may be shown.
slate
    A list of at most k items for one user, the first place first.
rule
    From candidates to slates. Who is served worst, who pays, and who could claim more is computed, never promised.
attained
    Where a list lies for a stakeholder between its own worst list, 0, and its own ideal list, 1.
market
    A catalogue of items, requests in the order of time, and what stakeholders make of both.

Rooms
-----
candidates.py       E with items as actions, and what a list gives to whom
catalogue.py        items, and requests of users
objectives/         values of stakeholders made measurable
relevance/          what users want, learned from what they consumed
rules/              from candidates to slates; `rule.py` has what they share
moderation.py       offers of many agents become one list, in rounds
rankers/, proxies/  agents that rank items for a stakeholder; `fidelity.py`, whether they say what it declared
consumption/        how many items of each type to show to somebody who will take only a few of them
market.py           rules show slates batch by batch; `slates.py`, the state that earlier lists leave behind
measures/           numbers about what was shown
evaluation/         rules compared with intervals, misreports, majorities, and the reasons of a list
proportionality.py  which group a list wrongs
tradeoff/           whether diversity costs accuracy on given data
cases/, sources.py  where markets come from; `offers.py`, actions of a decision case as items
section.py, page/   the section of a run and its page
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from accordant.slates.candidates import Candidates, Gains, gains_of
    from accordant.slates.catalogue import Catalogue, Requests
    from accordant.slates.market import ExpectedUptake, Market, Served, on_one_scale, serve
    from accordant.slates.rule import SlateRule, create, names, register
    from accordant.slates.slates import Slates, State

_PARTS = {
    "Candidates": "candidates",
    "Catalogue": "catalogue",
    "ExpectedUptake": "market",
    "Gains": "candidates",
    "Market": "market",
    "Requests": "catalogue",
    "Served": "market",
    "SlateRule": "rule",
    "Slates": "slates",
    "State": "slates",
    "create": "rule",
    "gains_of": "candidates",
    "names": "rule",
    "on_one_scale": "market",
    "register": "rule",
    "serve": "market",
}

__all__ = [
    "Candidates", "Catalogue", "ExpectedUptake", "Gains", "Market", "Requests", "Served", "SlateRule", "Slates",
    "State", "create", "gains_of", "names", "on_one_scale", "register", "serve",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Import a part on first use: the command line imports this room for its options alone."""
    if name in _PARTS:
        return getattr(importlib.import_module(f"accordant.slates.{_PARTS[name]}"), name)
    if name in _PARTS.values():
        return importlib.import_module(f"accordant.slates.{name}")
    raise AttributeError(f"module 'accordant.slates' has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return everything that is public, imported or not."""
    return sorted({*__all__, *_PARTS.values()})
