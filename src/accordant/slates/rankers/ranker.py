"""`Ranker`: one method from a view to a ranking, and the registry that knows rankers by name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from typing import Any, ClassVar

from accordant.registry import Registry
from accordant.slates.rankers.view import RankingView
from accordant.voting.ranking import Ranking

rankers: Registry[Ranker] = Registry("ranker", group="accordant.rankers", packages=("accordant.slates.rankers",))


class Ranker(ABC):
    """Whoever ranks items for a stakeholder.

    Attributes
    ----------
    name
        Stands in every ranking as the voter.
    kind
        ``rule``, ``language model``, ``recorded`` or ``fixture``.
    about
        One sentence on how it ranks; a rule says that it is one.
    reads_requests
        Whether the view names requests as the data do. Such names may tell who asks, so that only those get them whose
        rankings are already made.
    """

    kind: ClassVar[str] = "rule"
    reads_requests: ClassVar[bool] = False
    name: str
    about: str

    @abstractmethod
    def rank(self, view: RankingView) -> Ranking:
        """Return a ranking of items of the view; the same view always gives the same ranking of a rule.

        An empty order says nothing about any item.

        Raises
        ------
        InvalidMoveError
            If no valid ranking could be made.
        """

    def check(self, requests: Collection[str], items: Collection[str]) -> None:
        """Refuse, before anything is ranked, what does not fit the requests and items there are.

        Raises
        ------
        InputError
            If it names others.
        """
        del requests, items

    def usage(self) -> Mapping[str, Any]:
        """Return what was spent and what failed; empty where nothing can be."""
        return {}

    def to_json(self) -> dict[str, Any]:
        """Return what a record says of the ranker; never a key or a password."""
        return {"name": self.name, "kind": self.kind, "about": self.about}


def create_ranker(name: str, parameters: Mapping[str, Any] | None = None) -> Ranker:
    """Build a registered ranker.

    Raises
    ------
    UnknownNameError
        If the name is not registered.
    InputError
        If a parameter is wrong.
    """
    return rankers.create(name, parameters)
