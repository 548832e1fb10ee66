"""Real engines on this machine: a cluster of two nodes of Ray, a scheduler of Dask, a queue with two workers."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

CASE = {
    "name": "beds", "title": "Who gets a bed",
    "problem": {
        "stakeholders": ["Patient", "Ward"], "actions": ["Admit", "Wait"], "outcomes": ["Well", "Unwell"],
        "favourable_actions": ["Admit"], "favourable_outcomes": ["Well"],
        "outcome_to_action": {"Well": "Wait", "Unwell": "Admit"}, "sensitive_attributes": ["sex"],
    },
    "data": {"file": "beds.csv", "action": "Action", "outcome": "Outcome", "features": ["age", "pulse"]},
    "rewards": {
        "Patient": {"table": {"Admit": {"Well": 0.8, "Unwell": 0.6}, "Wait": {"Well": 1.0, "Unwell": 0.0}}},
        "Ward": {"table": {"Admit": {"Well": 0.1, "Unwell": 0.7}, "Wait": {"Well": 0.9, "Unwell": 0.3}}},
    },
    "learning": {
        "outcome_model": {
            "name": "RandomForestClassifier", "parameters": {"n_estimators": 5}, "grid": {"max_depth": [1, 2, 3]},
        },
        "reward_model": {"name": "DecisionTreeRegressor", "grid": {"max_depth": [2, 4]}}, "folds": 3,
    },
    "strategies": [{"name": "maximin"}, {"name": "population_maximin"}],
    "metrics": {
        "Accuracy": {"metric": "accuracy", "weight": 0.5}, "Worst_Off": {"metric": "min_reward", "weight": 0.5},
    },
    "evaluation": {"resamples": 100},
}  # fmt: skip
STUDY = {
    "name": "wards", "case": "beds.yaml", "seeds": [1, 2], "rows": [60],
    "variants": {"base": {"learning": {"outcome_model": {"name": "GaussianNB"}, "reward_model": {"name": "stated"}}}},
}  # fmt: skip
PARTS, ROWS = 4, 6_000  # together as many as an evaluation in parts asks for; Dask hands out so few parts at once
ENTRIES = "[accordant.tasks]\ntrial = trials\n[accordant.commands]\ntrial = trials:COMMANDS\n"
COMMAND = "from accordant.cli.app import main; main()"
# a lease of a minute, and long pauses between tries, would only be waited for; what is imported once is there again
WORKERS = f"""
import os
from accordant.service.jobs import queue
queue.LEASE_SECONDS, queue.SECONDS_TO_WAIT = 3, 0
import accordant.runs.datasets.evaluation, accordant.runs.datasets.population, accordant.service.jobs.worker
import numba, sklearn.ensemble, skops.io, trials
while process := os.fork():
    os.waitpid(process, 0)
{COMMAND}
"""
SECONDS = 120  # until whatever is waited for must have come


def until(ready, what):
    """Wait until a function returns something true, and return that."""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        if value := ready():
            return value
        time.sleep(0.05)
    return pytest.fail(f"{what}: not within {SECONDS} seconds")


class Process:
    """A process in a session of its own, which ends with all that it started."""

    def __init__(self, arguments, environment, folder, **pipes):
        self.log = (folder / f"{os.urandom(4).hex()}.log").open("w+b")
        self._process = subprocess.Popen(
            [sys.executable, *arguments], env=environment, cwd=folder, start_new_session=True, text=True,
            **{"stdin": subprocess.DEVNULL, "stdout": self.log, "stderr": self.log} | pipes,
        )  # fmt: skip
        self.pid, self.stdin, self.stdout = self._process.pid, self._process.stdin, self._process.stdout

    def told(self):
        """Return what it wrote to its log."""
        return Path(self.log.name).read_text()

    def ended(self):
        """Wait for its end, and return its exit code."""
        return self._process.wait(SECONDS)

    def running(self):
        return self._process.poll() is None

    def __enter__(self):
        return self

    def __exit__(self, *raised):
        self.kill()

    def kill(self):
        """End it and all that it started."""
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self._process.wait(SECONDS)
        for pipe in (self.stdin, self.stdout, self.log):
            if pipe is not None:
                with suppress(BrokenPipeError):
                    pipe.close()


class Driver(Process):
    """A process with an executor that stays open, which carries out commands one after the other."""

    def __init__(self, address, environment, folder):
        call = ["-c", "import trials; trials.serve()"]
        super().__init__(call, environment, folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.address = address

    def call(self, *arguments, on=None):
        """Return exit code, standard output and standard error of a command."""
        self.stdin.write(json.dumps({"on": on or self.address, "arguments": list(map(str, arguments))}) + "\n")
        self.stdin.flush()
        line = self.stdout.readline()
        assert line, self.told()
        answer = json.loads(line)
        return answer["code"], answer["out"], answer["err"]

    def close(self):
        """Let it leave its engine, and end."""
        self.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self.ended()
        self.kill()


class RayNodes:
    """Two nodes of Ray on two addresses of this machine, with a token."""

    def __init__(self, environment, folder):
        self.environment, self.folder = environment, folder
        self.place = Path(tempfile.mkdtemp(prefix="ray-"))  # names of its sockets may not be long
        with socket.socket() as free:
            free.bind(("127.0.0.2", 0))
            self.head_address = f"127.0.0.2:{free.getsockname()[1]}"
        port = self.head_address.rpartition(":")[2]
        self.head = self._started(
            "--head", f"--port={port}", "--node-ip-address=127.0.0.2", f"--temp-dir={self.place}",
            "--include-dashboard=false",
        )  # fmt: skip
        self.second = self._started(f"--address={self.head_address}", "--node-ip-address=127.0.0.3")

    def _started(self, *arguments):
        node = Process(
            [
                "-m", "ray.scripts.scripts", "start", "--block", "--num-cpus=1", "--object-store-memory=100000000",
                "--disable-usage-stats", *arguments,
            ],
            self.environment, self.folder,
        )  # fmt: skip
        until(lambda: "Ray runtime started" in node.told() or not node.running(), "a node of Ray")
        assert node.running(), node.told()
        return node

    def kill(self):
        for node in (self.second, self.head):
            node.kill()
        shutil.rmtree(self.place, ignore_errors=True)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """A folder with a case, a study, and rows for a finished run."""
    folder, generator = tmp_path_factory.mktemp("engines"), np.random.default_rng(3)

    def rows(n):
        age, pulse = generator.normal(50, 15, n).round(), generator.normal(80, 12, n).round()
        unwell = generator.random(n) < 1 / (1 + np.exp(-(pulse - 80) / 10))
        return pd.DataFrame({
            "age": age, "pulse": pulse, "sex": generator.choice(["f", "m"], n),
            "Action": generator.choice(["Admit", "Wait"], n), "Outcome": np.where(unwell, "Unwell", "Well"),
        })  # fmt: skip

    rows(160).to_csv(folder / "beds.csv", index=False)
    rows(PARTS * ROWS).to_parquet(folder / "new.parquet", row_group_size=ROWS)
    (folder / "beds.yaml").write_text(yaml.safe_dump(CASE))
    (folder / "study.yaml").write_text(yaml.safe_dump(STUDY))
    return folder


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """Variables of processes that find `trials` installed, and of nodes that ask for a token."""
    place = tmp_path_factory.mktemp("installed")
    shutil.copy(Path(__file__).with_name("trials.py"), place)
    (place / "trials-1.dist-info").mkdir()
    (place / "trials-1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: trials\nVersion: 1\n")
    (place / "trials-1.dist-info" / "entry_points.txt").write_text(ENTRIES)
    paths = [str(place), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {name: value for name, value in os.environ.items() if name != "PYTHONWARNINGS"} | {
        "PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1",
        "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": os.urandom(32).hex(),
        "RAY_health_check_period_ms": "500", "RAY_health_check_failure_threshold": "4",
        "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1",
    }  # fmt: skip


@pytest.fixture(scope="module")
def local(prepared, environment):
    """A driver that begins by carrying out the case, whose run all others read."""
    driver = Driver("here", environment, prepared)
    yield driver
    driver.close()


@pytest.fixture(scope="module")
def ray_nodes(extra, environment, tmp_path_factory):
    """A cluster of Ray."""
    extra("ray")
    nodes = RayNodes(environment, tmp_path_factory.mktemp("nodes"))
    yield nodes
    nodes.kill()


@pytest.fixture(scope="module")
def queue(prepared, environment):
    """The address of a queue with two workers; one that is ended is started anew, as whoever keeps services would."""
    address = f"sqlite:///{prepared / 'queue.db'}"
    workers = [
        Process(["-c", WORKERS, "work", "--parts", "--database", address], environment, prepared) for _ in range(2)
    ]
    yield f"queue://{address}"
    for worker in workers:
        worker.kill()


@pytest.fixture(scope="module")
def dask(extra):
    """The address of a scheduler that every driver starts for itself."""
    extra("distributed")
    return "dask://local"


@pytest.fixture(scope="module")
def ray(ray_nodes):
    """The address of the cluster."""
    return f"ray://{ray_nodes.head_address}"


@pytest.fixture(scope="module")
def processes():
    return "processes:2"


@pytest.fixture(scope="module")
def threads():
    return "threads:2"


@pytest.fixture
def driver(request, engine, local, prepared, environment):
    """A driver of one engine, whose executor stays open."""
    address = request.getfixturevalue(engine)
    if engine in {"processes", "threads"}:
        local.address = address
        yield local
    else:
        driver = Driver(address, environment, prepared)
        yield driver
        driver.close()
