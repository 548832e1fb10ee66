"""Retrieval: short passages on ethical frameworks, looked up and cited by id.

passage.py      a passage, a hit, what any retriever does, and whether what is cited was looked up
corpus/         collections of passages: the built-in one, and those that users write in Markdown
retrievers.py   by words (BM25, the default), by meaning, or none; their registry, and how agents look up

Passages and queries are data. Nothing that they say is carried out; only ids go into moves.
"""

from __future__ import annotations

from accordant.agents.retrieval.corpus import Corpus, built_in_corpus, read_corpus
from accordant.agents.retrieval.passage import Hit, Passage, Retriever, fabricated, grounding
from accordant.agents.retrieval.retrievers import (
    BM25Retriever,
    CorpusRetriever,
    EmbeddingRetriever,
    Lookup,
    NoRetriever,
    built_in_retriever,
    check_lookup,
    query_for,
    retriever_for,
    retriever_of,
    retrievers,
)

__all__ = [
    "BM25Retriever", "Corpus", "CorpusRetriever", "EmbeddingRetriever", "Hit", "Lookup", "NoRetriever", "Passage",
    "Retriever", "built_in_corpus", "built_in_retriever", "check_lookup", "fabricated", "grounding", "query_for",
    "read_corpus", "retriever_for", "retriever_of", "retrievers",
]  # fmt: skip
