"""What is installed beside accordant where engines are tried: `recommend` with trouble, and a process that asks for it.

``trouble.json`` beside the folder of results says what happens to which part::

    {"seconds": 0.3, "deadly": [2], "times": 1}

Each try of a part leaves a line in ``tries.txt`` there: the part, the process, and who started that.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

from accordant.cli.dataset_commands import Parts
from accordant.compute.tasks import tasks
from accordant.runs.datasets.parts import job_of
from accordant.runs.datasets.recommendation import recommend_part
from accordant.terminal import On, PartRows

TRIES, TROUBLE = "tries.txt", "trouble.json"


@tasks.register("trial")
def recommend_with_trouble(options, item):
    """Recommend for a part, unless that is to end its worker, with half of its output written."""
    beside, number = Path(options["out"]).parent, item["number"]
    trouble = json.loads((beside / TROUBLE).read_text())
    with (beside / TRIES).open("a") as file:
        file.write(f"{number} {os.getpid()} {os.getppid()}\n")
    time.sleep(trouble["seconds"])
    before = [line for line in (beside / TRIES).read_text().splitlines() if line.split()[0] == str(number)]
    if number in trouble["deadly"] and len(before) <= trouble["times"]:
        (Path(options["out"]) / f".part-{number:05d}.parquet.unfinished-0").write_bytes(b"PAR1")
        os.kill(os.getpid(), signal.SIGKILL)
    return recommend_part(options, item)


def trial(run: Path, dataset: str, out: Parts, on: On = None, part_rows: PartRows = None) -> None:
    """Recommend part by part, with trouble."""
    job = job_of(run, dataset, out, on, part_rows)
    job.carry_out("trial", "trying", {"strategy": job.run.policy.selected_, "id": None})


COMMANDS = (trial,)


def serve() -> None:
    """Carry out commands of accordant, a line of JSON each, in a block of the executor that it names."""
    from accordant.cli.app import main
    from accordant.compute.executor import compute

    address, blocks = None, ExitStack()
    with blocks:
        for line in sys.stdin:
            asked = json.loads(line)
            if asked["on"] != address:
                blocks.close()
                address = asked["on"]
                blocks.enter_context(compute(address))
            sys.argv, code = ["accordant", *asked["arguments"]], 0
            with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as err:
                try:
                    main()
                except SystemExit as end:
                    code = end.code
            print(json.dumps({"code": code, "out": out.getvalue(), "err": err.getvalue()}), flush=True)
