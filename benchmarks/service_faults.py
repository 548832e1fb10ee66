"""Kill servers under load, and look whether any decision that was answered is lost or doubled.

    python -m benchmarks.service_faults                      200 kills of two servers on one SQLite database
    python -m benchmarks.service_faults --database URL       the same on PostgreSQL: an empty database

Several clients ask all the time, each question under a new Idempotency-Key, and ask again with the same key until they
are answered. Meanwhile servers get SIGKILL at random instants and are started anew. Afterwards every key is asked once
more: the answer must be the same bytes; there is one decision a key and no other; and the whole log is audited.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import signal
import socket
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy import func, select

from accordant.runs import read_run
from accordant.service.clients import add_client
from accordant.service.record.audit import audit
from accordant.service.schema import decision, request
from accordant.service.service import Service, open_service

CLIENTS, SERVERS, PAUSE = 6, 2, (0.05, 0.6)  # seconds between two kills
GIVE_UP = 120.0  # seconds until a question that nobody answers is a failure


@dataclass
class Load:
    """Clients that ask until they are told to stop.

    Attributes
    ----------
    port, key
        Where, and of whom.
    contexts
        What is asked, in turns.
    answers
        Idempotency-Key to the body that was answered with 200.
    failures
        What should not have happened.
    repeated
        How often somebody asked again.
    """

    port: int
    key: str
    contexts: list[dict[str, object]]
    answers: dict[str, bytes] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    repeated: int = 0
    stopped: threading.Event = field(default_factory=threading.Event)

    def run(self, client: int) -> None:
        """Ask under new keys until stopped."""
        number = 0
        while not self.stopped.is_set():
            name = f"client {client}, question {number}"
            answer = self.ask(name, number)
            if answer is None:
                self.failures.append(f"{name}: never answered")
                return
            self.answers[name] = answer
            number += 1

    def ask(self, name: str, number: int) -> bytes | None:
        """Ask until there is an answer."""
        body = json.dumps({"contexts": [self.contexts[number % len(self.contexts)]]})
        headers = {
            "Authorization": f"Bearer {self.key}", "Idempotency-Key": name, "Content-Type": "application/json",
        }  # fmt: skip
        until = time.monotonic() + GIVE_UP
        while time.monotonic() < until:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
            try:
                connection.request("POST", "/v1/decisions", body, headers)
                answer = connection.getresponse()
                content = answer.read()
                if answer.status == 200:
                    return content
                if answer.status != 503:
                    self.failures.append(f"{name}: {answer.status} {content[:200]!r}")
            except (OSError, http.client.HTTPException):
                pass  # killed: nobody knows whether it was recorded
            finally:
                connection.close()
            self.repeated += 1
            time.sleep(0.02)
        return None


def start_server(listening: socket.socket, address: str, keys: str) -> int:
    """Return the process of a new server on a socket that is open already."""
    pid = os.fork()
    if pid:
        return pid
    try:
        import uvicorn

        from accordant.service.api.app import make_app

        config = uvicorn.Config(make_app(open_service(address, keys)), log_config=None, access_log=False)
        uvicorn.Server(config).run(sockets=[listening])
    finally:
        os._exit(1)


def kill_under_load(
    service: Service, address: str, keys: str, contexts: list[dict[str, object]], kills: int, seed: int
) -> Load:
    """Return what clients were told while servers were killed; the service has something deployed.

    The process forks: it must have no other threads, and the service is closed and opened again.
    """
    with service.database.writing() as connection:
        key = add_client(connection, service.secrets, service.workspace, f"faults {seed}")
    service.close()
    generator = random.Random(seed)
    with socket.create_server(("127.0.0.1", 0), backlog=256) as listening:
        reading, writing = os.pipe()
        zygote = os.fork()
        if zygote == 0:  # starts servers, one for every line, from a process without threads
            os.close(writing)
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
            running = [start_server(listening, address, keys) for _ in range(SERVERS)]
            with os.fdopen(reading) as told:
                for line in told:
                    number = int(line)
                    os.kill(running[number], signal.SIGKILL)
                    running[number] = start_server(listening, address, keys)
            for each in running:
                os.kill(each, signal.SIGKILL)
            os._exit(0)
        os.close(reading)
        load = Load(listening.getsockname()[1], key, contexts)
        threads = [threading.Thread(target=load.run, args=(client,)) for client in range(CLIENTS)]
        for each in threads:
            each.start()
        answered = 0
        for _ in range(kills):
            until = time.monotonic() + GIVE_UP
            while len(load.answers) == answered and time.monotonic() < until:
                time.sleep(0.01)  # somebody is answered between two kills, or nothing is under way
            answered = len(load.answers)
            time.sleep(generator.uniform(*PAUSE))
            os.write(writing, f"{generator.randrange(SERVERS)}\n".encode())
        load.stopped.set()
        for each in threads:
            each.join()
        for name, first in load.answers.items():
            again = load.ask(name, int(name.rsplit(" ", 1)[1]))
            if again != first:
                load.failures.append(f"{name}: told otherwise when asked again")
        os.close(writing)
        os.waitpid(zygote, 0)
    return load


def failures_on_record(service: Service, load: Load) -> list[str]:
    """Return what is wrong with the record: the log, lost or doubled decisions."""
    with service.database.reading() as connection:
        found = audit(connection, service.secrets)
        questions = connection.execute(select(func.count()).select_from(request)).scalar_one()
        decisions = connection.execute(select(func.count()).select_from(decision)).scalar_one()
    wrong = [found.fault] if found.fault else []
    if not decisions == questions == len(load.answers) == found.kinds.get("decision", 0):
        wrong.append(f"{len(load.answers)} answers, {questions} questions and {decisions} decisions on record")
    return wrong


def main() -> None:
    """Print how many kills, answers and failures there were; ends with 1 if there was any failure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--database", help="of PostgreSQL, empty")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--run", type=Path, help="a run of the case story; None makes one")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        os.chdir(name)
        if given.run is None:
            from accordant.cli.app import main as accordant

            child = os.fork()  # a process with threads must not fork later
            if child == 0:
                sys.argv = ["accordant", "run", "story", "--quick", "--seed", "1", "--out", "run"]
                accordant()
            os.waitpid(child, 0)
        run = read_run(given.run or Path("run"))
        rows = run.policy.profile_.reference_rows
        contexts = [
            {
                name: getattr(rows[name][t], "item", lambda t=t, name=name: rows[name][t])()
                for name in run.policy.features_
            }
            for t in range(20)
        ]
        address, keys = given.database or "sqlite:///service.db", "sqlite:///people.db"
        service = open_service(address, keys)
        service.deploy(run)
        load = kill_under_load(service, address, keys, contexts, given.kills, given.seed)
        wrong = load.failures + failures_on_record(open_service(address, keys), load)
    print(
        f"{given.kills} kills of {SERVERS} servers: {len(load.answers):,} decisions answered, "
        f"{load.repeated:,} questions asked again, {len(wrong)} failures"
    )
    print("\n".join(wrong[:10]))
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
