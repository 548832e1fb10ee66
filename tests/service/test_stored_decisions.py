"""Decisions read back: as they were told, explained, and which others were decided alike."""

from __future__ import annotations

import numpy as np
import pytest
from sqlalchemy import select

from accordant.service.contests import Contestation
from accordant.service.answers import typed_rows
from accordant.service.erasure import erase
from accordant.service.stored_decisions import MOST_ALIKE, SIMILAR, decision_of_link, like_cases, read_decision
from accordant.service.schema import decision
from accordant.service.secrets import Erased

GENERATOR = np.random.default_rng(3)
CONTEXTS = [{"score": 0.4, "branch": "south"}] + [
    {"score": round(float(score), 2), "branch": str(branch)}
    for score, branch in zip(GENERATOR.normal(0.4, 0.6, 39), GENERATOR.choice(["north", "south"], 39), strict=True)
]


@pytest.fixture
def told(service, client):
    return service.decider.decide(client, "one", [*CONTEXTS, {"score": 0.1, "branch": "abroad"}]).decisions


def read(service, identifier):
    with service.database.reading() as connection:
        return read_decision(service.decider, connection, identifier)


@pytest.mark.long
def test_a_decision_is_read_as_it_was_told(service, told):
    for answer, context in zip(told[:5], CONTEXTS, strict=False):
        found = read(service, answer["id"])
        assert found.context == context
        assert found.answer == {name: answer[name] for name in found.answer}
        assert found.explained().person.action == answer["action"]
        assert answer["action"] in found.letter("en").decided
    assert read(service, "nothing") is None


def test_it_says_that_somebody_is_still_to_decide(service, told):
    letter = read(service, told[-1]["id"]).letter("de")
    assert (letter.decision, letter.language) == ("", "de")


def test_a_link_leads_to_its_decision(service, told):
    with service.database.reading() as connection:
        for answer in told[:3]:
            row = decision_of_link(service.decider, connection, answer["link"].rsplit("/", 1)[1])
            assert row.id == answer["id"]
        assert decision_of_link(service.decider, connection, "nothing") is None


@pytest.mark.long
def test_like_cases_are_those_with_the_same_reason_nearby(service, told):
    """Found one by one, with the explanation of each and distances by hand."""
    first = read(service, told[0]["id"])
    with service.database.reading() as connection:
        found = like_cases(service.decider, connection, first)
    policy = first.run.policy
    kept = np.asarray(policy.profile_.reference_rows["score"], dtype=float)
    unit = np.subtract(*np.quantile(kept, (0.75, 0.25)))
    wanted = {}
    why = first.explained().reason
    for answer, context in zip(told[1:-1], CONTEXTS[1:], strict=True):
        other = read(service, answer["id"]).explained()
        apart = (abs(context["score"] - CONTEXTS[0]["score"]) / unit + (context["branch"] != CONTEXTS[0]["branch"])) / 2
        same = (other.reason.kind, other.reason.action, other.reason.other, other.reason.who, other.reason.words) == (
            why.kind, why.action, why.other, why.who, why.words
        )  # fmt: skip
        if same and apart <= SIMILAR and other.person.settled == "rule":
            wanted[answer["id"]] = apart
    assert wanted
    assert {each.id: each.distance for each in found} == pytest.approx(wanted)
    distances = [each.distance for each in found]
    assert distances == sorted(distances)
    assert len(found) <= MOST_ALIKE


def test_contested_deleted_and_other_cases_are_not_offered(service, told):
    first = read(service, told[0]["id"])
    with service.database.reading() as connection:
        before = [each.id for each in like_cases(service.decider, connection, first)]
    with service.database.writing() as connection:
        row = connection.execute(select(decision).where(decision.c.id == before[0])).one()
        Contestation(service.keys).contest(connection, row, "No.")
        gone = connection.execute(select(decision.c.person).where(decision.c.id == before[1])).scalar_one()
    erase(service.database, service.keys, gone)
    with service.database.reading() as connection:
        assert [each.id for each in like_cases(service.decider, connection, first)] == before[2:]
        assert like_cases(service.decider, connection, read(service, told[-1]["id"])) == []
    with pytest.raises(Erased):
        read(service, before[1])


def test_a_difference_says_here_and_there(service, told):
    first = read(service, told[0]["id"])
    with service.database.reading() as connection:
        case = like_cases(service.decider, connection, first)[0]
    other = read(service, case.id)
    assert {each.feature: (each.here, each.there) for each in case.differences} == {
        name: (first.context[name], other.context[name])
        for name in first.context if first.context[name] != other.context[name]
    }  # fmt: skip
    assert len(typed_rows(first.run, [first.context, other.context])["score"]) == 2
