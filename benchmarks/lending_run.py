"""Cost of the lending run with the published protocol: 3 folds, two 9-point grids of forests.

Work: ``accordant run lending-published --jobs 1`` in a process of its own, from data to report, with one thread.
Peer: the official code of the published framework (commit f15b820) on the same 2,656 rows, folds, grids and forest
sizes. Its figures are quoted from a measurement on another machine (323 CPU seconds, 636 MiB), because it is not
installed here: the ratio says less than one measured side by side.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

PEER_CPU_SECONDS, PEER_MIB = 322.9, 636
PROGRAM = "import sys; from accordant.cli.app import main; sys.argv = ['accordant', *sys.argv[1:]]; main()"


def measure() -> dict[str, float]:
    """Run the case once and return what it says about its own cost."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["run", "lending-published", "--jobs", "1", "--out", str(Path(folder) / "run"), "--json"]
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, *command],
            check=True,
            capture_output=True,
            text=True,
            env=os.environ | {"OMP_NUM_THREADS": "1"},
        )
    return json.loads(done.stdout)


def main() -> None:
    """Print the cost beside the peer's."""
    run = measure()
    print(f"data: {run['data']['source']}, {run['data']['rows']} rows")
    print(f"CPU   {run['cpu_seconds']:7.1f} s    peer {PEER_CPU_SECONDS} s (quoted)    "
          f"1 / {PEER_CPU_SECONDS / run['cpu_seconds']:.1f}    aim 1 / 8")  # fmt: skip
    print(f"peak  {run['peak_rss_mb']:7.0f} MiB  peer {PEER_MIB} MiB (quoted)     aim below 500 MiB")


if __name__ == "__main__":
    main()
