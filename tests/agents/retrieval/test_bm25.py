"""BM25 against a twin in plain Python, and how well the built-in passages are found."""

from __future__ import annotations

import logging
import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accordant.agents.retrieval import BM25Retriever, Corpus, Passage, built_in_corpus, built_in_retriever
from accordant.agents.retrieval.retrievers import B, K1
from accordant.agents.retrieval.retrievers import FUNCTION_WORDS, words


def twin(corpus, query):
    """Return scores by the formula of the docstring, word by word."""
    texts = [words(each.text) for each in corpus.passages]
    mean = sum(map(len, texts)) / len(texts)
    scores = []
    for text in texts:
        score = 0.0
        for word in words(query):
            holding = sum(word in other for other in texts)
            if holding:
                rarity = math.log(1 + (len(texts) - holding + 0.5) / (holding + 0.5))
                often = text.count(word)
                score += rarity * often / (often + K1 * (1 - B + B * len(text) / mean))
        scores.append(score)
    return scores


def small(*claims):
    return Corpus(Passage(f"p{row}", "f", claim, "") for row, claim in enumerate(claims))


def found(retriever, query, **more):
    return [(hit.passage.id, hit.score) for hit in retriever.search(query, **more)]


def test_a_worked_example():
    retriever = BM25Retriever(small("cat dog", "cat cat", "fish"))
    scores = dict(found(retriever, "cat"))
    rarity = math.log(1 + 1.5 / 2.5)
    length = 1.5 * (0.25 + 0.75 * 2 / (5 / 3))
    assert scores["p0"] == pytest.approx(rarity / (1 + length))
    assert scores["p1"] == pytest.approx(rarity * 2 / (2 + length))
    assert scores["p2"] == 0
    assert dict(found(retriever, "cat cat"))["p0"] == pytest.approx(2 * scores["p0"])


@pytest.mark.few(5)
@pytest.mark.parametrize(
    "query",
    [each.implication for each in built_in_corpus().passages[::7]]
    + ["severity severity unheard worst_off", "patients"],
)
def test_the_library_agrees_with_the_twin_on_the_built_in_corpus(query):
    expected = twin(built_in_corpus(), query)
    assert built_in_retriever().scores(query) == pytest.approx(expected, rel=1e-12)
    ordered = sorted(
        zip([each.id for each in built_in_corpus().passages], expected), key=lambda each: (-each[1], each[0])
    )
    assert [each[0] for each in found(built_in_retriever(), query, k=5)] == [each[0] for each in ordered[:5]]


LETTERS = st.lists(st.sampled_from(["bed", "ward", "care", "need", "lot", "zeal"]), max_size=6).map(" ".join)


@settings(max_examples=40, deadline=None)
@given(st.lists(LETTERS.filter(bool), min_size=1, max_size=6), LETTERS)
def test_the_library_agrees_with_the_twin_on_any_corpus(claims, query):
    corpus = small(*claims)
    assert BM25Retriever(corpus).scores(query) == pytest.approx(twin(corpus, query), rel=1e-12, abs=1e-15)


@settings(max_examples=20, deadline=None)
@given(st.permutations("worst off patient severity benefit threshold bed".split()))
def test_the_order_of_words_does_not_matter(shuffled):
    assert found(built_in_retriever(), " ".join(shuffled), k=72) == found(
        built_in_retriever(), "worst off patient severity benefit threshold bed", k=72
    )


@pytest.mark.parametrize("query", ["", "  ", "?!", "the of and", "xylophone quux"])
def test_queries_without_known_words_score_nothing_and_ids_decide(query):
    assert found(built_in_retriever(), query) == [("care-1", 0), ("care-2", 0), ("care-3", 0)]
    assert found(built_in_retriever(), query, framework="rights", k=2) == [("rights-1", 0), ("rights-2", 0)]


def test_one_passage_and_passages_without_words():
    (hit,) = BM25Retriever(small("one bed")).search("bed", k=5)
    assert hit.score > 0
    assert found(BM25Retriever(small("?", "the")), "the cat") == [("p0", 0), ("p1", 0)]
    assert found(BM25Retriever(small("?", "cat")), "cat")[0][0] == "p1"


def test_nothing_is_printed_or_logged(capfd, caplog):
    with caplog.at_level(logging.DEBUG):
        BM25Retriever(small("cat", "dog")).search("cat")
    assert capfd.readouterr() == ("", "")
    assert caplog.records == []


def test_words():
    assert words("The WORST_OFF patients' benefits, 2 ladies; ﬁve crises.") == [
        "worst", "off", "patient", "benefit", "2", "lady", "five", "crise",
    ]  # fmt: skip
    assert words("status bus glass gas toes aches") == ["status", "bus", "glass", "gas", "toes", "ache"]
    assert words("Füße FÜSSE") == ["füsse", "füsse"]
    assert words(" — ") == []
    assert all(word == word.casefold() for word in FUNCTION_WORDS)


def test_every_passage_is_found_first_by_its_own_words():
    for field in ("claim", "implication"):
        for each in built_in_corpus().passages:
            assert built_in_retriever().search(getattr(each, field), k=1)[0].passage == each
            assert built_in_retriever().search(getattr(each, field), framework=each.framework, k=1)[0].passage == each


def test_what_words_alone_find_when_the_implication_was_not_indexed():
    """A harder question: from an implication to its claim. Words match poorly, and we say so."""
    corpus = built_in_corpus()
    claims = BM25Retriever(Corpus(replace(each, implication="") for each in corpus.passages))
    first = [claims.search(each.implication, k=1)[0].passage for each in corpus.passages]
    same = sum(one.framework == each.framework for one, each in zip(first, corpus.passages))
    own = sum(one.id == each.id for one, each in zip(first, corpus.passages))
    print(f"{same} of {len(corpus)} find their framework first, {own} their claim")
    assert same >= 2 * len(corpus) / len(corpus.frameworks)  # twice chance
    assert own >= 4  # chance is 1


@pytest.mark.parametrize(
    ("framework", "query", "code"),
    [
        ("utilitarian", "benefit", "benefit"),
        ("rawlsian", "worst_off", "worst_off"),
        ("prioritarian", "severity", "severity"),
        ("egalitarian", "equal_chance", "equal_chance"),
        ("libertarian", "arrival", "arrival"),
        ("care", "dependency", "dependency"),
        ("rights", "right_to_rescue", "right_to_rescue"),
        ("sufficientarian", "threshold", "threshold"),
    ],
)
def test_a_framework_asked_for_its_code_finds_support_first(framework, query, code):
    (hit,) = built_in_retriever().search(query, framework=framework, k=1)
    assert code in hit.passage.codes
    assert hit.score > 0
