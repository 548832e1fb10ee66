"""BM25: passages by the rare words that they share with a query."""

from __future__ import annotations

import importlib
import logging
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accordant.agents.retrieval.retrievers import CorpusRetriever, retrievers
from accordant.agents.retrieval.words import words

K1 = 1.5  # how soon repetitions of a word stop to count; the library's default
B = 0.75  # how much long passages are held back, in [0, 1]; the library's default


@retrievers.register("bm25")
class BM25Retriever(CorpusRetriever):
    """Scores passages by words, with the library bm25s (Lù 2024, arXiv 2407.03618).

    With N passages, n(w) of them containing the word w, f(w, p) occurrences of w in p, |p| words in p, and their
    mean m, the score of a query is, in the form of Lucene (Kamphuis, de Vries, Boytsov and Lin 2020)::

        Σ_w ln(1 + (N − n(w) + ½) / (n(w) + ½)) · f(w, p) / (f(w, p) + k₁ (1 − b + b |p| / m))

    over the words of the query with repetitions, k₁ = 1.5, b = 0.75. Words are those of
    `accordant.agents.retrieval.words`; N, n and m are of the whole corpus. Unknown words add 0: a query without any
    known word scores 0 everywhere, and ids decide.

    Parameters
    ----------
    corpus
        What is searched: claims with implications.
    """

    def scores(self, query: str) -> NDArray[np.float64]:
        """Return scores, shape (passage,), at least 0."""
        codes, index = self._index
        known = sorted(codes[word] for word in words(query) if word in codes)  # sums do not depend on word order
        if not known:
            return np.zeros(len(self.corpus))
        return np.asarray(index.get_scores_from_ids(known), dtype=np.float64)

    @cached_property
    def _index(self) -> tuple[dict[str, int], Any]:
        """Code of each word, and the library's index; None in its place if the corpus has no words."""
        texts = [words(passage.text) for passage in self.corpus.passages]
        codes = {word: code for code, word in enumerate(sorted({word for text in texts for word in text}))}
        if not codes:
            return codes, None
        library = importlib.import_module("bm25s")
        logging.getLogger("bm25s").setLevel(logging.WARNING)  # the library leaves it at DEBUG
        index = library.BM25(k1=K1, b=B, method="lucene", dtype="float64", backend="numpy")
        index.index(
            ([[codes[word] for word in text] for text in texts], codes), create_empty_token=False, show_progress=False
        )
        return codes, index
