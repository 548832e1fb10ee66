"""What determines a run, as one hash: a run of the same inputs would come out the same, and need not be made again."""

from __future__ import annotations

import hashlib
import json
import platform
from dataclasses import replace
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import accordant
from accordant.cases.files import CaseFile, find_reward_file
from accordant.registry import installed

if TYPE_CHECKING:
    from accordant.runs.execution import RunOptions

LIBRARIES = ("accordant", "numpy", "scipy", "pandas", "scikit-learn", "skops", "joblib")


def versions() -> dict[str, str]:
    """Return the versions of what computes a run."""
    return {"python": platform.python_version(), **{name: version(name) for name in LIBRARIES}}


@cache
def code_hash() -> str:
    """Return the SHA-256 of every source file of the package, and of the versions of packages that extend it."""
    root = Path(accordant.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(f"{path.relative_to(root).as_posix()}\0".encode() + path.read_bytes())
    plugs = {entry.dist for entry in installed() if entry.dist is not None}
    digest.update("".join(sorted(f"{package.name}=={package.version}\n" for package in plugs)).encode())
    return digest.hexdigest()


def input_hash(file: CaseFile, options: RunOptions, rows: Path | None) -> str:
    """Return the SHA-256 of case, options, data, reward files, code and versions; empty if something cannot be known.

    Parameters
    ----------
    file
        The case as it was read, before options change it.
    options
        Of the run; how many processes it has changes nothing.
    rows
        The file with the rows; None if they are simulated.
    """
    case = file.case
    if case.data.query is not None and rows is None:
        return ""  # a database may answer otherwise each time
    files = dict(options.preferences)
    for name, signal in case.signals().items():
        named = getattr(signal, "file", None)
        if named and name not in files:
            files[name] = str(find_reward_file(named, options.data, file.beside))
    told: dict[str, Any] = {
        "case": case.model_dump(mode="json"),
        "options": _plain(replace(options, data=None, n_jobs=1, preferences={})),
        "rows": None if rows is None else _sha256(rows),
        "rewards": {name: _sha256(Path(path)) for name, path in files.items()},
        "code": code_hash(),
        "versions": versions(),
    }
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def _plain(options: RunOptions) -> dict[str, Any]:
    return {name: str(value) for name, value in sorted(vars(options).items())}


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
