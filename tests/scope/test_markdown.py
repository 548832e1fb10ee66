"""The card as Markdown: it reads well, and comes back exactly."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accordant.cases.files import built_in_cases, read_case
from accordant.errors import SpecError
from accordant.scope import Criterion, ScopeCard, from_markdown, to_markdown


def card_of(name):
    """Return the card of a built-in case."""
    return read_case(name)[0].scope


@pytest.mark.parametrize("name", built_in_cases())
def test_round_trip_of_the_built_in_cards(name):
    card = card_of(name)
    again = from_markdown(to_markdown(card))
    assert again == card and again.hash == card.hash


@settings(max_examples=80, deadline=None)
@given(
    texts=st.lists(st.text(), min_size=6, max_size=6),
    uses=st.lists(st.text()),
    threshold=st.none() | st.floats(allow_nan=False, allow_infinity=False),
    params=st.dictionaries(st.text(), st.integers() | st.text() | st.lists(st.integers())),
)
def test_round_trip_of_any_text(texts, uses, threshold, params):
    names = ("id", "version", "title", "decision", "limits", "appeal_route")
    criteria = [Criterion(metric="m", threshold=threshold, params=params)]
    card = ScopeCard(**dict(zip(names, texts, strict=True)), in_scope_uses=uses, criteria=criteria)
    assert from_markdown(to_markdown(card)) == card


@pytest.mark.parametrize("text", ["\n```json\n{}\n```\n", "# heading\n", "a | b\n| --- |", "```", "\r\n", "\x85\u2028"])
def test_texts_that_look_like_markdown(text):
    card = ScopeCard(id=text, version="1", title=text, decision=text, limits=text, in_scope_uses=[text, text])
    card = card.replace(criteria=[{"metric": text, "rationale": text, "params": {text: text}}])
    written = to_markdown(card)
    assert from_markdown(written) == card
    assert from_markdown(written.replace("\n", "\r\n")) == card  # as some editors save it
    assert written.count("\n# ") == 0  # one title, on the first line


def test_it_reads_well():
    written = to_markdown(card_of("lending"))
    assert written.startswith("# Scope card: Loan decisions on Lending Club data\n\nCard lending, version 1.")
    assert "**Decision:** Grant a loan, grant a lower amount, or refuse" in written
    assert "| Demographic_Parity | 0.1 |  | access for vulnerable applicants | the authors of the case |" in written
    assert "| Bank | deciding | no | rewards taken from the published tables |  |" in written
    assert "| Applicant_Type | audit only |" in written
    assert "## Frameworks considered" not in written  # what is empty is left out
    assert "The card certifies nothing." in written
    assert card_of("lending").hash in written


def test_a_card_with_nothing_but_names():
    written = to_markdown(ScopeCard(id="a", version="1", title="t", decision="d"))
    assert [line for line in written.splitlines() if line.startswith("#")] == ["# Scope card: t", "## The card as data"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text.replace("| 0.1 |", "| 0.9 |", 1), "says something else than its data"),
        (lambda text: text.replace('"threshold": 0.1', '"threshold": 0.9', 1), "says something else than its data"),
        (lambda text: text.partition("```json")[0], "no scope card as data"),
        (lambda text: text.rstrip().removesuffix("```"), "no scope card as data"),
        (lambda text: text.replace('"version": "1"', '"version": "1'), "not JSON"),
        (lambda text: text.replace('"version": "1"', '"versoin": "1"'), "did you mean 'version'"),
        (lambda _: "", "no scope card as data"),
    ],
)
def test_a_card_whose_text_was_changed_is_refused(change, message):
    with pytest.raises(SpecError, match=message):
        from_markdown(change(to_markdown(card_of("lending"))))


def test_parameters_stand_in_the_table_as_they_are_said():
    params = {"of": "Ann", "k": 3, "b": {"z": 1, "a": 2}}
    card = ScopeCard(id="c", version="1", title="t", decision="d", criteria=[Criterion(metric="m", params=params)])
    (row,) = [line for line in to_markdown(card).splitlines() if line.startswith("| m |")]
    assert 'b: {"a": 2, "z": 1}, k: 3, of: Ann' in row
