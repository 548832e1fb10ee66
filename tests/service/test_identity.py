"""Who may come in: invitations that are taken up once, voided by a newer one, and void none but their own kind."""

from __future__ import annotations

import pytest
from sqlalchemy import insert, select, update

from accordant.errors import UnknownNameError
from accordant.service.identity import CODE_TRIES, invitation_by_code, invitation_of, invite, take_up, withdraw
from accordant.service.schema import invitation, workspace
from tests.service.conftest import on_sqlite

pytestmark = on_sqlite


@pytest.fixture
def service(open_again):
    return open_again()


def is_open(service, token):
    with service.database.reading() as connection:
        return invitation_of(connection, service.secrets, token) is not None


def test_a_newer_link_for_the_first_owner_voids_the_earlier_one_until_there_is_an_owner(service):
    first = service.first_invitation()
    assert is_open(service, first)
    second = service.first_invitation()
    assert not is_open(service, first) and is_open(service, second)
    with service.database.writing() as connection:
        take_up(connection, service.secrets, invitation_of(connection, service.secrets, second))
    assert not is_open(service, second) and service.first_invitation() is None


def test_to_withdraw_voids_invitations_to_that_role_of_that_workspace_alone(service):
    with service.database.writing() as connection:
        connection.execute(insert(workspace).values(id="other", name="other", created_at="2026-01-01T00:00:00.000000Z"))
        owner, second, reviewer = (
            invite(connection, service.secrets, service.workspace, role).token
            for role in ("owner", "owner", "reviewer")
        )
        elsewhere = invite(connection, service.secrets, "other", "owner").token
        withdraw(connection, service.workspace, "owner")
    assert [is_open(service, token) for token in (owner, second, reviewer, elsewhere)] == [False, False, True, True]


def test_an_invitation_is_taken_up_as_often_as_it_says_and_not_after_its_time(service):
    with service.database.writing() as connection:
        made = invite(connection, service.secrets, service.workspace, "reviewer")
        taken = invitation_of(connection, service.secrets, made.token)
        assert take_up(connection, service.secrets, taken)
        with pytest.raises(UnknownNameError):
            take_up(connection, service.secrets, taken)
        late = invite(connection, service.secrets, service.workspace, "reviewer")
        fingerprint = service.secrets.fingerprint(late.token)
        past = update(invitation).where(invitation.c.token == fingerprint)
        connection.execute(past.values(expires_at="2020-01-01T00:00:00.000000Z"))
    assert not is_open(service, late.token)


def test_a_code_counts_wrong_tries_and_opens_nothing_after_the_last(service):
    with service.database.writing() as connection:
        made = invite(connection, service.secrets, service.workspace, "reviewer")
        wrong = "".join("1" if digit == "0" else "0" for digit in made.code)

        def opened(code, handle=made.handle):
            return invitation_by_code(connection, service.secrets, handle, code) is not None

        assert opened(f" {made.code} ") and opened(made.code, f" {made.handle.lower()}")
        assert not opened(made.code, "A" + made.handle[1:] if made.handle[0] != "A" else "B" + made.handle[1:])
        left = select(invitation.c.tries_left)
        assert connection.execute(left).scalar_one() == CODE_TRIES  # who is right loses no try
        for n in range(1, CODE_TRIES):
            assert not opened(wrong) and connection.execute(left).scalar_one() == CODE_TRIES - n
        assert opened(made.code)
        assert not opened(wrong) and not opened(made.code) and connection.execute(left).scalar_one() <= 0
