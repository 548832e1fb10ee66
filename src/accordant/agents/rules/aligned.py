"""`AlignedAgent`: a rule agent that follows an ethical framework and cites passages for it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from accordant.agents.agent import agents
from accordant.agents.concession import Concession
from accordant.agents.frameworks import Framework, Grounds, frameworks, guarded_utility
from accordant.agents.retrieval.passage import Retriever
from accordant.agents.rules.citations import Citations, built_in_citations
from accordant.agents.rules.rule import RuleAgent
from accordant.agents.view import View
from accordant.allocations import Utility
from accordant.errors import InputError

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
        If `k` is below 1.
    """

    def __init__(
        self,
        framework: str | Framework,
        *,
        name: str | None = None,
        concession: str | Concession = "linear",
        retriever: Retriever | Literal["built_in"] | None = "built_in",
        k: int = PASSAGES,
    ) -> None:
        self.framework = frameworks.create(framework) if isinstance(framework, str) else framework
        super().__init__(self.framework.name if name is None else name, concession)
        if k < 1:
            raise InputError(f"k is {k}; allowed: 1 or more passages")
        if isinstance(retriever, str) and retriever != "built_in":
            raise InputError(f"retriever is {retriever!r}; allowed: 'built_in', None, or an object with `search`")
        self.retriever, self.k = retriever, k
        self._citations = None if retriever == "built_in" else Citations(retriever, self.framework, k)
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

    def grounds(self, view: View, patient: int) -> Grounds:
        """Return what speaks for a patient in the framework."""
        return self.framework.grounds(view.scenario, view.seed, patient)

    def citations(self, code: str) -> tuple[str, ...]:
        """Return ids of the passages for the reasons of a code; looked up once."""
        return (self._citations or built_in_citations(self.framework, self.k)).of(code)

    def to_json(self) -> dict[str, Any]:
        """Return what a transcript says of the agent, with the framework and its parameters."""
        looked_up = self.retriever if self.retriever in (None, "built_in") else type(self.retriever).__name__
        parameters = asdict(self.framework)  # type: ignore[call-overload]
        return super().to_json() | {
            "framework": self.framework.name,
            "parameters": parameters,
            "retriever": looked_up,
        }


class Aligned:
    """Builds agents of one framework; registered under the framework's name."""

    def __init__(self, framework: str) -> None:
        self.framework = framework

    def __call__(
        self,
        name: str | None = None,
        concession: str | Concession = "linear",
        retriever: Retriever | Literal["built_in"] | None = "built_in",
        k: int = PASSAGES,
        parameters: dict[str, Any] | None = None,
    ) -> AlignedAgent:
        """Return an `AlignedAgent`; `parameters` are those of the framework."""
        framework = frameworks.create(self.framework, parameters)
        return AlignedAgent(framework, name=name, concession=concession, retriever=retriever, k=k)


for _framework in frameworks.names():
    agents.register(_framework, aliases=frameworks.aliases(_framework))(Aligned(_framework))
