"""What an installation costs, and what of it each dependency brings: seconds, MB on disk, seconds to import.

    python -m benchmarks.installation [--extras arrow,serve]

Work: a new virtual environment, `pip install` of this checkout into it with the versions of ``constraints.txt``, the
first command (which compiles Python's own bytecode) and the same again. Peer, in the same run: an environment with what
the same work is glued together from, scikit-learn, fairlearn and pandas.

*alone* are the MB of a distribution's own files; *with it* those that would go too if nothing but it asked for them.
Seconds to import are those of a new process, less those of an empty one, the median of five. Seconds of installing
depend on the network, or on pip's cache: read them beside the peer's.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

ROOT = Path(__file__).parent.parent
PEER = ("scikit-learn", "fairlearn", "pandas")
MODULES = {"scikit-learn": "sklearn", "pyyaml": "yaml"}  # where a module has another name
REPEATS = 5
INSIDE = """
import json
from importlib.metadata import distributions
def size(found):
    return sum(path.stat().st_size for path in (file.locate() for file in found.files or ()) if path.is_file())
print(json.dumps([[each.metadata["Name"], size(each), each.requires or []] for each in distributions()]))
"""


def timed(*command: str | Path, **environment: str) -> float:
    """Return the seconds that a command takes."""
    begun = time.perf_counter()
    subprocess.run(list(map(str, command)), check=True, capture_output=True, env=os.environ | environment)
    return time.perf_counter() - begun


def installed(folder: Path, *wanted: str) -> tuple[Path, float]:
    """Return the interpreter of a new environment with some distributions, and the seconds of installing them."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = folder / "bin" / "python"
    return python, timed(python, "-m", "pip", "install", "--quiet", "-c", ROOT / "constraints.txt", *wanted)


def normal(name: str) -> str:
    """Return a name of a distribution as it is compared."""
    return re.sub(r"[-_.]+", "-", name).lower()


class Environment:
    """The distributions of an environment, by their normal names.

    Attributes
    ----------
    sizes
        Bytes of their own files.
    needs
        What each asks for, as far as it is there; what belongs to an extra counts only where nothing else asks for it.
    """

    def __init__(self, python: Path) -> None:
        told = subprocess.run([python, "-c", INSIDE], check=True, capture_output=True, text=True).stdout
        found = json.loads(told)
        self.names = {normal(name): name for name, _, _ in found}
        self.sizes = {normal(name): size for name, size, _ in found}
        self.needs = {
            normal(name): {each for line in requires if "extra ==" not in line
                           and (each := normal(re.split(r"[^\w.-]", line, maxsplit=1)[0])) in self.names}
            for name, _, requires in found
        }  # fmt: skip

    def reached(self, roots: Iterable[str], without: str = "") -> set[str]:
        """Return what some distributions need, themselves among them, if one were not there."""
        seen, waiting = set[str](), [each for each in roots if each != without]
        while waiting:
            name = waiting.pop()
            if name not in seen:
                seen.add(name)
                waiting += [each for each in self.needs.get(name, ()) if each != without]
        return seen

    def total(self, names: Iterable[str]) -> float:
        """Return the MB of some distributions."""
        return sum(self.sizes[name] for name in names) / 1e6


def imports(python: Path, module: str) -> float:
    """Return the seconds that an import takes."""

    def seconds(code: str) -> float:
        """Return the median of some processes."""
        return statistics.median(timed(python, "-c", code) for _ in range(REPEATS))

    return seconds(f"import {module}") - seconds("pass")


def rows(python: Path, found: Environment, roots: Mapping[str, str]) -> list[tuple[str, float, float, float]]:
    """Return name, MB alone, MB with it and seconds to import of each dependency, the largest first."""
    every = found.reached(roots)
    told = []
    for root, name in roots.items():
        freed = every - found.reached(roots, without=root)
        module = MODULES.get(root, root.replace("-", "_"))
        told.append((name, found.total([root]), found.total(freed), imports(python, module)))
    return sorted(told, key=lambda each: -each[2])


def main() -> None:
    """Print both environments, and the dependencies of ours."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--extras", default="", help="of this project, with commas between")
    extras = parser.parse_args().extras
    with tempfile.TemporaryDirectory(prefix="accordant-bench-") as name:
        folder = Path(name)
        python, seconds = installed(folder / "ours", f"{ROOT}[{extras}]" if extras else str(ROOT))
        peer, peer_seconds = installed(folder / "peer", *PEER)
        ours, theirs = Environment(python), Environment(peer)
        command = folder / "ours" / "bin" / "accordant"
        first = timed(command, "--version", PYTHONDONTWRITEBYTECODE="")
        roots = {each: ours.names[each] for each in ours.needs["accordant"]}
        every, others = ours.reached(["accordant"]), theirs.reached(map(normal, PEER))
        print(f"{'':24}{'MB':>8}{'distributions':>15}{'seconds to install':>20}")
        print(f"{'accordant':24}{ours.total(every):8.0f}{len(every):15}{seconds:20.1f}")
        print(f"{', '.join(PEER):24}{theirs.total(others):4.0f}{len(others):15}{peer_seconds:20.1f}")
        print(f"first `accordant --version` {first:.2f} s, again {timed(command, '--version'):.2f} s\n")
        print(f"{'':16}{'MB alone':>10}{'with it':>10}{'s to import':>13}")
        print(f"{'accordant':16}{ours.total(['accordant']):10.1f}{'':10}{imports(python, 'accordant'):13.2f}")
        for each, alone, freed, import_seconds in rows(python, ours, roots):
            print(f"{each:16}{alone:10.1f}{freed:10.1f}{import_seconds:13.2f}")


if __name__ == "__main__":
    main()
