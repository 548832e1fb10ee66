"""The same bytes on every engine, whatever dies meanwhile; where that cannot be, a refusal that can be resumed from."""

from __future__ import annotations

import json
import re
import shutil

import pytest

from tests.long.engines.conftest import COMMAND, PARTS, ROWS, Process, until

pytestmark = pytest.mark.xdist_group("engines")  # one cluster for all
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
ENGINES = ("processes", "threads", "dask", "ray", "queue")
ENDED = tuple(name for name in ENGINES if name != "threads")  # those whose workers can be ended alone


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


@pytest.fixture(scope="module", params=ENGINES)
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


@pytest.mark.parametrize("engine", ENDED, scope="module", indirect=True)
def test_a_worker_that_is_killed_in_the_middle_changes_nothing(engine, alone, driver, tmp_path):
    folder = trouble(tmp_path / "trial", 2)
    code, _, told = driver.call(*TRIAL, "--out", folder / "out")
    assert code == 0, told
    assert [part for part, *_ in tries(folder)].count(2) >= 2
    assert same_as_alone(folder / "out", alone)


@pytest.mark.parametrize("engine", ENDED, scope="module", indirect=True)
def test_a_part_that_ends_every_worker_is_told_and_the_others_are_done(engine, alone, driver, tmp_path):
    folder = trouble(tmp_path / "trial", 3, times=100)
    code, _, told = driver.call(*TRIAL, "--out", folder / "out")
    assert code == 1 and f"1 of {PARTS} parts failed, the others stand in" in told and "part 3: " in told, told
    tried = len(tries(folder))
    assert [part for part, *_ in tries(folder)].count(3) <= 4
    (folder / "trouble.json").write_text(json.dumps({"deadly": [], "times": 0, "seconds": 0.0}))
    code, _, told = driver.call(*TRIAL, "--out", folder / "out")
    assert code == 0, told
    assert same_as_alone(folder / "out", alone)
    print(f"{engine}: {tried} tries of {PARTS} parts")


def test_a_full_disk_is_told_and_what_was_done_counts(engine, alone, driver, small_disk):
    folder = trouble(small_disk / "trial")
    room = sum(map(len, alone["recommend"][2].values())) // 2
    (small_disk / "filler").write_bytes(bytes(shutil.disk_usage(small_disk).free - room))
    code, _, told = driver.call(*TRIAL, "--out", folder / "out")
    assert code == 2 and "No space left on device" in told and "Traceback" not in told, told
    done = {path.name for path in (folder / "out").glob("*.parquet")}
    assert done and len(done) < PARTS
    (small_disk / "filler").unlink()
    code, _, told = driver.call(*TRIAL, "--out", folder / "out")
    assert code == 0, told
    assert same_as_alone(folder / "out", alone)


@pytest.mark.parametrize("engine", ENDED, scope="module", indirect=True)
def test_whoever_asked_is_killed_and_asks_again(engine, alone, driver, prepared, environment, tmp_path):
    folder = trouble(tmp_path / "trial", seconds=0.4)
    command = ["-c", COMMAND, *TRIAL, "--out", str(folder / "out"), "--on", driver.address]
    lines = folder / "out" / "parts.jsonl"
    with Process(command, environment, prepared):
        until(lambda: lines.exists() and len(lines.read_text().splitlines()) >= 2, "two parts")
    kept = len(lines.read_text().splitlines())
    assert kept < PARTS
    (folder / "trouble.json").write_text(json.dumps({"deadly": [], "times": 0, "seconds": 0.0}))
    with Process(command, environment, prepared) as again:
        assert again.ended() == 0, again.told()
    assert same_as_alone(folder / "out", alone)


def test_a_node_of_ray_that_goes_in_the_middle_changes_nothing(alone, ray_nodes, prepared, environment, tmp_path):
    folder = trouble(tmp_path / "trial", seconds=0.5)
    command = ["-c", COMMAND, *TRIAL, "--out", str(folder / "out"), "--on", f"ray://{ray_nodes.head_address}"]
    with Process(command, environment, prepared) as asked:
        until(lambda: len({node for _, _, node in tries(folder)}) == 2, "work on both nodes")
        ray_nodes.second.kill()
        assert asked.ended() == 0, asked.told()
    assert same_as_alone(folder / "out", alone)
    assert len(tries(folder)) > PARTS, "a part was tried on both"
