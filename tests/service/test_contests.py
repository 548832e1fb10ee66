"""Contests, referrals and like cases: what each does to a decision, and who may answer."""

from __future__ import annotations

import pytest
from sqlalchemy import select, update

from accordant.errors import ConflictError, InputError, UnknownNameError
from accordant.service.contests import Contestation, decided_here, history, in_force, open_contests, refer
from accordant.service.record.audit import audit
from accordant.service.record.log import now
from accordant.service.schema import contest, decision, person
from accordant.service.secrets import new_id

CONTEXTS = [{"score": 0.4, "branch": "south"}, {"score": 0.5, "branch": "south"}, {"score": 0.1, "branch": "abroad"}]


@pytest.fixture
def decided(service, client):
    """Rows of decisions; the last was left to a person."""
    service.decider.decide(client, "one", CONTEXTS)
    with service.database.reading() as connection:
        return connection.execute(select(decision).order_by(decision.c.position)).all()


@pytest.fixture
def contestation(service):
    return Contestation(service.keys)


@pytest.fixture
def reviewers(service):
    """Two people."""
    made = [new_id(), new_id()]
    with service.database.writing() as connection:
        for who in made:
            connection.execute(person.insert().values(id=who, created_at=now()))
    return made


@pytest.fixture
def writing(service, decided, reviewers):
    with service.database.writing() as connection:
        yield connection


def state(connection, row):
    return connection.execute(select(decision.c.state).where(decision.c.id == row.id)).scalar_one()


def test_what_is_left_to_people_waits_for_them(service, decided):
    with service.database.reading() as connection:
        (waiting,) = open_contests(connection, service.workspace)
        assert (waiting.kind, waiting.decision, waiting.person) == ("referral", decided[2].id, decided[2].person)
        assert open_contests(connection, "elsewhere") == []
        assert open_contests(connection, overdue=True) == []
        assert in_force(connection, decided[2].id) is None


def test_what_is_late_comes_first_and_by_itself(service, decided, contestation):
    with service.database.writing() as connection:
        made = contestation.contest(connection, decided[0], "No.")
        connection.execute(update(contest).where(contest.c.id == made).values(due_at="2020-01-01T00:00:00.000000Z"))
        assert [row.id for row in open_contests(connection, overdue=True)] == [made]
        assert open_contests(connection)[0].id == made
        assert [row.id for row in open_contests(connection, most=1)] == [made]


@pytest.mark.parametrize(
    ("result", "action", "stands"), [("upheld", None, "upheld"), ("changed", "Deny", "changed"), ("remitted", None, "referred")]
)  # fmt: skip
def test_an_answer_decides_what_stands(writing, decided, contestation, reviewers, result, action, stands):
    made = contestation.contest(writing, decided[0], "No.")
    assert state(writing, decided[0]) == "contested"
    contestation.answer(writing, reviewers[0], made, result, "So.", action)
    assert state(writing, decided[0]) == stands
    assert in_force(writing, decided[0].id) == (action or decided[0].action)
    assert decided_here(writing, reviewers[0], decided[0].id)
    assert not decided_here(writing, reviewers[1], decided[0].id)
    assert [row.kind for row in history(writing, decided[0].id)] == ["contest", *["referral"] * (result == "remitted")]
    with pytest.raises(ConflictError):
        contestation.answer(writing, reviewers[1], made, "upheld", "So.", None)


def test_whoever_decided_what_was_left_does_not_answer_for_it(writing, decided, contestation, reviewers):
    (waiting,) = open_contests(writing)
    with pytest.raises(InputError, match="nobody decided here yet"):
        contestation.answer(writing, reviewers[0], waiting.id, "upheld", "So.", None)
    contestation.answer(writing, reviewers[0], waiting.id, "changed", "So.", "Lower")
    assert (state(writing, decided[2]), in_force(writing, decided[2].id)) == ("decided", "Lower")
    made = contestation.contest(writing, decided[2], "No.")
    with pytest.raises(ConflictError, match="whoever decided here"):
        contestation.answer(writing, reviewers[0], made, "upheld", "So.", None)
    with pytest.raises(InputError, match="as it was"):
        contestation.answer(writing, reviewers[1], made, "changed", "So.", "Lower")
    contestation.answer(writing, reviewers[1], made, "changed", "So.", "Grant")
    assert in_force(writing, decided[2].id) == "Grant"


def test_what_was_sent_back_may_be_decided_as_before(writing, decided, contestation, reviewers):
    made = contestation.contest(writing, decided[0], "No.")
    contestation.answer(writing, reviewers[0], made, "remitted", "So.", None)
    again = next(row for row in open_contests(writing) if row.decision == decided[0].id)
    with pytest.raises(ConflictError):
        contestation.answer(writing, reviewers[0], again.id, "changed", "So.", decided[0].action)
    contestation.answer(writing, reviewers[1], again.id, "changed", "So.", decided[0].action)
    assert in_force(writing, decided[0].id) == decided[0].action


def test_a_change_reaches_like_cases(service, decided, contestation, reviewers):
    with service.database.writing() as connection:
        made = contestation.contest(connection, decided[0], "No.")
        with pytest.raises(ConflictError, match="only a change"):
            contestation.decide_alike(connection, reviewers[0], made, [decided[1].id], "So.")
        contestation.answer(connection, reviewers[0], made, "changed", "So.", "Deny")
        for wrong, words in (
            ([], "no like case"),
            ([decided[2].id], "not by the same version"),
            (["x"], "not by the same"),
        ):
            with pytest.raises(InputError, match=words):
                contestation.decide_alike(connection, reviewers[0], made, wrong, "So.")
        assert contestation.decide_alike(connection, reviewers[0], made, [decided[1].id] * 2, "Alike.") == 1
        with pytest.raises(InputError, match="already"):
            contestation.decide_alike(connection, reviewers[1], made, [decided[1].id], "So.")
        (step,) = history(connection, decided[1].id)
        assert (step.kind, step.result, step.action) == ("like_case", "changed", "Deny")
        assert contestation.told(connection, step.answered_seq, decided[1].person) == {"reasons": "Alike."}
        contestation.contest(connection, decided[1], "It was good.")  # nobody asked this person before
    with service.database.reading() as connection:
        assert audit(connection, service.secrets).fault == ""


@pytest.mark.parametrize("grounds", ["", " \n", "x" * 10_001])
def test_grounds_are_a_text(writing, decided, contestation, grounds):
    with pytest.raises(InputError, match="grounds"):
        contestation.contest(writing, decided[0], grounds)


def test_what_is_unknown_is_refused(writing, decided, contestation, reviewers):
    with pytest.raises(UnknownNameError):
        contestation.answer(writing, reviewers[0], "nothing", "upheld", "So.", None)
    made = contestation.contest(writing, decided[0], "No.")
    with pytest.raises(UnknownNameError):
        contestation.answer(writing, reviewers[0], made, "burnt", "So.", None)
    with pytest.raises(InputError, match="action is given where"):
        contestation.answer(writing, reviewers[0], made, "upheld", "So.", "Deny")
    with pytest.raises(ConflictError):
        contestation.contest(writing, decided[0], "No.")


def test_nothing_to_refer_records_nothing(writing, decided):
    before = audit(writing).size
    refer(writing, [])
    assert audit(writing).size == before
