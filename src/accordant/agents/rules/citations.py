"""`Citations`: the passages that a framework's agent cites, looked up once for each code."""

from __future__ import annotations

from functools import cache

from accordant.agents.frameworks import Framework
from accordant.agents.retrieval import Retriever, built_in_retriever, query_for

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
