"""Memory of the processes of a service over many decisions, and over one large batch.

    python -m benchmarks.service_memory                            10⁶ decisions, then a batch of 10⁵, on SQLite
    python -m benchmarks.service_memory --database URL             the same on PostgreSQL: an empty database
    python -m benchmarks.service_memory --decisions 0              the batch only

Work: contexts of the case ``story`` (three stakeholders, three actions), 1,000 in a question, one question after the
other, decided by a run of it, certified, sealed, appended to the log and committed; the resident memory of the server
after each 10⁵. Then 10⁵ contexts as one body that is sent piece by piece to ``POST /v1/jobs/decisions``, decided by
``accordant work``, and read back piece by piece: as many answers as contexts, each that which a question gives about
the same context.

It ends with 1 where memory grows by more than `MOST_GROWTH` after the first step, or answers are not in order.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import itertools
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.service import accordant, cpu_seconds, memory, question, running

PORT = 8790
QUESTION, STEP = 1_000, 100_000
MOST_GROWTH = 40.0  # MiB: what allocators keep, and the cache of a connection to SQLite
MAIN = "from accordant.cli.app import main; main()"


def many_decisions(server: subprocess.Popen[str], key: str, rows: list[dict[str, Any]], count: int) -> list[float]:
    """Ask for decisions, print what each step took, and return the memory after each, MiB."""
    body = json.dumps({"contexts": list(itertools.islice(itertools.cycle(rows), QUESTION))}).encode()

    async def ask() -> list[float]:
        reader, writer = await asyncio.open_connection("127.0.0.1", PORT, limit=2**24)
        found = [memory(server.pid)]
        print(f"{0:>9,} decisions: {found[0]:6.0f} MiB")
        begun, cpu = time.perf_counter(), cpu_seconds(server.pid)
        for number in range(1, count // QUESTION + 1):
            await question(reader, writer, key, body)
            if number * QUESTION % STEP == 0:
                now, spent = time.perf_counter(), cpu_seconds(server.pid)
                found.append(memory(server.pid))
                print(
                    f"{number * QUESTION:>9,} decisions: {found[-1]:6.0f} MiB, {STEP / (now - begun):6,.0f} a second, "
                    f"CPU {1e6 * (spent - cpu) / STEP:4.0f} µs each", flush=True,
                )  # fmt: skip
                begun, cpu = now, spent
        writer.close()
        return found

    return asyncio.run(ask())


class Peak(threading.Thread):
    """The highest memory of a process while it lives, MiB."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        super().__init__(daemon=True)
        self.process, self.highest = process, 0.0

    def run(self) -> None:
        """Look five times a second."""
        while self.process.poll() is None:
            try:
                self.highest = max(self.highest, memory(self.process.pid))
            except OSError:
                return
            time.sleep(0.2)


def batch(server: subprocess.Popen[str], key: str, rows: list[dict[str, Any]], count: int, store: list[str]) -> bool:
    """Send a batch, let a worker decide, read it back, print what that took, and return whether answers are right."""
    headers = {"Authorization": f"Bearer {key}", "Idempotency-Key": "batch", "Content-Type": "application/x-ndjson"}
    lines = [json.dumps(row).encode() + b"\n" for row in rows]
    peak = Peak(server)
    peak.start()

    def pieces() -> Iterator[bytes]:
        for number in range(0, count, len(lines)):
            yield b"".join(lines[: count - number])

    connection, begun = http.client.HTTPConnection("127.0.0.1", PORT, timeout=600), time.perf_counter()
    connection.request("POST", "/v1/jobs/decisions", pieces(), headers, encode_chunked=True)
    job = json.loads(connection.getresponse().read())
    print(f"batch of {job['total']:,} received in {time.perf_counter() - begun:.0f} s")
    begun = time.perf_counter()
    worker = subprocess.Popen(
        [sys.executable, "-c", MAIN, "work", "--until-idle", *store], stderr=subprocess.DEVNULL, text=True
    )
    working = Peak(worker)
    working.start()
    connection.close()  # the server would not keep it so long; the next request opens another
    worker.wait()
    working.join()
    print(f"decided in {time.perf_counter() - begun:.0f} s; worker at most {working.highest:.0f} MiB")
    begun = time.perf_counter()
    other = headers | {"Idempotency-Key": "rows", "Content-Type": "application/json"}
    connection.request("POST", "/v1/decisions", json.dumps({"contexts": rows}), other)
    asked = [each["expected_rewards"] for each in json.loads(connection.getresponse().read())["decisions"]]
    connection.request("GET", f"/v1/jobs/{job['id']}/decisions", headers={"Authorization": f"Bearer {key}"})
    answer, told, wrong = connection.getresponse(), 0, 0
    for line in answer:
        wrong += json.loads(line)["expected_rewards"] != asked[told % len(rows)]
        told += 1
    print(
        f"{told:,} answers read in {time.perf_counter() - begun:.0f} s, {wrong} of them not those of their contexts; "
        f"server at most {peak.highest:.0f} MiB"
    )
    return told == count and not wrong


def main() -> None:
    """Print all of it; ends with 1 where memory grows or answers are wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--database", help="of PostgreSQL, empty")
    parser.add_argument("--decisions", type=int, default=1_000_000)
    parser.add_argument("--batch", type=int, default=100_000)
    given = parser.parse_args()
    right = True
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        accordant("run", "story", "--quick", "--seed", "1", "--out", str(folder / "run"))
        accordant("simulate", "story", "--rows", "400", "--seed", "2", "--out", str(folder / "rows.csv"))
        rows = pd.read_csv(folder / "rows.csv").to_dict("records")
        url = given.database or f"sqlite:///{folder / 'service.db'}"
        store = ["--database", url, "--keys", f"sqlite:///{folder / 'people.db'}"]
        serve = [sys.executable, "-c", MAIN, "serve", str(folder / "run"), "--port", str(PORT), *store]
        with running(serve, PORT) as server:
            key = json.loads(accordant("client", "add", f"bench{time.time()}", *store, "--json"))["key"]
            if given.decisions:
                after = many_decisions(server, key, rows, given.decisions)[1:]
                growth = after[-1] - after[0] if after else 0.0
                print(f"growth after the first {STEP:,}: {growth:.0f} MiB")
                right = growth <= MOST_GROWTH
            if given.batch:
                right &= batch(server, key, rows, given.batch, store)
    sys.exit(not right)


if __name__ == "__main__":
    main()
