"""The same bytes on every engine, whatever dies meanwhile; where that cannot be, a refusal that can be resumed from."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess

import pytest

from tests.long.engines.conftest import COMMAND, PARTS, ROWS, Process, until

PASSING = re.compile(rb'"(cpu_seconds|seconds|peak_mb)": ?[0-9.e+-]+')  # differ between two runs of one command
IN_PARTS = ("--part-rows", str(ROWS))
COMMANDS = {
    "recommend": ("recommend", "run", "new.parquet", *IN_PARTS),
    "certify": ("certify", "run", "new.parquet", *IN_PARTS),
    "evaluate": ("evaluate", "run", "new.parquet", *IN_PARTS, "--resamples", "200"),
    "study": ("study", "study.yaml"),
    "fit": ("run", "beds.yaml", "--seed", "4"),
}
TRIAL = ("trial", "run", "new.parquet", *IN_PARTS)


def written(folder):
    """Return the content of every file of a folder, without what differs between two runs of one command.

    Pages and manifests are left out: they hold how long a run took, and hashes of it.
    """
    return {
        path.relative_to(folder).as_posix(): PASSING.sub(b"", path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix != ".html" and path.name != "manifest.json"
    }


def answers(driver, prepared, on=None):
    """Return what all commands wrote and printed on an engine."""
    found = {}
    for name, arguments in COMMANDS.items():
        out = f"{(on or driver.address).partition(':')[0]}-{name}"
        code, printed, told = driver.call(*arguments, "--out", out, on=on)
        found[name] = (code, printed.replace(out, "out"), written(prepared / out) if code == 0 else told)
    return found


@pytest.fixture(scope="module")
def alone(local, prepared):
    """What all commands write and print in a single process; a finished run is made before."""
    code, _, told = local.call("run", "beds.yaml", "--seed", "3", "--out", "run", on="here")
    assert code == 0, told
    found = answers(local, prepared, on="here")
    assert {code for code, _, _ in found.values()} == {0}, found
    return found


@pytest.fixture(scope="module", params=["processes", "threads", "dask", "ray", "queue"])
def engine(request):
    """The name of an engine."""
    return request.param


def test_every_engine_gives_the_same_bytes(engine, alone, driver, prepared):
    found = answers(driver, prepared)
    if engine == "queue":  # takes parts only
        code, _, told = found.pop("fit")
        assert code == 2 and "allowed for others: processes:N, ray://, dask://" in told
    assert {name: each[0] for name, each in found.items()} == dict.fromkeys(found, 0), found
    for name, (_, printed, files) in found.items():
        assert printed == alone[name][1]
        assert files == alone[name][2]
