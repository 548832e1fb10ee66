"""The same bytes on every engine, whatever dies meanwhile; where that cannot be, a refusal that can be resumed from."""

from __future__ import annotations

import json
import re
import shutil
import threading

import pytest

from tests.long.engines.conftest import COMMAND, PARTS, ROWS, Process, until

PASSING = re.compile(rb'"(cpu_seconds|seconds|peak_mb)": ?[0-9.e+-]+')  # differ between two runs of one command
IN_PARTS = ("--part-rows", str(ROWS))
COMMANDS = {
    "recommend": ("recommend", "run", "new.parquet", *IN_PARTS),
    "certify": ("certify", "run", "new.parquet", *IN_PARTS),
    "evaluate": ("evaluate", "run", "new.parquet", *IN_PARTS, "--resamples", "200"),
    "population": ("population", "run", "new.parquet", *IN_PARTS, "--strategy", "population_maximin"),
    "study": ("study", "study.yaml"),
    "fit": ("run", "beds.yaml", "--seed", "4"),
}
TRIAL = ("trial", "run", "new.parquet", *IN_PARTS)
ENGINES = ("processes", "threads", "dask", "ray", "queue")


def written(folder):
    """Return the content of every file of a folder, without what differs between two runs of one command.

    Pages and manifests are left out: they hold how long a run took, and hashes of it.
    """
    return {
        path.relative_to(folder).as_posix(): PASSING.sub(b"", path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix != ".html" and path.name != "manifest.json"
    }


def answers(driver, prepared, on=None, names=tuple(COMMANDS)):
    """Return what commands wrote and printed on an engine."""
    found = {}
    for name in names:
        arguments = COMMANDS[name]
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


def check_commands(engine, driver, alone, prepared):
    """All commands write the same bytes, and print the same; Dask, which starts a cluster each time, is asked for parts."""
    found = answers(driver, prepared, names=("recommend",) if engine == "dask" else tuple(COMMANDS))
    if engine == "queue":  # takes parts only
        code, _, told = found.pop("fit")
        assert code == 2 and "allowed for others: processes:N, ray://, dask://" in told
    assert {name: each[0] for name, each in found.items()} == dict.fromkeys(found, 0), found
    for name, (_, printed, files) in found.items():
        assert printed == alone[name][1]
        assert files == alone[name][2]


def trouble(folder, *deadly, times=1, seconds=0.0):
    """Prepare a folder for a trial in which some parts end their worker when they are tried first."""
    folder.mkdir()
    (folder / "trouble.json").write_text(json.dumps({"deadly": deadly, "times": times, "seconds": seconds}))
    return folder


def tries(folder):
    """Return the tries of a trial so far: part, process, and who started that."""
    file = folder / "tries.txt"
    return [tuple(map(int, line.split())) for line in file.read_text().splitlines()] if file.exists() else []


def same_as_alone(out, alone):
    """Whether a trial came to what `recommend` writes, and left nothing else; only its plan names another task."""
    found, expected = written(out), dict(alone["recommend"][2])
    assert found.pop("plan.json") == expected.pop("plan.json").replace(b'"recommend"', b'"trial"')
    return found == expected


def check_a_worker_killed(driver, alone, place):
    """A worker that is killed in the middle changes nothing."""
    folder = trouble(place, 2)
    code, _, told = driver.call(*TRIAL, "--out", folder / "out")
    assert code == 0, told
    assert [part for part, *_ in tries(folder)].count(2) >= 2
    assert same_as_alone(folder / "out", alone)


def check_a_poisoned_part(driver, alone, place):
    """A part that ends each worker is told, and the others are done; once it is mended, it is made too."""
    folder = trouble(place, 0, times=100, seconds=0.2)
    code, _, told = driver.call(*TRIAL, "--out", folder / "out")
    assert code == 1 and f"1 of {PARTS} parts failed, the others stand in" in told and "part 0: " in told, told
    assert [part for part, *_ in tries(folder)].count(0) <= 6
    (folder / "trouble.json").write_text(json.dumps({"deadly": [], "times": 0, "seconds": 0.0}))
    code, _, told = driver.call(*TRIAL, "--out", folder / "out")
    assert code == 0, told
    assert same_as_alone(folder / "out", alone)


def check_a_full_disk(driver, alone, small_disk):
    """A full disk is told, and what was done before counts."""
    folder = trouble(small_disk / "trial")
    room = sum(map(len, alone["recommend"][2].values())) * 3 // 4  # for the first two at once, not for all
    (small_disk / "filler").write_bytes(bytes(shutil.disk_usage(small_disk).free - room))
    code, _, told = driver.call(*TRIAL, "--out", folder / "out")
    assert code == 2 and "No space left on device" in told and "Traceback" not in told, told
    done = {path.name for path in (folder / "out").glob("*.parquet")}
    assert done and len(done) < PARTS
    (small_disk / "filler").unlink()
    code, _, told = driver.call(*TRIAL, "--out", folder / "out")
    assert code == 0, told
    assert same_as_alone(folder / "out", alone)


def check_a_driver_killed(address, start, alone, place):
    """Whoever asked is killed, and the same command carries on."""
    folder = trouble(place, seconds=1.0)
    command = ("-c", COMMAND, *TRIAL, "--out", str(folder / "out"), "--on", address)
    lines = folder / "out" / "parts.jsonl"
    with start(command):
        until(lambda: lines.exists() and lines.read_text().count("\n"), "a part that is done")
    assert lines.read_text().count("\n") < PARTS
    (folder / "trouble.json").write_text(json.dumps({"deadly": [], "times": 0, "seconds": 0.0}))
    with start(command) as again:
        assert again.ended() == 0, again.told()
    assert same_as_alone(folder / "out", alone)


def check_a_node_killed(driver, nodes, alone, place):
    """A node of Ray that goes in the middle changes nothing."""
    folder = trouble(place, seconds=1.0)
    call = threading.Thread(target=lambda: told.append(driver.call(*TRIAL, "--out", folder / "out")))
    told = []
    call.start()
    until(lambda: len({node for _, _, node in tries(folder)}) == 2, "work on both nodes")
    nodes.second.kill()
    call.join()
    assert told[0][0] == 0, told
    assert same_as_alone(folder / "out", alone)
    assert len(tries(folder)) > PARTS, "a part was tried on both"


@pytest.mark.parametrize("engine", ENGINES)
def test_the_bytes_are_the_same_whatever_dies(
    engine, alone, driver, prepared, environment, small_disk, tmp_path, request
):
    check_commands(engine, driver, alone, prepared)
    if engine != "dask":  # starts a cluster for each command, which takes longer than all else
        check_a_full_disk(driver, alone, small_disk)
    if engine == "threads":  # they die with whoever asked
        return
    check_a_worker_killed(driver, alone, tmp_path / "worker")
    check_a_poisoned_part(driver, alone, tmp_path / "poisoned")
    if engine != "dask":
        check_a_driver_killed(
            driver.address, lambda command: Process(command, environment, prepared), alone, tmp_path / "driver"
        )
    if engine == "ray":
        check_a_node_killed(driver, request.getfixturevalue("ray_nodes"), alone, tmp_path / "node")
