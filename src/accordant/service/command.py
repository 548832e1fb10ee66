"""The commands of a service: `serve`, `client` and `audit`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from accordant.errors import InputError
from accordant.terminal import Json, print_json, say

PORT = 8000
DatabaseAddress = Annotated[
    str,
    typer.Option("--database", metavar="URL", help="sqlite:///FILE or postgresql+psycopg://USER@HOST/NAME."),
]
Keys = Annotated[
    str | None, typer.Option(metavar="URL", help="Where the keys of people are kept, apart from the database.")
]
DEFAULT = "sqlite:///accordant.db"


def serve(
    runs: Annotated[list[Path] | None, typer.Argument(metavar="[RUN]...", help="Runs to publish and deploy.")] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")] = PORT,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    database: DatabaseAddress = DEFAULT,
    keys: Keys = None,
    workers: Annotated[int, typer.Option(min=1, max=64, help="Processes that answer.")] = 1,
    demo: Annotated[
        bool, typer.Option("--demo", help="Show the shipped story with invented people; keep nothing.")
    ] = False,
    json: Json = False,
) -> None:
    """Serve decisions of runs over HTTP, with a record that nobody rewrites in silence."""
    _needs_extra()
    from accordant.service.server import run_demonstration, run_server

    if demo:
        if runs or database != DEFAULT or keys is not None or workers != 1:
            raise InputError("--demo brings its own run and database; allowed beside it: --host, --port, --json")
        run_demonstration(host, port, json=json)
        return
    run_server(tuple(runs or ()), host, port, database, keys, workers, json=json)


def client(
    act: Annotated[str, typer.Argument(metavar="add|revoke", help="Admit a program, or refuse it from now on.")],
    name: Annotated[str, typer.Argument(metavar="NAME", help="Of the program.")],
    database: DatabaseAddress = DEFAULT,
    keys: Keys = None,
    json: Json = False,
) -> None:
    """Admit a program that asks for decisions, and print its key once; or refuse its key."""
    _needs_extra()
    from accordant.service.clients import add_client, revoke_client
    from accordant.service.service import open_service

    if act not in {"add", "revoke"}:
        raise InputError(f"client {act!r} is not known; allowed: add, revoke")
    service = open_service(database, keys)
    with service.database.writing() as connection:
        if act == "revoke":
            revoke_client(connection, service.workspace, name)
            key = None
        else:
            key = add_client(connection, service.secrets, service.workspace, name)
    if json:
        print_json({"client": name, "key": key})
    elif key is None:
        say(f"the key of {name} is refused from now on")
    else:
        say(f"{key}\nThis key of {name} is not kept and not shown again.")


def audit(
    database: Annotated[str, typer.Argument(metavar="DATABASE", help="URL, or the file of an SQLite database.")],
    json: Json = False,
) -> None:
    """Check the whole record of a service: every hash, every link, every checkpoint; names the first bad event."""
    _needs_extra()
    from accordant.service.record.audit import audit_database

    found = audit_database(database)
    if json:
        print_json(found.to_json())
    else:
        say(found.words())
    if found.fault:
        raise typer.Exit(1)


def _needs_extra() -> None:
    """Say what to install where the extra is missing."""
    try:
        import cryptography  # noqa: F401
        import fastapi  # noqa: F401
        import sqlalchemy  # noqa: F401
    except ModuleNotFoundError as error:
        raise InputError(f"the service needs {error.name}: pip install 'accordant[serve]'") from None


COMMANDS = (serve, client, audit)
