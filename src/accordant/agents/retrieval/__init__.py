"""Retrieval: short passages on ethical frameworks, looked up and cited by id."""

from __future__ import annotations

from accordant.agents.retrieval.passage import Hit, Passage, Retriever

__all__ = ["Hit", "Passage", "Retriever"]
