"""The commands of a service: `serve`, `client` and `audit`."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from accordant.errors import InputError
from accordant.naming import counted
from accordant.tables.output import is_standard_output
from accordant.terminal import Json, check_out, print_json, say

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
    needs_extra()
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
    needs_extra()
    from accordant.service.clients import add_client, revoke_client
    from accordant.service.service import open_service

    if act not in {"add", "revoke"}:
        raise InputError(f"client {act!r} is not known; allowed: add, revoke")
    with closing(open_service(database, keys)) as service, service.database.writing() as connection:
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
    checkpoints: Annotated[
        list[Path] | None,
        typer.Option("--checkpoint", metavar="FILE", help="Checkpoint or receipt that was kept elsewhere; repeatable."),
    ] = None,
    json: Json = False,
) -> None:
    """Check the whole record of a service: every hash, every link, every checkpoint; names the first bad event."""
    needs_extra()
    from accordant.service.record.audit import audit_database
    from accordant.service.record.checkpoint import read_checkpoint_file

    log_audit = audit_database(database, [read_checkpoint_file(file) for file in checkpoints or ()])
    if json:
        print_json(log_audit.to_json())
    else:
        say(log_audit.words())
    if log_audit.fault:
        raise typer.Exit(1)


def work(
    database: DatabaseAddress = DEFAULT,
    keys: Keys = None,
    cases: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Case files that may be carried out beside the built-in ones.")
    ] = None,
    parts: Annotated[
        bool, typer.Option("--parts", help="Take parts of commands with --on queue://… too: they name files.")
    ] = False,
    until_idle: Annotated[bool, typer.Option("--until-idle", help="End when nothing waits.")] = False,
) -> None:
    """Carry out the jobs of a service: runs, batches of decisions, decisions anew."""
    needs_extra()
    from accordant.service.jobs.worker import run_worker
    from accordant.service.logs import log_as_json
    from accordant.service.service import open_service

    with closing(open_service(database, keys)) as service:
        log_as_json()
        count = run_worker(service, cases, until_idle=until_idle, parts=parts)
    say(f"{counted(count, 'job')} begun", err=True)


Place = Annotated[str, typer.Argument(metavar="DATABASE", help="URL, or the file of an SQLite database.")]
Target = Annotated[Path, typer.Option("--out", metavar="FILE", help="File to write; - for standard output.")]


def backup(database: Place, out: Target, json: Json = False) -> None:
    """Write a backup of a service while it goes on: all but the keys of people, its secret, and sessions."""
    needs_extra()
    from accordant.service.backup import back_up
    from accordant.service.database import Database

    with closing(Database.there(database)) as source:
        check_out(out, [source.file], json=json)
        made = back_up(source, out)
    if json:
        print_json({"rows": made.rows, "events": made.size, "root": made.root})
    elif not is_standard_output(out):
        say(f"{counted(made.rows, 'row')} with {counted(made.size, 'event')}: {out}\nroot: {made.root}")


def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What `accordant backup` wrote.")],
    database: DatabaseAddress = DEFAULT,
    keys: Keys = None,
    json: Json = False,
) -> None:
    """Restore a backup into a new database, checked event by event; those who were erased since stay erased."""
    needs_extra()
    from accordant.service.backup import restore as restore_backup
    from accordant.service.service import open_stores

    empty, store = open_stores(database, keys)
    with closing(empty), closing(store.database):
        made = restore_backup(file, empty, store)
    if json:
        print_json({"rows": made.rows, "events": made.size, "root": made.root, "erased": made.erased})
        return
    say(f"{counted(made.rows, 'row')} with {counted(made.size, 'event')} hold together\nroot: {made.root}")
    if made.erased:
        one, more = "person who was erased since the backup is", "people who were erased since the backup are"
        say(f"{counted(made.erased, one, more)} erased again")


def export(
    database: Place,
    out: Target,
    person: Annotated[
        str | None, typer.Option(metavar="ID", help="Whom it is about, by the identifier in the log; without it, all.")
    ] = None,
    keys: Keys = None,
    json: Json = False,
) -> None:
    """Write all that a service recorded and that can be read, an event a line; the export is recorded too."""
    needs_extra()
    from accordant.service.database import Database
    from accordant.service.export import write_export
    from accordant.service.service import open_stores

    source = Database.there(database)
    check_out(out, [source.file], json=json)
    records, store = open_stores(source.url.render_as_string(hide_password=False), keys)
    with closing(records), closing(store.database):
        count = write_export(records, store, out, person)
    if json:
        print_json({"events": count})
    elif not is_standard_output(out):
        say(f"{counted(count, 'event')}: {out}")


def needs_extra() -> None:
    """Say what to install where the extra is missing."""
    try:
        import cryptography  # noqa: F401
        import fastapi  # noqa: F401
        import prometheus_client  # noqa: F401
        import sqlalchemy  # noqa: F401
    except ModuleNotFoundError as error:
        raise InputError(f"the service needs {error.name}: pip install 'accordant[serve]'") from None


COMMANDS = (serve, client, audit, work, backup, restore, export)
