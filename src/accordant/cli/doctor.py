"""`accordant doctor`: what is installed, what is missing and would bring, and whether a decision comes out."""

from __future__ import annotations

import importlib.util
import os
import platform
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Any, Literal

import platformdirs

from accordant.cases.files import VARIABLE, cache_folder
from accordant.terminal import PlainConsole
from accordant.threads import free_cores

Status = Literal["ok", "note", "failed"]

LIBRARIES = ("numpy", "scipy", "pandas", "narwhals", "scikit-learn", "numba", "joblib", "threadpoolctl", "pydantic",
             "PyYAML", "typer", "rich", "skops", "jinja2", "platformdirs", "bm25s")  # fmt: skip
EXTRAS: Mapping[str, tuple[str, str]] = {
    "arrow": ("pyarrow", "Parquet, Arrow and Feather files"),
    "excel": ("openpyxl", "sheets of Excel workbooks"),
    "sql": ("sqlalchemy", "rows of a query, from the database in $ACCORDANT_DATABASE"),
    "embeddings": ("sentence_transformers", "retrieval and comparisons by meaning"),
    "torch": ("torch", "networks that learn preferences"),
    "llm": ("pydantic_ai", "language models that speak for stakeholders"),
    "sign": ("cryptography", "signatures of runs"),
    "plot": ("matplotlib", "pictures in notebooks"),
    "serve": ("fastapi", "a server that programs ask for decisions"),
    "postgres": ("psycopg", "services on PostgreSQL"),
    "oidc": ("authlib", "signing in to a service with the account of an organisation"),
    "ray": ("ray", "work on a cluster of Ray"),
    "dask": ("distributed", "work on a cluster of Dask"),
}
"""Extra to the module that it installs, and what it brings."""
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
CONTEXTS = 1000  # of the decision that is tried


@dataclass(frozen=True)
class Check:
    """One thing that was looked at.

    Attributes
    ----------
    topic, name
        What it is about, and what.
    status
        ``ok``, ``note`` (something is missing that can be missing), or ``failed``.
    found
        In words.
    """

    topic: str
    name: str
    status: Status
    found: str


def examination() -> list[Check]:
    """Look at everything; whatever raises an error has failed, and the rest goes on."""
    return [
        *_versions(), *_extras(),
        Check("machine", "cores", "ok", f"{free_cores()} may be used, of {os.cpu_count()}"),
        Check("machine", "threads", "ok", _threads()),
        *_data(), _tried("cache", "data", _writable), _tried("cache", "compiled code", _compiled),
        _tried("decision", "self-check", _decision),
    ]  # fmt: skip


def _threads() -> str:
    told = [f"{name}={os.environ[name]}" for name in THREADS if name in os.environ]
    return ", ".join(told) or "no library is told how many"


def _versions() -> list[Check]:
    checks = [Check("version", "python", "ok", f"{platform.python_version()} on {platform.platform()}")]
    return checks + [_version(name) for name in ("accordant", *LIBRARIES)]


def _version(name: str) -> Check:
    try:
        return Check("version", name, "ok", version(name))
    except PackageNotFoundError:
        return Check("version", name, "failed", "not installed: pip install accordant")


def _extras() -> list[Check]:
    """Return which extras are there; of those that this version declares."""
    declared = [line for line in requires("accordant") or () if "extra ==" in line]
    checks = []
    for extra, (module, brings) in EXTRAS.items():
        if importlib.util.find_spec(module) is not None:
            checks.append(Check("extra", extra, "ok", brings))
        elif any(f"'{extra}'" in line or f'"{extra}"' in line for line in declared):
            checks.append(Check("extra", extra, "note", f"missing; pip install 'accordant[{extra}]' brings {brings}"))
    return checks


def _data() -> list[Check]:
    """Return where data are looked for, and whether anything is there."""
    named = os.environ.get(VARIABLE)
    place = (
        Check("data", f"${VARIABLE}", "note", "not set: cases look beside their file and in the cache, then simulate")
        if not named
        else Check("data", f"${VARIABLE}", "ok", _folder(Path(named)))
        if Path(named).is_dir()
        else Check("data", f"${VARIABLE}", "failed", f"{named} is no folder")
    )
    return [place, Check("data", "cache", "ok", _folder(cache_folder()))]


def _folder(path: Path) -> str:
    if not path.is_dir():
        return f"{path}, not there yet"
    return f"{path}, {sum(1 for _ in path.iterdir())} entries"


def _tried(topic: str, name: str, attempt: Callable[[], str]) -> Check:
    try:
        return Check(topic, name, "ok", attempt())
    except Exception as error:  # noqa: BLE001 - whatever is wrong here is what was to be found
        return Check(topic, name, "failed", f"{type(error).__name__}: {' '.join(str(error).split())[:200]}")


def _writable() -> str:
    """Write and remove a file where the cache of this user is, or would be."""
    place = Path(platformdirs.user_cache_dir("accordant"))
    existing = next(folder for folder in (place, *place.parents) if folder.is_dir())
    with tempfile.TemporaryFile(dir=existing):
        return f"{place} can be written"


def _compiled() -> str:
    """Run a kernel and say where its machine code is kept."""
    import numpy as np

    from accordant.certificates.columns import unbeaten
    from accordant.kernels import kept_in

    reachable = np.empty((2, 1), dtype=bool)
    unbeaten(np.array([[0.9], [0.3]]), np.array([[0.5], [0.2]]), 1e-12, reachable, np.empty(1, dtype=bool))
    if reachable.tolist() != [[True], [False]]:
        raise AssertionError("a kernel gives a wrong result")
    place = kept_in(unbeaten)
    if place is None:
        raise OSError("neither the package nor the user's cache can be written: every start compiles again")
    return f"kept in {place}"


def _decision() -> str:
    """Decide by a rule and by its formula, and compare."""
    import numpy as np

    from accordant.strategies import kalai_smorodinsky
    from accordant.utilities import ExpectedRewards

    started = time.perf_counter()
    values = np.random.default_rng(0).random((2, 3, CONTEXTS))
    decisions = kalai_smorodinsky(ExpectedRewards(values, stakeholders=["a", "b"], actions=["x", "y", "z"]))
    seconds = time.perf_counter() - started
    low, high = values.min(axis=1, keepdims=True), values.max(axis=1, keepdims=True)
    scores = ((values - low) / (high - low)).min(axis=0)
    if not (scores[decisions.codes, np.arange(CONTEXTS)] >= scores.max(axis=0) - 1e-12).all():
        raise AssertionError("decisions are not those of the formula")
    return f"{CONTEXTS} decisions as by the formula, in {seconds:.2f} s"


def print_examination(checks: Sequence[Check]) -> None:
    """Print what was found, topic by topic."""
    console, before = PlainConsole(), ""
    for check in checks:
        if check.topic != before:
            console.print(f"{check.topic}:")
        before = check.topic
        mark = {"ok": " ", "note": "-", "failed": "!"}[check.status]
        console.print(f" {mark} {check.name}: {check.found}")
    failed = [check.name for check in checks if check.status == "failed"]
    console.print(f"\n{len(failed)} failed: {', '.join(failed)}" if failed else "\nall is well")


def as_json(checks: Sequence[Check]) -> dict[str, Any]:
    """Return plain values."""
    return {"ok": all(check.status != "failed" for check in checks), "checks": [asdict(check) for check in checks]}
