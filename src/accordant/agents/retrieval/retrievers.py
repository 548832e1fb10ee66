"""Retrievers over a corpus: what they share, and the registry that knows them by name."""

from __future__ import annotations

import functools
import threading
from abc import ABC, abstractmethod
from collections import OrderedDict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accordant.agents.retrieval.corpus import Corpus, built_in_corpus
from accordant.agents.retrieval.passage import Hit, Retriever
from accordant.errors import InputError
from accordant.registry import Registry

REMEMBERED = 4096  # answers kept; a debate of 50 patients asks some hundred questions

retrievers: Registry[Retriever] = Registry(
    "retriever", group="accordant.retrievers", packages=("accordant.agents.retrieval",)
)


class CorpusRetriever(ABC):
    """Looks passages up in a corpus; a subclass says how near each passage is to a query.

    Answers are remembered, so that repeated debates cost nothing; threads may share a retriever.

    Parameters
    ----------
    corpus
        What is searched.
    """

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus
        self._answers: OrderedDict[tuple[str, str | None, int], tuple[Hit, ...]] = OrderedDict()
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        """Rebuild from the corpus: retrievers travel to worker processes, locks and indexes do not."""
        return type(self), (self.corpus,)

    def search(self, query: str, *, framework: str | None = None, k: int = 3) -> tuple[Hit, ...]:
        """Return the nearest passages, best first; ties by id.

        Parameters
        ----------
        query
            Any text, empty ones too. It is compared with the passages and never carried out.
        framework
            Search its passages alone; scores stay those of the whole corpus. Nothing is found if it has none.
        k
            Most passages, at least 0; all are returned if there are fewer.

        Raises
        ------
        InputError
            If the query is no text or `k` is no whole number from 0.
        """
        if not isinstance(query, str):
            raise InputError(f"query is {query!r:.60}; allowed: text")
        if isinstance(k, bool) or not isinstance(k, int) or k < 0:
            raise InputError(f"k is {k!r:.60}; allowed: whole numbers from 0")
        key = (query, framework, k)
        with self._lock:
            if key not in self._answers:
                self._answers[key] = self._found(*key)
                if len(self._answers) > REMEMBERED:
                    self._answers.popitem(last=False)
            self._answers.move_to_end(key)
            return self._answers[key]

    def _found(self, query: str, framework: str | None, k: int) -> tuple[Hit, ...]:
        """Return hits that are not remembered."""
        passages = self.corpus.passages
        searched = [row for row, each in enumerate(passages) if framework is None or each.framework == framework]
        if not searched or k == 0:
            return ()
        scores = self.scores(query)
        nearest = sorted(searched, key=lambda row: (-scores[row], passages[row].id))[:k]
        return tuple(Hit(passages[row], float(scores[row])) for row in nearest)

    @abstractmethod
    def scores(self, query: str) -> NDArray[np.float64]:
        """Return how near each passage of the corpus is to a query, shape (passage,); higher is nearer."""


@retrievers.register("none")
class NoRetriever:
    """Finds nothing: what is left of a deliberation when its corpus is taken away.

    Parameters
    ----------
    corpus
        Not read; accepted so that every retriever is built alike.
    """

    def __init__(self, corpus: Corpus | None = None) -> None:
        self.corpus = Corpus()
        del corpus

    def search(self, query: str, *, framework: str | None = None, k: int = 3) -> tuple[Hit, ...]:
        """Return nothing."""
        del query, framework, k
        return ()


def retriever_for(corpus: Corpus, method: str = "bm25") -> Retriever:
    """Return a retriever over a corpus.

    Parameters
    ----------
    corpus
        What is searched.
    method
        Registered name: ``bm25`` counts words, ``embeddings`` compares meanings (extra ``embeddings``), ``none``
        finds nothing.

    Raises
    ------
    UnknownNameError
        If the method is not registered.
    """
    return retrievers.create(method, {"corpus": corpus})


@functools.cache
def built_in_retriever() -> Retriever:
    """Return the default: BM25 over the built-in corpus; the same object each time."""
    return retriever_for(built_in_corpus())
