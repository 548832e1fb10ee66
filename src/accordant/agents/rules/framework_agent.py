"""`AlignedAgent`: a rule agent that follows an ethical framework and cites passages for it."""

from __future__ import annotations

import inspect
from dataclasses import asdict
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accordant.agents.agent import View, agents
from accordant.agents.concession import Concession
from accordant.agents.frameworks import Framework, Grounds, frameworks, guarded_utility
from accordant.agents.parameters import count
from accordant.agents.retrieval import Lookup, Retriever, built_in_retriever, check_lookup, query_for
from accordant.agents.rules.rule import RuleAgent
from accordant.allocations import Utility
from accordant.errors import InputError

LOOKED_AT = 50  # hits that are looked through for passages that support a code; more than a framework has


class Citations:
    """What a retriever finds for one framework.

    Parameters
    ----------
    retriever
        Asked once for each code; None for no passages.
    framework
        Whose passages are looked up.
    k
        How many are cited for one code at most.
    """

    def __init__(self, retriever: Retriever | None, framework: Framework, k: int) -> None:
        self.retriever, self.framework, self.k = retriever, framework, k
        self._known: dict[str, tuple[str, ...]] = {}

    def of(self, code: str) -> tuple[str, ...]:
        """Return ids of the passages that support the reasons of a code, best first."""
        if self.retriever is None:
            return ()
        if code not in self._known:
            query = query_for(code, self.framework.claim)
            hits = self.retriever.search(query, framework=self.framework.name, k=LOOKED_AT)
            supporting = (hit.passage for hit in hits if not hit.passage.codes or code in hit.passage.codes)
            self._known[code] = tuple(passage.id for passage in supporting)[: self.k]
        return self._known[code]


@cache
def built_in_citations(framework: Framework, k: int) -> Citations:
    """Return citations from the corpus that comes with the package, shared by all agents of the framework."""
    return Citations(built_in_retriever(), framework, k)


PASSAGES = 3  # cited for one consideration at most, so that reasons stay short


class AlignedAgent(RuleAgent):
    """A rule agent whose utility and hard constraints are those of a framework.

    It is shown the facts that the framework reads and no others.

    Parameters
    ----------
    framework
        A framework, or the name of one.
    name
        Unique in a deliberation; None for that of the framework.
    concession
        A strategy, or the name of one.
    retriever
        Looks passages up for reasons; ``built_in`` for the corpus that comes with the package, None for no passages.
    k
        How many passages are cited for one consideration at most, at least 1.

    Raises
    ------
    UnknownNameError
        If a framework, concession strategy or retriever of that name does not exist.
    InputError
        If `k` is below 1, or a parameter is of the wrong kind.
    """

    def __init__(
        self,
        framework: str | Framework,
        *,
        name: str | None = None,
        concession: str | Concession = "linear",
        retriever: Lookup = "built_in",
        k: int = PASSAGES,
    ) -> None:
        self.framework = frameworks.create(framework) if isinstance(framework, str) else framework
        super().__init__(self.framework.name if name is None else name, concession)
        check_lookup(retriever)
        self.retriever, self.k = retriever, count(k, "k", "passages")
        self._citations = None if isinstance(retriever, str) else Citations(retriever, self.framework, k)
        self.facts = tuple(self.framework.sees)
        self.about = (
            f"Rule agent, no language model: follows the framework {self.framework.title} "
            f"({self.framework.claim[:-1]}); its texts are templates over numbers and passage ids."
        )

    def utility(self, view: View) -> Utility:
        """Return the utility of the framework, guarded by its hard constraints."""
        return guarded_utility(self.framework, view.scenario, view.seed)

    def violations(self, view: View, shares: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return how many constraints of the framework allocations break."""
        return self.framework.violations(view.scenario, shares)

    def grounds(self, view: View, claimant: int) -> Grounds:
        """Return what speaks for a claimant in the framework."""
        return self.framework.grounds(view.scenario, view.seed, claimant)

    def citations(self, code: str) -> tuple[str, ...]:
        """Return ids of the passages for the reasons of a code; looked up once."""
        return (self._citations or built_in_citations(self.framework, self.k)).of(code)

    def to_json(self) -> dict[str, Any]:
        """Return what a transcript says of the agent, with the framework and its parameters."""
        looked_up = self.retriever if self.retriever in (None, "built_in") else type(self.retriever).__name__
        parameters = asdict(self.framework)  # type: ignore[call-overload]
        return super().to_json() | {"framework": self.framework.name, "parameters": parameters, "retriever": looked_up}


class Aligned:
    """Builds agents of one framework; registered under the framework's name.

    Its parameters are those of `AlignedAgent` and, beside them, those of the framework::

        create("rights", {"threshold": 0.9, "concession": "boulware"})

    Raises InputError if the framework has a parameter of the same name as one of the agent.
    """

    def __init__(self, framework: str) -> None:
        self.framework = framework
        own = inspect.signature(AlignedAgent).parameters.values()
        others = [parameter for parameter in own if parameter.name != "framework"]
        brought = inspect.signature(frameworks.factory(framework)).parameters.values()
        self.brought = tuple(parameter.name for parameter in brought)
        taken = sorted({parameter.name for parameter in own} & set(self.brought))
        if taken:
            raise InputError(f"framework {framework!r} has the parameter {taken[0]!r}, which names one of its agent")
        keyword = inspect.Parameter.KEYWORD_ONLY
        self.__signature__ = inspect.Signature([parameter.replace(kind=keyword) for parameter in (*others, *brought)])

    def __call__(self, **given: Any) -> AlignedAgent:
        """Return an `AlignedAgent`."""
        framework = frameworks.create(self.framework, {name: given.pop(name) for name in self.brought if name in given})
        return AlignedAgent(framework, **given)


for _framework in frameworks.names():
    agents.register(_framework, aliases=frameworks.aliases(_framework))(Aligned(_framework))
