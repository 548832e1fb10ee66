"""Decisions a second over HTTP, beside a bare FastAPI application that inserts one row for each question.

    python -m benchmarks.service                    SQLite
    python -m benchmarks.service --database URL     PostgreSQL: an empty database, tables are left in it

Work: one context in a question, each under a new Idempotency-Key; the service decides by a run of the case ``story``
(three stakeholders, three actions), certifies, seals, appends to the log and commits. Peer, in the same run and on the
same kind of database with the same settings: the same body checked by the same class, one row inserted and committed,
a short answer. Both are asked in turns, by the same client, which keeps its connections. Then 100,000 contexts,
1,000 in a question, and the memory of the server before and after.

CPU seconds are of server processes only: on a machine with few cores the client takes its part of the wall.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

ROUNDS, SECONDS, CONCURRENT = 3, 4.0, (1, 16)
BATCH, QUESTIONS = 1_000, 100
BARE = """
import sys
from typing import Any
import uvicorn
from fastapi import FastAPI
from sqlalchemy import Column, MetaData, Table, Text, insert
from accordant.service.api.decisions import DecisionsQuestion
from accordant.service.database import Database
database = Database.of(sys.argv[1])
asked = Table("bare", MetaData(), Column("id", Text, primary_key=True), Column("body", Text))
asked.metadata.create_all(database.engine)
app = FastAPI()
@app.post("/v1/decisions")
def decide(question: DecisionsQuestion) -> dict[str, Any]:
    from uuid import uuid4
    number = uuid4().hex
    with database.writing() as connection:
        connection.execute(insert(asked).values(id=number, body=question.model_dump_json()))
    return {"id": number}
uvicorn.run(app, port=int(sys.argv[2]), log_level="error", access_log=False)
"""
numbers = itertools.count()


@dataclass(frozen=True)
class Rate:
    """What one round showed."""

    asked: int
    seconds: float
    cpu: float
    waits: list[float]

    def words(self) -> str:
        """Return it as one line."""
        waits = sorted(self.waits)
        p50, p99 = waits[len(waits) // 2], waits[int(len(waits) * 0.99)]
        return (
            f"{self.asked / self.seconds:7.0f} a second  p50 {1e3 * p50:6.1f} ms  p99 {1e3 * p99:6.1f} ms  "
            f"CPU {1e3 * self.cpu / self.asked:5.2f} ms each"
        )


def processes(root: int) -> list[int]:
    """Return a process and all below it."""
    below = [root]
    for task in Path(f"/proc/{root}/task").iterdir():
        below += [each for child in (task / "children").read_text().split() for each in processes(int(child))]
    return below


def cpu_seconds(root: int) -> float:
    """Return user and system time of a process and of all below it."""
    ticks = os.sysconf("SC_CLK_TCK")
    return sum(
        sum(map(int, Path(f"/proc/{each}/stat").read_text().rsplit(")")[-1].split()[11:13])) / ticks
        for each in processes(root)
    )


def memory(root: int) -> float:
    """Return the resident memory of a process and of all below it, MiB."""
    pages = sum(int(Path(f"/proc/{each}/statm").read_text().split()[1]) for each in processes(root))
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


async def question(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, key: str, body: bytes) -> None:
    """Ask once on a connection; raises if the answer is not 200."""
    head = (
        f"POST /v1/decisions HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer {key}\r\n"
        f"Idempotency-Key: {next(numbers)}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    writer.write(head.encode() + body)
    answer = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
    if " 200 " not in answer.split("\r\n")[0]:
        raise RuntimeError(answer)
    await reader.readexactly(int(answer.split("content-length:")[1].split("\r\n")[0]))


async def load(port: int, key: str, bodies: list[bytes], concurrent: int, seconds: float) -> tuple[int, list[float]]:
    """Ask for some seconds on several connections at once."""
    until, waits = time.perf_counter() + seconds, list[float]()

    async def one(place: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for body in itertools.cycle(bodies[place:] + bodies[:place]):
            begun = time.perf_counter()
            if begun > until:
                break
            await question(reader, writer, key, body)
            waits.append(time.perf_counter() - begun)
        writer.close()

    await asyncio.gather(*map(one, range(concurrent)))
    return len(waits), waits


def measured(server: subprocess.Popen[str], port: int, key: str, bodies: list[bytes], concurrent: int) -> Rate:
    """Return what one round of load shows."""
    cpu, begun = cpu_seconds(server.pid), time.perf_counter()
    asked, waits = asyncio.run(load(port, key, bodies, concurrent, SECONDS))
    return Rate(asked, time.perf_counter() - begun, cpu_seconds(server.pid) - cpu, waits)


@contextmanager
def running(command: list[str], port: int) -> Iterator[subprocess.Popen[str]]:
    """Start a server, wait until it listens, and stop it."""
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True)
    try:
        for _ in range(1200):
            try:
                asyncio.run(asyncio.wait_for(asyncio.open_connection("127.0.0.1", port), 1))
                break
            except OSError:
                time.sleep(0.1)
        for _ in range(60):  # a socket is open before every process behind it is ready
            before = cpu_seconds(server.pid)
            time.sleep(1.0)
            if cpu_seconds(server.pid) - before < 0.1:
                break
        yield server
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(30)


def accordant(*arguments: str) -> str:
    """Return what a command prints."""
    command = [sys.executable, "-c", "from accordant.cli.app import main; main()", *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def compare(folder: Path, database: str | None, workers: int) -> None:
    """Print rates of the service and of the peer, in turns, and their ratio."""
    url = database or f"sqlite:///{folder / f'service{workers}.db'}"
    bare_url = database or f"sqlite:///{folder / f'bare{workers}.db'}"
    keys = f"sqlite:///{folder / f'people{workers}.db'}"
    rows = pd.read_csv(folder / "rows.csv").to_dict("records")
    bodies = [json.dumps({"contexts": [row]}).encode() for row in rows]
    port, bare_port = 8700 + workers, 8750 + workers
    main = "from accordant.cli.app import main; main()"
    serve = [sys.executable, "-c", main, "serve", str(folder / "run"), "--port", str(port), "--database", url]
    bare = [sys.executable, "-c", BARE, bare_url, str(bare_port)]
    with (
        running([*serve, "--keys", keys, "--workers", str(workers)], port) as service,
        running(bare, bare_port) as peer,
    ):
        added = accordant("client", "add", f"bench{time.time()}", "--database", url, "--keys", keys, "--json")
        key = json.loads(added)["key"]
        for where in (port, bare_port):
            asyncio.run(load(where, key, bodies, 4, 2.0))  # kernels are loaded, connections opened
        for concurrent in CONCURRENT:
            pairs = [
                (measured(service, port, key, bodies, concurrent), measured(peer, bare_port, key, bodies, concurrent))
                for _ in range(ROUNDS)
            ]
            ratios = [(ours.asked / ours.seconds) / (bare.asked / bare.seconds) for ours, bare in pairs]
            middle = ratios.index(statistics.median_low(ratios))
            print(f"{workers} worker(s), {concurrent} connection(s):")
            print(f"  service {pairs[middle][0].words()}")
            print(f"  bare    {pairs[middle][1].words()}  (always one process)")
            print(f"  ratio of rates {ratios[middle]:.2f} (rounds: {', '.join(f'{each:.2f}' for each in ratios)})")
        if workers == 1:
            batches(service, port, key, rows)


def batches(server: subprocess.Popen[str], port: int, key: str, rows: list[dict[str, object]]) -> None:
    """Print what many contexts in large questions take, and whether memory grows."""
    many = list(itertools.islice(itertools.cycle(rows), BATCH))
    body = json.dumps({"contexts": many}).encode()

    async def ask() -> list[float]:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**24)
        waits = []
        for _ in range(QUESTIONS):
            begun = time.perf_counter()
            await question(reader, writer, key, body)
            waits.append(time.perf_counter() - begun)
        return waits

    before, cpu, begun = memory(server.pid), cpu_seconds(server.pid), time.perf_counter()
    waits = asyncio.run(ask())
    seconds, cpu, after = time.perf_counter() - begun, cpu_seconds(server.pid) - cpu, memory(server.pid)
    print(
        f"{BATCH * QUESTIONS:,} contexts, {BATCH:,} in a question: {seconds:.0f} s, "
        f"{BATCH * QUESTIONS / seconds:,.0f} decisions a second, CPU {1e6 * cpu / BATCH / QUESTIONS:.0f} µs each, "
        f"slowest question {max(waits):.1f} s; memory {before:.0f} MiB before, {after:.0f} after"
    )


def main() -> None:
    """Print all of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--database", help="of PostgreSQL, empty")
    parser.add_argument("--workers", type=int, nargs="*", default=[1, 2])
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        accordant("run", "story", "--quick", "--seed", "1", "--out", str(folder / "run"))
        accordant("simulate", "story", "--rows", "400", "--seed", "2", "--out", str(folder / "rows.csv"))
        for workers in given.workers:
            compare(folder, given.database, workers)


if __name__ == "__main__":
    main()
