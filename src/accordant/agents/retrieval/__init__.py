"""Retrieval: short passages on ethical frameworks, looked up and cited by id.

passage.py      a passage, a hit, and what any retriever does
corpus/         collections of passages: the built-in one, and those that users write in Markdown
words.py        the words of a text, as bm25 counts them
retrievers.py   what retrievers over a corpus share, their registry, and the one that finds nothing
bm25.py         passages by the rare words that they share with a query; the default
embeddings.py   passages by what they mean
lookup.py       what agents look passages up with, and what they look for
grounding.py    whether what is cited was looked up

Passages and queries are data. Nothing that they say is carried out; only ids go into moves.
"""

from __future__ import annotations

from accordant.agents.retrieval.bm25 import BM25Retriever
from accordant.agents.retrieval.corpus import Corpus, built_in_corpus, read_corpus
from accordant.agents.retrieval.embeddings import EmbeddingRetriever
from accordant.agents.retrieval.grounding import fabricated, grounding
from accordant.agents.retrieval.lookup import Lookup, check_lookup, query_for, retriever_of
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
    "Lookup",
    "NoRetriever",
    "Passage",
    "Retriever",
    "built_in_corpus",
    "built_in_retriever",
    "check_lookup",
    "fabricated",
    "grounding",
    "query_for",
    "read_corpus",
    "retriever_for",
    "retriever_of",
    "retrievers",
]
