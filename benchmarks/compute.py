"""What two processes gain over one, and what each executor costs for a task.

    python -m benchmarks.compute [--only lending,preferences,study,slates]

Work: `run lending`, all learners of `preferences --compare` on made-up records, a study of four small runs and
`slate tourism-city`, each in a process of its own: once uncounted, so that kernels are compiled, `here` before and
after the rest, twice at the same time `here`, and on `processes:2`. There is no peer; the same work on one process is
what two are compared with.

Wall seconds say little on a machine that others use too. The critical path is counted in CPU seconds instead: those of
the process that waits, and for each round of tasks those of the worker that had most to do, from its fork to the end of
its last task; what it imports is counted too, in each worker anew. The speed-up is the CPU seconds of one process over
the critical path of two. Beside it stands the wall clock. Two cores that share a processor's units slow each other
down: how many times as many CPU seconds one process takes beside another of its kind than alone says how much of what
two lack is this machine's; where it is 1.2, no work gains more than 2 / 1.2.

The speed-up of eight is simulated: tasks of each round, with the CPU seconds that they took on two, go to whoever of
eight workers is free.

Tasks that do nothing show what an executor costs: seconds until it is ready, and milliseconds for each task.
"""

from __future__ import annotations

import argparse
import heapq
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from accordant.compute.executor import RETRIES, Failure, compute, in_order
from accordant.compute.local import Here, Processes

AIM, EIGHT = 1.7, 5.0
TASKS = 400  # that do nothing
STUDY = "{name: seeds, title: Four seeds, case: lending, seeds: [1, 2, 3, 4], rows: [600]}\n"


class Counted:
    """Processes that tell the CPU seconds of the worker with most to do.

    Attributes
    ----------
    longest
        Sum over rounds of tasks of the CPU seconds of their busiest worker.
    rounds
        Of each the CPU seconds of tasks, in order.
    """

    def __init__(self, workers: int) -> None:
        self.longest, self.workers = 0.0, workers
        self.rounds: list[list[float]] = []
        self._executor = Here() if workers == 1 else Processes(str(workers))

    def run(
        self, function: Callable[[Any], Any], items: Sequence[Any], *, retries: int = RETRIES
    ) -> Iterator[tuple[int, Any]]:
        """Yield results as they come."""
        spent: dict[int, float] = {}
        tasks = [0.0] * len(items)
        for position, found in self._executor.run(partial(_timed, function), items, retries=retries):
            if isinstance(found, Failure):
                yield position, found
                continue
            result, process, seconds, tasks[position] = found
            spent[process] = seconds
            yield position, result
        self.rounds.append(tasks)
        self.longest += max(spent.values(), default=0.0) if self.workers > 1 else 0.0

    def close(self) -> None:
        """Do nothing."""


def _timed(function: Callable[[Any], Any], item: Any) -> tuple[Any, int, float, float]:
    """Return a result with the process that made it, all CPU seconds of that process so far, and those of the item."""
    before = time.process_time()
    result = function(item)
    after = time.process_time()
    return result, os.getpid(), after, after - before


def lending(folder: Path) -> None:
    """Carry out the case and write its run."""
    from accordant.runs import RunOptions, carry_out, write_run

    write_run(carry_out("lending", RunOptions()), folder / "run")


def preferences(folder: Path) -> None:
    """Compare all learners on records of users of two groups."""
    from accordant.preferences.result import PreferenceOptions
    from accordant.preferences.section import compare_preferences

    generator = np.random.default_rng(0)
    lines = ["user_id,group_id," + ",".join(f"{side}_{k}" for side in ("chosen", "rejected") for k in range(12))]
    centres = generator.normal(size=(2, 12))
    for user in range(60):
        theta = centres[int(user % 3 == 0)] + 0.3 * generator.normal(size=12)
        for _ in range(40):
            one, two = generator.normal(size=(2, 12)).round(4)
            if theta @ (one - two) + generator.logistic() < 0:
                one, two = two, one
            lines.append(",".join(map(str, [f"u{user}", f"g{user % 3 == 0}", *one, *two])))
    (folder / "records.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    compare_preferences(folder / "records.csv", PreferenceOptions((), compare=True))


def study(folder: Path) -> None:
    """Carry out two small runs."""
    from accordant.studies.execution import StudyOptions
    from accordant.studies.folder import carry_out_study

    (folder / "seeds.yaml").write_text(STUDY, encoding="utf-8")
    carry_out_study(str(folder / "seeds.yaml"), folder / "study", StudyOptions())


def slates(folder: Path) -> None:
    """Serve by all rules of a case, and look at them."""
    from accordant.slates.options import SlateOptions
    from accordant.slates.section import open_slates, show_slates

    del folder
    show_slates(open_slates("tourism-city", SlateOptions()))


def one(name: str, workers: int) -> None:
    """Do a piece of work, and print what it took."""
    begun, counted = time.perf_counter(), Counted(workers)
    with tempfile.TemporaryDirectory() as folder, compute(counted):
        WORK[name](Path(folder))
    ended = os.times()
    own = ended.user + ended.system
    print(json.dumps({"wall": time.perf_counter() - begun, "own": own, "longest": counted.longest,
                      "cpu": own + ended.children_user + ended.children_system,
                      "eight": sum(makespan(tasks, 8) for tasks in counted.rounds)}))  # fmt: skip


def makespan(tasks: Sequence[float], workers: int) -> float:
    """Return when the last task ends if each goes, in order, to the first worker that is free."""
    free = [0.0] * workers
    for seconds in tasks:
        heapq.heappush(free, heapq.heappop(free) + seconds)
    return max(free)


def measured(name: str, workers: int, copies: int = 1) -> dict[str, float]:
    """Return what a piece of work took in a process of its own, the mean of some at the same time."""
    command = [sys.executable, "-m", "benchmarks.compute", "--one", name, "--workers", str(workers)]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    begun = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
             for _ in range(copies)]  # fmt: skip
    told = [each.communicate() for each in begun]
    for each, (_, errors) in zip(begun, told, strict=True):
        if each.returncode:
            raise RuntimeError(f"{name}: {errors}")
    found = [json.loads(output.splitlines()[-1]) for output, _ in told]
    return {key: statistics.mean(each[key] for each in found) for key in found[0]}


def speed_up(name: str) -> str:
    """Return a line of the table of pieces of work."""
    measured(name, 2)
    before, beside, shared, after = measured(name, 1), measured(name, 1, 2), measured(name, 2), measured(name, 1)
    alone = {key: (before[key] + after[key]) / 2 for key in before}
    price = beside["cpu"] / alone["cpu"]
    path, eight = (shared["own"] + shared[key] for key in ("longest", "eight"))
    return (
        f"{name:<13}{alone['cpu']:8.1f}{shared['own']:8.1f}{shared['longest']:9.1f}{price:8.2f}{path:8.1f}"
        f"{alone['cpu'] / path:10.2f}{alone['cpu'] / eight:8.2f}"
        f"{alone['wall']:10.1f}{shared['wall']:8.1f}{alone['wall'] / shared['wall']:8.2f}"
    )


def nothing(item: int) -> int:
    """Return the item."""
    return item


def overhead(address: str) -> str:
    """Return a line of the table of executors."""
    begun = time.perf_counter()
    with compute(address) as executor:
        list(in_order(executor.run(nothing, range(executor.workers))))
        ready = time.perf_counter()
        list(in_order(executor.run(nothing, range(TASKS))))
        ended = time.perf_counter()
    return f"{address:<13}{ready - begun:16.2f}{1000 * (ended - ready) / TASKS:16.2f}"


def main() -> None:
    """Print speed-ups and overheads."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(WORK), help="pieces of work, with commas between")
    parser.add_argument("--one", choices=WORK, help=argparse.SUPPRESS)
    parser.add_argument("--workers", type=int, default=1, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        one(given.one, given.workers)
        return
    print("CPU seconds of one process; of two: who waits, and the busiest worker of each round; how many times as many")
    print("one takes beside another; critical path of two, and speed-up over one")
    print(f"(aim {AIM}); that of eight, simulated (aim {EIGHT}); wall seconds of one, of two, ratio")
    print(f"{'':<13}{'one':>8}{'waits':>8}{'busiest':>9}{'beside':>8}{'path':>8}{'speed-up':>10}{'eight':>8}"
          f"{'wall one':>10}{'two':>8}{'ratio':>8}")  # fmt: skip
    for name in given.only.split(","):
        print(speed_up(name), flush=True)
    print(f"\n{TASKS} tasks that do nothing\n{'':<13}{'seconds to start':>16}{'ms a task':>16}")
    optional = [f"{kind}://local" for kind, module in (("ray", "ray"), ("dask", "distributed"))
                if importlib.util.find_spec(module)]  # fmt: skip
    for address in ("here", "threads:2", "processes:2", *optional):
        print(overhead(address), flush=True)


WORK: dict[str, Callable[[Path], None]] = {
    "lending": lending, "preferences": preferences, "study": study, "slates": slates,
}  # fmt: skip

if __name__ == "__main__":
    main()
