"""What `accordant plan` says before a job beside what the job then takes: seconds, and CPU seconds of all processes.

    python -m benchmarks.plan [--largest 1e7]

Work: a quick run of the case ``story`` on simulated rows in Parquet, parts of 500,000 rows: `recommend` of 10^5, 10^6
and 10^7 rows in this process and on two others, `evaluate` of 10^6, `population` (maximin) of 10^5 and 10^6, `monitor`
of 10^5. Plan and job are each in a new process, one after the other; reading the run is not counted. Peer: the plan
that everybody makes, one small file (50,000 rows) timed once and scaled up by rows, over as many workers.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from accordant.cases.files import read_case
from accordant.cases.loaders import simulated_table

AIM = 0.25  # of relative error
SMALL, SIMULATED, GROUP = 50_000, 500_000, 100_000
JOBS = (
    ("recommend", "here", 100_000), ("recommend", "processes:2", 100_000), ("recommend", "here", 1_000_000),
    ("recommend", "processes:2", 1_000_000), ("evaluate", "processes:2", 1_000_000),
    ("population", "processes:2", 100_000), ("population", "processes:2", 1_000_000),
    ("monitor", "processes:2", 100_000),
    ("recommend", "here", 10_000_000), ("recommend", "processes:2", 10_000_000),
)  # fmt: skip
START = """
import json, sys, time
from pathlib import Path
from accordant.compute.local import cpu_seconds
from accordant.monitoring import monitor_dataset
from accordant.runs import read_run
from accordant.runs.datasets.evaluation import evaluate_dataset
from accordant.runs.datasets.parts import Job
from accordant.runs.datasets.plan import plan_dataset
from accordant.runs.datasets.population import fit_population
from accordant.runs.datasets.recommendation import recommend_dataset
what, kind, place, run, dataset, out = sys.argv[1:]
RULES = {"population": "population_maximin"}
run = read_run(Path(run))
run.policy
if what == "plan":
    print(json.dumps(plan_dataset(run, kind, place, dataset=dataset, strategy=RULES.get(kind)).to_json()))
else:
    wall, used = time.perf_counter(), cpu_seconds()
    job = Job(run, dataset, Path(out), place)
    if kind == "population":
        fit_population(job, RULES[kind])
    else:
        {"recommend": recommend_dataset, "evaluate": evaluate_dataset, "monitor": monitor_dataset}[kind](job)
    print(json.dumps({"seconds": time.perf_counter() - wall, "cpu": cpu_seconds() - used}))
"""


def told(*arguments: str) -> Any:
    """Return what a new process prints."""
    done = subprocess.run(
        [sys.executable, "-c", START, *arguments], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    return json.loads(done.stdout)


def write_rows(folder: Path, rows: int) -> Path:
    """Return a folder of Parquet files with so many rows, 1,000,000 at most in each."""
    made = folder / f"rows-{rows}"
    if made.exists():
        return made
    made.mkdir()
    table = simulated_table(read_case("story")[0], 1, min(rows, SIMULATED))
    for number in range(-(-rows // SIMULATED)):
        table.to_parquet(made / f"{number:04d}.parquet", row_group_size=GROUP, index=False)
    return made


def main() -> None:
    """Print predictions, measurements and relative errors, and how many are within the aim."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--largest", type=float, default=1e7, help="rows of the largest dataset")
    largest = parser.parse_args().largest
    errors, covered = dict[str, list[float]](), list[bool]()
    with tempfile.TemporaryDirectory(prefix="accordant-bench-") as name:
        folder = Path(name)
        run = folder / "run"
        start = "from accordant.cli.app import main; main()"
        made = [sys.executable, "-c", start, "run", "story", "--quick", "--out", str(run)]
        subprocess.run(made, check=True, capture_output=True)
        small = str(write_rows(folder, SMALL))
        print(f"{'job':<34}{'seconds: plan (90 %)':>26}{'took':>8}{'error':>8}{'scaled up':>11}{'error':>9}"
              f"{'CPU: plan':>11}{'took':>8}{'error':>8}")  # fmt: skip
        for number, (kind, place, rows) in enumerate(job for job in JOBS if job[2] <= largest):
            dataset = str(write_rows(folder, rows))
            once = (
                told("do", kind, "here", str(run), small, str(folder / f"small-{number}"))
                if kind == "recommend"
                else None
            )
            plan = told("plan", kind, place, str(run), dataset, "")
            took = told("do", kind, place, str(run), dataset, str(folder / f"out-{number}"))
            seconds, cpu = plan["seconds"], 3600 * plan["cpu_hours"]["value"]
            covered.append(seconds["low"] <= took["seconds"] <= seconds["high"])
            found = {"plan": seconds["value"] / took["seconds"] - 1, "CPU": cpu / took["cpu"] - 1}
            scaled = None
            if once is not None:
                scaled = once["seconds"] * rows / SMALL / plan["workers"]
                found["scaled up"] = scaled / took["seconds"] - 1
            for each, error in found.items():
                errors.setdefault(each, []).append(abs(error))
            span = f"{seconds['value']:.2f} ({seconds['low']:.2f}–{seconds['high']:.2f})"
            peer = f"{'':>20}" if scaled is None else f"{scaled:>11.2f}{found['scaled up']:>+9.0%}"
            print(f"{f'{kind} {rows:,} on {place}':<34}{span:>26}{took['seconds']:>8.2f}{found['plan']:>+8.0%}{peer}"
                  f"{cpu:>11.2f}{took['cpu']:>8.2f}{found['CPU']:>+8.0%}", flush=True)  # fmt: skip
    for each, values in errors.items():
        within = sum(value <= AIM for value in values)
        print(f"{each}: {within} of {len(values)} within {AIM:.0%}, the worst {max(values):.0%}")
    print(f"{sum(covered)} of {len(covered)} measured times lie within their interval of 90 %")


if __name__ == "__main__":
    main()
