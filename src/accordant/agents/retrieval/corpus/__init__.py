"""Corpora: collections of passages. The built-in one stands beside this file, one Markdown file per framework."""

from __future__ import annotations

from accordant.agents.retrieval.corpus.corpus import Corpus, built_in_corpus, parse, read_corpus

__all__ = ["Corpus", "built_in_corpus", "parse", "read_corpus"]
