"""Cost of a run of the lending cases, from data to report, in a process of its own, by phase and by size.

    python -m benchmarks.lending_run [--sizes 500,1000,2000]

Work: `accordant run lending` as a user starts it, with `--quick`, and on subsets of its training rows, from which
an exponent is fitted (growth in stakeholders, actions and metrics: `benchmarks.participation_cost`);
then the published protocol (`lending-published`: 3 folds, two 9-point grids of forests). CPU seconds count imports,
writing and forked workers. One job; wall seconds also for two.

Peer: the official code of the published framework (commit f15b820) on the same 2,656 rows, folds, grids and forest
sizes. Its figures are quoted from a measurement on another machine (323 CPU seconds, 636 MiB), because it is not
installed here: the ratio says less than one measured side by side.
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

import numpy as np

PEER_CPU_SECONDS, PEER_MIB = 322.9, 636
PHASES = ("imports", "data", "learning", "leaderboards", "scrutiny", "writing")
PROGRAM = """
import json, sys, time
from pathlib import Path
from accordant.compute.local import cpu_seconds
started = time.perf_counter()
import accordant.cli.run_tables, accordant.policy as policy, accordant.runs as runs, accordant.runs.scrutiny as scrutiny
spent, last = {"imports": cpu_seconds()}, [cpu_seconds()]
def phase(name):
    now = cpu_seconds()
    spent[name] = spent.get(name, 0.0) + now - last[0]
    last[0] = now
def timed(function, name, before):
    def wrapped(*args, **kwargs):
        phase(before)
        result = function(*args, **kwargs)
        phase(name)
        return result
    return wrapped
policy.learn = timed(policy.learn, "learning", "data")
scrutiny.Scrutiny.findings = timed(scrutiny.Scrutiny.findings, "scrutiny", "leaderboards")
case, out, options = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
outcome = runs.carry_out(case, runs.RunOptions(**options))
runs.write_run(outcome, Path(out))
phase("writing")
from accordant.runs.record.record import peak_memory
print(json.dumps({"spent": spent, "wall": time.perf_counter() - started, "peak": peak_memory(),
                  "data": outcome.record.data.source, "rows": outcome.record.data.train}))
"""


def measure(case: str, **options: Any) -> dict[str, Any]:
    """Carry out a case once in a new process and return what it cost."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, case, str(Path(folder) / "run"), json.dumps(options)],
            check=True,
            capture_output=True,
            text=True,
            env=os.environ | {"OMP_NUM_THREADS": "1"},
        )
    found: dict[str, Any] = json.loads(done.stdout)
    return found | {"cpu": sum(found["spent"].values())}


def line(name: str, found: dict[str, Any]) -> str:
    """Return one line of the table of phases."""
    phases = "".join(f"{found['spent'].get(phase, 0.0):13.2f}" for phase in PHASES)
    return f"{name:<20}{phases}{found['cpu']:9.1f}{found['wall']:8.1f}{found['peak']:7.0f}"


def main() -> None:
    """Print cost by phase, growth in rows, and the published protocol beside its peer."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="500,1000,2000", help="training rows, with commas between")
    sizes = [int(size) for size in parser.parse_args().sizes.split(",")]
    whole = measure("lending")
    print(f"data: {whole['data']}, {whole['rows']} training rows; CPU seconds by phase, CPU and wall seconds, MiB")
    print(f"{'':<20}{''.join(f'{phase:>13}' for phase in PHASES)}{'CPU':>9}{'wall':>8}{'peak':>7}")
    print(line("lending", whole))
    print(line("  two jobs", measure("lending", n_jobs=2)))
    print(line("  --quick", measure("lending", effort="quick")))
    grown = [measure("lending", rows=size) for size in sizes]
    for size, found in zip(sizes, grown, strict=True):
        print(line(f"  {size} rows", found))
    for phase in ("learning", "leaderboards", "scrutiny"):
        spent = [found["spent"][phase] for found in grown]
        exponent = np.polyfit(np.log(sizes), np.log(spent), 1)[0]
        print(f"{phase}: grows as rows to the power of {exponent:.2f}")
    published = measure("lending-published")
    print(line("published protocol", published))
    print(f"CPU   {published['cpu']:7.1f} s    peer {PEER_CPU_SECONDS} s (quoted)    "
          f"1 / {PEER_CPU_SECONDS / published['cpu']:.1f}    aim 1 / 20")  # fmt: skip
    print(f"peak  {published['peak']:7.0f} MiB  peer {PEER_MIB} MiB (quoted)     aim below 450 MiB")


if __name__ == "__main__":
    main()
