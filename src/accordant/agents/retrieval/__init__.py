"""Retrieval: short passages on ethical frameworks, looked up and cited by id.

passage.py      a passage, a hit, and what any retriever does
corpus/         collections of passages: the built-in one, and those that users write in Markdown
words.py        the words of a text, as bm25 counts them
retrievers.py   what retrievers over a corpus share, their registry, and the one that finds nothing
bm25.py         passages by the rare words that they share with a query; the default
embeddings.py   passages by what they mean
grounding.py    whether what is cited was looked up

Passages and queries are data. Nothing that they say is carried out; only ids go into moves.
"""

from __future__ import annotations

from accordant.agents.retrieval.bm25 import BM25Retriever
from accordant.agents.retrieval.corpus import Corpus, built_in_corpus, read_corpus
from accordant.agents.retrieval.embeddings import EmbeddingRetriever
from accordant.agents.retrieval.grounding import fabricated, grounding
from accordant.agents.retrieval.passage import Hit, Passage, Retriever
from accordant.agents.retrieval.retrievers import (
    CorpusRetriever,
    NoRetriever,
    built_in_retriever,
    retriever_for,
    retrievers,
)

__all__ = [
    "BM25Retriever",
    "Corpus",
    "CorpusRetriever",
    "EmbeddingRetriever",
    "Hit",
    "NoRetriever",
    "Passage",
    "Retriever",
    "built_in_corpus",
    "built_in_retriever",
    "fabricated",
    "grounding",
    "read_corpus",
    "retriever_for",
    "retrievers",
]
