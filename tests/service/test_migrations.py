"""Versions of the tables make what the tables say, on both kinds of database; what Alembic does not see is looked at."""

from __future__ import annotations

import re

from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import CheckConstraint, inspect, select

from accordant.service.migrations import config, prepare
from accordant.service.record.log import Act, Event, append
from accordant.service.schema import event, log_head, tables


def words(text):
    """The names and texts of a condition, however a database writes it."""
    return sorted(
        set(re.findall(r"'\w+'|\b[a-z_]+\b|\d+", text.lower())) - {"text", "any", "array", "in", "varying", "character"}
    )


def test_the_newest_version_has_the_tables_that_are_declared(database):
    with database.reading() as connection:
        assert compare_metadata(MigrationContext.configure(connection), tables) == []
        assert connection.execute(select(log_head.c.size)).scalar_one() == 0


def test_conditions_are_those_that_are_declared(database):
    declared = {
        (table.name, str(each.name), tuple(words(str(each.sqltext))))
        for table in tables.sorted_tables for each in table.constraints if isinstance(each, CheckConstraint)
    }  # fmt: skip
    with database.reading() as connection:
        inspector = inspect(connection)
        found = {
            (table.name, each["name"], tuple(words(each["sqltext"])))
            for table in tables.sorted_tables for each in inspector.get_check_constraints(table.name)
        }  # fmt: skip
    assert declared and found == declared


def test_preparing_again_changes_nothing_and_all_can_be_taken_back(database):
    prepare(database)
    command.check(config(database))
    command.downgrade(config(database), "base")
    with database.reading() as connection:
        assert set(inspect(connection).get_table_names()) <= {"alembic_version"}
    prepare(database)
    with database.reading() as connection:
        assert set(inspect(connection).get_table_names()) == {*tables.tables, "alembic_version"}


def test_a_database_of_the_first_version_keeps_what_it_holds(database):
    command.downgrade(config(database), "0001")
    with database.writing() as connection:
        before = append(connection, [Act("export", {"of": "all"})])
        assert "account_sign_in" not in inspect(connection).get_table_names()
    prepare(database)
    with database.reading() as connection:
        assert compare_metadata(MigrationContext.configure(connection), tables) == []
        assert [Event.of(row) for row in connection.execute(select(event)).all()] == before
