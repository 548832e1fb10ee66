"""One model file: skops, with nothing inside that is not on the trust list, and no index outside its arrays."""

from __future__ import annotations

import importlib
import io
import json
import logging
import sys
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.special
import sklearn.utils
from sklearn.exceptions import InconsistentVersionWarning
from sklearn.neighbors import BallTree, KDTree, KNeighborsClassifier, KNeighborsRegressor

from accordant.errors import InputError, RunFolderError
from accordant.learning.estimators import one_walk
from accordant.runs.models.index_checks import check_part
from accordant.runs.models.trusted_types import is_trusted, type_name

logger = logging.getLogger(__name__)

SCHEMA = "schema.json"
SIMPLE = (str, bytes, int, float, complex, bool, type(None), np.generic)
HOLDERS = (dict, list, tuple, set, np.ndarray)
ENDS = (np.dtype, np.random.Generator, np.random.RandomState)  # nothing hangs on them that predictions read
SEARCH_TREES = {"ball_tree": BallTree, "kd_tree": KDTree}


@cache
def _skops() -> Any:
    """Return skops; unless somebody imported it before, one without its lists of estimators and of SciPy's functions.

    The first takes a walk through all modules of scikit-learn, two CPU seconds; the second looks for each function in
    all modules. Here nothing is trusted by those lists. Whoever imports skops later gets one with them; a thread that
    does so at this very moment gets ours, which trusts less.
    """
    with one_walk():
        if "skops.io" in sys.modules:
            return sys.modules["skops.io"]
        others, functions = set(sys.modules), vars(scipy.special)
        known, listing = sklearn.utils.all_estimators, functions.get("__dir__")
        sklearn.utils.all_estimators = functions["__dir__"] = list
        try:
            return importlib.import_module("skops.io")
        finally:
            sklearn.utils.all_estimators = known
            functions.pop("__dir__")
            if listing is not None:
                functions["__dir__"] = listing
            for name in set(sys.modules) - others:
                if name.partition(".")[0] == "skops":
                    del sys.modules[name]


def dump_model(estimator: Any) -> bytes:
    """Return the file of a fitted estimator.

    Raises
    ------
    InputError
        If it has parts of a type that could not be trusted when the file is read back.
    """
    skops = _skops()
    try:
        with _without_search_trees(estimator):
            content = same_bytes(skops.dumps(estimator))
            _check(estimator, "the model")
    except (RunFolderError, skops.exceptions.UnsupportedTypeException) as error:
        raise InputError(f"a model cannot be saved: {error}") from None
    unknown = sorted(name for name in skops.get_untrusted_types(data=content) if not is_trusted(name))
    if unknown:
        raise InputError(f"a model cannot be saved: its parts of type {', '.join(unknown)} are not on the trust list")
    return content


EARLIEST = (1980, 1, 1, 0, 0, 0)  # of a zip archive


def same_bytes(content: bytes) -> bytes:
    """Return a skops file whose bytes depend on the model alone.

    skops names parts and files by addresses in memory and dates them. Here they are numbered as they appear; equal
    texts and numbers are one part, for whether they were one object depends on the processes that they came through.
    """
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    parts: dict[int | str, int] = {}
    files: dict[str, str] = {}

    def renumber(value: Any) -> Any:
        """Return a part of the schema with numbers and file names in the order in which they appear."""
        if isinstance(value, list):
            return [renumber(element) for element in value]
        if not isinstance(value, dict):
            return value
        renumbered = {name: renumber(element) for name, element in value.items() if name not in ("__id__", "file")}
        if isinstance(number := value.get("__id__"), int):
            part = str(value["content"]) if value.get("is_json") is True else number
            renumbered["__id__"] = parts.setdefault(part, len(parts) + 1)
        if "file" in value:
            file = value["file"]
            renumbered["file"] = (
                files.setdefault(file, f"{len(files) + 1}{Path(file).suffix}") if file in entries else file
            )
        return renumbered

    schema = json.dumps(renumber(json.loads(entries.pop(SCHEMA)))).encode()
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_STORED) as archive:
        for name, member in sorted((files.get(name, name), member) for name, member in entries.items()):
            archive.writestr(zipfile.ZipInfo(name, EARLIEST), member)
        archive.writestr(zipfile.ZipInfo(SCHEMA, EARLIEST), schema)
    return written.getvalue()


def load_model(content: bytes, name: str) -> Any:
    """Return the estimator of a file.

    Parameters
    ----------
    content
        The bytes whose hash was checked.
    name
        Name of the file, for messages.

    Raises
    ------
    RunFolderError
        If it is no model file, holds a type that is not on the trust list, or an index outside its arrays.
    """
    skops = _skops()

    try:
        _refuse_packed(content)
        untrusted = skops.get_untrusted_types(data=content)
        unknown = [kind for kind in untrusted if not is_trusted(kind)]
        if not unknown:
            with _one_line_about_versions(name):
                estimator = skops.loads(content, trusted=untrusted)
    except Exception as error:  # noqa: BLE001 - a forged file can make any part of skops and its types fail
        raise RunFolderError(f"{name} is no model file: {error!r:.200}") from None
    if unknown:
        raise RunFolderError(f"{name} holds types that are not on the trust list: {', '.join(unknown)}")
    _check(estimator, name)
    _grow_search_trees(estimator)
    return estimator


def _refuse_packed(content: bytes) -> None:
    """Refuse packed entries: skops stores them as they are, and a few bytes could be unpacked to fill the memory."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for entry in archive.infolist():
            if entry.compress_type != zipfile.ZIP_STORED or entry.file_size > len(content):
                raise ValueError(f"{entry.filename!r} is packed")


def _check(estimator: Any, name: str) -> None:
    """Raise `RunFolderError` if a part of an estimator is of a foreign type, or its indices leave its arrays."""
    for part in _parts(estimator):
        kind = type(part)
        if kind in HOLDERS or isinstance(part, (*SIMPLE, *ENDS)) or _is_number_type(part):
            continue
        if not is_trusted(type_name(kind)):
            raise RunFolderError(f"{name} holds a type that is not on the trust list: {type_name(kind)}")
        check_part(part, name)


def _is_number_type(part: Any) -> bool:
    return isinstance(part, type) and (issubclass(part, np.generic) or part in {int, float, str, bool})


def _parts(estimator: Any) -> Iterator[Any]:
    """Yield a value and everything that hangs on it, once."""
    waiting, seen = [estimator], set()
    while waiting:
        part = waiting.pop()
        if isinstance(part, SIMPLE) or id(part) in seen:
            continue
        seen.add(id(part))
        yield part
        if isinstance(part, dict):
            waiting += [*part.keys(), *part.values()]
        elif isinstance(part, list | tuple | set):
            waiting += part
        elif isinstance(part, np.ndarray):
            waiting += part.ravel().tolist() if part.dtype.hasobject else []
        elif not isinstance(part, type):
            waiting += vars(part).values() if hasattr(part, "__dict__") else []


def _neighbours(estimator: Any) -> list[Any]:
    """Return the fitted nearest neighbours inside an estimator."""
    kinds = KNeighborsClassifier | KNeighborsRegressor
    return [part for part in _parts(estimator) if isinstance(part, kinds) and "_fit_X" in vars(part)]


@contextmanager
def _without_search_trees(estimator: Any) -> Iterator[None]:
    """Take the search trees away from nearest neighbours: they are made anew from the points, and need no trust."""
    models = _neighbours(estimator)
    trees = [model._tree for model in models]
    try:
        for model in models:
            model._tree = None
        yield
    finally:
        for model, tree in zip(models, trees, strict=True):
            model._tree = tree


def _grow_search_trees(estimator: Any) -> None:
    for model in _neighbours(estimator):
        if model._fit_method in SEARCH_TREES:
            model._tree = SEARCH_TREES[model._fit_method](
                model._fit_X,
                model.leaf_size,
                metric=model.effective_metric_,
                **model.effective_metric_params_,
            )


@contextmanager
def _one_line_about_versions(name: str) -> Iterator[None]:
    """Say once, instead of once for every part, that a file comes from another version of scikit-learn."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    said = [warning.message for warning in caught if isinstance(warning.message, InconsistentVersionWarning)]
    if said:
        version = ascii(str(said[0].original_sklearn_version))[1:-1]
        logger.warning("%s was written by scikit-learn %s: results may differ", name, version)
