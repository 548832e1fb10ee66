"""Versions of the tables, applied by Alembic; `prepare` brings a database to the newest."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config

from accordant.service.database import Database
from accordant.service.record.log import begin
from accordant.tables.output import private_file


def config(database: Database) -> Config:
    """Return what Alembic is told: where the versions are, and which database they are for."""
    settings = Config()
    settings.set_main_option("script_location", str(Path(__file__).parent))
    settings.attributes["database"] = database
    return settings


def prepare(database: Database) -> None:
    """Bring a database to the newest version of its tables, and begin its log."""
    if database.file is not None:
        private_file(database.file)
    command.upgrade(config(database), "head")
    with database.writing() as connection:
        begin(connection)
