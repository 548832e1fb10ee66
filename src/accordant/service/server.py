"""Starting a server: runs published and deployed, the address printed, one process that answers."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from pathlib import Path

import uvicorn

from accordant.errors import InputError
from accordant.runs import read_run
from accordant.service.api.app import make_app
from accordant.service.api.pace import TimedProtocol
from accordant.service.logs import log_as_json
from accordant.service.service import open_service
from accordant.terminal import say

MOST_HEADER_BYTES = 2**16
SECONDS_TO_FINISH = 10  # what is being answered when the server stops


def run_server(runs: Sequence[Path], host: str, port: int, address: str, keys: str | None) -> None:
    """Publish and deploy runs, say where the service answers, and answer until told to stop.

    Raises
    ------
    RunFolderError
        If a folder is no run, or was changed.
    InputError
        If the database or the port cannot be used.
    """
    finished = [read_run(folder) for folder in runs]
    service = open_service(address, keys)
    for run in finished:
        made = service.deploy(run)
        say(f"{made.label}: {made.strategy} of {run.path}", err=True)
    listening = _listen(host, port)
    name, number = listening.getsockname()[:2]
    say(f"http://{f'[{name}]' if ':' in name else name}:{number}", err=False)
    log_as_json()
    config = uvicorn.Config(
        make_app(service), http=TimedProtocol, ws="none", log_config=None, access_log=False, server_header=False,
        timeout_graceful_shutdown=SECONDS_TO_FINISH, h11_max_incomplete_event_size=MOST_HEADER_BYTES,
    )  # fmt: skip
    uvicorn.Server(config).run(sockets=[listening])


def _listen(host: str, port: int) -> socket.socket:
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listening = socket.create_server((host, port), family=family, backlog=512)
    except OSError as error:
        raise InputError(f"cannot listen on {host}:{port}: {error.strerror or error}") from None
    listening.set_inheritable(True)
    return listening
