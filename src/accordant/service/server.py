"""Starting a server: runs published and deployed, the address printed, one process or several that answer."""

from __future__ import annotations

import gc
import os
import socket
import sys
from collections.abc import Sequence
from pathlib import Path

import uvicorn
from fastapi import FastAPI
from uvicorn.supervisors import Multiprocess

from accordant.errors import InputError
from accordant.runs import read_run
from accordant.service.api.app import make_app
from accordant.service.api.observation import FOLDER_VARIABLE
from accordant.service.api.pace import TimedProtocol
from accordant.service.identity import INVITATION_PATH
from accordant.service.logs import log_as_json
from accordant.service.oidc import Provider, read_provider
from accordant.service.pages.demo import demonstration
from accordant.service.service import Service, open_service
from accordant.tables.scratch import ScratchFolder
from accordant.terminal import print_json, say

MOST_HEADER_BYTES = 2**16
SECONDS_TO_FINISH = 10  # what is being answered when the server stops
SECONDS_IDLE = 15  # a connection on which nothing is asked
MOST_CONNECTIONS = 1_000  # of one process at a time; more are told to come back
WORKER_DATABASE, WORKER_KEYS = "ACCORDANT_WORKER_DATABASE", "ACCORDANT_WORKER_KEYS"


def run_server(
    runs: Sequence[Path], host: str, port: int, address: str, keys: str | None, workers: int = 1, *, json: bool = False
) -> None:
    """Publish and deploy runs, say where the service answers, and answer until told to stop.

    Parameters
    ----------
    runs
        Folders of finished runs, each deployed under the name of its case.
    host, port
        Where to listen; port 0 takes a free one.
    address, keys
        See `open_service`.
    workers
        Processes that answer.
    json
        Whether address, deployments and the first owner's link are printed as one JSON object.

    Raises
    ------
    RunFolderError
        If a folder is no run, or was changed.
    InputError
        If the database, the port, or the provider of accounts that the environment names cannot be used.
    """
    provider = read_provider()
    finished = [read_run(folder) for folder in runs]
    listening = _listen(host, port)
    service = open_service(address, keys)
    made = [service.deploy(run) for run in finished]
    here = _address(listening)
    token = service.first_invitation()
    owner = None if token is None else f"{here}{INVITATION_PATH}{token}"
    if json:
        print_json({"address": here, "owner": owner, "deployments": [deployment.public for deployment in made]})
    else:
        for deployment, run in zip(made, finished, strict=True):
            say(f"{deployment.label}: {deployment.strategy} of {run.path}")
        say(here)
        if owner is not None:
            say(f"the first owner begins here: {owner}")
    sys.stdout.flush()  # whoever started this through a pipe waits for it
    if workers == 1:
        _answer(_application(service, provider=provider), listening)
        return
    os.environ[WORKER_DATABASE] = address
    if keys is not None:
        os.environ[WORKER_KEYS] = keys
    service.close()
    log_as_json()
    with ScratchFolder() as folder:
        os.environ[FOLDER_VARIABLE] = folder
        Multiprocess(_config("accordant.service.server:worker_app", workers), [listening]).run()


def run_demonstration(host: str, port: int, *, json: bool = False) -> None:
    """Carry the shipped story out, deploy it, let invented people be decided, and show it until told to stop.

    Parameters
    ----------
    host, port
        Where to listen; port 0 takes a free one.
    json
        Whether the addresses are printed as one JSON object.

    Raises
    ------
    InputError
        If the port cannot be used.
    """
    listening = _listen(host, port)
    here = _address(listening)
    with demonstration() as (service, shown):
        if json:
            print_json({"address": here, "pages": {name: f"{here}{path}" for name, path in shown.items()}})
        else:
            say(f"{here}: a demonstration; the town and everybody in it are invented, and nothing is kept.")
            for name, path in shown.items():
                say(f"{name}: {here}{path}")
        sys.stdout.flush()
        _answer(_application(service, demonstration=True), listening)


def _config(app: FastAPI | str, workers: int = 1) -> uvicorn.Config:
    return uvicorn.Config(
        app, factory=workers > 1, workers=workers, http=TimedProtocol, ws="none", log_config=None, access_log=False,
        server_header=False, timeout_graceful_shutdown=SECONDS_TO_FINISH, timeout_keep_alive=SECONDS_IDLE,
        limit_concurrency=MOST_CONNECTIONS, h11_max_incomplete_event_size=MOST_HEADER_BYTES,
    )  # fmt: skip


def _answer(app: FastAPI, listening: socket.socket) -> None:
    log_as_json()
    uvicorn.Server(_config(app)).run(sockets=[listening])


def _application(service: Service, *, demonstration: bool = False, provider: Provider | None = None) -> FastAPI:
    """Return the application when what decides was read, which no garbage collection need look through again."""
    service.decider.warm_up()
    gc.collect()
    gc.freeze()
    return make_app(service, demonstration=demonstration, provider=provider)


def worker_app() -> FastAPI:
    """Return the application of one process of several, which finds its database in the environment."""
    log_as_json()
    service = open_service(os.environ[WORKER_DATABASE], os.environ.get(WORKER_KEYS))
    return _application(service, provider=read_provider())


def _address(listening: socket.socket) -> str:
    name, number = listening.getsockname()[:2]
    return f"http://{f'[{name}]' if ':' in name else name}:{number}"


def _listen(host: str, port: int) -> socket.socket:
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listening = socket.create_server((host, port), family=family, backlog=512)
    except OSError as error:
        raise InputError(f"cannot listen on {host}:{port}: {error.strerror or error}") from None
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # or an answer waits 40 ms for its second packet
    listening.set_inheritable(True)
    return listening
