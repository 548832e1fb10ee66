"""The corpus that comes with the package, and corpora in general."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from accordant.agents.frameworks import frameworks
from accordant.agents.moves import CONSIDERATIONS as CODES
from accordant.agents.retrieval import Corpus, Passage, built_in_corpus
from accordant.errors import InputError, UnknownNameError

NAMES = ("care", "egalitarian", "libertarian", "prioritarian", "rawlsian", "rights", "sufficientarian", "utilitarian")
MAIN = {
    "care": "dependency",
    "egalitarian": "equal_chance",
    "libertarian": "arrival",
    "prioritarian": "worst_off",
    "rawlsian": "severity",
    "rights": "right_to_rescue",
    "sufficientarian": "threshold",
    "utilitarian": "benefit",
}


def one(id="a", framework="f", claim="A claim.", **more):  # noqa: A002
    return Passage(id, framework, claim, more.pop("implication", "It follows."), **more)


def test_eight_frameworks_have_eight_passages_or_more():
    corpus = built_in_corpus()
    assert corpus.frameworks == NAMES
    for name in NAMES:
        assert len(corpus.of(name)) >= 8
        assert [each.id for each in corpus.of(name)] == [f"{name}-{n + 1}" for n in range(len(corpus.of(name)))]
    assert len(corpus) == sum(len(corpus.of(name)) for name in NAMES) >= 64


@pytest.mark.parametrize("passage", built_in_corpus().passages, ids=lambda each: each.id)
def test_every_passage_is_whole(passage):
    assert re.fullmatch(r"[A-Z].+[^.], (1[6-9]|20)\d\d", passage.source)  # author, work, year
    for text, most in ((passage.claim, 2), (passage.implication, 1)):
        assert text[0].isupper() and text.endswith(".")
        assert 1 <= len(re.findall(r"[.?](?: |$)", text)) <= most
        assert len(text) <= 240
        assert not re.search('["“”„«»]', text)  # our words, no quotations
    assert passage.codes
    assert set(passage.codes) <= set(CODES)


def test_texts_are_distinct():
    for field in ("claim", "implication"):
        assert len({getattr(each, field) for each in built_in_corpus().passages}) == len(built_in_corpus())


@pytest.mark.parametrize("name", NAMES)
def test_every_framework_states_limits_and_they_support_another_consideration(name):
    limits = [each for each in built_in_corpus().of(name) if each.claim.startswith("A limit: ")]
    assert len(limits) >= 2
    assert all(limit.codes != (MAIN[name],) for limit in limits)


@pytest.mark.parametrize("name", NAMES)
def test_the_consideration_of_a_framework_is_supported_by_its_passages(name):
    assert sum(MAIN[name] in each.codes for each in built_in_corpus().of(name)) >= 3
    if name in frameworks:
        assert sum(frameworks.factory(name).code in each.codes for each in built_in_corpus().of(name)) >= 3


def test_every_code_is_supported():
    assert {code for each in built_in_corpus().passages for code in each.codes} == set(CODES)


def test_a_corpus_is_sorted_and_its_hash_ignores_order():
    one_way, other_way = Corpus([one("b"), one("a")]), Corpus([one("a"), one("b")])
    assert [each.id for each in one_way.passages] == ["a", "b"]
    assert one_way == other_way
    assert one_way.hash == other_way.hash
    assert re.fullmatch("[0-9a-f]{64}", one_way.hash)


@pytest.mark.parametrize(
    "changed",
    [
        one("c"),
        one(framework="g"),
        one(claim="Another."),
        one(implication="Otherwise."),
        one(source="Me, 2020"),
        one(codes=("benefit",)),
    ],
    ids=["id", "framework", "claim", "implication", "source", "codes"],
)
def test_the_hash_changes_with_every_field(changed):
    assert Corpus([changed]).hash != Corpus([one()]).hash


def test_the_hash_of_the_package_does_not_depend_on_hash_seeds():
    code = "from accordant.agents.retrieval import built_in_corpus; print(built_in_corpus().hash)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == built_in_corpus().hash


def test_a_corpus_answers_by_id_and_by_framework():
    corpus = Corpus([one("a"), one("b", "g"), one("c")])
    assert [each.id for each in corpus.of("f")] == ["a", "c"]
    assert corpus.of("h") == ()
    assert corpus.passage("b").framework == "g"
    with pytest.raises(UnknownNameError, match=r"unknown passage 'rawlsian-33'; did you mean 'rawlsian-3'\?"):
        built_in_corpus().passage("rawlsian-33")


def test_an_empty_corpus_is_a_corpus():
    assert len(Corpus()) == 0
    assert Corpus().frameworks == Corpus().of("rawlsian") == ()
    with pytest.raises(UnknownNameError, match="none declared"):
        Corpus().passage("a")


def test_ids_are_unique_within_and_between_corpora():
    with pytest.raises(InputError, match="two passages have the id 'a': 'One.' and 'Two.'; allowed: each id once"):
        Corpus([one(claim="One."), one("b"), one(claim="Two.")])
    assert [each.id for each in Corpus([one("b")]).extended(Corpus([one("a")])).passages] == ["a", "b"]
    with pytest.raises(InputError, match="two passages have the id 'a'"):
        Corpus([one()]).extended(Corpus([one()]))


@pytest.mark.parametrize("field", ["id", "framework", "claim"])
def test_a_passage_needs_an_id_a_framework_and_a_claim(field):
    with pytest.raises(InputError, match=f"has no {field}; allowed: some text"):
        Corpus([one(**{field: "  "})])
